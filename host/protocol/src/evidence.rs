//! What a verifier is given to judge, on one instance of the data.

use serde::{Deserialize, Serialize};

use crate::failure::Code;
use crate::table::Table;

/// What the agent handed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Submission {
    /// The answer to a question.
    Answer(Table),
    /// The database is as the agent wants it.
    Done,
    /// The agent says that the question has no answer here.
    Abstention {
        /// In the agent's words.
        reason: String,
        /// What would be needed and is not there.
        missing: String,
    },
}

/// A question that the agent asked the user, and the reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The thing it is about, in a few words.
    pub about: String,
    /// The question itself.
    pub text: String,
    /// What the user said.
    pub reply: String,
}

/// A tool call of the agent, as a verifier sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments, a JSON object.
    pub arguments: serde_json::Value,
    /// How it failed; none where it succeeded.
    pub failure: Option<Code>,
}

/// All that a verifier is given besides its sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The instruction, as the agent read it.
    pub instruction: String,
    /// What the agent handed in.
    pub submission: Submission,
    /// What it asked the user.
    pub questions: Vec<Question>,
    /// What it called.
    pub calls: Vec<ToolCall>,
    /// What only this verifier understands.
    pub expectation: String,
}
