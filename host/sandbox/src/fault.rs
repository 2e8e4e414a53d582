//! From the engine's errors to typed faults. No address and no backtrace reaches a fault: the
//! same call gives the same text on every machine.

use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use wasmtime::Trap;

use crate::log::shorten;

/// How much of the engine's text goes into a fault.
const MESSAGE_BYTES: usize = 1_000;

/// Why the host itself stopped a guest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// The deadline passed inside a host call.
    #[error("deadline")]
    Time,
    /// The guest asked for more than it may have.
    #[error("{what} past its limit of {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The guest ended itself.
    #[error("it called `exit`")]
    Exit,
    /// The guest called what no stand-in of WASI does.
    #[error("it called {0}, for which there is no stand-in")]
    NoStandIn(String),
    /// The host broke.
    #[error("{0}")]
    Host(String),
}

/// Names what ended a call of `plugin`. `panic` is what the guest said of it, if it did.
pub(crate) fn fault(plugin: &str, error: &wasmtime::Error, limits: &Limits, panic: Option<&str>) -> Fault {
    let plugin = plugin.to_owned();
    let past = |what: &str, limit| Fault::Limit { plugin: plugin.clone(), what: what.to_owned(), limit };
    let trapped = |message: String| Fault::Trap {
        plugin: plugin.clone(),
        message: panic.map_or(message, |panic| format!("panic: {panic}")),
    };
    match error.downcast_ref::<Stop>() {
        Some(Stop::Time) => return Fault::Time { plugin, limit_ms: limits.wall_ms },
        Some(Stop::Limit { what, limit }) => return past(what, *limit),
        Some(Stop::Host(message)) => return Fault::Host { message: message.clone() },
        Some(stop @ (Stop::Exit | Stop::NoStandIn(_))) => return trapped(stop.to_string()),
        None => {}
    }
    let message = error.root_cause().to_string();
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return match trap {
            Trap::OutOfFuel => Fault::Fuel { plugin, limit: limits.fuel },
            Trap::Interrupt => Fault::Time { plugin, limit_ms: limits.wall_ms },
            Trap::StackOverflow => past("stack", limits.stack),
            _ => trapped(tidy(&message)),
        };
    }
    // The engine has no type for these; their texts are those of the pinned version, and a test
    // hits each.
    if message.contains("fuel allocated for hostcalls") {
        return past("hostcall bytes", limits.hostcall_bytes);
    }
    if message.contains("handle limit exceeded") {
        return past("handles", limits.handles);
    }
    if message.contains("maximum concurrent limit") {
        return Fault::Host { message: format!("too many plugin calls at once: {message}") };
    }
    // The system refused something: files, memory, threads. That says nothing of the guest.
    if error.chain().any(|cause| cause.is::<std::io::Error>()) || message.contains("(os error ") {
        return Fault::Host { message: format!("the system refused what a plugin call needs: {}", tidy(&message)) };
    }
    // What is left breaks the rules of the interface's encoding: a pointer out of bounds, a text
    // that is no UTF-8, a case that does not exist.
    Fault::Malformed { plugin, message: tidy(&message) }
}

/// One line without addresses.
fn tidy(message: &str) -> String {
    let message = message.strip_prefix("wasm trap: ").unwrap_or(message);
    let words = message.split_whitespace();
    let words: Vec<_> = words.map(|word| if word.contains("0x") { "(address)" } else { word }).collect();
    shorten(&words.join(" "), MESSAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: wasmtime::Error, panic: Option<&str>) -> Fault {
        fault("tool-x", &error, &Limits::default(), panic)
    }

    #[test]
    fn every_cause_has_its_own_fault() {
        let limits = Limits::default();
        let plugin = || "tool-x".to_owned();
        assert_eq!(of(Trap::OutOfFuel.into(), None), Fault::Fuel { plugin: plugin(), limit: limits.fuel });
        assert_eq!(of(Trap::Interrupt.into(), None), of(Stop::Time.into(), None));
        assert_eq!(of(Trap::StackOverflow.into(), None).to_string(), "tool-x: stack past its limit of 524288");
        assert_eq!(of(Stop::Host("x".into()).into(), None), Fault::Host { message: "x".into() });
        let trap = of(Trap::UnreachableCodeReached.into(), None).to_string();
        assert_eq!(trap, "tool-x: trap: wasm `unreachable` instruction executed");
        let panic = of(Trap::UnreachableCodeReached.into(), Some("no rows")).to_string();
        assert_eq!(panic, "tool-x: trap: panic: no rows");
    }

    #[test]
    fn what_the_system_refuses_is_no_answer_of_the_guest() {
        let system = || std::io::Error::from_raw_os_error(27);
        for error in [wasmtime::Error::from(system()), wasmtime::Error::msg(system().to_string())] {
            let fault = of(error.context("making a memory"), None);
            assert_eq!(fault.name(), "host", "{fault}");
            assert!(fault.to_string().contains("(os error 27)"), "{fault}");
        }
        assert_eq!(of(wasmtime::Error::msg("invalid utf-8 sequence"), None).name(), "malformed");
    }

    #[test]
    fn context_does_not_hide_a_cause_and_addresses_do_not_show() {
        let wrapped = wasmtime::Error::from(Stop::Time).context("error while executing at 0x7f00");
        assert_eq!(of(wrapped, None).name(), "time");
        let text = of(wasmtime::Error::msg("read at 0xdeadbeef failed"), None).to_string();
        assert_eq!(text, "tool-x: malformed answer: read at (address) failed");
    }
}
