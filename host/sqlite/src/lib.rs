//! SQLite: the only crate that names rusqlite.
//!
//! - [`SqliteCopy`] is a second opinion: the same rows, the same question, another engine.
//! - [`Sealed`] and [`Reader`] are what a session on SQLite reads: a sealed copy of what a contract
//!   grants and nothing else, shared by all readers, behind a second wall of SQLite's own.
//! - [`read_file`] reads somebody's file, and trusts nothing in it.
//!
//! What a kind becomes in SQLite, and comes back from:
//!
//! | kind | stored as | read back |
//! |---|---|---|
//! | boolean | INTEGER 0 or 1 | 0 and 1 where the result's kind is boolean |
//! | integer | INTEGER | as it is |
//! | float | REAL | as it is |
//! | decimal | REAL | rounded to [`DECIMAL_PLACES`] places, which is exact for sums of money below 10^9 |
//! | text | TEXT | as it is |
//! | date | TEXT `2025-01-31` | where the result's kind is date |
//! | timestamp | TEXT `2025-01-31 08:00:00` | where the result's kind is timestamp |
//!
//! A [`Reader`] gives decimals exactly: those of at most 15 digits, which are all that it takes
//! ([`check`]), come back as they are, and computed ones are rounded to [`DECIMAL_PLACES`] places.
//!
//! Tables are STRICT, a double-quoted name is never a string, and LIKE minds case, as ours does.

mod cells;
mod failure;
mod file;
mod functions;
mod load;
mod memory;
mod meter;
mod moments;
mod plain;
mod reader;
mod sealed;
mod wall;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;
use tribunal_protocol::schema::{Dataset, TableSchema};
use tribunal_protocol::table::{Column, Table};
use tribunal_protocol::value::{Kind, Value};
use tribunal_sql::Catalog;

pub use cells::DECIMAL_PLACES;
pub use file::{FileColumn, FileTable, SqliteFile, Stored, is_sqlite_file, read_file};
pub use memory::count_memory;
pub use reader::{Asked, Left, Reader, Rows, STEPS_PER_PART, STEPS_PER_ROW};
pub use sealed::{Sealed, check};

/// The engine, as reports name it.
#[must_use]
pub fn engine_name() -> String {
    format!("sqlite {}", rusqlite::version())
}

/// Steps of SQLite's machine that one query may take: some seconds of work.
const STEPS_MAX: u64 = 100_000_000;
/// Bytes that SQLite may hold for one query.
const MEMORY_MAX: u64 = 1 << 30;
/// How often the count is looked at.
const STEPS_BETWEEN: i32 = 10_000;

/// Why SQLite gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqliteError {
    /// The rows could not be loaded.
    #[error("table {table}: {problem}")]
    Load {
        /// Into which table.
        table: String,
        /// What SQLite said.
        problem: String,
    },
    /// The query does not run.
    #[error("{0}")]
    Query(String),
    /// The query would write.
    #[error("not a query: it would change the database")]
    Writes,
    /// The query ran too long.
    #[error("more than {STEPS_MAX} steps; the query is too expensive for a second opinion")]
    Budget,
    /// The query would hold too much.
    #[error("more than {} MiB of memory; the query is too expensive for a second opinion", MEMORY_MAX >> 20)]
    Memory,
    /// The result does not fit the kinds that were expected of it.
    #[error("result: {0}")]
    Result(String),
}

/// A private copy of a dataset in SQLite's memory.
pub struct SqliteCopy {
    connection: Connection,
    steps: Arc<AtomicU64>,
    shape: Shape,
}

/// What the copy holds, for the dialect of queries.
struct Shape {
    clock: i32,
    tables: Vec<TableSchema>,
}

impl Catalog for Shape {
    fn table(&self, name: &str) -> Option<&TableSchema> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    fn clock(&self) -> i32 {
        self.clock
    }
}

impl std::fmt::Debug for SqliteCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SqliteCopy")
    }
}

impl SqliteCopy {
    /// Loads a dataset.
    ///
    /// # Errors
    /// The table that SQLite does not take.
    pub fn load(dataset: &Dataset) -> Result<SqliteCopy, SqliteError> {
        let mut connection = load::connection(dataset)?;
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let count = move || counted.fetch_add(STEPS_BETWEEN.unsigned_abs().into(), Ordering::Relaxed) > STEPS_MAX;
        let guarded = connection.progress_handler(STEPS_BETWEEN, Some(count));
        guarded.map_err(|why| SqliteError::Query(why.to_string()))?;
        let tables = dataset.tables.iter().map(|table| table.schema.clone()).collect();
        Ok(SqliteCopy { connection, steps, shape: Shape { clock: dataset.clock, tables } })
    }

