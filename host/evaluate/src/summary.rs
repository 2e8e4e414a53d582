//! The summary of a run: what the JSON file holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;
use tribunal_protocol::event::Event;
use tribunal_protocol::task::{Split, TaskKind};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::Verdict;

use crate::collect::Collector;
use crate::episode::EpisodeId;
use crate::estimate::{Estimate, ratio};

/// The name and version of the summary's format.
pub const FORMAT: &str = "tribunal-summary@1";

/// A run in figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: String,
    /// How many episodes were counted.
    pub episodes: u64,
    /// How many different tasks they were about.
    pub tasks: u64,
    /// A digest of those tasks, hidden parts included: two runs over the same tasks share it.
    pub tasks_digest: Digest,
    /// The name of the interval that stands beside every estimate.
    pub interval: String,
    /// One entry a policy, by name.
    pub policies: Vec<PolicySummary>,
    /// Every void episode, by name.
    pub voids: Vec<Void>,
    /// Tasks that were refused when they were made, by id.
    pub refused: Vec<Refused>,
    /// Traces that were not counted, and why.
    pub left_out: Vec<LeftOut>,
    /// What a reader must know before trusting the figures; empty when all is well.
    pub warnings: Vec<String>,
    /// What the episodes ran on, as their headers say.
    pub versions: Versions,
}

/// What one policy's episodes were worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicySummary {
    /// Its name.
    pub policy: String,
    /// How many tasks it attempted.
    pub tasks: u64,
    /// The most attempts at one task: the k of "k of k".
    pub attempts: u64,
    /// All its episodes.
    pub total: Tally,
    /// The mean over tasks of the share of attempts that passed. Void attempts count neither way;
    /// none where every attempt is void.
    pub pass_at_1: Option<Estimate>,
    /// pass@k and pass^k for k = 1, 2, 4, .. and the number of attempts.
    pub pass: Vec<PassAt>,
    /// How many tasks passed k of k attempts, none of them void.
    pub tasks_passed_every_time: u64,
    /// Episodes that were right on the data that the agent saw, and wrong on hidden data.
    pub wrong_on_hidden_data: u64,
    /// By split and kind, in the order of tables; only those that occur.
    pub cells: Vec<Cell>,
    /// By family.
    pub families: Vec<Group>,
    /// By schema and version.
    pub schemas: Vec<Group>,
    /// Every reason, with how many episodes it decided.
    pub reasons: Vec<Reason>,
    /// Episodes in which the contract stopped something.
    pub episodes_with_violations: u64,
    /// What the contract stopped, by tool and code.
    pub violations: Vec<Violation>,
    /// What the correct and compliant episodes used.
    pub cost: Cost,
}

/// How the episodes of some group ended. Every episode is in exactly one of the five.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Scored with the full reward.
    pub passed: u64,
    /// Scored between 0 and the full reward.
    pub partial: u64,
    /// Scored 0 by the verifier.
    pub zero: u64,
    /// The agent broke the protocol; worth 0.
    pub invalid: u64,
    /// Something broke that is not the agent's: neither pass nor fail.
    pub void: u64,
}

impl Tally {
    /// Counts one episode.
    pub fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Partial => &mut self.partial,
            Outcome::Zero => &mut self.zero,
            Outcome::Invalid => &mut self.invalid,
            Outcome::Void => &mut self.void,
        } += 1;
    }

    /// Adds the episodes of another group.
    pub fn merge(&mut self, other: &Tally) {
        self.passed += other.passed;
        self.partial += other.partial;
        self.zero += other.zero;
        self.invalid += other.invalid;
        self.void += other.void;
    }

    /// All episodes but the void ones: what a share is taken of.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.passed + self.partial + self.zero + self.invalid
    }

    /// All episodes.
    #[must_use]
    pub fn episodes(&self) -> u64 {
        self.judged() + self.void
    }

    /// The share of judged episodes that passed; none where none was judged.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.judged() > 0).then(|| ratio(self.passed, self.judged()))
    }
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Scored with the full reward.
    Passed,
    /// Scored between 0 and the full reward.
    Partial,
    /// Scored 0.
    Zero,
    /// The agent broke the protocol.
    Invalid,
    /// Neither pass nor fail.
    Void,
}

impl Outcome {
    /// Of a verdict.
    #[must_use]
    pub fn of(verdict: &Verdict) -> Outcome {
        match verdict {
            Verdict::Scored(_) if verdict.passed() => Outcome::Passed,
            Verdict::Scored(score) if score.reward > 0.0 => Outcome::Partial,
            Verdict::Scored(_) => Outcome::Zero,
            Verdict::Invalid { .. } => Outcome::Invalid,
            Verdict::Void(_) => Outcome::Void,
        }
    }

