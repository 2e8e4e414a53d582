//! The store under a session: it holds what the contract grants and nothing else, counts what is
//! read, stops at the budget, and keeps what is written aside until all of it is checked.

use std::cell::{Cell as Counter, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::result::Result as StdResult;

use gluesql_core::ast::Expr;
use gluesql_core::data::{CustomFunction as Function, Key, Schema};
use gluesql_core::error::{Error, EvaluateError, Result};
use gluesql_core::plan::StatementPlan;
use gluesql_core::planner::{plan_aggregate, plan_hash_join};
use gluesql_core::prelude::Value as Cell;
use gluesql_core::store::{
    AlterTable, CustomFunction, CustomFunctionMut, Index, IndexMut, Metadata, Planner, RowIter, Store, StoreMut,
    Transaction,
};

use tribunal_contract::TableGrant;
use tribunal_protocol::Failure;

use crate::gate::{Condition, Test};
use crate::native::{self, MAX_TEXT, MEASURE, Native, Wrong};
use crate::store::{Row, RowNumber, TableState};
use crate::view::View;
use crate::work::{of_made, of_row};

/// Why a statement was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// More rows were read than the budget allows.
    Scanned,
    /// Joins combined more rows than the budget allows.
    Joined,
    /// The rows and the parts of expressions together are too much work.
    Worked,
    /// A text beyond ASCII met a function that counts bytes.
    NotAscii,
    /// A text, or all texts together, grew beyond their bound.
    Grown,
    /// The engine asked for something that the gate should have refused.
    Refused,
}

/// What a change wants to do, before anything is checked.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// Rows to insert, in the order of the columns that the engine was shown.
    pub(crate) inserted: Vec<Vec<Cell>>,
    /// Rows to update, in the order of the columns that the engine was shown.
    pub(crate) updated: Vec<(RowNumber, Vec<Cell>)>,
    /// Rows to delete.
    pub(crate) deleted: Vec<RowNumber>,
}

/// What a statement may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rows read from tables.
    pub(crate) scanned: u64,
    /// Rows combined by joins.
    pub(crate) joined: u64,
    /// Parts of expressions.
    pub(crate) work: u64,
}

/// A table of the state behind the view that the engine has of it.
pub(crate) struct Shown<'a> {
    pub(crate) table: &'a TableState,
    pub(crate) grant: &'a TableGrant,
    pub(crate) view: View,
}

/// Combined rows that need no counting, where they are little work.
const FREE: u64 = 2_000_000;
/// The share of the work that they may be.
const FREE_SHARE: u64 = 4;
/// Bytes of all texts that functions of one statement may make.
const MAX_TEXTS: u64 = 1 << 30;

/// The result of a part of the statement that ran before, as a table.
struct Temporary {
    schema: Schema,
    /// Its rows, or why there are none: an error counts where somebody reads them.
    rows: StdResult<Vec<Vec<Cell>>, Failure>,
}

/// The guarded store of one statement.
pub(crate) struct Guard<'a> {
    views: BTreeMap<String, Shown<'a>>,
    temporaries: BTreeMap<String, Temporary>,
    natives: RefCell<Vec<Native>>,
    limits: Limits,
    ascii: Counter<bool>,
    refused: Counter<bool>,
    scanned: Counter<u64>,
    joined: Counter<u64>,
    /// What each row counts for: the parts of the expressions of the plan that runs.
    weight: Counter<u64>,
    worked: Counter<u64>,
    grown: Counter<u64>,
    stopped: Counter<Option<Stop>>,
    failed: RefCell<Option<Failure>>,
    staged: RefCell<Staged>,
    tick: Function,
}

/// The function that the tick pass adds to joins; no statement can name it, since the gate
/// refuses every function that is not the engine's own.
pub(crate) const TICK: &str = "TICK";

