//! The session: the only way to a state.

use std::sync::Arc;

use tribunal_contract::{Effective, TableGrant};
use tribunal_engine::{Changed, Queried, is_deep, on_deep_stack};
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Code, Digest, Failure, Table, Value};

use crate::backend::{Call, Runner};
use crate::denial::Hidden;
use crate::memo::Remembered;
use crate::state::State;

/// How many denials a session explains; further ones are counted as violations alone.
const DENIALS: usize = 8;

/// A session on one state under one contract, on the engine of the state's schema.
#[derive(Debug)]
pub struct DatabaseSession {
    state: State,
    contract: Arc<Effective>,
    usage: Usage,
    violations: u32,
    writes_tried: u32,
    denials: Vec<String>,
    runner: Runner,
}

impl DatabaseSession {
    /// Opens a session on a state. `spent` is what was used of the contract's budget before.
    #[must_use]
    pub fn open(state: State, contract: Arc<Effective>, spent: Usage) -> DatabaseSession {
        let runner = Runner::of(&state.backend, &state.tables, &contract);
        DatabaseSession { state, contract, usage: spent, violations: 0, writes_tried: 0, denials: Vec::new(), runner }
    }

    /// The state as the session leaves it.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }

    /// The state as it is.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What may still be used; a statement is charged whatever becomes of it.
    fn begin(&mut self) -> Result<Usage, Failure> {
        let left = self.contract.allowance().left(&self.usage);
        if left.statements == 0 {
            return Err(Failure::quota("the budget of statements is spent"));
        }
        self.usage.statements += 1;
        Ok(left)
    }

    fn select(&mut self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        let left = self.begin()?;
        let key = self.state.memo.key(self.contract.digest(), sql, parameters);
        if let Some(remembered) = key.and_then(|key| self.remembered(&key, &left)) {
            self.charge(&remembered.table, remembered.rows_scanned);
            return Ok(Table::clone(&remembered.table));
        }
        let call = Call { tables: &self.state.tables, contract: &self.contract, sql, parameters, left: &left };
        let Queried { result, rows_scanned, reads } = self.runner.query(call)?;
        let table = match result {
            Ok(table) => table,
            Err(failure) => {
                self.usage.rows_scanned += rows_scanned;
                return Err(failure);
            }
        };
        self.charge(&table, rows_scanned);
        if let Some(key) = key {
            self.remember(key, &table, rows_scanned, reads);
        }
        Ok(table)
    }

    fn charge(&mut self, table: &Table, rows_scanned: u64) {
        self.usage.rows_scanned += rows_scanned;
        self.usage.rows_returned += table.rows as u64;
        self.usage.bytes_returned += table.bytes();
    }

    /// A remembered result, where it still holds and the budget covers all of it: where it does
    /// not, the statement must run until it is stopped, as it would without a memory.
    fn remembered(&self, key: &Digest, left: &Usage) -> Option<Remembered> {
        let remembered = self.state.memo.get(key)?;
        let Remembered { table, rows_scanned, reads } = &remembered;
        let holds = reads.iter().all(|table| self.state.tables.is_pristine(table));
        let covered = *rows_scanned <= left.rows_scanned
            && table.rows as u64 <= left.rows_returned
            && table.bytes() <= left.bytes_returned;
        (holds && covered).then_some(remembered)
    }

    fn remember(&self, key: Digest, table: &Table, rows_scanned: u64, reads: Vec<String>) {
        let reads: Arc<[String]> = reads.into();
        if reads.iter().all(|table| self.state.tables.is_pristine(table)) {
            let remembered = Remembered { table: Arc::new(table.clone()), rows_scanned, reads };
            self.state.memo.put(key, remembered);
        }
    }

    /// How many changes were asked for so far, whatever became of them.
    #[must_use]
    pub fn writes_tried(&self) -> u32 {
        self.writes_tried
    }

    fn write(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        self.writes_tried = self.writes_tried.saturating_add(1);
        let left = self.begin()?;
        let call = Call { tables: &self.state.tables, contract: &self.contract, sql, parameters, left: &left };
        let Changed { result, rows_scanned } = self.runner.change(call)?;
        self.usage.rows_scanned += rows_scanned;
        let (tables, touched) = result?;
        self.usage.rows_written += touched;
        self.state.tables = tables;
        Ok(touched)
    }

    /// What the contract stopped so far: for each thing that was tried, what is granted and the line
    /// that would allow it. For the author of a plugin or a task; no agent may read it.
    #[must_use]
    pub fn denials(&self) -> &[String] {
        &self.denials
    }

    /// Counts what the contract stopped: a denial, and an unknown name that is there but hidden.
    fn judged<T>(&mut self, sql: &str, result: Result<T, Failure>) -> Result<T, Failure> {
        let Err(failure) = &result else { return result };
        let hidden = Hidden { contract: &self.contract, tables: &self.state.tables };
        let stopped = match failure.code {
            Code::Denied => true,
            Code::Unknown => hidden.is_named_in(sql),
            Code::Unsupported | Code::Quota | Code::Invalid | Code::Failed => false,
        };
        if stopped {
            self.violations += 1;
            let more = if self.denials.len() < DENIALS { hidden.explain(sql, failure) } else { Vec::new() };
            for denial in more {
                if self.denials.len() < DENIALS && !self.denials.contains(&denial) {
                    self.denials.push(denial);
                }
            }
        }
        result
    }
}

/// Runs `work` where there is stack enough for the statement.
fn with_stack<T: Send>(sql: &str, work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    if !is_deep(sql) {
        return work();
    }
    on_deep_stack(work).unwrap_or_else(|| Err(Failure::failed("the statement could not be run")))
}

impl Session for DatabaseSession {
    fn tables(&mut self) -> Vec<TableInfo> {
        self.contract.tables().map(TableGrant::info).collect()
    }

    fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        let result = with_stack(sql, || self.select(sql, parameters));
        self.judged(sql, result)
    }

    fn change(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        let result = with_stack(sql, || self.write(sql, parameters));
        self.judged(sql, result)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn date(&self) -> Option<i32> {
        Some(self.state.tables.clock())
    }

    fn violations(&self) -> u32 {
        self.violations
    }
}
