//! What is remembered changes no byte and no charge.

use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Table};

use super::fixture::{ALL, CLERK, contract, open, rows, snapshot};

const QUERIES: [&str; 5] = [
    "SELECT id, total FROM invoices ORDER BY id",
    "SELECT a.region, SUM(i.total) AS s FROM invoices AS i JOIN accounts AS a ON a.id = i.account_id \
     GROUP BY a.region ORDER BY a.region",
    "SELECT nothing FROM invoices",
    "SELECT name FROM accounts WHERE id = 3",
    "SELECT COUNT(*) AS n FROM refunds",
];

type Seen = Vec<(Result<Table, Failure>, Usage)>;

fn run(memo: usize, toml: &str, rounds: usize) -> Seen {
    let snapshot = snapshot().with_memo(memo);
    let mut seen = Vec::new();
    for _ in 0..rounds {
        let mut session = open(snapshot.fork(), toml);
        for sql in QUERIES {
            let result = session.query(sql, &[]);
            seen.push((result, session.usage()));
        }
    }
    seen
}

#[test]
fn with_and_without_a_memory_all_is_the_same() {
    for budget in [
        "",
        "[budget]\nrows_scanned = 14",
        "[budget]\nrows_returned = 7",
        "[budget]\nbytes_returned = 200",
        "[budget]\nstatements = 3",
    ] {
        for grants in [ALL, CLERK] {
            let toml = format!("{grants}\n{budget}");
            let (without, with) = (run(0, &toml, 3), run(1 << 20, &toml, 3));
            assert_eq!(without, with, "{budget}");
            // A memory that forgets at once, and one that holds a single result.
            assert_eq!(without, run(1, &toml, 3), "{budget}");
            assert_eq!(without, run(2_000, &toml, 3), "{budget}");
        }
    }
}

#[test]
fn a_written_table_is_not_remembered() {
    let snapshot = snapshot();
    let sql = "SELECT COUNT(*) AS n FROM refunds";
    assert_eq!(rows(&mut open(snapshot.fork(), ALL), sql), ["1"]);
    let mut session = open(snapshot.fork(), ALL);
    session.change("INSERT INTO refunds VALUES (2, 1, 1, 'x')", &[]).unwrap();
    assert_eq!(rows(&mut session, sql), ["2"]);
    assert_eq!(rows(&mut open(snapshot.fork(), ALL), sql), ["1"]);
}

#[test]
fn contracts_do_not_share_a_memory() {
    let snapshot = snapshot();
    let sql = "SELECT COUNT(*) AS n FROM invoices";
    assert_eq!(rows(&mut open(snapshot.fork(), ALL), sql), ["6"]);
    assert_eq!(rows(&mut open(snapshot.fork(), CLERK), sql), ["4"]);
    assert_ne!(contract(ALL).digest(), contract(CLERK).digest());
}

#[test]
fn parameters_are_part_of_the_question() {
    let snapshot = snapshot();
    let sql = "SELECT name FROM accounts WHERE id = $1";
    for (id, name) in [(1, "Ann"), (2, "Bob"), (1, "Ann")] {
        let mut session = open(snapshot.fork(), ALL);
        let table = session.query(sql, &[tribunal_protocol::Value::Integer(id)]).unwrap();
        assert_eq!(table.row(0), [super::fixture::text(name)]);
    }
}
