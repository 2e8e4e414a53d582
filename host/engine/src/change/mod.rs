//! One INSERT, UPDATE or DELETE: all of it or nothing, within the contract, and with the keys and
//! references of the schema as far as the holder can see.
//!
//! # What a holder is told of keys and references
//! A rule is checked against the rows and columns that its holder may read, and against nothing
//! else: an error that depended on a hidden row would tell of it.
//! - A key of which a column is hidden is not checked. Otherwise a new row must differ from every
//!   visible row. It may equal a hidden row: both then stand in the state, as in databases with
//!   several levels of secrecy.
//! - A reference must find a visible row, where the referenced columns may be read: a hidden row
//!   is as good as none. Where they may not be read, the reference is not checked.
//! - A row is kept while a visible row refers to it. What hidden rows refer to is not told.

use std::sync::Arc;

use gluesql_core::ast::{Expr, Projection, Query, SelectItem, SetExpr, Statement};
use gluesql_core::prelude::{Payload, Value as Cell};
use tribunal_contract::{TableGrant, WriteRule};
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Failure, Kind, Value};

use crate::cell::lossless;
use crate::gate::{Footprint, check};
use crate::guard::{Shown, Staged, text_length};
use crate::hoist::hoist;
use crate::native::MAX_TEXT;
use crate::run::{Request, granted, guard, no_table, planned, reading, require, run, translated};
use crate::sets::{self, Set};
use crate::store::{Row, RowNumber, TableState, Tables, condition, holds};
use crate::tick;
use crate::view::View;

mod edit;
mod keys;

pub use edit::{Edit, admit_change, edit};

/// What a change gave.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The state after it and how many rows it touched, or why there is none.
    pub result: Result<(Tables, u64), Failure>,
    /// Rows read from tables, failed statements included.
    pub rows_scanned: u64,
}

/// Runs one INSERT, UPDATE or DELETE on a fork; the state of the request is left as it is.
#[must_use]
pub fn change(request: Request<'_>) -> Changed {
    let mut rows_scanned = 0;
    Changed { result: apply(request, &mut rows_scanned), rows_scanned }
}

fn apply(request: Request<'_>, rows_scanned: &mut u64) -> Result<(Tables, u64), Failure> {
    let mut footprint = Footprint::default();
    let (write, sets) = admitted(request, &mut footprint)?;
    let staged = write.stage(request, &footprint, sets, rows_scanned)?;
    write.commit(request, staged)
}

/// What the gate and the contract make of a change, before anything of it runs.
fn admitted<'a>(request: Request<'a>, footprint: &mut Footprint) -> Result<(Write<'a>, Vec<Set>), Failure> {
    let sets = sets::admit(request, footprint)?;
    let mut statement = translated(request.statement, request)?;
    check(&mut statement, footprint)?;
    let Some(target) = footprint.target.clone() else {
        return Err(Failure::invalid("a change expected: INSERT, UPDATE or DELETE"));
    };
    let (table, grant) = granted(request, &target).ok_or_else(|| no_table(&target))?;
    Ok((Write::of(statement, table, grant)?, sets))
}

/// A change of one table.
struct Write<'a> {
    statement: Statement,
    verb: Verb,
    table: &'a TableState,
    grant: &'a TableGrant,
    rule: &'a WriteRule,
    /// For every cell that the engine gives, its place in the stored row.
    places: Vec<usize>,
    /// UPDATE: which of those cells are assigned.
    assigned: Vec<bool>,
}

/// A row before and after: inserted where it was not before, deleted where it is not after.
pub(crate) struct Rewritten {
    pub(crate) number: RowNumber,
    pub(crate) before: Option<Row>,
    pub(crate) after: Option<Row>,
}

