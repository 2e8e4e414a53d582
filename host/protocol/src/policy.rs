//! Whatever picks the next action, and what it sees.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::plugin::ToolSpec;
use crate::table::Table;
use crate::task::{AnswerColumn, Task};

/// What a policy does next. Every action is a call: of a plugin's tool, or of one of the
/// episode's own tools ([`episode_tools`](crate::policy::names)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, a JSON object.
    pub arguments: serde_json::Value,
}

impl Action {
    /// A call of `tool`.
    pub fn call(tool: impl Into<String>, arguments: serde_json::Value) -> Action {
        Action { tool: tool.into(), arguments }
    }
}

/// The names of the episode's own tools, which every task has.
pub mod names {
    /// Hand in the result of an earlier call (`{"call": N}`, N as shown beside the result), or a
    /// table (`{"columns": [..], "rows": [[..]]}`) where the task takes one. Ends the episode.
    pub const SUBMIT: &str = "submit";
    /// Say that the database is as it should be (`{}`). Ends the episode.
    pub const DONE: &str = "done";
    /// Ask the user (`{"about": .., "question": ..}`).
    pub const ASK: &str = "ask";
    /// Say that this cannot be answered here (`{"reason": .., "missing": ..}`). Ends the episode.
    pub const ABSTAIN: &str = "abstain";
    /// All of them.
    pub const ALL: [&str; 4] = [SUBMIT, DONE, ASK, ABSTAIN];
}

/// What came of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Observation {
    /// A result: words, a table, or both.
    Result {
        /// Words; may be empty.
        text: String,
        /// A table, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<Table>,
    },
    /// A failure.
    Failure(Failure),
}

/// What a policy reads before its first action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Briefing {
    /// What is asked.
    pub instruction: String,
    /// The columns of the answer, where the task wants one; they are named in the instruction too.
    pub answer: Vec<AnswerColumn>,
    /// The tools, in order.
    pub tools: Vec<ToolSpec>,
    /// How many actions it may take.
    pub steps: u32,
}

/// One action and what came of it. Turns are counted from 1; the number is what `submit` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the policy did.
    pub action: Action,
    /// What it saw.
    pub observation: Observation,
}

/// All that a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// What it was told at the start.
    pub briefing: &'a Briefing,
    /// What happened since.
    pub turns: &'a [Turn],
}

/// Whatever picks the next action.
pub trait Policy: Send {
    /// The next action, or none to give up: an episode without a submission is invalid.
    ///
    /// # Errors
    /// What broke in the policy itself; the episode is void.
    fn act(&mut self, view: View<'_>) -> Result<Option<Action>, String>;
}

/// Starts a fresh policy for every episode.
pub trait Policies: Send + Sync {
    /// Its name, for tables and traces.
    fn name(&self) -> &str;

    /// A policy for one attempt at one task. A policy that is judged must look at nothing of the
    /// task but what the view shows; the scripted floors and ceilings do look.
    fn start(&self, task: &Task, attempt: u32, seed: u64) -> Box<dyn Policy>;
}
