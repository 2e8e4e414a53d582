//! One call of a guest: a fresh store and a fresh instance, and everything accounted for after.

use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::usage::Usage;
use wasmtime::component::{ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Lower};
use wasmtime::{Engine, Store};

use crate::clock::Clock;
use crate::engine::size;
use crate::fault::fault;
use crate::host::State;
use crate::log::Log;

/// What all plugins of a sandbox share.
pub(crate) struct Core {
    pub(crate) engine: Engine,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
}

impl Core {
    /// The limits of a call. Memory, tables and stack were set aside when the sandbox was made,
    /// and no call gets more of them.
    pub(crate) fn effective(&self, asked: &Limits) -> Limits {
        Limits {
            memory: asked.memory.min(self.limits.memory),
            table_elements: asked.table_elements.min(self.limits.table_elements),
            stack: self.limits.stack,
            ..asked.clone()
        }
    }
}

/// What came of a call. Usage and sessions come back whatever the result.
#[derive(Debug)]
pub struct Ran<T, S = ()> {
    /// What the plugin gave, or what broke.
    pub result: Result<T, Fault>,
    /// The sessions that the call was given.
    pub sessions: S,
    /// Fuel and memory of the guest. What its statements used stands in the session.
    pub usage: Usage,
    /// What the guest logged.
    pub log: Log,
}

/// A finished call before its result is read.
pub(crate) struct Ended<T> {
    pub(crate) result: Result<T, Fault>,
    pub(crate) state: State,
    pub(crate) usage: Usage,
}

impl<T> Ended<T> {
    pub(crate) fn and_then<U>(self, read: impl FnOnce(T) -> Result<U, Fault>) -> Ended<U> {
        Ended { result: self.result.and_then(read), state: self.state, usage: self.usage }
    }

    /// Gives back what was lent; `sessions` takes them out of the state.
    pub(crate) fn finish<S>(mut self, sessions: impl FnOnce(&mut State) -> S) -> Ran<T, S> {
        let sessions = sessions(&mut self.state);
        Ran { result: self.result, sessions, usage: self.usage, log: self.state.log.finish() }
    }
}

/// Calls one export of a fresh instance.
pub(crate) fn call<P, R>(
    plugin: &str,
    pre: &InstancePre<State>,
    export: &ComponentExportIndex,
    parameters: P,
    state: State,
    limits: &Limits,
) -> Ended<R>
where
    P: ComponentNamedList + Lower,
    R: Lift + 'static,
    (R,): ComponentNamedList + Lift,
{
    let mut store = Store::new(pre.engine(), state);
    let result = enter(&mut store, pre, export, parameters, limits);
    let fuel = limits.fuel.saturating_sub(store.get_fuel().unwrap_or(0));
    let mut state = store.into_data();
    state.flush();
    let usage = Usage { fuel, memory: state.meter.memory(), ..Usage::default() };
    let result = result.map_err(|error| fault(plugin, &error, limits, state.log.panic()));
    Ended { result, state, usage }
}

fn enter<P, R>(
    store: &mut Store<State>,
    pre: &InstancePre<State>,
    export: &ComponentExportIndex,
    parameters: P,
    limits: &Limits,
) -> wasmtime::Result<R>
where
    P: ComponentNamedList + Lower,
    R: Lift + 'static,
    (R,): ComponentNamedList + Lift,
{
    store.limiter(|state| &mut state.meter);
    store.set_fuel(limits.fuel)?;
    store.set_epoch_deadline(store.data().deadline.ticks());
    store.set_hostcall_fuel(size(limits.hostcall_bytes));
    store.set_max_component_handles(size(limits.handles));
    let instance = pre.instantiate(&mut *store)?;
    let function = instance.get_typed_func::<P, (R,)>(&mut *store, export)?;
    let (result,) = function.call(store, parameters)?;
    Ok(result)
}
