//! The two engines behind a judgement, and the comparator that the verifier runs.

use std::sync::Arc;

use tribunal_compare::{Contract, Expectation, check};
use tribunal_contract::Contract as Grant;
use tribunal_contract::Effective;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::session::Session;
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Kind};
use tribunal_sqlite::SqliteCopy;

use crate::columns::answer_columns;
use crate::judge::GRANT;

/// One dataset in both engines.
pub(crate) struct Engines {
    snapshot: Snapshot,
    contract: Arc<Effective>,
    second: SqliteCopy,
}

impl Engines {
    /// Loads a dataset into both.
    ///
    /// # Errors
    /// What of the dataset an engine does not take.
    pub fn open(data: &Dataset) -> Result<Engines, String> {
        let snapshot = Snapshot::seal(data).map_err(|error| error.to_string())?;
        let grant = Grant::parse(GRANT).map_err(|error| error.to_string())?;
        let contract = grant.resolve(snapshot.schemas()).map_err(|error| error.to_string())?;
        let second = SqliteCopy::load(data).map_err(|error| format!("in SQLite: {error}"))?;
        // Gold means what SQLite does unless told otherwise: its LIKE ignores the case of ASCII
        // letters. The copy is set up for queries in our dialect, where it does not.
        let native = second.query("PRAGMA case_sensitive_like = OFF", &[]);
        native.map_err(|error| format!("in SQLite: {error}"))?;
        Ok(Engines { snapshot, contract: Arc::new(contract), second })
    }

    /// Runs a query on our engine, as an agent's would run.
    ///
    /// # Errors
    /// The failure that the agent would read.
    pub fn ours(&self, sql: &str) -> Result<Table, Failure> {
        let contract = Arc::clone(&self.contract);
        DatabaseSession::open(self.snapshot.fork(), contract, Usage::default()).query(sql, &[])
    }

    /// Runs a query in SQLite as it is written. Cells are read as `kinds` where they say so.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn second(&self, sql: &str, kinds: &[Kind]) -> Result<Table, String> {
        let kinds: Vec<Option<Kind>> = kinds.iter().map(|kind| Some(*kind)).collect();
        self.second.query(sql, &kinds).map_err(|error| error.to_string())
    }
}

/// Compares an answer with gold.
///
/// # Errors
/// The reason and the first difference in a line, or why the contract cannot be judged by.
pub(crate) fn compare(contract: &Contract, gold: &Table, answer: &Table) -> Result<(), String> {
    let gold = guest_table(&named(gold))?;
    let verdict = check(contract, &gold, &guest_table(answer)?).map_err(|refusal| refusal.to_string())?;
    if verdict.ok {
        return Ok(());
    }
    let mut line = verdict.reason.to_string();
    if let Some(difference) = verdict.difference {
        if let Some(row) = difference.row {
            line.push_str(&format!(", row {row}"));
        }
        if let Some(column) = &difference.column {
            line.push_str(&format!(", column {column}"));
        }
        line.push_str(&format!(": {} in SQLite, {} on our engine", difference.expected, difference.found));
    }
    Err(line)
}

/// Whether the comparator reads an expectation, and an answer passes it: the verifier's own path,
/// from the text on.
///
/// # Errors
/// Why not.
pub(crate) fn passes(expectation: &str, answer: &Table) -> Result<(), String> {
    let expectation = Expectation::from_json(expectation).map_err(|refusal| refusal.to_string())?;
    let verdict = expectation.check(&guest_table(answer)?);
    if verdict.ok { Ok(()) } else { Err(verdict.reason.to_string()) }
}

/// Gold under the names that its contract has for its columns.
pub(crate) fn named(gold: &Table) -> Table {
    let mut gold = gold.clone();
    let names = answer_columns(&gold);
    for (column, answer) in gold.columns.iter_mut().zip(names) {
        column.name = answer.name;
    }
    gold
}

/// The table as the comparator holds it.
fn guest_table(table: &Table) -> Result<tribunal_compare::Table, String> {
    let json = serde_json::to_string(table).map_err(|error| error.to_string())?;
    serde_json::from_str(&json).map_err(|error| error.to_string())
}
