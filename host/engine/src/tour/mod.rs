//! A tour of a plan: every join and every expression of it, the parts before the whole.

mod expression;

use gluesql_core::plan::{
    AggregationInputPlan, AssignmentPlan, DistinctInputPlan, DistinctPlan, ExprPlan, FilterInputPlan, FilterPlan,
    HashJoinInputPlan, HashJoinPlan, InnerJoinInputPlan, InnerJoinPlan, JoinConditionInputPlan, JoinConditionPlan,
    LeftOuterJoinInputPlan, LeftOuterJoinPlan, LimitInputPlan, LimitPlan, NestedLoopJoinInputPlan, NestedLoopJoinPlan,
    OffsetInputPlan, OffsetPlan, OrderByExprPlan, ProjectInputPlan, ProjectPlan, ProjectionPlan, QueryPlan,
    SelectItemPlan, SelectOrderByPlan, SourcePlan, StatementPlan, TableAccessPlan, ValuesOrderByPlan, ValuesPlan,
};

/// What is done on a tour. Parts were visited before what they are part of.
pub(crate) trait Visitor {
    /// An inner join.
    fn inner(&mut self, _join: &mut InnerJoinPlan) {}
    /// A left join.
    fn left(&mut self, _join: &mut LeftOuterJoinPlan) {}
    /// An expression. Those in VALUES lists are left out: the engine computes them without a
    /// store.
    fn expression(&mut self, _expression: &mut ExprPlan) {}
    /// A derived table.
    fn derived(&mut self) {}
    /// Whether subqueries in expressions are visited.
    fn enters_subqueries(&self) -> bool {
        true
    }
}

/// Visits all of a statement.
pub(crate) fn statement(plan: &mut StatementPlan, visitor: &mut dyn Visitor) {
    match plan {
        StatementPlan::Query(part) | StatementPlan::Insert { source: part, .. } => query(part, visitor),
        StatementPlan::Update { table_name: _, assignments, selection } => {
            for AssignmentPlan { value, .. } in assignments {
                expression(value, visitor);
            }
            selection.iter_mut().for_each(|part| expression(part, visitor));
        }
        StatementPlan::Delete { table_name: _, selection } => {
            selection.iter_mut().for_each(|part| expression(part, visitor));
        }
        _ => {}
    }
}

/// Visits an expression and its parts.
pub(crate) fn expression(part: &mut ExprPlan, visitor: &mut dyn Visitor) {
    expression::parts(part, visitor);
    visitor.expression(part);
}

fn query(part: &mut QueryPlan, visitor: &mut dyn Visitor) {
    match part {
        QueryPlan::Project(part) => project(part, visitor),
        QueryPlan::Values(part) => values(part, visitor),
        QueryPlan::SelectOrderBy(part) => ordered(part, visitor),
        QueryPlan::ValuesOrderBy(part) => ordered_values(part, visitor),
        QueryPlan::Distinct(part) => distinct(part, visitor),
        QueryPlan::Offset(part) => offset(part, visitor),
        QueryPlan::Limit(LimitPlan { input, count: _ }) => match input {
            LimitInputPlan::Project(part) => project(part, visitor),
            LimitInputPlan::Values(part) => values(part, visitor),
            LimitInputPlan::SelectOrderBy(part) => ordered(part, visitor),
            LimitInputPlan::ValuesOrderBy(part) => ordered_values(part, visitor),
            LimitInputPlan::Distinct(part) => distinct(part, visitor),
            LimitInputPlan::Offset(part) => offset(part, visitor),
        },
    }
}

fn offset(part: &mut OffsetPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        OffsetInputPlan::Project(part) => project(part, visitor),
        OffsetInputPlan::Values(part) => values(part, visitor),
        OffsetInputPlan::SelectOrderBy(part) => ordered(part, visitor),
        OffsetInputPlan::ValuesOrderBy(part) => ordered_values(part, visitor),
        OffsetInputPlan::Distinct(part) => distinct(part, visitor),
    }
}

fn distinct(part: &mut DistinctPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        DistinctInputPlan::Project(part) => project(part, visitor),
        DistinctInputPlan::SelectOrderBy(part) => ordered(part, visitor),
    }
}

fn ordered(part: &mut SelectOrderByPlan, visitor: &mut dyn Visitor) {
    project(&mut part.input, visitor);
    keys(&mut part.exprs, visitor);
}

fn ordered_values(part: &mut ValuesOrderByPlan, visitor: &mut dyn Visitor) {
    values(&mut part.input, visitor);
    keys(&mut part.exprs, visitor);
}

fn keys(keys: &mut [OrderByExprPlan], visitor: &mut dyn Visitor) {
    keys.iter_mut().for_each(|key| expression(&mut key.expr, visitor));
}

