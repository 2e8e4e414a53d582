//! Non-interference, as cases: a contract, several databases that differ in nothing but what the
//! contract hides, and statements. Whoever holds the contract must see the same bytes in all.

mod grant;
mod hide;
mod operation;
mod seen;

use tribunal_protocol::schema::{ColumnSchema, Dataset, ForeignKey, TableData, TableSchema};
use tribunal_protocol::{Kind, Value};

pub use operation::Operation;
pub use seen::{first_difference, seen};

use crate::random_queries::{Dice, random_cell, random_dataset};
use grant::Grants;

/// One case.
pub struct Case {
    /// The contract, in TOML.
    pub contract: String,
    /// The database as it is, as it might be, and in one case of four also with hidden tables
    /// and columns left out.
    pub datasets: Vec<Dataset>,
    /// What the holder does, in order.
    pub operations: Vec<Operation>,
}

/// The case of a seed.
#[must_use]
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed, 3);
    let dataset = referenced(random_dataset(seed / 4), &mut dice);
    let grants = Grants::draw(&dataset, &mut dice);
    let altered = hide::altered(&dataset, &grants, &mut dice);
    let lacking = seed.is_multiple_of(4).then(|| hide::lacking(&altered, &grants));
    let operations = operation::draw(seed, &dataset, &grants, &mut dice);
    let contract = grants.to_toml(&dataset, &mut dice);
    let datasets = [Some(dataset), Some(altered), lacking].into_iter().flatten().collect();
    Case { contract, datasets, operations }
}

/// Adds a table that is never granted, and in half of the cases references that hold.
fn referenced(mut dataset: Dataset, dice: &mut Dice) -> Dataset {
    let ids = |dataset: &Dataset, name: &str| -> Vec<Value> {
        let table = dataset.tables.iter().find(|table| table.schema.name == name);
        table.map(|table| table.rows.iter().map(|row| row[0].clone()).collect()).unwrap_or_default()
    };
    let customers = ids(&dataset, "customers");
    if dice.chance(50) {
        for table in dataset.tables.iter_mut().filter(|table| table.schema.name == "orders") {
            table.schema.foreign_keys = vec![key("customer_id", "customers")];
            for row in &mut table.rows {
                row[1] = if customers.is_empty() { Value::Null } else { dice.pick(&customers).clone() };
            }
        }
    }
    let columns = vec![
        ColumnSchema::new("id", Kind::Integer, false),
        ColumnSchema::new("customer_id", Kind::Integer, true),
        ColumnSchema::new("memo", Kind::Text, true),
    ];
    let mut schema = TableSchema::new("audits", columns, &["id"]);
    schema.foreign_keys = vec![key("customer_id", "customers")];
    let rows = (1..=dice.between(0, 5)).map(|id| {
        let customer = if customers.is_empty() { Value::Null } else { dice.pick(&customers).clone() };
        vec![Value::Integer(id), customer, random_cell(&ColumnSchema::new("memo", Kind::Text, true), dice)]
    });
    let rows = rows.collect();
    dataset.tables.push(TableData { schema, rows });
    dataset
}

fn key(column: &str, table: &str) -> ForeignKey {
    ForeignKey { columns: vec![column.to_owned()], table: table.to_owned(), references: vec!["id".to_owned()] }
}

/// Whether another table refers to this one.
fn is_referred_to(dataset: &Dataset, table: &str) -> bool {
    dataset.tables.iter().any(|other| other.schema.foreign_keys.iter().any(|key| key.table == table))
}
