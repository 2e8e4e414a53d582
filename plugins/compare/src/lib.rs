//! When is an answer the gold answer? This crate says so, under a versioned [`Contract`] that
//! states each column's type, how columns are told apart, whether duplicates, order and ties
//! matter, and how far floats may be apart. It is pure, deterministic and of bounded work.
//!
//! The rules, each with its reason code:
//! 1. Cells are read by the column's declared type. Conversions that lose nothing are lawful: an
//!    integral double within 2^53 or an integral decimal for an integer; an integer or decimal
//!    for a float; a number for a decimal whose shortest text fits the scale; a date for a
//!    timestamp and back at midnight; ISO text for a date or timestamp. All else is `type`.
//! 2. Text is compared in NFC; `trim` and `ignore_case` are flags.
//! 3. Floats are equal within `max(abs, rel * max(|a|, |b|))`, in exact decimal arithmetic on
//!    shortest round-trip texts, bound included. NULL equals only NULL; -0.0 is 0.0.
//! 4. Columns are matched by name without case (`column-missing`), by place, or injectively by
//!    content (`column-mismatch`), which must not be ambiguous.
//! 5. Rows are a bag (`duplicate`, `row-count`), or a set of exact rows.
//! 6. Order is that of the key values; rows that tie in gold are a bag (`order`).
//! 7. Of a top-k, every row above the cut and any rows of the tie at it (`top-k`).
//! 8. An empty answer counts only where the contract says so (`empty`).
//! 9. The reason is the first that applies, in the order of [`Reason`].
//! 10. A question may have several right answers; one that equals any of them, under that one's
//!     own contract, counts. Else the reason is that of the closest.
//!
//! ```
//! use tribunal_compare::{Expectation, Reason, Table};
//!
//! let expectation = Expectation::from_json(r#"{
//!     "version": 1,
//!     "contract": {"version": 1, "columns": [
//!         {"name": "account", "type": {"text": {}}},
//!         {"name": "total", "type": {"decimal": {"scale": 2}}}
//!     ]},
//!     "gold": {
//!         "columns": [{"name": "account", "kind": "text"}, {"name": "total", "kind": "decimal"}],
//!         "rows": [["a", "12.50"], ["b", null]]
//!     }
//! }"#)?;
//! let answer: Table = serde_json::from_str(r#"{
//!     "columns": [{"name": "TOTAL", "kind": "float"}, {"name": "Account", "kind": "text"}],
//!     "rows": [[0.0, "b"], [12.5, "a"]]
//! }"#)?;
//! assert_eq!(expectation.check(&answer).reason, Reason::Null);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod canon;
mod cells;
mod columns;
mod contract;
pub mod decimal;
mod expectation;
mod explain;
mod form;
mod json;
mod judge;
mod keys;
mod order;
mod pairing;
mod partial;
mod side;
mod table;
pub mod text;
pub mod time;
mod verdict;

pub use contract::{ColumnRule, Contract, Direction, Key, Matching, Nulls, Rows, Top, Type, VERSION};
pub use expectation::{Alternative, Expectation, ExpectationFile, Refusal};
pub use judge::check;
pub use table::{Cells, Column, Table, Texts};
pub use verdict::{Difference, Reason, Tried, Verdict};