/// The engine computes VALUES without a store: neither a tick nor a lookup could stand there.
fn values(_part: &mut ValuesPlan, _visitor: &mut dyn Visitor) {}

fn project(part: &mut ProjectPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        ProjectInputPlan::Source(part) => source(part, visitor),
        ProjectInputPlan::InnerJoin(part) => inner(part, visitor),
        ProjectInputPlan::LeftOuterJoin(part) => left(part, visitor),
        ProjectInputPlan::Filter(part) => filter(part, visitor),
        ProjectInputPlan::Aggregation(part) => {
            aggregation(&mut part.input, visitor);
            part.group_by.iter_mut().for_each(|key| expression(key, visitor));
            part.aggregate_slots.iter_mut().for_each(|slot| expression::aggregate(slot, visitor));
        }
        ProjectInputPlan::Having(part) => {
            aggregation(&mut part.input.input, visitor);
            part.input.group_by.iter_mut().for_each(|key| expression(key, visitor));
            part.input.aggregate_slots.iter_mut().for_each(|slot| expression::aggregate(slot, visitor));
            expression(&mut part.expr, visitor);
        }
    }
    if let ProjectionPlan::SelectItems(items) = &mut part.projection {
        for item in items {
            if let SelectItemPlan::Expr { expr, label: _ } = item {
                expression(expr, visitor);
            }
        }
    }
}

fn aggregation(part: &mut AggregationInputPlan, visitor: &mut dyn Visitor) {
    match part {
        AggregationInputPlan::Source(part) => source(part, visitor),
        AggregationInputPlan::InnerJoin(part) => inner(part, visitor),
        AggregationInputPlan::LeftOuterJoin(part) => left(part, visitor),
        AggregationInputPlan::Filter(part) => filter(part, visitor),
    }
}

fn filter(part: &mut FilterPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        FilterInputPlan::Source(part) => source(part, visitor),
        FilterInputPlan::InnerJoin(part) => inner(part, visitor),
        FilterInputPlan::LeftOuterJoin(part) => left(part, visitor),
    }
    expression(&mut part.expr, visitor);
}

fn source(part: &mut SourcePlan, visitor: &mut dyn Visitor) {
    match part {
        SourcePlan::Derived(derived) => {
            query(&mut derived.query, visitor);
            visitor.derived();
        }
        SourcePlan::Table(table) => match &mut table.access {
            TableAccessPlan::PrimaryKey { expr } => expression(expr, visitor),
            TableAccessPlan::FullScan | TableAccessPlan::Index { .. } => {}
        },
        SourcePlan::Series(_) | SourcePlan::Dictionary(_) => {}
    }
}

fn inner(join: &mut InnerJoinPlan, visitor: &mut dyn Visitor) {
    match &mut join.input {
        InnerJoinInputPlan::NestedLoop(part) => nested_loop(part, visitor),
        InnerJoinInputPlan::Hash(part) => hash(part, visitor),
        InnerJoinInputPlan::Condition(part) => condition(part, visitor),
    }
    visitor.inner(join);
}

fn left(join: &mut LeftOuterJoinPlan, visitor: &mut dyn Visitor) {
    match &mut join.input {
        LeftOuterJoinInputPlan::NestedLoop(part) => nested_loop(part, visitor),
        LeftOuterJoinInputPlan::Hash(part) => hash(part, visitor),
        LeftOuterJoinInputPlan::Condition(part) => condition(part, visitor),
    }
    visitor.left(join);
}

fn condition(part: &mut JoinConditionPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        JoinConditionInputPlan::NestedLoop(part) => nested_loop(part, visitor),
        JoinConditionInputPlan::Hash(part) => hash(part, visitor),
    }
    expression(&mut part.expr, visitor);
}

fn nested_loop(part: &mut NestedLoopJoinPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        NestedLoopJoinInputPlan::Source(part) => source(part, visitor),
        NestedLoopJoinInputPlan::InnerJoin(part) => inner(part, visitor),
        NestedLoopJoinInputPlan::LeftOuterJoin(part) => left(part, visitor),
    }
    source(&mut part.right, visitor);
}

fn hash(part: &mut HashJoinPlan, visitor: &mut dyn Visitor) {
    match &mut part.input {
        HashJoinInputPlan::Source(part) => source(part, visitor),
        HashJoinInputPlan::InnerJoin(part) => inner(part, visitor),
        HashJoinInputPlan::LeftOuterJoin(part) => left(part, visitor),
    }
    source(&mut part.right, visitor);
    expression(&mut part.input_key, visitor);
    expression(&mut part.right_key, visitor);
    part.right_filter.iter_mut().for_each(|part| expression(part, visitor));
}
