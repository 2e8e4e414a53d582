//! What a trace records, in order: one header, steps, verdicts by instance, one end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::evidence::Submission;
use crate::limits::Limits;
use crate::policy::{Action, Briefing, Observation};
use crate::task::{SchemaRef, Split, TaskKind};
use crate::usage::Usage;
use crate::verdict::Verdict;

/// What an episode ran on: enough to run it again and to notice anything that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of Tribunal.
    pub tribunal: String,
    /// The engines, such as `gluesql-core 0.20.0` and `wasmtime 48.0.8`.
    pub engines: Vec<String>,
    /// The version of the plugin interface.
    pub interface: String,
    /// The suite, as `name@version`.
    pub suite: String,
    /// The task.
    pub task: String,
    /// The digest of the whole task, hidden parts included.
    pub task_digest: Digest,
    /// The family.
    pub family: String,
    /// The kind.
    pub kind: TaskKind,
    /// The split.
    pub split: Split,
    /// The schema.
    pub schema: SchemaRef,
    /// The schema's fingerprint.
    pub fingerprint: Digest,
    /// The digests of the data at the start, visible instance first.
    pub states: Vec<Digest>,
    /// The data seeds, visible instance first.
    pub seeds: Vec<u64>,
    /// The digest of every plugin's component, by name.
    pub plugins: BTreeMap<String, Digest>,
    /// The digest of every effective contract, by plugin.
    pub contracts: BTreeMap<String, Digest>,
    /// The limits of a guest call.
    pub limits: Limits,
    /// The policy's name.
    pub policy: String,
    /// Which attempt, from 0.
    pub attempt: u32,
    /// The seed that the policy was given.
    pub policy_seed: u64,
    /// What the policy read first.
    pub briefing: Briefing,
}

/// One step: what the policy did, what it saw, what that used, and the state after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// From 1.
    pub number: u32,
    /// What the policy did.
    pub action: Action,
    /// What it saw.
    pub observation: Observation,
    /// What the call used.
    pub usage: Usage,
    /// Whether the contract stopped something in this step.
    pub violation: bool,
    /// What the contract stopped, for authors: what was tried, what is granted, and the line that
    /// would allow it. It is no part of what the policy sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<String>,
    /// The digest of the state after the step, where the step may have changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Digest>,
}

/// The verifier's work on one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// Which instance: 0 is the one that the agent saw.
    pub instance: u32,
    /// What was judged there.
    pub submission: Submission,
    /// What the verifier said.
    pub verdict: Verdict,
    /// What the verifier used.
    pub usage: Usage,
    /// What the verifier's contract stopped, for its author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<String>,
}

/// How the episode ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The verdict over all instances.
    pub verdict: Verdict,
    /// What the tools used together.
    pub usage: Usage,
    /// How many steps the contract stopped something in.
    pub violations: u32,
}

/// One event of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// The first event.
    Header(Box<Header>),
    /// A step.
    Step(Box<Step>),
    /// A judgement.
    Judgement(Box<Judgement>),
    /// The last event.
    End(Box<End>),
}
