//! What does not depend on a row runs once, and means the same as if it ran for every row. That it
//! runs once is seen by the rows that are scanned.
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Code, Failure, Kind, Value};

const ORDERS: i64 = 100;
const ITEMS: i64 = 40;

fn table(name: &str, columns: &[(&str, Kind, bool)], rows: Vec<Vec<Value>>) -> TableData {
    let column = |(name, kind, nullable): &(&str, Kind, bool)| ColumnSchema {
        name: (*name).to_owned(),
        kind: *kind,
        nullable: *nullable,
        description: String::new(),
    };
    let columns = columns.iter().map(column).collect();
    TableData { schema: TableSchema { name: name.to_owned(), columns, ..TableSchema::default() }, rows }
}

/// `orders` 1 to 100 in 7 groups, every tenth without one; `items` with keys 1, 3, 5, .. 79;
/// `gaps` with 1 and NULL; `nothing` without rows; `words` that are no numbers.
fn world() -> Dataset {
    let group = |id: i64| if id % 10 == 0 { Value::Null } else { Value::Integer(id % 7) };
    let orders = (1..=ORDERS).map(|id| vec![Value::Integer(id), group(id)]).collect();
    let items = (0..ITEMS).map(|place| vec![Value::Integer(2 * place + 1), Value::Integer(place)]).collect();
    let integer = |name| (name, Kind::Integer, true);
    let word = |text: &str| vec![Value::Text(text.to_owned())];
    let tables = vec![
        table("orders", &[integer("id"), integer("kind")], orders),
        table("items", &[integer("order_id"), integer("qty")], items),
        table("gaps", &[integer("n")], vec![vec![Value::Integer(1)], vec![Value::Null]]),
        table("nothing", &[integer("n")], Vec::new()),
        table("words", &[("word", Kind::Text, true)], vec![word("one"), word("two")]),
    ];
    Dataset { clock: 0, tables }
}

fn session(budget: &str) -> DatabaseSession {
    let dataset = world();
    let snapshot = Snapshot::seal(&dataset).expect("sealed").with_memo(0);
    let mut grant = String::from("[contract]\nname = \"all\"\n");
    for name in ["orders", "gaps", "nothing", "words"] {
        grant.push_str(&format!("[[read]]\ntable = \"{name}\"\ncolumns = [\"*\"]\n"));
    }
    grant.push_str("[[read]]\ntable = \"items\"\ncolumns = [\"order_id\"]\n");
    grant.push_str("[[write]]\ntable = \"orders\"\nverbs = [\"update\", \"delete\", \"insert\"]\ncolumns = [\"*\"]\n");
    grant.push_str(budget);
    let contract = Contract::parse(&grant).expect("a contract").resolve(snapshot.schemas()).expect("known tables");
    DatabaseSession::open(snapshot.fork(), Arc::new(contract), Usage::default())
}

/// The only cell of a query, and the rows that were scanned for it.
fn cell(sql: &str) -> (Result<Value, Failure>, u64) {
    let mut session = session("");
    let result = session.query(sql, &[]).map(|table| {
        assert_eq!((table.rows, table.columns.len()), (1, 1), "{sql}");
        table.row(0).remove(0)
    });
    (result, session.usage().rows_scanned)
}

