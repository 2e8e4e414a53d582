//! The session: the only way to a state.

use std::sync::Arc;

use tribunal_contract::{Effective, TableGrant};
use tribunal_engine::{Changed, Queried, is_deep, on_deep_stack};
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Code, Digest, Failure, Table, Value};

use crate::backend::{Call, Runner};
use crate::memo::Remembered;
use crate::state::State;

/// A session on one state under one contract, on the engine of the state's schema.
#[derive(Debug)]
pub struct GlueSession {
    state: State,
    contract: Arc<Effective>,
    usage: Usage,
    violations: u32,
    runner: Runner,
}

impl GlueSession {
    /// Opens a session on a state. `spent` is what was used of the contract's budget before.
    #[must_use]
    pub fn open(state: State, contract: Arc<Effective>, spent: Usage) -> GlueSession {
        let runner = Runner::of(&state.backend, &state.tables, &contract);
        GlueSession { state, contract, usage: spent, violations: 0, runner }
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

    fn write(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        let left = self.begin()?;
        let call = Call { tables: &self.state.tables, contract: &self.contract, sql, parameters, left: &left };
        let Changed { result, rows_scanned } = self.runner.change(call)?;
        self.usage.rows_scanned += rows_scanned;
        let (tables, touched) = result?;
        self.usage.rows_written += touched;
        self.state.tables = tables;
        Ok(touched)
    }

    /// Counts what the contract stopped: a denial, and an unknown name that is there but hidden.
    fn judged<T>(&mut self, sql: &str, result: Result<T, Failure>) -> Result<T, Failure> {
        let stopped = match &result {
            Ok(_) => false,
            Err(failure) => match failure.code {
                Code::Denied => true,
                Code::Unknown => self.names_hidden(sql),
                Code::Unsupported | Code::Quota | Code::Invalid | Code::Failed => false,
            },
        };
        self.violations += u32::from(stopped);
        result
    }

    /// Whether a statement names a table or column that exists and is not granted.
    fn names_hidden(&self, sql: &str) -> bool {
        let words = sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.filter(|word| !word.is_empty()).any(|word| self.is_hidden(word))
    }

    fn is_hidden(&self, word: &str) -> bool {
        let same = |name: &str| name.eq_ignore_ascii_case(word);
        let known =
            |grant: &TableGrant| same(&grant.known.name) || grant.known.columns.iter().any(|column| same(&column.name));
        if self.contract.tables().any(known) {
            return false;
        }
        self.state
            .tables
            .schemas()
            .any(|schema| same(&schema.name) || schema.columns.iter().any(|column| same(&column.name)))
    }
}

/// Runs `work` where there is stack enough for the statement.
fn with_stack<T: Send>(sql: &str, work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    if !is_deep(sql) {
        return work();
    }
    on_deep_stack(work).unwrap_or_else(|| Err(Failure::failed("the statement could not be run")))
}

impl Session for GlueSession {
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

    fn violations(&self) -> u32 {
        self.violations
    }
}
