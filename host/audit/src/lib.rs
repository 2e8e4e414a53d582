//! Verifiers on trial: a battery made from a suite's tasks, what a verifier decides of it, and how
//! it behaves meanwhile.
//!
//! - [`kind`] names every way to be right or wrong; [`case`] is one of them, made of a task.
//! - [`Auditor`] makes the cases of a task and puts them to the verifier, sealed and through the same
//!   host as in an episode: same contract, same limits, a fresh instance for every case.
//! - [`Audit`] is what came of it: wrong decisions with the smallest case that shows each, rates with
//!   exact bounds, a score for every kind of fault, limits in percent, and agreement with labels.
//!
//! What must become of a case is never asked of the verifier under trial, and never of code that it
//! may share: tables are compared by a reference of this crate's own, queries by two engines.

mod agreement;
mod audit;
mod auditor;
mod battery;
pub mod case;
mod cell;
mod dice;
pub mod kind;
mod reference;
mod rules;
mod sheet;
mod show;
mod shrink;
mod trial;

pub use agreement::{Agreement, Disagreement, Labels, LabelsError, kappa};
pub use audit::{Audit, Check, FORMAT, Finding, KindScore, Subject};
pub use auditor::{AuditError, Auditor, Battery, Decided, Decision, Suite, order};
pub use case::Case;
pub use kind::{CaseKind, Expected};
pub use trial::{Behaviour, CaseRecord, Example, LimitUse, TaskTrial};
