//! A small billing database with things to hide, and contracts on it.

use std::sync::Arc;

use rust_decimal::Decimal;
use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseError, DatabaseSession, Snapshot, State};
use tribunal_protocol::schema::{ColumnSchema, Dataset, Engine, ForeignKey, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Kind, Value};

use super::ENGINE;

/// What SQLite does otherwise than GlueSQL, and is meant to.
#[derive(Clone, Copy, Debug)]
pub enum Meant {
    /// Rows scanned are steps of SQLite's machine, so many to a row.
    ScannedInSteps,
    /// A join that combines too much ends with the budget of rows scanned.
    JoinsAreScans,
}

/// Whether the engine differs.
pub fn meant(_: Meant) -> bool {
    ENGINE == Engine::Sqlite
}

pub fn reference(column: &str, table: &str) -> ForeignKey {
    ForeignKey { columns: vec![column.to_owned()], table: table.to_owned(), references: vec!["id".to_owned()] }
}

pub fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub fn cents(cents: i64) -> Value {
    Value::Decimal(Decimal::new(cents, 2))
}

fn table(name: &str, columns: Vec<ColumnSchema>, keys: Vec<ForeignKey>) -> TableSchema {
    TableSchema { foreign_keys: keys, ..TableSchema::new(name, columns, &["id"]) }
}

/// Four accounts (the last in no region), six invoices (2 and 5 voided), one refund, a payroll.
pub fn dataset() -> Dataset {
    let accounts = TableData {
        schema: table(
            "accounts",
            vec![
                ColumnSchema::new("id", Kind::Integer, false),
                ColumnSchema::new("name", Kind::Text, false),
                ColumnSchema::new("region", Kind::Text, true),
                ColumnSchema::new("secret", Kind::Text, false),
            ],
            vec![],
        ),
        rows: [(1, "Ann", Some("north")), (2, "Bob", Some("south")), (3, "Cör", Some("north")), (4, "Dee", None)]
            .into_iter()
            .map(|(id, name, region)| {
                let region = region.map_or(Value::Null, text);
                vec![Value::Integer(id), text(name), region, text(&format!("secret{id}"))]
            })
            .collect(),
    };
    let invoices = TableData {
        schema: table(
            "invoices",
            vec![
                ColumnSchema::new("id", Kind::Integer, false),
                ColumnSchema::new("account_id", Kind::Integer, false),
                ColumnSchema::new("total", Kind::Decimal, false),
                ColumnSchema::new("voided", Kind::Boolean, false),
                ColumnSchema::new("note", Kind::Text, true),
                ColumnSchema::new("issued_on", Kind::Date, false),
            ],
            vec![reference("account_id", "accounts")],
        ),
        rows: (1..=6)
            .map(|id| {
                let note = if id == 3 { Value::Null } else { text(&format!("note {id}")) };
                vec![
                    Value::Integer(id),
                    Value::Integer((id - 1) % 3 + 1),
                    cents(id * 1_050),
                    Value::Boolean(id == 2 || id == 5),
                    note,
                    Value::Date(19_000 + i32::try_from(id).unwrap()),
                ]
            })
            .collect(),
    };
    let refunds = TableData {
        schema: table(
            "refunds",
            vec![
                ColumnSchema::new("id", Kind::Integer, false),
                ColumnSchema::new("invoice_id", Kind::Integer, false),
                ColumnSchema::new("amount", Kind::Decimal, false),
                ColumnSchema::new("reason", Kind::Text, true),
            ],
            vec![reference("invoice_id", "invoices")],
        ),
        rows: vec![vec![Value::Integer(1), Value::Integer(1), cents(500), Value::Null]],
    };
    let payroll = TableData {
        schema: table(
            "payroll",
            vec![ColumnSchema::new("id", Kind::Integer, false), ColumnSchema::new("salary", Kind::Integer, false)],
            vec![],
        ),
        rows: vec![vec![Value::Integer(1), Value::Integer(99)]],
    };
    Dataset { clock: 19_100, tables: vec![accounts, invoices, refunds, payroll] }
}

pub fn seal(dataset: &Dataset) -> Result<Snapshot, DatabaseError> {
    Snapshot::seal_on(dataset, ENGINE)
}

pub fn snapshot() -> Snapshot {
    seal(&dataset()).unwrap()
}

pub fn contract(toml: &str) -> Arc<Effective> {
    let text = format!("[contract]\nname = \"test\"\n{toml}");
    Arc::new(Contract::parse(&text).unwrap().resolve(snapshot().schemas()).unwrap())
}

/// Everything may be read and written.
pub const ALL: &str = r#"
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
"#;

/// Accounts without their secret, invoices that are not voided, refunds to write; no payroll.
pub const CLERK: &str = r#"
    [[read]]
    table = "accounts"
    columns = ["id", "name", "region"]
    [[read]]
    table = "invoices"
    columns = ["id", "account_id", "total", "note"]
    rows = "voided = FALSE"
    [[read]]
    table = "refunds"
    columns = ["id", "invoice_id", "amount", "reason"]
    [[write]]
    table = "refunds"
    verbs = ["insert"]
    columns = ["id", "invoice_id", "amount", "reason"]
    rows = "amount <= 100"
    [[write]]
    table = "refunds"
    verbs = ["update"]
    columns = ["amount"]
    rows = "amount <= 100"
    [[write]]
    table = "invoices"
    verbs = ["insert", "update"]
    columns = ["id", "account_id", "total", "voided", "issued_on"]
"#;

pub fn open(state: State, toml: &str) -> DatabaseSession {
    DatabaseSession::open(state, contract(toml), Usage::default())
}

pub fn all() -> DatabaseSession {
    open(snapshot().fork(), ALL)
}

pub fn clerk() -> DatabaseSession {
    open(snapshot().fork(), CLERK)
}

/// A value as text; of decimals the content, for SQLite keeps no scale.
fn shown(value: &Value) -> String {
    match value {
        Value::Decimal(decimal) => decimal.normalize().to_string(),
        other => other.to_string(),
    }
}

/// The rows of a query as text, a row a string.
pub fn rows(session: &mut DatabaseSession, sql: &str) -> Vec<String> {
    let table = session.query(sql, &[]).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    let line = |row: Vec<Value>| row.iter().map(shown).collect::<Vec<_>>().join(",");
    table.to_rows().into_iter().map(line).collect()
}

/// The failure of a query, as an agent reads it.
pub fn refused(session: &mut DatabaseSession, sql: &str) -> String {
    match session.query(sql, &[]) {
        Ok(table) => panic!("{sql} gave {:?}", table.to_rows()),
        Err(failure) => failure.to_string(),
    }
}

/// The failure of a change, as an agent reads it.
pub fn unchanged(session: &mut DatabaseSession, sql: &str) -> String {
    match session.change(sql, &[]) {
        Ok(rows) => panic!("{sql} touched {rows}"),
        Err(failure) => failure.to_string(),
    }
}
