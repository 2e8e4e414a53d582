//! Puts lookups in the place of calls, in a plan that is ready otherwise.

use gluesql_core::ast::{BinaryOperator, DataType, Literal, UnaryOperator};
use gluesql_core::data::Key;
use gluesql_core::plan::{
    AggregateFunctionPlan, DistinctInputPlan, DistinctPlan, ExprPlan, FunctionExprPlan, InnerJoinInputPlan,
    InnerJoinPlan, LimitInputPlan, NestedLoopJoinInputPlan, NestedLoopJoinPlan, OffsetInputPlan, OffsetPlan,
    ProjectInputPlan, ProjectPlan, ProjectionPlan, QueryPlan, SelectItemPlan, SeriesSourcePlan, SourcePlan,
    StatementPlan, TableAccessPlan, TableAliasPlan, TableSourcePlan,
};
use gluesql_core::prelude::Value as Cell;

use tribunal_protocol::Kind;

use super::{Argument, Function, Native, RESULT, call_in, constant, text_type};
use crate::guard::Guard;
use crate::tour::{self, Visitor};

/// Bytes up to which the texts of a result need no measuring.
const MAX_RESULT: u64 = 256 << 20;
/// Bytes up to which the texts of `||` need no measuring.
const SHORT: usize = 1 << 10;
/// A list of constants longer than this is looked up, not gone through.
const LONG: usize = 32;
/// Bytes of a number, a date or a moment as text, at most.
const SCALAR: usize = 40;
/// The table whose lookup gives its key, measured.
pub(crate) const MEASURE: &str = "\0nm";

/// Installs every call of ours in a plan.
pub(crate) fn install(plan: &mut StatementPlan, guard: &Guard<'_>) {
    let mut derived = Derived(false);
    tour::statement(plan, &mut derived);
    // How long a column of a derived table may be is not known.
    let longest = (!derived.0).then(|| guard.longest_text());
    tour::statement(plan, &mut Calls { guard, longest });
}

/// Measures the texts of a result that could be larger than memory: `kinds` are those of its
/// columns, and `rows` how many it may have.
pub(crate) fn measure_outputs(plan: &mut StatementPlan, guard: &Guard<'_>, kinds: &[Option<Kind>], rows: u64) {
    let texts = kinds.iter().filter(|kind| **kind == Some(Kind::Text)).count() as u64;
    let bytes = texts.saturating_mul(rows).saturating_mul(guard.longest_text() as u64);
    let StatementPlan::Query(query) = plan else { return };
    if bytes <= MAX_RESULT {
        return;
    }
    let Some(ProjectionPlan::SelectItems(items)) = projection(query) else { return };
    for (item, kind) in items.iter_mut().zip(kinds) {
        if let (SelectItemPlan::Expr { expr: expr @ ExprPlan::CompoundIdentifier { .. }, .. }, Some(Kind::Text)) =
            (item, kind)
        {
            let text = std::mem::replace(expr, ExprPlan::Value(Cell::Null));
            *expr = lookup(MEASURE.to_owned(), text);
        }
    }
}

/// What a query gives; none for VALUES.
fn projection(query: &mut QueryPlan) -> Option<&mut ProjectionPlan> {
    let project = match query {
        QueryPlan::Project(project) => project,
        QueryPlan::SelectOrderBy(order) => &mut order.input,
        QueryPlan::Distinct(distinct) => of_distinct(distinct),
        QueryPlan::Offset(offset) => of_offset(offset)?,
        QueryPlan::Limit(limit) => match &mut limit.input {
            LimitInputPlan::Project(project) => project,
            LimitInputPlan::SelectOrderBy(order) => &mut order.input,
            LimitInputPlan::Distinct(distinct) => of_distinct(distinct),
            LimitInputPlan::Offset(offset) => of_offset(offset)?,
            LimitInputPlan::Values(_) | LimitInputPlan::ValuesOrderBy(_) => return None,
        },
        QueryPlan::Values(_) | QueryPlan::ValuesOrderBy(_) => return None,
    };
    Some(&mut project.projection)
}

fn of_distinct(distinct: &mut DistinctPlan) -> &mut ProjectPlan {
    match &mut distinct.input {
        DistinctInputPlan::Project(project) => project,
        DistinctInputPlan::SelectOrderBy(order) => &mut order.input,
    }
}

fn of_offset(offset: &mut OffsetPlan) -> Option<&mut ProjectPlan> {
    match &mut offset.input {
        OffsetInputPlan::Project(project) => Some(project),
        OffsetInputPlan::SelectOrderBy(order) => Some(&mut order.input),
        OffsetInputPlan::Distinct(distinct) => Some(of_distinct(distinct)),
        OffsetInputPlan::Values(_) | OffsetInputPlan::ValuesOrderBy(_) => None,
    }
}

/// Whether a derived table is left in a plan.
struct Derived(bool);

impl Visitor for Derived {
    fn derived(&mut self) {
        self.0 = true;
    }
}

