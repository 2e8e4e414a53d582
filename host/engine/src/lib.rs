//! The engine: GlueSQL behind our own store. The only crate that names gluesql; nothing of it
//! shows in this crate's interface.
//!
//! - [`Tables`] is one state of a database: a sealed base that forks share, and what a fork
//!   changed. Cloning it costs the same for ten rows and a million.
//! - [`query`] and [`change`] run one prepared statement under an effective contract. Two walls
//!   stand between the statement and the data: the gate allows what it knows by name, and the
//!   store under the engine does not hold what the contract does not grant.

mod cell;
mod change;
mod changes;
mod check;
mod digest;
mod failure;
mod gate;
mod guard;
mod hoist;
mod index;
mod native;
mod order;
mod output;
mod panic;
mod rows;
mod run;
mod seal;
mod sets;
mod stack;
mod store;
mod tick;
mod tour;
mod view;
mod walk;
mod work;

pub use change::{Changed, Edit, admit_change, change, edit};
pub use run::{Queried, Request, query};
pub use seal::SealError;
pub use stack::{STACK_BYTES, is_deep, on_deep_stack};
pub use store::Tables;

/// The engine and its version, as traces name it.
pub const ENGINE: &str = "gluesql-core 0.20.0";
