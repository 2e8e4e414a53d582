//! Databases that forks share: a [`Snapshot`] is sealed once, every episode works on a [`State`]
//! forked from it, and a [`DatabaseSession`] is the only way to a state: one statement at a time,
//! under an effective contract.
//!
//! ```
//! use tribunal_contract::Contract;
//! use tribunal_database::{DatabaseSession, Snapshot};
//! use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
//! use tribunal_protocol::session::Session;
//! use tribunal_protocol::{Kind, Value};
//!
//! let column = |name, kind| ColumnSchema::new(name, kind, false);
//! let columns = vec![column("id", Kind::Integer), column("secret", Kind::Text)];
//! let schema = TableSchema::new("invoices", columns, &[]);
//! let rows = vec![vec![Value::Integer(1), Value::Text("x".to_owned())]];
//! let snapshot = Snapshot::seal(&Dataset { clock: 0, tables: vec![TableData { schema, rows }] })?;
//! let contract = Contract::parse(r#"
//!     [contract]
//!     name = "reader"
//!     [[read]]
//!     table = "invoices"
//!     columns = ["id"]
//! "#)?.resolve(snapshot.schemas())?;
//! let mut session = DatabaseSession::open(snapshot.fork(), contract.into(), Default::default());
//! assert_eq!(session.query("SELECT id FROM invoices", &[])?.rows, 1);
//! assert!(session.query("SELECT secret FROM invoices", &[]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backend;
mod catalog;
mod denial;
mod error;
mod memo;
mod session;
mod sqlite;
mod state;

pub use error::DatabaseError;
pub use session::DatabaseSession;
pub use state::{Snapshot, State, changes};
pub use tribunal_engine::{STACK_BYTES, on_deep_stack};
use tribunal_protocol::schema::Engine;

/// An engine with its version, as traces name it.
#[must_use]
pub fn engine_name(engine: Engine) -> String {
    match engine {
        Engine::Gluesql => tribunal_engine::ENGINE.to_owned(),
        Engine::Sqlite => tribunal_sqlite::engine_name(),
    }
}
