//! Conditions on one column: what the store can tell of a row before the engine sees it.

use gluesql_core::ast::{BinaryOperator, Expr, Literal, UnaryOperator};
use gluesql_core::prelude::Value as Cell;

use super::Footprint;
use crate::native::Pattern;

/// A condition on one column of one source.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// The source's alias.
    pub(crate) alias: String,
    /// The column.
    pub(crate) column: String,
    /// The condition.
    pub(crate) test: Test,
}

/// A condition on one cell.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// A comparison with a constant.
    Compare(BinaryOperator, Cell),
    /// One of some constants.
    In(Vec<Cell>),
    /// NULL (true) or not (false).
    Null(bool),
    /// A text that matches a pattern.
    Like(Pattern),
}

/// Conditions on the columns of one source, under AND and OR.
#[derive(Debug)]
pub(crate) enum Condition {
    /// A condition on one column.
    One(Candidate),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// At least one of both.
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Reads an expression that is nothing else.
    pub(crate) fn read(expression: &Expr) -> Option<Condition> {
        let both = |left: &Expr, right: &Expr| {
            let (left, right) = (Condition::read(left)?, Condition::read(right)?);
            (left.alias() == right.alias()).then(|| (Box::new(left), Box::new(right)))
        };
        if let Expr::Nested(inside) = expression {
            return Condition::read(inside);
        }
        if let Expr::BinaryOp { left, op: BinaryOperator::And, right } = expression {
            return both(left, right).map(|(left, right)| Condition::And(left, right));
        }
        if let Expr::BinaryOp { left, op: BinaryOperator::Or, right } = expression {
            return both(left, right).map(|(left, right)| Condition::Or(left, right));
        }
        candidate(expression).map(Condition::One)
    }

    /// The alias of the source.
    pub(crate) fn alias(&self) -> &str {
        match self {
            Condition::One(candidate) => &candidate.alias,
            Condition::And(left, _) | Condition::Or(left, _) => left.alias(),
        }
    }
}

impl Footprint {
    /// Collects the conditions of a conjunction that are on one column of a source of `aliases`.
    pub(super) fn test<S: AsRef<str>>(&mut self, condition: Option<&Expr>, aliases: &[S]) {
        let Some(condition) = condition else { return };
        if let Expr::Nested(inside) = condition {
            return self.test(Some(inside), aliases);
        }
        if let Expr::BinaryOp { left, op: BinaryOperator::And, right } = condition {
            self.test(Some(left), aliases);
            return self.test(Some(right), aliases);
        }
        if let Some(candidate) = candidate(condition)
            && aliases.iter().any(|alias| alias.as_ref() == candidate.alias)
        {
            self.candidates.push(candidate);
        }
    }
}

fn candidate(condition: &Expr) -> Option<Candidate> {
    let on = |expression: &Expr, test: Test| {
        let (alias, column) = column(expression)?;
        Some(Candidate { alias, column, test })
    };
    if let Expr::BinaryOp { left, op, right } = condition {
        return match (constant(left), constant(right)) {
            (None, Some(constant)) => on(left, Test::Compare(comparison(op)?, constant)),
            (Some(constant), None) => on(right, Test::Compare(turned(op)?, constant)),
            (Some(_), Some(_)) | (None, None) => None,
        };
    }
    if let Expr::InList { expr, list, negated: false } = condition {
        let constants: Option<Vec<Cell>> = list.iter().map(constant).collect();
        return on(expr, Test::In(constants?));
    }
    if let Expr::Like { expr, negated: false, pattern } = condition {
        let Some(Cell::Str(pattern)) = constant(pattern) else { return None };
        return on(expr, Test::Like(Pattern::read(&pattern)?));
    }
    if let Expr::IsNull(inside) = condition {
        return on(inside, Test::Null(true));
    }
    if let Expr::IsNotNull(inside) = condition {
        return on(inside, Test::Null(false));
    }
    // A flag by itself, and its opposite.
    if let Expr::UnaryOp { op: UnaryOperator::Not, expr } = condition {
        return on(expr, Test::Compare(BinaryOperator::Eq, Cell::Bool(false)));
    }
    on(condition, Test::Compare(BinaryOperator::Eq, Cell::Bool(true)))
}

fn column(expression: &Expr) -> Option<(String, String)> {
    if let Expr::Nested(inside) = expression {
        return column(inside);
    }
    if let Expr::CompoundIdentifier { alias, ident } = expression {
        return Some((alias.clone(), ident.clone()));
    }
    None
}

/// A constant whose kind is plain: a number that is no integer takes its kind from elsewhere.
fn constant(expression: &Expr) -> Option<Cell> {
    if let Expr::Nested(inside) = expression {
        return constant(inside);
    }
    if let Expr::Value(cell) = expression {
        return Some(cell.clone());
    }
    if let Expr::Literal(Literal::QuotedString(text)) = expression {
        return Some(Cell::Str(text.clone()));
    }
    if let Expr::Literal(Literal::Number(number)) = expression
        && number.is_integer()
    {
        return bigdecimal::ToPrimitive::to_i64(number).map(Cell::I64);
    }
    None
}

fn comparison(operator: &BinaryOperator) -> Option<BinaryOperator> {
    let compares = matches!(
        operator,
        BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    );
    compares.then(|| operator.clone())
}

/// The comparison with its sides exchanged.
fn turned(operator: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match comparison(operator)? {
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        same @ (BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::Plus
        | BinaryOperator::Minus
        | BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::StringConcat
        | BinaryOperator::And
        | BinaryOperator::Or
        | BinaryOperator::Xor
        | BinaryOperator::BitwiseAnd
        | BinaryOperator::BitwiseShiftLeft
        | BinaryOperator::BitwiseShiftRight
        | BinaryOperator::Arrow) => same,
    })
}
