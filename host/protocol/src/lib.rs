//! Every type that crosses a layer of Tribunal, and the trait [`Policy`]. No IO, no clock, no
//! randomness: this crate only says what things are.
//!
//! - [`value`]: one value and its kind; [`table`]: many values, by column.
//! - [`schema`]: what a database looks like, and the rows it starts with.
//! - [`session`]: what a plugin may do with a database.
//! - [`failure`]: why something did not happen, as an agent may read it.
//! - [`fault`]: what broke in a tool, a verifier or the host; an episode with a fault is void.
//! - [`plugin`]: what a plugin says of itself; [`evidence`]: what a verifier is given.
//! - [`task`]: an instruction, where its data comes from, and how it is judged.
//! - [`policy`]: whatever picks the next action, and what it sees.
//! - [`verdict`]: what an episode was worth.
//! - [`event`]: what a trace records.
//! - [`digest`]: SHA-256, and canonical bytes to take it of.

pub mod digest;
pub mod event;
pub mod evidence;
pub mod failure;
pub mod fault;
pub mod limits;
pub mod plugin;
pub mod policy;
pub mod schema;
pub mod session;
pub mod table;
pub mod task;
pub mod usage;
pub mod value;
pub mod verdict;

pub use digest::Digest;
pub use failure::{Code, Failure};
pub use fault::Fault;
pub use policy::{Action, Observation, Policy};
pub use table::{Column, Table};
pub use task::Task;
pub use value::{Kind, Value};
pub use verdict::Verdict;
