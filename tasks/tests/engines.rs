//! Gold queries on both engines: ours behind the task's own contract, and SQLite. What the two do
//! not agree on could never become a task.

use std::collections::BTreeMap;
use std::sync::Arc;

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::policy::Action;
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session as _;
use tribunal_protocol::table::Table;
use tribunal_protocol::task::Task;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;
use tribunal_sqlite::SqliteCopy;
use tribunal_tasks::{Draft, ExpectationPlan, Suite};

fn gold(draft: &Draft) -> Option<&str> {
    match &draft.expectation {
        ExpectationPlan::Result { query, .. } | ExpectationPlan::Clarify { query, .. } => Some(query),
        ExpectationPlan::State { .. } | ExpectationPlan::Abstain { .. } => None,
    }
}

/// A query under the task's contract, as the agent would run it.
fn ours(task: &Task, dataset: &Dataset, sql: &str) -> Result<Table, String> {
    let snapshot = Snapshot::seal(dataset).map_err(|why| why.to_string())?;
    let contract = Contract::parse(&task.grant).map_err(|why| why.to_string())?;
    let effective = contract.resolve(snapshot.schemas()).map_err(|why| why.to_string())?;
    let mut session = DatabaseSession::open(snapshot.fork(), Arc::new(effective), Usage::default());
    session.query(sql, &[]).map_err(|why| why.to_string())
}

fn second(dataset: &Dataset, sql: &str, ours: &Table) -> Result<Table, String> {
    let kinds: Vec<_> = ours.columns.iter().map(|column| Some(column.kind())).collect();
    let copy = SqliteCopy::load(dataset).map_err(|why| why.to_string())?;
    copy.query_ours(sql, &kinds).map_err(|why| why.to_string())
}

/// Rows as text in a fixed order; floats to nine digits, so that the order of additions does
/// not show.
fn shown(table: &Table) -> Vec<Vec<String>> {
    let cell = |value: &Value| match value {
        Value::Float(x) => format!("{x:.9}"),
        Value::Decimal(d) => d.normalize().to_string(),
        other => other.to_string(),
    };
    let mut rows: Vec<Vec<String>> = table.to_rows().iter().map(|row| row.iter().map(cell).collect()).collect();
    rows.sort();
    rows
}

/// Equal cell by cell; numbers up to the places that SQLite's doubles are trusted for.
fn alike(one: &[Vec<String>], other: &[Vec<String>]) -> bool {
    let numbers = |a: &String, b: &String| Some((a.parse::<f64>().ok()?, b.parse::<f64>().ok()?));
    let same = |(a, b): (&String, &String)| a == b || numbers(a, b).is_some_and(|(a, b)| (a - b).abs() < 1e-6);
    let rows = |(a, b): (&Vec<String>, &Vec<String>)| a.len() == b.len() && a.iter().zip(b).all(same);
    one.len() == other.len() && one.iter().zip(other).all(rows)
}

fn names(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}

/// The query whose result a list of actions hands in.
fn submitted(actions: &[Action]) -> Option<&str> {
    let call = actions.last()?.arguments.get("call")?.as_u64()?;
    let place = usize::try_from(call).ok()?.checked_sub(1)?;
    actions.get(place)?.arguments.get("sql")?.as_str()
}

#[test]
fn both_engines_give_the_same_gold() {
    let suite = Suite::embedded("analytics").unwrap();
    let mut pairs = BTreeMap::new();
    for draft in suite.drafts(&suite.quotas(), 3).unwrap() {
        pairs.entry((draft.task.schema.clone(), draft.task.family.clone())).or_insert(draft);
    }
    let mut faults = Vec::new();
    let mut checked = 0;
    for draft in pairs.values() {
        let task = &draft.task;
        let Some(query) = gold(draft) else { continue };
        let dataset = suite.dataset(&task.schema, task.instances[0].seed).unwrap();
        for sql in [query, submitted(&task.oracle).unwrap()] {
            checked += 1;
            let table = match ours(task, &dataset, sql) {
                Ok(table) => table,
                Err(why) => {
                    faults.push(format!("{}: {why}: {sql}", task.id));
                    continue;
                }
            };
            let wanted: Vec<&str> = task.answer.iter().map(|column| column.name.as_str()).collect();
            if names(&table) != wanted {
                faults.push(format!("{}: columns {:?} instead of {wanted:?}", task.id, names(&table)));
            }
            match second(&dataset, sql, &table) {
                Ok(other) if alike(&shown(&other), &shown(&table)) => {}
                Ok(other) => faults.push(format!("{}: {:?} / {:?}: {sql}", task.id, shown(&table), shown(&other))),
                Err(why) => faults.push(format!("{}: second engine: {why}: {sql}", task.id)),
            }
        }
    }
    assert!(checked > 150, "{checked} queries");
    assert!(faults.is_empty(), "{} of {checked}:\n{}", faults.len(), faults.join("\n"));
}

/// Every wrong query of every task of the default suite, on every instance of its data, by SQLite:
/// at least one instance tells it from the right one. Top-k tasks are left to the verifier,
/// because an answer may hold any of the tied.
#[test]
fn wrong_ways_are_told_apart_and_gold_is_not_empty() {
    let suite = Suite::embedded("analytics").unwrap();
    let drafts = suite.drafts(&suite.quotas(), 1).unwrap();
    let (mut told, mut untold, mut empty) = (0, Vec::new(), Vec::new());
    for draft in &drafts {
        let task = &draft.task;
        let Some(query) = gold(draft).filter(|_| !task.family.contains("top-k")) else { continue };
        let copies: Vec<SqliteCopy> = task
            .instances
            .iter()
            .map(|instance| suite.dataset(&task.schema, instance.seed).unwrap())
            .map(|dataset| SqliteCopy::load(&dataset).unwrap())
            .collect();
        let kinds: Vec<_> = task.answer.iter().map(|column| Some(column.kind)).collect();
        let run = |sql: &str| -> Vec<Vec<Vec<String>>> {
            let table = |copy: &SqliteCopy| {
                copy.query_ours(sql, &kinds).unwrap_or_else(|why| panic!("{}: {why}: {sql}", task.id))
            };
            copies.iter().map(|copy| shown(&table(copy))).collect()
        };
        let right = run(query);
        if right.iter().any(Vec::is_empty) {
            empty.push(task.id.clone());
        }
        let wrong_queries = task.mutants.iter().filter_map(|mutant| Some((&mutant.fault, submitted(&mutant.actions)?)));
        // Some faults lie in what was asked or tried, not in the query.
        for (fault, sql) in wrong_queries.filter(|(_, sql)| Some(*sql) != submitted(&task.oracle)) {
            if run(sql) == right {
                untold.push(format!("{} {fault}", task.id));
            } else {
                told += 1;
            }
        }
    }
    assert!(told > 700, "{told} told apart");
    assert!(untold.len() <= 2, "not told apart: {untold:?}");
    assert!(empty.len() <= 2, "an instance without rows: {empty:?}");
}
