//! Where plugins are, and loading them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::Wasi;
use tribunal_sandbox::{Compiler, Plugin, Sandbox, SandboxOptions};

use crate::lock::Lock;

/// The hidden command that compiles a component in a process of its own.
pub const COMPILE_COMMAND: &str = "compile-worker";

/// The folder of built plugins: as asked, else `plugins` beside any folder above this program,
/// else `target/plugins`.
pub fn folder(asked: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = asked {
        if folder.is_dir() {
            return Ok(folder.to_owned());
        }
        bail!("{}: no such folder of plugins; `tribunal build --out {}` makes it", folder.display(), folder.display());
    }
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.ancestors().skip(1).map(|folder| folder.join("plugins"));
    let candidates: Vec<PathBuf> = beside.chain([PathBuf::from("target/plugins")]).collect();
    match candidates.iter().find(|folder| holds_components(folder)) {
        Some(folder) => Ok(folder.clone()),
        None => bail!(
            "no built plugins found; `tribunal build` makes them in target/plugins, or name a folder with --plugins"
        ),
    }
}

fn holds_components(folder: &Path) -> bool {
    components(folder).is_ok_and(|components| !components.is_empty())
}

/// The component files of a folder, by name.
pub fn components(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A sandbox that compiles in children of this program.
pub fn sandbox(cache: Option<&Path>, limits: &Limits, wasi: Wasi) -> Result<Sandbox> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let compiler = Compiler::Child { program, arguments: vec![COMPILE_COMMAND.into()] };
    let cache = cache.map(Path::to_owned);
    Ok(Sandbox::new(SandboxOptions { limits: limits.clone(), compiler, cache, wasi, ..SandboxOptions::default() })?)
}

/// The folder of compiled plugins.
pub fn cache(asked: Option<&Path>, plugins: &Path) -> PathBuf {
    asked.map_or_else(|| plugins.with_file_name("plugin-cache"), Path::to_owned)
}

/// Loads every component of a folder, as the lock file at `lock` allows if there is one.
pub fn load_all(folder: &Path, cache: &Path, lock: &Path, limits: &Limits, wasi: Wasi) -> Result<Vec<Arc<Plugin>>> {
    let sandbox = sandbox(Some(cache), limits, wasi)?;
    let files = components(folder)?;
    let bar = crate::output::progress("plugins", files.len() as u64);
    let lock = Lock::find(lock, cache)?;
    let mut plugins = Vec::new();
    for file in files {
        let loaded = read(&file, limits).and_then(|bytes| Ok(sandbox.load(&file.display().to_string(), &bytes)?));
        // Under a lock, what does not load leaves the plugin that was locked.
        match lock {
            None => plugins.push((file, Ok(loaded?))),
            Some(_) => plugins.push((file, loaded)),
        }
        bar.step();
    }
    bar.finish();
    match lock {
        None => plugins.into_iter().map(|(_, loaded)| loaded).collect(),
        Some(lock) => lock.hold(&sandbox, plugins),
    }
}

/// Reads a component file, unless it is too large to be one.
pub fn read(file: &Path, limits: &Limits) -> Result<Vec<u8>> {
    let size = std::fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
    if size > limits.component_bytes {
        bail!("{}: {size} bytes; a component may have {} at most", file.display(), limits.component_bytes);
    }
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}
