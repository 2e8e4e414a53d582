//! Every budget, hit and not hit.

use tribunal_database::DatabaseSession;
use tribunal_protocol::Value;
use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::{Kind, usage::Usage};

use super::fixture::{ALL, Meant, contract, meant, open, refused, rows, seal, snapshot, unchanged};

fn with(budget: &str) -> DatabaseSession {
    open(snapshot().fork(), &format!("{ALL}\n[budget]\n{budget}"))
}

const SIX: &str = "SELECT id FROM invoices";

#[test]
fn statements() {
    let mut session = with("statements = 2");
    rows(&mut session, SIX);
    refused(&mut session, "SELECT nothing FROM invoices");
    assert_eq!(refused(&mut session, SIX), "quota: the budget of statements is spent");
    assert_eq!(unchanged(&mut session, "DELETE FROM refunds"), "quota: the budget of statements is spent");
    assert_eq!(session.usage().statements, 2);
}

#[test]
fn rows_scanned() {
    if meant(Meant::ScannedInSteps) {
        return rows_scanned_in_steps();
    }
    let mut session = with("rows_scanned = 11");
    assert_eq!(rows(&mut session, SIX).len(), 6);
    assert_eq!(refused(&mut session, SIX), "quota: the budget of rows scanned is spent");
    assert_eq!(session.usage().rows_scanned, 11);
    assert_eq!(with("rows_scanned = 6").query(SIX, &[]).unwrap().rows, 6);
    let update = unchanged(&mut with("rows_scanned = 5"), "UPDATE invoices SET note = 'x'");
    assert_eq!(update, "quota: the budget of rows scanned is spent");
    // A LIMIT reads no more than it gives.
    assert_eq!(rows(&mut with("rows_scanned = 2"), "SELECT id FROM invoices LIMIT 2").len(), 2);
}

fn rows_scanned_in_steps() {
    let cost = |sql: &str| {
        let mut session = with("");
        session.query(sql, &[]).unwrap();
        session.usage().rows_scanned
    };
    let six = cost(SIX);
    // Per row: find the column, give the row, go to the next. Eight such steps are a row.
    assert!((2..=6).contains(&six), "{six}");
    assert_eq!(with(&format!("rows_scanned = {six}")).query(SIX, &[]).unwrap().rows, 6);
    let mut session = with(&format!("rows_scanned = {}", 2 * six - 1));
    assert_eq!(rows(&mut session, SIX).len(), 6);
    assert_eq!(refused(&mut session, SIX), "quota: the budget of rows scanned is spent");
    assert_eq!(session.usage().rows_scanned, 2 * six - 1);
    let update = unchanged(&mut with("rows_scanned = 1"), "UPDATE invoices SET note = 'x'");
    assert_eq!(update, "quota: the budget of rows scanned is spent");
    assert!(cost("SELECT id FROM invoices LIMIT 2") < six);
    // Work without rows counts as well.
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) AS c FROM n";
    assert_eq!(refused(&mut with("rows_scanned = 100000"), endless), "quota: the budget of rows scanned is spent");
}

#[test]
fn rows_returned() {
    let mut session = with("rows_returned = 8");
    assert_eq!(rows(&mut session, SIX).len(), 6);
    assert!(refused(&mut session, SIX).starts_with("quota: the result has more than the 2 rows"));
    assert_eq!(rows(&mut session, "SELECT id FROM invoices LIMIT 2").len(), 2);
    assert_eq!(session.usage().rows_returned, 8);
}

#[test]
fn bytes_returned() {
    // Six integers of 8 bytes, and the name of the column.
    assert_eq!(with("bytes_returned = 50").query(SIX, &[]).unwrap().bytes(), 50);
    assert!(refused(&mut with("bytes_returned = 49"), SIX).starts_with("quota: the result is larger"));
}

#[test]
fn rows_written() {
    let mut session = with("rows_written = 7");
    assert_eq!(session.change("UPDATE invoices SET note = 'x'", &[]).unwrap(), 6);
    let refusal = unchanged(&mut session, "UPDATE invoices SET note = 'y'");
    assert_eq!(refusal, "quota: the statement touches 6 rows, and 1 may still be written");
    assert_eq!(session.change("DELETE FROM refunds", &[]).unwrap(), 1);
    assert_eq!(session.usage().rows_written, 7);
    assert_eq!(rows(&mut session, "SELECT DISTINCT note FROM invoices"), ["x"]);
}

#[test]
fn what_was_spent_before_counts() {
    let contract = contract(&format!("{ALL}\n[budget]\nstatements = 3"));
    let spent = Usage { statements: 2, ..Usage::default() };
    let mut session = DatabaseSession::open(snapshot().fork(), contract, spent);
    rows(&mut session, SIX);
    assert!(refused(&mut session, SIX).starts_with("quota: "));
}

/// A table of `rows` rows that all join with each other.
fn wide(rows: i64) -> DatabaseSession {
    let column = |name| ColumnSchema::new(name, Kind::Integer, false);
    let schema = TableSchema::new("t", vec![column("id"), column("k")], &[]);
    let rows = (0..rows).map(|id| vec![Value::Integer(id), Value::Integer(1)]).collect();
    let dataset = Dataset { clock: 0, tables: vec![TableData { schema, rows }] };
    let snapshot = seal(&dataset).unwrap();
    let text = format!("[contract]\nname = \"t\"\n{ALL}\n[budget]\nrows_scanned = 200000");
    let contract = tribunal_contract::Contract::parse(&text).unwrap();
    let contract = contract.resolve(snapshot.schemas()).unwrap();
    DatabaseSession::open(snapshot.fork(), contract.into(), Usage::default())
}

#[test]
fn joins_that_never_ask_the_store_again() {
    // Each is 8 * 10^9 combinations or more, on a constant key or none; the store hands out 6,000.
    let joined = "quota: the joins of this statement combine too many rows";
    for sql in [
        "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.k = b.k JOIN t AS c ON b.k = c.k",
        "SELECT COUNT(*) AS n FROM t AS a LEFT JOIN t AS b ON a.k = b.k LEFT JOIN t AS c ON b.k = c.k",
        // The second join finds nobody: only the first one can be seen to work.
        "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.k = b.k JOIN t AS c ON b.k + b.id = c.k - 9",
        "SELECT COALESCE((SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.k = b.k JOIN t AS c ON b.k = c.k), 0) AS n \
         FROM t LIMIT 1",
    ] {
        let refusal = refused(&mut wide(2_000), sql);
        assert!((refusal == joined && !meant(Meant::JoinsAreScans)) || refusal.contains("rows scanned"), "{sql}: {refusal}");
    }
    let small = "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.k = b.k";
    assert_eq!(rows(&mut wide(300), small), ["90000"]);
    let nested = "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.id < b.id";
    assert!(refused(&mut wide(2_000), nested).contains("rows scanned"));
    assert_eq!(rows(&mut wide(100), nested), ["4950"]);
}

#[test]
fn rows_from_nowhere_are_refused() {
    for sql in [
        "SELECT COUNT(*) AS n FROM SERIES(100000000)",
        "SELECT * FROM SERIES(100000000)",
        "SELECT 1e100000000 + 1 AS n",
    ] {
        let refusal = refused(&mut wide(1), sql);
        assert!(
            refusal.starts_with("unsupported: ")
                || refusal.starts_with("invalid: ")
                || refusal.starts_with("quota: ")
                || refusal.starts_with("unknown: "),
            "{sql}: {refusal}"
        );
    }
}
