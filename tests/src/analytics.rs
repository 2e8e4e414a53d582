//! The built plugins on a stage, and tasks of an embedded suite, each made as a run makes it.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use tribunal_episode::Stage;
use tribunal_maker::{Library, Maker, Source};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::task::{SchemaRef, Task};
use tribunal_sandbox::{Sandbox, SandboxOptions};
use tribunal_tasks::{Draft, Suite};

use crate::tool::{plugins, target};

/// A stage and the tasks that are played on it.
pub struct Analytics {
    /// The stage.
    pub stage: Stage,
    /// The data of the tasks.
    pub library: Arc<Library>,
    /// The tasks, of as many families as there are tasks.
    pub tasks: Vec<Task>,
}

struct Rows(Arc<Suite>);

impl Source for Rows {
    fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, String> {
        self.0.dataset(schema, seed).map_err(|why| why.to_string())
    }

    fn engine(&self, schema: &SchemaRef) -> Result<Engine, String> {
        self.0.engine(schema).map_err(|why| why.to_string())
    }
}

/// At most `count` tasks of the suite `analytics`, one of each family before a second of any, among
/// those that `wanted` takes. Drafts that are refused are passed over.
///
/// # Errors
/// The plugins are not built, or the suite does not load.
pub fn analytics(count: usize, wanted: impl Fn(&Task) -> bool) -> Result<Analytics> {
    tasks_of("analytics", count, wanted)
}

/// As [`analytics`], of any embedded suite.
///
/// # Errors
/// As [`analytics`].
pub fn tasks_of(named: &str, count: usize, wanted: impl Fn(&Task) -> bool) -> Result<Analytics> {
    let suite = Arc::new(Suite::embedded(named)?);
    let library = Arc::new(Library::new(Box::new(Rows(Arc::clone(&suite)))));
    let stage = stage(&library, Limits::default())?;
    let maker = Maker::new(&stage, &library);
    let mut tasks: Vec<Task> = Vec::new();
    for draft in in_turn(suite.drafts(&suite.quotas(), 1)?) {
        if tasks.len() < count && wanted(&draft.task) {
            tasks.extend(maker.make(&draft).ok());
        }
    }
    if tasks.is_empty() {
        return Err(anyhow!("no draft of the suite passed its trial"));
    }
    Ok(Analytics { stage, library, tasks })
}

/// The stage of an embedded suite under other limits than usual.
///
/// # Errors
/// As [`analytics`].
pub fn stage_under(named: &str, limits: Limits) -> Result<Stage> {
    stage(&Arc::new(Library::new(Box::new(Rows(Arc::new(Suite::embedded(named)?))))), limits)
}

fn stage(library: &Arc<Library>, limits: Limits) -> Result<Stage> {
    let cache = Some(target().join("plugin-cache"));
    let sandbox = Sandbox::new(SandboxOptions { cache, ..SandboxOptions::default() })?;
    let mut loaded = Vec::new();
    let folder = plugins();
    let entries = std::fs::read_dir(&folder).with_context(|| format!("{}; `make plugins`", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "wasm")) {
        loaded.push(sandbox.load(&file.display().to_string(), &std::fs::read(file)?)?);
    }
    Ok(Stage::new(loaded, Arc::clone(library) as _, limits)?)
}

/// The first draft of every family, then the second of every family, and so on.
fn in_turn(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut counts = std::collections::BTreeMap::new();
    let mut ranked: Vec<(usize, usize, Draft)> = Vec::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let count: &mut usize = counts.entry(draft.task.family.clone()).or_default();
        ranked.push((*count, index, draft));
        *count += 1;
    }
    ranked.sort_by_key(|(count, index, _)| (*count, *index));
    ranked.into_iter().map(|(_, _, draft)| draft).collect()
}
