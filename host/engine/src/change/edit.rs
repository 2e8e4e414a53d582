//! A change whose rows another engine worked out: what it may do to the state is decided here, by
//! the rules that hold for every change.

use gluesql_core::ast::{Assignment, Expr, Query, SetExpr, Statement, Values};
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::{Failure, Value};

use super::{Write, admitted};
use crate::cell::to_cell;
use crate::gate::Footprint;
use crate::guard::Staged;
use crate::run::{Request, granted, no_table, reading};
use crate::store::{RowNumber, Tables};

/// What a change wants to do to one table. Rows go by their number in the table.
#[derive(Clone, Debug)]
pub enum Edit {
    /// New rows.
    Insert {
        /// The columns that they give.
        columns: Vec<String>,
        /// Their values, in the order of those columns.
        rows: Vec<Vec<Value>>,
    },
    /// New values in rows.
    Update {
        /// The columns that are assigned.
        columns: Vec<String>,
        /// Which rows, and what they get.
        rows: Vec<(u64, Vec<Value>)>,
    },
    /// Rows that go.
    Delete {
        /// Which.
        rows: Vec<u64>,
    },
}

/// Lets a prepared change through the gate and the contract without running it.
///
/// # Errors
/// What [`super::change`] would have refused before its first row.
pub fn admit_change(request: Request<'_>) -> Result<(), Failure> {
    let mut footprint = Footprint::default();
    let (write, _) = admitted(request, &mut footprint)?;
    write.refuse_hidden_reads(&footprint)?;
    reading(request, &footprint).map(drop)
}

/// The state with an edit in it, all of it or nothing, and how many rows it touched; the state of
/// the request is left as it is.
///
/// # Errors
/// What the contract, the budget, the kinds, NOT NULL, the keys or the references forbid.
pub fn edit(request: Request<'_>, table: &str, edit: Edit) -> Result<(Tables, u64), Failure> {
    let (state, grant) = granted(request, table).ok_or_else(|| no_table(table))?;
    let mut write = Write::of(shape(table, &edit)?, state, grant)?;
    let staged = match edit {
        Edit::Insert { .. } => Staged { inserted: take_values(&mut write.statement), ..Staged::default() },
        Edit::Update { columns, rows } => {
            let mut updated: Vec<(RowNumber, Vec<Cell>)> = Vec::with_capacity(rows.len());
            for (number, values) in rows {
                updated.push((number, write.assigned_cells(&columns, &values)?));
            }
            Staged { updated, ..Staged::default() }
        }
        Edit::Delete { rows: deleted } => Staged { deleted, ..Staged::default() },
    };
    write.commit(request, staged)
}

impl Write<'_> {
    /// The cells of an updated row, in the order of `places`.
    fn assigned_cells(&self, columns: &[String], values: &[Value]) -> Result<Vec<Cell>, Failure> {
        let mut cells = vec![Cell::Null; self.places.len()];
        for (column, value) in columns.iter().zip(values) {
            let place = self.grant.schema.column_index(column);
            let index = place.and_then(|place| self.places.iter().position(|known| *known == place));
            if let Some(slot) = index.and_then(|index| cells.get_mut(index)) {
                *slot = cell(value)?;
            }
        }
        Ok(cells)
    }
}

/// The statement that an edit comes from, as far as the rules of changes ask for it.
fn shape(table: &str, edit: &Edit) -> Result<Statement, Failure> {
    let table_name = table.to_owned();
    Ok(match edit {
        Edit::Insert { columns, rows } => {
            let row = |row: &Vec<Value>| row.iter().map(|value| Ok(Expr::Value(cell(value)?))).collect();
            let rows: Vec<Vec<Expr>> = rows.iter().map(row).collect::<Result<_, Failure>>()?;
            let source = Query { body: SetExpr::Values(Values(rows)), order_by: Vec::new(), limit: None, offset: None };
            Statement::Insert { table_name, columns: columns.clone(), source }
        }
        Edit::Update { columns, .. } => {
            let assignment = |column: &String| Assignment { id: column.clone(), value: Expr::Value(Cell::Null) };
            Statement::Update { table_name, assignments: columns.iter().map(assignment).collect(), selection: None }
        }
        Edit::Delete { .. } => Statement::Delete { table_name, selection: None },
    })
}

fn take_values(statement: &mut Statement) -> Vec<Vec<Cell>> {
    let Statement::Insert { source, .. } = statement else { return Vec::new() };
    let SetExpr::Values(Values(rows)) = &mut source.body else { return Vec::new() };
    let cell = |expression: Expr| match expression {
        Expr::Value(cell) => cell,
        _ => Cell::Null,
    };
    std::mem::take(rows).into_iter().map(|row| row.into_iter().map(cell).collect()).collect()
}

fn cell(value: &Value) -> Result<Cell, Failure> {
    to_cell(value).ok_or_else(|| Failure::invalid("a date is outside the calendar"))
}
