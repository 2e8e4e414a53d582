//! Snapshots and their forks.

use std::sync::{Arc, OnceLock};

use tribunal_contract::Effective;
use tribunal_engine::Tables;
use tribunal_protocol::Digest;
use tribunal_protocol::schema::{Dataset, Engine, TableSchema};
use tribunal_protocol::session::TableChanges;

use crate::backend::Backend;
use crate::error::DatabaseError;
use crate::memo::Memo;

/// Bytes of results that a snapshot remembers, unless told otherwise.
const MEMO_BYTES: usize = 16 << 20;

/// A sealed database: the start of every episode on one schema and one seed. A clone is the same
/// snapshot.
#[derive(Clone, Debug)]
pub struct Snapshot(Arc<Sealed>);

#[derive(Debug)]
struct Sealed {
    state: State,
    schemas: Vec<TableSchema>,
    digest: OnceLock<Digest>,
}

impl Snapshot {
    /// Checks a dataset (names, kinds, NOT NULL, keys, references) and seals it.
    ///
    /// # Errors
    /// What is wrong, with the table and the row.
    pub fn seal(dataset: &Dataset) -> Result<Snapshot, DatabaseError> {
        Snapshot::seal_on(dataset, Engine::default())
    }

    /// As [`Snapshot::seal`], for an engine: sessions on the snapshot and its forks run on it.
    ///
    /// # Errors
    /// As there, and a value that the engine would not keep as it is.
    pub fn seal_on(dataset: &Dataset, engine: Engine) -> Result<Snapshot, DatabaseError> {
        let tables = Tables::from_dataset(dataset)?;
        match engine {
            Engine::Gluesql => {}
            Engine::Sqlite => tribunal_sqlite::check(dataset)?,
        }
        let backend = Backend::of(engine, &tables);
        let state = State { tables, backend, memo: Arc::new(Memo::new(MEMO_BYTES)) };
        let schemas = dataset.tables.iter().map(|table| table.schema.clone());
        Ok(Snapshot(Arc::new(Sealed { state, schemas: schemas.collect(), digest: OnceLock::new() })))
    }

    /// The engine that sessions on it run on.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.0.state.backend.engine()
    }

    /// The same snapshot with a memory of its own for query results: `bytes` of them at most, 0
    /// for none. What a session gives and what it is charged do not depend on it.
    #[must_use]
    pub fn with_memo(&self, bytes: usize) -> Snapshot {
        Snapshot(Arc::new(Sealed {
            state: State { memo: Arc::new(Memo::new(bytes)), ..self.0.state.clone() },
            schemas: self.0.schemas.clone(),
            digest: self.0.digest.clone(),
        }))
    }

    /// The tables, in the order of the dataset.
    #[must_use]
    pub fn schemas(&self) -> &[TableSchema] {
        &self.0.schemas
    }

    /// What `now` is: days since 1970-01-01.
    #[must_use]
    pub fn clock(&self) -> i32 {
        self.0.state.tables.clock()
    }

    /// The canonical digest of the data.
    #[must_use]
    pub fn digest(&self) -> Digest {
        *self.0.digest.get_or_init(|| self.0.state.digest())
    }

    /// A state of one's own. It costs the same for ten rows and a million, and shares all that it
    /// does not change.
    #[must_use]
    pub fn fork(&self) -> State {
        self.0.state.clone()
    }
}

/// One state of a database: a fork of a snapshot and what was changed in it. A clone is a fork.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) tables: Tables,
    pub(crate) backend: Backend,
    pub(crate) memo: Arc<Memo>,
}

impl State {
    /// The canonical digest: the same for the same content, whatever the order of the rows, the
    /// engine and the build. Costs what changed since it was last taken.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.tables.digest()
    }

    /// Every table that differs between `first` and this state, all columns and rows of it.
    /// Costs what was changed.
    ///
    /// # Errors
    /// [`DatabaseError::Unrelated`] where the two are no forks of one snapshot.
    pub fn changes_since(&self, first: &State) -> Result<Vec<TableChanges>, DatabaseError> {
        if !self.tables.shares_base(&first.tables) {
            return Err(DatabaseError::Unrelated);
        }
        Ok(self.tables.changes_since(&first.tables, None))
    }

    /// Whether nothing was written since `first` was forked off, or everything was written back
    /// as it was.
    #[must_use]
    pub fn is_unchanged_since(&self, first: &State) -> bool {
        self.tables.is_same(&first.tables) || self.digest() == first.digest()
    }
}

/// Every table that differs between two states, as far as a contract lets its holder read.
#[must_use]
pub fn changes(first: &State, last: &State, contract: &Effective) -> Vec<TableChanges> {
    last.tables.changes_since(&first.tables, Some(contract))
}
