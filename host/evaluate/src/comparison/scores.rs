//! What both sides score, by group, with intervals and paired differences.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tribunal_protocol::task::{Split, TaskKind};

use super::pairs::Pair;
use crate::estimate::{pass_at_k, pass_hat_k, ratio, wilson};
use crate::metrics::bootstrap::{Clusters, means};
use crate::metrics::{Attempts, Bootstrap, Interval, Measure};

/// By what tasks are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The tasks that the decision looks at.
    Decisive,
    /// All tasks.
    All,
    /// The split.
    Split,
    /// The kind, over decisive tasks.
    Kind,
    /// The family, over decisive tasks.
    Family,
    /// The schema, over decisive tasks.
    Schema,
}

/// One measure of both sides, over the tasks of one group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasureScore {
    /// What is measured.
    pub measure: Measure,
    /// The candidate's; none where no task can say.
    pub candidate: Option<Interval>,
    /// The baseline's.
    pub baseline: Option<Interval>,
    /// The candidate's less the baseline's, task by task, over the tasks that can say it of both.
    pub gain: Option<Interval>,
    /// The smallest gain that this sample would have shown (80 % power): 2.8 standard errors. None
    /// where there is no spread to tell it from.
    pub smallest_effect: Option<f64>,
    /// Tasks of the group that have too few judged attempts on either side, and are not in the gain.
    pub too_few: u64,
}

/// The scores of one group of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupScores {
    /// By what.
    pub by: By,
    /// The group's name.
    pub name: String,
    /// How many tasks.
    pub tasks: u64,
    /// From how many schemas.
    pub schemas: u64,
    /// All attempts of the candidate.
    pub candidate: Attempts,
    /// All attempts of the baseline.
    pub baseline: Attempts,
    /// How many tasks passed every attempt, none void: the candidate's count.
    pub candidate_every_time: u64,
    /// The baseline's count.
    pub baseline_every_time: u64,
    /// Every measure.
    pub scores: Vec<MeasureScore>,
}

impl GroupScores {
    /// The scores of one measure; none where it was not asked for.
    #[must_use]
    pub fn score(&self, measure: Measure) -> Option<&MeasureScore> {
        self.scores.iter().find(|score| score.measure == measure)
    }

