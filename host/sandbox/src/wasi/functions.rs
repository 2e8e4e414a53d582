//! What each stand-in does.

use wasmtime::component::{ComponentNamedList, Lift, LinkerInstance, Lower, Resource};

use super::inert;
use super::types::{
    Addresses, Datetime, Descriptor, Family, Input, Network, NetworkError, Output, Pollable, StreamError, TcpSocket,
    TerminalInput, TerminalOutput, UdpSocket,
};
use crate::fault::Stop;
use crate::host::State;

/// Bytes that one write may have, and that one call for randomness may give.
const ONCE: u64 = 64 << 10;
/// The places of standard output and standard error.
const OUT: u32 = 0;
const ERR: u32 = 1;

type Done<T> = Result<T, StreamError>;
type Linked = wasmtime::Result<()>;

/// Adds the stand-in of one function.
pub(super) fn add(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match interface.strip_prefix("wasi:").unwrap_or(interface) {
        "cli/environment" | "cli/exit" => process(at, interface, name),
        "cli/stdin" | "cli/stdout" | "cli/stderr" => standard(at, interface, name),
        "cli/terminal-stdin" => does(at, name, |_, (): ()| Ok((None::<Resource<TerminalInput>>,))),
        "cli/terminal-stdout" | "cli/terminal-stderr" => {
            does(at, name, |_, (): ()| Ok((None::<Resource<TerminalOutput>>,)))
        }
        "clocks/monotonic-clock" | "clocks/wall-clock" => clock(at, interface, name),
        "random/random" | "random/insecure" | "random/insecure-seed" => random(at, interface, name),
        "io/poll" => poll(at, interface, name),
        "io/streams" if name.starts_with("[method]output-stream.") => output(at, interface, name),
        "io/streams" => input(at, interface, name),
        "filesystem/preopens" => does(at, name, |_, (): ()| Ok((Vec::<(Resource<Descriptor>, String)>::new(),))),
        _ => network(at, interface, name),
    }
}

/// A function that does something.
fn does<P, R>(
    at: &mut LinkerInstance<'_, State>,
    name: &str,
    work: impl Fn(&mut State, P) -> wasmtime::Result<R> + Send + Sync + 'static,
) -> Linked
where
    P: ComponentNamedList + Lift + 'static,
    R: ComponentNamedList + Lower + 'static,
{
    at.func_wrap(name, move |mut store, parameters: P| {
        let state = store.data_mut();
        state.in_time()?;
        work(state, parameters)
    })
}

/// A function that nobody can call: nothing of what it is called on was ever given to a guest.
fn nothing(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    let what = format!("`{interface}` `{name}`");
    at.func_new(name, move |_, _, _, _| Err(Stop::NoStandIn(what.clone()).into()))
}

fn process(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name {
        "get-environment" => does(at, name, |_, (): ()| Ok((Vec::<(String, String)>::new(),))),
        "get-arguments" => does(at, name, |_, (): ()| Ok((Vec::<String>::new(),))),
        "initial-cwd" => does(at, name, |_, (): ()| Ok((None::<String>,))),
        "exit" => does(at, name, |_, (_,): (Result<(), ()>,)| -> wasmtime::Result<()> { Err(Stop::Exit.into()) }),
        "exit-with-code" => does(at, name, |_, (_,): (u8,)| -> wasmtime::Result<()> { Err(Stop::Exit.into()) }),
        _ => nothing(at, interface, name),
    }
}

fn standard(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name {
        "get-stdin" => does(at, name, |_, (): ()| Ok((Resource::<Input>::new_own(0),))),
        "get-stdout" => does(at, name, |_, (): ()| Ok((Resource::<Output>::new_own(OUT),))),
        "get-stderr" => does(at, name, |_, (): ()| Ok((Resource::<Output>::new_own(ERR),))),
        _ => nothing(at, interface, name),
    }
}

/// Nothing takes time: whoever asks to be woken later is there at once.
fn clock(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    let pollable = || Ok((Resource::<Pollable>::new_own(0),));
    match (name, interface.ends_with("wall-clock")) {
        ("now", false) => does(at, name, |state, (): ()| Ok((inert(state)?.tick(),))),
        ("resolution", false) => does(at, name, |_, (): ()| Ok((1_000_u64,))),
        ("now", true) => does(at, name, |state, (): ()| {
            let (seconds, nanoseconds) = inert(state)?.wall();
            Ok((Datetime { seconds, nanoseconds },))
        }),
        ("resolution", true) => does(at, name, |_, (): ()| Ok((Datetime { seconds: 0, nanoseconds: 1_000 },))),
        ("subscribe-instant", _) => does(at, name, move |state, (when,): (u64,)| {
            let inert = inert(state)?;
            inert.elapsed = inert.elapsed.max(when);
            pollable()
        }),
        ("subscribe-duration", _) => does(at, name, move |state, (long,): (u64,)| {
            let inert = inert(state)?;
            inert.elapsed = inert.elapsed.saturating_add(long);
            pollable()
        }),
        _ => nothing(at, interface, name),
    }
}

