//! The engines beside which the pipeline is measured: GlueSQL on its own store, GlueSQL on a bare
//! store that shares rows as ours does, SQLite, and DuckDB where it is installed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use gluesql_core::data::{Key, Schema, Value as Cell};
use gluesql_core::error::Result as GlueResult;
use gluesql_core::executor::Referencing;
use gluesql_core::prelude::{Glue, Payload};
use gluesql_core::store::{
    AlterTable, CustomFunction, CustomFunctionMut, GStore, GStoreMut, Index, IndexMut, Metadata, Planner, RowIter,
    Store, StoreMut, Transaction,
};
use gluesql_memory_storage::MemoryStorage;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::json;
use tribunal_protocol::schema::Dataset;

use crate::copies::{glue_value, lite_table, schema};
use crate::sales::{DUCKDB, QUERIES};

/// What a result is compared by between engines: its rows, and the sum of all its numbers.
pub(crate) type Sum = (usize, f64);

/// Whether two engines gave the same.
pub(crate) fn same(a: Sum, b: Sum) -> bool {
    a.0 == b.0 && (a.1 - b.1).abs() <= 1e-9 * a.1.abs().max(1.0)
}

/// GlueSQL's own store.
pub(crate) fn memory_storage(data: &Dataset) -> Result<Glue<MemoryStorage>> {
    let mut storage = MemoryStorage::default();
    let wrong = |fault: gluesql_core::error::Error| anyhow!("MemoryStorage: {fault}");
    for table in &data.tables {
        storage.insert_schema(&schema(table)).map_err(wrong)?;
        let rows = table.rows.iter().map(|row| row.iter().map(glue_value).collect()).collect();
        storage.append_data(&table.schema.name, rows).map_err(wrong)?;
    }
    Ok(Glue::new(storage))
}

/// A table as GlueSQL declares it, with rows that are shared.
type Shared = (Schema, Vec<Arc<[Cell]>>);

/// A store that shares its rows and does nothing else: no contract, no counting, no limits.
#[derive(Default)]
pub(crate) struct Bare(BTreeMap<String, Shared>);

impl Bare {
    pub(crate) fn of(data: &Dataset) -> Glue<Bare> {
        let table = |table: &tribunal_protocol::schema::TableData| {
            let rows = table.rows.iter().map(|row| row.iter().map(glue_value).collect()).collect();
            (table.schema.name.clone(), (schema(table), rows))
        };
        Glue::new(Bare(data.tables.iter().map(table).collect()))
    }
}

impl Store for Bare {
    fn fetch_schema(&self, table_name: &str) -> GlueResult<Option<Schema>> {
        Ok(self.0.get(table_name).map(|(schema, _)| schema.clone()))
    }

    fn fetch_all_schemas(&self) -> GlueResult<Vec<Schema>> {
        Ok(self.0.values().map(|(schema, _)| schema.clone()).collect())
    }

    fn fetch_data(&self, _table_name: &str, _key: &Key) -> GlueResult<Option<Vec<Cell>>> {
        Ok(None)
    }

    fn scan_data<'a>(&'a self, table_name: &str) -> GlueResult<RowIter<'a>> {
        let rows = self.0.get(table_name).into_iter().flat_map(|(_, rows)| rows);
        Ok(Box::new(rows.zip(0..).map(|(row, number)| Ok((Key::U64(number), row.to_vec())))))
    }

    fn fetch_referencings(&self, _table_name: &str) -> GlueResult<Vec<Referencing>> {
        Ok(Vec::new())
    }
}

impl StoreMut for Bare {}
impl AlterTable for Bare {}
impl CustomFunction for Bare {}
impl CustomFunctionMut for Bare {}
impl Index for Bare {}
impl IndexMut for Bare {}
impl Metadata for Bare {}
impl Planner for Bare {}
impl Transaction for Bare {}

/// Runs a query on a store of GlueSQL's.
pub(crate) fn glue<S>(glue: &mut Glue<S>, sql: &str) -> Result<Sum>
where
    S: GStore + GStoreMut + Planner,
{
    let payload = glue.execute(sql).map_err(|fault| anyhow!("{sql}: {fault}"))?.pop();
    let Some(Payload::Select { rows, .. }) = payload else { return Err(anyhow!("{sql}: no rows")) };
    let number = |cell: &Cell| match cell {
        Cell::I64(i) => *i as f64,
        Cell::F64(x) => *x,
        _ => 0.0,
    };
    Ok((rows.len(), rows.iter().flatten().map(number).sum()))
}

/// SQLite in this process, with its tables' keys as it likes them.
pub(crate) fn sqlite(data: &Dataset) -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute_batch("PRAGMA case_sensitive_like = ON")?;
    for table in &data.tables {
        lite_table(&mut connection, table)?;
    }
    Ok(connection)
}

/// Runs a query on SQLite.
pub(crate) fn lite(connection: &Connection, sql: &str) -> Result<Sum> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut cursor = statement.raw_query();
    let (mut rows, mut sum) = (0, 0.0);
    while let Some(row) = cursor.next()? {
        rows += 1;
        for place in 0..columns {
            sum += match row.get_ref(place)? {
                ValueRef::Integer(i) => i as f64,
                ValueRef::Real(x) => x,
                ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => 0.0,
            };
        }
    }
    Ok((rows, sum))
}

const SCRIPT: &str = r#"
import json, sys, time
try:
    import duckdb
except ImportError:
    sys.exit(3)
given = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute("SET threads = 1")
connection.execute(given["tables"])
taken = []
for sql in given["queries"]:
    samples = []
    for _ in range(9):
        start = time.process_time()
        rows = connection.execute(sql).fetchall()
        samples.append(time.process_time() - start)
    numbers = [float(cell) for row in rows for cell in row if not isinstance(cell, str) and cell is not None]
    taken.append([sorted(samples)[4], len(rows), sum(numbers)])
json.dump({"version": duckdb.__version__, "taken": taken}, sys.stdout)
"#;

#[derive(serde::Deserialize)]
pub(crate) struct Duckdb {
    pub(crate) version: String,
    /// For each query: seconds of processor time, rows, the sum of its numbers.
    pub(crate) taken: Vec<(f64, usize, f64)>,
}

/// DuckDB by its Python module, on one thread; none where there is no such module.
pub(crate) fn duckdb() -> Result<Option<Duckdb>> {
    let child = Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return Ok(None) };
    let given = json!({"tables": DUCKDB, "queries": QUERIES.map(|query| query.sql)});
    let mut input = child.stdin.take().context("the child's input")?;
    // One without the module ends before it reads.
    let _ = input.write_all(given.to_string().as_bytes());
    drop(input);
    let output = child.wait_with_output()?;
    if output.status.code() == Some(3) {
        return Ok(None);
    }
    ensure!(output.status.success(), "DuckDB failed ({})", output.status);
    Ok(Some(serde_json::from_slice(&output.stdout).context("what DuckDB's script prints")?))
}
