//! Other databases that a contract cannot tell apart from the first.

use std::collections::BTreeSet;

use tribunal_protocol::Value;
use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData};

use super::grant::{Grant, Grants};
use super::is_referred_to;
use crate::random_queries::{Dice, random_cell};

/// The dataset with everything changed that the contract hides: tables, columns, rows.
pub(super) fn altered(dataset: &Dataset, grants: &Grants, dice: &mut Dice) -> Dataset {
    let mut other = dataset.clone();
    for (place, grant) in grants.0.iter().enumerate() {
        let referred = is_referred_to(dataset, &dataset.tables[place].schema.name);
        other.tables[place].rows = rows(&dataset.tables[place], grant, referred, dice);
    }
    mend_references(&mut other, grants, dice);
    other
}

fn rows(table: &TableData, grant: &Grant, referred: bool, dice: &mut Dice) -> Vec<Vec<Value>> {
    let schema = &table.schema;
    let key = schema.primary_key.first().and_then(|name| schema.column_index(name));
    let mut rows = Vec::new();
    for row in &table.rows {
        let shown = grant.shows(row);
        // Others may refer to this row by its key, so there it stays.
        if !shown && !referred && dice.chance(35) {
            continue;
        }
        let is_kept = |place: usize| {
            let readable = grant.read.as_ref().is_some_and(|(columns, _)| columns.contains(&place));
            (shown && readable) || grant.judges_by(place) || (referred && Some(place) == key)
        };
        rows.push(redrawn(&schema.columns, row, &is_kept, dice));
    }
    for _ in 0..dice.below(4) {
        // More rows that the rule hides, at any place among the others.
        let hidden: Vec<Vec<Value>> = rows.iter().filter(|row| !grant.shows(row)).cloned().collect();
        if hidden.is_empty() || key.is_some_and(|key| grant.judges_by(key)) {
            break;
        }
        let model = dice.pick::<Vec<Value>>(&hidden).clone();
        let row = redrawn(&schema.columns, &model, &|place| grant.judges_by(place), dice);
        rows.insert(dice.below(rows.len() + 1), row);
    }
    if let Some(key) = key {
        number(&mut rows, key, table, grant, dice);
    }
    rows
}

/// The row with other cells, but for those that are kept.
fn redrawn(columns: &[ColumnSchema], row: &[Value], is_kept: &dyn Fn(usize) -> bool, dice: &mut Dice) -> Vec<Value> {
    let cells = columns.iter().zip(row).enumerate();
    cells.map(|(place, (column, cell))| if is_kept(place) { cell.clone() } else { random_cell(column, dice) }).collect()
}

/// Makes the keys differ: those that were kept stay, the others get free numbers.
fn number(rows: &mut [Vec<Value>], key: usize, table: &TableData, grant: &Grant, dice: &mut Dice) {
    let mut used = BTreeSet::new();
    let is_visible = grant.read.as_ref().is_some_and(|(columns, _)| columns.contains(&key));
    let given: BTreeSet<i64> = table.rows.iter().filter_map(|row| whole(&row[key])).collect();
    let mut open = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let fixed = (is_visible && grant.shows(row)) || grant.judges_by(key);
        match whole(&row[key]).filter(|number| fixed && given.contains(number)) {
            Some(number) => {
                used.insert(number);
            }
            None => open.push(place),
        }
    }
    for place in open {
        // A key that others refer to was kept, and is taken first come, first served.
        let mut number = whole(&rows[place][key]).unwrap_or(1);
        while !used.insert(number) {
            number = dice.between(1, 400);
        }
        rows[place][key] = Value::Integer(number);
    }
}

fn whole(value: &Value) -> Option<i64> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

/// A redrawn reference must find a row again.
fn mend_references(dataset: &mut Dataset, grants: &Grants, dice: &mut Dice) {
    let customers: Vec<Value> = dataset.tables[0].rows.iter().map(|row| row[0].clone()).collect();
    for (place, grant) in grants.0.iter().enumerate() {
        let table = &mut dataset.tables[place];
        let Some(key) = table.schema.foreign_keys.first() else { continue };
        let Some(column) = table.schema.column_index(&key.columns[0]) else { continue };
        for row in &mut table.rows {
            let seen = grant.shows(row) && grant.read.as_ref().is_some_and(|(columns, _)| columns.contains(&column));
            if !seen && !grant.judges_by(column) && !customers.contains(&row[column]) {
                row[column] = if customers.is_empty() { Value::Null } else { dice.pick(&customers).clone() };
            }
        }
    }
}

/// The dataset without the tables of which nothing is granted, and without the columns that the
/// contract does not name and that nothing else needs.
pub(super) fn lacking(dataset: &Dataset, grants: &Grants) -> Dataset {
    let names: Vec<String> = dataset.tables.iter().map(|table| table.schema.name.clone()).collect();
    let granted = |name: &str| {
        let place = names.iter().position(|other| other == name);
        place.is_some_and(|place| !grants.0[place].is_empty())
    };
    let mut tables = Vec::new();
    for (table, grant) in dataset.tables.iter().zip(&grants.0).filter(|(table, _)| granted(&table.schema.name)) {
        let schema = &table.schema;
        let keys = schema.foreign_keys.iter().filter(|key| granted(&key.table));
        let foreign_keys: Vec<_> = keys.cloned().collect();
        let is_needed = |place: usize| {
            let column = &schema.columns[place];
            let in_key = foreign_keys.iter().any(|key| key.columns.contains(&column.name));
            // A column that must not be NULL is known by what an insert that leaves it out says.
            grant.names(place) || !column.nullable || in_key || schema.primary_key.contains(&column.name)
        };
        let places: Vec<usize> = (0..schema.columns.len()).filter(|place| is_needed(*place)).collect();
        let mut schema = schema.clone();
        schema.columns = places.iter().map(|place| table.schema.columns[*place].clone()).collect();
        schema.foreign_keys = foreign_keys;
        let row = |row: &Vec<Value>| places.iter().map(|place| row[*place].clone()).collect();
        tables.push(TableData { schema, rows: table.rows.iter().map(row).collect() });
    }
    Dataset { clock: dataset.clock, tables }
}
