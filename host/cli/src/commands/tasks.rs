//! `tribunal tasks`: the tasks of a suite, made and listed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde_json::json;

use crate::args::TasksArguments;
use crate::datasets::{Made, Workshop};
use crate::{output, work};

/// Runs the command.
pub fn run(arguments: &TasksArguments) -> Result<bool> {
    work::watch_interrupts()?;
    let workshop = Workshop::open(&arguments.place)?;
    let Some(made) = workshop.make(work::jobs(arguments.place.jobs))? else {
        bail!("interrupted while tasks were made");
    };
    if let Some(id) = &arguments.show {
        let Some(task) = made.tasks.iter().find(|task| task.id == *id) else {
            bail!("no task {id} in suite {}; `tribunal tasks` lists them", workshop.suite_version());
        };
        output::json(task)?;
    } else if arguments.place.json {
        let refused: Vec<_> =
            made.refused.iter().map(|refused| json!({"task": refused.task, "reason": refused.reason})).collect();
        output::json(&json!({"suite": workshop.suite_version(), "tasks": made.tasks, "refused": refused}))?;
    } else {
        list(&made);
    }
    all_filled(&made)?;
    Ok(true)
}

/// A place in the suite for which no draft passed is a fault of the suite.
fn all_filled(made: &Made) -> Result<()> {
    let filled: BTreeSet<&str> = made.tasks.iter().map(|task| task.id.as_str()).collect();
    let empty: Vec<_> = made.refused.iter().filter(|refused| !filled.contains(refused.task.as_str())).collect();
    let places: BTreeSet<&str> = empty.iter().map(|refused| refused.task.as_str()).collect();
    match empty.first() {
        None => Ok(()),
        Some(first) => bail!(
            "{} places of the suite stay empty; first, {first}; correct that family or schema, or lower the quota",
            places.len()
        ),
    }
}

fn list(made: &Made) {
    let rows: Vec<Vec<String>> = made
        .tasks
        .iter()
        .map(|task| vec![task.id.clone(), task.split.to_string(), task.kind.to_string(), task.instruction.clone()])
        .collect();
    let header = ["task", "split", "kind", "instruction"].map(str::to_owned);
    output::table(&header, &rows);
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for refused in &made.refused {
        *reasons.entry((&refused.task, &refused.reason)).or_default() += 1;
    }
    if !reasons.is_empty() {
        let rows: Vec<Vec<String>> =
            reasons.keys().map(|(task, reason)| vec![(*task).to_owned(), (*reason).to_owned()]).collect();
        output::line("\nrefused drafts");
        output::table(&["task", "reason"].map(str::to_owned), &rows);
    }
    output::line(&format!("{} tasks, {} drafts refused", made.tasks.len(), made.refused.len()));
}
