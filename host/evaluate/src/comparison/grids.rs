//! A comparison as tables of strings, for a terminal and for Markdown.

use std::collections::BTreeMap;

use super::{By, Comparison, GroupScores, MeasureScore, Side};
use crate::grid::{Grid, strings};
use crate::metrics::{Interval, Measure};
use crate::release::Finding;
use crate::summary::Outcome;
use crate::text::{count, grouped, of, percent, points};

impl Comparison {
    /// All tables, in the order in which they are to be read: the decision, access, correctness,
    /// reasons, cost.
    #[must_use]
    pub fn grids(&self) -> Vec<Grid> {
        let grids = [
            self.decision_grid(),
            self.access_grid(),
            self.score_grid(),
            self.group_grid(),
            self.reason_grid(),
            self.cost_grid(),
        ];
        grids.into_iter().filter(|grid| !grid.rows.is_empty()).collect()
    }

    /// Two sentences: what was decided, and on what.
    #[must_use]
    pub fn headline(&self) -> String {
        let (ours, theirs) = (&self.candidate.info.label, &self.baseline.info.label);
        let first = match self.decision.ship {
            true => format!("Ship: {ours} passes all {} against {theirs}.", self.clauses()),
            false => format!("No ship: of {}, {}.", self.clauses(), self.in_the_way()),
        };
        let gain = self.decisive().and_then(|group| group.score(Measure::PassAt(1))?.gain);
        let second = gain.map_or_else(
            || "No task of the splits that decide was attempted by both.".to_owned(),
            |gain| format!("pass@1 gain: {} points ({}).", points(100.0 * gain.value), ends(&gain)),
        );
        format!("{first} {second}")
    }

    fn clauses(&self) -> String {
        count(self.decision.rulings.len() as u64, "clause")
    }

    /// `1 fails (access violations), 2 cannot be decided (pass@20 gain, ..)`.
    fn in_the_way(&self) -> String {
        let named = |finding: Finding, verb: &str, verbs: &str| {
            let of_it = self.decision.rulings.iter().filter(|ruling| ruling.finding == finding);
            let names: Vec<&str> = of_it.map(|ruling| ruling.clause.as_str()).collect();
            let first = names.first()?;
            let more = if names.len() > 1 { ", .." } else { "" };
            let verb = if names.len() > 1 { verbs } else { verb };
            Some(format!("{} {verb} ({first}{more})", names.len()))
        };
        let failed = named(Finding::Fail, "fails", "fail");
        let unknown = named(Finding::Undecided, "cannot be decided", "cannot be decided");
        failed.into_iter().chain(unknown).collect::<Vec<_>>().join(", ")
    }

    /// Every clause of the protocol.
    #[must_use]
    pub fn decision_grid(&self) -> Grid {
        let row = |ruling: &crate::release::Ruling| {
            vec![
                ruling.finding.words().to_owned(),
                ruling.clause.clone(),
                ruling.figure.clone(),
                ruling.bound.clone(),
                ruling.why.clone(),
            ]
        };
        Grid {
            title: format!("release decision by protocol {}: {}", self.protocol.name, self.decision.word()),
            header: strings(&["finding", "clause", "figure", "demanded", "why"]),
            rows: self.decision.rulings.iter().map(row).collect(),
        }
    }

    /// What contracts stopped, and what is void.
    #[must_use]
    pub fn access_grid(&self) -> Grid {
        let row = |side: &Side| {
            vec![
                side.info.label.clone(),
                side.info.run.clone(),
                grouped(side.summary.total.episodes()),
                of(side.violations.count, side.violations.of),
                side.violations.value().map_or_else(dash, |rate| {
                    let found = &side.violations;
                    format!("{} ({}–{})", percent(rate), percent(found.low), percent(found.high))
                }),
                grouped(side.summary.violation_steps()),
                grouped(side.void.count),
                grouped(side.left_out.len() as u64),
            ]
        };
        Grid {
            title: "access violations and voids, over all tasks (Clopper-Pearson, 95 %)".to_owned(),
            header: strings(&[
                "policy",
                "run",
                "episodes",
                "with violations",
                "rate",
                "steps stopped",
                "void",
                "left out",
            ]),
            rows: vec![row(&self.baseline), row(&self.candidate)],
        }
    }

