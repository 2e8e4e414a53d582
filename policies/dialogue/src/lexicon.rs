//! The names that SQL may use: what a contract shows.

use std::collections::{BTreeMap, BTreeSet};

/// Tables and their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    tables: BTreeMap<String, BTreeSet<String>>,
}

impl Lexicon {
    /// No names.
    #[must_use]
    pub fn new() -> Lexicon {
        Lexicon::default()
    }

    /// Adds a table with its columns; twice, both sets of columns count.
    pub fn add<'a>(&mut self, table: &str, columns: impl IntoIterator<Item = &'a str>) {
        let known = self.tables.entry(table.to_owned()).or_default();
        known.extend(columns.into_iter().map(str::to_owned));
    }

    /// The tables in order.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// Every column of every table, once, in order.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&str> {
        self.tables.values().flatten().map(String::as_str).collect()
    }
}
