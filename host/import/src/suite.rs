//! An imported suite on disk: written whole or not at all, and read back.
//!
//! ```text
//! suite.toml                 kind = "imported", clock, source, licence
//! README.md  LICENSE         where it comes from
//! tasks.jsonl                one task a line, ready to be played
//! report.json                what became of every question
//! schemas/NAME/schema.json   the tables
//! schemas/NAME/TABLE.csv     their rows
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::plugin::Loading;
use tribunal_protocol::schema::{Dataset, TableData, TableSchema};
use tribunal_protocol::task::{SchemaRef, Task};
use tribunal_protocol::value::{date_text, parse_date};
use tribunal_protocol::{Kind, Value};

use crate::comma;
use crate::error::ImportError;
use crate::folder::read_text;
use crate::report::ImportReport;

/// The version of the format of imported suites.
pub const SUITE_FORMAT: u32 = 1;
/// What `kind` is in the `suite.toml` of an imported suite.
pub const SUITE_KIND: &str = "imported";

/// `suite.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuiteFile {
    pub format: u32,
    pub kind: String,
    pub name: String,
    pub version: String,
    /// What `now` is: an ISO date.
    pub clock: String,
    /// Where it comes from.
    pub source: String,
    /// Under which terms, as far as the imported folder says.
    pub licence: String,
    /// The schemas, as `name-vN`, by folder name.
    pub schemas: Vec<String>,
    /// How its plugins are loaded.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub plugins: Loading,
}

fn is_usual(loading: &Loading) -> bool {
    *loading == Loading::default()
}

/// A suite made from a foreign folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSuite {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What `now` is: days since 1970-01-01.
    pub clock: i32,
    /// Where it comes from.
    pub source: String,
    /// Under which terms, as far as the imported folder says.
    pub licence: String,
    /// Its tasks, in order of the questions.
    pub tasks: Vec<Task>,
    /// Its data, by schema.
    pub schemas: BTreeMap<SchemaRef, Dataset>,
    /// How its plugins are loaded.
    pub loading: Loading,
}

