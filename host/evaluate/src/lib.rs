//! What a run was worth: a summary, tables for a terminal, and one HTML page. All of it is a pure
//! function of episodes and of what the run says of itself: the same input gives the same bytes,
//! in whatever order the episodes come.
//!
//! - [`Collector`] reads episodes one by one and gives a [`Summary`]; [`Summary`] is the JSON file.
//! - [`estimate`] holds every formula, each with its source; [`jeffreys`] the posterior of a share.
//! - [`comparison`] sets two policies side by side, [`release`] decides by a protocol.
//! - [`Grid`] is a table of strings for a terminal.
//! - [`Choice`] picks the episodes that are worth showing step by step; [`page()`] and
//!   [`comparison_page()`] write the pages.

pub mod comparison;
pub mod estimate;
pub mod jeffreys;
pub mod metrics;
pub mod release;

mod choose;
mod collect;
mod episode;
mod glossary;
mod grid;
mod page;
mod policy;
mod sql;
mod summary;
mod text;
mod training;
pub mod trainings;

pub use choose::Choice;
pub use collect::Collector;
pub use episode::EpisodeId;
pub use grid::Grid;
pub use page::{Chart, Document, ReportError, RunInfo, Section, comparison_page, page};
pub use summary::{
    Cell, Cost, FORMAT, Group, LeftOut, Outcome, PassAt, PolicySummary, Reason, Refused, Summary, Tally, Versions,
    Violation, Void,
};
pub use training::{Training, TrainingError};