impl<'a> Guard<'a> {
    pub(crate) fn new(views: BTreeMap<String, Shown<'a>>, limits: Limits) -> Self {
        Guard {
            views,
            temporaries: BTreeMap::new(),
            natives: RefCell::default(),
            limits,
            ascii: Counter::new(false),
            refused: Counter::new(false),
            scanned: Counter::new(0),
            joined: Counter::new(0),
            weight: Counter::new(1),
            worked: Counter::new(0),
            grown: Counter::new(0),
            stopped: Counter::new(None),
            failed: RefCell::default(),
            staged: RefCell::default(),
            tick: Function { func_name: TICK.to_owned(), args: Vec::new(), body: Expr::Value(Cell::Bool(true)) },
        }
    }

    /// Stops the statement at the first text beyond ASCII from now on.
    pub(crate) fn allow_ascii_alone(&self) {
        self.ascii.set(true);
    }

    /// Says that the plan in the making cannot run.
    pub(crate) fn refuse(&self) {
        self.refused.set(true);
    }

    /// Whether the plan in the making cannot run; forgets it.
    pub(crate) fn take_refused(&self) -> bool {
        self.refused.take()
    }

    /// Keeps a call of a function of ours; gives the name of its table.
    pub(crate) fn native(&self, native: Native) -> String {
        let mut natives = self.natives.borrow_mut();
        let known = natives.iter().position(|known| *known == native);
        let place = known.unwrap_or_else(|| {
            natives.push(native);
            natives.len() - 1
        });
        format!("{}{place}", native::PREFIX)
    }

    /// Bytes of the longest text that the holder may see in the tables of the statement.
    pub(crate) fn longest_text(&self) -> usize {
        let views = self.views.values().map(|shown| shown.table.longest_text(shown.grant));
        let kept = self.temporaries.values().flat_map(|temporary| temporary.rows.iter().flatten().flatten());
        views.chain(kept.map(text_length)).max().unwrap_or(0)
    }

    /// Counts the bytes of a text that was made.
    fn count_text(&self, bytes: usize) -> Result<()> {
        let grown = self.grown.get().saturating_add(bytes as u64);
        self.grown.set(grown);
        if bytes > MAX_TEXT || grown > MAX_TEXTS {
            return Err(self.stop(Stop::Grown));
        }
        Ok(())
    }

    /// Says how much each row counts for from now on.
    pub(crate) fn weigh(&self, weight: u64) {
        self.weight.set(weight);
    }

    /// Whether so many combined rows may go uncounted: they end soon whatever a row is.
    pub(crate) fn is_little(&self, joined: u64) -> bool {
        joined <= FREE && joined.saturating_mul(self.weight.get()) <= self.limits.work / FREE_SHARE
    }

    /// Counts work, in parts of expressions.
    fn work(&self, parts: u64) -> Result<()> {
        let worked = self.worked.get().saturating_add(parts);
        self.worked.set(worked);
        if worked > self.limits.work {
            return Err(self.stop(Stop::Worked));
        }
        Ok(())
    }

    /// Counts work that every part of the statement's expressions may do.
    fn work_of_all(&self, times: u64) -> Result<()> {
        self.work(times.saturating_mul(self.weight.get()))
    }

    /// What a function of ours gives for a key.
    fn called(&self, name: &str, key: &Key) -> Result<Cell> {
        let result = match (name, key) {
            (MEASURE, Key::Str(text)) => Ok(Cell::Str(text.clone())),
            (MEASURE, _) => Ok(Cell::Null),
            _ => {
                let natives = self.natives.borrow();
                let native = native_of(&natives, name).ok_or_else(|| self.stop(Stop::Refused))?;
                self.work(native.work(key))?;
                native.call(key)
            }
        };
        match result {
            Ok(cell) => {
                self.count_text(text_length(&cell))?;
                self.work_of_all(of_made(&cell))?;
                Ok(cell)
            }
            Err(Wrong::TooLong) => Err(self.stop(Stop::Grown)),
            Err(Wrong::Argument) => Err(EvaluateError::NegativeSubstrLenNotAllowed.into()),
        }
    }

    /// The failure of a part that somebody read; forgets it.
    pub(crate) fn take_failed(&self) -> Option<Failure> {
        self.failed.take()
    }

    /// Rows read so far, at most one more than the limit.
    pub(crate) fn scanned(&self) -> u64 {
        self.scanned.get()
    }

