//! A stage with the real plugins and the bench's data, and how a task is played on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::json;
use tribunal_database::Snapshot;
use tribunal_episode::{Datasets, Episode, Prepared, Stage, run};
use tribunal_protocol::event::Event;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::policy::{Action, Observation, names};
use tribunal_protocol::task::{SchemaRef, Task};
use tribunal_sandbox::{Plugin, Sandbox, SandboxOptions};
use tribunal_scripted::Script;

use crate::call;
use crate::data;
use crate::task::{Ending, task};

/// The plugins that the episodes need.
const PLUGINS: [&str; 5] = ["tool-catalog", "tool-query", "tool-ledger", "verifier-result", "verifier-state"];

/// Seeds of the visible instance and of three hidden ones.
pub(crate) const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Whether a snapshot remembers what queries gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Off,
    On,
}

struct Data(BTreeMap<u64, Snapshot>);

impl Datasets for Data {
    fn snapshot(&self, _schema: &SchemaRef, seed: u64) -> Result<Snapshot, String> {
        self.0.get(&seed).cloned().ok_or_else(|| format!("no data of seed {seed}"))
    }
}

/// The plugins, loaded once for all stages.
pub(crate) fn plugins() -> Result<Vec<Arc<Plugin>>> {
    let sandbox = Sandbox::new(SandboxOptions::default())?;
    PLUGINS.iter().map(|name| call::load(&sandbox, name)).collect()
}

/// The data of one seed, sealed.
pub(crate) fn snapshot(seed: u64, memory: Memory) -> Result<Snapshot> {
    let data = data::small(seed);
    let rows: usize = data.tables.iter().map(|table| table.rows.len()).sum();
    ensure!(rows == 1_000, "1,000 rows expected, {rows} made");
    let snapshot = Snapshot::seal(&data)?;
    Ok(match memory {
        Memory::Off => snapshot.with_memo(0),
        Memory::On => snapshot,
    })
}

/// A task over the first `instances` seeds, ready to be played.
pub(crate) fn prepare(plugins: &[Arc<Plugin>], ending: Ending, memory: Memory, instances: usize) -> Result<Prepared> {
    let seeds = SEEDS.get(..instances).context("so many seeds")?;
    let snapshots = seeds.iter().map(|seed| Ok((*seed, snapshot(*seed, memory)?))).collect::<Result<_>>()?;
    let stage = Stage::new(plugins.iter().cloned(), Arc::new(Data(snapshots)), Limits::default())?;
    let mut task = task(ending, seeds)?;
    if ending == Ending::State {
        let golden = golden(&stage, &task)?;
        task.instances.iter_mut().for_each(|instance| instance.expectation.clone_from(&golden));
    }
    Ok(Prepared::new(&stage, Arc::new(task))?)
}

/// What `verifier-state` expects: the changes that the oracle's own calls make.
fn golden(stage: &Stage, task: &Task) -> Result<String> {
    let prepared = Prepared::new(stage, Arc::new(task.clone()))?;
    let mut episode = Episode::start(&prepared, "golden", 0, 0);
    for action in task.oracle.iter().filter(|action| !names::ALL.contains(&action.tool.as_str())) {
        if let Observation::Failure(failure) = episode.step(action.clone()) {
            bail!("{}: {failure}", action.tool);
        }
    }
    let changes = episode.changes();
    ensure!(changes.len() == 1, "one table changes");
    let tables: Vec<_> = changes
        .iter()
        .map(|change| json!({"name": change.name, "ignore": [], "removed": change.removed, "added": change.added}))
        .collect();
    Ok(json!({"version": 1, "tables": tables}).to_string())
}

/// One whole episode, its trace written to bytes.
///
/// # Errors
/// It does not pass.
pub(crate) fn play(prepared: &Prepared, actions: &[Action]) -> Result<Vec<u8>> {
    let mut policy = Script::new(actions.to_vec());
    let events = run(prepared, "oracle", &mut policy, 0, 0);
    passed(&events)?;
    tribunal_trace::write(&events).map_err(|why| anyhow!("{why}"))
}

pub(crate) fn passed(events: &[Event]) -> Result<()> {
    match events.last() {
        Some(Event::End(end)) if end.verdict.passed() => Ok(()),
        Some(Event::End(end)) => {
            let failed = events.iter().find_map(|event| match event {
                Event::Step(step) => match &step.observation {
                    Observation::Failure(failure) => Some(format!("; step {}: {failure}", step.number)),
                    Observation::Result { .. } => None,
                },
                _ => None,
            });
            bail!("the oracle should pass: {:?}{}", end.verdict, failed.unwrap_or_default())
        }
        _ => bail!("the episode has no end"),
    }
}
