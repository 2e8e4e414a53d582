//! The settings of the WebAssembly engine: what guests may be made of, and what they may hold.

use std::hash::{Hash, Hasher};

use tribunal_protocol::digest;
use tribunal_protocol::limits::Limits;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, ModuleVersionStrategy, PoolingAllocationConfig, Strategy,
};

/// Memories of one component. A guest of one language needs one; a composed one needs a few.
pub(crate) const MEMORIES: u32 = 8;
/// Tables of one component: two per module that calls imports.
pub(crate) const TABLES: u32 = 16;
/// Core instances of one component; a Python guest links about thirty modules.
pub(crate) const CORE_INSTANCES: u32 = 64;
/// What the engine keeps about one instance, in bytes.
const INSTANCE_BYTES: usize = 1 << 20;
/// How much of a memory is cleared by writing zeros instead of giving its pages back. Most calls
/// touch less, and a page that stays costs no fault in the next call.
const KEEP_MEMORY: usize = 128 << 10;
/// The same for tables.
const KEEP_TABLE: usize = 16 << 10;

/// What compiled code depends on. The compiling child and the running host must agree on it.
fn config() -> Config {
    let mut config = Config::new();
    // Off: what has been a way out of a sandbox, or a way to another result.
    config.concurrency_support(false);
    config.gc_support(false);
    config.wasm_tail_call(false);
    // On for the engine's own code alone, which moves values between the parts of one component: a
    // guest's module that has two memories is refused before it gets here.
    config.wasm_multi_memory(true);
    config.wasm_memory64(false);
    config.wasm_relaxed_simd(false);
    config.wasm_custom_page_sizes(false);
    config.wasm_wide_arithmetic(false);
    config.wasm_component_model(true);
    config.strategy(Strategy::Cranelift);
    // One result on every machine.
    config.cranelift_nan_canonicalization(true);
    // Fuel decides; the epoch is the wall-clock backstop.
    config.consume_fuel(true);
    config.epoch_interruption(true);
    // Backtraces carry addresses, and no text that we show may.
    config.wasm_backtrace_max_frames(None);
    config
}

/// An engine that compiles and runs nothing.
pub(crate) fn compiler() -> wasmtime::Result<Engine> {
    Engine::new(&config())
}

/// An engine that runs at most `instances` guests at once, each within `limits`.
pub(crate) fn runner(limits: &Limits, instances: u32) -> wasmtime::Result<Engine> {
    let mut config = config();
    config.max_wasm_stack(size(limits.stack));
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES))
        .total_memories(instances.saturating_mul(2).max(MEMORIES))
        .total_tables(instances.saturating_mul(4).max(TABLES))
        .max_component_instance_size(INSTANCE_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(MEMORIES)
        .max_tables_per_component(TABLES)
        .max_memories_per_module(1)
        .max_tables_per_module(TABLES)
        .max_memory_size(size(limits.memory))
        .table_elements(size(limits.table_elements))
        .linear_memory_keep_resident(KEEP_MEMORY)
        .table_keep_resident(KEEP_TABLE)
        .pagemap_scan(Enabled::Auto);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// A limit as the engine takes it.
pub(crate) fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// What compiled code of this engine may be run by: a digest of everything it depends on, the
/// engine's version and the processor's features included.
pub(crate) fn compatibility(engine: &Engine) -> digest::Digest {
    let mut bytes = Bytes(digest::Hasher::new("tribunal engine"));
    engine.precompile_compatibility_hash().hash(&mut bytes);
    bytes.0.bytes(version().as_bytes());
    bytes.0.finish()
}

struct Bytes(digest::Hasher);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.bytes(bytes);
    }

    /// The digest is read from the inside; nothing asks for this.
    fn finish(&self) -> u64 {
        0
    }
}

/// The engine's full version, such as `48.0.8`.
pub(crate) fn version() -> String {
    // The engine gives its full version nowhere but to a hash.
    let mut text = Text(Vec::new());
    ModuleVersionStrategy::WasmtimeVersion.hash(&mut text);
    let version = text.0.iter().copied().skip_while(|byte| !byte.is_ascii_digit());
    let version = version.take_while(|byte| byte.is_ascii_digit() || *byte == b'.');
    version.map(char::from).collect()
}

struct Text(Vec<u8>);

impl Hasher for Text {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_the_lock_file_names() {
        let lock = include_str!("../../../Cargo.lock");
        let at = lock.find("name = \"wasmtime\"\n").unwrap();
        let line = lock[at..].lines().nth(1).unwrap();
        assert_eq!(line, format!("version = \"{}\"", version()));
    }

    #[test]
    fn what_the_compiler_makes_the_runner_takes() {
        let compiler = compiler().unwrap();
        let runner = runner(&Limits::default(), 4).unwrap();
        assert_eq!(compatibility(&compiler), compatibility(&runner));
        let mut other = config();
        other.cranelift_nan_canonicalization(false);
        assert_ne!(compatibility(&Engine::new(&other).unwrap()), compatibility(&runner));
    }
}
