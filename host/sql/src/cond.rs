//! Conditions under three-valued logic, made of parts that are right in an engine whose AND and OR
//! give NULL as soon as one side is NULL.

use sqlparser::ast::{BinaryOperator, Expr};

use crate::emit;

/// A condition.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "few exist at a time, and most are expressions")]
pub enum Cond {
    /// TRUE, FALSE or NULL.
    Const(Option<bool>),
    /// An expression that is right by itself.
    Atom {
        /// The expression.
        expr: Expr,
        /// Whether it may be NULL.
        nullable: bool,
    },
    /// TRUE where all are.
    All(Vec<Cond>),
    /// TRUE where any is.
    Any(Vec<Cond>),
    /// The opposite.
    Not(Box<Cond>),
    /// Two expressions that are never NULL: when it is TRUE, and when it is FALSE.
    Split {
        /// When it is TRUE.
        truth: Expr,
        /// When it is FALSE.
        falsity: Expr,
    },
}

impl Cond {
    /// An expression that is never NULL.
    pub fn sure(expr: Expr) -> Cond {
        Cond::Atom { expr, nullable: false }
    }

    /// The opposite.
    pub fn not(self) -> Cond {
        match self {
            Cond::Not(inner) => *inner,
            Cond::Const(truth) => Cond::Const(truth.map(|truth| !truth)),
            other => Cond::Not(Box::new(other)),
        }
    }

    /// The opposite where `negated`.
    pub fn not_if(self, negated: bool) -> Cond {
        if negated { self.not() } else { self }
    }

    /// Whether it may be NULL.
    pub fn nullable(&self) -> bool {
        match self {
            Cond::Const(truth) => truth.is_none(),
            Cond::Atom { nullable, .. } => *nullable,
            Cond::All(parts) | Cond::Any(parts) => parts.iter().any(Cond::nullable),
            Cond::Not(inner) => inner.nullable(),
            Cond::Split { .. } => true,
        }
    }

    /// An expression, never NULL, that is TRUE where the condition is TRUE (`wanted`) or where it
    /// is FALSE (not `wanted`).
    pub fn is(self, wanted: bool) -> Expr {
        match self {
            Cond::Const(truth) => emit::boolean(truth == Some(wanted)),
            Cond::Atom { expr, nullable } => {
                let expr = if wanted { expr } else { opposite(expr) };
                if nullable { emit::call("COALESCE", vec![expr, emit::boolean(false)]) } else { expr }
            }
            Cond::All(parts) => {
                let parts = parts.into_iter().map(|part| part.is(wanted)).collect();
                if wanted { emit::all(parts) } else { emit::any(parts) }
            }
            Cond::Any(parts) => {
                let parts = parts.into_iter().map(|part| part.is(wanted)).collect();
                if wanted { emit::any(parts) } else { emit::all(parts) }
            }
            Cond::Not(inner) => inner.is(!wanted),
            Cond::Split { truth, falsity } => {
                if wanted {
                    truth
                } else {
                    falsity
                }
            }
        }
    }

    /// Expressions of which all are TRUE exactly where the condition is TRUE. They may be NULL:
    /// only for a place that takes NULL for FALSE. Bare comparisons keep the engine's key lookups
    /// and hash joins.
    pub fn filters(self, into: &mut Vec<Expr>) {
        match self {
            Cond::All(parts) => parts.into_iter().for_each(|part| part.filters(into)),
            Cond::Const(Some(true)) => {}
            Cond::Atom { expr, .. } => into.push(expr),
            Cond::Not(inner) => match *inner {
                Cond::Any(parts) => {
                    for part in parts {
                        part.not().filters(into);
                    }
                }
                Cond::Atom { expr, .. } => into.push(opposite(expr)),
                other => into.push(other.is(false)),
            },
            other => into.push(other.is(true)),
        }
    }
}

/// NOT of an expression, NULL staying NULL; comparisons are turned round.
fn opposite(expr: Expr) -> Expr {
    let turned = match &expr {
        Expr::BinaryOp { op, .. } => match op {
            BinaryOperator::Eq => Some(BinaryOperator::NotEq),
            BinaryOperator::NotEq => Some(BinaryOperator::Eq),
            BinaryOperator::Lt => Some(BinaryOperator::GtEq),
            BinaryOperator::LtEq => Some(BinaryOperator::Gt),
            BinaryOperator::Gt => Some(BinaryOperator::LtEq),
            BinaryOperator::GtEq => Some(BinaryOperator::Lt),
            _ => None,
        },
        _ => None,
    };
    match (expr, turned) {
        (Expr::BinaryOp { left, right, .. }, Some(op)) => Expr::BinaryOp { left, op, right },
        (Expr::IsNull(inner), _) => Expr::IsNotNull(inner),
        (Expr::IsNotNull(inner), _) => Expr::IsNull(inner),
        (Expr::Value(sqlparser::ast::Value::Boolean(truth)), _) => emit::boolean(!truth),
        (other, _) => emit::not(other),
    }
}
