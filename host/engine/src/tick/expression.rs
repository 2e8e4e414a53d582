//! Ticks for the joins of subqueries, which stand in expressions.

use gluesql_core::plan::{AggregateFunctionPlan, CountArgExprPlan, ExprPlan, FunctionExprPlan};

use super::tick_query;

/// Subqueries stand in expressions.
pub(super) fn tick_expression(expression: &mut ExprPlan) {
    match expression {
        ExprPlan::Subquery(query) | ExprPlan::Exists { subquery: query, negated: _ } => tick_query(query),
        ExprPlan::InSubquery { expr, subquery, .. } => {
            tick_expression(expr);
            tick_query(subquery);
        }
        ExprPlan::IsNull(inside)
        | ExprPlan::IsNotNull(inside)
        | ExprPlan::Nested(inside)
        | ExprPlan::UnaryOp { expr: inside, .. }
        | ExprPlan::Interval { expr: inside, .. } => tick_expression(inside),
        ExprPlan::InList { expr, list, .. } => {
            tick_expression(expr);
            list.iter_mut().for_each(tick_expression);
        }
        ExprPlan::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| tick_expression(e)),
        ExprPlan::Like { expr, pattern, .. }
        | ExprPlan::ILike { expr, pattern, .. }
        | ExprPlan::Regex { expr, pattern, .. } => {
            tick_expression(expr);
            tick_expression(pattern);
        }
        ExprPlan::BinaryOp { left, right, .. } => {
            tick_expression(left);
            tick_expression(right);
        }
        ExprPlan::Case { operand, when_then, else_result } => {
            for part in operand.iter_mut().chain(else_result) {
                tick_expression(part);
            }
            for (when, then) in when_then {
                tick_expression(when);
                tick_expression(then);
            }
        }
        ExprPlan::Function(function) => tick_function(function),
        ExprPlan::Aggregate(aggregate) => match &mut aggregate.func {
            AggregateFunctionPlan::Count(CountArgExprPlan::Wildcard) => {}
            AggregateFunctionPlan::Count(CountArgExprPlan::Expr(argument))
            | AggregateFunctionPlan::Sum(argument)
            | AggregateFunctionPlan::Max(argument)
            | AggregateFunctionPlan::Min(argument)
            | AggregateFunctionPlan::Avg(argument)
            | AggregateFunctionPlan::Variance(argument)
            | AggregateFunctionPlan::Stdev(argument) => tick_expression(argument),
        },
        ExprPlan::ArrayIndex { .. }
        | ExprPlan::Array { .. }
        | ExprPlan::Identifier(_)
        | ExprPlan::CompoundIdentifier { .. }
        | ExprPlan::Literal(_)
        | ExprPlan::Value(_)
        | ExprPlan::TypedString { .. } => {}
    }
}

/// The functions that the gate lets through.
fn tick_function(function: &mut FunctionExprPlan) {
    use FunctionExprPlan as F;
    match function {
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
        | F::Extract { expr: a, .. } => all([a]),
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
        | F::Position { from_expr: a, sub_expr: b } => all([a, b]),
        F::Coalesce(list) | F::Concat(list) | F::Greatest(list) => all(list),
        F::ConcatWs { separator, exprs } => all(exprs.iter_mut().chain([separator])),
        F::Trim { expr, filter_chars: more, .. } | F::Ltrim { expr, chars: more } | F::Rtrim { expr, chars: more } => {
            all(more.iter_mut().chain([expr]))
        }
        F::Substr { expr, start, count } => all(count.iter_mut().chain([expr, start])),
        F::Lpad { expr, size, fill } | F::Rpad { expr, size, fill } => {
            all(fill.iter_mut().chain([expr, size]));
        }
        F::Replace { expr, old, new } => all([expr, old, new]),
        _ => {}
    }
}

fn all<'a>(expressions: impl IntoIterator<Item = &'a mut ExprPlan>) {
    expressions.into_iter().for_each(tick_expression);
}
