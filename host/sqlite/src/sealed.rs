//! What a contract lets its holder read, sealed in memory: made once, shared by every reader.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, params_from_iter};
use tribunal_protocol::schema::{Dataset, TableSchema};
use tribunal_protocol::value::Value;
use tribunal_sql::row_number;

use crate::reader::Reader;
use crate::{SqliteError, cells, load};

/// The number of the next database; every one has a name of its own in this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A database in memory that holds granted tables, columns and rows alone. Readers open it
/// read-only, each with a connection of its own; it lives as long as any of them.
pub struct Sealed {
    at: String,
    shapes: Vec<TableSchema>,
    /// Keeps the database alive; nothing is written after it is sealed.
    keeper: Mutex<Connection>,
}

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sealed({})", self.at)
    }
}

fn set_up(why: &rusqlite::Error) -> SqliteError {
    SqliteError::Query(format!("cannot set up: {why}"))
}

impl Sealed {
    /// An empty database to fill.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn new() -> Result<Sealed, SqliteError> {
        crate::count_memory()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let at = format!("file:/tribunal-{number}?vfs=memdb");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let keeper = open(&at, flags).map_err(|why| set_up(&why))?;
        Ok(Sealed { at, shapes: Vec::new(), keeper: Mutex::new(keeper) })
    }

    /// Adds a table of these columns with its rows, by their numbers.
    ///
    /// # Errors
    /// What SQLite said, with the table.
    pub fn add(
        &mut self,
        schema: &TableSchema,
        rows: impl Iterator<Item = (u64, Vec<Value>)>,
    ) -> Result<(), SqliteError> {
        let keeper = self.keeper.get_mut().unwrap_or_else(PoisonError::into_inner);
        filled(keeper, schema, false, rows)?;
        self.shapes.push(schema.clone());
        Ok(())
    }

    /// A reader of it.
    ///
    /// # Errors
    /// What SQLite said.
    pub fn reader(&self) -> Result<Reader, SqliteError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = open(&self.at, flags).map_err(|why| set_up(&why))?;
        Reader::new(connection, &self.shapes).map_err(|why| set_up(&why))
    }
}

fn open(at: &str, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(at, flags)
}

/// Makes a table and fills it.
pub(crate) fn filled(
    connection: &Connection,
    schema: &TableSchema,
    temporary: bool,
    rows: impl Iterator<Item = (u64, Vec<Value>)>,
) -> Result<(), SqliteError> {
    fill(connection, schema, temporary, rows)
        .map_err(|why| SqliteError::Load { table: schema.name.clone(), problem: why.to_string() })
}

fn fill(
    connection: &Connection,
    schema: &TableSchema,
    temporary: bool,
    rows: impl Iterator<Item = (u64, Vec<Value>)>,
) -> rusqlite::Result<()> {
    let name = load::quoted(&schema.name);
    let name = if temporary { format!("temp.{name}") } else { name };
    let columns = schema.columns.iter().map(|column| load::quoted(&column.name));
    let columns: Vec<String> = std::iter::once(row_number(schema).to_owned()).chain(columns).collect();
    let places = vec!["?"; columns.len()].join(", ");
    connection.execute_batch("BEGIN")?;
    if temporary {
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    connection.execute_batch(&load::ddl(schema, temporary))?;
    let mut insert = connection.prepare(&format!("INSERT INTO {name} ({}) VALUES ({places})", columns.join(", ")))?;
    for (number, row) in rows {
        let number = rusqlite::types::Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        insert.execute(params_from_iter(std::iter::once(number).chain(row.iter().map(load::cell))))?;
    }
    drop(insert);
    connection.execute_batch("COMMIT")
}

/// Whether SQLite keeps every value of a dataset as it is.
///
/// # Errors
/// The first that it would not keep, and where it stands.
pub fn check(dataset: &Dataset) -> Result<(), SqliteError> {
    for table in &dataset.tables {
        for (number, row) in table.rows.iter().enumerate() {
            for (column, value) in table.schema.columns.iter().zip(row) {
                if let Some(why) = lost(value) {
                    return Err(SqliteError::Load {
                        table: table.schema.name.clone(),
                        problem: format!("row {}, column {}: {value} {why}", number + 1, column.name),
                    });
                }
            }
        }
    }
    Ok(())
}

fn lost(value: &Value) -> Option<&'static str> {
    match value {
        Value::Decimal(decimal) => {
            let kept = match load::cell(value) {
                rusqlite::types::Value::Real(x) => cells::decimal(x),
                _ => None,
            };
            (kept != Some(*decimal)).then_some("has more than the 15 digits that SQLite keeps of a decimal")
        }
        Value::Float(x) if x.is_nan() => Some("would be NULL in SQLite"),
        Value::Date(_) | Value::Timestamp(_) => {
            let plain = value.to_string().starts_with(|first: char| first.is_ascii_digit());
            (!plain).then_some("is before year 0 or after year 9999, where SQLite has no order")
        }
        Value::Text(text) if text.contains('\0') => Some("holds a NUL character, at which SQLite's functions stop"),
        _ => None,
    }
}
