//! What broke in a tool, a verifier or the host. An episode with a fault is void.

use serde::{Deserialize, Serialize};

/// A typed fault. Its text is for authors and organisers; an agent never reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case", tag = "fault", deny_unknown_fields)]
pub enum Fault {
    /// The guest used up its fuel.
    #[error("{plugin}: out of fuel after {limit} units; raise `fuel` or do less per call")]
    Fuel {
        /// Whose.
        plugin: String,
        /// The limit, in fuel units.
        limit: u64,
    },
    /// The guest or the host inside its call ran past the wall-clock backstop.
    #[error("{plugin}: no answer within {limit_ms} ms of wall time")]
    Time {
        /// Whose.
        plugin: String,
        /// The limit, in milliseconds.
        limit_ms: u64,
    },
    /// The guest asked for more memory, tables, handles or stack than it may have.
    #[error("{plugin}: {what} past its limit of {limit}")]
    Limit {
        /// Whose.
        plugin: String,
        /// Of what: `memory`, `table elements`, `handles`, `output bytes`, ..
        what: String,
        /// The limit, in that thing's own unit.
        limit: u64,
    },
    /// The guest trapped: a panic, an unreachable instruction, an access out of bounds.
    #[error("{plugin}: trap: {message}")]
    Trap {
        /// Whose.
        plugin: String,
        /// What the trap says, without addresses.
        message: String,
    },
    /// The guest answered with something that the interface does not allow.
    #[error("{plugin}: malformed answer: {message}")]
    Malformed {
        /// Whose.
        plugin: String,
        /// What was expected and what came.
        message: String,
    },
    /// The verifier says that it cannot judge this.
    #[error("{plugin}: ungradable: {message}")]
    Ungradable {
        /// Whose.
        plugin: String,
        /// Its reason.
        message: String,
    },
    /// The policy itself broke: no connection, no weights, a panic.
    #[error("policy {policy}: {message}")]
    Policy {
        /// Which.
        policy: String,
        /// What happened.
        message: String,
    },
    /// The host broke; always our fault.
    #[error("host: {message}")]
    Host {
        /// What happened.
        message: String,
    },
}

impl Fault {
    /// A short stable name for tables: `fuel`, `time`, `limit`, `trap`, ..
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Fuel { .. } => "fuel",
            Fault::Time { .. } => "time",
            Fault::Limit { .. } => "limit",
            Fault::Trap { .. } => "trap",
            Fault::Malformed { .. } => "malformed",
            Fault::Ungradable { .. } => "ungradable",
            Fault::Policy { .. } => "policy",
            Fault::Host { .. } => "host",
        }
    }
}
