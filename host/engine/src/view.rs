//! What the engine is shown of one table during one statement.

use gluesql_core::ast::ColumnDef;
use gluesql_core::data::Schema;
use gluesql_core::prelude::Value as Cell;
use tribunal_contract::TableGrant;
use tribunal_protocol::Kind;
use tribunal_protocol::schema::ColumnSchema;

use crate::cell::data_type;
use crate::check::Check;
use crate::gate::{Condition, Test};
use crate::store::{RowFilter, TableState};

/// The columns and rows of one table that the engine is shown.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// What the engine believes the table to be.
    pub(crate) schema: Schema,
    /// For every column there, its place in the stored row; none: it may be set, not read.
    pub(crate) places: Vec<Option<usize>>,
    /// Which rows.
    pub(crate) filter: Option<RowFilter>,
    /// What a row must meet to matter to the statement.
    pub(crate) checks: Vec<Check>,
}

impl View {
    /// What a source of a query shows: the granted rows, and of the granted columns those that
    /// `shown` lets through. A column that nobody mentions cannot matter, and is not copied.
    pub(crate) fn reading(table: &TableState, grant: &TableGrant, shown: impl Fn(&str) -> bool) -> View {
        let shown = |place: &usize| shown(&grant.schema.columns[*place].name);
        let places: Vec<usize> = grant.readable.iter().copied().filter(shown).collect();
        View {
            schema: schema(grant, &places),
            places: places.into_iter().map(Some).collect(),
            filter: grant.rows.as_ref().map(|rule| table.filter(rule)),
            checks: Vec::new(),
        }
    }

    /// What UPDATE and DELETE see of their target: what may be read, and the columns that may
    /// only be set, as NULL.
    pub(crate) fn updating(table: &TableState, grant: &TableGrant) -> View {
        let known = grant.known_places();
        let readable = |place: &usize| grant.readable.contains(place).then_some(*place);
        View {
            schema: schema(grant, &known),
            places: known.iter().map(readable).collect(),
            filter: grant.rows.as_ref().map(|rule| table.filter(rule)),
            checks: Vec::new(),
        }
    }

    /// What INSERT sees of its target: the columns that may be set.
    pub(crate) fn inserting(grant: &TableGrant, columns: &[usize]) -> View {
        View {
            schema: schema(grant, columns),
            places: columns.iter().map(|_| None).collect(),
            filter: None,
            checks: Vec::new(),
        }
    }

    /// Adds what a row must meet, where the store can tell exactly as the engine would; says
    /// whether it could.
    pub(crate) fn require(&mut self, grant: &TableGrant, column: &str, test: &Test) -> bool {
        let check = readable(grant, column).and_then(|(place, kind)| Check::of(place, kind, test));
        let added = check.is_some();
        self.checks.extend(check);
        added
    }

    /// The same of conditions under AND and OR.
    pub(crate) fn require_all_of(&mut self, grant: &TableGrant, condition: &Condition) -> bool {
        let check = Check::all_of(condition, &|column| readable(grant, column));
        let added = check.is_some();
        self.checks.extend(check);
        added
    }

    /// What it takes to check a row, in parts of expressions.
    pub(crate) fn work(&self, row: &[Cell]) -> u64 {
        self.checks.iter().map(|check| check.work(row)).fold(0, u64::saturating_add)
    }

    /// Whether a stored row can matter.
    pub(crate) fn matters(&self, row: &[Cell]) -> bool {
        self.checks.iter().all(|check| check.holds(row))
    }

    /// The cells of a stored row that the engine is shown.
    pub(crate) fn project(&self, row: &[Cell]) -> Vec<Cell> {
        let cell = |place: &Option<usize>| {
            let stored = place.and_then(|place| row.get(place));
            stored.cloned().unwrap_or(Cell::Null)
        };
        self.places.iter().map(cell).collect()
    }
}

/// The place and the kind of a column that may be read.
fn readable(grant: &TableGrant, column: &str) -> Option<(usize, Kind)> {
    let place = grant.schema.column_index(column).filter(|place| grant.readable.contains(place))?;
    Some((place, grant.schema.columns.get(place)?.kind))
}

fn schema(grant: &TableGrant, places: &[usize]) -> Schema {
    let column = |place: &usize| definition(&grant.schema.columns[*place]);
    Schema {
        table_name: grant.schema.name.clone(),
        column_defs: Some(places.iter().map(column).collect()),
        indexes: Vec::new(),
        engine: None,
        foreign_keys: Vec::new(),
        comment: None,
    }
}

/// The schema of a result; the kinds of its columns are of no matter to a query.
pub(crate) fn anonymous(name: &str, labels: Vec<String>) -> Schema {
    let column = |name| ColumnDef {
        name,
        data_type: data_type(Kind::Unknown),
        nullable: true,
        default: None,
        unique: None,
        comment: None,
    };
    Schema {
        table_name: name.to_owned(),
        column_defs: Some(labels.into_iter().map(column).collect()),
        indexes: Vec::new(),
        engine: None,
        foreign_keys: Vec::new(),
        comment: None,
    }
}

/// Every column is nullable and none is a key: what must hold is ours to enforce, so that no
/// message of the engine can tell of a hidden row.
fn definition(column: &ColumnSchema) -> ColumnDef {
    ColumnDef {
        name: column.name.clone(),
        data_type: data_type(column.kind),
        nullable: true,
        default: None,
        unique: None,
        comment: None,
    }
}
