//! Constants, computed once and not for every row.

use gluesql_core::ast::{Expr, Function, Literal};
use gluesql_core::executor::evaluate_stateless;
use gluesql_core::plan::plan_scalar_expr;
use gluesql_core::prelude::Value as Cell;

use crate::native::constant_call;
use crate::panic::caught;
use crate::walk::children;

/// Replaces a cast of a constant, a typed literal, or a call of constants, by its value: what would
/// be computed for every row, computed once. One that fails is left as it is, to fail where a row
/// meets it.
pub(super) fn fold(expression: &mut Expr) {
    if is_call_of_constants(expression) {
        if let Some(value) = constant_call(&plan_scalar_expr(expression.clone())) {
            *expression = Expr::Value(value);
        }
        return;
    }
    if !is_typed_constant(expression) {
        return;
    }
    let plan = plan_scalar_expr(expression.clone());
    let value = caught(|| {
        let evaluated = evaluate_stateless(None, &plan).ok()?;
        Cell::try_from(evaluated).ok()
    });
    if let Some(value) = value.flatten() {
        *expression = Expr::Value(value);
    }
}

fn is_call_of_constants(expression: &mut Expr) -> bool {
    let call = matches!(expression, Expr::Like { .. })
        || matches!(expression, Expr::Function(function) if !matches!(**function, Function::Cast { .. }));
    let mut constant = call;
    if call {
        children(expression, &mut |part| constant &= is_constant(part));
    }
    constant
}

fn is_typed_constant(expression: &Expr) -> bool {
    if matches!(expression, Expr::TypedString { .. }) {
        return true;
    }
    if let Expr::Function(function) = expression
        && let Function::Cast { expr, data_type: _ } = &**function
    {
        return is_constant(expr);
    }
    false
}

fn is_constant(expression: &Expr) -> bool {
    if let Expr::Nested(inside) = expression {
        return is_constant(inside);
    }
    matches!(expression, Expr::Literal(Literal::Number(_) | Literal::QuotedString(_)) | Expr::Value(_))
}
