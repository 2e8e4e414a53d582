//! From the engine's rows to a table.

use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::table::{Column, ColumnBuilder};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Kind, Table, Value};

use crate::cell::{lossless, to_value};
use crate::run::Selected;

/// Builds the table of a result, within what may still be returned.
pub(crate) fn build(
    selected: Selected,
    kinds: &[Option<Kind>],
    names: &[String],
    left: &Usage,
) -> Result<Table, Failure> {
    let Selected { labels, mut rows } = selected;
    if rows.len() as u64 > left.rows_returned {
        return Err(Failure::quota(format!(
            "the result has more than the {} rows that may still be returned; add LIMIT or aggregate",
            left.rows_returned
        )));
    }
    let mut columns = Vec::with_capacity(labels.len());
    for (place, label) in labels.iter().enumerate() {
        let name = names.get(place).unwrap_or(label);
        let kind = match kinds.get(place).copied().flatten() {
            Some(kind) => kind,
            None => inferred(&rows, place),
        };
        columns.push(column(name, kind, &mut rows, place)?);
    }
    let table = Table { rows: rows.len(), columns };
    if table.bytes() > left.bytes_returned {
        return Err(Failure::quota(format!(
            "the result is larger than the {} bytes that may still be returned; select fewer \
             columns or rows",
            left.bytes_returned
        )));
    }
    Ok(table)
}

fn column(name: &str, kind: Kind, rows: &mut [Vec<Cell>], place: usize) -> Result<Column, Failure> {
    let mut builder = ColumnBuilder::new(name, kind, rows.len());
    for row in rows {
        let cell = row.get_mut(place).map_or(Cell::Null, |cell| std::mem::replace(cell, Cell::Null));
        let value = value_of(cell, kind)
            .map_err(|what| Failure::unsupported(format!("column {name} of the result is {what}; cast it")))?;
        builder.push(&value).map_err(|_| Failure::unsupported(format!("column {name} mixes kinds; cast it")))?;
    }
    Ok(builder.finish())
}

fn value_of(cell: Cell, kind: Kind) -> Result<Value, &'static str> {
    let value = to_value(&cell)?;
    if value.is_null() || value.kind() == kind {
        return Ok(value);
    }
    match lossless(cell, kind) {
        Some(cell) => to_value(&cell),
        None => Ok(value),
    }
}

/// The kind that holds every value of a column: numbers unify to the wider one, NULL fits all.
fn inferred(rows: &[Vec<Cell>], place: usize) -> Kind {
    let kinds = rows.iter().filter_map(|row| {
        let value = row.get(place).map(to_value)?.ok()?;
        (!value.is_null()).then(|| value.kind())
    });
    kinds.fold(Kind::Unknown, |so_far, kind| match (so_far, kind) {
        (Kind::Unknown, kind) => kind,
        (Kind::Integer, Kind::Float | Kind::Decimal) => kind,
        (Kind::Decimal, Kind::Float) => Kind::Float,
        (Kind::Date, Kind::Timestamp) => Kind::Timestamp,
        (so_far, _) => so_far,
    })
}
