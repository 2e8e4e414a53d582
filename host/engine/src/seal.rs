//! From a dataset to the first state of a database.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::schema::{Dataset, TableData, TableSchema};
use tribunal_protocol::value::{Kind, Value};

use crate::cell::to_cell;
use crate::index::content_of;
use crate::store::{Row, TableState, Tables};

/// What can be wrong with a dataset. Rows are counted from 1, as given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Two tables of one name, or names that differ in case alone.
    #[error("table {0:?} stands twice; names must differ by more than case")]
    TableTwice(String),
    /// A schema that contradicts itself.
    #[error("table {table:?}: {message}")]
    Schema {
        /// The table.
        table: String,
        /// What is wrong.
        message: String,
    },
    /// A row that does not fit its table.
    #[error("table {table:?}, row {row}: {message}")]
    Row {
        /// The table.
        table: String,
        /// From 1.
        row: usize,
        /// What is wrong.
        message: String,
    },
}

impl Tables {
    /// Checks a dataset and makes it the first state of a database: names, kinds, NOT NULL, keys
    /// and references.
    ///
    /// # Errors
    /// What is wrong, with the table and the row.
    pub fn from_dataset(dataset: &Dataset) -> Result<Tables, SealError> {
        let mut tables = BTreeMap::new();
        let mut names = HashMap::new();
        for data in &dataset.tables {
            let name = &data.schema.name;
            if names.insert(name.to_lowercase(), name).is_some() {
                return Err(SealError::TableTwice(name.clone()));
            }
            check_schema(&data.schema, dataset)?;
            tables.insert(name.clone(), seal_table(data)?);
        }
        for data in &dataset.tables {
            check_references(data, &tables)?;
        }
        Ok(Tables { tables: Arc::new(tables), clock: dataset.clock })
    }
}

fn check_schema(schema: &TableSchema, dataset: &Dataset) -> Result<(), SealError> {
    let wrong = |message: String| Err(SealError::Schema { table: schema.name.clone(), message });
    let mut names = HashMap::new();
    for column in &schema.columns {
        if names.insert(column.name.to_lowercase(), ()).is_some() {
            return wrong(format!("column {:?} stands twice", column.name));
        }
        if column.kind == Kind::Unknown {
            return wrong(format!("column {:?} has no kind", column.name));
        }
    }
    let keys = std::iter::once(&schema.primary_key).chain(&schema.unique);
    let references = schema.foreign_keys.iter().map(|key| &key.columns);
    for name in keys.chain(references).flatten() {
        if schema.column_index(name).is_none() {
            return wrong(format!("a key names column {name:?}, which the table lacks"));
        }
    }
    for key in &schema.foreign_keys {
        let target = dataset.tables.iter().find(|t| t.schema.name == key.table);
        let Some(target) = target else {
            return wrong(format!("a reference names table {:?}, which is absent", key.table));
        };
        let known = |name: &String| target.schema.column_index(name).is_some();
        if key.columns.len() != key.references.len() || !key.references.iter().all(known) {
            return wrong(format!("a reference to {:?} does not fit its columns", key.table));
        }
    }
    Ok(())
}

fn seal_table(data: &TableData) -> Result<TableState, SealError> {
    let schema = &data.schema;
    let mut rows = Vec::with_capacity(data.rows.len());
    for (number, values) in data.rows.iter().enumerate() {
        let row = seal_row(schema, values).map_err(|message| SealError::Row {
            table: schema.name.clone(),
            row: number + 1,
            message,
        })?;
        rows.push(row);
    }
    for set in std::iter::once(&schema.primary_key).chain(&schema.unique) {
        check_unique(schema, set, &rows)?;
    }
    sort_by_key(schema, data, &mut rows);
    Ok(TableState::sealed(Arc::new(schema.clone()), rows))
}

fn seal_row(schema: &TableSchema, values: &[Value]) -> Result<Row, String> {
    if values.len() != schema.columns.len() {
        return Err(format!("{} values expected, {} given", schema.columns.len(), values.len()));
    }
    let cells = schema.columns.iter().zip(values).map(|(column, value)| {
        let required = !column.nullable || schema.primary_key.contains(&column.name);
        if value.is_null() && required {
            return Err(format!("column {:?} must not be NULL", column.name));
        }
        if !value.is_null() && value.kind() != column.kind {
            let (expected, given) = (column.kind, value.kind());
            return Err(format!("column {:?}: {expected} expected, {given} given", column.name));
        }
        to_cell(value).ok_or_else(|| format!("column {:?}: {value} is outside the calendar", column.name))
    });
    cells.collect::<Result<Vec<Cell>, String>>().map(Row::from)
}

/// The places of named columns; the names were checked.
pub(crate) fn places(schema: &TableSchema, names: &[String]) -> Vec<usize> {
    let place = |name: &String| schema.column_index(name);
    names.iter().filter_map(place).collect()
}

fn check_unique(schema: &TableSchema, set: &[String], rows: &[Row]) -> Result<(), SealError> {
    if set.is_empty() {
        return Ok(());
    }
    let places = places(schema, set);
    let mut seen = HashMap::with_capacity(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let Some(key) = content_of(row, &places) else { continue };
        if let Some(former) = seen.insert(key, number) {
            return Err(SealError::Row {
                table: schema.name.clone(),
                row: number + 1,
                message: format!("same ({}) as row {}", set.join(", "), former + 1),
            });
        }
    }
    Ok(())
}

fn sort_by_key(schema: &TableSchema, data: &TableData, rows: &mut Vec<Row>) {
    let places = places(schema, &schema.primary_key);
    if places.is_empty() {
        return;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| {
        let keys = places.iter().map(|place| {
            let (left, right) = (&data.rows[*a][*place], &data.rows[*b][*place]);
            left.total_cmp(right)
        });
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    *rows = order.into_iter().map(|place| Arc::clone(&rows[place])).collect();
}

fn check_references(data: &TableData, tables: &BTreeMap<String, TableState>) -> Result<(), SealError> {
    let schema = &data.schema;
    for key in &schema.foreign_keys {
        let Some(target) = tables.get(&key.table) else { continue };
        let index = target.base.index(&places(&target.schema, &key.references));
        let own = places(schema, &key.columns);
        for (number, values) in data.rows.iter().enumerate() {
            let cells: Vec<Cell> = values.iter().filter_map(to_cell).collect();
            let found = content_of(&cells, &own).is_none_or(|key| !index.places(&key).is_empty());
            if !found {
                let shown: Vec<String> = own.iter().map(|p| values[*p].to_string()).collect();
                return Err(SealError::Row {
                    table: schema.name.clone(),
                    row: number + 1,
                    message: format!(
                        "({}) = ({}) is no row of {:?}",
                        key.columns.join(", "),
                        shown.join(", "),
                        key.table
                    ),
                });
            }
        }
    }
    Ok(())
}
