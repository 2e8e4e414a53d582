//! Conditions that the store checks. Most decide nothing: the engine checks them again on every row
//! that passes, and they only spare it rows that cannot matter. Long lists and alternatives, which
//! are slow in the engine, are left to the store alone.

use std::collections::HashSet;

use gluesql_core::ast::BinaryOperator;
use gluesql_core::data::Key;
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::Kind;

use crate::cell::{compare, is_null};
use crate::gate::{Condition, Test};
use crate::guard::text_length;
use crate::native::Pattern;
use crate::work::of_steps;

/// A condition on a stored row.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    /// On the cell at one place.
    Cell { place: usize, test: Tested },
    /// Both hold.
    And(Box<[Check; 2]>),
    /// One holds. Where neither is false nor true in SQL, neither holds here, and the row is not
    /// selected there.
    Or(Box<[Check; 2]>),
}

/// What a cell is held against.
#[derive(Clone, Debug)]
pub(crate) enum Tested {
    Compare(BinaryOperator, Cell),
    In(HashSet<Key>),
    Null(bool),
    Like(Pattern),
}

impl Check {
    /// The check of a test on a column of `kind`; none where the constant is of another kind, or
    /// the engine's comparison is not the plain one.
    pub(crate) fn of(place: usize, kind: Kind, test: &Test) -> Option<Check> {
        let test = match test {
            Test::Compare(operator, constant) => {
                is_plain(kind, constant).then_some(())?;
                Tested::Compare(operator.clone(), constant.clone())
            }
            Test::In(constants) => {
                let plain = constants.iter().all(|constant| is_plain(kind, constant));
                plain.then_some(())?;
                let keys: Result<_, _> = constants.iter().map(Key::try_from).collect();
                Tested::In(keys.ok()?)
            }
            Test::Null(null) => Tested::Null(*null),
            Test::Like(pattern) => {
                (kind == Kind::Text).then_some(())?;
                Tested::Like(pattern.clone())
            }
        };
        Some(Check::Cell { place, test })
    }

    /// The check of conditions under AND and OR; `column` tells the place and the kind of a column.
    /// None where one of them has none.
    pub(crate) fn all_of(condition: &Condition, column: &impl Fn(&str) -> Option<(usize, Kind)>) -> Option<Check> {
        let both = |left: &Condition, right: &Condition| {
            Some(Box::new([Check::all_of(left, column)?, Check::all_of(right, column)?]))
        };
        match condition {
            Condition::One(candidate) => {
                let (place, kind) = column(&candidate.column)?;
                Check::of(place, kind, &candidate.test)
            }
            Condition::And(left, right) => both(left, right).map(Check::And),
            Condition::Or(left, right) => both(left, right).map(Check::Or),
        }
    }

    /// What it takes to check a row, in parts of expressions: long texts against patterns alone.
    pub(crate) fn work(&self, row: &[Cell]) -> u64 {
        match self {
            Check::And(both) | Check::Or(both) => both.iter().map(|check| check.work(row)).fold(0, u64::saturating_add),
            Check::Cell { place, test: Tested::Like(pattern) } => {
                row.get(*place).map_or(0, |cell| of_steps(pattern.steps(text_length(cell) as u64)))
            }
            Check::Cell { .. } => 0,
        }
    }

    /// Whether a row meets it; a comparison with NULL is not met.
    pub(crate) fn holds(&self, row: &[Cell]) -> bool {
        let (place, test) = match self {
            Check::And(both) => return both.iter().all(|check| check.holds(row)),
            Check::Or(both) => return both.iter().any(|check| check.holds(row)),
            Check::Cell { place, test } => (*place, test),
        };
        let Some(cell) = row.get(place) else {
            return false;
        };
        match test {
            Tested::Null(null) => is_null(cell) == *null,
            Tested::Like(pattern) => matches!(cell, Cell::Str(text) if pattern.matches(text)),
            Tested::In(keys) => Key::try_from(cell).is_ok_and(|key| keys.contains(&key)),
            Tested::Compare(operator, constant) => compare(cell, constant).is_some_and(|ordering| match operator {
                BinaryOperator::Eq => ordering.is_eq(),
                BinaryOperator::NotEq => ordering.is_ne(),
                BinaryOperator::Lt => ordering.is_lt(),
                BinaryOperator::LtEq => ordering.is_le(),
                BinaryOperator::Gt => ordering.is_gt(),
                BinaryOperator::GtEq => ordering.is_ge(),
                _ => true,
            }),
        }
    }
}

/// Floats are left to the engine, which takes those for equal that differ by very little.
fn is_plain(kind: Kind, constant: &Cell) -> bool {
    matches!(
        (kind, constant),
        (Kind::Boolean, Cell::Bool(_))
            | (Kind::Integer, Cell::I64(_))
            | (Kind::Decimal, Cell::Decimal(_))
            | (Kind::Text, Cell::Str(_))
            | (Kind::Date, Cell::Date(_))
            | (Kind::Timestamp, Cell::Timestamp(_))
    )
}
