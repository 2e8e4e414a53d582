//! What the plan gets besides: a bound on its result, and ticks on its joins.
//!
//! The store counts the rows that it hands out, but a hash join combines rows that it handed out
//! long ago, and a join of VALUES lists never asks it. So every join of a statement that might
//! combine too many rows gets a condition more, a function that the guard counts.

use bigdecimal::BigDecimal;
use gluesql_core::ast::{BinaryOperator, Literal};
use gluesql_core::plan::{
    ExprPlan, FunctionExprPlan, InnerJoinInputPlan, InnerJoinPlan, JoinConditionInputPlan, JoinConditionPlan,
    LeftOuterJoinInputPlan, LeftOuterJoinPlan, LimitInputPlan, LimitPlan, NestedLoopJoinInputPlan, NestedLoopJoinPlan,
    QueryPlan, SourcePlan, StatementPlan, TableAccessPlan, TableSourcePlan,
};
use gluesql_core::prelude::Value as Cell;

use crate::guard::TICK;
use crate::tour::{self, Visitor};

/// Bounds what a query returns: never more than `rows`.
pub(crate) fn capped(plan: StatementPlan, rows: u64) -> StatementPlan {
    let StatementPlan::Query(query) = plan else {
        return plan;
    };
    let count = |rows: u64| ExprPlan::Literal(Literal::Number(rows.into()));
    let input = match query {
        QueryPlan::Limit(LimitPlan { input, count: own }) => {
            let most = BigDecimal::from(rows);
            // The gate lets whole numbers through and nothing else.
            let more = match &own {
                ExprPlan::Literal(Literal::Number(number)) => *number > most,
                ExprPlan::Value(Cell::I64(number)) => u64::try_from(*number).is_ok_and(|n| n > rows),
                _ => false,
            };
            let count = if more { count(rows) } else { own };
            return StatementPlan::Query(QueryPlan::Limit(LimitPlan { input, count }));
        }
        QueryPlan::Project(input) => LimitInputPlan::Project(input),
        QueryPlan::Values(input) => LimitInputPlan::Values(input),
        QueryPlan::SelectOrderBy(input) => LimitInputPlan::SelectOrderBy(input),
        QueryPlan::ValuesOrderBy(input) => LimitInputPlan::ValuesOrderBy(input),
        QueryPlan::Distinct(input) => LimitInputPlan::Distinct(input),
        QueryPlan::Offset(input) => LimitInputPlan::Offset(input),
    };
    StatementPlan::Query(QueryPlan::Limit(LimitPlan { input, count: count(rows) }))
}

/// Adds a tick to every join of a statement.
pub(crate) fn ticking(mut plan: StatementPlan) -> StatementPlan {
    tour::statement(&mut plan, &mut Ticks);
    plan
}

struct Ticks;

impl Visitor for Ticks {
    fn inner(&mut self, join: &mut InnerJoinPlan) {
        let input = std::mem::replace(&mut join.input, InnerJoinInputPlan::NestedLoop(hollow()));
        join.input = InnerJoinInputPlan::Condition(match input {
            InnerJoinInputPlan::NestedLoop(join) => ticked(JoinConditionInputPlan::NestedLoop(join), None),
            InnerJoinInputPlan::Hash(join) => ticked(JoinConditionInputPlan::Hash(join), None),
            InnerJoinInputPlan::Condition(JoinConditionPlan { input, expr }) => ticked(input, Some(expr)),
        });
    }

    fn left(&mut self, join: &mut LeftOuterJoinPlan) {
        let input = std::mem::replace(&mut join.input, LeftOuterJoinInputPlan::NestedLoop(hollow()));
        join.input = LeftOuterJoinInputPlan::Condition(match input {
            LeftOuterJoinInputPlan::NestedLoop(join) => ticked(JoinConditionInputPlan::NestedLoop(join), None),
            LeftOuterJoinInputPlan::Hash(join) => ticked(JoinConditionInputPlan::Hash(join), None),
            LeftOuterJoinInputPlan::Condition(JoinConditionPlan { input, expr }) => ticked(input, Some(expr)),
        });
    }
}

/// A nothing of a plan, to take a part out of the tree while it is rebuilt.
fn hollow() -> NestedLoopJoinPlan {
    let source = || {
        let access = TableAccessPlan::FullScan;
        SourcePlan::Table(TableSourcePlan { name: String::new(), alias: None, access })
    };
    NestedLoopJoinPlan { input: NestedLoopJoinInputPlan::Source(source()), right: source() }
}

fn ticked(input: JoinConditionInputPlan, expr: Option<ExprPlan>) -> JoinConditionPlan {
    let tick = ExprPlan::Function(Box::new(FunctionExprPlan::Custom { name: TICK.to_owned(), exprs: Vec::new() }));
    let expr = match expr {
        None => tick,
        Some(expr) => ExprPlan::BinaryOp { left: Box::new(tick), op: BinaryOperator::And, right: Box::new(expr) },
    };
    JoinConditionPlan { input, expr }
}
