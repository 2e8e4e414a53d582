//! What a rewritten expression is: its text for the engine, its kind, whether it may be NULL.

use sqlparser::ast::Expr;
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;

/// A rewritten expression that is one value.
#[derive(Clone, Debug)]
pub struct Typed {
    /// A literal, kept as a value so that it can still become what it is compared with, or an
    /// expression of the engine.
    pub node: Node,
    /// Its kind; [`Kind::Unknown`] for NULL alone.
    pub kind: Kind,
    /// Whether it may be NULL. Saying yes is always safe.
    pub nullable: bool,
}

/// The form of a rewritten expression.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "few exist at a time, and most are expressions")]
pub enum Node {
    /// A literal.
    Literal(Value),
    /// Anything else.
    Expr(Expr),
}

/// A rewritten expression: one value, or a stretch of time, which is no value of ours.
#[derive(Clone, Debug)]
pub enum Term {
    /// One value.
    Value(Typed),
    /// A stretch of time.
    Span(Span),
}

/// A stretch of time.
#[derive(Clone, Debug)]
pub enum Span {
    /// A literal: months, and microseconds.
    Fixed {
        /// Calendar months.
        months: i64,
        /// Microseconds.
        micros: i64,
    },
    /// A literal, times an integer expression.
    Scaled {
        /// Calendar months for every one.
        months: i64,
        /// Microseconds for every one.
        micros: i64,
        /// How many.
        count: Typed,
    },
    /// The difference of two timestamps, as microseconds.
    Micros(Typed),
}

impl Typed {
    /// A literal.
    pub fn literal(value: Value) -> Typed {
        Typed { kind: value.kind(), nullable: value.is_null(), node: Node::Literal(value) }
    }

    /// An expression.
    pub fn new(expr: Expr, kind: Kind, nullable: bool) -> Typed {
        Typed { node: Node::Expr(expr), kind, nullable }
    }

    /// An integer literal.
    pub fn integer(number: i64) -> Typed {
        Typed::literal(Value::Integer(number))
    }

    /// The literal, where it is one.
    pub fn value(&self) -> Option<&Value> {
        match &self.node {
            Node::Literal(value) => Some(value),
            Node::Expr(_) => None,
        }
    }

    /// Whether it is the literal NULL.
    pub fn is_null(&self) -> bool {
        self.value().is_some_and(Value::is_null)
    }

    /// Whether it is a literal.
    pub fn is_literal(&self) -> bool {
        self.value().is_some()
    }

    /// The text of a text literal.
    pub fn text(&self) -> Option<&str> {
        match self.value() {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number of an integer literal.
    pub fn number(&self) -> Option<i64> {
        match self.value() {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The expression, literals with their type, so that the engine sees a value of its kind
    /// wherever it passes it on.
    pub fn expr(self) -> Expr {
        match self.node {
            Node::Literal(value) => emit::literal(&value),
            Node::Expr(expr) => expr,
        }
    }

    /// The expression, integers as bare numbers: for places where the engine converts them by
    /// the other operand, or needs them bare.
    pub fn bare(self) -> Expr {
        match self.node {
            Node::Literal(Value::Integer(number)) => emit::number(number),
            _ => self.expr(),
        }
    }
}

impl Term {
    /// The value; a stretch of time is refused.
    ///
    /// # Errors
    /// `unsupported`.
    pub fn value(self) -> Result<Typed, Failure> {
        match self {
            Term::Value(typed) => Ok(typed),
            Term::Span(_) => Err(Failure::unsupported(
                "an interval as a value; add it to a date or take EXTRACT(EPOCH FROM ..) of it",
            )),
        }
    }
}

/// Whether a kind is a number.
pub fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Float | Kind::Decimal)
}

/// The kind that holds both, where there is one: the wider number, the timestamp, the known one.
pub fn wider(left: Kind, right: Kind) -> Option<Kind> {
    match (left, right) {
        (left, right) if left == right => Some(left),
        (Kind::Unknown, kind) | (kind, Kind::Unknown) => Some(kind),
        (Kind::Date, Kind::Timestamp) | (Kind::Timestamp, Kind::Date) => Some(Kind::Timestamp),
        (left, right) if is_number(left) && is_number(right) => {
            Some(if left == Kind::Float || right == Kind::Float { Kind::Float } else { Kind::Decimal })
        }
        _ => None,
    }
}
