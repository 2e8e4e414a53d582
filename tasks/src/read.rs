//! Reads a suite's files and checks what can be checked before anything is drawn.

use std::collections::BTreeMap;

use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::task::{SchemaRef, TaskKind};

use crate::check;
use crate::error::TasksError;
use crate::family::Family;
use crate::files::{self, Files};
use crate::generate::Lists;
use crate::plan::{SuiteFile, schema_ref};
use crate::render::Renderer;
use crate::shape::{FORMAT, Shape};
use crate::suite::{Schema, Suite, Variation};
use crate::terms::Terms;
use crate::trap::{self, Finding};
use crate::vary::{WordLists, WordsFile};

/// Reads the suite whose `suite.toml` lies in the folder `base`.
pub(crate) fn suite(mut files: Files, base: &str) -> Result<Suite, TasksError> {
    let suite_path = format!("{base}/suite.toml");
    let file: SuiteFile = files.parse(&suite_path)?;
    check_format(&suite_path, file.format)?;
    check::names(&file, &suite_path)?;
    let (schema_folder, family_folder) = (joined(base, &file.schemas), joined(base, &file.families));
    let lists_path = format!("{schema_folder}/lists.toml");
    let lists = if files.text(&lists_path).is_ok() { files.parse(&lists_path)? } else { Lists::new() };
    let words_path = format!("{schema_folder}/words.toml");
    let held_out_path = format!("{schema_folder}/held-out-words.toml");
    let lists_at = |path: &str| match files.text(path) {
        Ok(_) => files.parse::<WordLists>(path),
        Err(_) => Ok(WordLists::new()),
    };
    let words = [lists_at(&words_path)?, lists_at(&held_out_path)?];
    let families = read_families(&files, &file, &family_folder, &suite_path)?;
    let schemas = read_schemas(&files, &file, &schema_folder, &suite_path)?;
    let family_files = files.names_in(&family_folder);
    files.retain(|path| {
        let of_schema = |schema: &SchemaRef| path.starts_with(&schema_path(&schema_folder, schema));
        let of_family = |family: &String| path == format!("{family_folder}/{family}.toml");
        [&suite_path, &lists_path, &words_path, &held_out_path].contains(&&path.to_owned())
            || schemas.keys().any(of_schema)
            || families.keys().any(of_family)
    });
    let folders = [(suite_path.as_str(), "suite.toml"), (&schema_folder, "schemas"), (&family_folder, "families")];
    let digest = digest(&files, &folders);
    let mut suite =
        Suite { digest, file, suite_path, lists, words, schemas, families, family_files, renderer: Renderer::new() };
    suite.hold_out_variants()?;
    check_all(&suite)?;
    Ok(suite)
}

/// Checks what the parts of a suite say of each other.
pub(crate) fn check_all(suite: &Suite) -> Result<(), TasksError> {
    check_carries(suite)?;
    check_rows(suite)?;
    check_quotas(suite)
}

/// Makes the rows of every schema once, to see that they can be made and are sound.
fn check_rows(suite: &Suite) -> Result<(), TasksError> {
    let mut prints = BTreeMap::new();
    for (schema, files) in &suite.schemas {
        let dataset = suite.dataset(schema, 0)?;
        if let Some(Finding { table, what }) = trap::validity(&dataset).into_iter().next() {
            return Err(TasksError::invalid(&files.shape_file, format!("table {table}, rows"), what));
        }
        prints.insert(schema.to_string(), dataset.fingerprint());
    }
    check::fingerprints(&suite.file, &suite.suite_path, &|name| prints.get(name).copied())
}

fn check_quotas(suite: &Suite) -> Result<(), TasksError> {
    let wanted = suite.file.quotas.iter().filter(|(_, count)| **count > 0);
    match wanted.map(|(split, _)| *split).find(|split| suite.pairs(*split).is_empty()) {
        None => Ok(()),
        Some(split) => {
            let why = format!("no schema of the split {split} carries a family of it; hold some out, or set it to 0");
            Err(TasksError::invalid(&suite.suite_path, format!("quotas.{split}"), why))
        }
    }
}

/// Fewer wrong ways than this, and a judge that lets one fault pass may go unnoticed.
const MUTANTS_MIN: usize = 3;

fn check_carries(suite: &Suite) -> Result<(), TasksError> {
    let around = check::Around { files: &suite.family_files, family: &|name| suite.families.get(name) };
    for schema in suite.schemas.values() {
        check::carries(schema, &around)?;
        for carry in &schema.terms.carries {
            // A schema may carry families that this suite leaves out.
            let Some(family) = suite.families.get(&carry.family) else {
                continue;
            };
            carry.check(family, &schema.terms_file)?;
            let mutants = family.mutants.iter().chain(&carry.mutants);
            let shown = mutants.filter(|form| form.needs.iter().all(|term| carry.has(term))).count();
            if family.kind == TaskKind::Answer && shown < MUTANTS_MIN {
                let why = format!("at least {MUTANTS_MIN} mutants expected, {shown} can be shown with these terms");
                return Err(TasksError::invalid(&schema.terms_file, carry.key(), why));
            }
        }
    }
    Ok(())
}