fn random(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name {
        "get-random-u64" | "get-insecure-random-u64" => {
            does(at, name, |state, (): ()| Ok((inert(state)?.random.number(),)))
        }
        "insecure-seed" => does(at, name, |state, (): ()| {
            let random = &mut inert(state)?.random;
            Ok(((random.number(), random.number()),))
        }),
        "get-random-bytes" | "get-insecure-random-bytes" => does(at, name, |state, (count,): (u64,)| {
            if count > ONCE {
                return Err(Stop::Limit { what: "random bytes at once", limit: ONCE }.into());
            }
            Ok((inert(state)?.random.bytes(usize::try_from(count).unwrap_or(0)),))
        }),
        _ => nothing(at, interface, name),
    }
}

fn poll(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name {
        "[method]pollable.ready" => does(at, name, |_, (_,): (Resource<Pollable>,)| Ok((true,))),
        "[method]pollable.block" => does(at, name, |_, (_,): (Resource<Pollable>,)| Ok(())),
        "poll" => does(at, name, |_, (all,): (Vec<Resource<Pollable>>,)| {
            Ok(((0..u32::try_from(all.len()).unwrap_or(u32::MAX)).collect::<Vec<u32>>(),))
        }),
        _ => nothing(at, interface, name),
    }
}

/// An input is at its end from the beginning.
fn input(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name.strip_prefix("[method]input-stream.") {
        Some("read" | "blocking-read") => {
            does(at, name, |_, (_, _): (Resource<Input>, u64)| Ok((Done::<Vec<u8>>::Err(StreamError::Closed),)))
        }
        Some("skip" | "blocking-skip") => {
            does(at, name, |_, (_, _): (Resource<Input>, u64)| Ok((Done::<u64>::Err(StreamError::Closed),)))
        }
        Some("subscribe") => does(at, name, |_, (_,): (Resource<Input>,)| Ok((Resource::<Pollable>::new_own(0),))),
        _ => nothing(at, interface, name),
    }
}

/// What is written becomes lines of the log.
fn output(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    match name.strip_prefix("[method]output-stream.") {
        Some("check-write") => does(at, name, |_, (_,): (Resource<Output>,)| Ok((Done::Ok(ONCE),))),
        Some("write" | "blocking-write-and-flush") => {
            does(at, name, |state, (out, bytes): (Resource<Output>, Vec<u8>)| {
                let inert = state.inert.as_mut();
                if let Some(partial) = inert.and_then(|inert| inert.out.get_mut(out.rep() as usize)) {
                    partial.write(&bytes, &mut state.log);
                }
                Ok((Done::Ok(()),))
            })
        }
        Some("flush" | "blocking-flush") => does(at, name, |_, (_,): (Resource<Output>,)| Ok((Done::Ok(()),))),
        // Zeros are no text.
        Some("write-zeroes" | "blocking-write-zeroes-and-flush") => {
            does(at, name, |_, (_, _): (Resource<Output>, u64)| Ok((Done::Ok(()),)))
        }
        Some("splice" | "blocking-splice") => {
            does(at, name, |_, (_, _, _): (Resource<Output>, Resource<Input>, u64)| {
                Ok((Done::<u64>::Err(StreamError::Closed),))
            })
        }
        Some("subscribe") => does(at, name, |_, (_,): (Resource<Output>,)| Ok((Resource::<Pollable>::new_own(0),))),
        _ => nothing(at, interface, name),
    }
}

/// No socket is made and no name is found. All the rest of files and sockets needs one.
fn network(at: &mut LinkerInstance<'_, State>, interface: &str, name: &str) -> Linked {
    const DENIED: NetworkError = NetworkError::AccessDenied;
    match name {
        "instance-network" => does(at, name, |_, (): ()| Ok((Resource::<Network>::new_own(0),))),
        "create-tcp-socket" => {
            does(at, name, |_, (_,): (Family,)| Ok((Result::<Resource<TcpSocket>, _>::Err(DENIED),)))
        }
        "create-udp-socket" => {
            does(at, name, |_, (_,): (Family,)| Ok((Result::<Resource<UdpSocket>, _>::Err(DENIED),)))
        }
        "resolve-addresses" => does(at, name, |_, (_, _): (Resource<Network>, String)| {
            Ok((Result::<Resource<Addresses>, _>::Err(DENIED),))
        }),
        _ => nothing(at, interface, name),
    }
}
