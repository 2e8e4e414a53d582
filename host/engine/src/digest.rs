//! The canonical digest of a state: the same for the same content, whatever the order of the rows,
//! the engine and the build.
//!
//! - a row: its values in column order, typed ([`Hasher::value`]);
//! - a bucket: the sorted digests of the rows whose digest begins with the same byte;
//! - a table: its name, the name and kind of every column, how many rows it has, and every bucket
//!   that is not empty with its number;
//! - a state: the clock and every table, by name.
//!
//! Buckets make a small change cost little: only those that it touches are hashed again.

use std::collections::{BTreeMap, BTreeSet};

use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::digest::Hasher;
use tribunal_protocol::{Digest, Value};

use crate::cell::to_value;
use crate::store::{TableState, Tables};

/// The row digests of a base, sorted, with the digest of every bucket.
#[derive(Debug)]
pub(crate) struct Buckets {
    rows: BTreeMap<u8, Vec<Digest>>,
    digests: BTreeMap<u8, Digest>,
}

fn row_digest(row: &[Cell]) -> Digest {
    let mut hasher = Hasher::new("row 1");
    for cell in row {
        hasher.value(&to_value(cell).unwrap_or(Value::Null));
    }
    hasher.finish()
}

/// The bucket of a row: the first byte of its digest.
fn bucket_of(digest: &Digest) -> u8 {
    digest.as_bytes()[0]
}

fn bucket_digest(rows: &[Digest]) -> Digest {
    let mut hasher = Hasher::new("bucket 1");
    hasher.number(rows.len() as u64);
    for row in rows {
        hasher.bytes(row.as_bytes());
    }
    hasher.finish()
}

impl Buckets {
    fn over<'a>(rows: impl Iterator<Item = &'a [Cell]>) -> Buckets {
        let mut buckets: BTreeMap<u8, Vec<Digest>> = BTreeMap::new();
        for row in rows {
            let digest = row_digest(row);
            buckets.entry(bucket_of(&digest)).or_default().push(digest);
        }
        buckets.values_mut().for_each(|rows| rows.sort_unstable());
        let digests = buckets.iter().map(|(bucket, rows)| (*bucket, bucket_digest(rows))).collect();
        Buckets { rows: buckets, digests }
    }
}

/// The bucket of a row digest, copied from the base when it is first changed.
fn open<'a>(changed: &'a mut BTreeMap<u8, Vec<Digest>>, base: &Buckets, digest: &Digest) -> &'a mut Vec<Digest> {
    let bucket = bucket_of(digest);
    changed.entry(bucket).or_insert_with(|| base.rows.get(&bucket).cloned().unwrap_or_default())
}

impl TableState {
    fn buckets(&self) -> &Buckets {
        self.base.buckets.get_or_init(|| Buckets::over(self.base.rows.iter().map(AsRef::as_ref)))
    }

    /// The digest of this table.
    pub(crate) fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.compute_digest())
    }

    fn compute_digest(&self) -> Digest {
        let base = self.buckets();
        let mut count = self.base.rows.len();
        let mut changed: BTreeMap<u8, Vec<Digest>> = BTreeMap::new();
        for (number, row) in &self.overlay {
            let place = usize::try_from(*number).ok();
            if let Some(gone) = place.and_then(|place| self.base.rows.get(place)) {
                let digest = row_digest(gone);
                let rows = open(&mut changed, base, &digest);
                if let Ok(place) = rows.binary_search(&digest) {
                    rows.remove(place);
                    count -= 1;
                }
            }
            if let Some(row) = row {
                let digest = row_digest(row);
                let rows = open(&mut changed, base, &digest);
                let place = rows.binary_search(&digest).unwrap_or_else(|place| place);
                rows.insert(place, digest);
                count += 1;
            }
        }
        self.hash(base, &changed, count)
    }

    fn hash(&self, base: &Buckets, changed: &BTreeMap<u8, Vec<Digest>>, count: usize) -> Digest {
        let mut hasher = Hasher::new("table 1");
        hasher.bytes(self.schema.name.as_bytes());
        hasher.number(self.schema.columns.len() as u64);
        for column in &self.schema.columns {
            hasher.bytes(column.name.as_bytes());
            hasher.bytes(column.kind.name().as_bytes());
        }
        hasher.number(count as u64);
        let buckets: BTreeSet<u8> = base.digests.keys().chain(changed.keys()).copied().collect();
        for bucket in buckets {
            let digest = match (changed.get(&bucket), base.digests.get(&bucket)) {
                (Some(rows), _) if rows.is_empty() => continue,
                (Some(rows), _) => bucket_digest(rows),
                (None, Some(digest)) => *digest,
                (None, None) => continue,
            };
            hasher.number(bucket.into());
            hasher.bytes(digest.as_bytes());
        }
        hasher.finish()
    }
}

impl Tables {
    /// The canonical digest of the state. Costs what changed since it was last taken.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new("state 1");
        hasher.bytes(&self.clock.to_le_bytes());
        hasher.number(self.tables.len() as u64);
        for table in self.tables.values() {
            hasher.bytes(table.digest().as_bytes());
        }
        hasher.finish()
    }
}
