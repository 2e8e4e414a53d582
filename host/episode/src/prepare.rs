//! One task made ready on a stage.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jsonschema::Validator;
use tribunal_contract::{Budget, Contract, Effective};
use tribunal_database::Snapshot;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::event::Header;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::{PluginKind, ToolSpec};
use tribunal_protocol::policy::Briefing;
use tribunal_protocol::task::Task;
use tribunal_sandbox::{INTERFACE, Plugin, Sandbox};

use crate::briefing::briefing;
use crate::error::EpisodeError;
use crate::stage::Stage;

/// A plugin with what the task pins to it.
pub(crate) struct Holder {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) contract: Arc<Effective>,
    pub(crate) settings: String,
    pub(crate) limits: Limits,
}

/// A tool that the agent may call.
pub(crate) struct Tool {
    /// Which of [`Prepared::holders`] offers it; none: the episode itself.
    pub(crate) holder: Option<usize>,
    pub(crate) validator: Arc<Validator>,
}

/// A task ready to be played any number of times.
pub struct Prepared {
    pub(crate) task: Arc<Task>,
    pub(crate) briefing: Briefing,
    pub(crate) holders: Vec<Holder>,
    pub(crate) tools: BTreeMap<String, Tool>,
    pub(crate) verifier: Holder,
    pub(crate) user: Option<(Arc<Plugin>, String, String)>,
    pub(crate) user_limits: Limits,
    pub(crate) snapshots: Vec<Snapshot>,
    header: Header,
}

