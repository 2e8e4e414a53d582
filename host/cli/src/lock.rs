//! Which plugins a suite is used with: its lock file, held at every load.
//!
//! An upgrade that asks for nothing new is taken; one that asks for more, or does not load, is not:
//! the component that was locked stays in use, from the copy that `tribunal lock` kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_protocol::Digest;
use tribunal_sandbox::{Plugin, Sandbox};
use tribunal_seal::{LockFile, LockedPlugin};

/// The name of a lock file.
const NAME: &str = "tribunal.lock";

/// A lock file, and the components that were kept for it.
pub struct Lock {
    path: PathBuf,
    kept: PathBuf,
    /// The plugins, by name.
    pub plugins: BTreeMap<String, LockedPlugin>,
}

/// What comes of a component beside the lock.
pub enum Judgement {
    /// The very component that is locked.
    AsLocked,
    /// Another one, which asks for nothing new.
    Upgrade,
    /// It asks for what is not locked: line by line.
    NewPowers(Vec<String>),
}

/// Where the lock file of a suite lies: in its folder, or beside the plugins where it is embedded.
pub fn place(suite: &str, plugins: &Path) -> PathBuf {
    let folder = Path::new(suite);
    if folder.is_dir() { folder.join(NAME) } else { plugins.join(NAME) }
}

/// A plugin as a lock file names it.
pub fn entry(plugin: &Plugin, file: &Path) -> Result<LockedPlugin> {
    let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let request = &plugin.description().contract;
    Ok(LockedPlugin::of(plugin.name(), file, plugin.kind(), plugin.digest(), request)?)
}

impl Lock {
    /// The lock at a place; an empty one where there is none yet.
    pub fn at(path: &Path, cache: &Path) -> Result<Lock> {
        let plugins = match path.exists() {
            false => BTreeMap::new(),
            true => {
                let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                LockFile::read(&text).with_context(|| path.display().to_string())?.plugin
            }
        };
        Ok(Lock { path: path.to_owned(), kept: cache.join("kept"), plugins })
    }

    /// The lock at a place; none where nobody locked anything.
    pub fn find(path: &Path, cache: &Path) -> Result<Option<Lock>> {
        path.exists().then(|| Lock::at(path, cache)).transpose()
    }

    /// Writes the lock file, and keeps every component that is not kept yet.
    pub fn write(&self, components: &BTreeMap<Digest, Vec<u8>>) -> Result<()> {
        std::fs::create_dir_all(&self.kept).with_context(|| format!("cannot make {}", self.kept.display()))?;
        let locked: Vec<Digest> = self.plugins.values().map(|plugin| plugin.digest).collect();
        for (digest, bytes) in components.iter().filter(|(digest, _)| locked.contains(digest)) {
            crate::folder::write(&self.kept_at(*digest), bytes)?;
        }
        crate::folder::write(&self.path, LockFile::new(self.plugins.clone()).to_toml()?.as_bytes())
    }

    fn kept_at(&self, digest: Digest) -> PathBuf {
        self.kept.join(format!("{digest}.wasm"))
    }

    /// Where the file lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plugin that is locked with a file of this name.
    pub fn of_file(&self, file: &Path) -> Option<&String> {
        let name = file.file_name()?.to_str()?;
        self.plugins.iter().find(|(_, plugin)| plugin.file == name).map(|(name, _)| name)
    }

    /// What comes of a component.
    pub fn judge(&self, name: &str, now: &LockedPlugin) -> Result<Judgement> {
        let Some(locked) = self.plugins.get(name) else {
            return Ok(Judgement::NewPowers(vec!["not locked at all".to_owned()]));
        };
        if locked.digest == now.digest {
            return Ok(Judgement::AsLocked);
        }
        let powers = locked.new_powers(name, now)?;
        Ok(if powers.is_empty() { Judgement::Upgrade } else { Judgement::NewPowers(powers) })
    }

    /// Lets through what is locked; what is not stays out, and the locked component takes its place.
    pub fn hold(&self, sandbox: &Sandbox, loaded: Vec<(PathBuf, Result<Arc<Plugin>>)>) -> Result<Vec<Arc<Plugin>>> {
        let mut plugins: BTreeMap<String, Arc<Plugin>> = BTreeMap::new();
        let mut refused: BTreeMap<String, String> = BTreeMap::new();
        for (file, loaded) in loaded {
            let (name, through) = match (loaded, self.of_file(&file)) {
                (Ok(plugin), _) => (plugin.name().to_owned(), self.through(plugin, &file)?),
                (Err(why), Some(name)) => (name.clone(), Err(format!("{why:#}"))),
                (Err(why), None) => return Err(why),
            };
            match through {
                Ok(plugin) => {
                    if let Some(other) = plugins.insert(name.clone(), plugin) {
                        let other = other.digest().short();
                        bail!("{}: a second plugin {name}, beside {other}; remove one", file.display());
                    }
                }
                Err(why) => {
                    crate::output::note(&format!("plugin {name}: {why}"));
                    refused.insert(name, why);
                }
            }
        }
        for (name, locked) in &self.plugins {
            if !plugins.contains_key(name) {
                let why = refused.get(name).map_or("no file of it", String::as_str);
                plugins.insert(name.clone(), self.old(sandbox, name, locked, why)?);
            }
        }
        Ok(plugins.into_values().collect())
    }

    /// The plugin, or why it is not used.
    fn through(&self, plugin: Arc<Plugin>, file: &Path) -> Result<Result<Arc<Plugin>, String>> {
        let name = plugin.name();
        Ok(match self.judge(name, &entry(&plugin, file)?)? {
            Judgement::AsLocked | Judgement::Upgrade => Ok(plugin),
            Judgement::NewPowers(powers) => {
                let powers = powers.join("; ");
                let advice = format!("`tribunal lock --grant {name}` grants it");
                Err(format!("{} asks for more than is locked: {powers}; {advice}", file.display()))
            }
        })
    }

    /// The component that was locked, from the copy that was kept.
    fn old(&self, sandbox: &Sandbox, name: &str, locked: &LockedPlugin, why: &str) -> Result<Arc<Plugin>> {
        let path = self.kept_at(locked.digest);
        let bytes = std::fs::read(&path).ok().filter(|bytes| Digest::of(bytes) == locked.digest);
        let Some(bytes) = bytes else {
            bail!(
                "plugin {name}: {why}; and no copy of the locked component {} is kept: put it back as {}",
                locked.digest.short(),
                locked.file
            );
        };
        crate::output::note(&format!("plugin {name}: the locked component {} stays in use", locked.digest.short()));
        Ok(sandbox.load(&path.display().to_string(), &bytes)?)
    }
}
