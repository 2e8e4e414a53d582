//! Which episodes to show side by side.

use serde::{Deserialize, Serialize};

use super::arm::{Record, TaskRecords};
use super::pairs::Pair;
use crate::episode::EpisodeId;
use crate::summary::Outcome;

/// What two episodes of one task tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Telling {
    /// The candidate passed, the baseline did not.
    Gained,
    /// The baseline passed, the candidate did not.
    Lost,
    /// Neither passed.
    BothFail,
}

impl Telling {
    /// In words, with the names of both sides.
    #[must_use]
    pub fn words(self, candidate: &str, baseline: &str) -> String {
        match self {
            Telling::Gained => format!("{candidate} passes where {baseline} fails"),
            Telling::Lost => format!("{baseline} passes where {candidate} fails"),
            Telling::BothFail => "both fail".to_owned(),
        }
    }
}

/// Two episodes to show side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What they tell.
    pub tells: Telling,
    /// The candidate's episode; its policy is the side's label.
    pub candidate: EpisodeId,
    /// The baseline's.
    pub baseline: EpisodeId,
}

/// At most one of each, on different tasks. A gain is shown where the candidate's share of passed
/// attempts is the furthest above the baseline's, a loss where it is the furthest below, and two
/// failures where both together passed least. Of equals: where the failure names the cell that
/// differs, then the first by name. Of a task's attempts: the first that passed, and the failed one
/// that says most.
pub(crate) fn choose(pairs: &[Pair<'_>], labels: [&str; 2]) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for tells in [Telling::Gained, Telling::Lost, Telling::BothFail] {
        let used = |pair: &&Pair<'_>| !shown.iter().any(|found| found.candidate.task == pair.task);
        let found = pairs.iter().filter(used).filter_map(|pair| sketch(tells, pair));
        let best = found.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        shown.extend(best.map(|(_, _, task, attempts)| {
            let id = |place: usize| EpisodeId {
                policy: labels[place].to_owned(),
                task: task.to_owned(),
                attempt: attempts[place],
            };
            Shown { tells, candidate: id(0), baseline: id(1) }
        }));
    }
    shown
}

type Rank = (bool, bool, bool, u8, bool);

/// How telling a task is (lower is more), and which attempts tell it; none where none does.
fn sketch<'a>(tells: Telling, pair: &Pair<'a>) -> Option<(f64, Rank, &'a str, [u32; 2])> {
    let (ours, theirs) = (pair.attempts.0.rate()?, pair.attempts.1.rate()?);
    let (far, first, second) = match tells {
        Telling::Gained => (theirs - ours, passed(pair.candidate)?, failed(pair.baseline)?),
        Telling::Lost => (ours - theirs, failed(pair.candidate)?, passed(pair.baseline)?),
        Telling::BothFail => (ours + theirs, failed(pair.candidate)?, failed(pair.baseline)?),
    };
    let rank = match tells {
        Telling::Gained => second.sketch.failed_rank(),
        Telling::Lost | Telling::BothFail => first.sketch.failed_rank(),
    };
    let fits = far < 0.0 || tells == Telling::BothFail;
    fits.then_some((far, rank, pair.task, [first.attempt, second.attempt]))
}

fn passed(task: &TaskRecords) -> Option<&Record> {
    task.records.values().find(|record| record.outcome == Outcome::Passed)
}

fn failed(task: &TaskRecords) -> Option<&Record> {
    let judged = |record: &&Record| matches!(record.outcome, Outcome::Partial | Outcome::Zero | Outcome::Invalid);
    task.records.values().filter(judged).min_by_key(|record| (record.sketch.failed_rank(), record.attempt))
}