impl Prepared {
    /// Makes a task ready: finds its plugins, resolves its contracts against its schema, seals
    /// its data.
    ///
    /// # Errors
    /// What does not fit, before anything ran.
    pub fn new(stage: &Stage, task: Arc<Task>) -> Result<Prepared, EpisodeError> {
        let snapshots = snapshots(stage, &task)?;
        let visible = snapshots.first().ok_or_else(|| EpisodeError::Task {
            task: task.id.clone(),
            problem: "it has no instance of the data; give it at least one seed".to_owned(),
        })?;
        let hold = |name: &str, kind, grant: &str| holder(stage, &task, name, kind, grant, visible);
        let holders: Vec<Holder> =
            task.tools.iter().map(|name| hold(name, PluginKind::Tool, &task.grant)).collect::<Result<_, _>>()?;
        let verifier = hold(&task.verifier, PluginKind::Verifier, &task.verifier_grant)?;
        let user = match &task.user {
            None => None,
            Some(user) => {
                let plugin = find(stage, &task, &user.plugin, PluginKind::User)?;
                Some((plugin, settings(&task, &user.plugin), user.secret.clone()))
            }
        };
        let (tools, specs) = tools(stage, &task)?;
        let briefing = briefing(&task, specs);
        let header =
            header(&task, &briefing, &snapshots, &holders, &verifier, user.as_ref().map(|user| &user.0), stage);
        let user_limits = stage.limits().clone();
        Ok(Prepared { task, briefing, holders, tools, verifier, user, user_limits, snapshots, header })
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// What a policy reads first.
    #[must_use]
    pub fn briefing(&self) -> &Briefing {
        &self.briefing
    }

    /// Every table that some tool of the agent shows it, with the columns that it shows.
    #[must_use]
    pub fn visible(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut visible: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for table in self.holders.iter().flat_map(|holder| holder.contract.tables()) {
            let info = table.info();
            visible.entry(info.name).or_default().extend(info.columns.into_iter().map(|column| column.name));
        }
        visible
    }

    /// The header of one attempt.
    pub(crate) fn header(&self, policy: &str, attempt: u32, seed: u64) -> Header {
        let mut header = self.header.clone();
        policy.clone_into(&mut header.policy);
        header.attempt = attempt;
        header.policy_seed = seed;
        header
    }
}

fn snapshots(stage: &Stage, task: &Task) -> Result<Vec<Snapshot>, EpisodeError> {
    let snapshot = |seed| {
        stage.datasets().snapshot(&task.schema, seed).map_err(|problem| EpisodeError::Data {
            task: task.id.clone(),
            schema: task.schema.to_string(),
            seed,
            problem,
        })
    };
    task.instances.iter().map(|instance| snapshot(instance.seed)).collect()
}

fn find(stage: &Stage, task: &Task, name: &str, kind: PluginKind) -> Result<Arc<Plugin>, EpisodeError> {
    let Some(plugin) = stage.plugins().get(name) else {
        let loaded: Vec<&str> = stage.plugins().keys().map(String::as_str).collect();
        return Err(EpisodeError::NoPlugin {
            task: task.id.clone(),
            plugin: name.to_owned(),
            loaded: loaded.join(", "),
        });
    };
    if plugin.kind() != kind {
        return Err(EpisodeError::WrongKind {
            task: task.id.clone(),
            plugin: name.to_owned(),
            expected: kind.to_string(),
            found: plugin.kind().to_string(),
        });
    }
    Ok(Arc::clone(plugin))
}

fn settings(task: &Task, plugin: &str) -> String {
    task.settings.get(plugin).cloned().unwrap_or_else(|| "{}".to_owned())
}

/// Effective contract = what the plugin requests ∩ what the task grants, resolved by name.
fn holder(
    stage: &Stage,
    task: &Task,
    name: &str,
    kind: PluginKind,
    grant: &str,
    visible: &Snapshot,
) -> Result<Holder, EpisodeError> {
    let plugin = find(stage, task, name, kind)?;
    let wrong = |problem: String| EpisodeError::Contract { task: task.id.clone(), plugin: name.to_owned(), problem };
    let requested =
        Contract::parse(&plugin.description().contract).map_err(|why| wrong(format!("as requested: {why}")))?;
    let mut granted = Contract::parse(grant).map_err(|why| wrong(format!("as granted: {why}")))?;
    if kind == PluginKind::Verifier {
        // A verifier reads; whatever it asks for, and whatever a suite grants by mistake.
        granted.write.clear();
    }
    // A grant must name what exists, even where the plugin requests less.
    granted.resolve(visible.schemas()).map_err(|why| wrong(format!("as granted: {why}")))?;
    // No contract widens the limits of the stage.
    granted.budget = granted.budget.intersect(&Budget::most(stage.limits()));
    let effective =
        Contract::intersect(&requested, &granted).resolve(visible.schemas()).map_err(|why| wrong(why.to_string()))?;
    let mut limits = stage.limits().clone();
    limits.fuel = limits.fuel.min(effective.allowance().fuel.unwrap_or(u64::MAX));
    limits.memory = limits.memory.min(effective.allowance().memory.unwrap_or(u64::MAX));
    Ok(Holder { plugin, contract: Arc::new(effective), settings: settings(task, name), limits })
}

/// All tools of a task by name, and their specifications in the order of the briefing.
fn tools(stage: &Stage, task: &Task) -> Result<(BTreeMap<String, Tool>, Vec<ToolSpec>), EpisodeError> {
    let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut specs = Vec::new();
    let offered = task.tools.iter().enumerate().map(|(index, name)| (Some(index), name.as_str(), stage.tools_of(name)));
    let own = std::iter::once((None, "the episode", stage.episode_tools()));
    for (holder, owner, entries) in own.chain(offered) {
        for entry in entries {
            let name = &entry.spec.name;
            if let Some(first) = owners.insert(name.clone(), owner.to_owned()) {
                return Err(EpisodeError::TwoTools {
                    task: task.id.clone(),
                    tool: name.clone(),
                    first,
                    second: owner.to_owned(),
                });
            }
            tools.insert(name.clone(), Tool { holder, validator: Arc::clone(&entry.validator) });
            if holder.is_some() {
                specs.push(entry.spec.clone());
            }
        }
    }
    Ok((tools, specs))
}

fn header(
    task: &Task,
    briefing: &Briefing,
    snapshots: &[Snapshot],
    holders: &[Holder],
    verifier: &Holder,
    user: Option<&Arc<Plugin>>,
    stage: &Stage,
) -> Header {
    let all = || holders.iter().chain(std::iter::once(verifier));
    let named = |plugin: &Arc<Plugin>| (plugin.name().to_owned(), plugin.digest());
    Header {
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        engines: engines(snapshots),
        interface: INTERFACE.to_owned(),
        suite: task.suite.clone(),
        task: task.id.clone(),
        task_digest: task_digest(task),
        family: task.family.clone(),
        kind: task.kind,
        split: task.split,
        schema: task.schema.clone(),
        fingerprint: task.fingerprint,
        states: snapshots.iter().map(Snapshot::digest).collect(),
        seeds: task.instances.iter().map(|instance| instance.seed).collect(),
        plugins: all().map(|holder| named(&holder.plugin)).chain(user.map(named)).collect(),
        contracts: all().map(|holder| (holder.plugin.name().to_owned(), holder.contract.digest())).collect(),
        limits: stage.limits().clone(),
        policy: String::new(),
        attempt: 0,
        policy_seed: 0,
        briefing: briefing.clone(),
    }
}

/// What runs the SQL of the instances, and what runs the plugins.
fn engines(snapshots: &[Snapshot]) -> Vec<String> {
    let mut engines: Vec<_> = snapshots.iter().map(Snapshot::engine).collect();
    engines.sort_unstable();
    engines.dedup();
    let names = engines.into_iter().map(tribunal_database::engine_name);
    names.chain(std::iter::once(Sandbox::engine_name())).collect()
}

/// The digest of a whole task, hidden parts included: of its JSON form, whose fields have a
/// fixed order.
fn task_digest(task: &Task) -> Digest {
    Digest::of(&serde_json::to_vec(task).unwrap_or_default())
}
