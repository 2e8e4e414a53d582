//! Conditions: what each form becomes.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value as Literal};
use tribunal_protocol::{Failure, Kind, Value};

use crate::cond::Cond;
use crate::emit;
use crate::rewrite::{Place, Rewriter};
use crate::types::{Node, Term};

impl Rewriter<'_> {
    /// Rewrites a condition.
    pub fn condition(&mut self, expr: &Expr, place: Place<'_>) -> Result<Cond, Failure> {
        match expr {
            Expr::Nested(inner) => self.condition(inner, place),
            Expr::BinaryOp { op: op @ (BinaryOperator::And | BinaryOperator::Or), .. } => {
                let mut parts = Vec::new();
                for part in chain(expr, op) {
                    parts.push(self.condition(part, place)?);
                }
                Ok(if *op == BinaryOperator::And { Cond::All(parts) } else { Cond::Any(parts) })
            }
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(self.condition(expr, place)?.not()),
            Expr::BinaryOp { left, op, right } if is_comparison(op) => {
                if let (Expr::Tuple(left), Expr::Tuple(right)) = (&**left, &**right) {
                    return self.compare_rows(left, op, right, place);
                }
                let left = self.term(left, place)?;
                let right = self.term(right, place)?;
                self.compare(left, op, right)
            }
            Expr::BinaryOp { left, op, right } => match like_operator(op) {
                Some((negated, folded)) => {
                    let cond = self.like(left, right, None, folded, place)?;
                    Ok(cond.not_if(negated))
                }
                None => self.boolean(expr, place),
            },
            Expr::Value(Literal::Boolean(truth)) => Ok(Cond::Const(Some(*truth))),
            Expr::Value(Literal::Null) => Ok(Cond::Const(None)),
            _ if crate::expr::is_condition(expr) => self.predicate(expr, place),
            _ => self.boolean(expr, place),
        }
    }

    /// An expression of kind boolean.
    fn boolean(&mut self, expr: &Expr, place: Place<'_>) -> Result<Cond, Failure> {
        if matches!(expr, Expr::BinaryOp { op: BinaryOperator::Xor, .. }) {
            return Err(Failure::unsupported("XOR"));
        }
        let typed = self.value(expr, place)?;
        match (typed.kind, typed.node) {
            (Kind::Boolean | Kind::Unknown, Node::Literal(Value::Boolean(truth))) => Ok(Cond::Const(Some(truth))),
            (_, Node::Literal(Value::Null)) => Ok(Cond::Const(None)),
            (Kind::Boolean, Node::Expr(expr)) => Ok(Cond::Atom { expr, nullable: typed.nullable }),
            (Kind::Unknown, Node::Expr(_)) => Ok(Cond::Const(None)),
            (kind, _) => {
                Err(Failure::invalid(format!("a condition must be boolean, {kind} given; compare it with something")))
            }
        }
    }

    fn predicate(&mut self, expr: &Expr, place: Place<'_>) -> Result<Cond, Failure> {
        match expr {
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => self.null_test(inner, place),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => Ok(self.null_test(inner, place)?.not()),
            Expr::IsTrue(inner) => self.truth_test(inner, true, place),
            Expr::IsNotTrue(inner) => Ok(self.truth_test(inner, true, place)?.not()),
            Expr::IsFalse(inner) => self.truth_test(inner, false, place),
            Expr::IsNotFalse(inner) => Ok(self.truth_test(inner, false, place)?.not()),
            Expr::IsDistinctFrom(left, right) => Ok(self.same_test(left, right, place)?.not()),
            Expr::IsNotDistinctFrom(left, right) => self.same_test(left, right, place),
            Expr::Between { expr, negated, low, high } => {
                let value = self.term(expr, place)?;
                let again = self.copy_term(&value)?;
                let low = self.term(low, place)?;
                let high = self.term(high, place)?;
                let above = self.compare(value, &BinaryOperator::GtEq, low)?;
                let below = self.compare(again, &BinaryOperator::LtEq, high)?;
                Ok(Cond::All(vec![above, below]).not_if(*negated))
            }
            Expr::InList { expr, list, negated } => Ok(self.in_list(expr, list, place)?.not_if(*negated)),
            Expr::InSubquery { expr, subquery, negated } => {
                Ok(self.in_subquery(expr, subquery, place)?.not_if(*negated))
            }
            Expr::Exists { subquery, negated } => {
                let query = self.exists(subquery, place)?;
                Ok(Cond::sure(Expr::Exists { subquery: Box::new(query), negated: *negated }))
            }
            Expr::AnyOp { left, compare_op, right, .. } => self.any_of(left, compare_op, right, place),
            Expr::AllOp { left, compare_op, right } => {
                // a op ALL (q) is NOT (a opposite-op ANY (q)).
                let opposite = opposite(compare_op)?;
                Ok(self.any_of(left, &opposite, right, place)?.not())
            }
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                let cond = self.like(expr, pattern, escape_char.as_deref(), false, place)?;
                Ok(cond.not_if(*negated))
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                let cond = self.like(expr, pattern, escape_char.as_deref(), true, place)?;
                Ok(cond.not_if(*negated))
            }
            _ => Err(Failure::unsupported("LIKE ANY")),
        }
    }

    fn null_test(&mut self, expr: &Expr, place: Place<'_>) -> Result<Cond, Failure> {
        let typed = match self.term(expr, place)? {
            Term::Value(typed) => typed,
            Term::Span(crate::types::Span::Micros(typed)) => typed,
            Term::Span(_) => return Ok(Cond::Const(Some(false))),
        };
        match typed.node {
            Node::Literal(value) => Ok(Cond::Const(Some(value.is_null()))),
            Node::Expr(expr) => Ok(Cond::sure(emit::is_null(expr))),
        }
    }

    fn truth_test(&mut self, expr: &Expr, wanted: bool, place: Place<'_>) -> Result<Cond, Failure> {
        let cond = self.condition(expr, place)?;
        Ok(Cond::sure(cond.is(wanted)))
    }

    /// Equal, or both NULL: never NULL itself.
    fn same_test(&mut self, left: &Expr, right: &Expr, place: Place<'_>) -> Result<Cond, Failure> {
        let left = self.term(left, place)?.value()?;
        let right = self.term(right, place)?.value()?;
        let (left, right, _) = self.pair_compared(left, right)?;
        let (left_again, right_again) = (self.copy_of(&left)?, self.copy_of(&right)?);
        let equal = self.compare(left.into(), &BinaryOperator::Eq, right.into())?;
        let both = Cond::All(vec![
            Cond::sure(emit::is_null(left_again.expr())),
            Cond::sure(emit::is_null(right_again.expr())),
        ]);
        Ok(Cond::sure(Cond::Any(vec![equal, both]).is(true)))
    }

    /// A copy of a term that will stand in more than one place.
    pub fn copy_term(&mut self, term: &Term) -> Result<Term, Failure> {
        Ok(match term {
            Term::Value(typed) => Term::Value(self.copy_of(typed)?),
            Term::Span(span) => Term::Span(span.clone()),
        })
    }
}

