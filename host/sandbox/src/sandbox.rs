//! The sandbox: from untrusted bytes to a plugin that can be called.

use std::path::PathBuf;
use std::sync::Arc;

use tribunal_component::{Shape, ShapeFault, check_with};
use tribunal_protocol::digest::Digest;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::{Description, PluginKind, Wasi};
use wasmtime::component::{Component, ComponentExportIndex, HasSelf, Linker};

use crate::bindings::{description, tool::Tool, user::User, verifier::Verifier};
use crate::cache::{Cache, CacheFault};
use crate::call::{Core, call};
use crate::clock::Clock;
use crate::compile::{CompileFault, Compiler};
use crate::convert::lift;
use crate::engine::{self, size};
use crate::host::State;
use crate::plugin::{Origin, Plugin, Prepared};
use crate::wasi;

/// How a sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The limits of loading, and the most memory, tables and stack of every call.
    pub limits: Limits,
    /// Where components are compiled.
    pub compiler: Compiler,
    /// Where compiled components are kept; none: nowhere. Only its owner may be able to write it.
    pub cache: Option<PathBuf>,
    /// How many calls may run at once. Address space is set aside for each, memory is not.
    pub concurrent_calls: u32,
    /// What becomes of plugins that import WASI.
    pub wasi: Wasi,
}

impl Default for SandboxOptions {
    fn default() -> SandboxOptions {
        let (limits, compiler) = (Limits::default(), Compiler::InProcess);
        SandboxOptions { limits, compiler, cache: None, concurrent_calls: 128, wasi: Wasi::default() }
    }
}

/// Why a sandbox could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxFault {
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheFault),
    /// The engine cannot be set up with these options.
    #[error(
        "the WebAssembly engine cannot be set up for {concurrent_calls} calls at once, each within the given limits: {message}; lower `memory`, `stack` or the number of calls"
    )]
    Engine {
        /// How many calls it was to run at once.
        concurrent_calls: u32,
        /// What the engine said.
        message: String,
    },
    /// The wall-clock backstop could not be started.
    #[error("the thread of the wall-clock backstop could not be started: {0}")]
    Clock(std::io::Error),
}

/// Why a plugin was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The bytes are no plugin: cut off, too large, of another system, world or version.
    #[error("{name}: {fault}")]
    Shape {
        /// Whose.
        name: String,
        /// What is wrong with them.
        fault: ShapeFault,
    },
    /// It could not be compiled.
    #[error("{name}: {fault}")]
    Compile {
        /// Whose.
        name: String,
        /// Why.
        fault: CompileFault,
    },
    /// The engine does not take it.
    #[error("{name}: the component cannot be set up: {message}")]
    Setup {
        /// Whose.
        name: String,
        /// What the engine says.
        message: String,
    },
    /// It broke while it described itself.
    #[error("{fault} (while it described itself)")]
    Describe {
        /// What broke, and whose.
        fault: Fault,
    },
    /// It described itself wrongly.
    #[error("{name}: its description is wrong: {problem}")]
    Description {
        /// Whose.
        name: String,
        /// What is wrong, and what was expected.
        problem: String,
    },
}

/// Loads plugins and runs them. Cheap to share; one is enough for a process.
pub struct Sandbox {
    core: Arc<Core>,
    compiler: Compiler,
    cache: Option<Cache>,
    compatibility: Digest,
    linkers: [Linker<State>; 3],
    wasi: Wasi,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("compiler", &self.compiler).field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Sets up an engine.
    ///
    /// # Errors
    /// The cache is not safe, or the system does not give what the options ask for.
    pub fn new(options: SandboxOptions) -> Result<Sandbox, SandboxFault> {
        let cache = options.cache.as_deref().map(Cache::open).transpose()?;
        let concurrent_calls = options.concurrent_calls;
        let fault = |error: wasmtime::Error| SandboxFault::Engine { concurrent_calls, message: format!("{error:#}") };
        let engine = engine::runner(&options.limits, concurrent_calls).map_err(fault)?;
        let linkers = [PluginKind::Tool, PluginKind::Verifier, PluginKind::User].map(|kind| linker(&engine, kind));
        let [tool, verifier, user] = linkers;
        let linkers = [tool.map_err(fault)?, verifier.map_err(fault)?, user.map_err(fault)?];
        let clock = Clock::start(&engine).map_err(SandboxFault::Clock)?;
        let compatibility = engine::compatibility(&engine);
        let core = Arc::new(Core { engine, clock, limits: options.limits });
        Ok(Sandbox { core, compiler: options.compiler, cache, compatibility, linkers, wasi: options.wasi })
    }

    /// The engine, for the header of a trace: `wasmtime 48.0.8`.
    #[must_use]
    pub fn engine_name() -> String {
        format!("wasmtime {}", engine::version())
    }

