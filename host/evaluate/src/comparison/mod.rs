//! Two policies on the same tasks: what each scores, the paired difference with its interval, what
//! each costs where it is right, and whether the one may take the place of the other.
//!
//! The order is fixed: access violations, then correctness, then cost inside the episodes that are
//! right and compliant.

mod arm;
mod build;
mod cost;
mod cost_grid;
pub(crate) mod grids;
pub(crate) mod markdown;
mod pairs;
mod scores;
mod show;
mod warnings;

use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;
use tribunal_protocol::task::Split;

pub use arm::{Arm, ArmInfo, Spent};
pub use build::compare;
pub use cost::{CostComparison, CostLine, Estimated, PerSuccess};
pub use pairs::{CompareError, Unequal};
pub use scores::{By, CurvePoint, GroupScores, MeasureScore};
pub use show::{Shown, Telling};

pub(crate) use arm::TaskRecords;

use crate::metrics::exact::Share;
use crate::metrics::{Bootstrap, Interval};
use crate::release::{Decision, Protocol};
use crate::summary::{LeftOut, PolicySummary, Versions, Void};

/// The name and version of the comparison's format.
pub const COMPARISON_FORMAT: &str = "tribunal-comparison@1";

/// One side, by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// What it is.
    pub info: ArmInfo,
    /// Its episodes in figures, over all of its tasks.
    pub summary: PolicySummary,
    /// Episodes in which the contract stopped something, of all episodes, with the exact interval
    /// that they would have if they were independent.
    pub violations: Share,
    /// Void episodes, of all episodes, likewise.
    pub void: Share,
    /// Every void episode.
    pub voids: Vec<Void>,
    /// Traces that were not counted.
    pub left_out: Vec<LeftOut>,
    /// What it ran on.
    pub versions: Versions,
}

/// Which tasks are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paired {
    /// How many tasks both sides attempted.
    pub tasks: u64,
    /// How many of them are in the splits that the decision looks at.
    pub decisive: u64,
    /// A digest of those tasks, hidden parts included.
    pub digest: Digest,
    /// Tasks that only the candidate attempted; they are in no paired figure.
    pub only_candidate: Vec<String>,
    /// Tasks that only the baseline attempted.
    pub only_baseline: Vec<String>,
    /// The most judged attempts at one task: what a task has unless it is listed below.
    pub attempts: u64,
    /// The fewest judged attempts of either side at a decisive task.
    pub fewest: u64,
    /// Tasks with fewer judged attempts on either side.
    pub unequal: Vec<Unequal>,
}

/// The candidate, run again in its serving configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rechecked {
    /// What it is.
    pub info: ArmInfo,
    /// How many decisive tasks both runs of the candidate attempted.
    pub tasks: u64,
    /// Episodes in which the contract stopped something.
    pub violations: Share,
    /// By measure: the recheck less the evaluation, on the same tasks.
    pub shifts: Vec<Shift>,
}

/// How far a recheck is from the evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// What was measured.
    pub measure: crate::metrics::Measure,
    /// The recheck less the evaluation; none where no task can say.
    pub shift: Option<Interval>,
}

/// A comparison: what the JSON file holds. A function of episodes, protocol and labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// [`COMPARISON_FORMAT`].
    pub format: String,
    /// Whether the candidate may take the place of the baseline, clause by clause.
    pub decision: Decision,
    /// What a reader must know before trusting the figures; empty when all is well.
    pub warnings: Vec<String>,
    /// The policy that wants to take the place.
    pub candidate: Side,
    /// The policy that has it.
    pub baseline: Side,
    /// Which tasks are compared.
    pub paired: Paired,
    /// The splits that the decision looks at.
    pub splits: Vec<Split>,
    /// Scores by group: the decisive tasks first, then all, then by split, kind, family, schema.
    pub groups: Vec<GroupScores>,
    /// pass@k and pass^k of the decisive tasks for every k.
    pub curve: Vec<CurvePoint>,
    /// What right and compliant episodes cost.
    pub cost: CostComparison,
    /// The recheck, where there was one.
    pub recheck: Option<Rechecked>,
    /// Episodes that tell most: chosen by a rule, to be shown side by side.
    pub shown: Vec<Shown>,
    /// How intervals were made.
    pub bootstrap: Bootstrap,
    /// The protocol.
    pub protocol: Protocol,
}

impl Comparison {
    /// The scores of the decisive tasks.
    #[must_use]
    pub fn decisive(&self) -> Option<&GroupScores> {
        self.groups.first()
    }
}
