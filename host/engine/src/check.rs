//! Conditions on one cell, checked by the store. They decide nothing: the engine checks them again
//! on every row that passes. They only spare it rows that cannot matter.

use std::collections::HashSet;

use gluesql_core::ast::BinaryOperator;
use gluesql_core::data::Key;
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::Kind;

use crate::cell::{compare, is_null};
use crate::gate::Test;
use crate::native::Pattern;

/// A condition on the cell at one place of a stored row.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    place: usize,
    test: Tested,
}

#[derive(Clone, Debug)]
enum Tested {
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
        Some(Check { place, test })
    }

    /// Whether a row meets it; a comparison with NULL is not met.
    pub(crate) fn holds(&self, row: &[Cell]) -> bool {
        let Some(cell) = row.get(self.place) else {
            return false;
        };
        match &self.test {
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
