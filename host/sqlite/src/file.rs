//! What stands in somebody's SQLite file. Nobody vouches for it: it is opened for reading alone, as
//! it lies on disk, and nothing that it declares is run.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tribunal_protocol::schema::ForeignKey;

use crate::MEMORY_MAX;
use crate::load::{quoted, strict};
use crate::memory::Limited;

/// Steps of SQLite's machine to read a whole file: a damaged one may go round in circles.
const STEPS_MAX: u64 = 20_000_000_000;
/// How often the count is looked at.
const STEPS_BETWEEN: i32 = 1_000_000;

/// A value as SQLite keeps it.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A double.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes, or a text that is not UTF-8.
    Blob,
}

/// A column as a file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileColumn {
    /// Its name.
    pub name: String,
    /// The type as declared; may be empty, and binds SQLite to little.
    pub declared: String,
    /// Whether NULL is kept out.
    pub not_null: bool,
}

/// A table of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileTable {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<FileColumn>,
    /// The columns of the primary key, in its order; may be empty.
    pub primary_key: Vec<String>,
    /// Further keys, each a set of columns.
    pub unique: Vec<Vec<String>>,
    /// References; one without columns of the other table means its primary key.
    pub foreign_keys: Vec<ForeignKey>,
    /// The rows.
    pub rows: Vec<Vec<Stored>>,
}

/// A file, read whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SqliteFile {
    /// Its tables, by name.
    pub tables: Vec<FileTable>,
    /// What is no table with rows of its own: views, virtual tables.
    pub left_out: Vec<String>,
}

/// Whether a file is named as SQLite's files are.
#[must_use]
pub fn is_sqlite_file(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    matches!(extension.as_str(), "sqlite" | "sqlite3" | "db") && path.is_file()
}

/// Reads all tables of a file.
///
/// # Errors
/// A file that is none of SQLite's or is damaged; one with changes beside it that are not in it yet.
pub fn read_file(path: &Path) -> Result<SqliteFile, String> {
    for (ending, what) in [("-wal", "a write-ahead log"), ("-journal", "a journal")] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        if std::fs::metadata(&beside).is_ok_and(|file| file.len() > 0) {
            return Err(format!(
                "{what} lies beside it, with changes that are not in it yet; close whatever has it open, or run: \
                 sqlite3 FILE \"PRAGMA wal_checkpoint(TRUNCATE)\""
            ));
        }
    }
    crate::count_memory().map_err(|why| why.to_string())?;
    let _limited = Limited::to(MEMORY_MAX);
    read(path).map_err(|why| match why.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => "it is no SQLite file".to_owned(),
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => "it is damaged; sqlite3 FILE .recover may help".to_owned(),
        Some(rusqlite::ErrorCode::OutOfMemory) => "to read it takes too much memory; it may be damaged".to_owned(),
        Some(rusqlite::ErrorCode::OperationInterrupted) => "to read it takes too long; it may be damaged".to_owned(),
        _ => why.to_string(),
    })
}

/// The file as a URI; `immutable`: no lock is taken and nothing is written beside it.
fn uri(path: &Path) -> String {
    let absolute = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let text = absolute.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{text}?immutable=1")
}

fn read(path: &Path) -> rusqlite::Result<SqliteFile> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri(path), flags)?;
    strict(&connection)?;
    let steps = AtomicU64::new(0);
    let count = move || steps.fetch_add(STEPS_BETWEEN.unsigned_abs().into(), Ordering::Relaxed) > STEPS_MAX;
    connection.progress_handler(STEPS_BETWEEN, Some(count))?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cell_size_check = ON")?;
    let mut file = SqliteFile::default();
    let listed = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' \
                  ESCAPE '\\' ORDER BY name";
    for (name, kind) in pairs(&connection, listed)? {
        match kind.as_str() {
            "table" => file.tables.push(table(&connection, name)?),
            "shadow" => {}
            other => file.left_out.push(format!("`{name}` is a {other}")),
        }
    }
    Ok(file)
}

fn pairs(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn table(connection: &Connection, name: String) -> rusqlite::Result<FileTable> {
    let (columns, primary_key) = columns(connection, &name)?;
    Ok(FileTable {
        unique: unique(connection, &name)?,
        foreign_keys: foreign_keys(connection, &name)?,
        rows: rows(connection, &name, &columns)?,
        columns,
        primary_key,
        name,
    })
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<(Vec<FileColumn>, Vec<String>)> {
    let mut statement = connection
        .prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid")?;
    let read = statement.query_map([table], |row| {
        let column = FileColumn { name: row.get(0)?, declared: row.get(1)?, not_null: row.get(2)? };
        Ok((column, row.get::<_, i64>(3)?))
    })?;
    let read: Vec<(FileColumn, i64)> = read.collect::<rusqlite::Result<_>>()?;
    let mut key: Vec<(i64, String)> =
        read.iter().filter(|(_, place)| *place > 0).map(|(column, place)| (*place, column.name.clone())).collect();
    key.sort();
    Ok((read.into_iter().map(|(column, _)| column).collect(), key.into_iter().map(|(_, name)| name).collect()))
}

/// Whole indexes that let no value stand twice, over columns alone.
fn unique(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<String>>> {
    let mut statement = connection.prepare(
        "SELECT l.name, i.name FROM pragma_index_list(?1) l, pragma_index_info(l.name) i \
         WHERE l.\"unique\" AND NOT l.partial AND l.origin <> 'pk' ORDER BY l.seq, i.seqno",
    )?;
    let mut keys: Vec<(String, Option<Vec<String>>)> = Vec::new();
    let read = statement.query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)))?;
    for pair in read {
        let (index, column) = pair?;
        if keys.last().is_none_or(|(last, _)| *last != index) {
            keys.push((index, Some(Vec::new())));
        }
        if let Some((_, key)) = keys.last_mut() {
            // An expression has no name.
            *key = key.take().zip(column).map(|(mut key, column)| {
                key.push(column);
                key
            });
        }
    }
    Ok(keys.into_iter().filter_map(|(_, key)| key).collect())
}

fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let mut statement = connection
        .prepare("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq")?;
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    let read = statement.query_map([table], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, Option<String>>(3)?,
        ))
    })?;
    for part in read {
        let (id, table, from, to) = part?;
        if keys.last().is_none_or(|(last, _)| *last != id) {
            keys.push((id, ForeignKey { columns: Vec::new(), table, references: Vec::new() }));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(from);
            key.references.extend(to);
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

fn rows(connection: &Connection, table: &str, columns: &[FileColumn]) -> rusqlite::Result<Vec<Vec<Stored>>> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut statement = connection.prepare(&format!("SELECT {} FROM {}", names.join(", "), quoted(table)))?;
    let mut cursor = statement.query([])?;
    let mut rows = Vec::new();
    while let Some(row) = cursor.next()? {
        let cells = (0..columns.len()).map(|place| row.get_ref(place).map(stored));
        rows.push(cells.collect::<rusqlite::Result<_>>()?);
    }
    Ok(rows)
}

fn stored(cell: ValueRef<'_>) -> Stored {
    match cell {
        ValueRef::Null => Stored::Null,
        ValueRef::Integer(i) => Stored::Integer(i),
        ValueRef::Real(x) => Stored::Real(x),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_or(Stored::Blob, |text| Stored::Text(text.to_owned())),
        ValueRef::Blob(_) => Stored::Blob,
    }
}
