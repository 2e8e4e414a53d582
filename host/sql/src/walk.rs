//! Walks over rewritten expressions, which are of few forms.

use std::convert::Infallible;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Query, Visit, Visitor};

/// Calls `visit` with every operand of an expression; subqueries are no operands.
pub fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::BinaryOp { left, right, .. } => {
            visit(left);
            visit(right);
        }
        Expr::UnaryOp { expr, .. }
        | Expr::Nested(expr)
        | Expr::IsNull(expr)
        | Expr::IsNotNull(expr)
        | Expr::Cast { expr, .. }
        | Expr::Ceil { expr, .. }
        | Expr::Floor { expr, .. }
        | Expr::Extract { expr, .. }
        | Expr::InSubquery { expr, .. } => visit(expr),
        Expr::InList { expr, list, .. } => {
            visit(expr);
            list.iter().for_each(visit);
        }
        Expr::Like { expr, pattern, .. } => {
            visit(expr);
            visit(pattern);
        }
        Expr::Position { expr, r#in } => {
            visit(expr);
            visit(r#in);
        }
        Expr::Interval(interval) => visit(&interval.value),
        Expr::Function(function) => arguments(function).for_each(visit),
        Expr::Case { operand, conditions, results, else_result } => {
            let outer = operand.iter().chain(else_result).map(AsRef::as_ref);
            conditions.iter().chain(results).chain(outer).for_each(visit);
        }
        _ => {}
    }
}

/// The arguments of a function that are expressions.
pub fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    })
}

/// The subquery that an expression holds itself.
pub fn subquery(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::InSubquery { subquery, .. } | Expr::Exists { subquery, .. } => Some(subquery),
        Expr::Subquery(subquery) => Some(subquery),
        _ => None,
    }
}

/// Calls `visit` with the alias and name of every column in a tree, subqueries included.
pub fn columns(tree: &impl Visit, visit: &mut dyn FnMut(&str, &str)) {
    struct Columns<'a>(&'a mut dyn FnMut(&str, &str));
    impl Visitor for Columns<'_> {
        // It looks at every column: there is nothing to break off for.
        type Break = Infallible;

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Infallible> {
            if let Expr::CompoundIdentifier(parts) = expr
                && let [alias, name] = parts.as_slice()
            {
                (self.0)(&alias.value, &name.value);
            }
            ControlFlow::Continue(())
        }
    }
    let ControlFlow::Continue(()) = tree.visit(&mut Columns(visit));
}

/// Whether a tree names a column of a source for whose alias `inside` says yes.
pub fn touches(tree: &impl Visit, inside: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    columns(tree, &mut |alias, _| found |= inside(alias));
    found
}
