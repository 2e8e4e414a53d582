//! Which episodes are worth showing step by step.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_protocol::event::Event;
use tribunal_protocol::policy::{Observation, names};
use tribunal_protocol::task::TaskKind;
use tribunal_protocol::verdict::{Difference, Verdict};

use crate::episode::{EpisodeId, Parts};
use crate::summary::Outcome;

/// Chooses episodes to show, from episodes that come one by one in any order: a task with a
/// failed episode whose first difference names a cell, a state task, a clarify, a recover and an
/// impossible task; each with an episode that passed and one that failed, where there are both.
/// Then one that only hidden data decided against, one void, one invalid and one with an access
/// violation, unless they are shown already.
#[derive(Debug, Default)]
pub struct Choice {
    tasks: BTreeMap<String, Vec<Sketch>>,
}

/// What makes one episode worth showing.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    id: EpisodeId,
    kind: TaskKind,
    outcome: Outcome,
    /// 0: the first difference names a cell; 1: there is one; 2: there is none.
    difference: u8,
    /// Whether a table was seen on the way.
    table: bool,
    /// Whether it shows what its kind is about.
    typical: bool,
    violation: bool,
    /// Whether hidden data decided against it.
    hidden: bool,
    /// Whether it took any step at all.
    acted: bool,
}

impl Choice {
    /// Looks at one episode; one that is not whole is passed over.
    pub fn add(&mut self, events: &[Event]) {
        if let Ok(parts) = Parts::of(events) {
            let sketches = self.tasks.entry(parts.header.task.clone()).or_default();
            sketches.push(Sketch::of(&parts));
        }
    }

    /// The chosen episodes, in the order in which to show them; those of one task stand together.
    #[must_use]
    pub fn finish(mut self) -> Vec<EpisodeId> {
        for sketches in self.tasks.values_mut() {
            sketches.sort_by(|a, b| a.id.cmp(&b.id));
        }
        let mut chosen = Chosen::default();
        let kinds = [TaskKind::Answer, TaskKind::State, TaskKind::Clarify, TaskKind::Recover, TaskKind::Impossible];
        for kind in kinds {
            let pairs = self.tasks.values().filter_map(|sketches| Pair::of(sketches, kind));
            if let Some(pair) = pairs.min_by_key(Pair::rank) {
                pair.failed.into_iter().for_each(|sketch| chosen.push(sketch));
                pair.passed.into_iter().for_each(|sketch| chosen.push(sketch));
            }
        }
        let of_a_kind: [fn(&Sketch) -> bool; 4] = [
            |sketch| sketch.hidden,
            |sketch| sketch.outcome == Outcome::Void,
            |sketch| sketch.outcome == Outcome::Invalid,
            |sketch| sketch.violation,
        ];
        for wanted in of_a_kind {
            let all: Vec<_> = self.tasks.values().flatten().filter(|s| wanted(s)).collect();
            if !all.iter().any(|sketch| chosen.holds(sketch))
                && let Some(sketch) = all.iter().min_by_key(|sketch| (!sketch.acted, &sketch.id))
            {
                chosen.push(sketch);
            }
        }
        chosen.finish()
    }
}

#[derive(Default)]
struct Chosen {
    ids: Vec<EpisodeId>,
    seen: BTreeSet<EpisodeId>,
}

impl Chosen {
    fn holds(&self, sketch: &Sketch) -> bool {
        self.seen.contains(&sketch.id)
    }

    fn push(&mut self, sketch: &Sketch) {
        if self.seen.insert(sketch.id.clone()) {
            self.ids.push(sketch.id.clone());
        }
    }

    /// Brings the episodes of one task together, where the first of them stands.
    fn finish(self) -> Vec<EpisodeId> {
        let first_of_task = |id: &EpisodeId| self.ids.iter().position(|other| other.task == id.task);
        let mut ids = self.ids.clone();
        ids.sort_by_key(first_of_task);
        ids
    }
}

/// The most telling failed and passed episode of one task.
struct Pair<'a> {
    failed: Option<&'a Sketch>,
    passed: Option<&'a Sketch>,
}

impl<'a> Pair<'a> {
    fn of(sketches: &'a [Sketch], kind: TaskKind) -> Option<Pair<'a>> {
        let of_kind = || sketches.iter().filter(|sketch| sketch.kind == kind);
        let failed = |sketch: &&Sketch| matches!(sketch.outcome, Outcome::Zero | Outcome::Partial | Outcome::Invalid);
        let pair = Pair {
            failed: of_kind().filter(failed).min_by_key(|sketch| sketch.failed_rank()),
            passed: of_kind()
                .filter(|sketch| sketch.outcome == Outcome::Passed)
                .min_by_key(|sketch| (!sketch.typical, !sketch.table)),
        };
        (pair.failed.is_some() || pair.passed.is_some()).then_some(pair)
    }

    /// Lower is more worth showing; ties go to the task that comes first by name.
    fn rank(&self) -> impl Ord + use<> {
        (
            self.failed.is_none() || self.passed.is_none(),
            self.failed.map_or((true, true, true, 3, true), Sketch::failed_rank),
            self.passed.is_none_or(|passed| !passed.typical),
        )
    }
}

impl Sketch {
    pub(crate) fn of(parts: &Parts<'_>) -> Sketch {
        let kind = parts.header.kind;
        let failures = parts.steps.iter().filter(|s| matches!(s.observation, Observation::Failure(_)));
        let called = |name: &str| parts.steps.iter().any(|step| step.action.tool == name);
        Sketch {
            id: EpisodeId::of(parts.header),
            kind,
            outcome: Outcome::of(&parts.end.verdict),
            difference: match &parts.end.verdict {
                Verdict::Scored(score) => place_rank(score.difference.as_ref()),
                Verdict::Invalid { .. } | Verdict::Void(_) => 2,
            },
            table: parts
                .steps
                .iter()
                .any(|step| matches!(&step.observation, Observation::Result { table: Some(t), .. } if t.rows > 0)),
            typical: match kind {
                TaskKind::Answer => called(names::SUBMIT),
                TaskKind::State => parts.steps.iter().any(|step| step.state.is_some()),
                TaskKind::Clarify => called(names::ASK),
                TaskKind::Impossible => called(names::ABSTAIN),
                TaskKind::Recover => failures.count() > 0,
            },
            hidden: matches!(&parts.end.verdict, Verdict::Scored(score)
                if score.instance > 0 && score.reward < 1.0),
            acted: !parts.steps.is_empty(),
            violation: parts.steps.iter().any(|step| step.violation),
        }
    }

    /// Lower tells more, of episodes that did not pass.
    pub(crate) fn failed_rank(&self) -> (bool, bool, bool, u8, bool) {
        let invalid = self.outcome == Outcome::Invalid;
        (self.difference > 0, invalid, !self.table, self.difference, !self.typical)
    }
}

fn place_rank(difference: Option<&Difference>) -> u8 {
    match difference {
        Some(found) if found.row.is_some() && found.column.is_some() => 0,
        Some(_) => 1,
        None => 2,
    }
}
