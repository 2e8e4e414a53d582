//! Turns drafts into checked tasks. A draft says what is asked and how it is solved; a task also
//! says what its verifier expects, and has been through the trial that this crate puts it to, in
//! the very stack that grades:
//!
//! - both engines agree on the gold answer, on every instance of the data;
//! - the oracle scores 1, every mutant 0, and so do the empty, constant and echoed answer and
//!   doing nothing;
//! - the instruction names every column of the answer;
//! - at least three further data seeds agree.
//!
//! What fails is refused with its reason, and never becomes a task.

mod expect;
mod library;
mod refuse;
mod trial;

pub use library::{Library, Source};
pub use refuse::Refused;
pub use trial::Maker;
