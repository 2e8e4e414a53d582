//! What queries gave on the untouched tables of a snapshot, so that the same query on the same
//! data under the same contract runs once. Whatever it holds, a session gives the same bytes and
//! charges the same budget.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tribunal_protocol::digest::Hasher;
use tribunal_protocol::{Digest, Table, Value};

/// One remembered result.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) table: Arc<Table>,
    pub(crate) rows_scanned: u64,
    /// The tables that the query read: it holds while these are as they were sealed.
    pub(crate) reads: Arc<[String]>,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Digest, (u64, usize, Remembered)>,
    by_age: BTreeMap<u64, Digest>,
    clock: u64,
    bytes: usize,
}

/// Remembered results, the least recently used forgotten first.
#[derive(Debug)]
pub(crate) struct Memo {
    capacity: usize,
    entries: Mutex<Entries>,
}

/// Bytes of an entry besides its cells, roughly.
const OVERHEAD: usize = 256;

impl Memo {
    pub(crate) fn new(capacity: usize) -> Memo {
        Memo { capacity, entries: Mutex::default() }
    }

    /// The key of a query; none where nothing is remembered.
    pub(crate) fn key(&self, contract: Digest, sql: &str, parameters: &[Value]) -> Option<Digest> {
        if self.capacity == 0 {
            return None;
        }
        let mut hasher = Hasher::new("query");
        hasher.bytes(contract.as_bytes());
        hasher.bytes(sql.as_bytes());
        for parameter in parameters {
            hasher.value(parameter);
        }
        Some(hasher.finish())
    }

    pub(crate) fn get(&self, key: &Digest) -> Option<Remembered> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let Entries { by_key, by_age, clock, .. } = &mut *entries;
        let (age, _, remembered) = by_key.get_mut(key)?;
        by_age.remove(age);
        *clock += 1;
        *age = *clock;
        by_age.insert(*age, *key);
        Some(remembered.clone())
    }

    pub(crate) fn put(&self, key: Digest, remembered: Remembered) {
        let cells = usize::try_from(remembered.table.bytes()).unwrap_or(usize::MAX);
        let size = cells.saturating_add(OVERHEAD);
        if size > self.capacity / 4 {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.by_key.contains_key(&key) {
            return;
        }
        entries.clock += 1;
        let age = entries.clock;
        entries.by_key.insert(key, (age, size, remembered));
        entries.by_age.insert(age, key);
        entries.bytes += size;
        while entries.bytes > self.capacity {
            let Some((_, oldest)) = entries.by_age.pop_first() else { break };
            if let Some((_, size, _)) = entries.by_key.remove(&oldest) {
                entries.bytes -= size;
            }
        }
    }
}
