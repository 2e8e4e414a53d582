//! Statements that are meant to break something, through a whole session: no abort, no panic that
//! leaves the call, no budget passed. More of them with `make fuzz-text N=1000000 SEED=7`.
#![expect(clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot, on_deep_stack};
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session;
use tribunal_protocol::{Code, Failure};
use tribunal_tests::random_queries::random_dataset;
use tribunal_tests::random_text::random_text;
use tribunal_tests::told::number;

/// Statements of `make test`.
const STATEMENTS: u64 = 12_000;
/// Statements over one dataset.
const PER_DATASET: u64 = 200;
/// What one call may take on a machine that does other things as well. Budgets are rows; this only
/// shows that no work escapes them.
const PATIENCE: Duration = Duration::from_secs(5);

const ROWS_SCANNED: u64 = 20_000;
const ROWS_RETURNED: u64 = 500;
const BYTES_RETURNED: u64 = 100_000;
const ROWS_WRITTEN: u64 = 100;

#[expect(clippy::disallowed_methods, reason = "the test measures whether a call ends")]
fn now() -> Instant {
    Instant::now()
}

struct World {
    snapshot: Snapshot,
    contract: Arc<tribunal_contract::Effective>,
}

impl World {
    fn new(dataset: &Dataset, statements: u64) -> World {
        let snapshot = Snapshot::seal(dataset).expect("random data is sealed").with_memo(0);
        let mut grant = String::from("[contract]\nname = \"all\"\n");
        for table in &dataset.tables {
            let name = &table.schema.name;
            grant.push_str(&format!("[[read]]\ntable = \"{name}\"\ncolumns = [\"*\"]\n"));
            grant.push_str(&format!(
                "[[write]]\ntable = \"{name}\"\nverbs = [\"insert\", \"update\", \"delete\"]\ncolumns = [\"*\"]\n"
            ));
        }
        grant.push_str(&format!(
            "[budget]\nstatements = {statements}\nrows_scanned = {ROWS_SCANNED}\nrows_returned = {ROWS_RETURNED}\n\
             bytes_returned = {BYTES_RETURNED}\nrows_written = {ROWS_WRITTEN}\n"
        ));
        let contract = Contract::parse(&grant).expect("a contract").resolve(snapshot.schemas()).expect("known tables");
        World { snapshot, contract: Arc::new(contract) }
    }

    /// Runs one statement; says what became of it and how long it took.
    fn run(&self, text: &str) -> (Result<u64, Failure>, Duration) {
        let mut session = DatabaseSession::open(self.snapshot.fork(), Arc::clone(&self.contract), Default::default());
        let verb = text.trim_start().get(..6).unwrap_or("").to_ascii_uppercase();
        let start = now();
        let result = match verb.as_str() {
            "INSERT" | "UPDATE" | "DELETE" => session.change(text, &[]),
            _ => session.query(text, &[]).map(|table| {
                assert!(table.rows as u64 <= ROWS_RETURNED && table.bytes() <= BYTES_RETURNED, "{text}");
                table.rows as u64
            }),
        };
        let took = start.elapsed();
        let used = session.usage();
        assert!(used.statements <= 1 && used.rows_scanned <= ROWS_SCANNED, "{used:?}: {text}");
        assert!(used.rows_returned <= ROWS_RETURNED && used.bytes_returned <= BYTES_RETURNED, "{used:?}: {text}");
        assert!(used.rows_written <= ROWS_WRITTEN, "{used:?}: {text}");
        (result, took)
    }
}

/// What became of some statements.
struct Outcomes {
    counts: BTreeMap<&'static str, u64>,
    slowest: (Duration, String),
}

impl Outcomes {
    /// Runs the statements of some seeds over one dataset.
    fn run(&mut self, seeds: Range<u64>, dataset: &Dataset) {
        let world = World::new(dataset, 1);
        for seed in seeds {
            let text = random_text(seed, dataset);
            let (result, took) = world.run(&text);
            let outcome = result.map_or_else(|failure| failure.code.name(), |_| "answered");
            *self.counts.entry(outcome).or_insert(0) += 1;
            if took > self.slowest.0 {
                self.slowest = (took, text);
            }
        }
    }
}

