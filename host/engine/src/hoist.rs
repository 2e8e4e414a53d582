//! What does not depend on a row runs once: subqueries that refer to nothing outside themselves,
//! and derived tables that are joined. The engine by itself runs the one for every row and the
//! other for every row of what stands before it.
//!
//! A part that fails, or gives too much to keep, is left where it is, to run as the engine runs
//! it. What was read on the way stays counted.

use std::collections::{BTreeMap, BTreeSet};

use gluesql_core::ast::{
    Expr, Function, Join, JoinConstraint, JoinOperator, Projection, Query, Select, SelectItem, SetExpr, Statement,
    TableAlias, TableFactor,
};
use gluesql_core::prelude::{Payload, Value as Cell};
use tribunal_protocol::Failure;

use crate::failure::stopped;
use crate::gate::{Condition, Footprint, Test};
use crate::guard::Guard;
use crate::run::{planned, run};
use crate::tick::capped;
use crate::walk::{children, subquery};

/// Rows of a result that is kept, at most.
const KEPT: u64 = 50_000;
/// A list longer than this is left to the store alone, where the store can tell.
const LONG: usize = 16;

/// Runs what does not depend on a row, and puts the results in its place.
pub(crate) fn hoist(guard: &mut Guard<'_>, statement: &mut Statement, footprint: &Footprint) -> Result<(), Failure> {
    if shadows(statement) {
        return Ok(());
    }
    let mut hoist = Hoist { guard, footprint, known: Vec::new() };
    match statement {
        Statement::Query(query) => hoist.query(query, true),
        Statement::Insert { source, .. } => hoist.query(source, true),
        Statement::Update { assignments, selection, .. } => {
            for assignment in assignments {
                hoist.expression(&mut assignment.value)?;
            }
            selection.iter_mut().try_for_each(|part| hoist.expression(part))
        }
        Statement::Delete { selection, .. } => selection.iter_mut().try_for_each(|part| hoist.expression(part)),
        _ => Ok(()),
    }
}

struct Hoist<'a, 'g> {
    guard: &'a mut Guard<'g>,
    footprint: &'a Footprint,
    /// What ran before, and what it gave: rewrites copy what they need twice.
    known: Vec<Ran>,
}

/// A query that ran, for how many rows at most, and what it gave.
struct Ran {
    query: Query,
    most: u64,
    part: Option<Part>,
}

