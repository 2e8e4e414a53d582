//! Counts what a guest holds, and stops it where it holds too much.

use tribunal_protocol::limits::Limits;
use wasmtime::ResourceLimiter;

use crate::engine::{CORE_INSTANCES, MEMORIES, TABLES};
use crate::fault::Stop;

/// The memory and the table elements of one guest, all memories and tables together.
///
/// A request past a limit stops the guest at once: a guest that could see how much it is given
/// could answer differently elsewhere.
#[derive(Debug)]
pub(crate) struct Meter {
    memory: Gauge,
    elements: Gauge,
}

#[derive(Debug)]
struct Gauge {
    what: &'static str,
    limit: u64,
    held: u64,
}

impl Gauge {
    /// Takes the difference between two sizes, if `maximum`, the guest's own, allows it.
    fn grow(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let held = self.held.saturating_add(desired.saturating_sub(current) as u64);
        if held > self.limit {
            return Err(Stop::Limit { what: self.what, limit: self.limit }.into());
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        self.held = held;
        Ok(true)
    }
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Meter {
        let gauge = |what, limit| Gauge { what, limit, held: 0 };
        Meter { memory: gauge("memory", limits.memory), elements: gauge("table elements", limits.table_elements) }
    }

    /// The bytes of linear memory that the guest holds. Memories never shrink, so this is also
    /// the most that it held.
    pub(crate) fn memory(&self) -> u64 {
        self.memory.held
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.memory.grow(current, desired, maximum)
    }

    /// The system refused what the limit allows. That depends on the machine, so no guest may
    /// see it.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        Err(Stop::Host(format!("a guest's memory could not grow: {error}")).into())
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        self.elements.grow(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES as usize
    }

    fn tables(&self) -> usize {
        TABLES as usize
    }

    fn memories(&self) -> usize {
        MEMORIES as usize
    }
}
