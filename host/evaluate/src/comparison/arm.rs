//! One side of a comparison: the episodes of one policy, task by task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;
use tribunal_protocol::event::{Event, Header};
use tribunal_protocol::task::{Split, TaskKind};
use tribunal_protocol::usage::Usage;

use crate::choose::Sketch;
use crate::collect::Collector;
use crate::episode::{EpisodeId, Parts};
use crate::metrics::Attempts;
use crate::summary::{Outcome, Summary};

/// What the model behind a policy spent on one episode. Time is no function of a seed, so it is no
/// part of a trace: it stands beside the traces, where whoever ran the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// The policy.
    pub policy: String,
    /// The task.
    pub task: String,
    /// Which attempt, from 0.
    pub attempt: u32,
    /// Tokens that were read and computed anew.
    #[serde(default)]
    pub tokens_read: u64,
    /// Tokens that were read from a cache.
    #[serde(default)]
    pub tokens_cached: u64,
    /// Tokens that were written.
    #[serde(default)]
    pub tokens_written: u64,
    /// How long the episode took, in milliseconds, if that was measured.
    #[serde(default)]
    pub milliseconds: Option<u64>,
}

impl Spent {
    /// Which episode it is about.
    #[must_use]
    pub fn episode(&self) -> EpisodeId {
        EpisodeId { policy: self.policy.clone(), task: self.task.clone(), attempt: self.attempt }
    }
}

/// One episode, as far as a comparison needs it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub attempt: u32,
    pub outcome: Outcome,
    pub violations: u32,
    pub steps: u64,
    pub usage: Usage,
    pub spent: Option<Spent>,
    pub sketch: Sketch,
}

impl Record {
    /// Whether its cost counts: right, and nothing was stopped.
    pub(crate) fn compliant(&self) -> bool {
        self.outcome == Outcome::Passed && self.violations == 0
    }
}

/// One task and the attempts at it.
#[derive(Clone, Debug)]
pub(crate) struct TaskRecords {
    pub digest: Digest,
    pub split: Split,
    pub kind: TaskKind,
    pub family: String,
    pub schema: String,
    /// By attempt.
    pub records: BTreeMap<u32, Record>,
}

impl TaskRecords {
    fn of(header: &Header) -> TaskRecords {
        TaskRecords {
            digest: header.task_digest,
            split: header.split,
            kind: header.kind,
            family: header.family.clone(),
            schema: header.schema.to_string(),
            records: BTreeMap::new(),
        }
    }

    pub(crate) fn attempts(&self) -> Attempts {
        let mut attempts = Attempts::default();
        self.records.values().for_each(|record| attempts.add(record.outcome));
        attempts
    }
}

/// What a side says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmInfo {
    /// What it is called in tables and on the page; the two sides of a comparison differ in it.
    pub label: String,
    /// The policy's name, as its traces have it.
    pub policy: String,
    /// The run's name, as its folder is called.
    pub run: String,
}

/// Collects the episodes of one policy. It keeps figures, never events, so a run of any length
/// fits.
#[derive(Debug)]
pub struct Arm {
    pub(crate) info: ArmInfo,
    collector: Collector,
    pub(crate) tasks: BTreeMap<String, TaskRecords>,
    pub(crate) mixed: Vec<String>,
}

impl Arm {
    /// A side without episodes.
    #[must_use]
    pub fn new(info: ArmInfo) -> Arm {
        let collector = Collector::labelled(&info.label);
        Arm { info, collector, tasks: BTreeMap::new(), mixed: Vec::new() }
    }

    /// Counts one episode, with what the model spent on it where that is known. What is no whole
    /// episode, or is a second record of the same attempt, is left out and listed.
    pub fn add(&mut self, events: &[Event], spent: Option<Spent>) {
        if !self.collector.adds(events) {
            return;
        }
        let Ok(parts) = Parts::of(events) else { return };
        let header = parts.header;
        let task = self.tasks.entry(header.task.clone()).or_insert_with(|| TaskRecords::of(header));
        if task.digest != header.task_digest {
            self.mixed.push(header.task.clone());
        }
        let record = Record {
            attempt: header.attempt,
            outcome: Outcome::of(&parts.end.verdict),
            violations: parts.end.violations,
            steps: parts.steps.len() as u64,
            usage: parts.end.usage,
            spent,
            sketch: Sketch::of(&parts),
        };
        task.records.insert(header.attempt, record);
    }

    /// Lists a trace that could not even be read, with the reason.
    pub fn leave_out(&mut self, trace: String, reason: String) {
        self.collector.leave_out(trace, reason);
    }

    /// The summary of the side, and its tasks.
    pub(crate) fn finish(self) -> (ArmInfo, Summary, BTreeMap<String, TaskRecords>) {
        (self.info, self.collector.finish(), self.tasks)
    }
}