/// The labels and rows of a part.
#[derive(Clone)]
struct Part {
    labels: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Hoist<'_, '_> {
    /// `outermost`: nothing stands outside this query that its derived tables could refer to.
    fn query(&mut self, query: &mut Query, outermost: bool) -> Result<(), Failure> {
        match &mut query.body {
            SetExpr::Select(select) => self.select(select, outermost)?,
            SetExpr::Values(values) => {
                let mut cells = values.0.iter_mut().flatten();
                cells.try_for_each(|cell| self.expression(cell))?;
            }
        }
        let mut keys = query.order_by.iter_mut();
        keys.try_for_each(|key| self.expression(&mut key.expr))
    }

    fn select(&mut self, select: &mut Select, outermost: bool) -> Result<(), Failure> {
        let joined = !select.from.joins.is_empty();
        self.source(&mut select.from.relation, joined, outermost)?;
        for join in &mut select.from.joins {
            self.source(&mut join.relation, joined, outermost)?;
            let (JoinOperator::Inner(constraint) | JoinOperator::LeftOuter(constraint)) = &mut join.join_operator;
            if let JoinConstraint::On(on) = constraint {
                self.expression(on)?;
            }
        }
        let Projection::SelectItems(items) = &mut select.projection;
        for item in items {
            if let SelectItem::Expr { expr, label: _ } = item {
                self.expression(expr)?;
            }
        }
        let parts = select.selection.iter_mut().chain(&mut select.group_by);
        let mut parts = parts.chain(&mut select.having);
        parts.try_for_each(|part| self.expression(part))?;
        let inner = inner_aliases(&select.from.relation, &select.from.joins);
        if let Some(selection) = &mut select.selection {
            self.leave_to_store(selection, &inner);
        }
        Ok(())
    }

    /// A joined derived table becomes a table that is scanned, and can be joined by hash.
    fn source(&mut self, factor: &mut TableFactor, joined: bool, outermost: bool) -> Result<(), Failure> {
        let TableFactor::Derived { subquery, alias } = factor else {
            return Ok(());
        };
        self.query(subquery, outermost)?;
        if !joined || !(outermost || is_closed(subquery)) {
            return Ok(());
        }
        let Some(Part { labels, rows }) = self.run(subquery, KEPT)? else {
            return Ok(());
        };
        if alias.columns.len() > labels.len() {
            return Ok(());
        }
        let renamed = alias.columns.iter().chain(labels.iter().skip(alias.columns.len()));
        let labels = renamed.cloned().collect();
        let alias = TableAlias { name: std::mem::take(&mut alias.name), columns: Vec::new() };
        *factor = TableFactor::Table { name: self.guard.keep(labels, rows), alias: Some(alias) };
        Ok(())
    }

    fn expression(&mut self, expression: &mut Expr) -> Result<(), Failure> {
        let mut result = Ok(());
        children(expression, &mut |child| {
            if result.is_ok() {
                result = self.expression(child);
            }
        });
        result?;
        let Some(query) = subquery(expression) else {
            return Ok(());
        };
        self.query(query, false)?;
        if is_closed(query) {
            self.constant(expression)?;
        }
        Ok(())
    }

    /// Replaces a subquery that refers to nothing outside itself by what it gives.
    fn constant(&mut self, expression: &mut Expr) -> Result<(), Failure> {
        let value = match &mut *expression {
            Expr::Subquery(query) => self.run(query, 2)?.and_then(|part| single(&part)),
            Expr::Exists { subquery, negated } => {
                let part = self.run_some(subquery)?;
                part.map(|part| Cell::Bool(part.rows.is_empty() == *negated))
            }
            Expr::InSubquery { expr, subquery, negated } => {
                let part = self.run(subquery, KEPT)?;
                if let Some(list) = part.and_then(list) {
                    let listed = Expr::InList { expr: expr.clone(), list, negated: *negated };
                    // NULL IN a list is NULL, and NULL IN a subquery is FALSE to this engine, on
                    // which the rewrites before it rely: under OR a NULL would lose the row.
                    let otherwise = Expr::Value(Cell::Bool(*negated));
                    *expression = Expr::Function(Box::new(Function::Coalesce(vec![listed, otherwise])));
                }
                None
            }
            _ => None,
        };
        if let Some(value) = value {
            *expression = Expr::Value(value);
        }
        Ok(())
    }

    /// Runs a query; none where it fails or gives more than `most` rows.
    fn run(&mut self, query: &Query, most: u64) -> Result<Option<Part>, Failure> {
        let part = self.run_capped(query, most.saturating_add(1))?;
        Ok(part.filter(|part| part.rows.len() as u64 <= most))
    }

    /// Runs a query for its first row alone.
    fn run_some(&mut self, query: &Query) -> Result<Option<Part>, Failure> {
        self.run_capped(query, 1)
    }

    fn run_capped(&mut self, query: &Query, most: u64) -> Result<Option<Part>, Failure> {
        let named = self.by_tables(query);
        if let Some(ran) = self.known.iter().find(|ran| ran.most == most && ran.query == named) {
            return Ok(ran.part.clone());
        }
        let part = self.run_now(query, most)?;
        self.known.push(Ran { query: named, most, part: part.clone() });
        Ok(part)
    }

    /// A query by the names of its tables: the view of a table has another name in every place.
    fn by_tables(&self, query: &Query) -> Query {
        let sources = self.footprint.sources.iter();
        let tables = sources.map(|source| (source.view.clone(), source.table.clone())).collect();
        let mut named = query.clone();
        Names { tables, ..Names::default() }.query(&mut named);
        named
    }

    fn run_now(&mut self, query: &Query, most: u64) -> Result<Option<Part>, Failure> {
        let statement = Statement::Query(query.clone());
        let Ok(plan) = planned(self.guard, statement, &self.footprint.shape) else {
            return Ok(None);
        };
        let payload = run(self.guard, &capped(plan, most));
        if let Some(stop) = self.guard.stopped() {
            return Err(stopped(stop));
        }
        Ok(match payload {
            Ok(Payload::Select { labels, rows }) => Some(Part { labels, rows }),
            _ => None,
        })
    }

    /// Long lists and alternatives in a condition of WHERE, on columns that the store can test
    /// exactly, are left to the store: the engine would go through the whole list for every row,
    /// and look up every LIKE.
    fn leave_to_store(&mut self, condition: &mut Expr, inner: &[String]) {
        match condition {
            Expr::Nested(inside) => self.leave_to_store(inside, inner),
            Expr::BinaryOp { left, op: gluesql_core::ast::BinaryOperator::And, right } => {
                self.leave_to_store(left, inner);
                self.leave_to_store(right, inner);
            }
            Expr::BinaryOp { left: _, op: gluesql_core::ast::BinaryOperator::Or, right: _ } => {
                let Some(alternatives) = Condition::read(condition) else { return };
                let Some(view) = self.view(alternatives.alias(), inner) else { return };
                if self.guard.require_all_of(&view, &alternatives) {
                    *condition = Expr::Value(Cell::Bool(true));
                }
            }
            _ => {
                let Some((expr, list)) = long_list(condition) else { return };
                let constants: Option<Vec<Cell>> = list.iter().map(constant_of).collect();
                let Some(constants) = constants else { return };
                let Expr::CompoundIdentifier { alias, ident } = expr else { return };
                let Some(view) = self.view(alias, inner) else { return };
                if self.guard.require(&view, ident, &Test::In(constants)) {
                    *condition = Expr::Value(Cell::Bool(true));
                }
            }
        }
    }

    /// The view of an alias that stands for one source, which no outer join fills with NULLs.
    fn view(&self, alias: &str, inner: &[String]) -> Option<String> {
        let known = inner.iter().any(|name| name == alias) && self.footprint.is_unique(alias);
        let source = self.footprint.sources.iter().find(|source| known && source.alias == alias);
        source.map(|source| source.view.clone())
    }
}

/// A long IN list by itself, or as a subquery became one.
fn long_list(condition: &Expr) -> Option<(&Expr, &[Expr])> {
    match condition {
        Expr::InList { expr, list, negated: false } if list.len() > LONG => Some((expr, list)),
        Expr::Function(function) => match &**function {
            Function::Coalesce(parts) => match parts.as_slice() {
                [listed, Expr::Value(Cell::Bool(false))] => long_list(listed),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn constant_of(expression: &Expr) -> Option<Cell> {
    match expression {
        Expr::Value(cell) => Some(cell.clone()),
        _ => None,
    }
}

/// The aliases of a FROM that no outer join can fill with NULLs.
fn inner_aliases(relation: &TableFactor, joins: &[Join]) -> Vec<String> {
    let joined = joins.iter().filter_map(|join| match &join.join_operator {
        JoinOperator::Inner(_) => Some(&join.relation),
        JoinOperator::LeftOuter(_) => None,
    });
    let factors = std::iter::once(relation).chain(joined);
    let aliases = factors.filter_map(|factor| match factor {
        TableFactor::Table { alias, .. } => alias.as_ref().map(|alias| alias.name.clone()),
        _ => None,
    });
    aliases.collect()
}

/// The value of a scalar subquery; none where the engine should say what is wrong with it.
fn single(part: &Part) -> Option<Cell> {
    match (part.rows.as_slice(), part.labels.len()) {
        ([], 1) => Some(Cell::Null),
        ([row], 1) => row.first().cloned(),
        _ => None,
    }
}

/// The different values of a subquery of one column. NULL is left out: the engine takes it for
/// equal to nothing, in IN as in NOT IN.
fn list(part: Part) -> Option<Vec<Expr>> {
    if part.labels.len() != 1 {
        return None;
    }
    let mut seen = std::collections::HashSet::new();
    let mut list = Vec::new();
    for cell in part.rows.into_iter().flatten() {
        if matches!(cell, Cell::Null) {
            continue;
        }
        let key = gluesql_core::data::Key::try_from(&cell).ok()?;
        if seen.insert(key) {
            list.push(Expr::Value(cell));
        }
    }
    Some(list)
}

/// Whether every name in a query belongs to a source inside it. A name without a source is taken
/// for one from outside.
fn is_closed(query: &mut Query) -> bool {
    let mut names = Names::default();
    names.query(query);
    !names.bare && names.used.is_subset(&names.defined)
}

#[derive(Default)]
struct Names {
    defined: BTreeSet<String>,
    used: BTreeSet<String>,
    bare: bool,
    /// The aliases in sight.
    visible: Vec<String>,
    shadowed: bool,
    /// What tables are to be called instead.
    tables: BTreeMap<String, String>,
}

/// Whether a source has the alias of another that is in sight where it stands. Where none has, an
/// alias alone tells where a name belongs: sources of one alias are copies of one, side by side.
fn shadows(statement: &mut Statement) -> bool {
    let mut names = Names::default();
    match statement {
        Statement::Query(query) | Statement::Insert { source: query, .. } => names.query(query),
        Statement::Update { table_name, assignments, selection } => {
            names.define(table_name);
            assignments.iter_mut().for_each(|part| names.expression(&mut part.value));
            selection.iter_mut().for_each(|part| names.expression(part));
        }
        Statement::Delete { table_name, selection } => {
            names.define(table_name);
            selection.iter_mut().for_each(|part| names.expression(part));
        }
        _ => {}
    }
    names.shadowed
}

impl Names {
    fn query(&mut self, query: &mut Query) {
        let outside = self.visible.len();
        match &mut query.body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Values(values) => {
                values.0.iter_mut().flatten().for_each(|cell| self.expression(cell));
            }
        }
        for key in &mut query.order_by {
            // A key may be a label of the result.
            if !matches!(key.expr, Expr::Identifier(_)) {
                self.expression(&mut key.expr);
            }
        }
        self.visible.truncate(outside);
    }

    fn select(&mut self, select: &mut Select) {
        self.source(&mut select.from.relation);
        for join in &mut select.from.joins {
            self.source(&mut join.relation);
            let (JoinOperator::Inner(constraint) | JoinOperator::LeftOuter(constraint)) = &mut join.join_operator;
            if let JoinConstraint::On(on) = constraint {
                self.expression(on);
            }
        }
        let Projection::SelectItems(items) = &mut select.projection;
        for item in items {
            if let SelectItem::Expr { expr, label: _ } = item {
                self.expression(expr);
            }
        }
        let parts = select.selection.iter_mut().chain(&mut select.group_by);
        parts.chain(&mut select.having).for_each(|part| self.expression(part));
    }

    fn define(&mut self, alias: &str) {
        self.shadowed |= self.visible.iter().any(|visible| visible == alias);
        self.visible.push(alias.to_owned());
        self.defined.insert(alias.to_owned());
    }

    fn source(&mut self, factor: &mut TableFactor) {
        match factor {
            TableFactor::Table { name, alias } => {
                if let Some(table) = self.tables.get(name) {
                    name.clone_from(table);
                }
                let alias = alias.as_ref().map_or(&*name, |alias| &alias.name);
                self.define(alias);
            }
            TableFactor::Derived { subquery, alias } => {
                self.query(subquery);
                self.define(&alias.name);
            }
            // SELECT without FROM; no name belongs to it.
            TableFactor::Series { .. } => {}
            TableFactor::Dictionary { alias, .. } => self.define(&alias.name),
        }
    }

    fn expression(&mut self, expression: &mut Expr) {
        match &*expression {
            Expr::Identifier(_) => self.bare = true,
            Expr::CompoundIdentifier { alias, ident: _ } => {
                self.used.insert(alias.clone());
            }
            _ => {}
        }
        children(expression, &mut |child| self.expression(child));
        if let Some(query) = subquery(expression) {
            self.query(query);
        }
    }
}
