//! What is known of one update: the counters of its health, and where its time went.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A clock, for reports alone: nothing is decided by it.
pub trait Clock {
    /// Seconds since some moment.
    fn seconds(&self) -> f64;
}

/// Seconds of one update, by what they were spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Drawing tokens.
    pub generation: f64,
    /// Tool calls.
    pub environment: f64,
    /// Verifiers.
    pub verification: f64,
    /// Forward and backward passes, and steps.
    pub learning: f64,
}

impl Timing {
    /// Adds another's seconds.
    pub fn add(&mut self, other: &Timing) {
        self.generation += other.generation;
        self.environment += other.environment;
        self.verification += other.verification;
        self.learning += other.learning;
    }

    /// All seconds.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.generation + self.environment + self.verification + self.learning
    }
}

/// What a model spent on one episode, counted as a host of models counts it: at every call the
/// tokens that are new are read, all before them come from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Tokens that were read and computed anew: observations, and the opening where no other
    /// attempt had read it before.
    pub read: u64,
    /// Tokens that were there before a call, summed over the calls.
    pub cached: u64,
    /// Tokens that the policy wrote, those that the grammar forced among them.
    pub written: u64,
    /// Seconds from its start to its verdict, beside the others that were under way.
    pub seconds: f64,
}

/// One line of `updates.jsonl`: flat, all numbers, so that any tool can draw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Which update, from 1; SFT and GRPO count on.
    pub update: u64,
    /// `sft` or `grpo`.
    pub phase: String,
    /// The counters by name.
    #[serde(flatten)]
    pub counters: BTreeMap<String, f64>,
}

impl Update {
    /// An update without counters.
    #[must_use]
    pub fn new(update: u64, phase: &str) -> Update {
        Update { update, phase: phase.to_owned(), counters: BTreeMap::new() }
    }

    /// Sets a counter; what is no finite number is left out, since JSON has none.
    pub fn set(&mut self, name: &str, value: f64) {
        if value.is_finite() {
            self.counters.insert(name.to_owned(), value);
        }
    }

    /// A counter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.counters.get(name).copied()
    }
}
