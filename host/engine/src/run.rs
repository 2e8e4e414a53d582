//! One statement, from the prepared syntax tree to its result. The engine is instantiated here and
//! nowhere else.

use std::collections::BTreeMap;

use gluesql_core::ast::Statement;
use gluesql_core::error::Result as EngineResult;
use gluesql_core::plan::StatementPlan;
use gluesql_core::prelude::{Payload, execute, translate_with_params};
use gluesql_core::store::Planner;
use gluesql_core::translate::{IntoParamLiteral, ParamLiteral};
use tribunal_contract::{Effective, TableGrant};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Failure, Kind, Table, Value};
use tribunal_sql::{SetOperation, ast};

use crate::cell::to_cell;
use crate::failure::{failed, panicked, stopped};
use crate::gate::{Footprint, Shape, Source, check};
use crate::guard::{Guard, Limits, Shown};
use crate::hoist::hoist;
use crate::native::{install, measure_outputs};
use crate::output::build;
use crate::panic::caught;
use crate::sets;
use crate::store::{TableState, Tables};
use crate::tick;
use crate::view::View;
use crate::work;

/// A statement and what it runs under.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The state.
    pub tables: &'a Tables,
    /// The contract.
    pub contract: &'a Effective,
    /// What may still be used.
    pub left: &'a Usage,
    /// The statement, prepared.
    pub statement: &'a ast::Statement,
    /// The set operations that it reads, prepared.
    pub sets: &'a [SetOperation],
    /// What `$1`, `$2`, .. stand for.
    pub parameters: &'a [Value],
}

/// What a query gave.
#[derive(Clone, Debug)]
pub struct Queried {
    /// The result, or why there is none.
    pub result: Result<Table, Failure>,
    /// Rows read from tables, failed statements included.
    pub rows_scanned: u64,
    /// The tables that it read, by name, where it came so far.
    pub reads: Vec<String>,
}

/// Runs one query. `kinds` and `names` are those of the output columns, where they are known.
#[must_use]
pub fn query(request: Request<'_>, kinds: &[Option<Kind>], names: &[String]) -> Queried {
    let mut queried = Queried { result: Ok(Table::default()), rows_scanned: 0, reads: Vec::new() };
    queried.result =
        select(request, kinds, &mut queried).and_then(|selected| build(selected, kinds, names, request.left));
    queried
}

/// The labels and rows of a result.
pub(crate) struct Selected {
    pub(crate) labels: Vec<String>,
    pub(crate) rows: Vec<Vec<gluesql_core::prelude::Value>>,
}

fn select(request: Request<'_>, kinds: &[Option<Kind>], queried: &mut Queried) -> Result<Selected, Failure> {
    let mut footprint = Footprint::default();
    let sets = sets::admit(request, &mut footprint)?;
    let mut statement = translated(request.statement, request)?;
    check(&mut statement, &mut footprint)?;
    if footprint.target.is_some() {
        return Err(Failure::invalid("a query expected: SELECT .."));
    }
    let views = reading(request, &footprint)?;
    queried.reads = footprint.tables();
    let mut guard = guard(request, views);
    let hoisted = sets::run_all(&mut guard, sets, &footprint);
    let hoisted = hoisted.and_then(|()| hoist(&mut guard, &mut statement, &footprint));
    let plan = hoisted.and_then(|()| planned(&guard, statement, &footprint.shape));
    queried.rows_scanned = guard.scanned().min(request.left.rows_scanned);
    let mut plan = tick::capped(plan?, request.left.rows_returned.saturating_add(1));
    measure_outputs(&mut plan, &guard, kinds, request.left.rows_returned);
    let payload = run(&mut guard, &plan);
    queried.rows_scanned = guard.scanned().min(request.left.rows_scanned);
    match payload? {
        Payload::Select { labels, rows } => Ok(Selected { labels, rows }),
        _ => Err(Failure::unsupported("the statement gives no rows")),
    }
}

/// Translates a statement with its parameters.
pub(crate) fn translated(statement: &ast::Statement, request: Request<'_>) -> Result<Statement, Failure> {
    let parameters: Option<Vec<ParamLiteral>> = request.parameters.iter().map(parameter).collect();
    let parameters = parameters.ok_or_else(|| Failure::invalid("a parameter is outside the calendar"))?;
    let translate = || translate_with_params(statement, &parameters);
    caught(translate).ok_or_else(panicked)?.map_err(|error| failed(&error))
}

