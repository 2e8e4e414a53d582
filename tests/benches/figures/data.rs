//! The databases that the benches work on.

use rust_decimal::Decimal;
use tribunal_protocol::schema::{ColumnSchema, Dataset, ForeignKey, TableData, TableSchema};
use tribunal_protocol::{Kind, Value};

/// 2025-01-01.
const START: i32 = 20_089;

/// A name and a number, as in `account 17`.
fn named(what: &str, number: i64) -> Value {
    Value::Text(format!("{what} {number}"))
}

fn column(name: &str, kind: Kind, nullable: bool) -> ColumnSchema {
    ColumnSchema { name: name.to_owned(), kind, nullable, description: format!("the {name} of the row") }
}

fn schema(name: &str, columns: Vec<ColumnSchema>, account: bool) -> TableSchema {
    let key = |columns: &str, table: &str| ForeignKey {
        columns: vec![columns.to_owned()],
        table: table.to_owned(),
        references: vec!["id".to_owned()],
    };
    TableSchema {
        name: name.to_owned(),
        description: format!("one row is one of the {name}"),
        columns,
        primary_key: vec!["id".to_owned()],
        foreign_keys: if account { vec![key("account_id", "accounts")] } else { Vec::new() },
        ..TableSchema::default()
    }
}

/// One table of `rows` rows and seven columns.
pub(crate) fn wide(rows: i64) -> Dataset {
    let columns = vec![
        column("id", Kind::Integer, false),
        column("account_id", Kind::Integer, false),
        column("total", Kind::Decimal, false),
        column("status", Kind::Text, false),
        column("issued_on", Kind::Date, false),
        column("note", Kind::Text, true),
        column("voided", Kind::Boolean, false),
    ];
    let row = |id: i64| {
        vec![
            Value::Integer(id),
            Value::Integer(id * 7 % 1_000),
            Value::Decimal(Decimal::new(id * 37 % 100_000, 2)),
            Value::Text(["open", "paid", "late"][(id % 3) as usize].to_owned()),
            Value::Date(START + (id % 365) as i32),
            if id % 5 == 0 { Value::Null } else { named("note", id) },
            Value::Boolean(id % 11 == 0),
        ]
    };
    let schema = schema("invoices", columns, false);
    Dataset { clock: START + 365, tables: vec![TableData { schema, rows: (0..rows).map(row).collect() }] }
}

/// Accounts with their invoices and refunds: 1,000 rows together.
pub(crate) fn small(seed: u64) -> Dataset {
    const ACCOUNTS: i64 = 100;
    const INVOICES: i64 = 850;
    const REFUNDS: i64 = 50;
    // A linear congruence is random enough for amounts; the constants are Knuth's.
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut draw = move |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    };
    let accounts = (1..=ACCOUNTS)
        .map(|id| {
            let region = ["north", "south", "east", "west"][draw(4) as usize];
            vec![
                Value::Integer(id),
                named("Account", id),
                if draw(9) == 0 { Value::Null } else { Value::Text(region.to_owned()) },
                Value::Boolean(draw(20) == 0),
                Value::Date(START - draw(700) as i32),
            ]
        })
        .collect();
    let invoices = (1..=INVOICES)
        .map(|id| {
            let status = ["open", "paid", "paid", "void"][draw(4) as usize];
            // The first ones are there to be refunded.
            let status = if id <= 20 { "paid" } else { status };
            vec![
                Value::Integer(id),
                Value::Integer(1 + draw(ACCOUNTS)),
                Value::Date(START + draw(365) as i32),
                Value::Decimal(Decimal::new(100 + draw(50_000), 2)),
                Value::Text(status.to_owned()),
            ]
        })
        .collect();
    let refunds = (1..=REFUNDS)
        .map(|id| {
            vec![
                Value::Integer(id),
                Value::Integer(INVOICES - REFUNDS + id),
                Value::Decimal(Decimal::new(50 + draw(50), 2)),
                Value::Text("duplicate charge".to_owned()),
                Value::Date(START + 300 + draw(60) as i32),
            ]
        })
        .collect();
    Dataset { clock: START + 365, tables: tables([accounts, invoices, refunds]) }
}

fn tables(rows: [Vec<Vec<Value>>; 3]) -> Vec<TableData> {
    let id = || column("id", Kind::Integer, false);
    let accounts = vec![
        id(),
        column("name", Kind::Text, false),
        column("region", Kind::Text, true),
        column("is_test", Kind::Boolean, false),
        column("created_on", Kind::Date, false),
    ];
    let invoices = vec![
        id(),
        column("account_id", Kind::Integer, false),
        column("issued_on", Kind::Date, false),
        column("total", Kind::Decimal, false),
        column("status", Kind::Text, false),
    ];
    let refunds = vec![
        id(),
        column("invoice_id", Kind::Integer, false),
        column("amount", Kind::Decimal, false),
        column("reason", Kind::Text, false),
        column("refunded_on", Kind::Date, false),
    ];
    let [a, i, r] = rows;
    let mut refunds = schema("refunds", refunds, false);
    refunds.foreign_keys.push(ForeignKey {
        columns: vec!["invoice_id".to_owned()],
        table: "invoices".to_owned(),
        references: vec!["id".to_owned()],
    });
    vec![
        TableData { schema: schema("accounts", accounts, false), rows: a },
        TableData { schema: schema("invoices", invoices, true), rows: i },
        TableData { schema: refunds, rows: r },
    ]
}
