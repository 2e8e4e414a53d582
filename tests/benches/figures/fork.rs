//! What a fork costs, beside what others pay for a copy.

use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;

use crate::clock::{Timed, cpu};
use crate::copies;
use crate::data;
use crate::figure::{Figure, Section};

const SIZES: [(i64, &str); 3] = [(1_000, "1 k"), (100_000, "100 k"), (1_000_000, "1 M")];

/// Lets its holder add rows.
pub(crate) const WRITER: &str = r#"
    [contract]
    name = "writer"
    [[read]]
    table = "*"
    columns = ["*"]
    [[write]]
    table = "invoices"
    verbs = ["insert"]
    columns = ["*"]
"#;

struct Measured {
    fork: Timed,
    written: Timed,
}

pub(crate) fn measure() -> Result<Vec<Section>> {
    let mut figures = Vec::new();
    let mut all = Vec::new();
    for (rows, name) in SIZES {
        let data = data::wide(rows);
        let glue = copies::memory_storage(&data)?;
        let sqlite = copies::sqlite(&data)?;
        let measured = forks(&data)?;
        drop(data);
        figures.push(
            Figure::micros(format!("fork at {name} rows"), measured.fork)
                .target(1.0)
                .beside_timed("MemoryStorage::clone", glue)
                .beside_timed("SQLite backup to a new database", sqlite),
        );
        all.push((name, measured));
    }
    for (name, measured) in &all {
        figures.push(Figure::micros(format!("fork, insert one row, drop at {name} rows"), measured.written));
    }
    if let (Some((_, small)), Some((_, large))) = (all.first(), all.last()) {
        figures.push(
            Figure::times("fork at 1 M against 1 k rows (flat)", large.fork.median / small.fork.median).target(2.0),
        );
        let written = large.written.median / small.written.median;
        figures.push(Figure::times("fork, insert, drop at 1 M against 1 k rows", written).target(2.0));
    }
    Ok(vec![Section {
        title: "Fork".to_owned(),
        note: "One table of 7 columns. A fork is made and dropped; so is a copy.".to_owned(),
        figures,
    }])
}

fn forks(data: &tribunal_protocol::schema::Dataset) -> Result<Measured> {
    let snapshot = Snapshot::seal(data)?;
    let fork = cpu(|| snapshot.fork());
    let contract = Arc::new(Contract::parse(WRITER)?.resolve(snapshot.schemas())?);
    let sql = "INSERT INTO invoices (id, account_id, total, status, issued_on, note, voided) \
               VALUES (5000000, 3, 1.50, 'open', '2025-06-01', 'new', FALSE)";
    let insert = || {
        let mut session = DatabaseSession::open(snapshot.fork(), Arc::clone(&contract), Usage::default());
        let touched = session.change(sql, &[]);
        (touched, session.into_state())
    };
    let (touched, last) = insert();
    ensure!(touched.map_err(|why| anyhow!("{why}"))? == 1, "one row is inserted");
    let first = snapshot.fork();
    let changes = last.changes_since(&first)?;
    ensure!(changes.len() == 1 && changes.iter().all(|table| table.added.rows == 1), "and nothing else changes");
    ensure!(snapshot.fork().changes_since(&first)?.is_empty(), "in that fork alone");
    Ok(Measured { fork, written: cpu(insert) })
}
