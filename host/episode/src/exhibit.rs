//! What a verifier is given to judge, and what came of it: of an episode, or made by hand.

use tribunal_contract::Effective;
use tribunal_database::{Snapshot, State};
use tribunal_protocol::evidence::{Question, Submission, ToolCall};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::Verdict;

use crate::judge;
use crate::prepare::Prepared;
use crate::run::Episode;
use crate::submit::{ANSWER_BYTES, fuel_for};

/// What a verifier is given on one instance of the data, besides its expectation.
#[derive(Clone, Debug)]
pub struct Exhibit {
    /// What was handed in.
    pub submission: Submission,
    /// What was asked.
    pub questions: Vec<Question>,
    /// What was called.
    pub calls: Vec<ToolCall>,
    /// The state that the agent left behind: a fork of the instance's snapshot.
    pub last: State,
}

/// What a verifier made of an exhibit, and what it used and tried on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// Scored or void.
    pub verdict: Verdict,
    /// Fuel and memory of the guest, and what its statements used.
    pub usage: Usage,
    /// How often its contract stopped something.
    pub violations: u32,
    /// How often it tried to write, which no verifier may.
    pub writes_tried: u32,
    /// Whether it asked what the agent's work changed.
    pub asked_for_changes: bool,
    /// What its contract stopped, for its author.
    pub denials: Vec<String>,
}

/// How large an answer is that is still judged, in bytes as they are counted there.
pub const LARGEST_ANSWER: u64 = ANSWER_BYTES;

impl Prepared {
    /// The snapshots of the task's instances, the visible one first.
    #[must_use]
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// What the verifier may touch: its request and the task's grant, intersected.
    #[must_use]
    pub fn verifier_contract(&self) -> &Effective {
        &self.verifier.contract
    }

    /// The limits of one call of the verifier with this submission.
    #[must_use]
    pub fn verifier_limits(&self, submission: &Submission) -> Limits {
        let mut limits = self.verifier.limits.clone();
        limits.fuel = limits.fuel.saturating_add(fuel_for(submission));
        limits
    }

    /// Lets the task's verifier judge an exhibit on an instance, exactly as after an episode: a
    /// fresh instance, the same contract, the same limits. `expectation` stands in the place of the
    /// task's own. None where there is no such instance.
    #[must_use]
    pub fn hear(&self, instance: usize, expectation: &str, exhibit: &Exhibit) -> Option<Heard> {
        (instance < self.snapshots.len()).then(|| judge::hear(self, instance, expectation, exhibit))
    }
}

impl Episode<'_> {
    /// The state as the agent's work left it so far.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the verifier would be given on an instance, now that something was handed in.
    ///
    /// # Errors
    /// The verdict where it comes to that before any verifier: the submitted call fails on this
    /// instance, or there is nothing to judge.
    #[expect(clippy::result_large_err, reason = "asked a few times for each task")]
    pub fn exhibit(&self, instance: usize) -> Result<Exhibit, Verdict> {
        match &self.handed_in {
            Some(handed_in) if instance < self.prepared.snapshots.len() => judge::exhibit(self, handed_in, instance),
            _ => Err(Verdict::Invalid { reason: "no-submission".to_owned() }),
        }
    }
}
