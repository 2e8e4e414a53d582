//! A contract as its author states it.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_protocol::digest::Digest;
use tribunal_protocol::session::Verb;

use crate::budget::Budget;
use crate::filter::Filter;

/// Which columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// `["*"]`: all that the table has.
    All,
    /// Those named; none is a grant of nothing.
    Only(BTreeSet<String>),
}

impl Columns {
    /// Those in both.
    #[must_use]
    pub fn intersect(&self, other: &Columns) -> Columns {
        match (self, other) {
            (Columns::All, one) | (one, Columns::All) => one.clone(),
            (Columns::Only(a), Columns::Only(b)) => Columns::Only(a.intersection(b).cloned().collect()),
        }
    }
}

/// What may be read of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGrant {
    /// The columns.
    pub columns: Columns,
    /// Which rows; none: all.
    pub rows: Option<Filter>,
}

/// What may be written to a table by one verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteGrant {
    /// The columns that may be set; of no matter to DELETE.
    pub columns: Columns,
    /// Which existing rows may be updated or deleted, and what a new row must satisfy; none: all.
    pub rows: Option<Filter>,
}

/// A contract. It says nothing of tables that it does not name, and grants nothing of them.
///
/// An entry with `table = "*"` stands for every table that has no entry of its own; an entry of
/// a table's own replaces it, also where it grants less.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// Its names: one as written, several after an intersection.
    pub names: BTreeSet<String>,
    /// Read grants by table; `*` is every table without its own.
    pub read: BTreeMap<String, ReadGrant>,
    /// Write grants by table and verb; `*` is every table without its own.
    pub write: BTreeMap<String, BTreeMap<Verb, WriteGrant>>,
    /// The budget.
    pub budget: Budget,
}

/// The table name that stands for every table without an entry of its own.
pub(crate) const ANY: &str = "*";

impl Contract {
    /// The names, joined by ` & `.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        names.join(" & ")
    }

    /// What may be read of `table`.
    #[must_use]
    pub fn read_of(&self, table: &str) -> Option<&ReadGrant> {
        self.read.get(table).or_else(|| self.read.get(ANY))
    }

    /// What may be written to `table`.
    #[must_use]
    pub fn write_of(&self, table: &str) -> Option<&BTreeMap<Verb, WriteGrant>> {
        self.write.get(table).or_else(|| self.write.get(ANY))
    }

    /// The digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.to_toml().as_bytes())
    }
}
