//! Queries of another shape that are meant to give the same.

use tribunal_sql::ast::{BinaryOperator, Expr, Query, Select, SetExpr, UnaryOperator};

use super::tree::{conjuncts, joined, named};

/// A query of another shape that is meant to be right.
pub(super) struct Other {
    pub(super) query: Query,
    pub(super) how: &'static str,
}

/// Queries of another shape that should give the same.
pub(super) fn same(query: &Query) -> Vec<Other> {
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let with = |how, edit: &dyn Fn(&mut Select)| {
        let (mut query, mut select) = (query.clone(), select.as_ref().clone());
        edit(&mut select);
        query.body = Box::new(SetExpr::Select(Box::new(select)));
        Other { query, how }
    };
    let mut others = Vec::new();
    let parts = conjuncts(select.selection.as_ref());
    let turned: Vec<Expr> = parts.iter().rev().map(rephrased).collect();
    if turned != parts && !turned.is_empty() {
        others.push(with("conditions said otherwise, in reverse", &|select| select.selection = joined(turned.clone())));
    }
    let columns: Vec<String> =
        select.projection.iter().filter_map(|item| named(item).map(|(_, alias)| format!("whole.{alias}"))).collect();
    if columns.len() == select.projection.len() && query.order_by.is_none() && query.limit.is_none() {
        let outer = format!("SELECT {} FROM ({query}) AS whole", columns.join(", "));
        if let Ok(tribunal_sql::ast::Statement::Query(outer)) = tribunal_sql::parse_query(&outer) {
            others.push(Other { query: *outer, how: "as a derived table" });
        }
    }
    others
}

/// The same condition in other words.
fn rephrased(part: &Expr) -> Expr {
    let not = |expr: Expr| Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(Expr::Nested(Box::new(expr))) };
    match part {
        Expr::InList { expr, list, negated: false } => {
            let each = list.iter().map(|value| Expr::BinaryOp {
                left: expr.clone(),
                op: BinaryOperator::Eq,
                right: Box::new(value.clone()),
            });
            let either =
                each.reduce(|a, b| Expr::BinaryOp { left: Box::new(a), op: BinaryOperator::Or, right: Box::new(b) });
            either.map_or_else(|| part.clone(), |either| Expr::Nested(Box::new(either)))
        }
        Expr::BinaryOp { left, op, right } => {
            let opposite = match op {
                BinaryOperator::Lt => BinaryOperator::GtEq,
                BinaryOperator::LtEq => BinaryOperator::Gt,
                BinaryOperator::Gt => BinaryOperator::LtEq,
                BinaryOperator::GtEq => BinaryOperator::Lt,
                _ => return part.clone(),
            };
            not(Expr::BinaryOp { left: left.clone(), op: opposite, right: right.clone() })
        }
        other => other.clone(),
    }
}
