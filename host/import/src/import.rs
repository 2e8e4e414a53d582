//! The whole import: a folder in, a suite and a report out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tribunal_protocol::plugin::Loading;
use tribunal_protocol::task::SchemaRef;
use tribunal_protocol::value::parse_date;

use crate::draft::Remark;
use crate::error::ImportError;
use crate::folder::{ForeignSchema, file_name, read_schemas, read_sqlite};
use crate::judge::{Bench, homeless, slug};
use crate::question::{ForeignQuestion, read_one_file, read_questions};
use crate::report::ImportReport;
use crate::suite::ImportedSuite;

/// What an import gives.
#[derive(Clone, Debug)]
pub struct Import {
    /// The suite: all scored questions as tasks, and the data of all schemas.
    pub suite: ImportedSuite,
    /// What became of every question.
    pub report: ImportReport,
    /// The text of the folder's licence, where it has one.
    pub licence_text: Option<String>,
}

/// Reads a folder of foreign schemas and questions, judges every question, and makes a suite of
/// those that are scored. `clock` is what `now` is in it: an ISO date, such as [`DEFAULT_CLOCK`].
///
/// [`DEFAULT_CLOCK`]: crate::DEFAULT_CLOCK
///
/// # Errors
/// Where the folder cannot be read, or the clock is no date. What is wrong with a table or a
/// question is in the report instead.
pub fn import(folder: &Path, clock: &str) -> Result<Import, ImportError> {
    let schemas = read_schemas(folder, day(clock)?)?;
    let known: Vec<String> = schemas.iter().map(|schema| schema.name.clone()).collect();
    let (questions, left_out) = read_questions(folder, &known)?;
    let licence_text = fs::read_to_string(folder.join("LICENSE")).ok();
    let name = source_name(folder);
    let source = Source { source: format!("the folder `{name}`"), name, licence_text };
    made(source, schemas, &questions, left_out, clock)
}

/// As [`import()`], of one SQLite file. Without a file of questions it is `questions.csv` beside it
/// that counts, and without that there are none: the suite then holds the data alone.
///
/// # Errors
/// As there.
pub fn import_file(file: &Path, questions: Option<&Path>, clock: &str) -> Result<Import, ImportError> {
    let schema = read_sqlite(file, day(clock)?)?;
    let beside = file.with_file_name("questions.csv");
    let beside = beside.is_file().then_some(beside.as_path());
    let (asked, left_out) = match questions.or(beside) {
        Some(questions) => read_one_file(questions, &schema.name)?,
        None => (Vec::new(), Vec::new()),
    };
    let source = format!("the file `{}`", file_name(file));
    let source = Source { source, name: schema.name.clone(), licence_text: None };
    made(source, vec![schema], &asked, left_out, clock)
}

fn day(clock: &str) -> Result<i32, ImportError> {
    let day = parse_date(clock).filter(|_| clock.len() == 10);
    day.ok_or_else(|| ImportError::Clock { given: clock.to_owned() })
}

/// Where an import comes from.
struct Source {
    source: String,
    name: String,
    licence_text: Option<String>,
}

fn made(
    source: Source,
    schemas: Vec<ForeignSchema>,
    questions: &[ForeignQuestion],
    left_out: Vec<String>,
    clock: &str,
) -> Result<Import, ImportError> {
    let known: Vec<String> = schemas.iter().map(|schema| schema.name.clone()).collect();
    let name = suite_name(&source.name);
    let version = "1";
    let suite_ref = format!("{name}@{version}");
    let references = references(&known);
    let benches: BTreeMap<&str, Bench<'_>> = schemas
        .iter()
        .filter_map(|schema| Some((schema, references.get(&schema.name)?.clone())))
        .map(|(schema, reference)| (schema.name.as_str(), Bench::new(schema, reference)))
        .collect();
    let mut results = Vec::with_capacity(questions.len());
    let mut tasks = Vec::new();
    for question in questions {
        match benches.get(question.schema.as_str()) {
            None => results.push(homeless(question, &known)),
            Some(bench) => {
                let (result, task) = bench.judge(&suite_ref, question);
                results.push(result);
                tasks.extend(task);
            }
        }
    }
    drop(benches);
    let problems = schemas.iter().flat_map(|schema| schema.problems.clone()).collect();
    let mut notes: Vec<Remark> = schemas.iter().flat_map(|schema| schema.notes.clone()).collect();
    notes.extend(left_out.into_iter().map(|column| Remark {
        file: column.split(':').next().unwrap_or_default().to_owned(),
        line: 1,
        table: None,
        what: format!("a column that is not read: {}", column.rsplit(": ").next().unwrap_or_default()),
    }));
    let data = schemas.into_iter().filter_map(|schema| Some((references.get(&schema.name)?.clone(), schema.data)));
    let suite = ImportedSuite {
        name,
        version: version.to_owned(),
        clock: day(clock)?,
        source: source.source,
        licence: source.licence_text.as_deref().map_or_else(|| "not stated".to_owned(), licence_name),
        tasks,
        schemas: data.collect(),
        loading: Loading::default(),
    };
    let report = ImportReport::new(clock.to_owned(), results, problems, notes);
    Ok(Import { suite, report, licence_text: source.licence_text })
}

/// The schemas as tasks name them: safe as folders' names, and unique.
fn references(names: &[String]) -> BTreeMap<String, SchemaRef> {
    let mut taken = BTreeSet::new();
    let mut references = BTreeMap::new();
    for name in names {
        let plain = slug(name);
        let numbered = (2_u32..).map(|n| format!("{plain}-{n}"));
        let mut free = std::iter::once(plain.clone()).chain(numbered);
        let free = free.find(|free| taken.insert(free.clone())).unwrap_or_default();
        references.insert(name.clone(), SchemaRef { name: free, version: 1 });
    }
    references
}

fn source_name(folder: &Path) -> String {
    let whole = folder.canonicalize().ok();
    file_name(whole.as_deref().unwrap_or(folder))
}

/// The name of a folder or file as a suite's: letters, digits, `-` and `_`.
fn suite_name(source: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let name: String = source.chars().map(safe).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "imported".to_owned() } else { name.to_owned() }
}

/// The first two lines of a licence that say something: its name, and often its version.
fn licence_name(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let name = lines.next().unwrap_or("not stated");
    match lines.next() {
        Some(version) if version.starts_with("Version") => format!("{name}, {version} (see LICENSE)"),
        _ => format!("{name} (see LICENSE)"),
    }
}
