//! Tables and changes in the JSON form of a recording.

use serde::{Deserialize, Serialize};
use tribunal_protocol::schema::ColumnSchema;
use tribunal_protocol::session::{TableChanges, TableInfo, Verb};
use tribunal_protocol::table::Table;

/// A table as the holder of a session sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableFile {
    name: String,
    description: String,
    columns: Vec<ColumnSchema>,
    primary_key: Vec<String>,
    verbs: Vec<Verb>,
}

impl From<TableInfo> for TableFile {
    fn from(table: TableInfo) -> TableFile {
        let TableInfo { name, description, columns, primary_key, verbs } = table;
        TableFile { name, description, columns, primary_key, verbs }
    }
}

impl From<TableFile> for TableInfo {
    fn from(table: TableFile) -> TableInfo {
        let TableFile { name, description, columns, primary_key, verbs } = table;
        TableInfo { name, description, columns, primary_key, verbs }
    }
}

/// What changed in one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangesFile {
    name: String,
    removed: Table,
    added: Table,
}

impl From<TableChanges> for ChangesFile {
    fn from(changes: TableChanges) -> ChangesFile {
        let TableChanges { name, removed, added } = changes;
        ChangesFile { name, removed, added }
    }
}

impl From<ChangesFile> for TableChanges {
    fn from(changes: ChangesFile) -> TableChanges {
        let ChangesFile { name, removed, added } = changes;
        TableChanges { name, removed, added }
    }
}
