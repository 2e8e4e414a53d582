//! Our engine against SQLite: random queries over random data, and no answer may differ. More of
//! them with `make fuzz-sql N=200000 SEED=7`.
#![expect(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot, on_deep_stack};
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session;
use tribunal_protocol::{Code, Failure, Kind, Table, Value};
use tribunal_sqlite::{SqliteCopy, SqliteError};
use tribunal_tests::random_queries::{random_dataset, random_query};
use tribunal_tests::told::number;

/// Queries of `make test`.
const QUERIES: u64 = 2_500;
/// Queries over one dataset.
const PER_DATASET: u64 = 25;

/// What the random queries must have, each often enough to mean something.
const CONSTRUCTS: &[&str] = &[
    "WITH ",
    " UNION SELECT",
    " UNION ALL SELECT",
    " INTERSECT SELECT",
    " EXCEPT SELECT",
    "CROSS JOIN",
    " USING (id)",
    "NATURAL ",
    "RIGHT JOIN",
    "LEFT JOIN",
    "GROUP BY c0",
    "GROUP BY 1",
    " HAVING ",
    " HAVING c",
    "ROUND(",
    "TRUNC(",
    "DATE_TRUNC(",
    "QUARTER",
    "LEAST(",
    "GREATEST(",
    "STDDEV",
    "VAR",
    "NULLS FIRST",
    "NULLS LAST",
    " ANY (",
    " ALL (",
    "IS DISTINCT FROM",
    "IS NOT DISTINCT FROM",
    " NOT IN (SELECT",
    " IN (SELECT",
    " NOT IN (",
    " BETWEEN ",
    "NOT BETWEEN",
    " LIKE ",
    " ILIKE ",
    "SELECT DISTINCT",
    "COUNT(DISTINCT",
    "SUM(DISTINCT",
    "CASE WHEN",
    "COALESCE(",
    "NULLIF(",
    "EXISTS (",
    "NOT EXISTS",
    "FILTER (WHERE",
    "BOOL_",
    "(SELECT COUNT(*)",
    "(SELECT MAX(",
    "FROM (SELECT",
    "INTERVAL",
    " * INTERVAL",
    "STRFTIME(",
    "TO_CHAR(",
    "DATE_PART(",
    "UNIXEPOCH(",
    "JULIANDAY(",
    "EXTRACT(EPOCH",
    "SUBSTR(",
    "LEFT(",
    "RIGHT(",
    "LPAD(",
    "TRIM(",
    "REPLACE(",
    "STRPOS(",
    "POSITION(",
    "REVERSE(",
    "CONCAT_WS(",
    "IS TRUE",
    "IS NOT FALSE",
    "(NOT (",
    "NULL",
    "é",
    "AS NUMERIC",
    "LIMIT",
    "OFFSET",
    "FETCH FIRST",
    "SELECT * FROM",
];

/// What became of some queries.
#[derive(Default)]
struct Tally {
    same: u64,
    /// How many of those have each construct.
    constructs: BTreeMap<&'static str, u64>,
    /// Those of them that gave no row: they say little.
    empty: u64,
    wrong: Vec<String>,
    /// What SQLite answers and we do not, by reason.
    refused: BTreeMap<String, (u64, String)>,
    /// What has no second opinion.
    unopposed: BTreeMap<String, (u64, String)>,
}

fn total(reasons: &BTreeMap<String, (u64, String)>) -> u64 {
    reasons.values().map(|(count, _)| count).sum()
}

/// Runs queries, each answer of ours changed by `change` before it is compared.
fn run(first: u64, queries: u64, change: impl Fn(Table) -> Table + Send) -> Tally {
    // One thread with stack enough for all of them, and not a new one for every long query.
    on_deep_stack(|| run_here(first, queries, change)).expect("memory for a thread")
}

