//! Schemas: tables, columns, keys, references, traps and metrics.

use tribunal_protocol::value::Kind;

use super::{Checked, Tables, twice};
use crate::error::TasksError;
use crate::generate::METRICS_TABLE;
use crate::shape::{Shape, TableShape};
use crate::trap::Claim;

/// Refuses a schema whose names stand twice or lead nowhere.
pub(crate) fn shape(shape: &Shape, file: &str) -> Result<(), TasksError> {
    let fault = |(key, why): (String, String)| TasksError::invalid(file, key, why);
    if let Some(name) = twice(shape.tables.iter().map(|table| table.name.as_str())) {
        return Err(fault(("table".to_owned(), format!("`{name}` stands twice; rename one"))));
    }
    if let Some(name) = twice(shape.metrics.iter().map(|metric| metric.name.as_str())) {
        return Err(fault(("metric".to_owned(), format!("`{name}` stands twice; rename one"))));
    }
    let tables = Tables::of(shape);
    for table in &shape.tables {
        let place = |(key, why): (String, String)| fault((format!("table {}{key}", table.name), why));
        one_table(table, tables).map_err(place)?;
    }
    shape.traps.iter().try_for_each(|claim| one_trap(claim, tables)).map_err(fault)
}

fn one_table(table: &TableShape, tables: Tables<'_>) -> Checked {
    if table.name == METRICS_TABLE {
        let why = "this table is made of the [[metric]] entries; rename it, or write metrics";
        return Err((String::new(), why.to_owned()));
    }
    if let Some(name) = twice(table.columns.iter().map(|column| column.name.as_str())) {
        return Err((", columns".to_owned(), format!("`{name}` stands twice; rename one")));
    }
    if let Some(column) = table.columns.iter().find(|column| column.kind == Kind::Unknown) {
        let why = "a kind expected that cells can have: boolean, integer, float, decimal, text, date or timestamp";
        return Err((format!(", column {}, kind", column.name), why.to_owned()));
    }
    for (key, columns) in std::iter::once(("key", &table.key)).chain(table.unique.iter().map(|set| ("unique", set))) {
        for column in columns {
            table.index(column).map_err(|why| (format!(", {key}"), why))?;
        }
    }
    for (column, target) in &table.references {
        let at = |why| (", references".to_owned(), why);
        table.index(column).map_err(at)?;
        tables.path(target).map_err(at)?;
    }
    Ok(())
}

fn one_trap(claim: &Claim, tables: Tables<'_>) -> Checked {
    let at = |why| (format!("trap {:?} of {}", claim.trap, claim.table), why);
    tables.table(&claim.table).map_err(at)?;
    for column in claim.columns.iter().chain(claim.conditions.keys()) {
        tables.column(&claim.table, column).map_err(at)?;
    }
    Ok(())
}
