//! What many episodes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::Validator;
use tribunal_database::Snapshot;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::task::SchemaRef;
use tribunal_sandbox::Plugin;

use crate::briefing::episode_tools;
use crate::error::EpisodeError;

/// Where the data of a task comes from. Asked often for the same thing, so an implementation
/// keeps what it sealed.
pub trait Datasets: Send + Sync {
    /// The sealed data of a schema at a seed.
    ///
    /// # Errors
    /// Why there is none.
    fn snapshot(&self, schema: &SchemaRef, seed: u64) -> Result<Snapshot, String>;
}

/// A tool ready to be called: its specification and the compiled schema of its arguments.
#[derive(Clone)]
pub(crate) struct ToolEntry {
    pub(crate) spec: ToolSpec,
    pub(crate) validator: Arc<Validator>,
}

/// What many episodes share: loaded plugins, data and limits.
pub struct Stage {
    plugins: BTreeMap<String, Arc<Plugin>>,
    tools: BTreeMap<String, Vec<ToolEntry>>,
    episode_tools: Vec<ToolEntry>,
    datasets: Arc<dyn Datasets>,
    limits: Limits,
}

impl Stage {
    /// A stage with these plugins; the schemas of all tools are compiled here, once.
    ///
    /// # Errors
    /// Two plugins of one name, or a tool whose arguments are no JSON Schema.
    pub fn new(
        plugins: impl IntoIterator<Item = Arc<Plugin>>,
        datasets: Arc<dyn Datasets>,
        limits: Limits,
    ) -> Result<Stage, EpisodeError> {
        let plugins = by_name(plugins)?;
        let mut tools = BTreeMap::new();
        for (name, plugin) in &plugins {
            let entries = plugin.description().tools.iter().map(|spec| entry(name, spec.clone()));
            tools.insert(name.clone(), entries.collect::<Result<Vec<_>, _>>()?);
        }
        let episode_tools =
            episode_tools().into_iter().map(|spec| entry("the episode", spec)).collect::<Result<_, _>>()?;
        Ok(Stage { plugins, tools, episode_tools, datasets, limits })
    }

    /// The plugins, by name.
    #[must_use]
    pub fn plugins(&self) -> &BTreeMap<String, Arc<Plugin>> {
        &self.plugins
    }

    /// The limits of a guest call.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn tools_of(&self, plugin: &str) -> &[ToolEntry] {
        self.tools.get(plugin).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn episode_tools(&self) -> &[ToolEntry] {
        &self.episode_tools
    }

    pub(crate) fn datasets(&self) -> &dyn Datasets {
        self.datasets.as_ref()
    }
}

/// A plugin is known by the name that it gives itself. One that takes another's name must not
/// take its place.
fn by_name(plugins: impl IntoIterator<Item = Arc<Plugin>>) -> Result<BTreeMap<String, Arc<Plugin>>, EpisodeError> {
    let mut named: BTreeMap<String, Arc<Plugin>> = BTreeMap::new();
    for plugin in plugins {
        let name = plugin.name().to_owned();
        let digest = plugin.digest();
        if let Some(other) = named.insert(name.clone(), plugin) {
            let digests = [other.digest().short().to_owned(), digest.short().to_owned()];
            return Err(EpisodeError::TwoPlugins { plugin: name, digests });
        }
    }
    Ok(named)
}

pub(crate) fn entry(plugin: &str, spec: ToolSpec) -> Result<ToolEntry, EpisodeError> {
    let validator = jsonschema::validator_for(&spec.arguments).map_err(|problem| EpisodeError::Arguments {
        plugin: plugin.to_owned(),
        tool: spec.name.clone(),
        problem: problem.to_string(),
    })?;
    Ok(ToolEntry { spec, validator: Arc::new(validator) })
}
