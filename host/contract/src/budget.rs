//! How much may be used.

use tribunal_protocol::digest::Hasher;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::usage::Usage;

/// The budget as a contract states it; what it leaves out is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Statements, failed ones included.
    pub statements: Option<u64>,
    /// Rows that the engine reads from storage, over all statements.
    pub rows_scanned: Option<u64>,
    /// Rows given to the holder, over all statements.
    pub rows_returned: Option<u64>,
    /// Bytes given to the holder, over all statements.
    pub bytes_returned: Option<u64>,
    /// Rows inserted, updated or deleted, over all statements.
    pub rows_written: Option<u64>,
    /// Work of one statement, in parts of expressions.
    pub statement_work: Option<u64>,
    /// Bytes of memory that SQLite may hold for one statement.
    pub statement_memory: Option<u64>,
    /// Fuel units of one guest call.
    pub fuel: Option<u64>,
    /// Bytes of linear memory of one guest call.
    pub memory: Option<u64>,
}

impl Budget {
    /// Each part with its name in a contract file, in canonical order.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, Option<u64>); 9] {
        [
            ("statements", self.statements),
            ("rows_scanned", self.rows_scanned),
            ("rows_returned", self.rows_returned),
            ("bytes_returned", self.bytes_returned),
            ("rows_written", self.rows_written),
            ("statement_work", self.statement_work),
            ("statement_memory", self.statement_memory),
            ("fuel", self.fuel),
            ("memory", self.memory),
        ]
    }

    /// What limits allow the sessions of one plugin at most. Fuel and memory are the sandbox's to
    /// hold.
    #[must_use]
    pub fn most(limits: &Limits) -> Budget {
        Budget {
            statements: Some(limits.statements),
            rows_scanned: Some(limits.rows_scanned),
            rows_returned: Some(limits.rows_returned),
            bytes_returned: Some(limits.bytes_returned),
            rows_written: Some(limits.rows_written),
            statement_work: Some(limits.statement_work),
            statement_memory: Some(limits.statement_memory),
            fuel: None,
            memory: None,
        }
    }

    /// The smaller of both, part by part.
    #[must_use]
    pub fn intersect(&self, other: &Budget) -> Budget {
        let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (one, None) | (None, one) => one,
        };
        Budget {
            statements: least(self.statements, other.statements),
            rows_scanned: least(self.rows_scanned, other.rows_scanned),
            rows_returned: least(self.rows_returned, other.rows_returned),
            bytes_returned: least(self.bytes_returned, other.bytes_returned),
            rows_written: least(self.rows_written, other.rows_written),
            statement_work: least(self.statement_work, other.statement_work),
            statement_memory: least(self.statement_memory, other.statement_memory),
            fuel: least(self.fuel, other.fuel),
            memory: least(self.memory, other.memory),
        }
    }
}

/// The budget that a session runs under: what the contract leaves out has its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Statements; 1,000 by default.
    pub statements: u64,
    /// Rows scanned; 20,000,000 by default.
    pub rows_scanned: u64,
    /// Rows returned; 100,000 by default.
    pub rows_returned: u64,
    /// Bytes returned; 16 MiB by default.
    pub bytes_returned: u64,
    /// Rows written; 10,000 by default.
    pub rows_written: u64,
    /// Work of one statement; 100,000,000 parts of expressions by default.
    pub statement_work: u64,
    /// Bytes that SQLite may hold for one statement; 256 MiB by default.
    pub statement_memory: u64,
    /// Fuel units of one guest call; by default what the limits of the suite say.
    pub fuel: Option<u64>,
    /// Bytes of memory of one guest call; by default what the limits of the suite say.
    pub memory: Option<u64>,
}

impl From<&Budget> for Allowance {
    fn from(budget: &Budget) -> Allowance {
        let default = Limits::default();
        Allowance {
            statements: budget.statements.unwrap_or(default.statements),
            rows_scanned: budget.rows_scanned.unwrap_or(default.rows_scanned),
            rows_returned: budget.rows_returned.unwrap_or(default.rows_returned),
            bytes_returned: budget.bytes_returned.unwrap_or(default.bytes_returned),
            rows_written: budget.rows_written.unwrap_or(default.rows_written),
            statement_work: budget.statement_work.unwrap_or(default.statement_work),
            statement_memory: budget.statement_memory.unwrap_or(default.statement_memory),
            fuel: budget.fuel,
            memory: budget.memory,
        }
    }
}

impl Allowance {
    /// What is left of it after `spent`; never below zero.
    #[must_use]
    pub fn left(&self, spent: &Usage) -> Usage {
        Usage {
            fuel: self.fuel.unwrap_or(u64::MAX),
            memory: self.memory.unwrap_or(u64::MAX),
            statements: self.statements.saturating_sub(spent.statements),
            rows_scanned: self.rows_scanned.saturating_sub(spent.rows_scanned),
            rows_returned: self.rows_returned.saturating_sub(spent.rows_returned),
            bytes_returned: self.bytes_returned.saturating_sub(spent.bytes_returned),
            rows_written: self.rows_written.saturating_sub(spent.rows_written),
        }
    }

    pub(crate) fn hash(&self, hasher: &mut Hasher) {
        for part in [
            self.statements,
            self.rows_scanned,
            self.rows_returned,
            self.bytes_returned,
            self.rows_written,
            self.fuel.unwrap_or(u64::MAX),
            self.memory.unwrap_or(u64::MAX),
        ] {
            hasher.number(part);
        }
        // These are younger than the digests in older traces, and are hashed where they are stated.
        let default = Limits::default();
        for (name, part, default) in [
            ("statement_work", self.statement_work, default.statement_work),
            ("statement_memory", self.statement_memory, default.statement_memory),
        ] {
            if part != default {
                hasher.bytes(name.as_bytes());
                hasher.number(part);
            }
        }
    }
}

/// Reads `64 KiB`, `1 MiB`, `2 GiB`, `500 bytes` or a bare number of bytes.
pub(crate) fn read_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].trim();
    let number: u64 = digits.trim().replace('_', "").parse().ok()?;
    let factor = match unit {
        "" | "B" | "byte" | "bytes" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary_and_nothing_else() {
        assert_eq!(read_size("1 MiB"), Some(1_048_576));
        assert_eq!(read_size("64KiB"), Some(65_536));
        assert_eq!(read_size("12"), Some(12));
        assert_eq!(read_size("1_000 bytes"), Some(1_000));
        assert_eq!(read_size("1 MB"), None);
        assert_eq!(read_size("-1"), None);
        assert_eq!(read_size("99999999999 GiB"), None);
    }
}
