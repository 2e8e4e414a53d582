//! Components from the outside: how a guest is built, and what stands in bytes that nobody trusts yet.
//!
//! - [`toolchain`] finds a compiler for `wasm32-unknown-unknown`, or makes one.
//! - [`build`] turns plugin crates into components, reproducibly; [`script`] does it for Python and
//!   JavaScript.
//! - [`mod@inspect`] reads a component's shape without running it; [`world`] holds it against the
//!   plugin interface.
//!
//! Nothing here instantiates or runs a guest.

mod command;
mod encode;
mod types;
mod wasi;

pub mod build;
pub mod event;
pub mod inspect;
pub mod script;
pub mod toolchain;
pub mod world;

#[cfg(test)]
mod fixture;

pub use build::{BuildFault, BuildPlan, BuiltComponent, build_guest, build_guests, build_modules};
pub use encode::encode;
pub use event::Event;
pub use inspect::{Shape, ShapeFault, inspect};
pub use script::{Language, Project, ScriptFault, build_script};
pub use toolchain::{Toolchain, ToolchainFault, ToolchainOptions, Way};
pub use types::{check, check_with};
pub use wasi::{WASI, is_wasi, stand_in};
pub use world::{Refusal, check_world};

/// The plugin interface, as this program speaks it.
pub const WIT: &str = include_str!("../../../wit/1.0.0/plugin.wit");

/// The version of [`WIT`], the only one that this program speaks.
pub const WIT_VERSION: &str = "1.0.0";