impl<'a> Write<'a> {
    fn of(mut statement: Statement, table: &'a TableState, grant: &'a TableGrant) -> Result<Write<'a>, Failure> {
        let verb = match &statement {
            Statement::Insert { .. } => Verb::Insert,
            Statement::Update { .. } => Verb::Update,
            _ => Verb::Delete,
        };
        let name = &grant.schema.name;
        let rule = grant
            .rule(verb)
            .ok_or_else(|| Failure::denied(format!("the contract grants no {} on {name}", verb.name())))?;
        let (places, assigned) = match &mut statement {
            Statement::Insert { columns, source, .. } => {
                leave_out(columns, source, grant, rule);
                let places = inserted_places(columns, grant, rule)?;
                *columns = places.iter().map(|place| grant.schema.columns[*place].name.clone()).collect();
                (places, Vec::new())
            }
            Statement::Update { assignments, .. } => {
                let set: Vec<usize> = assignments
                    .iter()
                    .map(|assignment| settable(&assignment.id, grant, rule, verb))
                    .collect::<Result<_, _>>()?;
                let known = grant.known_places();
                let assigned = known.iter().map(|place| set.contains(place)).collect();
                (known, assigned)
            }
            _ => (grant.known_places(), Vec::new()),
        };
        Ok(Write { statement, verb, table, grant, rule, places, assigned })
    }

    /// Runs the statement on the guarded store, which keeps what it wants to write.
    fn stage(
        &self,
        request: Request<'_>,
        footprint: &Footprint,
        sets: Vec<Set>,
        rows_scanned: &mut u64,
    ) -> Result<Staged, Failure> {
        self.refuse_hidden_reads(footprint)?;
        let mut views = reading(request, footprint)?;
        let mut statement = match &self.statement {
            Statement::Insert { source, .. } if matches!(source.body, SetExpr::Select(_)) => {
                Statement::Query(source.clone())
            }
            statement => {
                let shown = Shown { table: self.table, grant: self.grant, view: self.view(footprint) };
                views.insert(self.grant.schema.name.clone(), shown);
                statement.clone()
            }
        };
        let mut guard = guard(request, views);
        let hoisted = sets::run_all(&mut guard, sets, footprint);
        let hoisted = hoisted.and_then(|()| hoist(&mut guard, &mut statement, footprint));
        let plan = hoisted.and_then(|()| planned(&guard, statement, &footprint.shape));
        *rows_scanned = guard.scanned().min(request.left.rows_scanned);
        let plan = tick::capped(plan?, request.left.rows_written.saturating_add(1));
        let payload = run(&mut guard, &plan);
        *rows_scanned = guard.scanned().min(request.left.rows_scanned);
        let mut staged = match payload? {
            Payload::Select { labels: _, rows } => Staged { inserted: rows, ..Staged::default() },
            _ => guard.into_staged(),
        };
        staged.updated.sort_by_key(|(number, _)| *number);
        staged.deleted.sort_unstable();
        Ok(staged)
    }

    /// What the engine is shown of the target.
    fn view(&self, footprint: &Footprint) -> View {
        if self.verb == Verb::Insert {
            return View::inserting(self.grant, &self.places);
        }
        let mut view = View::updating(self.table, self.grant);
        require(&mut view, self.grant, &self.grant.schema.name, footprint);
        view
    }

    /// A column that may be set but not read has no value here; nobody may compute with it.
    fn refuse_hidden_reads(&self, footprint: &Footprint) -> Result<(), Failure> {
        if self.verb == Verb::Insert {
            return Ok(());
        }
        let mut unread = self.grant.known_places().into_iter();
        let named = unread.find(|place| {
            let column = &self.grant.schema.columns[*place].name;
            let target = &self.grant.schema.name;
            !self.grant.readable.contains(place) && footprint.mentions(target, column)
        });
        named.map_or(Ok(()), |place| {
            let column = &self.grant.schema.columns[place].name;
            Err(Failure::denied(format!("column {column} may be set, not read")))
        })
    }

    /// The state with what was staged in it, where budget, contract, keys and references let it be.
    fn commit(&self, request: Request<'_>, staged: Staged) -> Result<(Tables, u64), Failure> {
        let touched = (staged.inserted.len() + staged.updated.len() + staged.deleted.len()) as u64;
        if touched > request.left.rows_written {
            return Err(Failure::quota(format!(
                "the statement touches {touched} rows, and {} may still be written",
                request.left.rows_written
            )));
        }
        let mut tables = request.tables.clone();
        let changed = self.write(staged, &mut tables)?;
        keys::check(request, &tables, &self.grant.schema.name, &changed)?;
        Ok((tables, touched))
    }

    /// Writes to a fork what the contract allows.
    fn write(&self, mut staged: Staged, tables: &mut Tables) -> Result<Vec<Rewritten>, Failure> {
        let name = &self.grant.schema.name;
        let table = tables.table_mut(name).ok_or_else(|| no_table(name))?;
        self.put_in_order(&mut staged, table);
        let mut changed = Vec::new();
        let mut numbering = match staged.inserted.is_empty() {
            true => None,
            false => self.numbering(table),
        };
        for cells in staged.inserted {
            let after = self.inserted(cells, &mut numbering)?;
            changed.push(Rewritten { number: table.next, before: None, after: Some(Arc::clone(&after)) });
            table.append(after);
        }
        for (number, cells) in staged.updated {
            let Some(before) = table.row(number).cloned() else { continue };
            let after = self.updated(&before, cells)?;
            table.put(number, Arc::clone(&after));
            changed.push(Rewritten { number, before: Some(before), after: Some(after) });
        }
        for number in staged.deleted {
            let Some(before) = table.row(number).cloned() else { continue };
            self.permit(&before, "rows that may not be deleted")?;
            table.remove(number);
            changed.push(Rewritten { number, before: Some(before), after: None });
        }
        Ok(changed)
    }

    /// The first row that may not be changed decides what the holder reads.
    fn put_in_order(&self, staged: &mut Staged, table: &TableState) {
        let order = |a: &RowNumber, b: &RowNumber| table.order_for(self.grant, *a, *b);
        staged.updated.sort_by(|(a, _), (b, _)| order(a, b));
        staged.deleted.sort_by(order);
    }

    fn inserted(&self, cells: Vec<Cell>, numbering: &mut Option<(usize, i64)>) -> Result<Row, Failure> {
        if cells.len() != self.places.len() {
            return Err(Failure::invalid(format!("{} values expected, {} given", self.places.len(), cells.len())));
        }
        let mut row = vec![Cell::Null; self.grant.schema.columns.len()];
        for (place, cell) in self.places.iter().zip(cells) {
            row[*place] = self.fitted(*place, cell)?;
        }
        if let Some((place, number)) = numbering
            && matches!(row[*place], Cell::Null)
        {
            row[*place] = Cell::I64(*number);
            *number = number.saturating_add(1);
        }
        self.require(&row)?;
        self.permit(&row, "a new row that may not be inserted")?;
        Ok(row.into())
    }

    fn updated(&self, before: &Row, cells: Vec<Cell>) -> Result<Row, Failure> {
        self.permit(before, "rows that may not be updated")?;
        let mut row = before.to_vec();
        for ((place, assigned), cell) in self.places.iter().zip(&self.assigned).zip(cells) {
            if *assigned {
                row[*place] = self.fitted(*place, cell)?;
            }
        }
        self.require(&row)?;
        self.permit(&row, "a new value that it may not get")?;
        Ok(row.into())
    }

    /// The cell as its column's kind; nothing is rounded or cut.
    fn fitted(&self, place: usize, cell: Cell) -> Result<Cell, Failure> {
        let column = &self.grant.schema.columns[place];
        if text_length(&cell) > MAX_TEXT {
            return Err(Failure::quota(format!("column {}: a text may have {} KiB", column.name, MAX_TEXT >> 10)));
        }
        lossless(cell, column.kind)
            .ok_or_else(|| Failure::invalid(format!("column {} takes {}", column.name, column.kind)))
    }

    /// The place and the next number of the primary key, where it is one whole number: a row that
    /// leaves it out gets one more than the largest that the holder can see, or than the largest
    /// of all where the holder cannot see it at all.
    fn numbering(&self, table: &TableState) -> Option<(usize, i64)> {
        let schema = &self.grant.schema;
        let [key] = schema.primary_key.as_slice() else { return None };
        let place = schema.column_index(key)?;
        if schema.columns.get(place)?.kind != Kind::Integer {
            return None;
        }
        let rule = self.grant.rows.as_ref().filter(|_| self.grant.readable.contains(&place));
        Some((place, table.largest(place, rule).unwrap_or(0).saturating_add(1)))
    }

    fn require(&self, row: &[Cell]) -> Result<(), Failure> {
        let schema = &self.grant.schema;
        let columns = schema.columns.iter().zip(row).enumerate();
        for (place, (column, cell)) in columns {
            let required = !column.nullable || schema.primary_key.contains(&column.name);
            if required && matches!(cell, Cell::Null) {
                let hidden = !self.grant.known_places().contains(&place);
                let which = if hidden { "a column that the contract hides" } else { &column.name };
                return Err(Failure::invalid(format!("{which} must not be NULL")));
            }
        }
        Ok(())
    }

    /// The rows that the contract lets this verb touch, and leave behind.
    fn permit(&self, row: &[Cell], what: &str) -> Result<(), Failure> {
        let permitted = self.rule.rows.as_ref().is_none_or(|rule| holds(&condition(rule), row));
        if permitted {
            return Ok(());
        }
        Err(Failure::denied(format!("the statement touches {what} in {}", self.grant.schema.name)))
    }
}