impl ImportedSuite {
    /// Whether a folder holds an imported suite, of whatever version.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        #[derive(Deserialize)]
        struct Kind {
            kind: String,
        }
        let text = fs::read_to_string(path.join("suite.toml")).unwrap_or_default();
        toml::from_str::<Kind>(&text).is_ok_and(|file| file.kind == SUITE_KIND)
    }

    /// The data of a schema. Imported data is what it is: every seed gives the same.
    #[must_use]
    pub fn dataset(&self, schema: &SchemaRef) -> Option<&Dataset> {
        self.schemas.get(schema)
    }

    /// The digest of all that decides a task: tasks and data.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new("imported suite 1");
        for task in &self.tasks {
            hasher.bytes(serde_json::to_string(task).unwrap_or_default().as_bytes());
        }
        for (schema, data) in &self.schemas {
            hasher.bytes(schema.to_string().as_bytes());
            hasher.bytes(&data.clock.to_le_bytes());
            for table in &data.tables {
                hasher.bytes(table.schema.name.as_bytes());
                hasher.number(table.rows.len() as u64);
                table.rows.iter().flatten().for_each(|value| hasher.value(value));
            }
        }
        hasher.finish()
    }

    /// Writes the suite as the folder `path`, with the report and the licence text of its source.
    /// It appears whole or not at all.
    ///
    /// # Errors
    /// [`ImportError::Exists`] unless `force`; [`ImportError::Foreign`] where something else than
    /// an imported suite stands there; a failure to write.
    pub fn write(
        &self,
        path: &Path,
        report: &ImportReport,
        licence_text: Option<&str>,
        force: bool,
    ) -> Result<(), ImportError> {
        if path.symlink_metadata().is_ok() {
            let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            if !empty && !ImportedSuite::is_at(path) {
                return Err(ImportError::Foreign { path: path.to_owned() });
            }
            if !empty && !force {
                return Err(ImportError::Exists { path: path.to_owned() });
            }
        }
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|error| ImportError::write(parent, error))?;
        let temporary = tempfile::Builder::new().prefix(".import-").tempdir_in(parent);
        let temporary = temporary.map_err(|error| ImportError::write(parent, error))?;
        let whole = temporary.path().join("suite");
        self.write_files(&whole, report, licence_text)?;
        let failed = |error: std::io::Error| ImportError::write(path, error);
        // What was there goes with the temporary folder, once the new one stands.
        let old = temporary.path().join("old");
        let moved = path.symlink_metadata().is_ok();
        if moved {
            fs::rename(path, &old).map_err(failed)?;
        }
        if let Err(error) = fs::rename(&whole, path) {
            if moved {
                fs::rename(&old, path).map_err(failed)?;
            }
            return Err(failed(error));
        }
        Ok(())
    }

    fn write_files(&self, folder: &Path, report: &ImportReport, licence_text: Option<&str>) -> Result<(), ImportError> {
        let file = SuiteFile {
            format: SUITE_FORMAT,
            kind: SUITE_KIND.to_owned(),
            name: self.name.clone(),
            version: self.version.clone(),
            clock: date_text(self.clock),
            source: self.source.clone(),
            licence: self.licence.clone(),
            schemas: self.schemas.keys().map(ToString::to_string).collect(),
            plugins: self.loading,
        };
        let bad = |error: toml::ser::Error| ImportError::write(folder, error);
        put(folder, "suite.toml", &toml::to_string_pretty(&file).map_err(bad)?)?;
        put(folder, "README.md", &self.readme(report))?;
        if let Some(text) = licence_text {
            put(folder, "LICENSE", text)?;
        }
        let mut lines = String::new();
        for task in &self.tasks {
            let line = serde_json::to_string(task).map_err(|error| ImportError::write(folder, error))?;
            lines.push_str(&line);
            lines.push('\n');
        }
        put(folder, "tasks.jsonl", &lines)?;
        let json = serde_json::to_string_pretty(report).map_err(|error| ImportError::write(folder, error))?;
        put(folder, "report.json", &(json + "\n"))?;
        for (schema, data) in &self.schemas {
            write_data(&folder.join("schemas").join(schema.to_string()), data)?;
        }
        Ok(())
    }

    fn readme(&self, report: &ImportReport) -> String {
        let counts: Vec<String> = report.totals.iter().map(|(class, n)| format!("{n} {class}")).collect();
        format!(
            "# {name}: an imported suite\n\nMade by `tribunal import` from {source}. Terms: {licence}.\n\n\
             The clock is pinned: `now` is {clock}, and rows that were relative to the day of the import are relative \
             to that day. {questions} questions: {counts}; report.json says why for each, and tasks.jsonl holds those \
             that are scored.\n",
            name = self.name,
            source = self.source,
            licence = self.licence,
            clock = report.clock,
            questions = report.questions,
            counts = counts.join(", "),
        )
    }

    /// Reads a suite that [`ImportedSuite::write`] wrote.
    ///
    /// # Errors
    /// What cannot be read, or does not fit together, by file and line.
    pub fn load(path: &Path) -> Result<ImportedSuite, ImportError> {
        let suite_path = path.join("suite.toml");
        let text = read_text(&suite_path)?;
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let wrong = |error: toml::de::Error| ImportError::content(&suite_path, 1, one_line(&error.to_string()));
        let Format { format } = toml::from_str(&text).map_err(wrong)?;
        if format > SUITE_FORMAT {
            return Err(ImportError::Version { path: suite_path, found: format, supported: SUITE_FORMAT });
        }
        let file: SuiteFile = toml::from_str(&text).map_err(wrong)?;
        if file.kind != SUITE_KIND {
            let why = format!("kind = \"{}\": \"{SUITE_KIND}\" expected", file.kind);
            return Err(ImportError::content(&suite_path, 1, why));
        }
        let clock = parse_date(&file.clock).ok_or_else(|| ImportError::Clock { given: file.clock.clone() })?;
        let mut schemas = BTreeMap::new();
        for name in &file.schemas {
            let schema = schema_ref(name).ok_or_else(|| {
                ImportError::content(&suite_path, 1, format!("schema `{name}`: a name such as shop-v1 expected"))
            })?;
            schemas.insert(schema, read_data(&path.join("schemas").join(name), clock)?);
        }
        let tasks = read_tasks(&path.join("tasks.jsonl"), &schemas)?;
        Ok(ImportedSuite {
            name: file.name,
            version: file.version,
            clock,
            source: file.source,
            licence: file.licence,
            tasks,
            schemas,
            loading: file.plugins,
        })
    }
}

/// `name-vN`; the name must be safe as a folder's.
fn schema_ref(text: &str) -> Option<SchemaRef> {
    let (name, version) = text.rsplit_once("-v")?;
    let safe = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
    let version = version.parse().ok()?;
    safe.then(|| SchemaRef { name: name.to_owned(), version })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), ImportError> {
    fs::create_dir_all(folder).map_err(|error| ImportError::write(folder, error))?;
    let path = folder.join(name);
    fs::write(&path, text).map_err(|error| ImportError::write(&path, error))
}