fn run_here(first: u64, queries: u64, change: impl Fn(Table) -> Table) -> Tally {
    let mut tally = Tally::default();
    let mut seed = first;
    while seed < first + queries {
        let dataset = random_dataset(seed / PER_DATASET);
        let engines = Engines::open(&dataset);
        for _ in 0..PER_DATASET.min(first + queries - seed) {
            let query = random_query(seed, &dataset);
            engines.compare(seed, &query, &mut tally, &change);
            seed += 1;
        }
    }
    tally
}

#[test]
fn no_answer_differs_from_sqlite() {
    let (queries, first) = (number("QUERIES", QUERIES), number("SEED", 0));
    let tally = run(first, queries, |table| table);
    report(&tally, queries);
    assert!(tally.wrong.is_empty(), "{} wrong of {queries}:\n{}", tally.wrong.len(), tally.wrong.join("\n\n"));
    let (refused, unopposed) = (total(&tally.refused), total(&tally.unopposed));
    assert!(refused * 20 < queries, "{refused} of {queries} refused");
    assert!(unopposed * 20 < queries, "{unopposed} of {queries} without a second opinion");
    assert!(tally.empty * 2 < queries, "{} of {queries} give no row", tally.empty);
    for construct in CONSTRUCTS {
        let count = tally.constructs.get(construct).copied().unwrap_or(0);
        assert!(count * 1_000 >= queries, "`{construct}` in {count} of {queries} that were compared");
    }
}

/// The twin that must fail: one cell changed, one row dropped, one row twice, two rows exchanged.
#[test]
fn a_wrong_answer_is_counted_as_wrong() {
    let queries = 200;
    let right = run(0, queries, |table| table);
    assert_eq!(right.wrong, Vec::<String>::new());
    let telling = right.same - right.empty;
    assert!(telling > queries / 2, "{telling} answers with rows");
    type Change = fn(Table) -> Table;
    let changes: [(&str, Change); 3] =
        [("a cell changed", other_cell), ("the last row dropped", fewer_rows), ("the first row twice", more_rows)];
    for (what, change) in changes {
        let wrong = run(0, queries, change).wrong.len() as u64;
        assert_eq!(wrong, telling, "{what}");
    }
}

#[test]
fn the_order_counts_where_it_is_asked_for() {
    let column = |cells: &[i64]| {
        let rows: Vec<_> = cells.iter().map(|cell| vec![Value::Integer(*cell)]).collect();
        Table::from_rows(&[("c".to_owned(), Kind::Integer)], &rows).expect("a table")
    };
    let (up, down) = (column(&[1, 2, 2]), column(&[2, 2, 1]));
    assert_eq!(difference(&up, &down, false), None);
    assert!(difference(&up, &down, true).is_some());
    assert!(difference(&up, &column(&[1, 1, 2]), false).is_some());
}

fn rebuilt(table: &Table, rows: &[Vec<Value>]) -> Table {
    let columns: Vec<_> = table.columns.iter().map(|column| (column.name.clone(), column.kind())).collect();
    Table::from_rows(&columns, rows).expect("a table")
}

fn other_cell(table: Table) -> Table {
    let mut rows = table.to_rows();
    let Some(cell) = rows.last_mut().and_then(|row| row.last_mut()) else { return table };
    let kind = table.columns.last().map_or(Kind::Unknown, |column| column.kind());
    *cell = match &*cell {
        Value::Null => match kind {
            Kind::Boolean => Value::Boolean(false),
            Kind::Integer => Value::Integer(0),
            Kind::Float => Value::Float(0.0),
            Kind::Decimal => Value::Decimal(0.into()),
            Kind::Date => Value::Date(0),
            Kind::Timestamp => Value::Timestamp(0),
            Kind::Text | Kind::Unknown => return fewer_rows(table),
        },
        _ => Value::Null,
    };
    rebuilt(&table, &rows)
}

fn fewer_rows(table: Table) -> Table {
    let mut rows = table.to_rows();
    rows.pop();
    rebuilt(&table, &rows)
}

