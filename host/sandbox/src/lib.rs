//! Runs plugins: WebAssembly components that nobody trusts, each call in a fresh instance with
//! exactly the powers that it was given. The only crate that knows which engine does it.
//!
//! ```text
//! bytes ─► check ─► compile (a child under limits; cached) ─► describe ─► Plugin
//! Plugin + sessions + limits ─► fresh instance ─► checked result, usage, log, sessions back
//! ```
//!
//! - [`Sandbox::load`] takes bytes to a [`Plugin`]; [`Plugin::call`], [`Plugin::verify`] and
//!   [`Plugin::reply`] run it.
//! - Whatever a guest does, the host gets its sessions back, and a typed fault says what broke.
//! - The same inputs use the same fuel and give the same bytes.

mod bindings;
mod cache;
mod call;
mod clock;
mod compile;
mod convert;
mod describe;
mod engine;
mod fault;
#[cfg(test)]
mod fixture;
mod held;
mod host;
mod log;
mod meter;
mod output;
mod plugin;
mod sandbox;
#[cfg(test)]
mod tests;
mod wasi;

pub use cache::CacheFault;
pub use call::Ran;
pub use compile::{CompileFault, Compiler, compile_worker, worker_complaint};
pub use host::Between;
pub use log::Log;
pub use output::ToolOutput;
pub use plugin::{Origin, Plugin, ReplyInput, ToolInput, VerifyInput};
pub use sandbox::{LoadError, Sandbox, SandboxFault, SandboxOptions};

/// The version of the plugin interface that this sandbox offers.
pub const INTERFACE: &str = tribunal_component::WIT_VERSION;