fn write_data(folder: &Path, data: &Dataset) -> Result<(), ImportError> {
    let shapes: Vec<&TableSchema> = data.tables.iter().map(|table| &table.schema).collect();
    let json = serde_json::to_string_pretty(&shapes).map_err(|error| ImportError::write(folder, error))?;
    put(folder, "schema.json", &(json + "\n"))?;
    for (table, file) in data.tables.iter().zip(files_of(&shapes)) {
        let mut text = String::new();
        comma::write(&mut text, table.schema.columns.iter().map(|column| Some(&*column.name)));
        for row in &table.rows {
            let cells: Vec<Option<String>> =
                row.iter().map(|value| (!value.is_null()).then(|| value.to_string())).collect();
            comma::write(&mut text, cells.iter().map(Option::as_deref));
        }
        put(folder, &file, &text)?;
    }
    Ok(())
}

/// The files of the tables' rows: anything that file names do not take everywhere becomes `_`,
/// and a name that is taken gets a number.
fn files_of(shapes: &[&TableSchema]) -> Vec<String> {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut taken = BTreeSet::new();
    let mut files = Vec::with_capacity(shapes.len());
    for shape in shapes {
        let plain: String = shape.name.chars().map(safe).collect();
        let numbered = (2_u32..).map(|n| format!("{plain}-{n}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let name = names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default();
        files.push(format!("{name}.csv"));
    }
    files
}

fn read_data(folder: &Path, clock: i32) -> Result<Dataset, ImportError> {
    let path = folder.join("schema.json");
    let shapes: Vec<TableSchema> = serde_json::from_str(&read_text(&path)?)
        .map_err(|error| ImportError::content(&path, u32::try_from(error.line()).unwrap_or(1), error.to_string()))?;
    let files = files_of(&shapes.iter().collect::<Vec<_>>());
    let tables = shapes.into_iter().zip(files).map(|(schema, file)| read_table(&folder.join(file), schema));
    Ok(Dataset { clock, tables: tables.collect::<Result<_, _>>()? })
}

fn read_table(path: &Path, schema: TableSchema) -> Result<TableData, ImportError> {
    let text = read_text(path)?;
    let records = comma::read(&text).map_err(|(line, why)| ImportError::content(path, line, why))?;
    let mut rows = Vec::with_capacity(records.len().saturating_sub(1));
    for record in records.iter().skip(1) {
        if record.fields.len() != schema.columns.len() {
            let (wanted, found) = (schema.columns.len(), record.fields.len());
            return Err(ImportError::content(path, record.line, format!("{wanted} fields expected, {found} found")));
        }
        let cells = record.fields.iter().zip(&schema.columns);
        let row = cells.map(|(field, column)| match field.is_null() {
            true if column.nullable => Ok(Value::Null),
            true => Err(format!("column {}: NULL in a column that is NOT NULL", column.name)),
            false => read_cell(column.kind, &field.text).map_err(|why| format!("column {}: {why}", column.name)),
        });
        let row = row.collect::<Result<Vec<_>, _>>();
        rows.push(row.map_err(|why| ImportError::content(path, record.line, why))?);
    }
    Ok(TableData { schema, rows })
}

/// Reads the text form of a value, as [`Value`] prints it.
fn read_cell(kind: Kind, text: &str) -> Result<Value, String> {
    let json = match kind {
        Kind::Boolean | Kind::Integer => serde_json::from_str(text).ok(),
        Kind::Float if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && text != "-Infinity" => {
            serde_json::from_str(text).ok()
        }
        _ => Some(serde_json::Value::String(text.to_owned())),
    };
    let json = json.ok_or_else(|| format!("`{text}` is no {kind}"))?;
    Value::from_json(kind, &json)
}

fn read_tasks(path: &Path, schemas: &BTreeMap<SchemaRef, Dataset>) -> Result<Vec<Task>, ImportError> {
    let text = read_text(path)?;
    let mut tasks: Vec<Task> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let task: Task =
            serde_json::from_str(line).map_err(|error| ImportError::content(path, number, error.to_string()))?;
        let wrong = match schemas.get(&task.schema) {
            None => Some(format!("task {}: no schema {}", task.id, task.schema)),
            Some(data) if data.fingerprint() != task.fingerprint => {
                Some(format!("task {}: schema {} has changed since the import", task.id, task.schema))
            }
            Some(_) if tasks.iter().any(|other| other.id == task.id) => Some(format!("task {} stands twice", task.id)),
            Some(_) => None,
        };
        if let Some(why) = wrong {
            return Err(ImportError::content(path, number, why));
        }
        tasks.push(task);
    }
    Ok(tasks)
}
