//! SQL as syntax: parse one statement within caps, refuse what the engine would drop, resolve every
//! name, and rewrite until the engine's answer is the right one. The only crate that names
//! sqlparser; it knows no engine and no data.

mod aggregates;
mod arith;
mod casts;
mod change;
mod compare;
mod cond;
mod date_calls;
mod dates;
mod emit;
mod expr;
mod formats;
mod from;
mod functions;
mod grouping;
mod like;
mod lint;
mod logic;
mod numbers;
mod parse;
mod query;
mod rewrite;
mod scope;
mod select;
mod sets;
mod sqlite;
mod texts;
mod types;
mod walk;

use std::collections::BTreeSet;

pub use sqlparser::ast;
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::{Failure, Kind, Value};

pub use crate::parse::parse_query;
pub use crate::sqlite::{SqliteChange, SqliteQuery, row_number, sqlite_change, sqlite_query, to_sqlite};

/// What the holder of a session may see, as far as SQL needs to know it.
pub trait Catalog {
    /// The table of that name, case ignored; the schema carries the exact name.
    fn table(&self, name: &str) -> Option<&TableSchema>;

    /// What `now` is: days since 1970-01-01.
    fn clock(&self) -> i32;
}

/// How the rows of two queries are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The rows of both.
    Union,
    /// The rows that both have.
    Intersect,
    /// The rows of the first that the second lacks.
    Except,
}

/// A set operation: both queries run, and their rows, combined, are a table for what comes after.
#[derive(Clone, Debug)]
pub struct SetOperation {
    /// The name of that table; its columns are `c1`, `c2`, ..
    pub name: String,
    /// Which.
    pub combine: Combine,
    /// Whether rows count as often as they stand there.
    pub all: bool,
    /// The query on the left.
    pub left: ast::Query,
    /// The query on the right.
    pub right: ast::Query,
    /// How many columns both have.
    pub columns: usize,
}

/// A statement that may run: every name resolved, every literal typed.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What the engine must run, as it stands.
    pub statement: ast::Statement,
    /// What must run before, in this order.
    pub sets: Vec<SetOperation>,
    /// The kind of every output column of a query; none where it is not known beforehand.
    pub kinds: Vec<Option<Kind>>,
    /// The name of every output column of a query.
    pub names: Vec<String>,
    /// Exact names of the tables that the statement touches.
    pub tables: BTreeSet<String>,
}

/// Prepares one query.
///
/// # Errors
/// A failure as the agent may read it.
pub fn prepare_query(sql: &str, catalog: &dyn Catalog, parameters: &[Value]) -> Result<Prepared, Failure> {
    let statement = parse_query(sql)?;
    let ast::Statement::Query(query) = &statement else {
        return Err(Failure::invalid("a query expected: SELECT .."));
    };
    let mut rewriter = rewrite::Rewriter::new(catalog, parameters);
    let selected = rewriter.query(query, None)?;
    let known = |kind: Kind| (kind != Kind::Unknown).then_some(kind);
    Ok(Prepared {
        statement: ast::Statement::Query(Box::new(selected.query)),
        kinds: selected.columns.iter().map(|column| known(column.kind)).collect(),
        names: selected.columns.into_iter().map(|column| column.name).collect(),
        sets: rewriter.sets,
        tables: rewriter.tables,
    })
}

/// Prepares one INSERT, UPDATE or DELETE.
///
/// # Errors
/// A failure as the agent may read it.
pub fn prepare_change(sql: &str, catalog: &dyn Catalog, parameters: &[Value]) -> Result<Prepared, Failure> {
    let statement = parse::parse_change(sql)?;
    let mut rewriter = rewrite::Rewriter::new(catalog, parameters);
    let statement = rewriter.change(&statement)?;
    Ok(Prepared { statement, sets: rewriter.sets, kinds: Vec::new(), names: Vec::new(), tables: rewriter.tables })
}
