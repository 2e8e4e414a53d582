//! What can be wrong with a suite.

/// A fault in a suite's files, or a question about something that the suite does not hold.
#[derive(Debug, thiserror::Error)]
pub enum TasksError {
    /// A file or folder could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The file or folder.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder holds no suite.
    #[error("{0}: no suite.toml in it; a suite is a folder with suite.toml, schemas/ and families/")]
    NoSuite(String),
    /// A file's content is wrong.
    #[error("{file}: {key}: {why}")]
    Invalid {
        /// The file, relative to the suite's root.
        file: String,
        /// The key in it, such as `table accounts, column id`.
        key: String,
        /// What was expected, what is there, how to fix it.
        why: String,
    },
    /// No suite of that name is built in.
    #[error("no built-in suite `{0}`; there is: analytics (give a folder's path for your own)")]
    UnknownSuite(String),
    /// The suite has no such schema.
    #[error("no schema `{wanted}` in suite {suite}; there are: {known}")]
    UnknownSchema {
        /// What was asked for.
        wanted: String,
        /// The suite.
        suite: String,
        /// What there is.
        known: String,
    },
    /// No parameters were found under which a task can be asked.
    #[error("{file}: {key}: no fitting parameters in {tries} tries: {why}")]
    NoDraw {
        /// The terms file of the schema.
        file: String,
        /// Family and carry.
        key: String,
        /// How often it was tried.
        tries: u32,
        /// Why the last try failed.
        why: String,
    },
}

impl TasksError {
    /// A fault at `key` of `file`.
    pub(crate) fn invalid(file: impl Into<String>, key: impl Into<String>, why: impl Into<String>) -> TasksError {
        TasksError::Invalid { file: file.into(), key: key.into(), why: why.into() }
    }
}