    /// Every measure over the decisive tasks.
    #[must_use]
    pub fn score_grid(&self) -> Grid {
        let mut header = vec!["measure".to_owned()];
        header.extend([&self.baseline, &self.candidate].map(|side| side.info.label.clone()));
        header.extend(strings(&["gain", "95 %", "SE", "smallest effect", "tasks"]));
        let Some(group) = self.decisive() else {
            return Grid { title: String::new(), header, rows: Vec::new() };
        };
        let mut rows: Vec<Vec<String>> = group.scores.iter().map(score_row).collect();
        let every = [group.baseline_every_time, group.candidate_every_time];
        let mut counts = vec!["tasks passed n of n".to_owned()];
        counts.extend(every.map(|passed| of(passed, group.tasks)));
        counts.extend([points_of_counts(every), dash(), dash(), dash(), grouped(group.tasks)]);
        rows.push(counts);
        Grid {
            title: format!(
                "{} in {}, from {}; unbiased estimators; points; bootstrap over schemas and tasks, B = {}",
                count(group.tasks, "task"),
                self.splits.iter().map(|split| split.name()).collect::<Vec<_>>().join(", "),
                count(group.schemas, "schema"),
                grouped(self.bootstrap.replicates.into()),
            ),
            header,
            rows,
        }
    }

    /// pass@1 and tasks passed every time, by split, kind, family and schema.
    #[must_use]
    pub fn group_grid(&self) -> Grid {
        let mut header = strings(&["by", "group", "tasks"]);
        header.extend([&self.baseline, &self.candidate].map(|side| format!("pass@1 {}", side.info.label)));
        header.extend(strings(&["gain", "95 %", "every time", "void"]));
        let groups = self.groups.iter().filter(|group| group.by != By::Decisive);
        Grid { title: "pass@1 by group".to_owned(), header, rows: groups.map(group_row).collect() }
    }

    /// Why episodes did not pass, before and after, over all tasks.
    #[must_use]
    pub fn reason_grid(&self) -> Grid {
        let mut found: BTreeMap<(Outcome, &str), [u64; 2]> = BTreeMap::new();
        for (place, side) in [&self.baseline, &self.candidate].into_iter().enumerate() {
            for reason in side.summary.reasons.iter().filter(|reason| reason.outcome != Outcome::Passed) {
                found.entry((reason.outcome, &reason.code)).or_default()[place] += reason.episodes;
            }
        }
        let mut header = strings(&["outcome", "reason"]);
        header.extend([&self.baseline, &self.candidate].map(|side| side.info.label.clone()));
        let row = |((outcome, code), counts): ((Outcome, &str), [u64; 2])| {
            let mut row = vec![outcome.to_string(), code.to_owned()];
            row.extend(counts.map(grouped));
            row
        };
        Grid {
            title: "why episodes did not pass (all tasks)".to_owned(),
            header,
            rows: found.into_iter().map(row).collect(),
        }
    }
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

pub(crate) fn share(found: Option<&Interval>) -> String {
    found
        .map_or_else(dash, |found| format!("{} ({}–{})", percent(found.value), percent(found.low), percent(found.high)))
}

/// `+4.0 to +14.2`; where every task says the same there is no spread to make an interval of.
pub(crate) fn ends(found: &Interval) -> String {
    if found.standard_error == 0.0 {
        return "no spread".to_owned();
    }
    format!("{} to {}", points(100.0 * found.low), points(100.0 * found.high))
}

fn points_of_counts([before, after]: [u64; 2]) -> String {
    match after.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", grouped(before - after)),
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", grouped(after - before)),
    }
}

fn score_row(score: &MeasureScore) -> Vec<String> {
    let gain = score.gain.as_ref();
    vec![
        score.measure.to_string(),
        share(score.baseline.as_ref()),
        share(score.candidate.as_ref()),
        gain.map_or_else(dash, |gain| points(100.0 * gain.value)),
        gain.map_or_else(dash, ends),
        gain.map_or_else(dash, |gain| format!("{:.1}", 100.0 * gain.standard_error)),
        score.smallest_effect.map_or_else(dash, |effect| format!("{:.1}", 100.0 * effect)),
        gain.map_or_else(dash, |gain| grouped(gain.tasks)),
    ]
}

fn group_row(group: &GroupScores) -> Vec<String> {
    let by = match group.by {
        By::Decisive | By::All => "",
        By::Split => "split",
        By::Kind => "kind",
        By::Family => "family",
        By::Schema => "schema",
    };
    let score = group.score(Measure::PassAt(1));
    let value = |found: Option<Interval>| found.map_or_else(dash, |found| percent(found.value));
    let gain = score.and_then(|score| score.gain);
    vec![
        by.to_owned(),
        group.name.clone(),
        grouped(group.tasks),
        value(score.and_then(|score| score.baseline)),
        value(score.and_then(|score| score.candidate)),
        gain.map_or_else(dash, |gain| points(100.0 * gain.value)),
        gain.as_ref().map_or_else(dash, ends),
        format!("{} → {}", grouped(group.baseline_every_time), grouped(group.candidate_every_time)),
        format!("{} → {}", grouped(group.baseline.void), grouped(group.candidate.void)),
    ]
}