#[test]
fn no_statement_breaks_out_of_its_call() {
    let (statements, first) = (number("STATEMENTS", STATEMENTS), number("SEED", 0));
    let mut outcomes = Outcomes { counts: BTreeMap::new(), slowest: (Duration::ZERO, String::new()) };
    let mut seed = first;
    while seed < first + statements {
        let end = (seed + PER_DATASET).min(first + statements);
        let dataset = random_dataset(seed / PER_DATASET);
        if seed.is_multiple_of(PER_DATASET * 50) {
            println!("from seed {seed}");
        }
        // On a thread like any other, which gets a deep stack where a statement needs one, and on
        // one that has it, in turn.
        if (seed / PER_DATASET).is_multiple_of(2) {
            outcomes.run(seed..end, &dataset);
        } else {
            on_deep_stack(|| outcomes.run(seed..end, &dataset)).expect("no panic leaves a call");
        }
        seed = end;
    }
    let Outcomes { counts, slowest: (took, text) } = outcomes;
    println!("{statements} statements: {counts:?}; the slowest took {took:?}: {text}");
    assert!(took < PATIENCE, "{took:?}: {text}");
    // The test has teeth only where statements come so far as to run, and as to be stopped.
    for (outcome, least) in
        [("answered", statements / 50), ("invalid", statements / 50), ("unsupported", 10), ("quota", 5)]
    {
        let count = counts.get(outcome).copied().unwrap_or(0);
        assert!(count >= least, "{outcome}: {count} of {statements}");
    }
}

/// What grew without bound, or looped, once: a named case each, with the answer expected now.
#[test]
fn what_broke_once_is_stopped() {
    let datasets = (0..).map(random_dataset);
    let filled = |dataset: &Dataset| dataset.tables.iter().all(|table| table.rows.len() > 9);
    let dataset = datasets.into_iter().find(filled).expect("some are filled");
    let world = World::new(&dataset, 1);
    let code = |text: &str| world.run(text).0.err().map(|failure| failure.code);
    let doubled = |levels: usize| {
        let mut query = "SELECT LPAD(note, 500, 'x') AS n FROM items".to_owned();
        for level in 0..levels {
            query = format!("SELECT n || n AS n FROM ({query}) AS t{level}");
        }
        format!("SELECT MAX(LENGTH(n)) FROM ({query}) AS t")
    };
    assert_eq!(code(&doubled(4)), None);
    assert_eq!(code(&doubled(25)), Some(Code::Quota));
    let replaced = |levels: usize| {
        let mut text = "LPAD(note, 500, 'a')".to_owned();
        for _ in 0..levels {
            text = format!("REPLACE({text}, 'a', 'aaaaaaaaaa')");
        }
        format!("SELECT LENGTH({text}) FROM items")
    };
    assert_eq!(code(&replaced(1)), None);
    assert_eq!(code(&replaced(8)), Some(Code::Quota));
    assert_eq!(code("SELECT COUNT(*) FROM items a, items b, items c, items d, items e, items f"), Some(Code::Quota));
    assert_eq!(code("SELECT * FROM SERIES(1000000000000)"), Some(Code::Unsupported));
    let wide = |columns: usize| format!("SELECT {} FROM items", vec!["note"; columns].join(", "));
    assert_eq!(code(&wide(200)), None);
    assert_eq!(code(&wide(300)), Some(Code::Quota));
    // One row, two, four, .. bytes, statement by statement.
    let world = World::new(&dataset, 100);
    let mut session = DatabaseSession::open(world.snapshot.fork(), Arc::clone(&world.contract), Default::default());
    session.change("UPDATE items SET note = LPAD('', 1000, 'x') WHERE line > -99", &[]).expect("a short text");
    let grown = (0..12).find_map(|times| {
        let result = session.change("UPDATE items SET note = note || note WHERE order_id = 1 OR line > 4", &[]);
        result.err().map(|failure| (times, failure.code))
    });
    // 1,000 bytes doubled 8 times are 256,000, and 256 KiB are 262,144.
    assert_eq!(grown, Some((8, Code::Quota)));
}
