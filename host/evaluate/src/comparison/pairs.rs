//! Which tasks of two sides belong together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;
use tribunal_protocol::digest::Hasher;
use tribunal_protocol::task::Split;

use super::{Paired, TaskRecords};
use crate::metrics::Attempts;

/// Why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// A side has no whole episode.
    #[error("{label}: no whole episode; `tribunal run` makes episodes")]
    Empty {
        /// Which side.
        label: String,
    },
    /// A task means two things on one side.
    #[error(
        "{label}: the episodes of task {task} are about two tasks of this name; run it anew with `--overwrite`, so \
         that all are about one"
    )]
    Mixed {
        /// Which side.
        label: String,
        /// Which task.
        task: String,
    },
    /// A task is not the same on both sides.
    #[error(
        "task {task} is not the same in both: digest {candidate} of {label}, {baseline} of {against}; run both on \
         the same suite with the same --seed"
    )]
    OtherTask {
        /// Which task.
        task: String,
        /// One side.
        label: String,
        /// The other side.
        against: String,
        /// The start of its digest here.
        candidate: String,
        /// And there.
        baseline: String,
    },
    /// The two share no task.
    #[error("{label} and {against} have no task in common; run both on the same suite with the same --seed")]
    Apart {
        /// One side.
        label: String,
        /// The other side.
        against: String,
    },
}

/// A task with fewer judged attempts than others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unequal {
    /// Which.
    pub task: String,
    /// Its attempts by the candidate.
    pub candidate: Attempts,
    /// Its attempts by the baseline.
    pub baseline: Attempts,
}

/// One task on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub task: &'a str,
    pub candidate: &'a TaskRecords,
    pub baseline: &'a TaskRecords,
    pub attempts: (Attempts, Attempts),
}

/// The tasks that both sides attempted, in the order of their names.
pub(crate) struct Pairs<'a> {
    pub pairs: Vec<Pair<'a>>,
    only: [Vec<String>; 2],
}

type Tasks = BTreeMap<String, TaskRecords>;

impl<'a> Pairs<'a> {
    pub(crate) fn of(candidate: &'a Tasks, baseline: &'a Tasks, labels: [&str; 2]) -> Result<Pairs<'a>, CompareError> {
        let mut pairs = Vec::new();
        for (task, ours) in candidate {
            let Some(theirs) = baseline.get(task) else { continue };
            if ours.digest != theirs.digest {
                return Err(CompareError::OtherTask {
                    task: task.clone(),
                    label: labels[0].to_owned(),
                    against: labels[1].to_owned(),
                    candidate: ours.digest.short(),
                    baseline: theirs.digest.short(),
                });
            }
            let attempts = (ours.attempts(), theirs.attempts());
            pairs.push(Pair { task, candidate: ours, baseline: theirs, attempts });
        }
        if pairs.is_empty() {
            return Err(CompareError::Apart { label: labels[0].to_owned(), against: labels[1].to_owned() });
        }
        let only = |these: &Tasks, those: &Tasks| {
            these.keys().filter(|task| !those.contains_key(*task)).cloned().collect::<Vec<_>>()
        };
        Ok(Pairs { pairs, only: [only(candidate, baseline), only(baseline, candidate)] })
    }

    /// The pairs in the given splits.
    pub(crate) fn within(&self, splits: &[Split]) -> Vec<Pair<'a>> {
        self.pairs.iter().filter(|pair| splits.contains(&pair.candidate.split)).copied().collect()
    }

    pub(crate) fn paired(&self, splits: &[Split]) -> Paired {
        let most = |pair: &Pair<'_>| pair.attempts.0.judged.max(pair.attempts.1.judged);
        let attempts = self.pairs.iter().map(most).max().unwrap_or(0);
        let fewer = |pair: &&Pair<'_>| pair.attempts.0.judged.min(pair.attempts.1.judged) < attempts;
        let unequal = |pair: &Pair<'_>| Unequal {
            task: pair.task.to_owned(),
            candidate: pair.attempts.0,
            baseline: pair.attempts.1,
        };
        let decisive = self.within(splits);
        let fewest = decisive.iter().map(|pair| pair.attempts.0.judged.min(pair.attempts.1.judged)).min();
        let [only_candidate, only_baseline] = self.only.clone();
        Paired {
            tasks: self.pairs.len() as u64,
            decisive: decisive.len() as u64,
            digest: self.digest(),
            only_candidate,
            only_baseline,
            attempts,
            fewest: fewest.unwrap_or(0),
            unequal: self.pairs.iter().filter(fewer).map(unequal).collect(),
        }
    }

    fn digest(&self) -> Digest {
        let mut hasher = Hasher::new("tasks of a comparison 1");
        for pair in &self.pairs {
            hasher.bytes(pair.task.as_bytes());
            hasher.bytes(pair.candidate.digest.to_string().as_bytes());
        }
        hasher.finish()
    }
}
