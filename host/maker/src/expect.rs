//! What the verifier of a draft expects, worked out on each instance of the data.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_episode::{Episode, Prepared};
use tribunal_protocol::policy::{Action, Observation, names};
use tribunal_protocol::schema::{Dataset, Engine};
use tribunal_protocol::session::Session;
use tribunal_protocol::table::{Column, Table};
use tribunal_protocol::task::{Instance, Task};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Kind;
use tribunal_sqlite::SqliteCopy;
use tribunal_tasks::{Draft, ExpectationPlan};

use crate::library::Library;
use crate::trial::Maker;

/// The gold answer of one instance: as the engine of its schema has it, and as the other one has it.
pub(crate) struct Gold {
    pub(crate) ours: Table,
    pub(crate) second: Table,
}

/// The gold answer of a query on an instance of a task's data.
pub(crate) fn gold(library: &Library, task: &Task, instance: &Instance, query: &str) -> Result<Gold, String> {
    let at = |why: String| format!("gold query at seed {}: {why}", instance.seed);
    let (rows, snapshot) = library.rows(&task.schema, instance.seed)?;
    let contract = Contract::parse(&task.grant).map_err(|why| why.to_string())?;
    let effective = contract.resolve(snapshot.schemas()).map_err(|why| why.to_string())?;
    let effective = Arc::new(effective);
    let mut session = DatabaseSession::open(snapshot.fork(), Arc::clone(&effective), Usage::default());
    let ours = session.query(query, &[]).map_err(|why| at(why.to_string()))?;
    let second = match snapshot.engine() {
        Engine::Gluesql => second_opinion(&rows, task, query, &ours),
        Engine::Sqlite => gluesql_opinion(&rows, effective, query),
    };
    let second = second.map_err(at)?;
    if second.rows != ours.rows {
        return Err(at(format!("{} rows here, {} in the second engine", ours.rows, second.rows)));
    }
    Ok(Gold { ours, second })
}

/// The opinion of GlueSQL, where SQLite is the first.
fn gluesql_opinion(rows: &Dataset, contract: Arc<Effective>, query: &str) -> Result<Table, String> {
    let snapshot = Snapshot::seal_on(rows, Engine::Gluesql).map_err(|why| format!("second engine: {why}"))?;
    let mut session = DatabaseSession::open(snapshot.fork(), contract, Usage::default());
    session.query(query, &[]).map_err(|why| format!("second engine: {why}"))
}

fn second_opinion(rows: &Dataset, task: &Task, query: &str, ours: &Table) -> Result<Table, String> {
    let copy = SqliteCopy::load(rows).map_err(|why| format!("second engine: {why}"))?;
    // What the task asks for counts, not what our engine made of it: a ratio of decimals is a
    // float to the agent, and SQLite's must not be rounded as money is.
    let asked = |name: &str| task.answer.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    let kind = |column: &Column| asked(&column.name).map_or_else(|| column.kind(), |asked| asked.kind);
    let kinds: Vec<_> = ours.columns.iter().map(|column| Some(kind(column))).collect();
    copy.query_ours(query, &kinds).map_err(|why| format!("second engine: {why}"))
}

/// Of a top-k the gold query gives the whole tie at the cut; an answer holds exactly k rows of it.
fn best(contract: &Json, table: Table) -> Table {
    let kinds: Vec<(String, Kind)> = table.columns.iter().map(|column| (column.name.clone(), column.kind())).collect();
    let k = contract.pointer("/top/k").and_then(Json::as_u64).and_then(|k| usize::try_from(k).ok());
    match k {
        Some(k) if k < table.rows => {
            let rows: Vec<_> = (0..k).map(|row| table.row(row)).collect();
            Table::from_rows(&kinds, &rows).unwrap_or(table)
        }
        _ => table,
    }
}

/// The expectation of an answer, as `verifier-result` reads it.
fn result(contract: &Json, gold: &Table) -> Json {
    json!({"version": 1, "contract": contract, "gold": gold})
}

impl Maker<'_> {
    /// The draft's task with every expectation filled in, and SQLite's answers beside it.
    pub(crate) fn expect(&self, draft: &Draft) -> Result<(Task, Vec<Table>), String> {
        let mut task = draft.task.clone();
        let mut seconds = Vec::new();
        for index in 0..task.instances.len() {
            let expectation = match &draft.expectation {
                ExpectationPlan::Result { contract, query } => {
                    let gold = gold(self.library, &task, &task.instances[index], query)?;
                    seconds.push(best(contract, gold.second));
                    result(contract, &gold.ours)
                }
                ExpectationPlan::Clarify { slot, other_slots, max_questions, contract, query } => {
                    let gold = gold(self.library, &task, &task.instances[index], query)?;
                    seconds.push(gold.second);
                    json!({
                        "version": 1, "must": "clarify", "slot": slot, "other_slots": other_slots,
                        "max_questions": max_questions, "answer": result(contract, &gold.ours),
                    })
                }
                ExpectationPlan::Abstain { missing } => json!({"version": 1, "must": "abstain", "missing": missing}),
                ExpectationPlan::State { ignore } => self.golden_changes(&task, ignore)?,
            };
            task.instances[index].expectation = expectation.to_string();
        }
        Ok((task, seconds))
    }

    /// What the golden calls change, replayed on the same start.
    fn golden_changes(
        &self,
        task: &Task,
        ignore: &std::collections::BTreeMap<String, Vec<String>>,
    ) -> Result<Json, String> {
        let prepared = Prepared::new(self.stage, Arc::new(task.clone())).map_err(|why| why.to_string())?;
        let mut episode = Episode::start(&prepared, "golden", 0, 0);
        for action in golden_calls(task) {
            let planned = task.failures.iter().any(|planned| planned.tool == action.tool);
            if let Observation::Failure(failure) = episode.step(action.clone())
                && !planned
            {
                return Err(format!("golden call of {}: {failure}", action.tool));
            }
        }
        let changes = episode.changes();
        if changes.is_empty() {
            return Err("the golden calls change nothing; doing nothing would pass".to_owned());
        }
        let table = |change: &tribunal_protocol::session::TableChanges| {
            let ignore = ignore.get(&change.name).cloned().unwrap_or_default();
            json!({"name": change.name, "ignore": ignore, "removed": change.removed, "added": change.added})
        };
        Ok(json!({"version": 1, "tables": changes.iter().map(table).collect::<Vec<_>>()}))
    }
}

fn golden_calls(task: &Task) -> impl Iterator<Item = &Action> {
    task.oracle.iter().filter(|action| !names::ALL.contains(&action.tool.as_str()))
}
