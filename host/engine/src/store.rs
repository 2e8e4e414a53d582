//! The copy-on-write store: a sealed base that every fork shares, and what a fork changed.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gluesql_core::prelude::Value as Cell;
use im::OrdMap;
use tribunal_contract::{Condition, RowRule, TableGrant};
use tribunal_protocol::Digest;
use tribunal_protocol::schema::TableSchema;

use crate::cell::{compare, is_null, to_cell};
use crate::digest::Buckets;
use crate::guard::text_length;
use crate::index::Index;
use crate::order::content_order;

/// A row, shared by every state that holds it.
pub(crate) type Row = Arc<[Cell]>;

/// The number of a row in its table: base rows in the order of their key, then inserted rows in
/// the order of their insertion. It never shows.
pub(crate) type RowNumber = u64;

/// A part of a table: the cells at which places, of the rows that which rule shows.
type Part = (Vec<usize>, String);

/// The sealed rows of a table, and what was derived from them; shared by every fork.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) rows: Vec<Row>,
    pub(crate) buckets: OnceLock<Buckets>,
    longest: Mutex<BTreeMap<Part, usize>>,
    indexes: Mutex<HashMap<Vec<usize>, Arc<Index>>>,
    visible: Mutex<HashMap<String, Arc<[u32]>>>,
    largest: Mutex<BTreeMap<(usize, String), Option<i64>>>,
    by_content: Mutex<BTreeMap<Part, Arc<[u32]>>>,
}

impl Base {
    pub(crate) fn new(rows: Vec<Row>) -> Base {
        Base {
            rows,
            buckets: OnceLock::new(),
            longest: Mutex::default(),
            indexes: Mutex::default(),
            visible: Mutex::default(),
            largest: Mutex::default(),
            by_content: Mutex::default(),
        }
    }

    /// The index over the cells at `places`, built on first use.
    pub(crate) fn index(&self, places: &[usize]) -> Arc<Index> {
        let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = indexes.get(places) {
            return Arc::clone(index);
        }
        let index = Arc::new(Index::over(&self.rows, places));
        indexes.insert(places.to_vec(), Arc::clone(&index));
        index
    }

    /// The places in the base of the rows that satisfy a rule, found on first use.
    pub(crate) fn visible(&self, rule: &RowRule, condition: &Condition<Cell>) -> Arc<[u32]> {
        let mut visible = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = visible.get(&rule.text) {
            return Arc::clone(places);
        }
        let found = self.rows.iter().enumerate().filter_map(|(place, row)| {
            let place = u32::try_from(place).ok()?;
            holds(condition, row).then_some(place)
        });
        let places: Arc<[u32]> = found.collect();
        visible.insert(rule.text.clone(), Arc::clone(&places));
        places
    }

    /// The largest whole number at a place, among the rows that satisfy a rule; found on first use.
    pub(crate) fn largest(&self, place: usize, rule: Option<(&RowRule, &RowFilter)>) -> Option<i64> {
        let mut largest = self.largest.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (place, rule.map_or_else(String::new, |(rule, _)| rule.text.clone()));
        *largest.entry(key).or_insert_with(|| match rule {
            None => self.rows.iter().filter_map(|row| whole_number(row, place)).max(),
            Some((_, filter)) => {
                let rows = filter.base.iter().filter_map(|number| self.rows.get(*number as usize));
                rows.filter_map(|row| whole_number(row, place)).max()
            }
        })
    }

    /// The places of the rows that satisfy a rule, in the order of their cells at `places`; found
    /// on first use.
    pub(crate) fn by_content(&self, places: &[usize], rule: Option<(&RowRule, &RowFilter)>) -> Arc<[u32]> {
        let mut known = self.by_content.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (places.to_vec(), rule.map_or_else(String::new, |(rule, _)| rule.text.clone()));
        let order = known.entry(key).or_insert_with(|| {
            let mut order: Vec<u32> = match rule {
                None => (0..u32::try_from(self.rows.len()).unwrap_or(u32::MAX)).collect(),
                Some((_, filter)) => filter.base.to_vec(),
            };
            let row = |place: u32| self.rows.get(place as usize).map_or(&[][..], |row| row);
            order.sort_by(|a, b| content_order(places, row(*a), row(*b)));
            order.into()
        });
        Arc::clone(order)
    }
}

fn whole_number(row: &Row, place: usize) -> Option<i64> {
    match row.get(place) {
        Some(Cell::I64(number)) => Some(*number),
        _ => None,
    }
}

