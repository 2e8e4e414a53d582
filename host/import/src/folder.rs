//! A folder of foreign schemas: which files it holds and what each becomes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tribunal_protocol::schema::Dataset;
use tribunal_protocol::value::date_text;
use tribunal_protocol::{Kind, Value};
use tribunal_sqlite::is_sqlite_file;

use crate::comma;
use crate::describe;
use crate::draft::{Draft, Remark};
use crate::error::ImportError;
use crate::{statement, stored};

/// Bytes of one file, at most: a file is held in memory.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A schema of a foreign folder, with its rows.
#[derive(Clone, Debug)]
pub struct ForeignSchema {
    /// Its name: the folder's.
    pub name: String,
    /// What could be read of it. Broken tables are not in it.
    pub data: Dataset,
    /// Words of its field, where its authors explain them.
    pub glossary: String,
    /// Tables that could not be read whole, by lower-case name, with the first reason.
    pub broken: BTreeMap<String, Remark>,
    /// Schema prefixes that stand before table names, lower case.
    pub prefixes: BTreeSet<String>,
    /// What could not be read.
    pub problems: Vec<Remark>,
    /// What was left out because it changes no answer.
    pub notes: Vec<Remark>,
}

/// Reads all schemas of a folder: each sub-folder NAME that holds `NAME.sql` or `schema.sql`, or
/// `NAME.sqlite` (`.sqlite3`, `.db`), or the folder itself where it holds `schema.sql`, or a single
/// SQLite file and no such sub-folder. Beside the SQL file may stand `NAME.json` (descriptions) and
/// CSV files named after tables (rows).
///
/// # Errors
/// Where the folder or a file cannot be read at all. What cannot be understood inside a file is
/// in [`ForeignSchema::problems`] instead.
pub fn read_schemas(folder: &Path, clock: i32) -> Result<Vec<ForeignSchema>, ImportError> {
    if let Some(file) = own_file(folder)? {
        let whole = folder.canonicalize().ok();
        let named = match file.file_stem() {
            Some(stem) if stem != "schema" => Some(stem),
            _ => whole.as_deref().unwrap_or(folder).file_name(),
        };
        let name = named.map_or_else(|| "schema".to_owned(), |name| name.to_string_lossy().into_owned());
        return Ok(vec![read_schema(folder, folder, &name, &file, clock)?]);
    }
    let mut schemas = Vec::new();
    for path in entries(folder)? {
        let name = file_name(&path);
        if let Some(file) = schema_file(&path, &name) {
            schemas.push(read_schema(folder, &path, &name, &file, clock)?);
        }
    }
    if schemas.is_empty() {
        return Err(ImportError::NoSchemas { path: folder.to_owned() });
    }
    Ok(schemas)
}

/// Reads a SQLite file as one schema, of the file's name.
///
/// # Errors
/// Where the file cannot be read.
pub fn read_sqlite(file: &Path, clock: i32) -> Result<ForeignSchema, ImportError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut draft = Draft::new(clock);
    let shown = file_name(file);
    fill(&mut draft, &shown, file)?;
    Ok(finished(draft, &shown, &stem, String::new()))
}

/// The file of the folder's own schema, where it is the folder of one schema.
pub(crate) fn own_file(folder: &Path) -> Result<Option<PathBuf>, ImportError> {
    let sql = folder.join("schema.sql");
    if sql.is_file() {
        return Ok(Some(sql));
    }
    let all = entries(folder)?;
    if all.iter().any(|path| schema_file(path, &file_name(path)).is_some()) {
        return Ok(None);
    }
    let mut files = all.into_iter().filter(|path| is_sqlite_file(path));
    Ok(files.next().filter(|_| files.next().is_none()))
}

/// What a folder holds, by name, without hidden entries.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, ImportError> {
    let read = fs::read_dir(folder).map_err(|error| ImportError::read(folder, error))?;
    let mut paths = Vec::new();
    for entry in read {
        let path = entry.map_err(|error| ImportError::read(folder, error))?.path();
        if !file_name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The file of the schema NAME in its folder.
fn schema_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let sql = [format!("{name}.sql"), "schema.sql".to_owned()].map(|file| folder.join(file));
    let sqlite = ["sqlite", "sqlite3", "db"].map(|ending| folder.join(format!("{name}.{ending}")));
    let mut sql = sql.into_iter().filter(|path| path.is_file());
    sql.next().or_else(|| sqlite.into_iter().find(|path| is_sqlite_file(path)))
}

