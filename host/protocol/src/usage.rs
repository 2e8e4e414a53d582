//! What something used.

use serde::{Deserialize, Serialize};

/// What a call, or an episode, used. All of it is counted, none of it timed: the same inputs
/// give the same figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Fuel units of the guest.
    pub fuel: u64,
    /// Bytes of linear memory that the guest held at most.
    pub memory: u64,
    /// Statements run.
    pub statements: u64,
    /// Rows that the engine read from storage.
    pub rows_scanned: u64,
    /// Rows given to the guest.
    pub rows_returned: u64,
    /// Bytes given to the guest.
    pub bytes_returned: u64,
    /// Rows inserted, updated or deleted.
    pub rows_written: u64,
}

impl Usage {
    /// Adds what another call used; memory is the larger of the two.
    pub fn add(&mut self, other: &Usage) {
        self.fuel += other.fuel;
        self.memory = self.memory.max(other.memory);
        self.statements += other.statements;
        self.rows_scanned += other.rows_scanned;
        self.rows_returned += other.rows_returned;
        self.bytes_returned += other.bytes_returned;
        self.rows_written += other.rows_written;
    }
}
