//! Whether a dataset is what its schema says: keys, references, kinds, and the claimed traps.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_protocol::schema::{Dataset, TableData};
use tribunal_protocol::value::{Kind, Value};

use crate::condition::{Conditions, holds};

/// A trap of real data that every dataset of the schema holds, as claimed and counted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) trap: Trap,
    pub(crate) table: String,
    /// The columns it is about.
    #[serde(default)]
    pub(crate) columns: Vec<String>,
    /// Only these rows count.
    #[serde(default, rename = "where")]
    pub(crate) conditions: Conditions,
    /// How many there are at least.
    pub(crate) at_least: usize,
}

/// The traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trap {
    /// Groups of several rows with equal `columns`: a join through them inflates sums.
    FanOut,
    /// Rows whose pointing column is NULL.
    NullKey,
    /// Rows whose measure is NULL.
    NullMeasure,
    /// Rows whose first column lies after their second.
    LateRow,
    /// Test or internal rows, by `where`.
    Internal,
    /// Groups of several rows with exactly equal measure.
    Tie,
    /// Rows that are deleted but still there, by `where`.
    SoftDelete,
    /// Texts beyond ASCII.
    NonAscii,
    /// Texts with a quote in them.
    Quote,
    /// Groups of different rows with one name.
    Namesake,
}

impl Trap {
    /// The traps that no schema of a suite goes without.
    pub(crate) const REQUIRED: [Trap; 9] = [
        Trap::FanOut,
        Trap::NullKey,
        Trap::NullMeasure,
        Trap::LateRow,
        Trap::Internal,
        Trap::Tie,
        Trap::SoftDelete,
        Trap::NonAscii,
        Trap::Quote,
    ];
}

/// Something in a dataset that is not as its schema says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The table.
    pub table: String,
    /// What is wrong.
    pub what: String,
}

/// All findings about a dataset: keys that repeat, references that lead nowhere, cells of the
/// wrong kind, NULLs where none may be.
pub(crate) fn validity(dataset: &Dataset) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in &dataset.tables {
        let mut say = |what: String| {
            findings.push(Finding { table: table.schema.name.clone(), what });
        };
        cells(table, &mut say);
        for key in std::iter::once(&table.schema.primary_key).chain(&table.schema.unique) {
            match groups(table, key) {
                Err(why) => say(why),
                Ok(groups) => {
                    if let Some((values, _)) = groups.iter().find(|(_, count)| **count > 1) {
                        say(format!("key {} repeats {values}", key.join(", ")));
                    }
                }
            }
        }
        references(dataset, table, &mut say);
    }
    findings
}

fn cells(table: &TableData, say: &mut impl FnMut(String)) {
    for (number, row) in table.rows.iter().enumerate() {
        for (column, cell) in table.schema.columns.iter().zip(row) {
            let key = table.schema.primary_key.contains(&column.name);
            if cell.is_null() && (!column.nullable || key) {
                say(format!("row {number}: column {} is NULL but not nullable", column.name));
            } else if !cell.is_null() && cell.kind() != column.kind {
                let (name, kind) = (&column.name, column.kind);
                say(format!("row {number}: column {name}: {kind} expected, {} made", cell.kind()));
            }
        }
    }
}

fn references(dataset: &Dataset, table: &TableData, say: &mut impl FnMut(String)) {
    for key in &table.schema.foreign_keys {
        let target = dataset.tables.iter().find(|other| other.schema.name == key.table);
        let (Some(target), Some(from), Some(column)) = (target, key.columns.first(), key.references.first()) else {
            say(format!("reference to {}: no such table", key.table));
            continue;
        };
        let places = (table.schema.column_index(from), target.schema.column_index(column));
        let (Some(from_index), Some(to_index)) = places else {
            say(format!("reference {from} to {}.{column}: no such column", key.table));
            continue;
        };
        let known: std::collections::BTreeSet<String> =
            target.rows.iter().map(|row| row[to_index].to_string()).collect();
        for row in &table.rows {
            let cell = &row[from_index];
            if !cell.is_null() && !known.contains(&cell.to_string()) {
                say(format!("{from} = {cell} leads nowhere in {}.{column}", key.table));
            }
        }
    }
}

/// How many rows share each combination of values; rows with a NULL among them are left out.
fn groups(table: &TableData, columns: &[String]) -> Result<BTreeMap<String, usize>, String> {
    let places = places(table, columns)?;
    let mut groups = BTreeMap::new();
    for row in &table.rows {
        let cells: Vec<&Value> = places.iter().map(|place| &row[*place]).collect();
        if !cells.iter().any(|cell| cell.is_null()) {
            let texts: Vec<String> = cells.iter().map(ToString::to_string).collect();
            *groups.entry(texts.join(" | ")).or_insert(0) += 1;
        }
    }
    Ok(groups)
}

fn places(table: &TableData, columns: &[String]) -> Result<Vec<usize>, String> {
    let place = |name: &String| {
        table.schema.column_index(name).ok_or_else(|| format!("no column `{name}` in table {}", table.schema.name))
    };
    columns.iter().map(place).collect()
}

/// How often a claimed trap is there.
///
/// # Errors
/// What is wrong with the claim itself.
pub(crate) fn count(claim: &Claim, dataset: &Dataset) -> Result<usize, String> {
    let table = dataset
        .tables
        .iter()
        .find(|table| table.schema.name == claim.table)
        .ok_or_else(|| format!("no table `{}`", claim.table))?;
    let mut kept = TableData { schema: table.schema.clone(), rows: Vec::new() };
    for row in &table.rows {
        if row_holds(&claim.conditions, table, row)? {
            kept.rows.push(row.clone());
        }
    }
    let places = places(&kept, &claim.columns)?;
    let rows_with = |test: &dyn Fn(&[&Value]) -> bool| {
        let fits = |row: &&Vec<Value>| {
            let cells: Vec<&Value> = places.iter().map(|place| &row[*place]).collect();
            test(&cells)
        };
        kept.rows.iter().filter(fits).count()
    };
    Ok(match claim.trap {
        Trap::FanOut | Trap::Tie | Trap::Namesake => {
            let groups = groups(&kept, &claim.columns)?;
            groups.values().filter(|count| **count > 1).count()
        }
        Trap::NullKey | Trap::NullMeasure => rows_with(&|cells| cells.iter().any(|cell| cell.is_null())),
        Trap::LateRow => rows_with(&|cells| matches!(cells, [late, early] if later(late, early))),
        Trap::Internal | Trap::SoftDelete => kept.rows.len(),
        Trap::NonAscii => rows_with(&|cells| text_with(cells, |text| !text.is_ascii())),
        Trap::Quote => rows_with(&|cells| text_with(cells, |text| text.contains(['\'', '"']))),
    })
}

fn later(late: &Value, early: &Value) -> bool {
    late.kind() == early.kind() && !late.is_null() && late.total_cmp(early).is_gt()
}

fn text_with(cells: &[&Value], test: impl Fn(&str) -> bool) -> bool {
    cells.iter().any(|cell| matches!(cell, Value::Text(text) if test(text)))
}

/// Whether a finished row satisfies all conditions.
pub(crate) fn row_holds(conditions: &Conditions, table: &TableData, row: &[Value]) -> Result<bool, String> {
    for (name, condition) in conditions {
        let index = table
            .schema
            .column_index(name)
            .ok_or_else(|| format!("no column `{name}` in table {}", table.schema.name))?;
        let kind: Kind = table.schema.columns[index].kind;
        if !holds(condition, kind, &row[index]).map_err(|why| format!("condition on {name}: {why}"))? {
            return Ok(false);
        }
    }
    Ok(true)
}
