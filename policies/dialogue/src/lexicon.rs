//! The names that SQL may use: what a contract shows, and names for what a query computes.

use std::collections::{BTreeMap, BTreeSet};

/// Tables, their columns, and names of computed columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexicon {
    tables: BTreeMap<String, BTreeSet<String>>,
    computed: BTreeSet<String>,
}

/// As [`Lexicon::new`].
impl Default for Lexicon {
    fn default() -> Lexicon {
        Lexicon::new()
    }
}

impl Lexicon {
    /// Names for computed columns that fit any schema.
    pub const COMMON: [&'static str; 16] = [
        "amount", "average", "back", "category", "cohort", "count", "day", "key", "member", "month", "name", "owner",
        "rate", "score", "total", "value",
    ];

    /// No tables; the common names for computed columns.
    #[must_use]
    pub fn new() -> Lexicon {
        let computed = Lexicon::COMMON.map(str::to_owned).into();
        Lexicon { tables: BTreeMap::new(), computed }
    }

    /// Adds a table with its columns; twice, both sets of columns count.
    pub fn add<'a>(&mut self, table: &str, columns: impl IntoIterator<Item = &'a str>) {
        let known = self.tables.entry(table.to_owned()).or_default();
        known.extend(columns.into_iter().map(str::to_owned));
    }

    /// Adds a name that a query may give to a computed column and use elsewhere in itself, such as
    /// a column of the wanted answer.
    pub fn name(&mut self, name: &str) {
        self.computed.insert(name.to_owned());
    }

    /// The tables in order.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// Every table with its columns, in order.
    pub fn columns_by_table(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.tables.iter().map(|(table, columns)| (table.as_str(), columns))
    }

    /// Every column of every table, once, in order.
    #[must_use]
    pub fn columns(&self) -> BTreeSet<&str> {
        self.tables.values().flatten().map(String::as_str).collect()
    }

    /// The names of computed columns, in order.
    #[must_use]
    pub fn computed(&self) -> BTreeSet<&str> {
        self.computed.iter().map(String::as_str).collect()
    }
}
