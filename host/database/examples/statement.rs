//! Times the way of one statement: `cargo run -p tribunal-database --example statement`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "an example that measures and prints"
)]

use std::sync::Arc;
use std::time::Instant;

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::{ColumnSchema, Dataset, ForeignKey, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Kind, Value};

fn column(name: &str, kind: Kind) -> ColumnSchema {
    ColumnSchema::new(name, kind, true)
}

fn dataset(rows: i64) -> Dataset {
    let accounts = TableData {
        schema: TableSchema {
            name: "accounts".to_owned(),
            columns: vec![
                column("id", Kind::Integer),
                column("name", Kind::Text),
                column("region", Kind::Text),
                column("email", Kind::Text),
                column("created_on", Kind::Date),
            ],
            primary_key: vec!["id".to_owned()],
            ..TableSchema::default()
        },
        rows: (0..rows / 10)
            .map(|i| {
                vec![
                    Value::Integer(i),
                    Value::Text(format!("account number {i}")),
                    Value::Text(format!("region {}", i % 7)),
                    Value::Text(format!("contact{i}@example.com")),
                    Value::Date(i32::try_from(i % 1000).unwrap()),
                ]
            })
            .collect(),
    };
    let invoices = TableData {
        schema: TableSchema {
            name: "invoices".to_owned(),
            columns: vec![
                column("id", Kind::Integer),
                column("account_id", Kind::Integer),
                column("total", Kind::Decimal),
                column("status", Kind::Text),
                column("issued_on", Kind::Date),
                column("note", Kind::Text),
                column("voided", Kind::Boolean),
            ],
            primary_key: vec!["id".to_owned()],
            foreign_keys: vec![ForeignKey {
                columns: vec!["account_id".to_owned()],
                table: "accounts".to_owned(),
                references: vec!["id".to_owned()],
            }],
            ..TableSchema::default()
        },
        rows: (0..rows)
            .map(|i| {
                vec![
                    Value::Integer(i),
                    Value::Integer(i * 7 % (rows / 10)),
                    Value::Decimal(rust_decimal::Decimal::new(i * 37 % 10_000, 2)),
                    Value::Text(["open", "paid", "late"][usize::try_from(i % 3).unwrap()].to_owned()),
                    Value::Date(i32::try_from(19_000 + i % 365).unwrap()),
                    Value::Text(format!("note of invoice {i}, of no further interest")),
                    Value::Boolean(i % 11 == 0),
                ]
            })
            .collect(),
    };
    Dataset { clock: 19_400, tables: vec![accounts, invoices] }
}

fn timed(name: &str, rounds: u32, mut work: impl FnMut()) {
    work();
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        for _ in 0..rounds {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds));
    }
    println!("{name:40} {best:10.2} µs");
}

const CONTRACT: &str = r#"
    [contract]
    name = "all"
    [[read]]
    table = "*"
    columns = ["*"]
    [[write]]
    table = "*"
    verbs = ["insert", "update"]
    columns = ["*"]
    [[write]]
    table = "*"
    verbs = ["delete"]
    [budget]
    statements = 1000000000
    rows_scanned = 1000000000000
    rows_returned = 1000000000
    bytes_returned = 1000000000000
    rows_written = 1000000000
"#;

const FILTERED: &str = r#"
    [contract]
    name = "filtered"
    [[read]]
    table = "invoices"
    columns = ["id", "account_id", "total", "status", "issued_on"]
    rows = "voided = FALSE"
    [[read]]
    table = "accounts"
    columns = ["id", "region"]
    [budget]
    statements = 1000000000
    rows_scanned = 1000000000000
    rows_returned = 1000000000
    bytes_returned = 1000000000000
"#;

const QUERIES: [(&str, &str); 8] = [
    ("10 rows by id", "SELECT id, total FROM invoices WHERE id < 10"),
    ("10 rows, star", "SELECT * FROM invoices LIMIT 10"),
    ("1,000 rows", "SELECT id, account_id, total, status FROM invoices"),
    ("count", "SELECT COUNT(*) AS n FROM invoices"),
    ("group", "SELECT status, SUM(total) AS total FROM invoices GROUP BY status"),
    ("join", "SELECT i.id, a.region FROM invoices AS i JOIN accounts AS a ON a.id = i.account_id"),
    (
        "grouped join",
        "SELECT a.region, COUNT(*) AS n, SUM(i.total) AS total FROM invoices AS i JOIN accounts AS a \
         ON a.id = i.account_id WHERE i.status = 'paid' GROUP BY a.region ORDER BY a.region",
    ),
    ("order by limit", "SELECT id, total FROM invoices ORDER BY total DESC, id LIMIT 10"),
];

fn main() {
    let data = dataset(1_000);
    timed("seal 1,100 rows", 20, || drop(Snapshot::seal(&data).unwrap()));
    let sealed = Snapshot::seal(&data).unwrap();
    timed("fork", 10_000, || drop(sealed.fork()));
    timed("digest, first", 20, || {
        let _ = Snapshot::seal(&data).unwrap().digest();
    });
    for (memo, snapshot) in [("", sealed.with_memo(0)), (" (memo)", sealed.with_memo(16 << 20))] {
        for (name, text) in [("all", CONTRACT), ("filtered", FILTERED)] {
            let contract = Contract::parse(text).unwrap().resolve(snapshot.schemas()).unwrap();
            let contract = Arc::new(contract);
            timed(&format!("open {name}{memo}"), 10_000, || {
                drop(DatabaseSession::open(snapshot.fork(), Arc::clone(&contract), Usage::default()));
            });
            let mut session = DatabaseSession::open(snapshot.fork(), contract, Usage::default());
            for (query, sql) in QUERIES {
                if name == "filtered" && query == "10 rows, star" {
                    continue;
                }
                timed(&format!("{query}, {name}{memo}"), 50, || {
                    session.query(sql, &[]).unwrap();
                });
            }
        }
    }
    let contract = Arc::new(Contract::parse(CONTRACT).unwrap().resolve(sealed.schemas()).unwrap());
    let first = sealed.fork();
    let _ = first.digest();
    timed("update one row, on a fork", 100, || {
        let mut session = DatabaseSession::open(first.clone(), Arc::clone(&contract), Usage::default());
        session.change("UPDATE invoices SET status = 'paid' WHERE id = 7", &[]).unwrap();
    });
    timed("insert one row, digest, changes", 100, || {
        let mut session = DatabaseSession::open(first.clone(), Arc::clone(&contract), Usage::default());
        let sql = "INSERT INTO invoices (id, account_id, total) VALUES (5000, 3, 1.5)";
        session.change(sql, &[]).unwrap();
        let last = session.into_state();
        let _ = last.digest();
        assert_eq!(last.changes_since(&first).unwrap().len(), 1);
    });
}
