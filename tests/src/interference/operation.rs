//! What a holder might try.

use tribunal_protocol::schema::{Dataset, TableData, TableSchema};

use super::grant::{Grants, Rule, literal};
use crate::random_queries::{Dice, random_cell, random_query};

/// One thing that the holder of a session does.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Lists the tables.
    Tables,
    /// Runs a query.
    Query(String),
    /// Runs a change.
    Change(String),
}

/// A few operations over a database, of which the holder knows what it is granted, and guesses
/// the rest.
pub(super) fn draw(seed: u64, dataset: &Dataset, grants: &Grants, dice: &mut Dice) -> Vec<Operation> {
    let known = known(dataset, grants);
    let count = dice.between(2, 5);
    (0..count)
        .map(|number| {
            let seed = seed.wrapping_mul(8).wrapping_add(u64::try_from(number).unwrap_or(0));
            match dice.below(100) {
                0..5 => Operation::Tables,
                5..30 if !known.tables.is_empty() => Operation::Query(random_query(seed, &known)),
                5..38 => Operation::Query(random_query(seed, dataset)),
                38..55 => Operation::Query(plain(dataset, &known, dice)),
                55..65 => Operation::Query(probe(dataset, dice)),
                _ => Operation::Change(change(dataset, &known, dice)),
            }
        })
        .collect()
}

/// The database as the contract shows it.
fn known(dataset: &Dataset, grants: &Grants) -> Dataset {
    let mut tables = Vec::new();
    for (table, grant) in dataset.tables.iter().zip(&grants.0) {
        let Some((places, _)) = &grant.read else { continue };
        let columns: Vec<_> = places.iter().map(|place| table.schema.columns[*place].clone()).collect();
        let schema = TableSchema { name: table.schema.name.clone(), columns, ..TableSchema::default() };
        let rows = table.rows.iter().filter(|row| grant.shows(row));
        let rows = rows.map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect();
        tables.push(TableData { schema, rows });
    }
    Dataset { clock: dataset.clock, tables }
}

/// A table, most often a known one.
fn table<'d>(dataset: &'d Dataset, known: &'d Dataset, dice: &mut Dice) -> &'d TableSchema {
    let from = if known.tables.is_empty() || dice.chance(20) { dataset } else { known };
    &dice.pick(&from.tables).schema
}

/// Queries whose answer shows what hides behind them: stars, counts, orders, first rows.
fn plain(dataset: &Dataset, known: &Dataset, dice: &mut Dice) -> String {
    let table = table(dataset, known, dice);
    let name = &table.name;
    let column = format!("\"{}\"", dice.pick(&table.columns).name);
    let condition = Rule::draw(table, dice).text(table);
    match dice.below(8) {
        0 => format!("SELECT * FROM {name}"),
        1 => format!("SELECT * FROM {name} LIMIT {}", dice.between(0, 4)),
        2 => format!("SELECT COUNT(*) AS n, COUNT({column}) AS m FROM {name}"),
        3 => format!("SELECT {column} FROM {name} WHERE {condition}"),
        4 => format!("SELECT {column}, COUNT(*) AS n FROM {name} GROUP BY {column}"),
        5 => format!("SELECT MIN({column}) AS least, MAX({column}) AS most FROM {name}"),
        6 => format!("SELECT DISTINCT {column} FROM {name} ORDER BY {column} DESC LIMIT 3"),
        _ => format!("SELECT a.{column} AS x FROM {name} a LEFT JOIN {name} b ON a.{column} = b.{column}"),
    }
}

/// Queries for what nobody was told of.
fn probe(dataset: &Dataset, dice: &mut Dice) -> String {
    let table = &dice.pick(&dataset.tables).schema;
    let (name, column) = (&table.name, &dice.pick(&table.columns).name);
    match dice.below(9) {
        0 => "SELECT * FROM audits".to_owned(),
        1 => "SELECT * FROM GLUE_TABLES".to_owned(),
        2 => "SELECT * FROM sqlite_master".to_owned(),
        3 => format!("SELECT nothing FROM {name}"),
        4 => format!("SELECT \"{column}\" FROM {name} ORDER BY \"{column}\" LIMIT 1"),
        5 => format!("SELECT q.x FROM {name} AS q(x)"),
        6 => format!("SELECT rowid FROM {name}"),
        7 => format!("SELECT 1 / (\"{column}\" - \"{column}\") AS x FROM {name}"),
        _ => format!("SELECT (SELECT MAX(customer_id) FROM audits) AS x, COUNT(*) AS n FROM {name}"),
    }
}

/// A change: of known things most often, with keys that hidden rows may have.
fn change(dataset: &Dataset, known: &Dataset, dice: &mut Dice) -> String {
    let table = table(dataset, known, dice);
    let name = &table.name;
    let condition = match dice.below(4) {
        0 => String::new(),
        _ => format!(" WHERE {}", Rule::draw(table, dice).text(table)),
    };
    match dice.below(10) {
        0..4 => {
            let columns: Vec<_> = table.columns.iter().filter(|_| dice.chance(85)).collect();
            let names: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
            let rows: Vec<String> = (0..dice.between(1, 2))
                .map(|_| {
                    let cells = columns.iter().map(|column| literal(&random_cell(column, dice)));
                    format!("({})", cells.collect::<Vec<_>>().join(", "))
                })
                .collect();
            format!("INSERT INTO {name} ({}) VALUES {}", names.join(", "), rows.join(", "))
        }
        4..8 => {
            let column = dice.pick(&table.columns);
            let value = literal(&random_cell(column, dice));
            format!("UPDATE {name} SET \"{}\" = {value}{condition}", column.name)
        }
        _ => format!("DELETE FROM {name}{condition}"),
    }
}