/// Whether a row satisfies a condition.
pub(crate) fn holds(condition: &Condition<Cell>, row: &[Cell]) -> bool {
    condition.holds(row, &compare, &is_null)
}

/// A rule's condition over the engine's cells. A literal outside the engine's calendar compares
/// as NULL: no stored cell can reach it.
pub(crate) fn condition(rule: &RowRule) -> Condition<Cell> {
    rule.condition.map(&|value| to_cell(value).unwrap_or(Cell::Null))
}

/// One table of one state.
#[derive(Clone, Debug)]
pub(crate) struct TableState {
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) base: Arc<Base>,
    /// What differs from the base: a row by its number, none where a base row is gone.
    pub(crate) overlay: OrdMap<RowNumber, Option<Row>>,
    /// The number of the next inserted row.
    pub(crate) next: RowNumber,
    /// The digest, where it is known.
    pub(crate) digest: OnceLock<Digest>,
}

impl TableState {
    pub(crate) fn sealed(schema: Arc<TableSchema>, rows: Vec<Row>) -> TableState {
        TableState {
            schema,
            next: rows.len() as u64,
            base: Arc::new(Base::new(rows)),
            overlay: OrdMap::new(),
            digest: OnceLock::new(),
        }
    }

    /// A row by its number.
    pub(crate) fn row(&self, number: RowNumber) -> Option<&Row> {
        match self.overlay.get(&number) {
            Some(row) => row.as_ref(),
            None => self.base.rows.get(usize::try_from(number).ok()?),
        }
    }

    /// Bytes of the longest text in what a grant shows of it.
    pub(crate) fn longest_text(&self, grant: &TableGrant) -> usize {
        let of_cells = |row: &Row| grant.readable.iter().filter_map(|place| row.get(*place)).map(text_length).max();
        let longest = |rows: Rows<'_>| rows.filter_map(|(_, row)| of_cells(row)).max().unwrap_or(0);
        let rule = grant.rows.as_ref();
        let filter = rule.map(|rule| self.filter(rule));
        if !self.is_pristine() {
            return longest(self.rows_where(filter.as_ref()));
        }
        let mut known = self.base.longest.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (grant.readable.clone(), rule.map_or_else(String::new, |rule| rule.text.clone()));
        *known.entry(key).or_insert_with(|| longest(self.rows_where(filter.as_ref())))
    }

    /// Whether the fork holds exactly the base.
    pub(crate) fn is_pristine(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Replaces a row.
    pub(crate) fn put(&mut self, number: RowNumber, row: Row) {
        self.overlay.insert(number, Some(row));
        self.digest = OnceLock::new();
    }

    /// Appends a row.
    pub(crate) fn append(&mut self, row: Row) {
        self.put(self.next, row);
        self.next += 1;
    }

    /// Removes a row.
    pub(crate) fn remove(&mut self, number: RowNumber) {
        if number < self.base.rows.len() as u64 {
            self.overlay.insert(number, None);
        } else {
            self.overlay.remove(&number);
        }
        self.digest = OnceLock::new();
    }

    /// All rows, by number.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(self, None)
    }

    /// The rows that satisfy a rule, by number.
    pub(crate) fn rows_where(&self, filter: Option<&RowFilter>) -> Rows<'_> {
        Rows::new(self, filter.cloned())
    }

    /// How many rows satisfy a rule.
    pub(crate) fn count(&self, filter: Option<&RowFilter>) -> u64 {
        let base = filter.map_or(self.base.rows.len(), |filter| filter.base.len());
        if self.is_pristine() {
            return base as u64;
        }
        self.rows_where(filter).count() as u64
    }

    /// The largest whole number at a place that the base had or a row of the fork has, among the
    /// rows that satisfy a rule. That of a base row which is gone counts: it is not given again.
    pub(crate) fn largest(&self, place: usize, rule: Option<&RowRule>) -> Option<i64> {
        let filter = rule.map(|rule| (rule, self.filter(rule)));
        let base = self.base.largest(place, filter.as_ref().map(|(rule, filter)| (*rule, filter)));
        let written = self.overlay.iter().filter_map(|(_, row)| row.as_ref());
        let seen = |row: &&Row| filter.as_ref().is_none_or(|(_, filter)| holds(&filter.condition, row));
        base.max(written.filter(seen).filter_map(|row| whole_number(row, place)).max())
    }

    /// Binds a rule to this table.
    pub(crate) fn filter(&self, rule: &RowRule) -> RowFilter {
        let condition = condition(rule);
        RowFilter { base: self.base.visible(rule, &condition), condition: Arc::new(condition) }
    }
}

