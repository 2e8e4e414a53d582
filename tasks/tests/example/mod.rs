//! The suite of README.md, as files.

#![allow(dead_code, clippy::unwrap_used, reason = "tests, each with its own part of this")]

use std::fs;
use std::path::{Path, PathBuf};

use tribunal_tasks::{Suite, TasksError};

/// The files on the page: a heading with the name, then the first block of TOML after it.
pub fn files() -> Vec<(String, String)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tasks/README.md")).unwrap();
    let file = |part: &str| {
        let (name, rest) = part.split_once('`')?;
        let (text, _) = rest.split_once("```toml\n")?.1.split_once("```")?;
        Some((name.to_owned(), text.to_owned()))
    };
    page.split("#### `").skip(1).map(|part| file(part).unwrap()).collect()
}

/// A folder with the suite in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files() {
            folder.write(&name, &text);
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The folder with one text in a file replaced by another.
    #[must_use]
    pub fn with(self, name: &str, from: &str, to: &str) -> Folder {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{name}: {from}");
        self.write(name, &text.replace(from, to));
        self
    }

    /// The folder with more text at a file's end.
    #[must_use]
    pub fn and(self, name: &str, more: &str) -> Folder {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        self.write(name, &format!("{text}\n{more}\n"));
        self
    }

    #[must_use]
    pub fn without(self, name: &str) -> Folder {
        fs::remove_file(self.path(name)).unwrap();
        self
    }

    pub fn load(&self) -> Result<Suite, TasksError> {
        Suite::load(self.0.path())
    }
}
