//! What the host gives: sessions, settings, changes, a log.

use crate::bindings::shared::tribunal::plugin::{changes, database, log, settings};
use crate::{Failure, Table, TableChanges, TableInfo, Value};

/// One database under one contract.
pub trait Database {
    /// The granted tables, by name.
    fn tables(&self) -> Vec<TableInfo>;

    /// Runs one query; `$1`, `$2`, .. stand for the parameters.
    ///
    /// # Errors
    /// A failure as the agent may read it.
    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Table, Failure>;

    /// Runs one INSERT, UPDATE or DELETE; gives the rows it touched.
    ///
    /// # Errors
    /// A failure as the agent may read it.
    fn change(&self, sql: &str, parameters: &[Value]) -> Result<u64, Failure>;
}

/// Everything that a plugin can reach.
pub trait Host {
    /// The database behind a session.
    type Database: Database;

    /// Opens the session of a role: `agent` for tools, `first` and `last` for verifiers.
    ///
    /// # Errors
    /// A failure where nothing is pinned for the role.
    fn open(&self, role: &str) -> Result<Self::Database, Failure>;

    /// What the agent's work changed, for verifiers.
    ///
    /// # Errors
    /// A failure where this plugin may not see changes.
    fn changes(&self) -> Result<Vec<TableChanges>, Failure>;

    /// What the suite pins for this plugin: a JSON object.
    fn settings(&self) -> String;

    /// Writes one message to the log of the plugin's author.
    fn log(&self, message: &str);
}

/// The host as a guest imports it. Of use on `wasm32` only: elsewhere every call ends the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Imports;

impl Host for Imports {
    type Database = database::Session;

    fn open(&self, role: &str) -> Result<database::Session, Failure> {
        database::open(role)
    }

    fn changes(&self) -> Result<Vec<TableChanges>, Failure> {
        changes::between()
    }

    fn settings(&self) -> String {
        settings::get()
    }

    fn log(&self, message: &str) {
        log::write(message);
    }
}

impl Database for database::Session {
    fn tables(&self) -> Vec<TableInfo> {
        database::Session::tables(self)
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        database::Session::query(self, sql, parameters)
    }

    fn change(&self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        database::Session::change(self, sql, parameters)
    }
}

/// An identifier as SQL wants it, whatever stands in it.
#[must_use]
pub fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_identifier_cannot_end_its_quotes() {
        assert_eq!(super::quoted("id"), r#""id""#);
        assert_eq!(super::quoted(r#"a" OR "1"#), r#""a"" OR ""1""#);
    }
}