fn parameter(value: &Value) -> Option<ParamLiteral> {
    use gluesql_core::prelude::Value as Cell;
    Some(match to_cell(value)? {
        Cell::Bool(truth) => truth.into_param_literal(),
        Cell::I64(number) => number.into_param_literal(),
        Cell::F64(number) => number.into_param_literal(),
        Cell::Decimal(number) => number.into_param_literal(),
        Cell::Str(text) => text.into_param_literal(),
        Cell::Date(date) => date.into_param_literal(),
        Cell::Timestamp(moment) => moment.into_param_literal(),
        _ => ParamLiteral::null(),
    })
}

/// A table that may be read; a hidden one is as unknown as an absent one.
pub(crate) fn granted<'a>(request: Request<'a>, name: &str) -> Option<(&'a TableState, &'a TableGrant)> {
    let grant = request.contract.table(name)?;
    Some((request.tables.table(name)?, grant))
}

/// What an agent is told of a table that it cannot touch or that is not there.
pub(crate) fn no_table(name: &str) -> Failure {
    Failure::unknown(format!("no table {name}"))
}

/// The views of the sources that a statement reads.
pub(crate) fn reading<'a>(request: Request<'a>, footprint: &Footprint) -> Result<BTreeMap<String, Shown<'a>>, Failure> {
    let mut views = BTreeMap::new();
    for Source { table, view, alias } in &footprint.sources {
        let (state, grant) =
            granted(request, table).filter(|(_, grant)| !grant.readable.is_empty()).ok_or_else(|| no_table(table))?;
        let mut shown = View::reading(state, grant, |column| footprint.mentions(alias, column));
        require(&mut shown, grant, alias, footprint);
        let shown = Shown { table: state, grant, view: shown };
        views.insert(view.clone(), shown);
    }
    Ok(views)
}

/// Adds to a view what a row of it must meet to matter.
pub(crate) fn require(view: &mut View, grant: &TableGrant, alias: &str, footprint: &Footprint) {
    if !footprint.is_unique(alias) {
        return;
    }
    for candidate in &footprint.candidates {
        if candidate.alias == alias {
            view.require(grant, &candidate.column, &candidate.test);
        }
    }
}

/// The guard of one statement.
pub(crate) fn guard<'a>(request: Request<'a>, views: BTreeMap<String, Shown<'a>>) -> Guard<'a> {
    let rows = request.left.rows_scanned;
    let limits = Limits { scanned: rows, joined: rows, work: request.contract.allowance().statement_work };
    Guard::new(views, limits)
}

/// Plans a statement, with ticks where its joins could combine more rows than it may read.
pub(crate) fn planned(guard: &Guard<'_>, statement: Statement, shape: &Shape) -> Result<StatementPlan, Failure> {
    let bound = shape.bound(&|view| guard.count(view));
    let plan = caught(|| guard.plan(StatementPlan::from(statement))).ok_or_else(panicked)?;
    let mut plan = plan.map_err(|error| failed(&error))?;
    guard.weigh(work::weight(&mut plan));
    if !guard.is_little(bound) {
        plan = tick::ticking(plan);
    }
    install(&mut plan, guard);
    if guard.take_refused() {
        return Err(Failure::unsupported(
            "LIKE, REPLACE, LPAD, RPAD or a long || of an aggregate; put the aggregate into a derived table",
        ));
    }
    Ok(plan)
}

/// Executes a plan.
pub(crate) fn run(guard: &mut Guard<'_>, plan: &StatementPlan) -> Result<Payload, Failure> {
    let outcome: Option<EngineResult<Payload>> = caught(|| execute(guard, plan));
    if let Some(failure) = guard.take_failed() {
        return Err(failure);
    }
    match (outcome, guard.stopped()) {
        (Some(Ok(payload)), _) => Ok(payload),
        (_, Some(stop)) => Err(stopped(stop)),
        (Some(Err(error)), None) => Err(failed(&error)),
        (None, None) => Err(panicked()),
    }
}
