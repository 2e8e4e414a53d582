//! What can be wrong with a contract. These texts are for authors; an agent never reads them.

/// A contract that cannot be read, or that does not fit a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// The TOML is not a contract.
    #[error("line {line}: {message}")]
    Syntax {
        /// From 1.
        line: usize,
        /// What is wrong, with what is allowed.
        message: String,
    },
    /// The file is of a newer format.
    #[error("contract format {found} is newer than this program reads ({known}); update tribunal")]
    Newer {
        /// The format of the file.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// Something is said twice, or contradicts itself.
    #[error("{place}: {message}")]
    Conflict {
        /// Where, such as `[[read]] table "invoices"`.
        place: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// A row filter that cannot be read, or does not fit its table.
    #[error("{place}, rows = {filter:?}: {message}")]
    Filter {
        /// Where, such as `[[read]] table "invoices"`.
        place: String,
        /// The filter as written.
        filter: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A table that the database lacks.
    #[error("{place}: no such table; the database has {known}")]
    UnknownTable {
        /// Where, such as `[[read]] table "invoises"`.
        place: String,
        /// The tables that exist, the nearest first.
        known: String,
    },
    /// A column that the table lacks.
    #[error("{place}: no column {column:?}; the table has {known}")]
    UnknownColumn {
        /// Where, such as `[[read]] table "invoices"`.
        place: String,
        /// The column as written.
        column: String,
        /// The columns that exist, the nearest first.
        known: String,
    },
}
