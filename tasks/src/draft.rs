//! Drafts: whole tasks, except for what the verifier expects of them.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tribunal_protocol::task::{Split, Task};

use crate::plan::Pair;

/// A place in a suite for one task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// The split.
    pub split: Split,
    /// Family and schema.
    pub pair: Pair,
    /// Which task of this pair in this split, from 1.
    pub number: u32,
}

impl Slot {
    /// The task's id. Tasks on new data are numbered from 1001, so that ids stay what they are
    /// when a split grows.
    #[must_use]
    pub fn id(&self) -> String {
        let first = if self.split == Split::NewData { 1_000 } else { 0 };
        format!("{}.{}.{:04}", self.pair.schema, self.pair.family, first + self.number)
    }
}

/// How the expectation of a draft is worked out.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectationPlan {
    /// The gold query's result on each instance's data.
    Result {
        /// The comparison contract.
        contract: Json,
        /// The gold query.
        query: String,
    },
    /// What the oracle's calls change.
    State {
        /// Columns that may hold anything, by table.
        ignore: BTreeMap<String, Vec<String>>,
    },
    /// A question to the user, then an answer.
    Clarify {
        /// What must be asked about: `name` and `terms`.
        slot: Json,
        /// What must not be: the same, for each.
        other_slots: Json,
        /// How many questions are allowed.
        max_questions: u32,
        /// The comparison contract of the answer.
        contract: Json,
        /// The gold query of the answer.
        query: String,
    },
    /// An abstention that names what is missing, in any of these words.
    Abstain {
        /// The words.
        missing: Vec<String>,
    },
}

/// A task without expectations, and the plan for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The task; its instances have seeds, and empty expectations.
    pub task: Task,
    /// How the expectations are worked out.
    pub expectation: ExpectationPlan,
    /// The same question on three further seeds, for tasks that have one instance only: if the
    /// draft is sound, all of them are.
    pub siblings: Vec<Draft>,
}