/// A row rule bound to a table: which rows of the base satisfy it, and how to tell for others.
#[derive(Clone, Debug)]
pub(crate) struct RowFilter {
    pub(crate) base: Arc<[u32]>,
    pub(crate) condition: Arc<Condition<Cell>>,
}

/// Rows of a table, lazily, by number: base and overlay merged.
pub(crate) struct Rows<'a> {
    base: &'a [Row],
    /// The next place in the base, or in the filter's list of places.
    cursor: usize,
    filter: Option<RowFilter>,
    overlay: std::iter::Peekable<im::ordmap::Iter<'a, RowNumber, Option<Row>>>,
}

impl<'a> Rows<'a> {
    fn new(table: &'a TableState, filter: Option<RowFilter>) -> Rows<'a> {
        Rows { base: &table.base.rows, cursor: 0, filter, overlay: table.overlay.iter().peekable() }
    }

    /// The next place in the base, whether the overlay covers it or not.
    fn peek_base(&self) -> Option<usize> {
        match &self.filter {
            None => (self.cursor < self.base.len()).then_some(self.cursor),
            Some(filter) => filter.base.get(self.cursor).map(|place| *place as usize),
        }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = (RowNumber, &'a Row);

    fn next(&mut self) -> Option<(RowNumber, &'a Row)> {
        loop {
            let base = self.peek_base().map(|place| (place as u64, place));
            let changed = self.overlay.peek().map(|(number, _)| **number);
            match (base, changed) {
                (Some((number, place)), changed) if changed.is_none_or(|c| number < c) => {
                    self.cursor += 1;
                    return self.base.get(place).map(|row| (number, row));
                }
                (None, None) => return None,
                (base, _) => {
                    let (number, row) = self.overlay.next()?;
                    if base.is_some_and(|(place, _)| place == *number) {
                        self.cursor += 1;
                    }
                    let Some(row) = row else { continue };
                    let seen = |filter: &RowFilter| holds(&filter.condition, row);
                    if self.filter.as_ref().is_none_or(seen) {
                        return Some((*number, row));
                    }
                }
            }
        }
    }
}

/// Every table of one state, by name. A clone costs the same for ten rows and a million.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(crate) tables: Arc<BTreeMap<String, TableState>>,
    pub(crate) clock: i32,
}

impl Tables {
    pub(crate) fn table(&self, name: &str) -> Option<&TableState> {
        self.tables.get(name)
    }

    pub(crate) fn table_mut(&mut self, name: &str) -> Option<&mut TableState> {
        Arc::make_mut(&mut self.tables).get_mut(name)
    }

    /// What `now` is: days since 1970-01-01.
    #[must_use]
    pub fn clock(&self) -> i32 {
        self.clock
    }

    /// The schema of every table, by name.
    pub fn schemas(&self) -> impl Iterator<Item = &TableSchema> {
        self.tables.values().map(|table| &*table.schema)
    }

    /// Whether a table is as it was sealed; also where there is no such table.
    #[must_use]
    pub fn is_pristine(&self, table: &str) -> bool {
        self.table(table).is_none_or(TableState::is_pristine)
    }

    /// Whether nothing of the data differs in identity from `other`: both are forks of one state
    /// without writes in between.
    #[must_use]
    pub fn is_same(&self, other: &Tables) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }

    /// Whether both are forks of one sealed base.
    #[must_use]
    pub fn shares_base(&self, other: &Tables) -> bool {
        self.tables.len() == other.tables.len()
            && self.tables.iter().zip(other.tables.iter()).all(|(a, b)| a.0 == b.0 && Arc::ptr_eq(&a.1.base, &b.1.base))
    }

    /// A fork whose changes are folded into a base of its own.
    #[must_use]
    pub fn seal(&self) -> Tables {
        let sealed = self.tables.iter().map(|(name, table)| {
            let sealed = if table.is_pristine() {
                table.clone()
            } else {
                let rows = table.rows().map(|(_, row)| Arc::clone(row)).collect();
                TableState::sealed(Arc::clone(&table.schema), rows)
            };
            (name.clone(), sealed)
        });
        Tables { tables: Arc::new(sealed.collect()), clock: self.clock }
    }
}
