//! Narrowing: what two contracts both allow.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_protocol::session::Verb;

use crate::contract::{Contract, ReadGrant, WriteGrant};
use crate::filter::Filter;

impl Contract {
    /// What `self` and `other` both allow: columns and verbs in both, rows that satisfy both
    /// filters, the smaller of every budget. It never allows what one of the two does not.
    #[must_use]
    pub fn intersect(&self, other: &Contract) -> Contract {
        Contract {
            names: self.names.union(&other.names).cloned().collect(),
            read: merge(keys(&self.read, &other.read), |table| {
                Some(self.read_of(table)?.intersect(other.read_of(table)?))
            }),
            write: merge(keys(&self.write, &other.write), |table| {
                Some(verbs(self.write_of(table)?, other.write_of(table)?))
            }),
            budget: self.budget.intersect(&other.budget),
        }
    }
}

/// The tables named by either side, `*` included where both have it: `read_of("*")` and
/// `write_of("*")` find the entry of that name.
fn keys<'a, T>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> BTreeSet<&'a str> {
    a.keys().chain(b.keys()).map(String::as_str).collect()
}

fn merge<T>(tables: BTreeSet<&str>, grant: impl Fn(&str) -> Option<T>) -> BTreeMap<String, T> {
    tables.into_iter().filter_map(|table| Some((table.to_owned(), grant(table)?))).collect()
}

fn verbs(a: &BTreeMap<Verb, WriteGrant>, b: &BTreeMap<Verb, WriteGrant>) -> BTreeMap<Verb, WriteGrant> {
    a.iter().filter_map(|(verb, grant)| Some((*verb, grant.intersect(b.get(verb)?)))).collect()
}

impl ReadGrant {
    fn intersect(&self, other: &ReadGrant) -> ReadGrant {
        ReadGrant {
            columns: self.columns.intersect(&other.columns),
            rows: both(self.rows.as_ref(), other.rows.as_ref()),
        }
    }
}

impl WriteGrant {
    fn intersect(&self, other: &WriteGrant) -> WriteGrant {
        WriteGrant {
            columns: self.columns.intersect(&other.columns),
            rows: both(self.rows.as_ref(), other.rows.as_ref()),
        }
    }
}

fn both(a: Option<&Filter>, b: Option<&Filter>) -> Option<Filter> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.and(b)),
        (one, None) | (None, one) => one.cloned(),
    }
}