/// The parts of a chain of ANDs or of ORs, in order. Chains can be long: no recursion.
pub fn chain<'a>(expr: &'a Expr, wanted: &BinaryOperator) -> Vec<&'a Expr> {
    let mut parts = Vec::new();
    let mut todo = vec![expr];
    while let Some(next) = todo.pop() {
        match next {
            Expr::BinaryOp { left, op, right } if op == wanted => {
                todo.push(right);
                todo.push(left);
            }
            Expr::Nested(inner) if is_chain(inner, wanted) => todo.push(inner),
            other => parts.push(other),
        }
    }
    parts
}

fn is_chain(expr: &Expr, wanted: &BinaryOperator) -> bool {
    match expr {
        Expr::BinaryOp { op, .. } => op == wanted,
        Expr::Nested(inner) => is_chain(inner, wanted),
        _ => false,
    }
}

/// Whether an operator compares.
pub fn is_comparison(op: &BinaryOperator) -> bool {
    opposite(op).is_ok()
}

/// The comparison that is TRUE where the other is FALSE.
///
/// # Errors
/// `unsupported` where the operator compares nothing.
pub fn opposite(op: &BinaryOperator) -> Result<BinaryOperator, Failure> {
    Ok(match op {
        BinaryOperator::Eq => BinaryOperator::NotEq,
        BinaryOperator::NotEq => BinaryOperator::Eq,
        BinaryOperator::Lt => BinaryOperator::GtEq,
        BinaryOperator::LtEq => BinaryOperator::Gt,
        BinaryOperator::Gt => BinaryOperator::LtEq,
        BinaryOperator::GtEq => BinaryOperator::Lt,
        other => return Err(Failure::unsupported(format!("the operator {other}"))),
    })
}

fn like_operator(op: &BinaryOperator) -> Option<(bool, bool)> {
    match op {
        BinaryOperator::PGLikeMatch => Some((false, false)),
        BinaryOperator::PGILikeMatch => Some((false, true)),
        BinaryOperator::PGNotLikeMatch => Some((true, false)),
        BinaryOperator::PGNotILikeMatch => Some((true, true)),
        _ => None,
    }
}
