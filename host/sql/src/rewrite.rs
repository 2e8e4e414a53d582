//! The state of one rewrite, and what every part of it needs.

use std::collections::BTreeSet;
use std::rc::Rc;

use sqlparser::ast::{Expr, Ident, Query};
use tribunal_protocol::{Failure, Kind, Value};

use crate::cond::Cond;
use crate::scope::Scope;
use crate::types::{Node, Term, Typed, is_number, wider};
use crate::{Catalog, emit};

/// Nodes that a statement may have after the rewrite, at most: some rewrites name an operand
/// twice, and nested ones double.
const MAX_NODES: usize = 20_000;
/// Sources that a statement may have after the rewrite, at most.
const MAX_SOURCES: usize = 200;

/// Rewrites one statement.
pub struct Rewriter<'c> {
    /// What the holder may see.
    pub catalog: &'c dyn Catalog,
    /// What `$1`, `$2`, .. stand for.
    pub parameters: &'c [Value],
    /// Exact names of the tables that were read or written.
    pub tables: BTreeSet<String>,
    /// The queries of WITH that can be named here.
    pub ctes: Vec<Rc<Cte>>,
    /// Whether the current SELECT has an aggregate.
    pub aggregated: bool,
    /// The set operations so far, inner ones first.
    pub sets: Vec<crate::SetOperation>,
    aliases: usize,
    nodes: usize,
    depth: usize,
}

/// A query of WITH.
pub struct Cte {
    /// Its name.
    pub name: String,
    /// The names of its columns, where they are given.
    pub columns: Vec<Ident>,
    /// The query.
    pub query: Query,
    /// What it may name itself.
    pub visible: Vec<Rc<Cte>>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub struct Place<'s> {
    /// What its names mean.
    pub scope: &'s Scope<'s>,
    /// The clause, for messages, and whether it may have aggregates.
    pub clause: Clause,
    /// Output columns that may be named where no column of a source has the name.
    pub outputs: &'s [Output],
}

/// A clause.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clause {
    /// One that may have aggregates: the select list, HAVING, ORDER BY.
    Aggregates,
    /// One that may not.
    Plain(&'static str),
}

/// An output column of a SELECT.
#[derive(Clone)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Whether the name was given, by AS or by being a column's name.
    pub named: bool,
    /// What it is.
    pub typed: Typed,
    /// The expression that it was, where it was one.
    pub source: Option<Expr>,
}

impl<'s> Place<'s> {
    /// A place in a clause that may not have aggregates.
    pub fn plain(scope: &'s Scope<'s>, clause: &'static str) -> Place<'s> {
        Place { scope, clause: Clause::Plain(clause), outputs: &[] }
    }

    /// A place in a clause that may have aggregates.
    pub fn aggregates(scope: &'s Scope<'s>) -> Place<'s> {
        Place { scope, clause: Clause::Aggregates, outputs: &[] }
    }
}

impl<'c> Rewriter<'c> {
    /// A rewriter for one statement.
    pub fn new(catalog: &'c dyn Catalog, parameters: &'c [Value]) -> Rewriter<'c> {
        Rewriter {
            catalog,
            parameters,
            tables: BTreeSet::new(),
            ctes: Vec::new(),
            aggregated: false,
            sets: Vec::new(),
            aliases: 0,
            nodes: 0,
            depth: 0,
        }
    }

    /// A fresh name for a source. No name of a user has this form, so none is captured.
    pub fn alias(&mut self) -> Result<String, Failure> {
        self.aliases += 1;
        if self.aliases > MAX_SOURCES {
            return Err(Failure::unsupported("so many sources in one statement"));
        }
        Ok(format!("@{}", self.aliases))
    }

    /// A copy of a value that will stand in more than one place.
    pub fn copy_of(&mut self, typed: &Typed) -> Result<Typed, Failure> {
        if let Node::Expr(expr) = &typed.node {
            self.grow(emit::size(expr))?;
        }
        Ok(typed.clone())
    }

    /// Counts nodes.
    pub fn grow(&mut self, nodes: usize) -> Result<(), Failure> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(Failure::unsupported("a statement as long as this one is after its rewrite; split it"));
        }
        Ok(())
    }

    /// Runs `work` one level deeper.
    pub fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        self.depth += 1;
        if self.depth > crate::parse::MAX_DEPTH {
            return Err(Failure::unsupported("nesting as deep as this"));
        }
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr, place: Place<'_>) -> Result<Typed, Failure> {
        self.term(expr, place)?.value()
    }

    /// Two values as the same kind.
    pub fn pair(&mut self, left: Typed, right: Typed) -> Result<(Typed, Typed, Kind), Failure> {
        let both = self.unify(vec![left, right])?;
        two(both)
    }

    /// Two values that are compared, as the same kind.
    pub fn pair_compared(&mut self, left: Typed, right: Typed) -> Result<(Typed, Typed, Kind), Failure> {
        let both = self.unify_compared(vec![left, right])?;
        two(both)
    }

    /// Values as the same kind: the wider number; a text literal becomes what the others are.
    pub fn unify(&mut self, values: Vec<Typed>) -> Result<(Vec<Typed>, Kind), Failure> {
        self.unify_as(values, false)
    }

    /// Values that are compared, as the same kind: an integral literal is an integer beside
    /// integers. (Where they are calculated with, `2.0` is no integer: `1 / 2.0` is a half.)
    pub fn unify_compared(&mut self, values: Vec<Typed>) -> Result<(Vec<Typed>, Kind), Failure> {
        self.unify_as(values, true)
    }

    fn unify_as(&mut self, values: Vec<Typed>, compared: bool) -> Result<(Vec<Typed>, Kind), Failure> {
        let kind = common(&values, compared)?;
        let values = values.into_iter().map(|value| coerce(value, kind)).collect::<Result<_, _>>()?;
        Ok((values, kind))
    }

    /// A condition as a value that is TRUE, FALSE or NULL.
    pub fn truth_value(&mut self, cond: Cond) -> Result<Typed, Failure> {
        Ok(match cond {
            Cond::Const(truth) => Typed::literal(truth.map_or(Value::Null, Value::Boolean)),
            Cond::Atom { expr, nullable } => Typed::new(expr, Kind::Boolean, nullable),
            cond if !cond.nullable() => Typed::new(cond.is(true), Kind::Boolean, false),
            cond => {
                let truth = cond.clone().is(true);
                let falsity = cond.is(false);
                self.grow(emit::size(&falsity))?;
                let branches = vec![(truth, emit::boolean(true)), (falsity, emit::boolean(false))];
                Typed::new(emit::case(branches, None), Kind::Boolean, true)
            }
        })
    }
}

