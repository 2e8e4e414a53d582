//! What a database looks like, and the rows it starts with.

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Hasher};
use crate::value::{Kind, Value};

/// What runs the SQL of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// GlueSQL: what a schema has that says nothing.
    #[default]
    Gluesql,
    /// SQLite.
    Sqlite,
}

impl Engine {
    /// All engines.
    pub const ALL: [Engine; 2] = [Engine::Gluesql, Engine::Sqlite];

    /// The name, as schema files have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Engine::Gluesql => "gluesql",
            Engine::Sqlite => "sqlite",
        }
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSchema {
    /// Its name; unique in the table when case is ignored.
    pub name: String,
    /// Its kind; never [`Kind::Unknown`].
    pub kind: Kind,
    /// Whether it may hold NULL.
    #[serde(default)]
    pub nullable: bool,
    /// What it means, for agents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

impl ColumnSchema {
    /// A column without a description.
    pub fn new(name: impl Into<String>, kind: Kind, nullable: bool) -> ColumnSchema {
        ColumnSchema { name: name.into(), kind, nullable, description: String::new() }
    }
}

/// A reference from columns of one table to columns of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignKey {
    /// The referring columns.
    pub columns: Vec<String>,
    /// The table referred to.
    pub table: String,
    /// Its columns, in the same order.
    pub references: Vec<String>,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// Its name; unique in the database when case is ignored.
    pub name: String,
    /// What one row is, for agents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The columns, in order.
    pub columns: Vec<ColumnSchema>,
    /// The columns of the primary key, in order; empty: none.
    #[serde(default)]
    pub primary_key: Vec<String>,
    /// Further sets of columns without duplicates.
    #[serde(default)]
    pub unique: Vec<Vec<String>>,
    /// References to other tables.
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKey>,
}

impl TableSchema {
    /// A table of these columns with a primary key (none where it is empty), and nothing else.
    pub fn new(name: impl Into<String>, columns: Vec<ColumnSchema>, key: &[&str]) -> TableSchema {
        let primary_key = key.iter().map(|column| (*column).to_owned()).collect();
        TableSchema { name: name.into(), columns, primary_key, ..TableSchema::default() }
    }

    /// The place of a column, by exact name.
    #[must_use]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// A table and its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableData {
    /// What it looks like.
    pub schema: TableSchema,
    /// Its rows, each as long as the schema has columns.
    pub rows: Vec<Vec<Value>>,
}

/// A database before anybody touched it: the start of every episode of a schema and a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dataset {
    /// What `now` is in it: days since 1970-01-01.
    pub clock: i32,
    /// The tables, by name.
    pub tables: Vec<TableData>,
}

impl Dataset {
    /// A fingerprint of the shape alone: names, kinds, keys; no rows, no descriptions. Two
    /// schemas with the same fingerprint must never stand in train and in a held-out split.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let mut tables: Vec<_> = self.tables.iter().map(|table| &table.schema).collect();
        tables.sort_by(|a, b| a.name.cmp(&b.name));
        let mut hasher = Hasher::new("schema fingerprint 1");
        for table in tables {
            hasher.bytes(table.name.as_bytes());
            hasher.number(table.columns.len() as u64);
            for column in &table.columns {
                hasher.bytes(column.name.as_bytes());
                hasher.bytes(column.kind.name().as_bytes());
                hasher.number(u64::from(column.nullable));
            }
            hasher.bytes(table.primary_key.join("\n").as_bytes());
            hasher.number(table.foreign_keys.len() as u64);
            for key in &table.foreign_keys {
                hasher.bytes(key.columns.join("\n").as_bytes());
                hasher.bytes(key.table.as_bytes());
                hasher.bytes(key.references.join("\n").as_bytes());
            }
        }
        hasher.finish()
    }
}
