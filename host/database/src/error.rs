//! What can go wrong with a database; for authors and organisers, never for agents.

use tribunal_engine::SealError;
use tribunal_sqlite::SqliteError;

/// A database that cannot be made, or two that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// A dataset that does not fit its own schema.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A dataset that SQLite would not keep as it is.
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    /// Two states that are no forks of one snapshot.
    #[error("the two states come from different snapshots; compare forks of one")]
    Unrelated,
}
