//! The gate: everything in a translated statement is allowed by name or refused. It looks at what
//! the engine will run, after every rewrite; no match here has an arm for "the rest", so that an
//! engine with a new construct does not compile until somebody decides about it.
#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

mod expression;
mod fold;
mod function;
mod query;
mod test;

use std::collections::{BTreeMap, BTreeSet};

use gluesql_core::ast::Statement;
use tribunal_protocol::Failure;

pub(crate) use self::test::{Candidate, Condition, Test};

/// What a statement that passed the gate touches.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    /// Every place in which it reads a table.
    pub(crate) sources: Vec<Source>,
    /// The table that it writes to.
    pub(crate) target: Option<String>,
    /// Names in expressions, without the source that they belong to.
    bare: BTreeSet<String>,
    /// Names in expressions, by the alias of their source.
    qualified: BTreeMap<String, BTreeSet<String>>,
    /// Aliases of sources all of whose columns are taken by position.
    whole: BTreeSet<String>,
    /// Whether the columns of all sources are taken by position.
    everything: bool,
    /// Conditions on one column that every row of a source must meet to matter.
    pub(crate) candidates: Vec<Candidate>,
    /// How its sources nest.
    pub(crate) shape: Shape,
    /// Names of results that it may read like tables.
    pub(crate) results: BTreeSet<String>,
}

/// One place in which a statement reads a table. The gate gives every place a name of its own, so
/// that the engine can be shown another part of the table in each.
#[derive(Debug)]
pub(crate) struct Source {
    /// The table.
    pub(crate) table: String,
    /// The name of the view that the engine reads in its place.
    pub(crate) view: String,
    /// The alias under which expressions name it.
    pub(crate) alias: String,
}

/// How the row sources of a statement nest: an upper bound of the rows that it combines is the
/// product over a FROM, times what runs inside it for every row.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// The views of this FROM.
    pub(crate) views: Vec<String>,
    /// Rows of VALUES lists in this FROM, each one factor.
    pub(crate) values: Vec<u64>,
    /// Derived tables of this FROM.
    pub(crate) derived: Vec<Shape>,
    /// Subqueries in its expressions.
    pub(crate) inner: Vec<Shape>,
}

impl Footprint {
    /// Whether a source's column matters.
    pub(crate) fn mentions(&self, alias: &str, column: &str) -> bool {
        let of_alias = self.qualified.get(alias);
        self.everything
            || self.bare.contains(column)
            || self.whole.contains(alias)
            || of_alias.is_some_and(|columns| columns.contains(column))
    }

    /// Whether an alias stands for one source and nothing else.
    pub(crate) fn is_unique(&self, alias: &str) -> bool {
        let sources = self.sources.iter().filter(|source| source.alias == alias);
        sources.count() + usize::from(self.target.as_deref() == Some(alias)) == 1
    }

    /// Lets a query through that is a part of the statement.
    pub(crate) fn admit(&mut self, statement: &mut Statement) -> Result<Shape, Failure> {
        check(statement, self)?;
        match self.target {
            None => Ok(std::mem::take(&mut self.shape)),
            Some(_) => Err(Failure::invalid("a query expected: SELECT ..")),
        }
    }

    /// The tables that it reads, by name.
    pub(crate) fn tables(&self) -> Vec<String> {
        let tables: BTreeSet<&String> = self.sources.iter().map(|source| &source.table).collect();
        tables.into_iter().cloned().collect()
    }
}

/// Lets a statement through, or says what it may not do. On the way every source gets its own
/// name, and constants are computed once.
pub(crate) fn check(statement: &mut Statement, footprint: &mut Footprint) -> Result<(), Failure> {
    match statement {
        Statement::Query(query) => {
            footprint.shape = footprint.query(query)?;
        }
        Statement::Insert { table_name, columns: _, source } => {
            footprint.target = Some(table_name.clone());
            footprint.shape = footprint.query(source)?;
        }
        Statement::Update { table_name, assignments, selection } => {
            footprint.target = Some(table_name.clone());
            let mut shape = Shape::table(table_name);
            for assignment in assignments {
                footprint.expression(&mut assignment.value, &mut shape.inner)?;
            }
            footprint.expressions(selection.as_mut(), &mut shape.inner)?;
            footprint.test(selection.as_ref(), &[table_name]);
            footprint.shape = shape;
        }
        Statement::Delete { table_name, selection } => {
            footprint.target = Some(table_name.clone());
            let mut shape = Shape::table(table_name);
            footprint.expressions(selection.as_mut(), &mut shape.inner)?;
            footprint.test(selection.as_ref(), &[table_name]);
            footprint.shape = shape;
        }
        Statement::ShowColumns { .. } | Statement::ShowVariable(_) | Statement::ShowIndexes(_) => {
            return Err(Failure::unsupported("SHOW is not supported"));
        }
        Statement::CreateTable { .. }
        | Statement::CreateFunction { .. }
        | Statement::AlterTable { .. }
        | Statement::DropTable { .. }
        | Statement::DropFunction { .. }
        | Statement::CreateIndex { .. }
        | Statement::DropIndex { .. } => {
            return Err(Failure::denied("the schema cannot be changed"));
        }
        Statement::StartTransaction | Statement::Commit | Statement::Rollback => {
            return Err(Failure::unsupported("transactions are not supported; every statement is one"));
        }
    }
    Ok(())
}

impl Shape {
    fn table(name: &str) -> Shape {
        Shape { views: vec![name.to_owned()], ..Shape::default() }
    }

    /// An upper bound of the rows that are combined, from the rows of every view.
    pub(crate) fn bound(&self, rows: &impl Fn(&str) -> u64) -> u64 {
        let views = self.views.iter().map(|view| rows(view));
        let derived = self.derived.iter().map(|shape| shape.bound(rows));
        let factors = views.chain(self.values.iter().copied()).chain(derived);
        let product = factors.fold(1_u64, |product, rows| product.saturating_mul(rows.max(1)));
        let inner = self.inner.iter().map(|shape| shape.bound(rows));
        let inner = inner.fold(0_u64, u64::saturating_add);
        product.saturating_add(product.saturating_mul(inner))
    }
}
