//! A suite's files, whether built in or read from a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

use crate::error::TasksError;

static SCHEMAS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/schemas");
static FAMILIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/families");
static SUITES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/suites");

/// Files by path, `/` between folders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(BTreeMap<String, String>);

impl Files {
    /// All built-in files.
    pub(crate) fn embedded() -> Files {
        let mut files = BTreeMap::new();
        for (prefix, dir) in [("schemas", &SCHEMAS), ("families", &FAMILIES), ("suites", &SUITES)] {
            collect_embedded(prefix, dir, &mut files);
        }
        Files(files)
    }

    /// Reads the TOML files under `folder`, at most 4 folders deep, as `prefix/...`.
    pub(crate) fn read(&mut self, prefix: &str, folder: &Path) -> Result<(), TasksError> {
        self.read_level(prefix, folder, 4)
    }

    fn read_level(&mut self, prefix: &str, folder: &Path, depth: u32) -> Result<(), TasksError> {
        let fault = |source| TasksError::Read { path: folder.display().to_string(), source };
        for entry in std::fs::read_dir(folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let (path, name) = (entry.path(), entry.file_name());
            let inner = format!("{prefix}/{}", name.to_string_lossy());
            if path.is_dir() && depth > 0 {
                self.read_level(&inner, &path, depth - 1)?;
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                self.read_file(&inner, &path)?;
            }
        }
        Ok(())
    }

    /// Reads one file as `name`.
    pub(crate) fn read_file(&mut self, name: &str, path: &Path) -> Result<(), TasksError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| TasksError::Read { path: path.display().to_string(), source })?;
        self.0.insert(name.to_owned(), text);
        Ok(())
    }

    /// Keeps only the files whose path satisfies `keep`.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|path, _| keep(path));
    }

    /// The names, without their ending, of the files that lie right in a folder.
    pub(crate) fn names_in(&self, folder: &str) -> BTreeSet<String> {
        let name = |path: &String| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".toml")?;
            (!name.contains('/')).then(|| name.to_owned())
        };
        self.0.keys().filter_map(name).collect()
    }

    /// All files, by path.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Result<&str, TasksError> {
        self.0
            .get(path)
            .map(String::as_str)
            .ok_or_else(|| TasksError::Read { path: path.to_owned(), source: std::io::ErrorKind::NotFound.into() })
    }

    /// Reads a TOML file. The fault names file, line and key.
    pub(crate) fn parse<T: DeserializeOwned>(&self, path: &str) -> Result<T, TasksError> {
        parse(path, self.text(path)?)
    }
}

/// Reads the TOML text of a file. The fault names file, line and key.
pub(crate) fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, TasksError> {
    toml::from_str(text).map_err(|fault| {
        let why = fault.message().trim().replace('\n', " ");
        let before = fault.span().and_then(|span| text.get(..span.start)).unwrap_or("");
        TasksError::invalid(path, place(before), why)
    })
}

/// The line and the key that a fault after this text is about.
fn place(before: &str) -> String {
    let number = before.matches('\n').count() + 1;
    let line = before.rsplit('\n').next().unwrap_or("");
    // `a = { b = 1` ends at the value of `b`.
    let key =
        line.trim_end().strip_suffix('=').and_then(|keys| keys.split([' ', ',', '{', '=']).rfind(|k| !k.is_empty()));
    key.map_or_else(|| format!("line {number}"), |key| format!("line {number}, {key}"))
}

fn collect_embedded(prefix: &str, dir: &Dir<'_>, files: &mut BTreeMap<String, String>) {
    for file in dir.files() {
        let path = format!("{prefix}/{}", file.path().display());
        if let Some(text) = file.contents_utf8() {
            files.insert(path.replace('\\', "/"), text.to_owned());
        }
    }
    for inner in dir.dirs() {
        collect_embedded(prefix, inner, files);
    }
}
