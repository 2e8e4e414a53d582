//! Our engine against SQLite: random queries over random data, and no answer may differ.

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_contract::Contract;
use tribunal_database::{GlueSession, Snapshot};
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session;
use tribunal_protocol::{Code, Failure, Kind, Table, Value};
use tribunal_sqlite::{SqliteCopy, SqliteError};
use tribunal_tests::random_queries::{random_dataset, random_query};

/// Queries of `make test`; more with `QUERIES=..`.
const QUERIES: u64 = 3_000;
/// Queries over one dataset.
const PER_DATASET: u64 = 25;

/// What became of some queries.
#[derive(Default)]
struct Tally {
    same: u64,
    wrong: Vec<String>,
    refused: BTreeMap<String, (u64, String)>,
    only_here: BTreeMap<String, (u64, String)>,
}

#[expect(clippy::disallowed_methods, reason = "how many queries, and from which seed, is told from outside")]
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_answer_differs_from_sqlite() {
    let (queries, first) = (number("QUERIES", QUERIES), number("SEED", 0));
    let mut tally = Tally::default();
    let mut seed = first;
    while seed < first + queries {
        let dataset = random_dataset(seed / PER_DATASET);
        let engines = Engines::open(&dataset);
        for _ in 0..PER_DATASET.min(first + queries - seed) {
            let query = random_query(seed, &dataset);
            engines.compare(seed, &query, &mut tally);
            seed += 1;
        }
    }
    report(&tally, queries);
    assert!(tally.wrong.is_empty(), "{} wrong of {queries}:\n{}", tally.wrong.len(), tally.wrong.join("\n\n"));
    let refused: u64 = tally.refused.values().map(|(count, _)| count).sum();
    assert!(refused * 20 <= queries, "{refused} of {queries} refused");
}

#[expect(clippy::print_stdout, reason = "figures of a test, shown with --nocapture")]
fn report(tally: &Tally, queries: u64) {
    println!("{queries} queries: {} the same, {} wrong", tally.same, tally.wrong.len());
    for (title, reasons) in [("refused", &tally.refused), ("no second opinion", &tally.only_here)] {
        for (why, (count, query)) in reasons {
            println!("{title}: {count} {why}\n    {query}");
        }
    }
}

struct Engines {
    snapshot: Snapshot,
    contract: Arc<tribunal_contract::Effective>,
    second: SqliteCopy,
}

impl Engines {
    fn open(dataset: &Dataset) -> Engines {
        let snapshot = Snapshot::seal(dataset).expect("random data is sealed");
        let mut grant = String::from("[contract]\nname = \"all\"\n");
        for table in &dataset.tables {
            grant.push_str(&format!("[[read]]\ntable = \"{}\"\ncolumns = [\"*\"]\n", table.schema.name));
        }
        let contract = Contract::parse(&grant).expect("a contract").resolve(snapshot.schemas()).expect("known tables");
        Engines { snapshot, contract: Arc::new(contract), second: SqliteCopy::load(dataset).expect("SQLite takes it") }
    }

    fn ours(&self, query: &str) -> Result<Table, Failure> {
        let contract = Arc::clone(&self.contract);
        GlueSession::open(self.snapshot.fork(), contract, Default::default()).query(query, &[])
    }

    fn compare(&self, seed: u64, query: &str, tally: &mut Tally) {
        let ours = self.ours(query);
        let kinds: Vec<_> = match &ours {
            Ok(table) => table.columns.iter().map(|column| Some(column.kind())).collect(),
            Err(_) => Vec::new(),
        };
        let second = self.second.query_ours(query, &kinds);
        match (ours, second) {
            (Ok(ours), Ok(second)) => match difference(&ours, &second, query.contains(" ORDER BY ")) {
                None => tally.same += 1,
                Some(why) => tally.wrong.push(format!("seed {seed}: {why}\n{query}")),
            },
            (Err(failure), second) => {
                let known = second.is_ok() || failure.code == Code::Unsupported;
                let list = if known { &mut tally.refused } else { &mut tally.only_here };
                note(list, failure.to_string(), query);
            }
            (Ok(_), Err(SqliteError::Query(why))) => note(&mut tally.only_here, why, query),
            (Ok(_), Err(why)) => tally.wrong.push(format!("seed {seed}: {why}\n{query}")),
        }
    }
}

fn note(list: &mut BTreeMap<String, (u64, String)>, why: String, query: &str) {
    let (count, _) = list.entry(why).or_insert_with(|| (0, query.to_owned()));
    *count += 1;
}

/// The first difference of two results.
fn difference(ours: &Table, second: &Table, ordered: bool) -> Option<String> {
    if ours.rows != second.rows {
        return Some(format!("{} rows here, {} in SQLite", ours.rows, second.rows));
    }
    let (mut ours, mut second) = (ours.to_rows(), second.to_rows());
    if !ordered {
        let key = |row: &Vec<Value>| row.iter().map(sorted_as).collect::<Vec<_>>();
        ours.sort_by_key(key);
        second.sort_by_key(key);
    }
    let rows = ours.iter().zip(&second).enumerate();
    let mut differing = rows.filter(|(_, (ours, second))| !ours.iter().zip(*second).all(|(a, b)| same(a, b)));
    differing
        .next()
        .map(|(index, (ours, second))| format!("row {index}: {} here, {} in SQLite", text(ours), text(second)))
}

fn text(row: &[Value]) -> String {
    let cells: Vec<_> = row.iter().map(|cell| format!("{cell} ({})", cell.kind())).collect();
    cells.join(", ")
}

fn as_float(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(_) | Value::Decimal(_) => value.to_string().parse().ok(),
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

fn same(ours: &Value, second: &Value) -> bool {
    match (as_float(ours), as_float(second)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6_f64.max(a.abs() * 1e-9),
        (None, None) => ours == second && (ours.kind() == second.kind() || ours.kind() == Kind::Unknown),
        _ => false,
    }
}

/// Numbers of all kinds by their value, nearly equal ones alike.
fn sorted_as(value: &Value) -> String {
    match as_float(value) {
        Some(number) => format!("{:024.4}", number + 1e12),
        None => value.to_string(),
    }
}