fn check_size(path: &Path) -> Result<(), ImportError> {
    let size = fs::metadata(path).map_err(|error| ImportError::read(path, error))?.len();
    if size > MAX_FILE_BYTES {
        return Err(ImportError::read(path, format!("{size} bytes, at most {MAX_FILE_BYTES} are read")));
    }
    Ok(())
}

/// Reads a file as text.
pub(crate) fn read_text(path: &Path) -> Result<String, ImportError> {
    check_size(path)?;
    let bytes = fs::read(path).map_err(|error| ImportError::read(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        ImportError::read(path, format!("not UTF-8 at byte {at}; convert the file to UTF-8"))
    })
}

/// The name of a file in messages: relative to the imported folder.
pub(crate) fn shown(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    relative.to_string_lossy().into_owned()
}

/// Reads the tables of a schema's file: of its SQL, or of SQLite.
fn fill(draft: &mut Draft, shown: &str, path: &Path) -> Result<(), ImportError> {
    if is_sqlite_file(path) {
        check_size(path)?;
        return stored::read(draft, shown, path).map_err(|why| ImportError::read(path, why));
    }
    statement::read_file(draft, shown, &read_text(path)?);
    Ok(())
}

fn read_schema(
    root: &Path,
    folder: &Path,
    name: &str,
    source: &Path,
    clock: i32,
) -> Result<ForeignSchema, ImportError> {
    let mut draft = Draft::new(clock);
    let source_name = shown(root, source);
    fill(&mut draft, &source_name, source)?;
    let mut glossary = String::new();
    for path in entries(folder)? {
        let file = shown(root, &path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if path == *source || stem.eq_ignore_ascii_case("questions") || path.is_dir() {
            continue;
        }
        match extension.as_str() {
            // A SQLite file has its rows.
            "csv" if !is_sqlite_file(source) => read_rows(&mut draft, &file, &stem, &read_text(&path)?),
            "json" if stem == name || stem == "schema" => match describe::read(&mut draft, &file, &read_text(&path)?) {
                Ok(text) => glossary = text,
                Err(why) => draft.problem(&file, 1, None, format!("descriptions: {why}")),
            },
            "md" | "txt" => {}
            _ if file_name(&path) == "LICENSE" => {}
            _ => draft.note(&file, 1, None, "a file that is not part of a schema: left out"),
        }
    }
    Ok(finished(draft, &source_name, name, glossary))
}

fn finished(mut draft: Draft, source: &str, name: &str, glossary: String) -> ForeignSchema {
    let tables = draft.finish(source);
    ForeignSchema {
        name: name.to_owned(),
        data: Dataset { clock: draft.clock, tables },
        glossary,
        broken: draft.broken,
        prefixes: draft.prefixes,
        problems: draft.problems,
        notes: draft.notes,
    }
}

/// Reads `<table>.csv`: a line of column names, then rows. An empty field without quotes is NULL,
/// except that a text column that is NOT NULL takes it as the empty string.
fn read_rows(draft: &mut Draft, file: &str, name: &str, source: &str) {
    if !draft.tables.contains_key(&name.to_lowercase()) {
        let what = format!("rows for a table `{name}` that schema.sql does not create");
        draft.problem(file, 1, None, what);
        return;
    }
    if let Err((line, why)) = try_rows(draft, name, source) {
        draft.problem(file, line, Some(name), why);
    }
}

fn try_rows(draft: &mut Draft, name: &str, source: &str) -> Result<(), (u32, String)> {
    let mut records = comma::read(source).map_err(|(line, why)| (line, why.to_owned()))?.into_iter();
    let header = records.next().ok_or((1, "a line of column names expected".to_owned()))?;
    let fields = header.fields.into_iter();
    let names: Vec<String> = fields.map(|field| field.text.trim().to_owned()).collect();
    let table = draft.table(name).map_err(|why| (1, why))?;
    let places = table.places(Some(&names)).map_err(|why| (1, why))?;
    let takes_empty: Vec<bool> = places
        .iter()
        .filter_map(|place| table.schema.columns.get(*place))
        .map(|column| column.kind == Kind::Text && !column.nullable)
        .collect();
    for record in records {
        let given = record.fields.into_iter().zip(takes_empty.iter().chain(std::iter::repeat(&false)));
        let given = given.map(|(field, takes_empty)| match field.is_null() {
            true if *takes_empty && field.text.is_empty() => Some(Value::Text(String::new())),
            true => Some(Value::Null),
            false => Some(Value::Text(field.text)),
        });
        let row = given.collect();
        table.push(&places, row).map_err(|why| (record.line, why))?;
    }
    Ok(())
}

impl ForeignSchema {
    /// The clock as an ISO date.
    #[must_use]
    pub fn clock(&self) -> String {
        date_text(self.data.clock)
    }
}