    /// Why the statement was stopped, if it was.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped.get()
    }

    /// What the statement wants to write.
    pub(crate) fn into_staged(self) -> Staged {
        self.staged.into_inner()
    }

    /// How many rows a view shows at most.
    pub(crate) fn count(&self, view: &str) -> u64 {
        if let Some(temporary) = self.temporaries.get(view) {
            return temporary.rows.as_ref().map_or(0, |rows| rows.len() as u64);
        }
        let shown = self.views.get(view);
        shown.map_or(0, |shown| shown.table.count(shown.view.filter.as_ref()))
    }

    /// Keeps a result as a table; gives the name of its view.
    pub(crate) fn keep(&mut self, labels: Vec<String>, rows: Vec<Vec<Cell>>) -> String {
        let name = format!("\0t{}", self.temporaries.len());
        self.keep_as(&name, labels, Ok(rows));
        name
    }

    /// Keeps a result, or why there is none, as a table of that name.
    pub(crate) fn keep_as(&mut self, name: &str, labels: Vec<String>, rows: StdResult<Vec<Vec<Cell>>, Failure>) {
        let schema = crate::view::anonymous(name, labels);
        self.temporaries.insert(name.to_owned(), Temporary { schema, rows });
    }

    /// Adds to a view what a row must meet to matter; says whether the store can tell.
    pub(crate) fn require(&mut self, view: &str, column: &str, test: &Test) -> bool {
        let shown = self.views.get_mut(view);
        shown.is_some_and(|shown| shown.view.require(shown.grant, column, test))
    }

    /// The same of conditions under AND and OR.
    pub(crate) fn require_all_of(&mut self, view: &str, condition: &Condition) -> bool {
        let shown = self.views.get_mut(view);
        shown.is_some_and(|shown| shown.view.require_all_of(shown.grant, condition))
    }

    fn schema(&self, view: &str) -> Option<&Schema> {
        let temporary = self.temporaries.get(view).map(|temporary| &temporary.schema);
        temporary.or_else(|| self.views.get(view).map(|shown| &shown.view.schema))
    }

    fn stop(&self, reason: Stop) -> Error {
        self.stopped.set(Some(reason));
        Error::StorageMsg(String::new())
    }

    /// Counts a row that was read.
    fn count_scanned(&self) -> Result<()> {
        let scanned = self.scanned.get() + 1;
        self.scanned.set(scanned);
        if scanned > self.limits.scanned {
            return Err(self.stop(Stop::Scanned));
        }
        Ok(())
    }

    /// Counts rows that were combined.
    fn count_joined(&self) -> Result<()> {
        let joined = self.joined.get() + 1;
        self.joined.set(joined);
        if joined > self.limits.joined {
            return Err(self.stop(Stop::Joined));
        }
        Ok(())
    }

    /// The cells that the engine is shown of a row; none where the row cannot matter.
    fn show(&self, view: &View, row: &[Cell]) -> Option<Result<Vec<Cell>>> {
        if let Err(error) = self.count_scanned() {
            return Some(Err(error));
        }
        let checking = view.work(row);
        if checking > 0
            && let Err(error) = self.work(checking)
        {
            return Some(Err(error));
        }
        if !view.matters(row) {
            return None;
        }
        let cells = view.project(row);
        if let Err(error) = self.work_of_all(of_row(&cells)) {
            return Some(Err(error));
        }
        let beyond = |cell: &Cell| matches!(cell, Cell::Str(text) if !text.is_ascii());
        if self.ascii.get() && cells.iter().any(beyond) {
            return Some(Err(self.stop(Stop::NotAscii)));
        }
        Some(Ok(cells))
    }
}

/// The call that a table stands for.
fn native_of<'n>(natives: &'n [Native], name: &str) -> Option<&'n Native> {
    let place = name.strip_prefix(native::PREFIX)?.parse::<usize>().ok()?;
    natives.get(place)
}

/// Bytes of a cell's text.
pub(crate) fn text_length(cell: &Cell) -> usize {
    match cell {
        Cell::Str(text) => text.len(),
        _ => 0,
    }
}

