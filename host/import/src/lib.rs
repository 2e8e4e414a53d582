//! Foreign schemas and questions as a suite: reads DDL and rows in PostgreSQL's dialect (or CSV),
//! expands gold queries into the alternatives that they stand for, judges every question on two
//! engines, and writes those that stand as tasks.
//!
//! - [`read_schemas`], [`read_sqlite`]: a folder's SQL, CSV, JSON and SQLite files as datasets. What cannot be read is named
//!   by file and line, and breaks the table that it is about, never silently.
//! - [`read_questions`], [`expand`]: questions and the alternatives of their gold.
//! - [`import()`], [`import_file`]: all of it, judged: [`Class::Scored`], [`Class::Unsupported`],
//!   [`Class::GoldWrong`] or [`Class::Disagree`].
//! - [`ImportedSuite`]: the suite on disk.
//!
//! The clock of an imported suite is a pinned date ([`DEFAULT_CLOCK`] unless told otherwise),
//! written in the suite: rows relative to CURRENT_DATE are relative to it, and `now` in gold is
//! its midnight.

mod agree;
mod clock;
mod columns;
mod comma;
mod constant;
mod cursor;
mod describe;
mod dialect;
mod draft;
mod engines;
mod error;
mod expand;
mod folder;
mod import;
mod instruct;
mod judge;
mod order;
mod pin;
mod question;
mod report;
mod statement;
mod stored;
mod suite;
mod table;
mod token;
mod trial;
mod types;

pub use clock::DEFAULT_CLOCK;
pub use draft::Remark;
pub use error::ImportError;
pub use expand::{ExpandError, MAX_ALTERNATIVES, expand};
pub use folder::{ForeignSchema, read_schemas, read_sqlite};
pub use import::{Import, import, import_file};
pub use question::{ForeignQuestion, read_questions};
pub use report::{Class, ImportReport, QuestionReport, REPORT_VERSION};
pub use suite::{ImportedSuite, SUITE_FORMAT, SUITE_KIND};
