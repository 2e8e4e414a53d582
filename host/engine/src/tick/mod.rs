//! What the plan gets besides: a bound on its result, and ticks on its joins.
//!
//! The store counts the rows that it hands out, but a hash join combines rows that it handed out
//! long ago, and a join of VALUES lists never asks it. So every join of a statement that might
//! combine too many rows gets a condition more, a function that the guard counts.

mod expression;

use bigdecimal::BigDecimal;
use gluesql_core::ast::{BinaryOperator, Literal};
use gluesql_core::plan::{
    AggregationInputPlan, AssignmentPlan, DistinctInputPlan, DistinctPlan, ExprPlan, FilterInputPlan, FilterPlan,
    FunctionExprPlan, HashJoinInputPlan, HashJoinPlan, InnerJoinInputPlan, InnerJoinPlan, JoinConditionInputPlan,
    JoinConditionPlan, LeftOuterJoinInputPlan, LeftOuterJoinPlan, LimitInputPlan, LimitPlan, NestedLoopJoinInputPlan,
    NestedLoopJoinPlan, OffsetInputPlan, OffsetPlan, OrderByExprPlan, ProjectInputPlan, ProjectPlan, ProjectionPlan,
    QueryPlan, SelectItemPlan, SelectOrderByPlan, SourcePlan, StatementPlan, ValuesOrderByPlan, ValuesPlan,
};
use gluesql_core::prelude::Value as Cell;

use self::expression::tick_expression;
use crate::guard::TICK;

/// Combined rows that need no counting: below this a statement ends soon whatever it does.
pub(crate) const FREE: u64 = 2_000_000;

