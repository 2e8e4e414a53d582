//! A small billing database with things to hide, and contracts on it.

use std::sync::Arc;

use rust_decimal::Decimal;
use tribunal_contract::{Contract, Effective};
use tribunal_database::{GlueSession, Snapshot, State};
use tribunal_protocol::schema::{ColumnSchema, Dataset, ForeignKey, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Kind, Value};

pub fn column(name: &str, kind: Kind, nullable: bool) -> ColumnSchema {
    ColumnSchema { name: name.to_owned(), kind, nullable, description: String::new() }
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
    TableSchema {
        name: name.to_owned(),
        columns,
        primary_key: vec!["id".to_owned()],
        foreign_keys: keys,
        ..TableSchema::default()
    }
}

/// Four accounts (the last in no region), six invoices (2 and 5 voided), one refund, a payroll.
pub fn dataset() -> Dataset {
    let accounts = TableData {
        schema: table(
            "accounts",
            vec![
                column("id", Kind::Integer, false),
                column("name", Kind::Text, false),
                column("region", Kind::Text, true),
                column("secret", Kind::Text, false),
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
                column("id", Kind::Integer, false),
                column("account_id", Kind::Integer, false),
                column("total", Kind::Decimal, false),
                column("voided", Kind::Boolean, false),
                column("note", Kind::Text, true),
                column("issued_on", Kind::Date, false),
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
                column("id", Kind::Integer, false),
                column("invoice_id", Kind::Integer, false),
                column("amount", Kind::Decimal, false),
                column("reason", Kind::Text, true),
            ],
            vec![reference("invoice_id", "invoices")],
        ),
        rows: vec![vec![Value::Integer(1), Value::Integer(1), cents(500), Value::Null]],
    };
    let payroll = TableData {
        schema: table(
            "payroll",
            vec![column("id", Kind::Integer, false), column("salary", Kind::Integer, false)],
            vec![],
        ),
        rows: vec![vec![Value::Integer(1), Value::Integer(99)]],
    };
    Dataset { clock: 19_100, tables: vec![accounts, invoices, refunds, payroll] }
}

pub fn snapshot() -> Snapshot {
    Snapshot::seal(&dataset()).unwrap()
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

pub fn open(state: State, toml: &str) -> GlueSession {
    GlueSession::open(state, contract(toml), Usage::default())
}

pub fn all() -> GlueSession {
    open(snapshot().fork(), ALL)
}

pub fn clerk() -> GlueSession {
    open(snapshot().fork(), CLERK)
}

/// The rows of a query as text, a row a string.
pub fn rows(session: &mut GlueSession, sql: &str) -> Vec<String> {
    let table = session.query(sql, &[]).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
    let line = |row: Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
    table.to_rows().into_iter().map(line).collect()
}

/// The failure of a query, as an agent reads it.
pub fn refused(session: &mut GlueSession, sql: &str) -> String {
    match session.query(sql, &[]) {
        Ok(table) => panic!("{sql} gave {:?}", table.to_rows()),
        Err(failure) => failure.to_string(),
    }
}

/// The failure of a change, as an agent reads it.
pub fn unchanged(session: &mut GlueSession, sql: &str) -> String {
    match session.change(sql, &[]) {
        Ok(rows) => panic!("{sql} touched {rows}"),
        Err(failure) => failure.to_string(),
    }
}
