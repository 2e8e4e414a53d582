//! Guests that do one thing each, beside a twin that stays within what is allowed.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tribunal_protocol::evidence::{Evidence, Submission};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::{Kind, Value};
use tribunal_protocol::verdict::Score;

use crate::fixture::Guest;
use crate::*;

mod calls;
mod limits;
mod load;
mod verdicts;
mod wasi;

/// One sandbox for all tests, as in a process that serves.
static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(SandboxOptions::default()).unwrap());

fn load(guest: &Guest) -> Arc<Plugin> {
    SANDBOX.load("guest", &guest.build()).unwrap_or_else(|fault| panic!("{fault}\n{guest:?}"))
}

/// A session over one table, which counts what is asked of it.
#[derive(Debug, Default, PartialEq)]
struct Paper {
    table: Table,
    statements: Vec<String>,
    parameters: Vec<Value>,
    /// How long a statement takes.
    pause: Duration,
    /// Whether a statement panics.
    panics: bool,
}

impl Paper {
    fn run(&mut self, sql: &str, parameters: &[Value]) {
        assert!(!self.panics, "the engine broke");
        std::thread::sleep(self.pause);
        self.statements.push(sql.to_owned());
        self.parameters.extend_from_slice(parameters);
    }
}

impl Session for Paper {
    fn tables(&mut self) -> Vec<TableInfo> {
        self.run("tables", &[]);
        Vec::new()
    }

    fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        self.run(sql, parameters);
        if sql == "denied" {
            return Err(Failure::denied("not yours"));
        }
        Ok(self.table.clone())
    }

    fn change(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        self.run(sql, parameters);
        Ok(self.statements.len() as u64)
    }

    fn usage(&self) -> Usage {
        Usage { statements: self.statements.len() as u64, ..Usage::default() }
    }

    fn violations(&self) -> u32 {
        0
    }
}

/// A table of every kind, with NULLs.
fn every_kind(rows: usize) -> Table {
    let values = [
        Value::Boolean(true),
        Value::Integer(i64::MIN),
        Value::Float(-0.5),
        Value::Decimal("-12.50".parse().unwrap()),
        Value::Text("naïve".to_owned()),
        Value::Date(19_000),
        Value::Timestamp(-1),
    ];
    let columns: Vec<_> = values.iter().map(|value| (value.kind().to_string(), value.kind())).collect();
    let columns: Vec<_> = columns.into_iter().chain([("none".to_owned(), Kind::Unknown)]).collect();
    let row = |row: usize| {
        let value = |(place, value): (usize, &Value)| if row % 5 == place { Value::Null } else { value.clone() };
        values.iter().enumerate().map(value).chain([Value::Null]).collect()
    };
    Table::from_rows(&columns, &(0..rows).map(row).collect::<Vec<_>>()).unwrap()
}

const INPUT: ToolInput<'_> = ToolInput { tool: "act", arguments: "{}", settings: "{}" };

fn act(guest: &Guest, limits: &Limits) -> Ran<Result<ToolOutput, Failure>, Paper> {
    load(guest).call(&INPUT, Paper::default(), limits)
}

fn evidence(submission: Submission) -> Evidence {
    Evidence {
        instruction: "count".to_owned(),
        submission,
        questions: Vec::new(),
        calls: Vec::new(),
        expectation: "3".to_owned(),
    }
}

fn judge(guest: &Guest) -> Ran<Score, (Paper, Paper)> {
    let evidence = evidence(Submission::Done);
    let input = VerifyInput { evidence: &evidence, settings: "{}" };
    load(guest).verify(&input, Paper::default(), Paper::default(), Box::new(|| Ok(Vec::new())), &Limits::default())
}

/// The limit that a fault names.
fn limit_of<T: std::fmt::Debug>(result: Result<T, Fault>) -> String {
    match result {
        Err(Fault::Limit { what, .. }) => what,
        other => panic!("a limit expected, {other:?} found"),
    }
}
