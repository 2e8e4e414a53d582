//! The three kinds of plugin, and their exports.

use std::marker::PhantomData;

use crate::bindings::{tool, user, verifier};
use crate::host::{Host, Imports};
use crate::{Description, Evidence, Failure, Output, Verdict};

/// Gives an agent something to do with the database.
pub trait Tool {
    /// What this plugin is. It may be asked for without any task: it must not need the host.
    fn describe() -> Description;

    /// Calls the tool `name`; `arguments` is a JSON object that fits its schema.
    ///
    /// # Errors
    /// A failure as the agent may read it. Whatever the call changed is then undone.
    fn call<H: Host>(host: &H, name: &str, arguments: &str) -> Result<Output, Failure>;
}

/// Decides what the agent's work was worth.
pub trait Verifier {
    /// What this plugin is. It may be asked for without any task: it must not need the host.
    fn describe() -> Description;

    /// Judges the evidence.
    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict;
}

/// Answers the agent's questions.
pub trait User {
    /// What this plugin is. It may be asked for without any task: it must not need the host.
    fn describe() -> Description;

    /// Answers `question` from the `secret`, a JSON object.
    ///
    /// # Errors
    /// A failure where the secret cannot be read.
    fn reply<H: Host>(host: &H, secret: &str, about: &str, question: &str) -> Result<String, Failure>;
}

/// A plugin as its world wants it. The export macros make it.
#[derive(Debug)]
pub struct Exported<T>(PhantomData<T>);

impl<T: Tool> tool::Guest for Exported<T> {
    fn describe() -> Description {
        T::describe()
    }

    fn call(name: String, arguments: String) -> Result<Output, Failure> {
        forward_panics();
        T::call(&Imports, &name, &arguments)
    }
}

impl<T: Verifier> verifier::Guest for Exported<T> {
    fn describe() -> Description {
        T::describe()
    }

    fn verify(evidence: Evidence) -> Verdict {
        forward_panics();
        T::verify(&Imports, evidence)
    }
}

impl<T: User> user::Guest for Exported<T> {
    fn describe() -> Description {
        T::describe()
    }

    fn reply(secret: String, about: String, question: String) -> Result<String, Failure> {
        forward_panics();
        T::reply(&Imports, &secret, &about, &question)
    }
}

/// Makes a panic readable: `panic: <message> at <file>:<line>` goes to the log, then the guest
/// traps.
fn forward_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        Imports.log(&format!("panic: {message}{place}"));
    }));
}

/// Exports a [`Tool`] as a plugin.
#[macro_export]
macro_rules! tool {
    ($plugin:ident) => {
        $crate::export_world!(tool, $plugin);
    };
}

/// Exports a [`Verifier`] as a plugin.
#[macro_export]
macro_rules! verifier {
    ($plugin:ident) => {
        $crate::export_world!(verifier, $plugin);
    };
}

/// Exports a [`User`] as a plugin.
#[macro_export]
macro_rules! user {
    ($plugin:ident) => {
        $crate::export_world!(user, $plugin);
    };
}

/// The export of one world; natively there is none, so that plugins can be tested side by side.
#[doc(hidden)]
#[macro_export]
macro_rules! export_world {
    ($world:ident, $plugin:ident) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::Exported<$plugin>;
    $crate::bindings::$world::export!(Exported with_types_in $crate::bindings::$world);
        };
    };
}
