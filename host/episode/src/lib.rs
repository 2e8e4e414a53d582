//! Episodes: one attempt at one task on its own fork. Start, step, finish, replay.
//!
//! [`Stage`] holds what many episodes share: the loaded plugins, sealed snapshots and limits.
//! [`Prepared`] is one task made ready on a stage: contracts resolved, schemas of arguments
//! compiled, snapshots at hand. [`Episode`] is one attempt; [`run`] drives a policy through it,
//! and [`replay`] drives the actions of a trace through it again.
//!
//! Nothing here reads a clock, a file or the environment: the same task, plugins and actions
//! give the same events.

mod alone;
mod briefing;
mod error;
mod exhibit;
mod judge;
mod prepare;
mod replay;
mod run;
mod stage;
mod submit;
mod tools;

pub use alone::{fuel_for, misfit};
pub use error::EpisodeError;
pub use exhibit::{Exhibit, Heard, LARGEST_ANSWER};
pub use prepare::Prepared;
pub use replay::{Replayed, replay};
pub use run::{Episode, run};
pub use stage::{Datasets, Stage};