impl Store for Guard<'_> {
    fn fetch_schema(&self, table_name: &str) -> Result<Option<Schema>> {
        if table_name.starts_with(native::PREFIX) {
            let natives = self.natives.borrow();
            let key_type = native_of(&natives, table_name).map_or_else(native::text_type, Native::key_type);
            return Ok(Some(native::schema(table_name, key_type)));
        }
        Ok(self.schema(table_name).cloned())
    }

    fn fetch_all_schemas(&self) -> Result<Vec<Schema>> {
        Err(self.stop(Stop::Refused))
    }

    /// The engine knows of no key of a table, and asks by one for what a function of ours gives.
    fn fetch_data(&self, table_name: &str, key: &Key) -> Result<Option<Vec<Cell>>> {
        if table_name.starts_with(native::PREFIX) {
            return self.called(table_name, key).map(|cell| Some(vec![Cell::Null, cell]));
        }
        Err(self.stop(Stop::Refused))
    }

    fn scan_data<'b>(&'b self, table_name: &str) -> Result<RowIter<'b>> {
        if let Some(temporary) = self.temporaries.get(table_name) {
            let rows = match &temporary.rows {
                Ok(rows) => rows,
                Err(failure) => {
                    self.failed.replace(Some(failure.clone()));
                    return Err(Error::StorageMsg(String::new()));
                }
            };
            return Ok(Box::new(rows.iter().map(|row| {
                self.count_joined()?;
                self.work_of_all(of_row(row))?;
                Ok((Key::None, row.clone()))
            })));
        }
        let Some(Shown { table, grant, view }) = self.views.get(table_name) else {
            return Err(self.stop(Stop::Refused));
        };
        let shown = move |(number, row): (RowNumber, &Row)| {
            let cells = self.show(view, row)?;
            Some(cells.map(|cells| (Key::U64(number), cells)))
        };
        Ok(Box::new(table.rows_for(grant, view.filter.as_ref()).filter_map(shown)))
    }

    fn fetch_referencings(&self, _table_name: &str) -> Result<Vec<gluesql_core::executor::Referencing>> {
        Ok(Vec::new())
    }
}

impl StoreMut for Guard<'_> {
    fn append_data(&mut self, _table_name: &str, rows: Vec<Vec<Cell>>) -> Result<()> {
        self.staged.get_mut().inserted.extend(rows);
        Ok(())
    }

    fn insert_data(&mut self, _table_name: &str, rows: Vec<(Key, Vec<Cell>)>) -> Result<()> {
        for (key, cells) in rows {
            let Key::U64(number) = key else {
                return Err(self.stop(Stop::Refused));
            };
            self.staged.get_mut().updated.push((number, cells));
        }
        Ok(())
    }

    fn delete_data(&mut self, _table_name: &str, keys: Vec<Key>) -> Result<()> {
        for key in keys {
            let Key::U64(number) = key else {
                return Err(self.stop(Stop::Refused));
            };
            self.staged.get_mut().deleted.push(number);
        }
        Ok(())
    }
}

impl CustomFunction for Guard<'_> {
    fn fetch_function<'b>(&'b self, name: &str) -> Result<Option<&'b Function>> {
        if name != TICK {
            return Err(self.stop(Stop::Refused));
        }
        self.count_joined()?;
        self.work_of_all(1)?;
        Ok(Some(&self.tick))
    }

    fn fetch_all_functions(&self) -> Result<Vec<&Function>> {
        Err(self.stop(Stop::Refused))
    }
}

impl Planner for Guard<'_> {
    /// The engine's own passes that matter here: no table is schemaless and none has a key that
    /// the engine knows of, and ambiguous names were refused before.
    fn plan(&self, statement: StatementPlan) -> Result<StatementPlan> {
        let names = self.views.keys().chain(self.temporaries.keys());
        let schemas: HashMap<String, Schema> =
            names.filter_map(|name| Some((name.clone(), self.schema(name)?.clone()))).collect();
        Ok(plan_aggregate(plan_hash_join(&schemas, statement)))
    }
}

impl AlterTable for Guard<'_> {}
impl CustomFunctionMut for Guard<'_> {}
impl Index for Guard<'_> {}
impl IndexMut for Guard<'_> {}
impl Metadata for Guard<'_> {}
impl Transaction for Guard<'_> {}