struct Calls<'c, 'g> {
    guard: &'c Guard<'g>,
    /// Bytes of a column's text, at most.
    longest: Option<usize>,
}

impl Visitor for Calls<'_, '_> {
    fn expression(&mut self, expression: &mut ExprPlan) {
        if is_concat(expression) {
            return self.measure(expression);
        }
        if let Some(member) = self.member(expression) {
            *expression = member;
            return;
        }
        let Some((function, arguments)) = call_in(expression) else {
            return;
        };
        if arguments.iter().any(|(argument, _)| has_aggregate(argument)) {
            // A lookup does not see the groups. The engine's own function has to do, which counts
            // bytes; one that can make texts longer, or LIKE, which means something else there,
            // cannot.
            match function {
                Function::Slice | Function::Side { .. } | Function::Position | Function::Trim { .. } => {
                    self.guard.allow_ascii_alone();
                }
                Function::Pad { .. }
                | Function::Replace
                | Function::Like(_)
                | Function::LikeComputed
                | Function::Member { .. } => self.guard.refuse(),
            }
            return;
        }
        *expression = self.lookup(function, arguments);
    }
}

impl Calls<'_, '_> {
    fn lookup(&self, function: Function, arguments: Vec<(&ExprPlan, bool)>) -> ExprPlan {
        let mut kinds = Vec::with_capacity(arguments.len());
        let mut given = Vec::with_capacity(arguments.len());
        for (argument, text) in arguments {
            kinds.push(match constant(argument) {
                Some(cell) => Argument::Known(cell),
                None => {
                    given.push((argument.clone(), text));
                    if text { Argument::Text } else { Argument::Integer }
                }
            });
        }
        let name = self.guard.native(Native { function, arguments: kinds });
        lookup(name, key(given))
    }

    /// `expr IN (..)` of many constants of one kind as a lookup.
    fn member(&self, expression: &ExprPlan) -> Option<ExprPlan> {
        let ExprPlan::InList { expr, list, negated } = expression else { return None };
        if list.len() <= LONG || has_aggregate(expr) {
            return None;
        }
        let cells: Vec<Cell> = list.iter().map(constant).collect::<Option<_>>()?;
        let kind = cells.first().and_then(Cell::get_type)?;
        if kind == DataType::Float || cells.iter().any(|cell| cell.get_type().as_ref() != Some(&kind)) {
            return None;
        }
        let keys = cells.iter().map(Key::try_from).collect::<Result<_, _>>().ok()?;
        let name = self.guard.native(Native { function: Function::Member { kind, keys }, arguments: Vec::new() });
        let found = lookup(name, (**expr).clone());
        Some(match negated {
            true => ExprPlan::UnaryOp { op: UnaryOperator::Not, expr: Box::new(found) },
            false => found,
        })
    }

    /// Measures a chain of `||` as a whole: its parts were measured by themselves before.
    fn measure(&self, chain: &mut ExprPlan) {
        operands(chain, &mut |operand| {
            if let Some(inside) = measured(operand) {
                *operand = inside;
            }
        });
        if self.bound(chain).is_some_and(|bytes| bytes <= SHORT) {
            return;
        }
        if has_aggregate(chain) {
            return self.guard.refuse();
        }
        let text = std::mem::replace(chain, ExprPlan::Value(Cell::Null));
        *chain = lookup(MEASURE.to_owned(), text);
    }