    /// Runs one query in our dialect, turned into SQLite's.
    ///
    /// # Errors
    /// As [`SqliteCopy::query`]; and a query that cannot be said in SQLite's dialect.
    pub fn query_ours(&self, sql: &str, kinds: &[Option<Kind>]) -> Result<Table, SqliteError> {
        let said = tribunal_sql::parse_query(sql).and_then(|query| tribunal_sql::to_sqlite(&query, &self.shape));
        self.query(&said.map_err(|why| SqliteError::Query(why.to_string()))?, kinds)
    }

    /// Runs one query in SQLite's own dialect. `kinds` says what each column is to be read as;
    /// where it says nothing, or less columns than there are, SQLite's own types decide.
    ///
    /// # Errors
    /// SQLite's own words, or what does not fit.
    pub fn query(&self, sql: &str, kinds: &[Option<Kind>]) -> Result<Table, SqliteError> {
        self.steps.store(0, Ordering::Relaxed);
        let _limited = memory::Limited::to(MEMORY_MAX);
        let wrong = |why: rusqlite::Error| self.read_error(&why);
        let mut statement = self.connection.prepare(sql).map_err(wrong)?;
        if !statement.readonly() {
            return Err(SqliteError::Writes);
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); names.len()];
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(wrong)? {
            for (index, column) in columns.iter_mut().enumerate() {
                let kind = kinds.get(index).copied().flatten();
                let cell = row.get_ref(index).map_err(wrong)?;
                let value = cells::read(cell, kind)
                    .map_err(|why| SqliteError::Result(format!("column {}: {why}", names[index])))?;
                column.push(value);
            }
        }
        table(&names, columns, kinds)
    }

    fn read_error(&self, why: &rusqlite::Error) -> SqliteError {
        match why.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => SqliteError::Budget,
            Some(rusqlite::ErrorCode::OutOfMemory) => SqliteError::Memory,
            _ => SqliteError::Query(why.to_string()),
        }
    }
}

fn table(names: &[String], columns: Vec<Vec<Value>>, kinds: &[Option<Kind>]) -> Result<Table, SqliteError> {
    let rows = columns.first().map_or(0, Vec::len);
    let built = names.iter().zip(columns).enumerate().map(|(index, (name, mut values))| {
        let kind = cells::settle(&mut values, kinds.get(index).copied().flatten());
        Column::from_values(name, kind, values.iter()).map_err(SqliteError::Result)
    });
    Ok(Table { rows, columns: built.collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;
    use tribunal_protocol::schema::{ColumnSchema, TableData};

    use super::*;

    fn copy() -> SqliteCopy {
        let column = |name, kind| ColumnSchema::new(name, kind, true);
        let columns = vec![
            column("id", Kind::Integer),
            column("paid", Kind::Boolean),
            column("total", Kind::Decimal),
            column("on", Kind::Date),
            column("name", Kind::Text),
        ];
        let row = |id, paid, cents, on, name: &str| {
            let total = Value::Decimal(Decimal::new(cents, 2));
            vec![Value::Integer(id), Value::Boolean(paid), total, Value::Date(on), Value::Text(name.into())]
        };
        let rows = vec![row(1, true, 10, 0, "é"), row(2, false, 20, 31, "É"), vec![Value::Null; 5]];
        let schema = TableSchema::new("invoices", columns, &[]);
        SqliteCopy::load(&Dataset { clock: 0, tables: vec![TableData { schema, rows }] }).unwrap()
    }

    #[test]
    fn kinds_come_back() {
        let kinds = [Some(Kind::Boolean), Some(Kind::Decimal), Some(Kind::Date), None];
        let sql = "SELECT max(paid), sum(total), max(\"on\"), count(*) FROM invoices WHERE id > 0";
        let table = copy().query(sql, &kinds).unwrap();
        let expected =
            vec![Value::Boolean(true), Value::Decimal(Decimal::new(3, 1)), Value::Date(31), Value::Integer(2)];
        assert_eq!(table.row(0), expected);
        let nothing = copy().query("SELECT paid FROM invoices WHERE id IS NULL", &[Some(Kind::Boolean)]).unwrap();
        assert_eq!(nothing.row(0), [Value::Null]);
    }

    #[test]
    fn nothing_is_written_and_a_quoted_name_is_no_string() {
        let copy = copy();
        assert_eq!(copy.query("DELETE FROM invoices", &[]), Err(SqliteError::Writes));
        assert!(matches!(copy.query("SELECT \"nosuch\" FROM invoices", &[]), Err(SqliteError::Query(_))));
        let like = copy.query("SELECT count(*) FROM invoices WHERE 'ABC' LIKE 'a%'", &[]).unwrap();
        assert_eq!(like.row(0), [Value::Integer(0)]);
        assert_eq!(copy.query("SELECT count(*) AS n FROM invoices", &[]).unwrap().row(0), [Value::Integer(3)]);
    }

    #[test]
    fn an_endless_query_is_stopped() {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        assert_eq!(copy().query(endless, &[]), Err(SqliteError::Budget));
    }
}
