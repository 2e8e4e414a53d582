//! Wasmtime without the sandbox around it: the same engine settings, the same interface, and
//! nothing that limits, meters or logs. The yardstick of what our own layer adds, and of what
//! pooling saves.

use anyhow::{Result, anyhow};
use wasmtime::component::{Component, HasSelf, InstancePre, Linker, Resource, TypedFunc};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};

wasmtime::component::bindgen!({
    path: "../wit/1.0.0/plugin.wit",
    world: "tool",
    imports: { default: trappable },
    with: { "tribunal:plugin/database.session": Nobody },
});

use tribunal::plugin::{database, description, log, output, settings, types};

/// No session is ever opened.
pub enum Nobody {}

/// How instances come by their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Mapped for each instance and unmapped after it.
    OnDemand,
    /// Taken from a pool.
    Pooled,
}

/// The settings of the sandbox's engine that decide what code does, and how fast.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config.concurrency_support(false);
    config.gc_support(false);
    config.wasm_component_model(true);
    config.cranelift_nan_canonicalization(true);
    config.consume_fuel(true);
    config.epoch_interruption(true);
    config.wasm_backtrace_max_frames(None);
    config
}

pub(crate) fn wasm<T>(result: wasmtime::Result<T>) -> Result<T> {
    result.map_err(|fault| anyhow!("wasmtime: {fault:#}"))
}

/// A tool ready to be instantiated.
pub(crate) struct Bare {
    engine: Engine,
    pre: InstancePre<Host>,
    call: wasmtime::component::ComponentExportIndex,
}

type Answer = (Result<output::Output, types::Failure>,);

impl Bare {
    pub(crate) fn load(bytes: &[u8], memory: Memory) -> Result<Bare> {
        let mut config = config();
        if memory == Memory::Pooled {
            let mut pool = PoolingAllocationConfig::new();
            // As the sandbox has it, for fewer instances at once.
            pool.total_component_instances(8)
                .total_core_instances(512)
                .total_memories(16)
                .total_tables(32)
                .max_memory_size(64 << 20)
                .table_elements(100_000)
                .linear_memory_keep_resident(128 << 10)
                .table_keep_resident(16 << 10);
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        let engine = wasm(Engine::new(&config))?;
        let component = wasm(Component::new(&engine, bytes))?;
        let mut linker = Linker::new(&engine);
        wasm(Tool::add_to_linker::<Host, HasSelf<Host>>(&mut linker, |host| host))?;
        let pre = wasm(linker.instantiate_pre(&component))?;
        let call = component.get_export_index(None, "call").ok_or_else(|| anyhow!("no export `call`"))?;
        Ok(Bare { engine, pre, call })
    }

    /// A fresh store, a fresh instance, one call, and all of it dropped.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Result<Result<String, String>> {
        let mut store = Store::new(&self.engine, Host);
        wasm(store.set_fuel(u64::MAX / 2))?;
        store.set_epoch_deadline(1 << 40);
        let instance = wasm(self.pre.instantiate(&mut store))?;
        let call: TypedFunc<(&str, &str), Answer> = wasm(instance.get_typed_func(&mut store, self.call))?;
        let (answer,) = wasm(call.call(&mut store, (tool, arguments)))?;
        Ok(answer.map(|output| output.text).map_err(|failure| failure.message))
    }
}

/// A host that has nothing to give.
pub(crate) struct Host;

impl database::Host for Host {
    fn open(&mut self, _role: String) -> wasmtime::Result<Result<Resource<Nobody>, types::Failure>> {
        Ok(Err(nothing()))
    }
}

fn nothing() -> types::Failure {
    types::Failure { code: types::Code::Unknown, message: "there is no session".to_owned() }
}

impl database::HostSession for Host {
    fn tables(&mut self, _: Resource<Nobody>) -> wasmtime::Result<Vec<database::TableInfo>> {
        Ok(Vec::new())
    }

    fn query(
        &mut self,
        _: Resource<Nobody>,
        _: String,
        _: Vec<types::Value>,
    ) -> wasmtime::Result<Result<types::Table, types::Failure>> {
        Ok(Err(nothing()))
    }

    fn change(
        &mut self,
        _: Resource<Nobody>,
        _: String,
        _: Vec<types::Value>,
    ) -> wasmtime::Result<Result<u64, types::Failure>> {
        Ok(Err(nothing()))
    }

    fn drop(&mut self, _: Resource<Nobody>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl settings::Host for Host {
    fn get(&mut self) -> wasmtime::Result<String> {
        Ok("{}".to_owned())
    }
}

impl log::Host for Host {
    fn write(&mut self, _: String) -> wasmtime::Result<()> {
        Ok(())
    }
}

// These interfaces hold types only.
impl types::Host for Host {}
impl description::Host for Host {}
impl output::Host for Host {}
