//! Sessions on both engines: what both run gives the same bytes.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Kind, Table, Value};
use tribunal_tests::random_queries::{random_dataset, random_query};

/// Queries that both engines get.
const QUERIES: u64 = 2_000;
/// Queries over one dataset.
const PER_DATASET: u64 = 25;

const ALL: &str = "[contract]\nname = \"all\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";

fn open(dataset: &Dataset, engine: Engine, contract: &str) -> (Snapshot, Arc<Effective>) {
    let snapshot = Snapshot::seal_on(dataset, engine).unwrap();
    let contract = Contract::parse(contract).unwrap().resolve(snapshot.schemas()).unwrap();
    (snapshot, Arc::new(contract))
}

fn answer((snapshot, contract): &(Snapshot, Arc<Effective>), query: &str) -> Result<Table, Failure> {
    DatabaseSession::open(snapshot.fork(), Arc::clone(contract), Usage::default()).query(query, &[])
}

/// What differs of two results: names, kinds or rows.
fn difference(gluesql: &Table, sqlite: &Table) -> Option<String> {
    let shape =
        |table: &Table| table.columns.iter().map(|column| (column.name.clone(), column.kind())).collect::<Vec<_>>();
    let bare = |kind: Kind| kind == Kind::Unknown;
    let (ours, theirs) = (shape(gluesql), shape(sqlite));
    let alike = ours.len() == theirs.len()
        && ours.iter().zip(&theirs).all(|(a, b)| a.0 == b.0 && (a.1 == b.1 || bare(a.1) || bare(b.1)));
    if !alike {
        return Some(format!("{ours:?} and {theirs:?}"));
    }
    let sorted = |table: &Table| {
        let mut rows = table.to_rows();
        rows.sort_by_cached_key(|row| row.iter().map(key).collect::<Vec<_>>());
        rows
    };
    let (ours, theirs) = (sorted(gluesql), sorted(sqlite));
    let alike = |(ours, theirs): (&Vec<Value>, &Vec<Value>)| ours.iter().zip(theirs).all(|(a, b)| same(a, b));
    let all = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(alike);
    (!all).then(|| format!("{ours:?}\nand {theirs:?}"))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Decimal(_) | Value::Float(_) => value.to_string().parse().ok(),
        _ => None,
    }
}

/// What rows are sorted by: numbers that are nearly equal are equal here.
fn key(value: &Value) -> String {
    number(value).map_or_else(|| value.to_string(), |number| format!("{:024.3}", number + 1e12))
}

/// Of computed numbers SQLite keeps 6 places.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (number(ours), number(theirs)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6_f64.max(a.abs() * 1e-9),
        _ => ours == theirs,
    }
}

#[test]
fn both_engines_give_the_same_answers() {
    let (mut same, mut wrong) = (0, Vec::new());
    let mut refused: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for round in 0..QUERIES / PER_DATASET {
        let dataset = random_dataset(5_000 + round);
        let [gluesql, sqlite] = Engine::ALL.map(|engine| open(&dataset, engine, ALL));
        for seed in 0..PER_DATASET {
            let query = random_query(90_000 + round * PER_DATASET + seed, &dataset);
            match (answer(&gluesql, &query), answer(&sqlite, &query)) {
                (Ok(ours), Ok(theirs)) => match difference(&ours, &theirs) {
                    None => same += 1,
                    Some(why) => wrong.push(format!("{query}\n{why}")),
                },
                // Where GlueSQL lacks something, SQLite may have it.
                (Err(_), _) => {}
                (Ok(_), Err(failure)) => {
                    refused.entry(failure.to_string()).or_insert_with(|| (0, query.clone())).0 += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
    let count: u64 = refused.values().map(|(count, _)| count).sum();
    assert!(count * 20 < QUERIES, "SQLite refuses {count} that GlueSQL runs: {refused:#?}");
    assert!(same * 10 > QUERIES * 7, "{same} of {QUERIES} compared");
}
