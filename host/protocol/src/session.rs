//! What a holder of a session may do, whatever the engine behind it.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::schema::ColumnSchema;
use crate::table::Table;
use crate::usage::Usage;
use crate::value::Value;

/// What a contract allows to be done with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// SELECT.
    Read,
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Verb; 4] = [Verb::Read, Verb::Insert, Verb::Update, Verb::Delete];

    /// The name, as in contracts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::Insert => "insert",
            Verb::Update => "update",
            Verb::Delete => "delete",
        }
    }
}

/// A table as the holder of a session sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// Its name.
    pub name: String,
    /// What one row is.
    pub description: String,
    /// The granted columns, in order.
    pub columns: Vec<ColumnSchema>,
    /// The granted columns of the primary key, in order.
    pub primary_key: Vec<String>,
    /// What may be done with it.
    pub verbs: Vec<Verb>,
}

/// One changed table. A changed row stands in both: as it was, and as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct TableChanges {
    /// Its name.
    pub name: String,
    /// Rows of the first state that the last one lacks.
    pub removed: Table,
    /// Rows of the last state that the first one lacks.
    pub added: Table,
}

/// One database under one contract. Calls are metered against the contract's budgets over the
/// whole life of the session, which is one episode.
pub trait Session: Send {
    /// The granted tables, by name.
    fn tables(&mut self) -> Vec<TableInfo>;

    /// Runs one query; `$1`, `$2`, .. stand for the parameters.
    ///
    /// # Errors
    /// A failure as the agent may read it.
    fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Table, Failure>;

    /// Runs one INSERT, UPDATE or DELETE, all of it or nothing; gives the rows it touched.
    ///
    /// # Errors
    /// A failure as the agent may read it.
    fn change(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure>;

    /// What was used so far; `fuel` and `memory` are the sandbox's to fill.
    fn usage(&self) -> Usage;

    /// What today is where this database is: days since 1970-01-01, if it says so.
    fn date(&self) -> Option<i32> {
        None
    }

    /// How often the contract stopped something so far.
    fn violations(&self) -> u32;
}
