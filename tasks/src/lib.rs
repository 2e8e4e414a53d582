//! Turns a suite, a folder of TOML, into datasets and drafts of tasks.
//!
//! - A **schema** (`schemas/<name>/v<N>/`) says what a database looks like, how its rows are
//!   made from a seed (traps of real data included), what its metrics mean, and, in its terms,
//!   which question families it can carry and in which of its own words.
//! - A **family** (`families/<name>.toml`) is one kind of question: instructions, parameters,
//!   the gold query or the right actions, and the wrong ways that a judge must tell apart.
//! - A **suite** (`suites/<name>/suite.toml`) names schemas and families and holds some of them
//!   out against the training split.
//!
//! [`Suite::drafts`] gives [`Draft`]s: whole tasks except for what the verifier expects, which
//! is only a plan ([`ExpectationPlan`]) because it takes engines to work it out. Same files and
//! same seed, same bytes: nothing here reads a clock, and every random stream is derived from the
//! seed by the names of what it is for, so that a new table or column changes no other.

mod action;
mod check;
mod condition;
mod context;
mod contract;
mod draft;
mod draw;
mod error;
mod family;
mod files;
mod frame;
mod generate;
mod grant;
mod ground;
mod make;
mod plan;
mod random;
mod read;
mod render;
mod shape;
mod suite;
mod terms;
mod trap;
mod vary;

pub use draft::{Draft, ExpectationPlan, Slot};
pub use error::TasksError;
pub use family::FamilyInfo;
pub use plan::{Pair, Quotas};
pub use suite::Suite;
pub use trap::Finding;
