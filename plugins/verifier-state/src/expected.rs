//! What the golden calls change.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_compare::{Cells, Column, ColumnRule, Contract, Expectation, Table, Type};
use tribunal_kit::{Difference, TableChanges};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    version: u32,
    pub(crate) tables: Vec<ExpectedTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedTable {
    pub(crate) name: String,
    /// Columns that may hold anything.
    #[serde(default)]
    ignore: Vec<String>,
    removed: Table,
    added: Table,
}

impl Expected {
    pub(crate) fn read(json: &str) -> Result<Expected, String> {
        let mut expected: Expected = serde_json::from_str(json).map_err(|fault| format!("expectation: {fault}"))?;
        if expected.version != 1 {
            let version = expected.version;
            return Err(format!("expectation version {version}: this verifier reads version 1"));
        }
        expected.tables.retain(|table| table.removed.rows > 0 || table.added.rows > 0);
        if expected.tables.is_empty() {
            return Err("expectation: no change is expected, so doing nothing would pass".to_owned());
        }
        Ok(expected)
    }

    pub(crate) fn table(&self, name: &str) -> Option<&ExpectedTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl ExpectedTable {
    pub(crate) fn summary(&self) -> String {
        format!("{} rows removed, {} added", self.removed.rows, self.added.rows)
    }

    /// The first difference to what was changed; none where there is none.
    ///
    /// # Errors
    /// Why the two cannot be compared.
    pub(crate) fn differs(&self, change: TableChanges) -> Result<Option<Difference>, String> {
        let gold = self.net(self.removed.clone(), self.added.clone());
        let pred = self.net(change.removed.into(), change.added.into());
        let added = self.compare("added", &gold.1, &pred.1)?;
        Ok(added.or(self.compare("removed", &gold.0, &pred.0)?))
    }

    /// What is removed and what is added, ignored columns left out. A row that then stands in
    /// both has not changed.
    fn net(&self, removed: Table, added: Table) -> (Table, Table) {
        let (removed, added) = (self.kept(removed), self.kept(added));
        if self.ignore.is_empty() {
            return (removed, added);
        }
        let mut open: BTreeMap<Vec<Option<String>>, usize> = BTreeMap::new();
        for row in 0..removed.rows {
            *open.entry(cells(&removed, row)).or_default() += 1;
        }
        let unchanged = open.clone();
        let new = added.select(|row| take(&mut open, &cells(&added, row)).is_none());
        // What was not taken from above is gone for good.
        let mut taken = unchanged;
        for (key, left) in &open {
            if let Some(count) = taken.get_mut(key) {
                *count -= left;
            }
        }
        let gone = removed.select(|row| take(&mut taken, &cells(&removed, row)).is_none());
        (gone, new)
    }

    /// A table without its ignored columns.
    fn kept(&self, mut table: Table) -> Table {
        table.columns.retain(|column| !self.ignore.contains(&column.name));
        table
    }

    fn compare(&self, part: &str, gold: &Table, pred: &Table) -> Result<Option<Difference>, String> {
        let path = format!("table {}, rows {part}", self.name);
        if gold.rows == 0 || pred.rows == 0 {
            let rows = |table: &Table| format!("{} rows", table.rows);
            return Ok((gold.rows != pred.rows).then(|| Difference {
                path,
                row: None,
                column: None,
                expected: rows(gold),
                found: rows(pred),
            }));
        }
        let columns = gold.columns.iter().map(|column| {
            let other = pred.column(&column.name).map(|column| &column.cells);
            ColumnRule::new(&column.name, kind(&column.cells, other))
        });
        let mut contract = Contract::new(columns.collect());
        contract.max_rows = u32::MAX;
        let expectation =
            Expectation::new(contract, gold.clone()).map_err(|refusal| format!("table {}: {refusal}", self.name))?;
        Ok(expectation.check(pred).difference.map(|difference| Difference {
            path,
            row: difference.row,
            column: difference.column,
            expected: difference.expected,
            found: difference.found,
        }))
    }
}

/// The type of a column: gold's, or the other side's where gold holds nothing but NULL.
fn kind(gold: &Cells, pred: Option<&Cells>) -> Type {
    match gold {
        Cells::Unknown => pred.map_or(Type::TEXT, |pred| kind(pred, None)),
        Cells::Booleans(_) => Type::Boolean,
        Cells::Integers(_) => Type::Integer,
        // Room for another order of additions, and for nothing else.
        Cells::Floats(_) => Type::Float { abs: 0.0, rel: 1e-9, non_finite: true },
        Cells::Decimals(cells) => {
            let digits = |row| cells.get(row).rsplit_once('.').map_or(0, |(_, digits)| digits.len());
            let most = (0..cells.ends.len()).map(digits).max();
            Type::Decimal { scale: most.and_then(|most| u32::try_from(most).ok()).unwrap_or(0) }
        }
        Cells::Texts(_) => Type::TEXT,
        Cells::Dates(_) => Type::Date,
        Cells::Timestamps(_) => Type::Timestamp,
    }
}

fn cells(table: &Table, row: usize) -> Vec<Option<String>> {
    let shown = |column: &Column| (!column.is_null(row)).then(|| column.shown(row));
    table.columns.iter().map(shown).collect()
}

/// Takes one of a row, if one is left.
fn take(rows: &mut BTreeMap<Vec<Option<String>>, usize>, row: &[Option<String>]) -> Option<()> {
    let count = rows.get_mut(row).filter(|count| **count > 0)?;
    *count -= 1;
    Some(())
}