fn check_format(file: &str, format: u32) -> Result<(), TasksError> {
    if format == FORMAT {
        return Ok(());
    }
    let why = format!("format {FORMAT} expected, {format} given; another version of tribunal reads that");
    Err(TasksError::invalid(file, "format", why))
}

fn read_families(
    files: &Files,
    file: &SuiteFile,
    folder: &str,
    suite_path: &str,
) -> Result<BTreeMap<String, Family>, TasksError> {
    let mut families = BTreeMap::new();
    let mut wanted: Vec<(String, (String, &str))> =
        file.splits.families().map(|name| (name.clone(), (suite_path.to_owned(), "splits"))).collect();
    while let Some((name, (by, key))) = wanted.pop() {
        if families.contains_key(&name) {
            continue;
        }
        let path = format!("{folder}/{name}.toml");
        check::files(files, (&by, key), &format!("family {name}"), &path)?;
        let family: Family = files.parse(&path)?;
        check_format(&path, family.format)?;
        if family.name != name {
            let why = format!("`{name}` expected as in the file's name, `{}` given", family.name);
            return Err(TasksError::invalid(path, "name", why));
        }
        wanted.extend(family.like.clone().map(|like| (like, (path, "like"))));
        families.insert(name, family);
    }
    for (name, family) in &families {
        let base = family.like.as_ref().and_then(|base| families.get(base));
        check::family(family, base, &format!("{folder}/{name}.toml"))?;
    }
    Ok(families)
}

fn schema_path(folder: &str, schema: &SchemaRef) -> String {
    format!("{folder}/{}/v{}/", schema.name, schema.version)
}

fn read_schemas(
    files: &Files,
    file: &SuiteFile,
    folder: &str,
    suite_path: &str,
) -> Result<BTreeMap<SchemaRef, Schema>, TasksError> {
    let mut schemas = BTreeMap::new();
    for name in file.splits.schemas() {
        let schema = schema_ref(name).map_err(|why| TasksError::invalid(suite_path, "splits", why))?;
        let path = schema_path(folder, &schema);
        let (shape_file, terms_file) = (format!("{path}schema.toml"), format!("{path}terms.toml"));
        for file in [&shape_file, &terms_file] {
            check::files(files, (suite_path, "splits"), &format!("schema {name}"), file)?;
        }
        let mut read = read_schema(
            (shape_file.clone(), files.text(&shape_file)?),
            (terms_file.clone(), files.text(&terms_file)?),
        )?;
        let words_file = format!("{path}words.toml");
        if files.text(&words_file).is_ok() {
            let words: WordsFile = files.parse(&words_file)?;
            check_format(&words_file, words.format)?;
            let texts = [files.text(&shape_file)?.to_owned(), files.text(&terms_file)?.to_owned()];
            read.variation = Some(Variation { words, words_file, texts });
        }
        schemas.insert(schema, read);
    }
    Ok(schemas)
}

/// Reads the two files of a schema, each given as its path and its text.
pub(crate) fn read_schema(shape: (String, &str), terms: (String, &str)) -> Result<Schema, TasksError> {
    let ((shape_file, shape), (terms_file, terms)) = (shape, terms);
    let shape: Shape = files::parse(&shape_file, shape)?;
    let mut terms: Terms = files::parse(&terms_file, terms)?;
    check_format(&shape_file, shape.format)?;
    check_format(&terms_file, terms.format)?;
    check::shape(&shape, &shape_file)?;
    terms.settle(&terms_file)?;
    Ok(Schema { shape, shape_file, terms, terms_file, variation: None })
}

/// Joins a relative path with `..` in it to a folder's.
pub(crate) fn joined(base: &str, relative: &str) -> String {
    let mut steps: Vec<&str> = base.split('/').collect();
    for step in relative.split('/') {
        match step {
            "." | "" => {}
            ".." => {
                steps.pop();
            }
            name => steps.push(name),
        }
    }
    steps.join("/")
}

/// The digest of a suite's files, wherever it lies: paths count from the suite's own folders.
fn digest(files: &Files, folders: &[(&str, &str)]) -> Digest {
    let mut hasher = Hasher::new("suite 1");
    for (from, name) in folders {
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(from)) {
            hasher.bytes(name.as_bytes());
            hasher.bytes(&path.as_bytes()[from.len()..]);
            hasher.bytes(text.as_bytes());
        }
    }
    hasher.finish()
}

impl crate::plan::Splits {
    fn schemas(&self) -> impl Iterator<Item = &String> {
        self.train_schemas.iter().chain(&self.new_schemas)
    }

    fn families(&self) -> impl Iterator<Item = &String> {
        self.train_families.iter().chain(&self.new_families)
    }
}
