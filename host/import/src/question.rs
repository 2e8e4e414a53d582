//! `questions.csv`: what is asked of which schema, and what is accepted as an answer.

use std::path::Path;

use crate::comma::{self, Record};
use crate::error::ImportError;
use crate::folder::{entries, file_name, own_file, read_text, shown};

/// One question of a foreign folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignQuestion {
    /// Its number in the whole import, from 1.
    pub number: u32,
    /// The file, relative to the imported folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The schema that it is about.
    pub schema: String,
    /// Its category, where its author gives one.
    pub category: String,
    /// The gold, with all alternatives.
    pub gold: String,
    /// What is asked.
    pub question: String,
    /// What the asker adds.
    pub instructions: String,
}

/// Columns that are read, with the names that they may have.
const COLUMNS: [&[&str]; 5] = [
    &["db_name", "db_id", "schema", "database"],
    &["query", "sql", "gold"],
    &["question"],
    &["query_category", "category"],
    &["instructions", "evidence"],
];
/// Known columns that change nothing.
const IGNORED: [&str; 1] = ["db_type"];

/// Reads all questions of a folder: `questions.csv` in it, and in the folders of its schemas.
/// Also gives the columns that were left out, each as `file: column`.
///
/// # Errors
/// Where no file is there, a file is no CSV, or a column is missing.
pub fn read_questions(folder: &Path, schemas: &[String]) -> Result<(Vec<ForeignQuestion>, Vec<String>), ImportError> {
    let mut questions = Vec::new();
    let mut left_out = Vec::new();
    let single = own_file(folder)?.is_some();
    let own = schemas.first().filter(|_| single).map(String::as_str);
    let mut files = vec![(folder.join("questions.csv"), own.map(str::to_owned))];
    for path in entries(folder)? {
        let name = file_name(&path);
        if !single && schemas.contains(&name) {
            files.push((path.join("questions.csv"), Some(name)));
        }
    }
    let mut any = false;
    for (path, own) in files {
        if path.is_file() {
            any = true;
            let file = shown(folder, &path);
            let mut columns = read_file(&path, &file, own.as_deref(), &mut questions)?;
            left_out.append(&mut columns);
        }
    }
    match any {
        true => Ok((questions, left_out)),
        false => Err(ImportError::NoQuestions { path: folder.to_owned() }),
    }
}

/// Reads the questions of one file about one schema. Also gives the columns that were left out.
///
/// # Errors
/// As [`read_questions`].
pub(crate) fn read_one_file(path: &Path, schema: &str) -> Result<(Vec<ForeignQuestion>, Vec<String>), ImportError> {
    let mut questions = Vec::new();
    let left_out = read_file(path, &file_name(path), Some(schema), &mut questions)?;
    Ok((questions, left_out))
}

fn read_file(
    path: &Path,
    file: &str,
    own: Option<&str>,
    questions: &mut Vec<ForeignQuestion>,
) -> Result<Vec<String>, ImportError> {
    let source = read_text(path)?;
    let records = comma::read(&source).map_err(|(line, why)| ImportError::content(path, line, why))?;
    let mut records = records.into_iter();
    let no_header = || ImportError::content(path, 1, "a line of column names expected");
    let header = records.next().ok_or_else(no_header)?;
    let places = COLUMNS.map(|names| place(&header, names));
    for (names, place) in COLUMNS.iter().zip(&places).skip(1).take(2) {
        if place.is_none() {
            let name = names.first().copied().unwrap_or_default();
            let why = format!("no column `{name}`; columns db_name, query and question expected");
            return Err(ImportError::content(path, header.line, why));
        }
    }
    for record in records {
        if record.fields.len() != header.fields.len() {
            let (wanted, found) = (header.fields.len(), record.fields.len());
            let why = format!("{wanted} fields expected as in the first line, {found} found");
            return Err(ImportError::content(path, record.line, why));
        }
        let [schema, gold, question, category, instructions] = places.map(|place| {
            let field = place.and_then(|place| record.fields.get(place));
            field.map_or_else(String::new, |field| field.text.trim().to_owned())
        });
        let schema = match (schema.is_empty(), own) {
            (false, _) => schema,
            (true, Some(own)) => own.to_owned(),
            (true, None) => {
                let why = "which schema it is about is missing: a column db_name expected";
                return Err(ImportError::content(path, record.line, why));
            }
        };
        let number = u32::try_from(questions.len() + 1).unwrap_or(u32::MAX);
        questions.push(ForeignQuestion {
            number,
            file: file.to_owned(),
            line: record.line,
            schema,
            category,
            gold,
            question,
            instructions,
        });
    }
    let known = |name: &str| {
        let mut names = COLUMNS.iter().copied().flatten().chain(&IGNORED);
        names.any(|known| known.eq_ignore_ascii_case(name))
    };
    let names = header.fields.iter().map(|field| field.text.trim());
    let unknown = names.filter(|name| !known(name));
    Ok(unknown.map(|name| format!("{file}: {name}")).collect())
}

fn place(header: &Record, names: &[&str]) -> Option<usize> {
    let find = |name: &&str| {
        let mut fields = header.fields.iter();
        fields.position(|field| field.text.trim().eq_ignore_ascii_case(name))
    };
    names.iter().find_map(find)
}
