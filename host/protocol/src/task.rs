//! A task: an instruction, where its data comes from, and how it is judged.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::failure::Failure;
use crate::policy::Action;
use crate::value::Kind;

/// The five kinds of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Return a table.
    Answer,
    /// Leave the database so.
    State,
    /// Must ask before answering.
    Clarify,
    /// Must abstain.
    Impossible,
    /// A tool fails on the way.
    Recover,
}

impl TaskKind {
    /// All kinds, in the order of tables.
    pub const ALL: [TaskKind; 5] =
        [TaskKind::Answer, TaskKind::State, TaskKind::Clarify, TaskKind::Impossible, TaskKind::Recover];

    /// The name, as in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TaskKind::Answer => "answer",
            TaskKind::State => "state",
            TaskKind::Clarify => "clarify",
            TaskKind::Impossible => "impossible",
            TaskKind::Recover => "recover",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a task holds out against the training split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// To learn from.
    Train,
    /// Known schemas and families, new data and parameters.
    NewData,
    /// A schema never trained on.
    NewSchema,
    /// A family never trained on.
    NewFamily,
    /// Neither was trained on.
    NewSchemaAndFamily,
}

impl Split {
    /// All splits, in the order of tables.
    pub const ALL: [Split; 5] =
        [Split::Train, Split::NewData, Split::NewSchema, Split::NewFamily, Split::NewSchemaAndFamily];

    /// The name, as in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Split::Train => "train",
            Split::NewData => "new-data",
            Split::NewSchema => "new-schema",
            Split::NewFamily => "new-family",
            Split::NewSchemaAndFamily => "new-schema-and-family",
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A schema at one version: which data a task is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaRef {
    /// The schema's name.
    pub name: String,
    /// Its version, from 1.
    pub version: u32,
}

impl fmt::Display for SchemaRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-v{}", self.name, self.version)
    }
}

/// A column of the answer, as the agent is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

/// How an answer may be handed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerForm {
    /// As the result of an earlier call, so that it can be run again on hidden data.
    #[default]
    Call,
    /// As a call's result, or as a table of the agent's own; the latter is judged on the visible
    /// data alone.
    Any,
}

/// One instance of the data: a seed, and what the verifier expects of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The data seed.
    pub seed: u64,
    /// What only the verifier understands.
    pub expectation: String,
}

/// The simulated user of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSpec {
    /// The plugin.
    pub plugin: String,
    /// What this user knows: a JSON object. It never holds result values.
    pub secret: String,
}

/// A tool failure that the host plays to the agent: the `nth` call (from 1) of `tool` fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFailure {
    /// The tool's name.
    pub tool: String,
    /// Which of its calls.
    pub nth: u32,
    /// What the agent sees.
    pub failure: Failure,
}

/// A wrong way to do the task, which must score 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The fault it shows: `join-inflation`, `wrong-population`, ..
    pub fault: String,
    /// What it does, submission included.
    pub actions: Vec<Action>,
}

/// One task. What an agent sees of it is in its [`Briefing`](crate::policy::Briefing); the rest
/// is hidden.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Unique in its suite, and safe as a file name.
    pub id: String,
    /// The suite's name and version, such as `analytics@1`.
    pub suite: String,
    /// The question family.
    pub family: String,
    /// The schema and its version.
    pub schema: SchemaRef,
    /// The kind.
    pub kind: TaskKind,
    /// The split.
    pub split: Split,
    /// The digest of the schema's shape.
    pub fingerprint: Digest,
    /// What is asked.
    pub instruction: String,
    /// The columns of the answer; empty where none is wanted.
    pub answer: Vec<AnswerColumn>,
    /// How an answer may be handed in.
    #[serde(default)]
    pub answer_form: AnswerForm,
    /// The instances of the data: the first is the one that the agent works on, the others are
    /// hidden.
    pub instances: Vec<Instance>,
    /// The tool plugins.
    pub tools: Vec<String>,
    /// The contract that the task grants to every tool, as TOML.
    pub grant: String,
    /// Settings that the suite pins for a plugin (by name): a JSON object as text.
    pub settings: BTreeMap<String, String>,
    /// The verifier plugin.
    pub verifier: String,
    /// The contract granted to the verifier, as TOML.
    pub verifier_grant: String,
    /// The simulated user, if the task has one.
    pub user: Option<UserSpec>,
    /// Failures that the host plays.
    pub failures: Vec<PlannedFailure>,
    /// How many actions a policy may take.
    pub steps: u32,
    /// A way to do it right, submission included.
    pub oracle: Vec<Action>,
    /// Ways to do it wrong.
    pub mutants: Vec<Mutant>,
}
