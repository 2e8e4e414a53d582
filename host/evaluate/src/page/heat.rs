//! Shares as coloured cells: by split and kind, by family, by schema.

use std::collections::BTreeSet;

use serde::Serialize;
use tribunal_protocol::task::{Split, TaskKind};

use super::overview::TEXT;
use crate::comparison::grids::ends;
use crate::comparison::{By, Comparison, GroupScores};
use crate::metrics::{Attempts, Interval, Measure};
use crate::summary::{Group, PolicySummary, Summary, Tally};
use crate::text::{count, grouped, of, percent, points, shown};

/// One policy by split (down) and kind (across).
#[derive(Debug, Serialize)]
pub(super) struct HeatView {
    policy: String,
    total: HeatCell,
    rows: Vec<HeatRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct HeatRow {
    name: String,
    cells: Vec<HeatCell>,
}

/// A share as a coloured cell.
#[derive(Debug, Serialize)]
pub(super) struct HeatCell {
    /// The share, in 0..=1, for the colour; empty where nothing was judged.
    heat: String,
    share: String,
    count: String,
    void: String,
}

/// A group before, after, and the change between them.
#[derive(Debug, Serialize)]
pub(super) struct ChangeRow {
    name: String,
    tasks: String,
    before: HeatCell,
    after: HeatCell,
    change: ChangeCell,
}

#[derive(Debug, Serialize)]
struct ChangeCell {
    /// `up`, `down`, or empty where nothing changed or nothing is known.
    class: &'static str,
    /// How far, in 0..=1, for the colour.
    heat: String,
    points: String,
    ends: String,
}

/// Every group of one kind, the largest gain first.
pub(super) fn change_rows(comparison: &Comparison, by: By) -> Vec<ChangeRow> {
    let gain = |group: &GroupScores| group.score(Measure::PassAt(1)).and_then(|score| score.gain);
    let mut groups: Vec<&GroupScores> = comparison.groups.iter().filter(|group| group.by == by).collect();
    let key = |group: &GroupScores| gain(group).map_or(f64::NEG_INFINITY, |gain| gain.value);
    groups.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.name.cmp(&b.name)));
    let cell = |attempts: &Attempts| {
        let failed = attempts.judged - attempts.passed;
        HeatCell::of(Some(Tally { passed: attempts.passed, zero: failed, void: attempts.void, ..Tally::default() }))
    };
    let row = |group: &&GroupScores| ChangeRow {
        name: shown(&group.name, TEXT),
        tasks: count(group.tasks, "task"),
        before: cell(&group.baseline),
        after: cell(&group.candidate),
        change: ChangeCell::of(gain(group)),
    };
    groups.iter().map(row).collect()
}

impl ChangeCell {
    fn of(gain: Option<Interval>) -> ChangeCell {
        let Some(gain) = gain else {
            return ChangeCell { class: "", heat: String::new(), points: "–".to_owned(), ends: String::new() };
        };
        ChangeCell {
            class: match gain.value {
                value if value > 0.0 => "up",
                value if value < 0.0 => "down",
                _ => "",
            },
            // A third of the way is as deep as the colour gets.
            heat: format!("{:.3}", (3.0 * gain.value.abs()).min(1.0)),
            points: points(100.0 * gain.value),
            ends: ends(&gain),
        }
    }
}

/// Shares by some property (down) and policy (across).
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    title: &'static str,
    rows: Vec<HeatRow>,
}

/// The kinds that occur, in the order of tables.
pub(super) fn kinds(summary: &Summary) -> Vec<TaskKind> {
    let cells = || summary.policies.iter().flat_map(|policy| &policy.cells);
    let occurs = |kind: &TaskKind| cells().any(|cell| cell.kind == *kind);
    TaskKind::ALL.into_iter().filter(occurs).collect()
}

impl HeatView {
    pub(super) fn of(policy: &PolicySummary, kinds: &[TaskKind]) -> HeatView {
        let in_split = |split: &Split| policy.cells.iter().any(|cell| cell.split == *split);
        let row = |split: Split| HeatRow {
            name: split.name().to_owned(),
            cells: kinds.iter().map(|kind| HeatCell::of(policy.cell(split, *kind))).collect(),
        };
        HeatView {
            policy: shown(&policy.policy, TEXT),
            total: HeatCell::of(Some(policy.total)),
            rows: Split::ALL.into_iter().filter(in_split).map(row).collect(),
        }
    }
}

impl HeatCell {
    fn of(tally: Option<Tally>) -> HeatCell {
        let tally = tally.unwrap_or_default();
        let rate = tally.rate();
        HeatCell {
            heat: rate.map_or_else(String::new, |rate| format!("{rate:.3}")),
            share: rate.map_or_else(|| "–".to_owned(), percent),
            count: match tally.judged() {
                0 => String::new(),
                judged => of(tally.passed, judged),
            },
            void: match tally.void {
                0 => String::new(),
                void => format!("{} void", grouped(void)),
            },
        }
    }
}

impl Matrix {
    pub(super) fn of(title: &'static str, policies: &[&PolicySummary], pick: fn(&PolicySummary) -> &[Group]) -> Matrix {
        let names = policies.iter().flat_map(|policy| pick(policy));
        let names: BTreeSet<&str> = names.map(|group| group.name.as_str()).collect();
        let tally = |policy: &PolicySummary, name: &str| {
            let group = pick(policy).iter().find(|group| group.name == name);
            group.map(|group| group.tally)
        };
        let row = |name: &str| HeatRow {
            name: shown(name, TEXT),
            cells: policies.iter().map(|policy| HeatCell::of(tally(policy, name))).collect(),
        };
        Matrix { title, rows: names.into_iter().map(row).collect() }
    }
}
