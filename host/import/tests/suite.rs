//! An imported suite on disk: whole or not at all, and the same when read back.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tribunal_import::{DEFAULT_CLOCK, Import, ImportError, ImportedSuite, import};

const SCHEMA: &str = "
    CREATE TABLE \"Odd name\" (id int PRIMARY KEY, t text, f real, d numeric(9,2), b boolean, day date, at timestamp);
    INSERT INTO \"Odd name\" VALUES
        (1, 'a,\"b\"', 0.1, 1.50, TRUE, CURRENT_DATE, '2024-01-02 03:04:05.5'),
        (2, '', -2e300, NULL, FALSE, NULL, NULL),
        (3, NULL, 1e-7, -0.01, NULL, '1969-12-31', '1969-12-31');
    CREATE TABLE \"odd-name\" (only text);
    INSERT INTO \"odd-name\" VALUES (NULL), ('\\N'), ('x');
";

fn made() -> (TempDir, Import) {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("schema.sql"), SCHEMA).unwrap();
    fs::write(folder.path().join("LICENSE"), "\n  Apache License\n  Version 2.0, January 2004\n").unwrap();
    let questions = "query,question\nSELECT COUNT(*) AS n FROM \"Odd name\",How many?\n";
    fs::write(folder.path().join("questions.csv"), questions).unwrap();
    let import = import(folder.path(), DEFAULT_CLOCK).unwrap();
    (folder, import)
}

fn write(import: &Import, path: &Path, force: bool) -> Result<(), ImportError> {
    import.suite.write(path, &import.report, import.licence_text.as_deref(), force)
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn it_reads_back_as_it_was_and_twice_gives_the_same_bytes() {
    let (_folder, import) = made();
    assert_eq!(import.suite.tasks.len(), 1, "{:?}", import.report.results);
    let target = TempDir::new().unwrap();
    let (one, two) = (target.path().join("one"), target.path().join("two"));
    write(&import, &one, false).unwrap();
    write(&import, &two, false).unwrap();
    assert_eq!(files(&one), files(&two));
    assert!(ImportedSuite::is_at(&one));
    let back = ImportedSuite::load(&one).unwrap();
    assert_eq!(back, import.suite);
    assert_eq!(back.digest(), import.suite.digest());
    assert_eq!(back.licence, "Apache License, Version 2.0, January 2004 (see LICENSE)");
    let left: Vec<_> = fs::read_dir(target.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn nothing_is_replaced_unless_asked_and_never_what_is_not_ours() {
    let (_folder, import) = made();
    let target = TempDir::new().unwrap();
    let path = target.path().join("suite");
    fs::create_dir(&path).unwrap();
    // An empty folder is as good as none.
    write(&import, &path, false).unwrap();
    assert!(matches!(write(&import, &path, false), Err(ImportError::Exists { .. })));
    fs::write(path.join("tasks.jsonl"), "broken").unwrap();
    write(&import, &path, true).unwrap();
    assert_eq!(ImportedSuite::load(&path).unwrap(), import.suite);
    let foreign = target.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(write(&import, &foreign, true), Err(ImportError::Foreign { .. })));
    assert_eq!(fs::read(foreign.join("thesis.txt")).unwrap(), b"years of work");
}

#[test]
fn a_place_that_cannot_be_written_leaves_nothing_behind() {
    let (_folder, import) = made();
    let target = TempDir::new().unwrap();
    let file = target.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(write(&import, &file.join("suite"), false), Err(ImportError::Write { .. })));
    assert_eq!(files(target.path()).len(), 1);
}

#[test]
fn what_was_altered_is_named() {
    let (_folder, import) = made();
    let target = TempDir::new().unwrap();
    let path = target.path().join("suite");
    let alter = |file: &str, from: &str, to: &str| {
        write(&import, &path, true).unwrap();
        let file = path.join(file);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        ImportedSuite::load(&path).unwrap_err().to_string()
    };
    let schema = fs::read_dir({
        write(&import, &path, true).unwrap();
        path.join("schemas")
    });
    let schema = schema.unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let file = |name: &str| format!("schemas/{schema}/{name}");
    for (name, from, to, part) in [
        ("suite.toml".to_owned(), "format = 1", "format = 2", "format 2, at most 1"),
        ("suite.toml".to_owned(), "2025-06-30", "yesterday", "clock `yesterday`"),
        ("suite.toml".to_owned(), "name = ", "nmae = ", "line 1"),
        ("tasks.jsonl".to_owned(), "\"id\"", "\"di\"", "line 1"),
        (file("schema.json"), "\"nullable\": true", "\"nullable\": false", "NULL in a column that is NOT NULL"),
        (file("schema.json"), "\"kind\": \"integer\"", "\"kind\": \"text\"", "has changed since the import"),
        (file("Odd_name.csv"), "\n2,", "\nb,", "line 3: column id"),
        (file("Odd_name.csv"), "\n2,", "\n2,2,", "line 3: 7 fields expected, 8 found"),
    ] {
        let error = alter(&name, from, to);
        assert!(error.contains(part), "{name}: {error}");
    }
}