fn more_rows(table: Table) -> Table {
    let mut rows = table.to_rows();
    rows.extend(rows.first().cloned());
    rebuilt(&table, &rows)
}

#[expect(clippy::print_stdout, reason = "figures of a test, shown with --nocapture")]
fn report(tally: &Tally, queries: u64) {
    let Tally { same, constructs, empty, wrong, refused, unopposed } = tally;
    println!(
        "{queries} queries: {same} the same ({empty} of them without a row), {} wrong, {} refused, {} without a second opinion",
        wrong.len(),
        total(refused),
        total(unopposed)
    );
    println!("compared, by construct: {constructs:?}");
    for (title, reasons) in [("refused", refused), ("no second opinion", unopposed)] {
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
        DatabaseSession::open(self.snapshot.fork(), contract, Default::default()).query(query, &[])
    }

    fn compare(&self, seed: u64, query: &str, tally: &mut Tally, change: &impl Fn(Table) -> Table) {
        let ours = self.ours(query).map(change);
        let kinds: Vec<_> = match &ours {
            Ok(table) => table.columns.iter().map(|column| Some(column.kind())).collect(),
            Err(_) => Vec::new(),
        };
        let second = self.second.query_ours(query, &kinds);
        match (ours, second) {
            (Ok(ours), Ok(second)) => match difference(&ours, &second, query.contains(" ORDER BY 1")) {
                None => {
                    tally.same += 1;
                    for construct in CONSTRUCTS.iter().filter(|construct| query.contains(**construct)) {
                        *tally.constructs.entry(construct).or_default() += 1;
                    }
                    tally.empty += u64::from(ours.rows == 0);
                }
                Some(why) => tally.wrong.push(format!("seed {seed}: {why}\n{query}")),
            },
            (Err(failure), second) => {
                let known = second.is_ok() || failure.code == Code::Unsupported;
                let list = if known { &mut tally.refused } else { &mut tally.unopposed };
                note(list, failure.to_string(), query);
            }
            (Ok(_), Err(SqliteError::Query(why))) => note(&mut tally.unopposed, why, query),
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
        ours.sort_by_cached_key(|row| sorted_as(row));
        second.sort_by_cached_key(|row| sorted_as(row));
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

/// What rows are sorted by: first with nearly equal numbers alike, whatever comes in the columns
/// behind them, and where rows are the same so far by their numbers as they are.
fn sorted_as(row: &[Value]) -> (Vec<String>, Vec<i64>) {
    let alike = |value: &Value| match as_float(value) {
        Some(number) => format!("{:024.4}", number + 1e12),
        None => value.to_string(),
    };
    // The place of a small difference is what counts here: numbers that are alike are small, too,
    // or differ by less than anybody looks at.
    #[expect(clippy::cast_possible_truncation, reason = "a number beyond is alike with its neighbours")]
    let fine = |value: &Value| as_float(value).map_or(0, |number| (number * 1e8).round() as i64);
    (row.iter().map(alike).collect(), row.iter().map(fine).collect())
}

#[test]
fn rows_are_paired_though_they_are_nearly_alike() {
    let table = |cells: [(f64, i64); 2]| {
        let rows: Vec<_> = cells.iter().map(|(a, b)| vec![Value::Float(*a), Value::Integer(*b)]).collect();
        Table::from_rows(&[("a".to_owned(), Kind::Float), ("b".to_owned(), Kind::Integer)], &rows).expect("a table")
    };
    assert_eq!(difference(&table([(1e-5, 1), (0.0, 1)]), &table([(0.0, 1), (1e-5, 1)]), false), None);
    assert!(difference(&table([(1e-5, 1), (0.0, 1)]), &table([(0.0, 1), (0.0, 1)]), false).is_some());
    // One that is nearly equal is followed by what follows its like.
    let (noise, clean) = (table([(1.0 + 1e-12, 1), (1.0, 2)]), table([(1.0, 1), (1.0, 2)]));
    assert_eq!(difference(&noise, &clean, false), None);
}
