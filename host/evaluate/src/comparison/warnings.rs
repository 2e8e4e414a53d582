//! Warnings: what stands above every figure of a comparison.

use super::{Comparison, Paired, Side};
use crate::summary::{Summary, Versions};
use crate::text::count;

/// Fewer schemas than this leave intervals that say little.
const FEW_SCHEMAS: u64 = 4;

/// What a reader must know before trusting the figures.
pub(super) fn of(comparison: &Comparison, summaries: [&Summary; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let sides = [&comparison.candidate, &comparison.baseline];
    for (side, summary) in sides.iter().zip(summaries) {
        found.extend(summary.warnings.iter().map(|warning| format!("{}: {warning}", side.info.label)));
        if let Some(first) = side.left_out.first() {
            let traces = count(side.left_out.len() as u64, "trace");
            found.push(format!("{}: {traces} left out; the first: {}: {}", side.info.label, first.trace, first.reason));
        }
    }
    found.extend(other_versions(sides));
    found.extend(tasks_apart(&comparison.paired, sides));
    let schemas = comparison.decisive().map_or(0, |group| group.schemas);
    if schemas < FEW_SCHEMAS {
        found
            .push(format!("the decisive tasks come from {}: intervals say little of others", count(schemas, "schema")));
    }
    if let Some(again) = comparison.recheck.as_ref().filter(|again| again.violations.count > 0) {
        let episodes = count(again.violations.count, "episode");
        found.push(format!("recheck: the contract stopped something in {episodes}"));
    }
    found
}

/// What differs between what the two sides ran on, other than tasks.
fn other_versions(sides: [&Side; 2]) -> Vec<String> {
    type Same = fn(&Versions, &Versions) -> bool;
    let [ours, theirs] = sides.map(|side| &side.versions);
    let parts: [(&str, Same); 5] = [
        ("versions of tribunal", |a, b| a.tribunal == b.tribunal),
        ("versions of the plugin interface", |a, b| a.interface == b.interface),
        ("suites", |a, b| a.suites == b.suites),
        ("engines", |a, b| a.engines == b.engines),
        ("plugins", |a, b| {
            a.plugins.iter().all(|(name, digests)| b.plugins.get(name).is_none_or(|other| other == digests))
        }),
    ];
    let other = parts.iter().filter(|(_, same)| !same(ours, theirs));
    let [ours, theirs] = sides.map(|side| &side.info.label);
    other
        .map(|(what, _)| format!("{ours} and {theirs} ran on different {what}; a difference may come from that"))
        .collect()
}

fn tasks_apart(paired: &Paired, sides: [&Side; 2]) -> Vec<String> {
    let mut found = Vec::new();
    for (tasks, side) in [&paired.only_candidate, &paired.only_baseline].into_iter().zip(sides) {
        if let Some(first) = tasks.first() {
            let tasks = count(tasks.len() as u64, "task");
            found.push(format!("{tasks} attempted by {} alone ({first}, ..): in no paired figure", side.info.label));
        }
    }
    if let Some(first) = paired.unequal.first() {
        let (tasks, most) = (count(paired.unequal.len() as u64, "task"), paired.attempts);
        found.push(format!(
            "{tasks} with fewer than {most} judged attempts on a side ({}, ..): each still counts as one in pass@1, and \
             is left out of pass@k and pass^k where it has fewer than k",
            first.task
        ));
    }
    found
}
