//! Splits: what is trained on and what is held out must be there, once, and apart.

use std::collections::BTreeMap;

use tribunal_protocol::digest::Digest;

use super::listed;
use crate::error::TasksError;
use crate::files::Files;
use crate::plan::{Splits, SuiteFile};

/// Refuses a schema or family that stands twice, or whose name cannot be part of a task's.
pub(crate) fn names(file: &SuiteFile, path: &str) -> Result<(), TasksError> {
    let Splits { train_schemas, new_schemas, new_variants: _, train_families, new_families } = &file.splits;
    for (what, train, new) in [("schema", train_schemas, new_schemas), ("family", train_families, new_families)] {
        let mut seen = std::collections::BTreeSet::new();
        for name in train.iter().chain(new) {
            if !seen.insert(name) {
                let why = format!("{what} {name} stands twice; it is either trained on or held out");
                return Err(TasksError::invalid(path, "splits", why));
            }
            safe(name).map_err(|why| TasksError::invalid(path, "splits", format!("{what} {why}")))?;
        }
    }
    safe(&file.name).map_err(|why| TasksError::invalid(path, "name", why))
}

/// Names become parts of files' names.
fn safe(name: &str) -> Result<(), String> {
    let lawful = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !name.is_empty() && name.chars().all(lawful) {
        true => Ok(()),
        false => Err(format!("`{name}`: letters, digits, `-` and `_` expected")),
    }
}

/// Refuses a name for which there is no file; `by` is the file and the key that name it.
pub(crate) fn files(known: &Files, by: (&str, &str), what: &str, wanted: &str) -> Result<(), TasksError> {
    if known.text(wanted).is_ok() {
        return Ok(());
    }
    let why = format!("{what}: there is no file {wanted}; write it, or take the name out");
    Err(TasksError::invalid(by.0, by.1, why))
}

/// Refuses a held-out schema that looks just like one that is trained on.
pub(crate) fn fingerprints(
    file: &SuiteFile,
    path: &str,
    of: &dyn Fn(&str) -> Option<Digest>,
) -> Result<(), TasksError> {
    let mut trained: BTreeMap<Digest, &str> = BTreeMap::new();
    for name in &file.splits.train_schemas {
        trained.extend(of(name).map(|print| (print, name.as_str())));
    }
    for name in &file.splits.new_schemas {
        if let Some(twin) = of(name).and_then(|print| trained.get(&print)) {
            let why = format!(
                "schema {name} is held out, but has the same tables, columns and keys as {twin}, which is trained on; \
                 trained on are: {}",
                listed(trained.values().copied())
            );
            return Err(TasksError::invalid(path, "splits", why));
        }
    }
    Ok(())
}
