//! Puts the cases of tasks to the verifier under trial.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tribunal_episode::{EpisodeError, Heard, Prepared, Stage};
use tribunal_maker::Library;
use tribunal_protocol::task::Task;
use tribunal_protocol::verdict::Verdict;

use crate::battery::{Ground, Made, OtherAnswer, right};
use crate::case::Case;
use crate::kind::Expected;
use crate::rules::Gold;

/// Of so many tasks one has its largest wrong answer made.
const LARGEST_EVERY: usize = 25;

/// Why a verifier cannot be put on trial.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A task cannot be played with this verifier.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// No task of the suite is judged by the verifier that this one stands in for.
    #[error(
        "no task of the suite is judged by `{wanted}`; its tasks are judged by {there}; name one of these with --in-place-of"
    )]
    NoTasks {
        /// The verifier that was named.
        wanted: String,
        /// Those that there are.
        there: String,
    },
    /// The solution of a task hands nothing in.
    #[error(
        "task {task}: its own solution hands nothing in, so there is nothing to make cases of; `tribunal tasks` puts it on trial"
    )]
    NoSolution {
        /// The task.
        task: String,
    },
}

/// What the verifier under trial made of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decided {
    /// The full reward.
    Accepted,
    /// Scored, and less than the full reward.
    Rejected,
    /// Void.
    Void,
}

impl Decided {
    /// What a verdict comes to.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Decided {
        match verdict {
            Verdict::Void(_) => Decided::Void,
            verdict if verdict.passed() => Decided::Accepted,
            _ => Decided::Rejected,
        }
    }

    /// Whether this is what had to become of it.
    #[must_use]
    pub fn is(self, expected: Expected) -> bool {
        matches!(
            (self, expected),
            (Decided::Accepted, Expected::Accept)
                | (Decided::Rejected, Expected::Reject)
                | (Decided::Void, Expected::Ungradable)
        )
    }
}

/// What came of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What it came to.
    pub decided: Decided,
    /// All that was heard.
    pub heard: Heard,
}

/// The tasks that a verifier is tried on.
#[derive(Debug)]
pub struct Suite {
    tasks: Vec<Task>,
    others: Vec<OtherAnswer>,
}

impl Suite {
    /// The tasks that `replaced` judges, with `candidate` in its place.
    ///
    /// # Errors
    /// There is none.
    pub fn new(tasks: &[Task], replaced: &str, candidate: &str, settings: Option<&str>) -> Result<Suite, AuditError> {
        let mut chosen: Vec<Task> = tasks.iter().filter(|task| task.verifier == replaced).cloned().collect();
        if chosen.is_empty() {
            let mut there: Vec<&str> = tasks.iter().map(|task| task.verifier.as_str()).collect();
            there.sort_unstable();
            there.dedup();
            return Err(AuditError::NoTasks { wanted: replaced.to_owned(), there: there.join(", ") });
        }
        let answer = |task: &Task| {
            let json = serde_json::from_str(&task.instances.first()?.expectation).ok()?;
            Some(OtherAnswer { task: task.id.clone(), sheet: right(&Gold::read(&json)?) })
        };
        let others = tasks.iter().filter_map(answer).collect();
        for task in &mut chosen {
            candidate.clone_into(&mut task.verifier);
            match (settings, task.settings.get(replaced).cloned()) {
                (Some(settings), _) => drop(task.settings.insert(candidate.to_owned(), settings.to_owned())),
                (None, Some(settings)) => drop(task.settings.insert(candidate.to_owned(), settings)),
                (None, None) => {}
            }
        }
        Ok(Suite { tasks: chosen, others })
    }

    /// The tasks, with the verifier under trial as theirs.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

/// Makes batteries on a stage that holds the verifier under trial.
pub struct Auditor<'a> {
    stage: &'a Stage,
    library: &'a Library,
    suite: &'a Suite,
    seed: u64,
}

/// All cases of all batteries, by their places, in another order: every case meets others around it
/// than before.
#[must_use]
pub fn order(batteries: &[Battery], seed: u64) -> Vec<(usize, usize)> {
    let places = batteries.iter().enumerate();
    let mut all: Vec<(usize, usize)> =
        places.flat_map(|(task, battery)| (0..battery.cases.len()).map(move |case| (task, case))).collect();
    crate::dice::Dice::new(seed, "another order").shuffle(&mut all);
    all
}

/// The cases of one task, ready to be put to the verifier any number of times.
pub struct Battery {
    /// The task.
    pub task: String,
    /// The cases, in the order in which they were made.
    pub cases: Arc<[Case]>,
    /// How many more were made and left out: not what was meant, or not certain.
    pub left_out: usize,
    prepared: Prepared,
}

impl<'a> Auditor<'a> {
    /// An auditor; every case follows from the seed.
    #[must_use]
    pub fn new(stage: &'a Stage, library: &'a Library, suite: &'a Suite, seed: u64) -> Auditor<'a> {
        Auditor { stage, library, suite, seed }
    }

    /// The battery of the suite's task number `index`.
    ///
    /// # Errors
    /// The task cannot be played with this verifier, or its solution hands nothing in.
    pub fn battery(&self, index: usize) -> Result<Option<Battery>, AuditError> {
        let Some((task, prepared)) = self.prepared(index)? else { return Ok(None) };
        let largest = index.is_multiple_of(LARGEST_EVERY);
        let Made { cases, left_out } = {
            let ground = Ground::new(&prepared, self.library, &self.suite.others, largest);
            let none = || AuditError::NoSolution { task: task.id.clone() };
            ground.ok_or_else(none)?.cases(self.seed)
        };
        Ok(Some(Battery { task: task.id.clone(), cases: cases.into(), left_out, prepared }))
    }

    /// The same battery for this stage's verifier: cases do not depend on who is tried, so many
    /// verifiers may share them. The task must be the same.
    ///
    /// # Errors
    /// The task cannot be played with this verifier.
    pub fn shared(&self, index: usize, from: &Battery) -> Result<Option<Battery>, AuditError> {
        let Some((task, prepared)) = self.prepared(index)? else { return Ok(None) };
        let cases = Arc::clone(&from.cases);
        Ok((task.id == from.task).then(|| Battery { task: task.id.clone(), cases, left_out: from.left_out, prepared }))
    }

    fn prepared(&self, index: usize) -> Result<Option<(&'a Task, Prepared)>, AuditError> {
        let Some(task) = self.suite.tasks.get(index) else { return Ok(None) };
        Ok(Some((task, Prepared::new(self.stage, Arc::new(task.clone()))?)))
    }
}

impl Battery {
    /// Puts a case to the verifier, on a fresh instance of it.
    #[must_use]
    pub fn put(&self, case: &Case) -> Option<Decision> {
        let heard = self.prepared.hear(case.instance, &case.expectation, &case.exhibit)?;
        Some(Decision { decided: Decided::of(&heard.verdict), heard })
    }

    /// The task made ready with the verifier under trial.
    #[must_use]
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }
}