    /// Loads a plugin from bytes that nobody trusts: checks what it is and what it imports, before
    /// anything of it is compiled or run; compiles it, or takes it from the cache; and lets it
    /// describe itself. `name_hint` names it in errors.
    ///
    /// # Errors
    /// One line that says what is wrong and how to fix it.
    pub fn load(&self, name_hint: &str, bytes: &[u8]) -> Result<Arc<Plugin>, LoadError> {
        let name = || name_hint.to_owned();
        let (shape, kind) = check_with(bytes, size(self.core.limits.component_bytes), self.wasi)
            .map_err(|fault| LoadError::Shape { name: name(), fault })?;
        let digest = Digest::of(bytes);
        let (component, origin) = self.component(name_hint, digest, bytes)?;
        let setup = |error: wasmtime::Error| LoadError::Setup { name: name(), message: format!("{error:#}") };
        let (prepared, describe) = self.prepare(kind, &shape, &component).map_err(setup)?;
        let description = self.describe(name_hint, kind, &prepared, &describe)?;
        let core = Arc::clone(&self.core);
        Ok(Arc::new(Plugin { core, shape, kind, digest, description, origin, pre: prepared }))
    }

    /// The compiled component, out of the cache or from the compiler.
    fn component(&self, name: &str, digest: Digest, bytes: &[u8]) -> Result<(Component, Origin), LoadError> {
        let key = format!("{digest}-{}", self.compatibility);
        if let Some(component) =
            self.cache.as_ref().and_then(|cache| cache.get(&key)).and_then(|code| self.revive(&code).ok())
        {
            return Ok((component, Origin::Cache));
        }
        let compiled = self.compiler.compile(&self.core.engine, bytes, &self.core.limits);
        let code = compiled.map_err(|fault| LoadError::Compile { name: name.to_owned(), fault })?;
        let setup = |error: wasmtime::Error| LoadError::Setup { name: name.to_owned(), message: format!("{error:#}") };
        let component = self.revive(&code).map_err(setup)?;
        let origin = match self.cache.as_ref().map(|cache| cache.put(&key, &code)) {
            Some(Err(fault)) => Origin::Unsaved(fault.to_string()),
            Some(Ok(())) | None => Origin::Compiled,
        };
        Ok((component, origin))
    }

    /// Takes compiled code for what it says it is.
    #[expect(
        unsafe_code,
        reason = "the code comes from our own compiler just now, or from a file that passed its digest and lies in a folder that only this user can write; the engine checks its version and settings itself"
    )]
    fn revive(&self, code: &[u8]) -> wasmtime::Result<Component> {
        // SAFETY: see above. Nothing that a plugin's author hands over reaches this function.
        unsafe { Component::deserialize(&self.core.engine, code) }
    }

    fn prepare(
        &self,
        kind: PluginKind,
        shape: &Shape,
        component: &Component,
    ) -> wasmtime::Result<(Prepared, ComponentExportIndex)> {
        let [tool, verifier, user] = &self.linkers;
        let linker = match kind {
            PluginKind::Tool => tool,
            PluginKind::Verifier => verifier,
            PluginKind::User => user,
        };
        let inert = shape.wasi().next().is_some();
        let pre = if inert {
            let mut linker = linker.clone();
            wasi::link(&mut linker, &self.core.engine, component)?;
            linker.instantiate_pre(component)?
        } else {
            linker.instantiate_pre(component)?
        };
        let export = |name: &str| {
            let found = component.get_export_index(None, name);
            found.ok_or_else(|| wasmtime::Error::msg(format!("no export `{name}`")))
        };
        let entry = export(tribunal_component::world::entry(kind))?;
        Ok((Prepared { pre, entry, inert }, export("describe")?))
    }

    fn describe(
        &self,
        name: &str,
        kind: PluginKind,
        prepared: &Prepared,
        export: &ComponentExportIndex,
    ) -> Result<Description, LoadError> {
        let limits = &self.core.limits;
        let mut state = State::new(limits, "{}", self.core.clock.deadline(limits.wall_ms));
        state.inert = prepared.inert.then(|| wasi::Inert::new(&Digest::of(b"describe"), None));
        let ended = call::<(), description::Description>(name, &prepared.pre, export, (), state, limits);
        let given = ended.result.map_err(|fault| LoadError::Describe { fault })?;
        let read = lift::description(given).and_then(|read| crate::describe::check(&read, kind).map(|()| read));
        read.map_err(|problem| LoadError::Description { name: name.to_owned(), problem })
    }
}

/// What a plugin of a kind can reach, and nothing else.
fn linker(engine: &wasmtime::Engine, kind: PluginKind) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    match kind {
        PluginKind::Tool => Tool::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
        PluginKind::Verifier => Verifier::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
        PluginKind::User => User::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?,
    }
    Ok(linker)
}