    /// Bytes of the text of an expression, at most; none where that is not known.
    fn bound(&self, expr: &ExprPlan) -> Option<usize> {
        let most = |parts: Vec<&ExprPlan>| {
            parts.into_iter().try_fold(0, |most: usize, part| Some(most.max(self.bound(part)?)))
        };
        match expr {
            ExprPlan::Nested(inside) => self.bound(inside),
            ExprPlan::Value(Cell::Str(text)) | ExprPlan::Literal(Literal::QuotedString(text)) => Some(text.len()),
            ExprPlan::Value(_) | ExprPlan::Literal(_) => Some(SCALAR),
            ExprPlan::CompoundIdentifier { .. } => Some(self.longest?.max(SCALAR)),
            ExprPlan::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
                self.bound(left)?.checked_add(self.bound(right)?)
            }
            ExprPlan::Case { operand: _, when_then, else_result } => {
                let thens = when_then.iter().map(|(_, then)| then);
                most(thens.chain(else_result.as_deref()).collect())
            }
            ExprPlan::Aggregate(aggregate) => match &aggregate.func {
                AggregateFunctionPlan::Min(inside) | AggregateFunctionPlan::Max(inside) => self.bound(inside),
                AggregateFunctionPlan::Count(_)
                | AggregateFunctionPlan::Sum(_)
                | AggregateFunctionPlan::Avg(_)
                | AggregateFunctionPlan::Variance(_)
                | AggregateFunctionPlan::Stdev(_) => Some(SCALAR),
            },
            ExprPlan::Function(function) => match &**function {
                FunctionExprPlan::Cast { expr, data_type: _ } => Some(self.bound(expr)?.max(SCALAR)),
                FunctionExprPlan::Coalesce(parts) => most(parts.iter().collect()),
                FunctionExprPlan::Lower(inside) | FunctionExprPlan::Upper(inside) => self.bound(inside)?.checked_mul(3),
                FunctionExprPlan::ConcatWs { separator, exprs } => {
                    let separator = self.bound(separator)?;
                    let parts = exprs.iter();
                    parts
                        .map(|part| self.bound(part))
                        .try_fold(0, |sum: usize, part| sum.checked_add(part?)?.checked_add(separator))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn is_concat(expr: &ExprPlan) -> bool {
    match expr {
        ExprPlan::BinaryOp { op, .. } => *op == BinaryOperator::StringConcat,
        ExprPlan::Function(function) => {
            matches!(**function, FunctionExprPlan::Concat(_) | FunctionExprPlan::ConcatWs { .. })
        }
        _ => false,
    }
}

fn operands(chain: &mut ExprPlan, visit: &mut dyn FnMut(&mut ExprPlan)) {
    match chain {
        ExprPlan::BinaryOp { left, right, .. } => {
            for mut side in [&mut **left, &mut **right] {
                while let ExprPlan::Nested(inside) = side {
                    side = inside;
                }
                visit(side);
            }
        }
        ExprPlan::Function(function) => match &mut **function {
            FunctionExprPlan::Concat(parts) => parts.iter_mut().for_each(visit),
            FunctionExprPlan::ConcatWs { separator, exprs } => {
                exprs.iter_mut().chain([separator]).for_each(visit);
            }
            _ => {}
        },
        _ => {}
    }
}

/// What a lookup measures, where it measures.
fn measured(expr: &ExprPlan) -> Option<ExprPlan> {
    let ExprPlan::Subquery(query) = expr else { return None };
    let QueryPlan::Project(ProjectPlan { input: ProjectInputPlan::InnerJoin(join), .. }) = &**query else {
        return None;
    };
    let InnerJoinInputPlan::NestedLoop(NestedLoopJoinPlan { right: SourcePlan::Table(table), .. }) = &join.input else {
        return None;
    };
    match &table.access {
        TableAccessPlan::PrimaryKey { expr } if table.name == MEASURE => Some(expr.clone()),
        _ => None,
    }
}

/// One text of all arguments that are not known beforehand: a number ends in a colon, and before
/// every text but the last stands its length.
fn key(given: Vec<(ExprPlan, bool)>) -> ExprPlan {
    let last = given.len().saturating_sub(1);
    let mut parts = Vec::with_capacity(given.len() * 3);
    for (place, (argument, text)) in given.into_iter().enumerate() {
        if !text || place < last {
            let number = if text {
                ExprPlan::Function(Box::new(FunctionExprPlan::Length(argument.clone())))
            } else {
                argument.clone()
            };
            let digits = FunctionExprPlan::Cast { expr: number, data_type: text_type() };
            parts.push(ExprPlan::Function(Box::new(digits)));
            parts.push(ExprPlan::Value(Cell::Str(":".to_owned())));
        }
        if text {
            parts.push(argument);
        }
    }
    let concat = |left: ExprPlan, right: ExprPlan| ExprPlan::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::StringConcat,
        right: Box::new(right),
    };
    parts.into_iter().reduce(concat).unwrap_or(ExprPlan::Value(Cell::Str(String::new())))
}

/// `(SELECT r FROM <one row> JOIN name WHERE k = key)`: a table is given the row around it only
/// where it stands on the right of a join.
fn lookup(name: String, key: ExprPlan) -> ExprPlan {
    let one = SourcePlan::Series(SeriesSourcePlan {
        alias: TableAliasPlan { name: "\0one".to_owned(), columns: Vec::new() },
        size: ExprPlan::Literal(Literal::Number(1.into())),
    });
    let access = TableAccessPlan::PrimaryKey { expr: key };
    let join = NestedLoopJoinPlan {
        input: NestedLoopJoinInputPlan::Source(one),
        right: SourcePlan::Table(TableSourcePlan { name, alias: None, access }),
    };
    let item = SelectItemPlan::Expr { expr: ExprPlan::Identifier(RESULT.to_owned()), label: RESULT.to_owned() };
    ExprPlan::Subquery(Box::new(QueryPlan::Project(ProjectPlan {
        input: ProjectInputPlan::InnerJoin(Box::new(InnerJoinPlan { input: InnerJoinInputPlan::NestedLoop(join) })),
        projection: ProjectionPlan::SelectItems(vec![item]),
    })))
}

/// Whether an aggregate of the query around stands in an expression.
fn has_aggregate(expr: &ExprPlan) -> bool {
    struct Found(bool);
    impl Visitor for Found {
        fn expression(&mut self, expression: &mut ExprPlan) {
            self.0 |= matches!(expression, ExprPlan::Aggregate(_));
        }

        fn enters_subqueries(&self) -> bool {
            false
        }
    }
    let mut found = Found(false);
    tour::expression(&mut expr.clone(), &mut found);
    found.0
}