    /// As tables show it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Partial => "partly right",
            Outcome::Zero => "scored 0",
            Outcome::Invalid => "invalid",
            Outcome::Void => "void",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// pass@k and pass^k, unbiased, as means over the tasks with at least k judged attempts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassAt {
    /// How many attempts.
    pub k: u64,
    /// pass@k: at least one of k passes.
    pub at_least_one: f64,
    /// pass^k: all of k pass.
    pub all: f64,
    /// How many tasks had k judged attempts.
    pub tasks: u64,
}

/// The episodes of one split and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The split.
    pub split: Split,
    /// The kind.
    pub kind: TaskKind,
    /// Its episodes.
    pub tally: Tally,
}

/// The episodes of one family, or of one schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The family, or the schema and its version.
    pub name: String,
    /// Its episodes.
    pub tally: Tally,
}

/// How many episodes ended for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// How they ended.
    pub outcome: Outcome,
    /// The stable code.
    pub code: String,
    /// How many.
    pub episodes: u64,
    /// The first of them, by task and attempt.
    pub first: EpisodeId,
    /// Its first difference or its fault, in words; empty where there is none.
    pub example: String,
}

/// What the contract stopped, of one tool and with one code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The tool that was called.
    pub tool: String,
    /// The code of the failure that the agent saw; `result` where it saw none.
    pub code: String,
    /// In how many steps.
    pub steps: u64,
    /// The first episode in which it happened.
    pub first: EpisodeId,
    /// What the agent saw there.
    pub message: String,
}

/// What the correct and compliant episodes used: those that passed and in which the contract
/// stopped nothing. Cost is never compared over anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// How many such episodes there are.
    pub episodes: u64,
    /// Their steps together.
    pub steps: u64,
    /// What their tools used together.
    pub usage: Usage,
}

/// A void episode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Void {
    /// Which.
    pub episode: EpisodeId,
    /// The fault's stable name.
    pub fault: String,
    /// The fault in words.
    pub message: String,
}

/// A task that was refused when it was made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Its id.
    pub task: String,
    /// Why.
    pub reason: String,
}

/// A trace that was not counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Which episode, or which trace where it does not say.
    pub trace: String,
    /// Why.
    pub reason: String,
}

/// What the episodes ran on. More than one entry where one is expected is a warning too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    /// Versions of Tribunal.
    pub tribunal: BTreeSet<String>,
    /// Versions of the plugin interface.
    pub interface: BTreeSet<String>,
    /// Suites, as `name@version`.
    pub suites: BTreeSet<String>,
    /// Engines, with their versions.
    pub engines: BTreeSet<String>,
    /// Digests of the plugins' components, by plugin.
    pub plugins: BTreeMap<String, BTreeSet<Digest>>,
    /// Fingerprints of the schemas, by schema and version.
    pub schemas: BTreeMap<String, BTreeSet<Digest>>,
}

impl Summary {
    /// Of whole episodes; see [`Collector`] for reading them one by one.
    #[must_use]
    pub fn of<'a>(episodes: impl Iterator<Item = &'a [Event]>) -> Summary {
        let mut collector = Collector::default();
        episodes.for_each(|events| collector.add(events));
        collector.finish()
    }

    /// With the tasks that were refused when they were made.
    #[must_use]
    pub fn with_refused(mut self, mut refused: Vec<Refused>) -> Summary {
        refused.sort();
        self.refused = refused;
        self
    }

    /// How many steps the contract stopped something in, over all policies.
    #[must_use]
    pub fn violations(&self) -> u64 {
        let steps = |policy: &PolicySummary| policy.violation_steps();
        self.policies.iter().map(steps).sum()
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// Text that is no summary, or one of another format; says which was expected.
    pub fn from_json(text: &str) -> Result<Summary, String> {
        #[derive(Deserialize)]
        struct Named {
            format: String,
        }
        let found = serde_json::from_str::<Named>(text).map_err(|why| format!("{FORMAT} expected: {why}"))?.format;
        if found != FORMAT {
            return Err(format!(
                "{FORMAT} expected, {found} found: read it with the version that wrote it, or \
                 make it again from the traces"
            ));
        }
        serde_json::from_str(text).map_err(|why| format!("{FORMAT}: {why}"))
    }
}

impl PolicySummary {
    /// How many steps the contract stopped something in.
    #[must_use]
    pub fn violation_steps(&self) -> u64 {
        self.violations.iter().map(|found| found.steps).sum()
    }

    /// The episodes of one split and kind; none where there are none.
    #[must_use]
    pub fn cell(&self, split: Split, kind: TaskKind) -> Option<Tally> {
        let same = |cell: &&Cell| cell.split == split && cell.kind == kind;
        self.cells.iter().find(same).map(|cell| cell.tally)
    }
}
