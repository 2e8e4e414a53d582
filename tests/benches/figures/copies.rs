//! The copies that others make where we fork.

use anyhow::{Context as _, Result, anyhow, ensure};
use gluesql_core::ast::{ColumnDef, DataType};
use gluesql_core::chrono::NaiveDate;
use gluesql_core::data::{Schema, Value as Glue};
use gluesql_core::store::StoreMut as _;
use gluesql_memory_storage::MemoryStorage;
use rusqlite::backup::Backup;
use rusqlite::types::Value as Lite;
use rusqlite::{Connection, params_from_iter};
use tribunal_protocol::schema::{Dataset, TableData};
use tribunal_protocol::value::date_of;
use tribunal_protocol::{Kind, Value};

use crate::clock::{Timed, cpu};

fn table(data: &Dataset) -> Result<&TableData> {
    data.tables.first().context("a table")
}

/// Clones GlueSQL's own store in memory.
pub(crate) fn memory_storage(data: &Dataset) -> Result<Timed> {
    let table = table(data)?;
    let mut storage = MemoryStorage::default();
    let glue = |fault: gluesql_core::error::Error| anyhow!("MemoryStorage: {fault}");
    storage.insert_schema(&schema(table)).map_err(glue)?;
    let rows = table.rows.iter().map(|row| row.iter().map(glue_value).collect()).collect();
    storage.append_data(&table.schema.name, rows).map_err(glue)?;
    let held = storage.items.get(&table.schema.name).map_or(0, |item| item.rows.len());
    ensure!(held == table.rows.len(), "every row is stored");
    Ok(cpu(|| storage.clone()))
}

/// A table as GlueSQL declares it.
pub(crate) fn schema(table: &TableData) -> Schema {
    let column = |column: &tribunal_protocol::schema::ColumnSchema| ColumnDef {
        name: column.name.clone(),
        data_type: match column.kind {
            Kind::Boolean => DataType::Boolean,
            Kind::Integer => DataType::Int,
            Kind::Float => DataType::Float,
            Kind::Decimal => DataType::Decimal,
            Kind::Date => DataType::Date,
            Kind::Timestamp => DataType::Timestamp,
            Kind::Text | Kind::Unknown => DataType::Text,
        },
        nullable: column.nullable,
        default: None,
        unique: None,
        comment: None,
    };
    Schema {
        table_name: table.schema.name.clone(),
        column_defs: Some(table.schema.columns.iter().map(column).collect()),
        indexes: Vec::new(),
        engine: None,
        foreign_keys: Vec::new(),
        comment: None,
    }
}

/// A value as GlueSQL holds it.
pub(crate) fn glue_value(value: &Value) -> Glue {
    match value {
        Value::Null => Glue::Null,
        Value::Boolean(b) => Glue::Bool(*b),
        Value::Integer(i) => Glue::I64(*i),
        Value::Float(x) => Glue::F64(*x),
        Value::Decimal(d) => Glue::Decimal(*d),
        Value::Text(t) => Glue::Str(t.clone()),
        Value::Date(days) => Glue::Date(date_of(*days).unwrap_or(NaiveDate::MIN)),
        Value::Timestamp(micros) => Glue::I64(*micros),
    }
}

/// Copies a SQLite database in memory to another one, page by page.
pub(crate) fn sqlite(data: &Dataset) -> Result<Timed> {
    let table = table(data)?;
    let mut source = Connection::open_in_memory()?;
    let name = &table.schema.name;
    lite_table(&mut source, table)?;
    let copy = || -> Result<Connection> {
        let mut target = Connection::open_in_memory()?;
        Backup::new(&source, &mut target)?.step(-1)?;
        Ok(target)
    };
    let held: i64 = copy()?.query_row(&format!("SELECT COUNT(*) FROM {name}"), [], |row| row.get(0))?;
    ensure!(held == table.rows.len() as i64, "every row is copied");
    Ok(cpu(copy))
}

/// Makes a table in SQLite, with its rows.
pub(crate) fn lite_table(connection: &mut Connection, table: &TableData) -> Result<()> {
    let columns: Vec<_> =
        table.schema.columns.iter().map(|column| format!("{} {}", column.name, lite(column.kind))).collect();
    let name = &table.schema.name;
    connection.execute_batch(&format!("CREATE TABLE {name} ({}, PRIMARY KEY (id)) STRICT", columns.join(", ")))?;
    let places = vec!["?"; columns.len()].join(", ");
    let transaction = connection.transaction()?;
    let mut insert = transaction.prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
    for row in &table.rows {
        insert.execute(params_from_iter(row.iter().map(lite_value)))?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

/// SQLite's own types; it knows neither decimals nor dates.
fn lite(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean | Kind::Integer | Kind::Date | Kind::Timestamp => "INTEGER",
        Kind::Float | Kind::Decimal => "REAL",
        Kind::Text | Kind::Unknown => "TEXT",
    }
}

fn lite_value(value: &Value) -> Lite {
    match value {
        Value::Null => Lite::Null,
        Value::Boolean(b) => Lite::Integer(i64::from(*b)),
        Value::Integer(i) | Value::Timestamp(i) => Lite::Integer(*i),
        Value::Float(x) => Lite::Real(*x),
        Value::Decimal(d) => Lite::Real(f64::try_from(*d).unwrap_or(f64::NAN)),
        Value::Text(t) => Lite::Text(t.clone()),
        Value::Date(days) => Lite::Integer(i64::from(*days)),
    }
}
