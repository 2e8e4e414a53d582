//! Databases, forks and sessions: what is shared, what is walled off, what is counted.
#![expect(clippy::unwrap_used, reason = "tests")]

mod budget;
mod change;
mod digest;
mod fixture;
mod fork;
mod memo;
mod robust;
mod walls;
