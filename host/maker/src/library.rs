//! The data of a suite, made and sealed once for each schema and seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tribunal_database::Snapshot;
use tribunal_episode::Datasets;
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::task::SchemaRef;

/// Where rows come from: a suite's generators, or an imported folder.
pub trait Source: Send + Sync {
    /// The data of a schema at a seed.
    ///
    /// # Errors
    /// Why there is none.
    fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, String>;
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

    /// The rows themselves, made again.
    ///
    /// # Errors
    /// Why there are none.
    pub fn dataset(&self, schema: &SchemaRef, seed: u64) -> Result<Dataset, String> {
        self.source.dataset(schema, seed)
    }
}

impl Datasets for Library {
    fn snapshot(&self, schema: &SchemaRef, seed: u64) -> Result<Snapshot, String> {
        let shelf = {
            let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(shelves.entry((schema.clone(), seed)).or_default())
        };
        let mut slot = shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = slot.as_ref() {
            return Ok(snapshot.clone());
        }
        let dataset = self.source.dataset(schema, seed)?;
        let snapshot = Snapshot::seal(&dataset).map_err(|why| why.to_string())?;
        *slot = Some(snapshot.clone());
        Ok(snapshot)
    }
}
