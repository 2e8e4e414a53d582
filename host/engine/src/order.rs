//! In which order the rows of a table come, for whoever holds a grant on it. It is decided here
//! for both engines, for reading and for changing.
//!
//! Rows are numbered by their key. A holder who may see the whole key gets them so. To one who may
//! not, their order would tell of the key: then the sealed rows come in the order of what can be
//! seen of them, and what a fork inserted comes last, as it was inserted.

use std::cmp::Ordering;

use gluesql_core::prelude::Value as Cell;
use tribunal_contract::{RowRule, TableGrant};

use crate::cell::{compare, is_null};
use crate::store::{Row, RowFilter, RowNumber, Rows, TableState};

/// The order of two rows by their cells at some places, NULL first.
pub(crate) fn content_order(places: &[usize], a: &[Cell], b: &[Cell]) -> Ordering {
    let cells = places.iter().map(|place| match (a.get(*place), b.get(*place)) {
        (Some(a), Some(b)) => is_null(b).cmp(&is_null(a)).then(compare(a, b).unwrap_or(Ordering::Equal)),
        _ => Ordering::Equal,
    });
    cells.fold(Ordering::Equal, Ordering::then)
}

/// Rows in the order for a grant.
pub(crate) enum Ordered<'a> {
    ByNumber(Rows<'a>),
    ByContent(std::vec::IntoIter<(RowNumber, &'a Row)>),
}

impl<'a> Iterator for Ordered<'a> {
    type Item = (RowNumber, &'a Row);

    fn next(&mut self) -> Option<(RowNumber, &'a Row)> {
        match self {
            Ordered::ByNumber(rows) => rows.next(),
            Ordered::ByContent(rows) => rows.next(),
        }
    }
}

impl TableState {
    /// The rows that a filter lets through, in the order for a grant.
    pub(crate) fn rows_for<'a>(&'a self, grant: &TableGrant, filter: Option<&RowFilter>) -> Ordered<'a> {
        if !grant.hides_key() {
            return Ordered::ByNumber(self.rows_where(filter));
        }
        Ordered::ByContent(self.by_content(&grant.readable, grant.rows.as_ref(), filter).into_iter())
    }

    /// The order of two rows for a grant.
    pub(crate) fn order_for(&self, grant: &TableGrant, a: RowNumber, b: RowNumber) -> Ordering {
        if !(grant.hides_key() && self.is_sealed(a) && self.is_sealed(b)) {
            return a.cmp(&b);
        }
        let row = |number: RowNumber| self.row(number).map_or(&[][..], |row| row);
        content_order(&grant.readable, row(a), row(b)).then(a.cmp(&b))
    }

    fn is_sealed(&self, number: RowNumber) -> bool {
        number < self.base.rows.len() as u64
    }

    /// That of the untouched base is remembered there.
    fn by_content(
        &self,
        places: &[usize],
        rule: Option<&RowRule>,
        filter: Option<&RowFilter>,
    ) -> Vec<(RowNumber, &Row)> {
        if self.is_pristine() {
            let order = self.base.by_content(places, rule.zip(filter));
            let row = |place: &u32| Some((RowNumber::from(*place), self.base.rows.get(*place as usize)?));
            return order.iter().filter_map(row).collect();
        }
        let mut rows: Vec<_> = self.rows_where(filter).collect();
        let sealed = rows.partition_point(|(number, _)| self.is_sealed(*number));
        if let Some(sealed) = rows.get_mut(..sealed) {
            sealed.sort_by(|(_, a), (_, b)| content_order(places, a, b));
        }
        rows
    }
}
