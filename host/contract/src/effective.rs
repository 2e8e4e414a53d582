//! What a session runs under.

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::{TableInfo, Verb};
use tribunal_protocol::value::Value;

use crate::budget::Allowance;
use crate::filter::{Condition, Filter};

/// A contract resolved against the tables of a database: what its holder may touch, by place.
#[derive(Clone, Debug)]
pub struct Effective {
    pub(crate) name: String,
    pub(crate) tables: BTreeMap<String, TableGrant>,
    pub(crate) allowance: Allowance,
    pub(crate) digest: Digest,
}

/// What may be done with one table; at least one thing.
#[derive(Clone, Debug)]
pub struct TableGrant {
    /// The whole table, hidden columns included.
    pub schema: Arc<TableSchema>,
    /// The places of the columns that may be read, in order; empty: the table cannot be read.
    pub readable: Vec<usize>,
    /// Which rows may be read; none: all.
    pub rows: Option<RowRule>,
    /// INSERT, where granted.
    pub insert: Option<WriteRule>,
    /// UPDATE, where granted.
    pub update: Option<WriteRule>,
    /// DELETE, where granted.
    pub delete: Option<WriteRule>,
    /// The table with the columns alone that may be read.
    pub shown: Arc<TableSchema>,
    /// The table with the columns alone that may be read or set.
    pub known: Arc<TableSchema>,
    /// As `known`, with every column nullable: what a change may leave out is told by the row
    /// that it makes, not by its text.
    pub changing: Arc<TableSchema>,
}

/// A row filter, as text and as a condition over the whole row.
#[derive(Clone, Debug)]
pub struct RowRule {
    /// The canonical text.
    pub text: String,
    /// The condition.
    pub condition: Condition<Value>,
}

/// What one write verb may do.
#[derive(Clone, Debug)]
pub struct WriteRule {
    /// The places of the columns that may be set, in order; empty for DELETE.
    pub columns: Vec<usize>,
    /// Which rows may be updated or deleted, and what a new row must satisfy; none: all.
    pub rows: Option<RowRule>,
}

impl RowRule {
    pub(crate) fn bind(filter: &Filter, schema: &TableSchema) -> Result<RowRule, String> {
        Ok(RowRule { text: filter.to_string(), condition: filter.bind(schema)? })
    }
}

impl TableGrant {
    /// The rule of a write verb; none where it is not granted, and for READ.
    #[must_use]
    pub fn rule(&self, verb: Verb) -> Option<&WriteRule> {
        match verb {
            Verb::Read => None,
            Verb::Insert => self.insert.as_ref(),
            Verb::Update => self.update.as_ref(),
            Verb::Delete => self.delete.as_ref(),
        }
    }

    /// The verbs that are granted.
    #[must_use]
    pub fn verbs(&self) -> Vec<Verb> {
        Verb::ALL
            .into_iter()
            .filter(|verb| match verb {
                Verb::Read => !self.readable.is_empty(),
                Verb::Insert | Verb::Update | Verb::Delete => self.rule(*verb).is_some(),
            })
            .collect()
    }

    /// Derives what the holder sees of the schema.
    pub(crate) fn complete(mut self) -> TableGrant {
        self.shown = Arc::new(narrowed(&self.schema, &self.readable));
        let known = narrowed(&self.schema, &self.known_places());
        let mut changing = known.clone();
        changing.columns.iter_mut().for_each(|column| column.nullable = true);
        self.known = Arc::new(known);
        self.changing = Arc::new(changing);
        self
    }

    /// The places of all columns that the holder knows of: those that may be read or set.
    #[must_use]
    pub fn known_places(&self) -> Vec<usize> {
        let set = [&self.insert, &self.update].into_iter().flatten();
        let mut places: Vec<usize> = set.flat_map(|rule| rule.columns.iter()).chain(&self.readable).copied().collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Whether the holder may not see the whole key, by which the rows of the table are numbered:
    /// then their order must not tell of it.
    #[must_use]
    pub fn hides_key(&self) -> bool {
        let is_readable = |name: &String| self.schema.column_index(name).is_some_and(|at| self.readable.contains(&at));
        !self.schema.primary_key.iter().all(is_readable)
    }

    /// The table as its holder sees it.
    #[must_use]
    pub fn info(&self) -> TableInfo {
        TableInfo {
            name: self.known.name.clone(),
            description: self.known.description.clone(),
            columns: self.known.columns.clone(),
            primary_key: self.known.primary_key.clone(),
            verbs: self.verbs(),
        }
    }

    pub(crate) fn hash(&self, hasher: &mut Hasher) {
        hasher.bytes(self.schema.name.as_bytes());
        let columns = |hasher: &mut Hasher, places: &[usize]| {
            hasher.number(places.len() as u64);
            for place in places {
                hasher.bytes(self.schema.columns[*place].name.as_bytes());
            }
        };
        let rows = |hasher: &mut Hasher, rows: Option<&RowRule>| {
            hasher.number(u64::from(rows.is_some()));
            hasher.bytes(rows.map_or("", |rule| rule.text.as_str()).as_bytes());
        };
        columns(hasher, &self.readable);
        rows(hasher, self.rows.as_ref());
        for rule in [&self.insert, &self.update, &self.delete] {
            hasher.number(u64::from(rule.is_some()));
            if let Some(rule) = rule {
                columns(hasher, &rule.columns);
                rows(hasher, rule.rows.as_ref());
            }
        }
    }
}

/// A schema with some of its columns. Of the keys it keeps what those columns can tell;
/// references may name what is hidden, and are left out.
fn narrowed(schema: &TableSchema, places: &[usize]) -> TableSchema {
    let columns: Vec<_> = places.iter().map(|place| schema.columns[*place].clone()).collect();
    let granted = |name: &String| columns.iter().any(|column| column.name == *name);
    let unique = schema.unique.iter().filter(|set| set.iter().all(granted));
    let primary_key = schema.primary_key.iter().filter(|name| granted(name));
    TableSchema {
        name: schema.name.clone(),
        description: schema.description.clone(),
        primary_key: primary_key.cloned().collect(),
        unique: unique.cloned().collect(),
        foreign_keys: Vec::new(),
        columns,
    }
}

impl Effective {
    /// The grant of a table, by name without case; an exact match goes first.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&TableGrant> {
        self.tables.get(name).or_else(|| {
            let mut grants = self.tables.values();
            grants.find(|grant| grant.schema.name.eq_ignore_ascii_case(name))
        })
    }

    /// The contract's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The grant of a table, by exact name; none where the contract says nothing of it.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableGrant> {
        self.tables.get(name)
    }

    /// Every granted table, by name.
    pub fn tables(&self) -> impl Iterator<Item = &TableGrant> {
        self.tables.values()
    }

    /// The budget.
    #[must_use]
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// The digest of all grants and budgets; the contract's name is no part of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}
