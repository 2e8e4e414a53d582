//! The data of a suite, made and sealed once for each schema and seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tribunal_database::Snapshot;
use tribunal_episode::Datasets;
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::task::SchemaRef;

/// Where rows come from: a suite's generators, or an imported folder.
pub trait Source: Send + Sync {
    /// The data of a schema at a seed.
    ///
    /// # Errors
    /// Why there is none.
    fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, String>;

    /// What runs the SQL of a schema.
    ///
    /// # Errors
    /// Why that cannot be said.
    fn engine(&self, schema: &SchemaRef) -> Result<Engine, String>;
}

/// One made and sealed dataset, or the lock under which it is being made.
type Shelf = Arc<Mutex<Option<Snapshot>>>;

/// Sealed snapshots of a source; each is made once, whoever asks first.
pub struct Library {
    source: Box<dyn Source>,
    shelves: Mutex<BTreeMap<(SchemaRef, u64), Shelf>>,
}

impl Library {
    /// An empty library.
    #[must_use]
    pub fn new(source: Box<dyn Source>) -> Library {
        Library { source, shelves: Mutex::new(BTreeMap::new()) }
    }

    /// Lets all data go that is not in use; what is asked for again is made again.
    pub fn forget(&self) {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The rows of a schema at a seed, and the snapshot that is sealed of them. The rows are not
    /// kept: whoever asks first for a snapshot gets those that it was sealed of, and only a later
    /// one has them made again.
    ///
    /// # Errors
    /// Why there are none.
    pub fn rows(&self, schema: &SchemaRef, seed: u64) -> Result<(Dataset, Snapshot), String> {
        let (rows, snapshot) = self.take(schema, seed)?;
        let rows = rows.map_or_else(|| self.source.dataset(schema, seed), Ok)?;
        Ok((rows, snapshot))
    }

    /// The snapshot, with the rows where it had to be made.
    fn take(&self, schema: &SchemaRef, seed: u64) -> Result<(Option<Dataset>, Snapshot), String> {
        let shelf = {
            let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shelves.entry((schema.clone(), seed)).or_default())
        };
        let mut slot = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = slot.as_ref() {
            return Ok((None, snapshot.clone()));
        }
        let dataset = self.source.dataset(schema, seed)?;
        let engine = self.source.engine(schema)?;
        let snapshot = Snapshot::seal_on(&dataset, engine).map_err(|why| why.to_string())?;
        *slot = Some(snapshot.clone());
        Ok((Some(dataset), snapshot))
    }
}

impl Datasets for Library {
    fn snapshot(&self, schema: &SchemaRef, seed: u64) -> Result<Snapshot, String> {
        self.take(schema, seed).map(|(_, snapshot)| snapshot)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tribunal_protocol::schema::{ColumnSchema, TableData, TableSchema};
    use tribunal_protocol::{Kind, Value};

    use super::*;

    /// A table with the seed in it, and how often one was made.
    #[derive(Clone, Default)]
    struct Counted(Arc<AtomicUsize>);

    impl Source for Counted {
        fn dataset(&self, _schema: &SchemaRef, seed: u64) -> Result<Dataset, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let columns = vec![ColumnSchema::new("seed", Kind::Integer, false)];
            let rows = vec![vec![Value::Integer(i64::try_from(seed).map_err(|why| why.to_string())?)]];
            let schema = TableSchema::new("t", columns, &[]);
            Ok(Dataset { clock: 0, tables: vec![TableData { schema, rows }] })
        }

        fn engine(&self, schema: &SchemaRef) -> Result<Engine, String> {
            Ok(if schema.name == "q" { Engine::Sqlite } else { Engine::Gluesql })
        }
    }

    #[test]
    fn rows_are_made_once_for_their_first_snapshot() {
        let source = Counted::default();
        let library = Library::new(Box::new(source.clone()));
        let schema = SchemaRef { name: "s".to_owned(), version: 1 };
        let made = || source.0.load(Ordering::Relaxed);
        let (rows, sealed) = library.rows(&schema, 7).unwrap();
        assert_eq!((rows.tables[0].rows[0][0].clone(), made()), (Value::Integer(7), 1));
        // The snapshot is that of these rows, and is there from now on.
        assert_eq!(sealed.digest(), Snapshot::seal(&rows).unwrap().digest());
        assert_eq!(library.snapshot(&schema, 7).unwrap().digest(), sealed.digest());
        assert_eq!(made(), 1);
        // Rows are not kept; another seed is another dataset.
        assert_eq!(library.rows(&schema, 7).unwrap().0, rows);
        assert_eq!(made(), 2);
        assert_ne!(library.snapshot(&schema, 8).unwrap().digest(), sealed.digest());
        assert_eq!(made(), 3);
        // A schema has its engine, and the same content the same digest on each.
        let other = library.snapshot(&SchemaRef { name: "q".to_owned(), version: 1 }, 7).unwrap();
        assert_eq!((sealed.engine(), other.engine()), (Engine::Gluesql, Engine::Sqlite));
        assert_eq!(other.digest(), sealed.digest());
    }
}
