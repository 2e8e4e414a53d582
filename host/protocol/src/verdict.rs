//! What an episode was worth.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// The first place where the work differs from what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Where: `answer`, `table invoices`, ..
    pub path: String,
    /// Which row, from 0.
    pub row: Option<u32>,
    /// Which column.
    pub column: Option<String>,
    /// What was expected, as text.
    pub expected: String,
    /// What was found, as text.
    pub found: String,
}

/// A verifier's score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// In 0..=1.
    pub reward: f64,
    /// A stable code: `match`, `row-count`, `tolerance`, ..
    pub reason: String,
    /// The first difference, where there is one.
    pub difference: Option<Difference>,
    /// On which instance of the data this was decided: 0 is the one that the agent saw.
    #[serde(default)]
    pub instance: u32,
}

/// The three outcomes of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The verifier decided.
    Scored(Score),
    /// The agent broke the protocol: no submission, too many steps. Scored 0, with its reason.
    Invalid {
        /// A stable code: `no-submission`, `step-limit`, ..
        reason: String,
    },
    /// Something of ours or of a plugin broke: neither pass nor fail.
    Void(Fault),
}

impl Verdict {
    /// The reward; none for a void.
    #[must_use]
    pub fn reward(&self) -> Option<f64> {
        match self {
            Verdict::Scored(score) => Some(score.reward),
            Verdict::Invalid { .. } => Some(0.0),
            Verdict::Void(_) => None,
        }
    }

    /// Whether the episode passed: scored with the full reward.
    #[must_use]
    pub fn passed(&self) -> bool {
        matches!(self, Verdict::Scored(score) if score.reward >= 1.0)
    }

    /// The stable reason code, for tables.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Scored(score) => &score.reason,
            Verdict::Invalid { reason } => reason,
            Verdict::Void(fault) => fault.name(),
        }
    }
}
