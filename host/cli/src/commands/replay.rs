//! `tribunal replay`: traces again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::Serialize;
use tribunal_episode::{Prepared, Stage, replay};
use tribunal_protocol::task::Task;

use crate::args::{MachineArguments, ReplayArguments};
use crate::datasets::stage_for;
use crate::folder::RunFolder;
use crate::{output, work};

/// What became of one trace.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Where it lies.
    pub trace: String,
    /// Whether every event came again.
    pub identical: bool,
    /// Where it first differs, or why it was not replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &ReplayArguments) -> Result<bool> {
    let (folder, traces) = if arguments.trace.is_dir() {
        let folder = RunFolder::open(&arguments.trace)?;
        let traces = folder.traces()?;
        (folder, traces)
    } else {
        (RunFolder::of_trace(&arguments.trace)?, vec![arguments.trace.clone()])
    };
    let outcomes = replay_all(&folder, &traces, &arguments.machine)?;
    show(&outcomes, arguments.machine.json)?;
    Ok(outcomes.iter().all(|outcome| outcome.identical))
}

/// Replays traces of a run.
pub fn replay_all(folder: &RunFolder, traces: &[PathBuf], machine: &MachineArguments) -> Result<Vec<Outcome>> {
    let file = folder.run_file()?;
    let stage = stage_for(&file.suite, machine.plugins.as_deref(), machine.cache.as_deref())?;
    let tasks: BTreeMap<String, Task> = folder.tasks()?.into_iter().map(|task| (task.id.clone(), task)).collect();
    let bar = output::progress("replay", traces.len() as u64);
    let outcomes = work::all(traces, work::jobs(machine.jobs), |trace| {
        let outcome = replay_one(trace, &tasks, &stage)?;
        bar.step();
        Ok(outcome)
    })?;
    bar.finish();
    Ok(outcomes.into_iter().flatten().collect())
}

fn replay_one(path: &PathBuf, tasks: &BTreeMap<String, Task>, stage: &Stage) -> Result<Outcome> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.display().to_string();
    let problem = match compare(&bytes, tasks, stage) {
        Ok(problem) => problem,
        Err(problem) => Some(format!("{problem:#}")),
    };
    Ok(Outcome { trace: name, identical: problem.is_none(), problem })
}

/// None where a replay is identical, else where it first differs.
fn compare(bytes: &[u8], tasks: &BTreeMap<String, Task>, stage: &Stage) -> Result<Option<String>> {
    let recorded = tribunal_trace::read(bytes)?;
    let header = tribunal_trace::header(&recorded).context("the trace has no header")?;
    let task =
        tasks.get(&header.task).with_context(|| format!("task {} is not in the run's tasks.jsonl", header.task))?;
    let prepared = Prepared::new(stage, Arc::new(task.clone()))?;
    let replayed = replay(&prepared, &recorded);
    Ok(replayed.difference.map(|difference| {
        format!(
            "event {} ({}) differs at {}: recorded {}, now {}",
            difference.number, difference.what, difference.path, difference.recorded, difference.replayed
        )
    }))
}

fn show(outcomes: &[Outcome], json: bool) -> Result<()> {
    if json {
        return output::json(&outcomes);
    }
    let differing: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.identical).collect();
    for outcome in &differing {
        let name = Path::new(&outcome.trace).display();
        output::line(&format!("{name}: {}", outcome.problem.as_deref().unwrap_or("differs")));
    }
    output::line(&format!("{} identical, {} different", outcomes.len() - differing.len(), differing.len()));
    Ok(())
}