/// Takes out columns that may not be set and are NULL in every row: nobody sets them.
fn leave_out(columns: &mut Vec<String>, source: &mut Query, grant: &TableGrant, rule: &WriteRule) {
    let forbidden = |name: &String| {
        let place = grant.schema.column_index(name);
        place.is_some_and(|place| !rule.columns.contains(&place))
    };
    for index in (0..columns.len()).rev() {
        if columns.get(index).is_some_and(forbidden) && is_null_throughout(source, index) {
            columns.remove(index);
            remove(source, index);
        }
    }
}

fn is_null_throughout(source: &Query, index: usize) -> bool {
    let is_null = |expression: &Expr| matches!(expression, Expr::Value(Cell::Null));
    match &source.body {
        SetExpr::Values(values) => values.0.iter().all(|row| row.get(index).is_some_and(is_null)),
        SetExpr::Select(select) => {
            let Projection::SelectItems(items) = &select.projection;
            matches!(items.get(index), Some(SelectItem::Expr { expr, .. }) if is_null(expr))
        }
    }
}

fn remove(source: &mut Query, index: usize) {
    match &mut source.body {
        SetExpr::Values(values) => values.0.iter_mut().for_each(|row| drop(row.remove(index))),
        SetExpr::Select(select) => {
            let Projection::SelectItems(items) = &mut select.projection;
            items.remove(index);
        }
    }
}

