//! The parts of an expression.

use gluesql_core::ast::{AggregateFunction, CountArgExpr, Expr, Function, Query};

/// Calls `visit` with every expression directly inside `expression`; subqueries are no part of it.
pub(crate) fn children(expression: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match expression {
        Expr::IsNull(inside)
        | Expr::IsNotNull(inside)
        | Expr::Nested(inside)
        | Expr::UnaryOp { expr: inside, .. }
        | Expr::InSubquery { expr: inside, .. }
        | Expr::Interval { expr: inside, .. } => visit(inside),
        Expr::InList { expr, list, .. } => {
            visit(expr);
            list.iter_mut().for_each(visit);
        }
        Expr::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|part| visit(part)),
        Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } | Expr::Regex { expr, pattern, .. } => {
            visit(expr);
            visit(pattern);
        }
        Expr::BinaryOp { left, right, .. } => {
            visit(left);
            visit(right);
        }
        Expr::Case { operand, when_then, else_result } => {
            operand.iter_mut().for_each(|operand| visit(operand));
            for (when, then) in when_then {
                visit(when);
                visit(then);
            }
            else_result.iter_mut().for_each(|otherwise| visit(otherwise));
        }
        Expr::ArrayIndex { obj, indexes } => {
            visit(obj);
            indexes.iter_mut().for_each(visit);
        }
        Expr::Array { elem } => elem.iter_mut().for_each(visit),
        Expr::Function(function) => arguments(function, visit),
        Expr::Aggregate(aggregate) => match &mut aggregate.func {
            AggregateFunction::Count(CountArgExpr::Wildcard) => {}
            AggregateFunction::Count(CountArgExpr::Expr(argument))
            | AggregateFunction::Sum(argument)
            | AggregateFunction::Max(argument)
            | AggregateFunction::Min(argument)
            | AggregateFunction::Avg(argument)
            | AggregateFunction::Variance(argument)
            | AggregateFunction::Stdev(argument) => visit(argument),
        },
        Expr::Identifier(_)
        | Expr::CompoundIdentifier { .. }
        | Expr::Literal(_)
        | Expr::Value(_)
        | Expr::TypedString { .. }
        | Expr::Exists { .. }
        | Expr::Subquery(_) => {}
    }
}

/// The subquery that an expression is made of.
pub(crate) fn subquery(expression: &mut Expr) -> Option<&mut Query> {
    match expression {
        Expr::Subquery(query) | Expr::Exists { subquery: query, .. } | Expr::InSubquery { subquery: query, .. } => {
            Some(query)
        }
        _ => None,
    }
}

/// Calls `visit` with every argument of a function.
#[rustfmt::skip]
fn arguments(function: &mut Function, visit: &mut dyn FnMut(&mut Expr)) {
    use Function as F;
    match function {
        F::Abs(a) | F::Lower(a) | F::Initcap(a) | F::Upper(a) | F::Asin(a) | F::Acos(a)
        | F::Atan(a) | F::Ceil(a) | F::Round(a) | F::Trunc(a) | F::Floor(a) | F::Exp(a) | F::Ln(a)
        | F::Log2(a) | F::Log10(a) | F::Sin(a) | F::Cos(a) | F::Tan(a) | F::Sqrt(a)
        | F::Radians(a) | F::Degrees(a) | F::LastDay(a) | F::Reverse(a) | F::Sign(a)
        | F::Ascii(a) | F::Chr(a) | F::Md5(a) | F::Hex(a) | F::GetX(a) | F::GetY(a)
        | F::IsEmpty(a) | F::Length(a) | F::Entries(a) | F::Keys(a) | F::Values(a) | F::Dedup(a)
        | F::Cast { expr: a, data_type: _ } | F::Extract { expr: a, field: _ } => visit(a),
        F::AddMonth { expr: a, size: b } | F::Left { expr: a, size: b }
        | F::Right { expr: a, size: b } | F::IfNull { expr: a, then: b }
        | F::NullIf { expr1: a, expr2: b } | F::Log { antilog: a, base: b }
        | F::Div { dividend: a, divisor: b } | F::Mod { dividend: a, divisor: b }
        | F::Gcd { left: a, right: b } | F::Lcm { left: a, right: b }
        | F::Power { expr: a, power: b } | F::Repeat { expr: a, num: b }
        | F::Unwrap { expr: a, selector: b } | F::Format { expr: a, format: b }
        | F::ToDate { expr: a, format: b } | F::ToTimestamp { expr: a, format: b }
        | F::ToTime { expr: a, format: b } | F::Position { from_expr: a, sub_expr: b }
        | F::Append { expr: a, value: b } | F::Prepend { expr: a, value: b }
        | F::Skip { expr: a, size: b } | F::Take { expr: a, size: b } | F::Point { x: a, y: b }
        | F::CalcDistance { geometry1: a, geometry2: b } => {
            visit(a);
            visit(b);
        }
        F::Replace { expr: a, old: b, new: c } | F::Slice { expr: a, start: b, length: c } => {
            [a, b, c].into_iter().for_each(visit);
        }
        F::Coalesce(list) | F::Concat(list) | F::Greatest(list)
        | F::Custom { name: _, exprs: list } => list.iter_mut().for_each(visit),
        F::ConcatWs { separator, exprs } => {
            visit(separator);
            exprs.iter_mut().for_each(visit);
        }
        F::Lpad { expr: a, size: b, fill: more } | F::Rpad { expr: a, size: b, fill: more }
        | F::Substr { expr: a, start: b, count: more }
        | F::FindIdx { from_expr: a, sub_expr: b, start: more } => {
            visit(a);
            visit(b);
            more.iter_mut().for_each(visit);
        }
        F::Trim { expr: a, filter_chars: more, trim_where_field: _ }
        | F::Ltrim { expr: a, chars: more } | F::Rtrim { expr: a, chars: more }
        | F::Sort { expr: a, order: more } => {
            visit(a);
            more.iter_mut().for_each(visit);
        }
        F::Splice { list_data: a, begin_index: b, end_index: c, values: more } => {
            [a, b, c].into_iter().for_each(&mut *visit);
            more.iter_mut().for_each(visit);
        }
        F::Rand(more) => more.iter_mut().for_each(visit),
        F::Now() | F::CurrentDate() | F::CurrentTime() | F::CurrentTimestamp() | F::Pi()
        | F::GenerateUuid() => {}
    }
}
