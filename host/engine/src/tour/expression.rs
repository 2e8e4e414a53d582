//! The parts of an expression of a plan.

use gluesql_core::plan::{AggregateExprPlan, AggregateFunctionPlan, CountArgExprPlan, ExprPlan, FunctionExprPlan};

use super::{Visitor, expression, query};

/// Visits the parts of an expression.
pub(super) fn parts(part: &mut ExprPlan, visitor: &mut dyn Visitor) {
    match part {
        ExprPlan::Subquery(inside) | ExprPlan::Exists { subquery: inside, negated: _ } => {
            if visitor.enters_subqueries() {
                query(inside, visitor);
            }
        }
        ExprPlan::InSubquery { expr, subquery, .. } => {
            expression(expr, visitor);
            if visitor.enters_subqueries() {
                query(subquery, visitor);
            }
        }
        ExprPlan::IsNull(inside)
        | ExprPlan::IsNotNull(inside)
        | ExprPlan::Nested(inside)
        | ExprPlan::UnaryOp { expr: inside, .. }
        | ExprPlan::Interval { expr: inside, .. } => expression(inside, visitor),
        ExprPlan::InList { expr, list, .. } => {
            expression(expr, visitor);
            all(list, visitor);
        }
        ExprPlan::Between { expr, low, high, .. } => {
            all([&mut **expr, &mut **low, &mut **high], visitor);
        }
        ExprPlan::Like { expr, pattern, .. }
        | ExprPlan::ILike { expr, pattern, .. }
        | ExprPlan::Regex { expr, pattern, .. } => all([&mut **expr, &mut **pattern], visitor),
        ExprPlan::BinaryOp { left, right, .. } => all([&mut **left, &mut **right], visitor),
        ExprPlan::Case { operand, when_then, else_result } => {
            for part in operand.iter_mut().chain(else_result) {
                expression(part, visitor);
            }
            for (when, then) in when_then {
                all([when, then], visitor);
            }
        }
        ExprPlan::Function(inside) => function(inside, visitor),
        // What it stands for is computed where the groups are made, and visited there.
        ExprPlan::Aggregate(_)
        | ExprPlan::ArrayIndex { .. }
        | ExprPlan::Array { .. }
        | ExprPlan::Identifier(_)
        | ExprPlan::CompoundIdentifier { .. }
        | ExprPlan::Literal(_)
        | ExprPlan::Value(_)
        | ExprPlan::TypedString { .. } => {}
    }
}

/// Visits the argument of an aggregate.
pub(super) fn aggregate(part: &mut AggregateExprPlan, visitor: &mut dyn Visitor) {
    match &mut part.func {
        AggregateFunctionPlan::Count(CountArgExprPlan::Wildcard) => {}
        AggregateFunctionPlan::Count(CountArgExprPlan::Expr(argument))
        | AggregateFunctionPlan::Sum(argument)
        | AggregateFunctionPlan::Max(argument)
        | AggregateFunctionPlan::Min(argument)
        | AggregateFunctionPlan::Avg(argument)
        | AggregateFunctionPlan::Variance(argument)
        | AggregateFunctionPlan::Stdev(argument) => expression(argument, visitor),
    }
}

/// The functions that the gate lets through.
fn function(part: &mut FunctionExprPlan, visitor: &mut dyn Visitor) {
    use FunctionExprPlan as F;
    match part {
        F::Abs(a)
        | F::Lower(a)
        | F::Initcap(a)
        | F::Upper(a)
        | F::Ceil(a)
        | F::Round(a)
        | F::Trunc(a)
        | F::Floor(a)
        | F::Exp(a)
        | F::Ln(a)
        | F::Log2(a)
        | F::Log10(a)
        | F::Sin(a)
        | F::Cos(a)
        | F::Tan(a)
        | F::Asin(a)
        | F::Acos(a)
        | F::Atan(a)
        | F::Sqrt(a)
        | F::Radians(a)
        | F::Degrees(a)
        | F::LastDay(a)
        | F::Sign(a)
        | F::Reverse(a)
        | F::Length(a)
        | F::Cast { expr: a, .. }
        | F::Extract { expr: a, .. } => all([a], visitor),
        F::AddMonth { expr: a, size: b }
        | F::IfNull { expr: a, then: b }
        | F::NullIf { expr1: a, expr2: b }
        | F::Log { antilog: a, base: b }
        | F::Power { expr: a, power: b }
        | F::Div { dividend: a, divisor: b }
        | F::Mod { dividend: a, divisor: b }
        | F::Gcd { left: a, right: b }
        | F::Lcm { left: a, right: b }
        | F::Format { expr: a, format: b }
        | F::ToDate { expr: a, format: b }
        | F::ToTimestamp { expr: a, format: b }
        | F::Left { expr: a, size: b }
        | F::Right { expr: a, size: b }
        | F::Repeat { expr: a, num: b }
        | F::Position { from_expr: a, sub_expr: b } => all([a, b], visitor),
        F::Coalesce(list) | F::Concat(list) | F::Greatest(list) => all(list, visitor),
        F::ConcatWs { separator, exprs } => all(exprs.iter_mut().chain([separator]), visitor),
        F::Trim { expr, filter_chars: more, .. } | F::Ltrim { expr, chars: more } | F::Rtrim { expr, chars: more } => {
            all(more.iter_mut().chain([expr]), visitor);
        }
        F::Substr { expr, start, count } => all(count.iter_mut().chain([expr, start]), visitor),
        F::Lpad { expr, size, fill } | F::Rpad { expr, size, fill } => {
            all(fill.iter_mut().chain([expr, size]), visitor);
        }
        F::Replace { expr, old, new } => all([expr, old, new], visitor),
        _ => {}
    }
}

fn all<'a>(parts: impl IntoIterator<Item = &'a mut ExprPlan>, visitor: &mut dyn Visitor) {
    parts.into_iter().for_each(|part| expression(part, visitor));
}