    pub(crate) fn of(by: By, name: &str, pairs: &[Pair<'_>], measures: &[Measure], settings: Bootstrap) -> GroupScores {
        let clusters = Clusters::by(pairs.iter().map(|pair| pair.candidate.schema.as_str()));
        let columns: Vec<Vec<Option<f64>>> = measures.iter().flat_map(|measure| columns(pairs, *measure)).collect();
        let found = means(&clusters, &columns, settings);
        let sum = |pick: fn(&Pair<'_>) -> Attempts| {
            pairs.iter().map(pick).fold(Attempts::default(), |sum, task| Attempts {
                judged: sum.judged + task.judged,
                passed: sum.passed + task.passed,
                void: sum.void + task.void,
            })
        };
        let every_time = |pick: fn(&Pair<'_>) -> Attempts| {
            pairs.iter().filter(|pair| Measure::EveryTime.of(&pick(pair)) == Some(1.0)).count() as u64
        };
        let scores = measures.iter().zip(columns.chunks(3).zip(found.chunks(3)));
        GroupScores {
            by,
            name: name.to_owned(),
            tasks: pairs.len() as u64,
            schemas: clusters.len() as u64,
            candidate: sum(|pair| pair.attempts.0),
            baseline: sum(|pair| pair.attempts.1),
            candidate_every_time: every_time(|pair| pair.attempts.0),
            baseline_every_time: every_time(|pair| pair.attempts.1),
            scores: scores.map(|(measure, (columns, found))| score(*measure, columns, found)).collect(),
        }
    }
}

/// Three columns of a measure: the candidate's, the baseline's, and the gain.
fn columns(pairs: &[Pair<'_>], measure: Measure) -> [Vec<Option<f64>>; 3] {
    let candidate: Vec<_> = pairs.iter().map(|pair| measure.of(&pair.attempts.0)).collect();
    let baseline: Vec<_> = pairs.iter().map(|pair| measure.of(&pair.attempts.1)).collect();
    let both = candidate.iter().zip(&baseline);
    let gain = both.map(|(ours, theirs)| Some((*ours)? - (*theirs)?)).collect();
    [candidate, baseline, gain]
}

fn score(measure: Measure, columns: &[Vec<Option<f64>>], found: &[Option<Interval>]) -> MeasureScore {
    let (Some([candidate, baseline, gain]), Some([ours, theirs, gains])) =
        (found.first_chunk::<3>(), columns.first_chunk::<3>())
    else {
        return MeasureScore {
            measure,
            candidate: None,
            baseline: None,
            gain: None,
            smallest_effect: None,
            too_few: 0,
        };
    };
    let gain = gain.map(|gain| within(gain, -1.0));
    MeasureScore {
        measure,
        candidate: candidate.map(|found| share(found, ours)),
        baseline: baseline.map(|found| share(found, theirs)),
        gain,
        smallest_effect: gain.and_then(|gain| gain.smallest_effect()),
        too_few: gains.iter().filter(|value| value.is_none()).count() as u64,
    }
}

/// Cut to what is possible: a share is in 0..=1, a difference of shares in -1..=1.
fn within(found: Interval, least: f64) -> Interval {
    Interval { low: found.low.max(least), high: found.high.min(1.0), ..found }
}

/// Where every task says the same, a bootstrap sees no spread; the Wilson interval with one unit a
/// task says how sure that is.
fn share(found: Interval, column: &[Option<f64>]) -> Interval {
    let found = within(found, 0.0);
    if found.standard_error > 0.0 {
        return found;
    }
    let values: Vec<f64> = column.iter().flatten().copied().collect();
    wilson(&values).map_or(found, |exact| Interval { low: exact.low, high: exact.high, ..found })
}

/// pass@k and pass^k of both sides for one k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// How many attempts.
    pub k: u64,
    /// How many tasks it rests on: the same at every k.
    pub tasks: u64,
    /// pass@k of the candidate.
    pub candidate_any: f64,
    /// pass^k of the candidate.
    pub candidate_all: f64,
    /// pass@k of the baseline.
    pub baseline_any: f64,
    /// pass^k of the baseline.
    pub baseline_all: f64,
}

/// Of the tasks that a curve could show, this share is shown: it goes on to the largest k that so
/// many reach.
const REACH: f64 = 0.9;

/// Over the same tasks at every k, so that no line bends because a task is gone: those with as
/// many judged attempts on both sides as the largest k that nine of ten tasks reach.
pub(crate) fn curve(pairs: &[Pair<'_>], most: u64) -> Vec<CurvePoint> {
    let reaches = |pair: &&Pair<'_>, k: u64| pair.attempts.0.judged.min(pair.attempts.1.judged) >= k;
    let share = |k: u64| {
        let reached = pairs.iter().filter(|pair| reaches(pair, k)).count() as u64;
        ratio(reached, pairs.len().max(1) as u64)
    };
    let last = (1..=most).take_while(|k| share(*k) >= REACH).last().unwrap_or(0);
    let at = |k: u64| {
        let whole = pairs.iter().filter(|pair| reaches(pair, last));
        let values: Vec<[f64; 4]> = whole.filter_map(|pair| four(pair, k)).collect();
        let tasks = values.len() as u64;
        let mean = |place: usize| values.iter().map(|four| four[place]).sum::<f64>() / ratio(tasks, 1);
        CurvePoint {
            k,
            tasks,
            candidate_any: mean(0),
            candidate_all: mean(1),
            baseline_any: mean(2),
            baseline_all: mean(3),
        }
    };
    (1..=last).map(at).collect()
}

fn four(pair: &Pair<'_>, k: u64) -> Option<[f64; 4]> {
    let (ours, theirs) = pair.attempts;
    Some([
        pass_at_k(ours.judged, ours.passed, k)?,
        pass_hat_k(ours.judged, ours.passed, k)?,
        pass_at_k(theirs.judged, theirs.passed, k)?,
        pass_hat_k(theirs.judged, theirs.passed, k)?,
    ])
}

/// The groups: decisive tasks, all tasks, every split; and of the decisive ones every kind, family
/// and schema.
pub(crate) fn groups(
    all: &[Pair<'_>],
    decisive: &[Pair<'_>],
    measures: &[Measure],
    settings: Bootstrap,
) -> Vec<GroupScores> {
    type Name = fn(&Pair<'_>) -> String;
    let group = |by: By, name: &str, pairs: &[Pair<'_>]| GroupScores::of(by, name, pairs, measures, settings);
    let mut found = vec![group(By::Decisive, "decisive tasks", decisive), group(By::All, "all tasks", all)];
    let splits = Split::ALL.map(|split| (split.name(), pick(all, |pair| pair.candidate.split == split)));
    let kinds = TaskKind::ALL.map(|kind| (kind.name(), pick(decisive, |pair| pair.candidate.kind == kind)));
    for (by, named) in [(By::Split, splits), (By::Kind, kinds)] {
        let some = named.iter().filter(|(_, pairs)| !pairs.is_empty());
        found.extend(some.map(|(name, pairs)| group(by, name, pairs)));
    }
    let names: [(By, Name); 2] =
        [(By::Family, |pair| pair.candidate.family.clone()), (By::Schema, |pair| pair.candidate.schema.clone())];
    for (by, name_of) in names {
        let names: BTreeSet<String> = decisive.iter().map(name_of).collect();
        found.extend(names.iter().map(|name| group(by, name, &pick(decisive, |pair| name_of(pair) == *name))));
    }
    found
}

fn pick<'a>(pairs: &[Pair<'a>], wanted: impl Fn(&Pair<'a>) -> bool) -> Vec<Pair<'a>> {
    pairs.iter().filter(|pair| wanted(pair)).copied().collect()
}
