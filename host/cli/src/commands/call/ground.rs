//! What a call runs on: sealed data under a contract, or a recording.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_contract::{Budget, Contract, Effective};
use tribunal_database::{DatabaseSession, Snapshot, State, changes};
use tribunal_import::{ForeignSchema, read_schemas, read_sqlite};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::PluginKind;
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session;
use tribunal_protocol::task::SchemaRef;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::parse_date;
use tribunal_sandbox::{Between, Plugin};

use super::file::ChangesFile;
use super::session::Taped;
use super::tape::{self, Asked, Gave, HostCall, Tape};
use crate::args::SubjectArguments;
use crate::commands::check;
use crate::datasets::Opened;
use crate::output;

/// The grant of somebody who tries a plugin on data of their own.
const EVERYTHING: &str = "[contract]\nname = \"everything\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n\
    [[write]]\ntable = \"*\"\nverbs = [\"insert\", \"update\", \"delete\"]\ncolumns = [\"*\"]\n";

/// Data under a contract, or a recording.
pub enum Ground {
    /// Data, and what of it the plugin may touch.
    Data {
        /// The state before the agent's first step.
        first: State,
        /// The state after its last one.
        last: State,
        /// Request ∩ grant.
        contract: Arc<Effective>,
    },
    /// Host calls that were recorded.
    Tape {
        /// The calls, in order.
        calls: Vec<HostCall>,
        /// The date of the data.
        date: Option<i32>,
    },
}

impl Ground {
    /// Data as the arguments name it, under request ∩ grant; `work` makes the last state of the first.
    /// Gives the limits with the contract's budgets in their places.
    pub fn data(arguments: &SubjectArguments, plugin: &Plugin, work: &[String]) -> Result<(Ground, Limits)> {
        let snapshot = snapshot(arguments)?.with_memo(0);
        let granted = match &arguments.contract {
            Some(path) => Contract::parse(&check::text(path)?).with_context(|| path.display().to_string())?,
            None => Contract::parse(EVERYTHING)?,
        };
        let mut limits = Limits::default();
        let contract = Arc::new(effective(plugin, granted, &snapshot, &limits)?);
        held_by(&mut limits, &contract);
        let first = snapshot.fork();
        let last = after(work, &snapshot)?;
        Ok((Ground::Data { first, last, contract }, limits))
    }

    /// The session of a role.
    pub fn session(&self, role: &'static str, tape: &Tape) -> Taped {
        match self {
            Ground::Tape { .. } => Taped::played(role, tape),
            Ground::Data { first, last, contract } => {
                let state = if role == "last" { last } else { first };
                let session = DatabaseSession::open(state.clone(), Arc::clone(contract), Usage::default());
                Taped::live(role, session, tape)
            }
        }
    }

    /// What a verifier's `changes.between` does.
    pub fn between(&self, tape: &Tape) -> Between {
        let tape = tape.clone();
        match self {
            Ground::Tape { .. } => Box::new(move || tape::changes(tape.play(&Asked::changes()).0)),
            Ground::Data { first, last, contract } => {
                let (first, last, contract) = (first.clone(), last.clone(), Arc::clone(contract));
                Box::new(move || {
                    let changes = changes(&first, &last, &contract);
                    let gave = changes.iter().cloned().map(ChangesFile::from).collect();
                    tape.add(Asked::changes(), Gave::Changes(gave), Usage::default());
                    Ok(changes)
                })
            }
        }
    }

    /// A tape to begin a call with.
    pub fn tape(&self) -> Tape {
        match self {
            Ground::Data { .. } => Tape::default(),
            Ground::Tape { calls, date } => Tape::of(calls, *date),
        }
    }
}

fn snapshot(arguments: &SubjectArguments) -> Result<Snapshot> {
    if let Some(named) = &arguments.schema {
        let opened = Opened::open(&arguments.suite)?;
        let all = opened.schemas();
        let Some(schema) = all.iter().find(|schema| schema.to_string() == *named) else {
            let known: Vec<String> = all.iter().map(SchemaRef::to_string).collect();
            bail!("--schema {named}: suite {} has no such schema; it has {}", arguments.suite, known.join(", "));
        };
        return opened.snapshot(schema, arguments.seed);
    }
    let clock = parse_date(&arguments.clock)
        .with_context(|| format!("--clock {}: a date such as 2025-06-30 expected", arguments.clock))?;
    let dataset = match &arguments.data {
        Some(path) => own(path, clock)?,
        None => Dataset { clock, tables: Vec::new() },
    };
    Ok(Snapshot::seal(&dataset)?)
}

/// Data of one's own: a SQLite file, or a folder of one schema.
fn own(path: &Path, clock: i32) -> Result<Dataset> {
    let schema = if path.is_file() {
        read_sqlite(path, clock)?
    } else {
        let mut schemas = read_schemas(path, clock)?;
        match schemas.len() {
            1 => schemas.remove(0),
            count => bail!("{}: {count} schemas; name the folder of one of them with --data", path.display()),
        }
    };
    let ForeignSchema { data, problems, .. } = schema;
    for problem in &problems {
        output::note(&format!("{} line {}: {}; its table is left out", problem.file, problem.line, problem.what));
    }
    Ok(data)
}

fn effective(plugin: &Plugin, mut granted: Contract, snapshot: &Snapshot, limits: &Limits) -> Result<Effective> {
    let mut requested = Contract::parse(&plugin.description().contract)
        .with_context(|| format!("{}: the contract that it requests", plugin.name()))?;
    if plugin.kind() == PluginKind::Verifier {
        // As in an episode: a verifier reads, whatever it asks for.
        requested.write.clear();
        granted.write.clear();
    }
    granted.resolve(snapshot.schemas()).with_context(|| format!("contract {:?}, on this data", granted.name()))?;
    granted.budget = granted.budget.intersect(&Budget::most(limits));
    let both = Contract::intersect(&requested, &granted);
    both.resolve(snapshot.schemas()).with_context(|| format!("{}: what it requests, on this data", plugin.name()))
}

/// Puts the budgets of a contract where the limits have their own.
fn held_by(limits: &mut Limits, contract: &Effective) {
    let allowed = contract.allowance();
    limits.statements = allowed.statements;
    limits.rows_scanned = allowed.rows_scanned;
    limits.rows_returned = allowed.rows_returned;
    limits.bytes_returned = allowed.bytes_returned;
    limits.rows_written = allowed.rows_written;
    limits.fuel = limits.fuel.min(allowed.fuel.unwrap_or(u64::MAX));
    limits.memory = limits.memory.min(allowed.memory.unwrap_or(u64::MAX));
}

/// The state after some statements that an agent could have run.
fn after(work: &[String], snapshot: &Snapshot) -> Result<State> {
    let contract = Contract::parse(EVERYTHING)?.resolve(snapshot.schemas())?;
    let mut session = DatabaseSession::open(snapshot.fork(), Arc::new(contract), Usage::default());
    for (index, sql) in work.iter().enumerate() {
        session.change(sql, &[]).map_err(|why| anyhow::anyhow!("work, statement {}: {why}", index + 1))?;
    }
    Ok(session.into_state())
}
