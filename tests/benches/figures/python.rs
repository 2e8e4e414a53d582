//! The same work in a bare Python loop, in a child process.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use tribunal_protocol::Value;

use crate::data;
use crate::play::SEEDS;
use crate::task::{QUERY, gold};

const SCRIPT: &str = include_str!("../loop.py");

/// Episodes for each second of processor time.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Loops {
    pub(crate) answer: f64,
    pub(crate) answer_traced: f64,
    pub(crate) state: f64,
    pub(crate) state_traced: f64,
}

/// Runs the loops; none where there is no Python.
pub(crate) fn measure() -> Result<Option<Loops>> {
    let child = Command::new("python3").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return Ok(None) };
    let data = data::small(SEEDS[0]);
    let tables: serde_json::Map<_, _> = data
        .tables
        .iter()
        .map(|table| {
            let columns: Vec<_> = table.schema.columns.iter().map(|column| &column.name).collect();
            let rows: Vec<Vec<_>> = table.rows.iter().map(|row| row.iter().map(plain).collect()).collect();
            (table.schema.name.clone(), json!({"columns": columns, "rows": rows}))
        })
        .collect();
    let gold: Vec<Vec<_>> = gold(&data)?.to_rows().iter().map(|row| row.iter().map(plain).collect()).collect();
    let given = json!({"tables": tables, "query": QUERY, "gold": gold});
    let mut input = child.stdin.take().context("the child's input")?;
    input.write_all(given.to_string().as_bytes())?;
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the Python loop failed ({})", output.status);
    Ok(Some(serde_json::from_slice(&output.stdout).context("what the Python loop prints")?))
}

/// A value as SQLite holds it: it has no decimals.
fn plain(value: &Value) -> serde_json::Value {
    match value {
        Value::Decimal(d) => f64::try_from(*d).unwrap_or(f64::NAN).into(),
        other => other.to_json(),
    }
}
