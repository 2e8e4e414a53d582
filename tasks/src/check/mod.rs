//! What can be wrong with a suite's files before a row is made or a question drawn: names that
//! stand twice or lead nowhere, and parts that are missing.

mod carry;
mod family;
mod shape;
mod splits;

use std::collections::BTreeSet;

pub(crate) use carry::{Around, carries};
pub(crate) use family::family;
pub(crate) use shape::shape;
pub(crate) use splits::{files, fingerprints, names};

use crate::generate::METRICS_TABLE;
use crate::shape::{Shape, TableShape};

/// What is wrong, and at which key.
type Checked = Result<(), (String, String)>;

/// The first name that stands twice when case is ignored, as the engines ignore it.
fn twice<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(name.to_lowercase()))
}

/// Names for a message.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The tables of a schema, by name.
#[derive(Clone, Copy)]
struct Tables<'a>(&'a [TableShape]);

impl<'a> Tables<'a> {
    fn of(shape: &'a Shape) -> Tables<'a> {
        Tables(&shape.tables)
    }

    /// A table that the schema lists.
    fn table(self, name: &str) -> Result<&'a TableShape, String> {
        self.0.iter().find(|table| table.name == name).ok_or_else(|| {
            let known = listed(self.0.iter().map(|table| table.name.as_str()));
            format!("no table `{name}`; there are: {known}")
        })
    }

    /// A table that may be read: one of the schema's, or that of its metrics.
    fn readable(self, name: &str) -> Result<(), String> {
        if name == METRICS_TABLE { Ok(()) } else { self.table(name).map(|_| ()) }
    }

    /// A column of a table.
    fn column(self, table: &str, column: &str) -> Result<(), String> {
        self.table(table)?.index(column).map(|_| ())
    }

    /// A `table.column`.
    fn path(self, path: &str) -> Result<(), String> {
        let (table, column) =
            path.split_once('.').ok_or_else(|| format!("a `table.column` expected, `{path}` given"))?;
        self.column(table, column)
    }
}
