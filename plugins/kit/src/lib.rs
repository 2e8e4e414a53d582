//! What a Tribunal plugin in Rust is written with. A plugin is a struct that implements
//! [`Tool`], [`Verifier`] or [`User`], and one line that exports it:
//!
//! ```
//! use tribunal_kit::{Database as _, Description, Failure, Host, Output, Tool, arguments};
//!
//! struct Count;
//!
//! #[derive(serde::Deserialize)]
//! struct Arguments { table: String }
//!
//! impl Tool for Count {
//!     fn describe() -> Description {
//!         Description::new("tool-count", "0.1.0")
//!             .tool("count", "Counts the rows of a table.", r#"{
//!                 "type": "object", "additionalProperties": false, "required": ["table"],
//!                 "properties": {"table": {"type": "string", "description": "The table."}}
//!             }"#)
//!             .contract("[contract]\nname = \"tool-count\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n")
//!     }
//!
//!     fn call<H: Host>(host: &H, _name: &str, text: &str) -> Result<Output, Failure> {
//!         let Arguments { table } = arguments::parse(text)?;
//!         let sql = format!("SELECT COUNT(*) AS rows FROM {}", tribunal_kit::quoted(&table));
//!         Ok(Output::table(host.open("agent")?.query(&sql, &[])?))
//!     }
//! }
//!
//! tribunal_kit::tool!(Count);
//! ```
//!
//! The logic takes the [`Host`] as a parameter, so it runs natively in tests (feature `testing`);
//! the export exists on `wasm32` only. A guest has no clock, no files and no randomness.

pub mod arguments;
pub mod bindings;
#[cfg(feature = "compare")]
mod compare;
mod describe;
mod export;
mod failure;
#[cfg(any(target_arch = "wasm32", test))]
mod heap;
mod host;
mod table;
#[cfg(feature = "testing")]
pub mod testing;

pub use bindings::shared::tribunal::plugin::changes::TableChanges;
pub use bindings::shared::tribunal::plugin::database::{ColumnInfo, TableInfo, Verb};
pub use bindings::shared::tribunal::plugin::description::{Description, ToolInfo};
pub use bindings::shared::tribunal::plugin::evidence::{
    Abstention, Difference, Evidence, Question, Scored, Submission, ToolCall, Verdict,
};
pub use bindings::shared::tribunal::plugin::output::Output;
pub use bindings::shared::tribunal::plugin::types::{Cells, Code, Column, Failure, Kind, Table, Texts, Value};
pub use export::{Exported, Tool, User, Verifier};
pub use host::{Database, Host, Imports, quoted};
