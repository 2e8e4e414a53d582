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