fn two((mut both, kind): (Vec<Typed>, Kind)) -> Result<(Typed, Typed, Kind), Failure> {
    match (both.pop(), both.pop()) {
        (Some(right), Some(left)) => Ok((left, right, kind)),
        _ => Err(Failure::invalid("two operands expected")),
    }
}

/// The kind that values have in common.
fn common(values: &[Typed], compared: bool) -> Result<Kind, Failure> {
    let fixed = |value: &&Typed| !value.is_literal();
    let base = fold(values.iter().filter(fixed))?;
    let literal = |value: &&Typed| value.is_literal() && value.text().is_none();
    let mut kind = base;
    for value in values.iter().filter(literal) {
        kind = match (kind, value.value()) {
            (Kind::Integer, Some(Value::Decimal(d))) if compared && base == Kind::Integer && d.is_integer() => {
                Kind::Integer
            }
            (Kind::Boolean, Some(Value::Integer(0 | 1))) => Kind::Boolean,
            _ => join(kind, value.kind)?,
        };
    }
    let text = values.iter().any(|value| value.text().is_some());
    Ok(if text && kind == Kind::Unknown { Kind::Text } else { kind })
}

fn fold<'a>(values: impl Iterator<Item = &'a Typed>) -> Result<Kind, Failure> {
    let mut kind = Kind::Unknown;
    for value in values {
        kind = join(kind, value.kind)?;
    }
    Ok(kind)
}

fn join(left: Kind, right: Kind) -> Result<Kind, Failure> {
    wider(left, right)
        .ok_or_else(|| Failure::invalid(format!("{left} and {right} do not go together; CAST one of them")))
}

/// A value as one of `kind`, where SQL converts by itself: a wider number, a date as its midnight,
/// a literal that reads as one.
pub fn coerce(value: Typed, kind: Kind) -> Result<Typed, Failure> {
    if value.kind == kind || kind == Kind::Unknown {
        return Ok(value);
    }
    if let Some(literal) = value.value() {
        let converted =
            convert(literal, kind).ok_or_else(|| Failure::invalid(format!("{kind} expected, `{literal}` given")))?;
        let mut typed = Typed::literal(converted);
        typed.kind = kind;
        return Ok(typed);
    }
    let allowed = match (value.kind, kind) {
        (Kind::Unknown, _) | (Kind::Date, Kind::Timestamp) => true,
        (from, to) => is_number(from) && is_number(to) && wider(from, to) == Some(to),
    };
    if !allowed {
        return Err(Failure::invalid(format!("{kind} expected, {} given; CAST it", value.kind)));
    }
    let nullable = value.nullable;
    Ok(Typed::new(emit::cast(value.expr(), kind), kind, nullable))
}

/// A literal as one of another kind, without loss; none where there is none.
pub fn convert(value: &Value, kind: Kind) -> Option<Value> {
    use rust_decimal::prelude::ToPrimitive;
    use tribunal_protocol::value::{MICROS_PER_DAY, decimal_of, parse_date, parse_timestamp};
    Some(match (value, kind) {
        (Value::Null, _) => Value::Null,
        (value, kind) if value.kind() == kind => value.clone(),
        (Value::Integer(i), Kind::Decimal) => Value::Decimal((*i).into()),
        (Value::Integer(i), Kind::Float) => Value::Float(i.to_f64()?),
        (Value::Integer(i @ (0 | 1)), Kind::Boolean) => Value::Boolean(*i == 1),
        (Value::Decimal(d), Kind::Integer) if d.is_integer() => Value::Integer(d.to_i64()?),
        (Value::Decimal(d), Kind::Float) => Value::Float(d.to_string().parse().ok()?),
        (Value::Date(days), Kind::Timestamp) => Value::Timestamp(i64::from(*days).checked_mul(MICROS_PER_DAY)?),
        (Value::Text(text), kind) => {
            let text = text.trim();
            match kind {
                Kind::Integer => Value::Integer(text.parse().ok()?),
                Kind::Decimal => Value::Decimal(decimal_of(text)?),
                Kind::Float => Value::Float(text.parse().ok().filter(|x: &f64| x.is_finite())?),
                Kind::Date => Value::Date(parse_date(text)?),
                Kind::Timestamp => Value::Timestamp(parse_timestamp(text)?),
                Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                    "true" | "t" | "yes" | "y" | "on" | "1" => Value::Boolean(true),
                    "false" | "f" | "no" | "n" | "off" | "0" => Value::Boolean(false),
                    _ => return None,
                },
                Kind::Text | Kind::Unknown => return None,
            }
        }
        _ => return None,
    })
}

/// The term of a value.
impl From<Typed> for Term {
    fn from(typed: Typed) -> Term {
        Term::Value(typed)
    }
}