/// Bounds what a query returns: never more than `rows`.
pub(crate) fn capped(plan: StatementPlan, rows: u64) -> StatementPlan {
    let StatementPlan::Query(query) = plan else {
        return plan;
    };
    let count = |rows: u64| ExprPlan::Literal(Literal::Number(rows.into()));
    let input = match query {
        QueryPlan::Limit(LimitPlan { input, count: own }) => {
            // The gate lets whole numbers through and nothing else.
            let more = match &own {
                ExprPlan::Literal(Literal::Number(number)) => *number > BigDecimal::from(rows),
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

/// Adds a tick to every join of a query.
pub(crate) fn ticking(plan: StatementPlan) -> StatementPlan {
    match plan {
        StatementPlan::Query(mut query) => {
            tick_query(&mut query);
            StatementPlan::Query(query)
        }
        StatementPlan::Update { table_name, mut assignments, mut selection } => {
            for AssignmentPlan { value, .. } in &mut assignments {
                tick_expression(value);
            }
            selection.iter_mut().for_each(tick_expression);
            StatementPlan::Update { table_name, assignments, selection }
        }
        StatementPlan::Delete { table_name, mut selection } => {
            selection.iter_mut().for_each(tick_expression);
            StatementPlan::Delete { table_name, selection }
        }
        other => other,
    }
}

fn tick() -> ExprPlan {
    ExprPlan::Function(Box::new(FunctionExprPlan::Custom { name: TICK.to_owned(), exprs: Vec::new() }))
}

fn tick_query(query: &mut QueryPlan) {
    match query {
        QueryPlan::Project(project) => tick_project(project),
        QueryPlan::Values(values) => tick_values(values),
        QueryPlan::SelectOrderBy(order) => tick_ordered(order),
        QueryPlan::ValuesOrderBy(order) => tick_ordered_values(order),
        QueryPlan::Distinct(distinct) => tick_distinct(distinct),
        QueryPlan::Offset(offset) => tick_offset(offset),
        QueryPlan::Limit(LimitPlan { input, count: _ }) => match input {
            LimitInputPlan::Project(project) => tick_project(project),
            LimitInputPlan::Values(values) => tick_values(values),
            LimitInputPlan::SelectOrderBy(order) => tick_ordered(order),
            LimitInputPlan::ValuesOrderBy(order) => tick_ordered_values(order),
            LimitInputPlan::Distinct(distinct) => tick_distinct(distinct),
            LimitInputPlan::Offset(offset) => tick_offset(offset),
        },
    }
}

fn tick_offset(offset: &mut OffsetPlan) {
    match &mut offset.input {
        OffsetInputPlan::Project(project) => tick_project(project),
        OffsetInputPlan::Values(values) => tick_values(values),
        OffsetInputPlan::SelectOrderBy(order) => tick_ordered(order),
        OffsetInputPlan::ValuesOrderBy(order) => tick_ordered_values(order),
        OffsetInputPlan::Distinct(distinct) => tick_distinct(distinct),
    }
}

fn tick_distinct(distinct: &mut DistinctPlan) {
    match &mut distinct.input {
        DistinctInputPlan::Project(project) => tick_project(project),
        DistinctInputPlan::SelectOrderBy(order) => tick_ordered(order),
    }
}

fn tick_ordered(order: &mut SelectOrderByPlan) {
    tick_project(&mut order.input);
    tick_keys(&mut order.exprs);
}

fn tick_ordered_values(order: &mut ValuesOrderByPlan) {
    tick_values(&mut order.input);
    tick_keys(&mut order.exprs);
}

fn tick_keys(keys: &mut [OrderByExprPlan]) {
    keys.iter_mut().for_each(|key| tick_expression(&mut key.expr));
}

fn tick_values(values: &mut ValuesPlan) {
    values.0.iter_mut().flatten().for_each(tick_expression);
}

fn tick_project(project: &mut ProjectPlan) {
    match &mut project.input {
        ProjectInputPlan::Source(source) => tick_source(source),
        ProjectInputPlan::InnerJoin(join) => tick_inner(join),
        ProjectInputPlan::LeftOuterJoin(join) => tick_left(join),
        ProjectInputPlan::Filter(filter) => tick_filter(filter),
        ProjectInputPlan::Aggregation(aggregation) => {
            tick_aggregation(&mut aggregation.input);
            aggregation.group_by.iter_mut().for_each(tick_expression);
        }
        ProjectInputPlan::Having(having) => {
            tick_aggregation(&mut having.input.input);
            having.input.group_by.iter_mut().for_each(tick_expression);
            tick_expression(&mut having.expr);
        }
    }
    if let ProjectionPlan::SelectItems(items) = &mut project.projection {
        for item in items {
            if let SelectItemPlan::Expr { expr, label: _ } = item {
                tick_expression(expr);
            }
        }
    }
}

fn tick_aggregation(input: &mut AggregationInputPlan) {
    match input {
        AggregationInputPlan::Source(source) => tick_source(source),
        AggregationInputPlan::InnerJoin(join) => tick_inner(join),
        AggregationInputPlan::LeftOuterJoin(join) => tick_left(join),
        AggregationInputPlan::Filter(filter) => tick_filter(filter),
    }
}

fn tick_filter(filter: &mut FilterPlan) {
    match &mut filter.input {
        FilterInputPlan::Source(source) => tick_source(source),
        FilterInputPlan::InnerJoin(join) => tick_inner(join),
        FilterInputPlan::LeftOuterJoin(join) => tick_left(join),
    }
    tick_expression(&mut filter.expr);
}

fn tick_source(source: &mut SourcePlan) {
    if let SourcePlan::Derived(derived) = source {
        tick_query(&mut derived.query);
    }
}

/// A nothing of a plan, to take a part out of the tree while it is rebuilt.
fn hollow() -> NestedLoopJoinPlan {
    let source = || {
        SourcePlan::Table(gluesql_core::plan::TableSourcePlan {
            name: String::new(),
            alias: None,
            access: gluesql_core::plan::TableAccessPlan::FullScan,
        })
    };
    NestedLoopJoinPlan { input: NestedLoopJoinInputPlan::Source(source()), right: source() }
}

fn tick_inner(join: &mut InnerJoinPlan) {
    let input = std::mem::replace(&mut join.input, InnerJoinInputPlan::NestedLoop(hollow()));
    join.input = InnerJoinInputPlan::Condition(match input {
        InnerJoinInputPlan::NestedLoop(join) => tick_condition(JoinConditionInputPlan::NestedLoop(join), None),
        InnerJoinInputPlan::Hash(join) => tick_condition(JoinConditionInputPlan::Hash(join), None),
        InnerJoinInputPlan::Condition(JoinConditionPlan { input, expr }) => tick_condition(input, Some(expr)),
    });
}

fn tick_left(join: &mut LeftOuterJoinPlan) {
    let input = std::mem::replace(&mut join.input, LeftOuterJoinInputPlan::NestedLoop(hollow()));
    join.input = LeftOuterJoinInputPlan::Condition(match input {
        LeftOuterJoinInputPlan::NestedLoop(join) => tick_condition(JoinConditionInputPlan::NestedLoop(join), None),
        LeftOuterJoinInputPlan::Hash(join) => tick_condition(JoinConditionInputPlan::Hash(join), None),
        LeftOuterJoinInputPlan::Condition(JoinConditionPlan { input, expr }) => tick_condition(input, Some(expr)),
    });
}

fn tick_condition(mut input: JoinConditionInputPlan, expr: Option<ExprPlan>) -> JoinConditionPlan {
    match &mut input {
        JoinConditionInputPlan::NestedLoop(NestedLoopJoinPlan { input, right }) => {
            match input {
                NestedLoopJoinInputPlan::Source(source) => tick_source(source),
                NestedLoopJoinInputPlan::InnerJoin(join) => tick_inner(join),
                NestedLoopJoinInputPlan::LeftOuterJoin(join) => tick_left(join),
            }
            tick_source(right);
        }
        JoinConditionInputPlan::Hash(HashJoinPlan { input, right, input_key, right_key, right_filter }) => {
            match input {
                HashJoinInputPlan::Source(source) => tick_source(source),
                HashJoinInputPlan::InnerJoin(join) => tick_inner(join),
                HashJoinInputPlan::LeftOuterJoin(join) => tick_left(join),
            }
            tick_source(right);
            tick_expression(input_key);
            tick_expression(right_key);
            right_filter.iter_mut().for_each(tick_expression);
        }
    }
    let expr = match expr {
        None => tick(),
        Some(mut expr) => {
            tick_expression(&mut expr);
            ExprPlan::BinaryOp { left: Box::new(tick()), op: BinaryOperator::And, right: Box::new(expr) }
        }
    };
    JoinConditionPlan { input, expr }
}
