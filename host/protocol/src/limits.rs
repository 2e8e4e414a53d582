//! The limits of one guest call.

use serde::{Deserialize, Serialize};

/// What one guest call may use. Every field has a default; a suite may set others.
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
    /// Live resource handles.
    pub handles: u64,
    /// Bytes of one call's output, as JSON.
    pub output_bytes: u64,
    /// Bytes of log that are kept of one call; the rest is dropped and counted.
    pub log_bytes: u64,
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
            output_bytes: 4 << 20,
            log_bytes: 64 << 10,
        }
    }
}
