//! Why a folder could not be imported at all, or a suite not be written or read.

use std::path::{Path, PathBuf};

/// What stops an import. What only spoils one table or one question is a
/// [`Remark`](crate::Remark) or a class of that question instead.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file or folder could not be read.
    #[error("cannot read {path}: {why}", path = .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file or folder could not be written.
    #[error("cannot write {path}: {why}", path = .path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A file holds something that it must not hold.
    #[error("{path} line {line}: {why}", path = .path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Where, from 1.
        line: u32,
        /// What was expected and how to fix it.
        why: String,
    },
    /// The folder holds no schema.
    #[error(
        "{path}: no schema found; a folder NAME with NAME.sql, schema.sql or NAME.sqlite in it expected, or \
         schema.sql or one SQLite file itself", path = .path.display()
    )]
    NoSchemas {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds no questions.
    #[error(
        "{path}: no questions.csv found; one with the columns db_name, query and question \
         expected, here or in a schema's folder", path = .path.display()
    )]
    NoQuestions {
        /// The folder.
        path: PathBuf,
    },
    /// The clock is no date.
    #[error("clock `{given}`: a date such as 2025-06-30 expected")]
    Clock {
        /// What was given.
        given: String,
    },
    /// The target is there already.
    #[error("{path} exists; give another folder, or --force to replace it", path = .path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target exists and is not a suite that an import wrote, so it is never replaced.
    #[error(
        "{path} exists and is no imported suite; give another folder (--force replaces only \
         what an import wrote)", path = .path.display()
    )]
    Foreign {
        /// The target.
        path: PathBuf,
    },
    /// A suite of a version that this program does not read.
    #[error(
        "{path}: imported suite of format {found}, at most {supported} is read here; a newer \
         tribunal reads it", path = .path.display()
    )]
    Version {
        /// The file that says so.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is read.
        supported: u32,
    },
    /// A part of the machinery broke while the questions were judged.
    #[error("question {question}: {why}")]
    Broken {
        /// Which question.
        question: u32,
        /// What happened.
        why: String,
    },
}

impl ImportError {
    /// [`ImportError::Read`].
    pub(crate) fn read(path: &Path, why: impl ToString) -> ImportError {
        ImportError::Read { path: path.to_owned(), why: why.to_string() }
    }

    /// [`ImportError::Write`].
    pub(crate) fn write(path: &Path, why: impl ToString) -> ImportError {
        ImportError::Write { path: path.to_owned(), why: why.to_string() }
    }

    /// [`ImportError::Content`].
    pub(crate) fn content(path: &Path, line: u32, why: impl Into<String>) -> ImportError {
        ImportError::Content { path: path.to_owned(), line, why: why.into() }
    }
}
