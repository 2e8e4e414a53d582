//! A dataset into SQLite.

use rusqlite::config::DbConfig;
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params_from_iter};
use rust_decimal::prelude::ToPrimitive as _;
use tribunal_protocol::schema::{Dataset, TableData, TableSchema};
use tribunal_protocol::value::{Kind, Value};

use crate::SqliteError;

/// A double-quoted name is never a string, and no schema is trusted.
pub(crate) fn strict(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, value) in [
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(setting, value)?;
    }
    Ok(())
}

/// A connection to a fresh in-memory database with these rows.
pub(crate) fn connection(dataset: &Dataset) -> Result<Connection, SqliteError> {
    let set_up = |why: rusqlite::Error| SqliteError::Query(format!("cannot set up: {why}"));
    crate::count_memory()?;
    let connection = Connection::open_in_memory().map_err(set_up)?;
    strict(&connection).map_err(set_up)?;
    crate::functions::register(&connection, None).map_err(set_up)?;
    connection.execute_batch("PRAGMA case_sensitive_like = ON; BEGIN").map_err(set_up)?;
    for table in &dataset.tables {
        load(&connection, table)
            .map_err(|why| SqliteError::Load { table: table.schema.name.clone(), problem: why.to_string() })?;
    }
    connection.execute_batch("COMMIT; PRAGMA query_only = ON").map_err(set_up)?;
    Ok(connection)
}

fn load(connection: &Connection, table: &TableData) -> rusqlite::Result<()> {
    connection.execute_batch(&ddl(&table.schema, false))?;
    let places = vec!["?"; table.schema.columns.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(&table.schema.name)))?;
    for row in &table.rows {
        insert.execute(params_from_iter(row.iter().map(cell)))?;
    }
    Ok(())
}

/// The statement that makes a table; `temporary`: one that this connection alone sees.
pub(crate) fn ddl(schema: &TableSchema, temporary: bool) -> String {
    let kind = |kind| match kind {
        Kind::Boolean | Kind::Integer => "INTEGER",
        Kind::Float | Kind::Decimal => "REAL",
        Kind::Text | Kind::Date | Kind::Timestamp | Kind::Unknown => "TEXT",
    };
    let columns: Vec<String> =
        schema.columns.iter().map(|column| format!("{} {}", quoted(&column.name), kind(column.kind))).collect();
    let what = if temporary { "CREATE TEMP TABLE" } else { "CREATE TABLE" };
    format!("{what} {} ({}) STRICT", quoted(&schema.name), columns.join(", "))
}

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(b) => Cell::Integer((*b).into()),
        Value::Integer(i) => Cell::Integer(*i),
        Value::Float(x) => Cell::Real(*x),
        Value::Decimal(d) => d.to_f64().map_or(Cell::Null, Cell::Real),
        Value::Text(t) => Cell::Text(t.clone()),
        Value::Date(_) => Cell::Text(value.to_string()),
        Value::Timestamp(_) => Cell::Text(value.to_string().replace('T', " ")),
    }
}
