//! The schema files: what a database looks like and how its rows are made.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_protocol::schema::{ColumnSchema, Engine, ForeignKey, TableSchema};
use tribunal_protocol::value::Kind;

use crate::condition::Conditions;
use crate::make::Make;
use crate::trap::Claim;

/// The version of the schema format.
pub(crate) const FORMAT: u32 = 1;

/// `schemas/<name>/v<N>/schema.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shape {
    /// The version of this format: 1.
    pub(crate) format: u32,
    /// What the database is about, in a few words.
    pub(crate) title: String,
    /// What `now` is in it, as ISO text.
    pub(crate) clock: String,
    /// What runs its SQL: `gluesql`, or `sqlite`.
    #[serde(default)]
    pub(crate) engine: Engine,
    /// The tables; a table refers only to tables before it.
    #[serde(rename = "table")]
    pub(crate) tables: Vec<TableShape>,
    /// The traps that every dataset holds.
    #[serde(default, rename = "trap")]
    pub(crate) traps: Vec<Claim>,
    /// The metrics that its `metric_definitions` explain.
    #[serde(default, rename = "metric")]
    pub(crate) metrics: Vec<Metric>,
}

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableShape {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The columns of the primary key.
    pub(crate) key: Vec<String>,
    #[serde(default)]
    pub(crate) unique: Vec<Vec<String>>,
    /// References: column = "table.column".
    #[serde(default)]
    pub(crate) references: BTreeMap<String, String>,
    /// How many rows are made.
    pub(crate) rows: Rows,
    pub(crate) columns: Vec<ColumnShape>,
    /// What is done to the rows afterwards.
    #[serde(default)]
    pub(crate) alter: Vec<Alter>,
}

/// One column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnShape {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) nullable: bool,
    /// Whether a task's contract hides it unless it says otherwise.
    #[serde(default)]
    pub(crate) private: bool,
    pub(crate) description: String,
    /// How often it is NULL instead of made.
    #[serde(default)]
    pub(crate) null: f64,
    pub(crate) make: Make,
}

/// How many rows a table has.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Rows {
    /// So many, between two bounds.
    Count([i64; 2]),
    /// For each row of an earlier table so many.
    Per {
        /// The parent.
        table: String,
        /// How many rows for each parent row, between two bounds.
        #[serde(default)]
        children: Option<[i64; 2]>,
        /// How many rows the parents get, shared out in random order; repeats when it is used up.
        #[serde(default)]
        profile: Vec<i64>,
        /// Which parent rows have any.
        #[serde(default, rename = "where")]
        conditions: Conditions,
    },
    /// These; columns that a row does not name are made.
    List(Vec<BTreeMap<String, toml::Value>>),
}

/// A change to a table's rows after they were made: a trap of real data.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Alter {
    /// Whether the rows are copied first (the copies are changed, at the end of the table)
    /// instead of changed in place.
    #[serde(default)]
    pub(crate) copy: bool,
    /// How many rows, between two bounds.
    pub(crate) rows: [i64; 2],
    /// Which rows it may be.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Conditions,
    /// How the changed columns are made.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, Make>,
}

/// A metric's definition: one row of `metric_definitions`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metric {
    pub(crate) name: String,
    pub(crate) meaning: String,
    pub(crate) grain: String,
    pub(crate) population: String,
    pub(crate) time_window: String,
    pub(crate) unit: String,
}

impl TableShape {
    /// The table without its makes.
    pub(crate) fn schema(&self) -> TableSchema {
        let foreign_key = |(column, target): (&String, &String)| {
            let (table, key) = target.split_once('.').unwrap_or((target, "id"));
            ForeignKey { columns: vec![column.clone()], table: table.to_owned(), references: vec![key.to_owned()] }
        };
        let column = |column: &ColumnShape| ColumnSchema {
            name: column.name.clone(),
            kind: column.kind,
            nullable: column.nullable,
            description: column.description.clone(),
        };
        TableSchema {
            name: self.name.clone(),
            description: self.description.clone(),
            columns: self.columns.iter().map(column).collect(),
            primary_key: self.key.clone(),
            unique: self.unique.clone(),
            foreign_keys: self.references.iter().map(foreign_key).collect(),
        }
    }

    /// The place of a column.
    pub(crate) fn index(&self, name: &str) -> Result<usize, String> {
        self.columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let known: Vec<_> = self.columns.iter().map(|c| c.name.as_str()).collect();
            format!("no column `{name}` in table {}; there are: {}", self.name, known.join(", "))
        })
    }
}
