//! Keys and references after a change, as far as the holder can see.

use std::collections::HashMap;

use gluesql_core::prelude::Value as Cell;
use tribunal_contract::{Effective, TableGrant};
use tribunal_protocol::Failure;
use tribunal_protocol::schema::ForeignKey;

use super::{Rewritten, shown};
use crate::index::{Content, content_of};
use crate::run::Request;
use crate::seal::places;
use crate::store::{RowFilter, RowNumber, TableState, Tables};

/// Checks the keys of the changed rows, what they refer to, and what refers to them.
pub(super) fn check(request: Request<'_>, tables: &Tables, target: &str, changed: &[Rewritten]) -> Result<(), Failure> {
    let seen = Seen::of(tables, request.contract, target);
    let Some(seen) = seen else { return Ok(()) };
    let schema = &seen.grant.schema;
    for set in std::iter::once(&schema.primary_key).chain(&schema.unique) {
        if !set.is_empty() {
            seen.check_unique(set, changed)?;
        }
    }
    for key in &schema.foreign_keys {
        if let Some(referenced) = Seen::of(tables, request.contract, &key.table) {
            check_reference(&seen, key, &referenced, changed)?;
        }
    }
    for other in request.contract.tables() {
        let to_target = |key: &&ForeignKey| key.table == *target;
        for key in other.schema.foreign_keys.iter().filter(to_target) {
            if let Some(referring) = Seen::of(tables, request.contract, &other.schema.name) {
                check_referred(&seen, key, &referring, changed)?;
            }
        }
    }
    Ok(())
}

/// A table as the holder sees it.
struct Seen<'a> {
    table: &'a TableState,
    grant: &'a TableGrant,
    filter: Option<RowFilter>,
}

/// The visible rows of a table by the content of some columns.
struct Lookup<'a> {
    seen: &'a Seen<'a>,
    places: Vec<usize>,
    /// Rows that the fork wrote, by content.
    written: HashMap<Content, Vec<RowNumber>>,
}

impl<'a> Seen<'a> {
    fn of(tables: &'a Tables, contract: &'a Effective, name: &str) -> Option<Seen<'a>> {
        let grant = contract.table(name)?;
        let table = tables.table(name)?;
        Some(Seen { table, grant, filter: grant.rows.as_ref().map(|rule| table.filter(rule)) })
    }

    /// A lookup by columns; none where one of them is hidden.
    fn lookup(&'a self, columns: &[String]) -> Option<Lookup<'a>> {
        let places = places(&self.grant.schema, columns);
        if !places.iter().all(|place| self.grant.readable.contains(place)) {
            return None;
        }
        let mut written: HashMap<Content, Vec<RowNumber>> = HashMap::new();
        for (number, row) in &self.table.overlay {
            if let Some(key) = row.as_ref().and_then(|row| content_of(row, &places)) {
                written.entry(key).or_default().push(*number);
            }
        }
        Some(Lookup { seen: self, places, written })
    }

    fn sees(&self, row: &[Cell]) -> bool {
        let filter = self.filter.as_ref();
        filter.is_none_or(|filter| crate::store::holds(&filter.condition, row))
    }

    fn check_unique(&self, set: &[String], changed: &[Rewritten]) -> Result<(), Failure> {
        let Some(lookup) = self.lookup(set) else { return Ok(()) };
        for Rewritten { number, after, .. } in changed {
            let Some(after) = after else { continue };
            let Some(key) = content_of(after, &lookup.places) else { continue };
            if lookup.any(&key, |found| found != *number) {
                let table = &self.grant.schema.name;
                let row = described(set, after, &lookup.places);
                return Err(Failure::invalid(format!("{table} already has a row with {row}")));
            }
        }
        Ok(())
    }
}

impl Lookup<'_> {
    /// Whether a visible row has that content, among those whose number is asked for.
    fn any(&self, key: &Content, wanted: impl Fn(RowNumber) -> bool) -> bool {
        let table = self.seen.table;
        let visible = |number: RowNumber| wanted(number) && table.row(number).is_some_and(|row| self.seen.sees(row));
        let written = self.written.get(key).map_or(&[][..], Vec::as_slice);
        if written.iter().any(|number| visible(*number)) {
            return true;
        }
        let index = table.base.index(&self.places);
        index.places(key).iter().any(|place| {
            let number = RowNumber::from(*place);
            !table.overlay.contains_key(&number) && visible(number)
        })
    }
}

/// Every new reference finds its row.
fn check_reference(
    seen: &Seen<'_>,
    key: &ForeignKey,
    referenced: &Seen<'_>,
    changed: &[Rewritten],
) -> Result<(), Failure> {
    let Some(lookup) = referenced.lookup(&key.references) else { return Ok(()) };
    let own = places(&seen.grant.schema, &key.columns);
    for Rewritten { before, after, .. } in changed {
        let Some(after) = after else { continue };
        let Some(wanted) = content_of(after, &own) else { continue };
        let as_before = before.as_ref().and_then(|row| content_of(row, &own)) == Some(wanted.clone());
        if !as_before && !lookup.any(&wanted, |_| true) {
            let row = described(&key.references, after, &own);
            return Err(Failure::invalid(format!("{} has no row with {row}", key.table)));
        }
    }
    Ok(())
}

/// No visible row is left that refers to a row that is gone.
fn check_referred(
    seen: &Seen<'_>,
    key: &ForeignKey,
    referring: &Seen<'_>,
    changed: &[Rewritten],
) -> Result<(), Failure> {
    let lookups = (seen.lookup(&key.references), referring.lookup(&key.columns));
    let (Some(own), Some(others)) = lookups else { return Ok(()) };
    for Rewritten { before, after, .. } in changed {
        let Some(before) = before else { continue };
        let Some(former) = content_of(before, &own.places) else { continue };
        let kept = after.as_ref().and_then(|row| content_of(row, &own.places)) == Some(former.clone());
        if !kept && others.any(&former, |_| true) && !own.any(&former, |_| true) {
            let row = described(&key.references, before, &own.places);
            return Err(Failure::invalid(format!(
                "a row of {} refers to {} with {row}",
                referring.grant.schema.name, seen.grant.schema.name
            )));
        }
    }
    Ok(())
}

fn described(columns: &[String], row: &[Cell], places: &[usize]) -> String {
    let cells = columns.iter().zip(places);
    let cells = cells.filter_map(|(column, place)| {
        let cell = row.get(*place)?;
        Some(format!("{column} = {}", shown(cell)))
    });
    cells.collect::<Vec<_>>().join(", ")
}
