//! Inert, deterministic stand-ins for WASI, which components of other languages import whether
//! they use it or not. They grant nothing:
//!
//! - no files, no network, no environment, no arguments, no input: each looks empty, or is refused
//!   with WASI's own code for that;
//! - the clock is that of the data, and moves only by being asked or waited for;
//! - randomness is a function of what the call was given;
//! - what is written to standard output and error goes to the plugin's log, within its limit.
//!
//! A call through them is metered as any other call of the host.

mod functions;
mod random;
mod types;

use tribunal_protocol::digest::Digest;
use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceType};

use crate::host::State;
use crate::log::{LogBuffer, Partial};
use random::Random;
use types::Nothing;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// The date where nobody knows one: 2025-01-01.
const NO_DATE: i32 = 20_089;

/// What the stand-ins of one call remember.
#[derive(Debug)]
pub(crate) struct Inert {
    /// Nanoseconds since the call began, as the guest sees them.
    elapsed: u64,
    /// The date at which it began: days since 1970-01-01.
    date: i32,
    random: Random,
    out: [Partial; 2],
}

impl Inert {
    /// Stand-ins for a call that was given what `given` is the digest of.
    pub(crate) fn new(given: &Digest, date: Option<i32>) -> Inert {
        let out = [Partial::default(), Partial::default()];
        Inert { elapsed: 0, date: date.unwrap_or(NO_DATE), random: Random::new(given), out }
    }

    /// Puts into the log what stands in unfinished lines.
    pub(crate) fn flush(&mut self, log: &mut LogBuffer) {
        self.out.iter_mut().for_each(|out| out.flush(log));
    }

    /// The time since the call began; asking takes a microsecond, so that a loop that waits ends.
    fn tick(&mut self) -> u64 {
        self.elapsed = self.elapsed.saturating_add(1_000);
        self.elapsed
    }

    /// The wall clock: seconds, and nanoseconds below one.
    fn wall(&mut self) -> (u64, u32) {
        let elapsed = self.tick();
        let began = u64::try_from(i64::from(self.date).saturating_mul(DAY)).unwrap_or(0);
        (began.saturating_add(elapsed / 1_000_000_000), u32::try_from(elapsed % 1_000_000_000).unwrap_or(0))
    }
}

/// Adds a stand-in for everything of WASI that a component imports. What has none of its own can
/// only be called on something that nobody was ever given, and stops the guest by name.
pub(crate) fn link(linker: &mut Linker<State>, engine: &Engine, component: &Component) -> wasmtime::Result<()> {
    let component = component.component_type();
    for (interface, item) in component.imports(engine) {
        let (Some(name), ComponentItem::ComponentInstance(items)) = (tribunal_component::stand_in(interface), &item.ty)
        else {
            continue;
        };
        let mut instance = linker.instance(interface)?;
        for (item, found) in items.exports(engine) {
            match found.ty {
                ComponentItem::ComponentFunc(_) => functions::add(&mut instance, name, item)?,
                // Types that another interface only uses are resources here too.
                ComponentItem::Resource(_) => {
                    instance.resource(item, kind(item), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The host's type of a resource.
fn kind(resource: &str) -> ResourceType {
    match resource {
        "pollable" => ResourceType::host::<types::Pollable>(),
        "input-stream" => ResourceType::host::<types::Input>(),
        "output-stream" => ResourceType::host::<types::Output>(),
        "error" => ResourceType::host::<types::IoError>(),
        "network" => ResourceType::host::<types::Network>(),
        "terminal-input" => ResourceType::host::<types::TerminalInput>(),
        "terminal-output" => ResourceType::host::<types::TerminalOutput>(),
        "descriptor" => ResourceType::host::<types::Descriptor>(),
        "tcp-socket" => ResourceType::host::<types::TcpSocket>(),
        "udp-socket" => ResourceType::host::<types::UdpSocket>(),
        "resolve-address-stream" => ResourceType::host::<types::Addresses>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

/// The stand-ins' memory of a call.
fn inert(state: &mut State) -> wasmtime::Result<&mut Inert> {
    let none = || crate::fault::Stop::Host("a stand-in was called where there are none".to_owned());
    state.inert.as_mut().ok_or_else(|| none().into())
}
