//! Traces: the hash-chained record of an episode, as JSON Lines. Pure: bytes in, bytes out.
//!
//! The first line names the format and its version. Every further line is one event:
//! `{"n":N,"event":..,"hash":".."}`, where the hash is SHA-256 over the hash before it, the
//! number and the event's own bytes. So a changed byte breaks the chain at its event, and a
//! trace without its last event is not a trace.
//!
//! [`write`] and [`read`] are inverse to each other; [`first_difference`] compares two traces
//! and says where they part.

mod difference;
mod format;

pub use difference::{EventDifference, first_difference};
pub use format::{FORMAT_VERSION, TraceError, header, read, write};
