//! What differs between two forks of one base, as far as a contract reaches.

use std::sync::Arc;

use gluesql_core::prelude::Value as Cell;
use im::ordmap::DiffItem;
use tribunal_contract::{Effective, TableGrant};
use tribunal_protocol::schema::ColumnSchema;
use tribunal_protocol::session::TableChanges;
use tribunal_protocol::{Kind, Table, Value};

use crate::cell::to_value;
use crate::store::{Row, TableState, Tables, condition, holds};

impl Tables {
    /// Every table that differs between `first` and `self`, by name: the rows that went and those
    /// that came, each as often as it did. Costs what was changed, where both are forks of one
    /// base; else what they hold.
    ///
    /// `contract` narrows rows and columns to what it lets read; none: all of it. A row of which
    /// nothing visible changed stands in neither list.
    #[must_use]
    pub fn changes_since(&self, first: &Tables, contract: Option<&Effective>) -> Vec<TableChanges> {
        let mut names: Vec<&String> = first.tables.keys().chain(self.tables.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let changes = names.into_iter().filter_map(|name| {
            let (before, after) = (first.table(name), self.table(name));
            let shape = after.or(before)?;
            let scope = Scope::of(shape, contract)?;
            let (removed, added) = differing(before, after);
            scope.changes(&removed, &added)
        });
        changes.collect()
    }
}

/// The rows that are in one state and not in the other, by number.
fn differing(before: Option<&TableState>, after: Option<&TableState>) -> (Vec<Row>, Vec<Row>) {
    match (before, after) {
        (Some(before), Some(after)) if Arc::ptr_eq(&before.base, &after.base) => by_overlay(before, after),
        (before, after) => {
            let all = |table: Option<&TableState>| {
                let rows = table.into_iter().flat_map(TableState::rows);
                rows.map(|(_, row)| Arc::clone(row)).collect()
            };
            (all(before), all(after))
        }
    }
}

fn by_overlay(before: &TableState, after: &TableState) -> (Vec<Row>, Vec<Row>) {
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for item in before.overlay.diff(&after.overlay) {
        let (DiffItem::Add(number, _) | DiffItem::Remove(number, _) | DiffItem::Update { old: (number, _), new: _ }) =
            item;
        removed.extend(before.row(*number).cloned());
        added.extend(after.row(*number).cloned());
    }
    (removed, added)
}

/// The columns and rows of one table within a contract.
struct Scope<'a> {
    name: &'a str,
    columns: Vec<(usize, &'a ColumnSchema)>,
    rule: Option<tribunal_contract::Condition<Cell>>,
}

impl<'a> Scope<'a> {
    fn of(table: &'a TableState, contract: Option<&Effective>) -> Option<Scope<'a>> {
        let schema = &table.schema;
        let grant: Option<&TableGrant> = match contract {
            None => None,
            Some(contract) => {
                let grant = contract.table(&schema.name)?;
                (!grant.readable.is_empty()).then_some(grant)?;
                Some(grant)
            }
        };
        let shown = |place: &usize| grant.is_none_or(|grant| grant.readable.contains(place));
        let columns = schema.columns.iter().enumerate();
        Some(Scope {
            name: &schema.name,
            columns: columns.filter(|(place, _)| shown(place)).collect(),
            rule: grant.and_then(|grant| grant.rows.as_ref()).map(condition),
        })
    }

    /// The values that are shown of the rows that are shown, sorted.
    fn shown(&self, rows: &[Row]) -> Vec<Vec<Value>> {
        let visible = |row: &&Row| self.rule.as_ref().is_none_or(|rule| holds(rule, row));
        let values = |row: &Row| {
            let cells = self.columns.iter().map(|(place, _)| row.get(*place));
            cells.map(|cell| cell.and_then(|cell| to_value(cell).ok()).unwrap_or(Value::Null)).collect()
        };
        let mut shown: Vec<Vec<Value>> = rows.iter().filter(visible).map(values).collect();
        shown.sort_by(|a, b| order(a, b));
        shown
    }

    fn changes(&self, removed: &[Row], added: &[Row]) -> Option<TableChanges> {
        let (removed, added) = without_common(self.shown(removed), self.shown(added));
        if removed.is_empty() && added.is_empty() {
            return None;
        }
        Some(TableChanges { name: self.name.to_owned(), removed: self.table(&removed)?, added: self.table(&added)? })
    }

    fn table(&self, rows: &[Vec<Value>]) -> Option<Table> {
        let columns: Vec<(String, Kind)> =
            self.columns.iter().map(|(_, column)| (column.name.clone(), column.kind)).collect();
        Table::from_rows(&columns, rows).ok()
    }
}

fn order(a: &[Value], b: &[Value]) -> std::cmp::Ordering {
    let cells = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    cells.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}

/// Takes out, pair by pair, what stands in both sorted lists.
fn without_common(removed: Vec<Vec<Value>>, added: Vec<Vec<Value>>) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let (mut removed, mut added) = (removed.into_iter().peekable(), added.into_iter().peekable());
    loop {
        let ordering = match (removed.peek(), added.peek()) {
            (Some(a), Some(b)) => order(a, b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return (gone, come),
        };
        if ordering.is_le() {
            gone.extend(removed.next());
        }
        if ordering.is_ge() {
            come.extend(added.next());
        }
        if ordering.is_eq() {
            gone.pop();
            come.pop();
        }
    }
}