fn inserted_places(columns: &[String], grant: &TableGrant, rule: &WriteRule) -> Result<Vec<usize>, Failure> {
    if columns.is_empty() {
        return Ok(rule.columns.clone());
    }
    let mut places = Vec::with_capacity(columns.len());
    for column in columns {
        let place = settable(column, grant, rule, Verb::Insert)?;
        if places.contains(&place) {
            return Err(Failure::invalid(format!("column {column} stands twice")));
        }
        places.push(place);
    }
    Ok(places)
}

/// The place of a column that a verb may set; a hidden one is as unknown as an absent one.
fn settable(column: &str, grant: &TableGrant, rule: &WriteRule, verb: Verb) -> Result<usize, Failure> {
    let name = &grant.schema.name;
    let place = grant.schema.column_index(column);
    match place {
        Some(place) if rule.columns.contains(&place) => Ok(place),
        Some(place) if grant.known_places().contains(&place) => {
            Err(Failure::denied(format!("the contract grants no {} of {name}.{column}", verb.name())))
        }
        _ => Err(Failure::unknown(format!("no column {column} in {name}"))),
    }
}

/// A value for a message.
pub(crate) fn shown(cell: &Cell) -> String {
    crate::cell::to_value(cell).unwrap_or(Value::Null).to_string()
}