fn number(sql: &str) -> i64 {
    match cell(sql).0 {
        Ok(Value::Integer(number)) => number,
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn what_depends_on_no_row_is_scanned_once() {
    let (orders, items) = (ORDERS as u64, ITEMS as u64);
    for (sql, expected, scanned) in [
        // A scalar: the average of 1, 3, .. 79 is 40.
        ("SELECT COUNT(*) FROM orders WHERE id > (SELECT AVG(order_id) FROM items)", 60, orders + items),
        // Two subqueries run once each; copies that a rewrite makes of one run once together.
        (
            "SELECT COUNT(*) FROM orders WHERE id BETWEEN (SELECT MIN(order_id) FROM items) AND (SELECT MAX(order_id) FROM items)",
            79,
            orders + 2 * items,
        ),
        (
            "SELECT COUNT(*) FROM orders WHERE id IN (SELECT order_id FROM items WHERE order_id > 50)",
            15,
            orders + items,
        ),
        ("SELECT COUNT(*) FROM orders WHERE ROUND((SELECT AVG(order_id) FROM items), 1) = id", 1, orders + items),
        // EXISTS needs one row.
        ("SELECT COUNT(*) FROM orders WHERE EXISTS (SELECT 1 FROM items)", 100, orders + 1),
        ("SELECT COUNT(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM nothing)", 100, orders),
        // Derived tables and WITH, joined by an expression that no hash join takes.
        (
            "SELECT COUNT(*) FROM orders o JOIN (SELECT order_id, COUNT(*) AS n FROM items GROUP BY order_id) i ON i.order_id < o.id AND i.n = 1",
            // For every o the odd numbers below it, at most 40 of them.
            (1..=100).map(|id: i64| (id / 2).min(40)).sum(),
            orders + items,
        ),
        (
            "WITH big AS (SELECT order_id FROM items WHERE order_id > 60) SELECT COUNT(*) FROM orders o LEFT JOIN big b ON b.order_id = o.id WHERE b.order_id IS NULL",
            90,
            orders + items,
        ),
        // A set operation in a subquery.
        (
            "SELECT COUNT(*) FROM orders WHERE id IN (SELECT order_id FROM items UNION SELECT n FROM gaps)",
            40,
            orders + items + 2,
        ),
        // A subquery in a subquery.
        (
            "SELECT COUNT(*) FROM orders WHERE id IN (SELECT order_id FROM items WHERE order_id < (SELECT MAX(kind) FROM orders))",
            3,
            orders + items + orders,
        ),
        // Outside of conditions.
        ("SELECT SUM((SELECT COUNT(*) FROM items)) FROM orders", 4_000, orders + items),
    ] {
        let (result, read) = cell(sql);
        let found = match result {
            Ok(Value::Integer(number)) => number,
            Ok(Value::Decimal(number)) => number.to_string().parse().expect("a whole number"),
            other => panic!("{sql}: {other:?}"),
        };
        assert_eq!((found, read), (expected, scanned), "{sql}");
    }
}

#[test]
fn null_means_what_it_means_row_by_row() {
    let count = |condition: &str| number(&format!("SELECT COUNT(*) FROM orders WHERE {condition}"));
    // 10 orders have no kind; 0 to 6 are the others.
    assert_eq!(
        count("kind IN (SELECT n FROM gaps)"),
        (1..=100).filter(|id| id % 10 != 0 && id % 7 == 1).count() as i64
    );
    assert_eq!(count("kind NOT IN (SELECT n FROM gaps)"), 0);
    assert_eq!(count("kind NOT IN (SELECT n FROM gaps WHERE n IS NOT NULL)"), 90 - count("kind = 1"));
    assert_eq!(count("kind NOT IN (SELECT n FROM nothing)"), 100);
    assert_eq!(count("kind IN (SELECT n FROM nothing)"), 0);
    assert_eq!(count("NOT (kind IN (SELECT n FROM gaps))"), 0);
    assert_eq!(count("(kind IN (SELECT n FROM gaps)) IS NULL"), 100 - count("kind = 1"));
    assert_eq!(count("(kind NOT IN (SELECT n FROM nothing)) IS NULL"), 0);
    assert_eq!(count("kind = (SELECT n FROM nothing)"), 0);
    assert_eq!(count("(SELECT n FROM nothing) IS NULL"), 100);
    assert_eq!(count("kind > ALL (SELECT n FROM nothing)"), 100);
    assert_eq!(count("kind > ANY (SELECT n FROM nothing)"), 0);
    assert_eq!(count("kind > ALL (SELECT n FROM gaps)"), 0);
    assert_eq!(count("(kind > ALL (SELECT n FROM gaps)) IS NULL"), 100 - count("kind <= 1"));
    // Lists that are long enough to be looked up.
    assert_eq!(count("id NOT IN (SELECT order_id FROM items)"), 60);
    assert_eq!(count("id IN (SELECT order_id FROM items) OR id = 2"), 41);
    assert_eq!(count("kind NOT IN (SELECT order_id FROM items)"), 90 - count("kind IN (1, 3, 5)"));
    assert_eq!(count("(kind IN (SELECT order_id FROM items)) IS NULL"), 10);
    assert_eq!(count("kind IN (SELECT n FROM gaps) OR id = 10"), count("kind = 1") + 1);
    assert_eq!(count("NULL IN (SELECT n FROM nothing) OR TRUE"), 100);
}

#[test]
fn an_error_counts_where_it_is_reached() {
    let failing = "(SELECT CAST(word AS INTEGER) FROM words LIMIT 1)";
    let several = "(SELECT id FROM orders)";
    for subquery in [failing, several, "(SELECT CAST(word AS INTEGER) FROM words UNION SELECT 1 LIMIT 1)"] {
        let chosen =
            |condition: &str| format!("SELECT CASE WHEN {condition} THEN {subquery} ELSE 7 END FROM gaps WHERE n = 1");
        assert_eq!(number(&chosen("n = 2")), 7, "{subquery}");
        let failure = cell(&chosen("n = 1")).0.expect_err(subquery);
        assert_eq!(failure.code, Code::Invalid, "{subquery}: {failure}");
        // No row, no error.
        assert_eq!(number(&format!("SELECT COUNT({subquery}) FROM nothing")), 0, "{subquery}");
    }
}

#[test]
fn a_subquery_is_under_the_contract_and_the_budget() {
    for sql in [
        "SELECT COUNT(*) FROM orders WHERE id > (SELECT MAX(qty) FROM items)",
        "SELECT COUNT(*) FROM orders WHERE id IN (SELECT order_id FROM items UNION SELECT qty FROM items)",
    ] {
        let failure = cell(sql).0.expect_err(sql);
        assert_eq!(failure.to_string(), "unknown: no column qty", "{sql}");
    }
    let budget = "[budget]\nrows_scanned = 120\n";
    for sql in [
        "SELECT COUNT(*) FROM orders WHERE id > (SELECT AVG(order_id) FROM items)",
        "SELECT COUNT(*) FROM orders WHERE id IN (SELECT order_id FROM items UNION ALL SELECT id FROM orders)",
        "SELECT CASE WHEN TRUE THEN 1 ELSE (SELECT COUNT(*) FROM orders a, orders b) END",
    ] {
        let mut session = session(budget);
        let failure = session.query(sql, &[]).expect_err(sql);
        assert_eq!(failure.code, Code::Quota, "{sql}");
        assert_eq!(session.usage().rows_scanned, 120, "{sql}");
    }
}

#[test]
fn changes_see_what_queries_see() {
    let mut session = session("");
    let changed = session.change(
        "UPDATE orders SET kind = (SELECT MAX(order_id) FROM items) WHERE id IN (SELECT order_id FROM items)",
        &[],
    );
    assert_eq!(changed, Ok(40));
    assert_eq!(session.usage().rows_scanned, 100 + 2 * 40);
    let gone = session.change(
        "DELETE FROM orders WHERE kind = 79 AND id NOT IN (SELECT n FROM gaps WHERE n IS NOT NULL UNION SELECT 3)",
        &[],
    );
    assert_eq!(gone, Ok(38));
    let back = session.change(
        "INSERT INTO orders (id, kind) SELECT order_id, 5 FROM items WHERE order_id > 70 UNION SELECT 1000, 6",
        &[],
    );
    assert_eq!(back, Ok(6));
    let left = session.query("SELECT COUNT(*) FROM orders", &[]).expect("a count");
    assert_eq!(left.row(0), [Value::Integer(100 - 38 + 6)]);
}
