//! What a holder sees of a case, and whether it can tell one database from another.

use std::sync::Arc;

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;

use super::{Case, Operation};

/// All that the holder of a contract sees on an engine: listings, results, failures, counts.
///
/// # Panics
/// Where the dataset cannot be sealed, or the contract does not fit it: then it is no case.
#[must_use]
pub fn seen(engine: Engine, dataset: &Dataset, contract: &str, operations: &[Operation]) -> Vec<String> {
    let mut session = open(engine, dataset, contract);
    let does = |operation: &Operation| {
        let result = match operation {
            Operation::Tables => format!("{:?}", session.tables()),
            Operation::Query(sql) => match session.query(sql, &[]) {
                Ok(table) => format!("{table:?}"),
                Err(failure) => failure.to_string(),
            },
            Operation::Change(sql) => match session.change(sql, &[]) {
                Ok(rows) => format!("{rows} rows"),
                Err(failure) => failure.to_string(),
            },
        };
        // Violations are told to the author of the contract, never to the holder.
        format!("{result}\n{:?}", session.usage())
    };
    operations.iter().map(does).collect()
}

#[expect(clippy::panic, reason = "a case that is no case is a fault of the test")]
fn open(engine: Engine, dataset: &Dataset, contract: &str) -> DatabaseSession {
    let snapshot = Snapshot::seal_on(dataset, engine).unwrap_or_else(|why| panic!("{why}: {dataset:?}"));
    let contract = Contract::parse(contract).unwrap_or_else(|why| panic!("{why}\n{contract}"));
    let contract = contract.resolve(snapshot.schemas()).unwrap_or_else(|why| panic!("{why}"));
    DatabaseSession::open(snapshot.fork(), Arc::new(contract), Usage::default())
}

/// The first statement of a case whose answer tells one database from another, with both answers
/// and databases.
///
/// # Panics
/// As [`seen`].
#[must_use]
pub fn first_difference(engine: Engine, case: &Case, contract: &str) -> Option<String> {
    let (here, others) = case.datasets.split_first()?;
    let first = seen(engine, here, contract, &case.operations);
    others.iter().find_map(|other| {
        let second = seen(engine, other, contract, &case.operations);
        let place = first.iter().zip(&second).position(|(a, b)| a != b)?;
        let before = &case.operations[..=place];
        Some(format!("{before:#?}\nthere: {}\nelsewhere: {}\n{here:?}\n{other:?}", first[place], second[place]))
    })
}
