//! What many live forks take of memory: measured in a process of its own, whose heap holds nothing
//! that was given back.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use rusqlite::Connection;
use rusqlite::backup::Backup;
use serde::{Deserialize, Serialize};
use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot, State};
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;

use crate::copies::lite_table;
use crate::data;
use crate::figure::{Figure, Section};
use crate::fork::WRITER;

/// The argument that makes this program the one that is measured.
pub(crate) const CHILD: &str = "--live-forks";
const FORKS: usize = 10_000;
const COPIES: usize = 20;
const ROWS: i64 = 100_000;
/// What Linux counts memory in on every machine that we know.
const PAGE: f64 = 4_096.0;

/// Bytes of resident memory for each.
#[derive(Serialize, Deserialize)]
struct Measured {
    untouched: f64,
    written: f64,
    sqlite: f64,
}

/// Bytes of this process that are resident.
fn resident() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/statm").context("/proc/self/statm: only Linux has it")?;
    let pages =
        text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).context("pages in /proc/self/statm")?;
    Ok(pages * PAGE)
}

/// Makes so many of something and says what each took; all of them are alive at the end.
fn each<T>(count: usize, mut make: impl FnMut(usize) -> Result<T>) -> Result<f64> {
    let warm: Vec<T> = (0..count / 10 + 1).map(&mut make).collect::<Result<_>>()?;
    let mut alive = Vec::with_capacity(count);
    let before = resident()?;
    for number in 0..count {
        alive.push(make(warm.len() + number)?);
    }
    let taken = resident()? - before;
    ensure!(alive.len() == count, "all alive");
    // Where it took less than its own size, it lies in memory that was there before.
    Ok((taken / count as f64).max(size_of::<T>() as f64))
}

/// What the child does: it prints its figures.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) fn child() -> Result<()> {
    let data = data::wide(ROWS);
    let snapshot = Snapshot::seal(&data)?;
    let untouched = each(FORKS, |_| Ok(snapshot.fork()))?;
    let contract = Arc::new(Contract::parse(WRITER)?.resolve(snapshot.schemas())?);
    let insert = |number: usize| -> Result<State> {
        let mut session = DatabaseSession::open(snapshot.fork(), Arc::clone(&contract), Usage::default());
        let sql = format!(
            "INSERT INTO invoices (id, account_id, total, status, issued_on, note, voided) \
             VALUES ({}, 3, 1.50, 'open', '2025-06-01', 'new', FALSE)",
            5_000_000 + number
        );
        session.change(&sql, &[]).map_err(|why| anyhow!("{why}"))?;
        Ok(session.into_state())
    };
    let written = each(FORKS, insert)?;
    let mut source = Connection::open_in_memory()?;
    lite_table(&mut source, data.tables.first().context("a table")?)?;
    let sqlite = each(COPIES, |_| {
        let mut target = Connection::open_in_memory()?;
        Backup::new(&source, &mut target)?.step(-1)?;
        Ok(target)
    })?;
    println!("{}", serde_json::to_string(&Measured { untouched, written, sqlite })?);
    Ok(())
}

pub(crate) fn measure() -> Result<Vec<Section>> {
    let output = Command::new(std::env::current_exe()?).arg(CHILD).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Measured { untouched, written, sqlite } = serde_json::from_slice(&output.stdout)?;
    let name = "a copy of SQLite's in memory";
    Ok(vec![Section {
        title: format!("Memory of {FORKS} live forks of {ROWS} rows"),
        note: format!("Resident memory of a fresh process, for each fork; of SQLite {COPIES} copies are made."),
        figures: vec![
            Figure::bytes("a fork, untouched", untouched).beside(name, sqlite),
            Figure::bytes("a fork with one row inserted", written).beside(name, sqlite),
        ],
    }])
}
