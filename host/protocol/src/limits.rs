//! The limits of whatever a plugin does: loading it, one call of it, and what its sessions may use.

use serde::{Deserialize, Serialize};

/// What a plugin may use. Every field has a default, and a test that hits it: the table of cases
/// in `tests/tests/hostile/limits.rs` is held against the names of these fields.
///
/// Fields that count decide and are the same on every machine. The two that measure
/// (`compile_seconds`, `wall_ms`) only refuse or void.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a component file, at most.
    pub component_bytes: u64,
    /// Processor seconds to compile a component, at most.
    pub compile_seconds: u64,
    /// Bytes of memory to compile a component, at most.
    pub compile_memory: u64,
    /// Fuel units of one call.
    pub fuel: u64,
    /// Wall time of one call in milliseconds, host calls included. A backstop: it voids, never scores.
    pub wall_ms: u64,
    /// Bytes of linear memory, all memories together.
    pub memory: u64,
    /// Elements of all tables together.
    pub table_elements: u64,
    /// Bytes of WebAssembly stack.
    pub stack: u64,
    /// Bytes that one host call may lift out of a guest.
    pub hostcall_bytes: u64,
    /// Live resource handles. They are the only table of resources there is: the host keeps one
    /// place for each role and nothing for a handle.
    pub handles: u64,
    /// Bytes of one result of a query. Below `hostcall_bytes`, so that a tool that passes on what an
    /// agent asked for is not stopped as if it had broken.
    pub result_bytes: u64,
    /// Bytes of one call's output, as JSON. A tool's output past it is a failure that the agent
    /// reads: how much it asks for is its own to choose, and must not void its episode.
    pub output_bytes: u64,
    /// Bytes of log that are kept of one call; the rest is dropped and counted.
    pub log_bytes: u64,
    /// Statements of one plugin in one episode, failed ones included.
    pub statements: u64,
    /// Rows that the engine reads from storage for one plugin in one episode.
    pub rows_scanned: u64,
    /// Rows given to one plugin in one episode, and so the most of one result.
    pub rows_returned: u64,
    /// Bytes given to one plugin in one episode.
    pub bytes_returned: u64,
    /// Rows that one plugin inserts, updates or deletes in one episode.
    pub rows_written: u64,
    /// Work of one statement: for every row that it goes through, the parts of its expressions, and
    /// more for long texts. Rows alone say little of the time that they take. On SQLite a part is
    /// two steps of its machine. A default statement may take some seconds.
    pub statement_work: u64,
    /// Bytes of memory that SQLite may hold for one statement: what it sorts, groups, joins and
    /// keeps aside. What GlueSQL holds, the limits of rows and work bound, and not in bytes.
    pub statement_memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            component_bytes: 32 << 20,
            compile_seconds: 10,
            compile_memory: 1 << 30,
            fuel: 200_000_000,
            wall_ms: 10_000,
            memory: 64 << 20,
            table_elements: 100_000,
            stack: 512 << 10,
            hostcall_bytes: 8 << 20,
            handles: 1_000,
            result_bytes: 4 << 20,
            output_bytes: 4 << 20,
            log_bytes: 64 << 10,
            statements: 1_000,
            rows_scanned: 20_000_000,
            rows_returned: 100_000,
            bytes_returned: 16 << 20,
            rows_written: 10_000,
            statement_work: 100_000_000,
            statement_memory: 256 << 20,
        }
    }
}
