//! Counts the episodes of one policy.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tribunal_protocol::event::Step;
use tribunal_protocol::policy::Observation;
use tribunal_protocol::task::{Split, TaskKind};
use tribunal_protocol::verdict::Verdict;

use crate::episode::{EpisodeId, Parts};
use crate::estimate::{pass_at_k, pass_hat_k, ratio, wilson};
use crate::summary::{Cell, Cost, Group, Outcome, PassAt, PolicySummary, Reason, Tally, Violation};
use crate::text;

/// The running counts of one policy.
#[derive(Debug, Default)]
pub(crate) struct PolicyCount {
    total: Tally,
    tasks: BTreeMap<String, Tally>,
    cells: BTreeMap<(Split, TaskKind), Tally>,
    families: BTreeMap<String, Tally>,
    schemas: BTreeMap<String, Tally>,
    reasons: BTreeMap<(Outcome, String), Reason>,
    violations: BTreeMap<(String, String), Violation>,
    episodes_with_violations: u64,
    wrong_on_hidden_data: u64,
    cost: Cost,
}

impl PolicyCount {
    /// Counts one whole episode.
    pub(crate) fn add(&mut self, id: &EpisodeId, parts: &Parts<'_>, outcome: Outcome) {
        let header = parts.header;
        let cell = (header.split, header.kind);
        let schema = header.schema.to_string();
        self.total.add(outcome);
        self.tasks.entry(header.task.clone()).or_default().add(outcome);
        self.cells.entry(cell).or_default().add(outcome);
        self.families.entry(header.family.clone()).or_default().add(outcome);
        self.schemas.entry(schema).or_default().add(outcome);
        self.note_reason(id, &parts.end.verdict, outcome);
        for step in parts.steps.iter().filter(|step| step.violation) {
            self.note_violation(id, step);
        }
        self.episodes_with_violations += u64::from(parts.end.violations > 0);
        let hidden = matches!(&parts.end.verdict, Verdict::Scored(score) if score.instance > 0);
        self.wrong_on_hidden_data += u64::from(hidden && outcome != Outcome::Passed);
        if outcome == Outcome::Passed && parts.end.violations == 0 {
            self.cost.episodes += 1;
            self.cost.steps += parts.steps.len() as u64;
            self.cost.usage.add(&parts.end.usage);
        }
    }

    fn note_reason(&mut self, id: &EpisodeId, verdict: &Verdict, outcome: Outcome) {
        let example = match verdict {
            Verdict::Scored(score) => score.difference.as_ref().map(text::difference),
            Verdict::Invalid { .. } => None,
            Verdict::Void(fault) => Some(fault.to_string()),
        };
        let found = Reason {
            outcome,
            code: verdict.reason().to_owned(),
            episodes: 1,
            first: id.clone(),
            example: example.unwrap_or_default(),
        };
        match self.reasons.entry((outcome, found.code.clone())) {
            Entry::Vacant(entry) => drop(entry.insert(found)),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let episodes = known.episodes + 1;
                if found.first < known.first {
                    *known = found;
                }
                known.episodes = episodes;
            }
        }
    }

    fn note_violation(&mut self, id: &EpisodeId, step: &Step) {
        let (code, message) = match &step.observation {
            Observation::Result { text, .. } => ("result", text),
            Observation::Failure(failure) => (failure.code.name(), &failure.message),
        };
        let found = Violation {
            tool: step.action.tool.clone(),
            code: code.to_owned(),
            steps: 1,
            first: id.clone(),
            message: message.clone(),
        };
        match self.violations.entry((found.tool.clone(), found.code.clone())) {
            Entry::Vacant(entry) => drop(entry.insert(found)),
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                let steps = known.steps + 1;
                if found.first < known.first {
                    *known = found;
                }
                known.steps = steps;
            }
        }
    }

    /// The policy's part of the summary.
    pub(crate) fn finish(self, policy: String) -> PolicySummary {
        let attempts = self.tasks.values().map(Tally::episodes).max().unwrap_or(0);
        let shares: Vec<f64> = self.tasks.values().filter_map(Tally::rate).collect();
        let every_time = |task: &&Tally| task.passed == attempts;
        PolicySummary {
            policy,
            tasks: self.tasks.len() as u64,
            attempts,
            total: self.total,
            pass_at_1: wilson(&shares),
            pass: curve(&self.tasks, attempts),
            tasks_passed_every_time: self.tasks.values().filter(every_time).count() as u64,
            wrong_on_hidden_data: self.wrong_on_hidden_data,
            cells: self.cells.into_iter().map(|((split, kind), tally)| Cell { split, kind, tally }).collect(),
            families: groups(self.families),
            schemas: groups(self.schemas),
            reasons: self.reasons.into_values().collect(),
            episodes_with_violations: self.episodes_with_violations,
            violations: self.violations.into_values().collect(),
            cost: self.cost,
        }
    }
}

fn groups(tallies: BTreeMap<String, Tally>) -> Vec<Group> {
    let group = |(name, tally)| Group { name, tally };
    tallies.into_iter().map(group).collect()
}

/// pass@k and pass^k for k = 1, 2, 4, .. and `attempts`; a k that no task reaches is left out.
fn curve(tasks: &BTreeMap<String, Tally>, attempts: u64) -> Vec<PassAt> {
    let powers = (0..).map(|i| 1_u64 << i).take_while(|k| *k < attempts);
    let ks = powers.chain((attempts > 0).then_some(attempts));
    let at = |k: u64| {
        let pairs = tasks.values().filter_map(|task| {
            let (n, c) = (task.judged(), task.passed);
            Some((pass_at_k(n, c, k)?, pass_hat_k(n, c, k)?))
        });
        let (any, all, count) =
            pairs.fold((0.0, 0.0, 0_u64), |(any, all, count), pair| (any + pair.0, all + pair.1, count + 1));
        let mean = |sum: f64| sum / ratio(count, 1);
        (count > 0).then(|| PassAt { k, at_least_one: mean(any), all: mean(all), tasks: count })
    };
    ks.filter_map(at).collect()
}
