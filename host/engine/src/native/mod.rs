//! Functions of ours that the engine calls. It takes none from outside, and its own functions of
//! texts count bytes, may panic, and grow texts without a bound; its LIKE compiles a regular
//! expression for every row. But it looks rows up by their key: so a call becomes a lookup in a
//! table that is not there, the arguments are the key, and the guard computes the row.

mod install;
mod pattern;
mod text;

use std::collections::HashSet;

use gluesql_core::ast::{ColumnDef, ColumnUniqueOption, DataType, Literal};
use gluesql_core::data::{Key, Schema};
use gluesql_core::plan::{ExprPlan, FunctionExprPlan};
use gluesql_core::prelude::Value as Cell;
use tribunal_protocol::Kind;

pub(crate) use install::{MEASURE, install, measure_outputs};
pub(crate) use pattern::Pattern;

use crate::cell::data_type;
use crate::work::of_steps;

/// Bytes of one text, at most.
pub(crate) const MAX_TEXT: usize = 256 << 10;
/// What the names of these tables begin with; no table of a state has such a name.
pub(crate) const PREFIX: &str = "\0n";
/// The column that holds the result.
const RESULT: &str = "r";
/// The column that is looked up by.
const KEY: &str = "k";

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Function {
    /// `text LIKE` a known pattern.
    Like(Pattern),
    /// `text LIKE pattern`.
    LikeComputed,
    /// `SUBSTR(text, start[, count])`.
    Slice,
    /// `LEFT(text, count)` or `RIGHT`.
    Side { left: bool },
    /// `POSITION(part IN text)`.
    Position,
    /// `TRIM(text, set)`.
    Trim { left: bool, right: bool },
    /// `LPAD(text, length, fill)` or `RPAD`.
    Pad { left: bool },
    /// `REPLACE(text, old, new)`.
    Replace,
    /// `value IN (..)` of a long list, which the engine would go through for every row.
    Member { kind: DataType, keys: HashSet<Key> },
}

/// An argument of a call: known beforehand, or part of the key.
#[derive(Clone, Debug, PartialEq)]
enum Argument {
    Known(Cell),
    Text,
    Integer,
}

/// One call of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Native {
    function: Function,
    arguments: Vec<Argument>,
}

/// Why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// An argument has no meaning.
    Argument,
    /// A text would be too long.
    TooLong,
}

impl Native {
    /// The type of the key.
    pub(crate) fn key_type(&self) -> DataType {
        match &self.function {
            Function::Member { kind, keys: _ } => kind.clone(),
            _ => text_type(),
        }
    }

    /// What the call for a key is of work, at most, in parts of expressions.
    pub(crate) fn work(&self, key: &Key) -> u64 {
        let Key::Str(text) = key else { return 1 };
        let known = self.arguments.iter().map(|argument| match argument {
            Argument::Known(Cell::Str(text)) => text.len(),
            Argument::Known(_) | Argument::Text | Argument::Integer => 0,
        });
        let known: u64 = known.map(|bytes| bytes as u64).sum();
        let bytes = text.len() as u64;
        let steps = match &self.function {
            Function::Like(pattern) => pattern.steps(bytes),
            // Every character of the one may be held against every one of the other. Where both
            // lie in the key, it begins with the length of the first.
            Function::LikeComputed | Function::Trim { .. } if known > 0 => bytes.saturating_mul(known),
            Function::LikeComputed | Function::Trim { .. } => {
                let first = number(&mut text.as_str()).and_then(|length| u64::try_from(length).ok());
                bytes.saturating_mul(first.unwrap_or(bytes).max(1))
            }
            Function::Slice
            | Function::Side { .. }
            | Function::Position
            | Function::Pad { .. }
            | Function::Replace
            | Function::Member { .. } => bytes.saturating_add(known),
        };
        of_steps(steps).saturating_add(1)
    }

    /// The result for a key; NULL for NULL.
    pub(crate) fn call(&self, key: &Key) -> Result<Cell, Wrong> {
        let mut rest = match (&self.function, key) {
            (_, Key::None) => return Ok(Cell::Null),
            (Function::Member { keys, kind: _ }, key) => return Ok(Cell::Bool(keys.contains(key))),
            (_, Key::Str(text)) => text.as_str(),
            _ => return Err(Wrong::Argument),
        };
        let last = self.arguments.iter().rposition(|argument| !matches!(argument, Argument::Known(_)));
        let mut cells = Vec::with_capacity(self.arguments.len());
        for (place, argument) in self.arguments.iter().enumerate() {
            cells.push(match argument {
                Argument::Known(cell) => cell.clone(),
                Argument::Text if Some(place) == last => Cell::Str(std::mem::take(&mut rest).to_owned()),
                Argument::Integer => Cell::I64(number(&mut rest).ok_or(Wrong::Argument)?),
                Argument::Text => {
                    let length = number(&mut rest).and_then(|length| usize::try_from(length).ok());
                    let end =
                        length.and_then(|length| rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(length));
                    let (text, behind) = rest.split_at_checked(end.ok_or(Wrong::Argument)?).ok_or(Wrong::Argument)?;
                    rest = behind;
                    Cell::Str(text.to_owned())
                }
            });
        }
        self.function.of(&cells)
    }
}

/// A number that ends in a colon, taken off a key.
fn number(rest: &mut &str) -> Option<i64> {
    let (digits, behind) = rest.split_once(':')?;
    *rest = behind;
    digits.parse().ok()
}

impl Function {
    /// The result for arguments, of which none but a missing one is NULL.
    fn of(&self, cells: &[Cell]) -> Result<Cell, Wrong> {
        if cells.iter().any(|cell| matches!(cell, Cell::Null)) {
            return Ok(Cell::Null);
        }
        let cell = match (self, cells) {
            (Function::Like(pattern), [Cell::Str(text)]) => Some(Cell::Bool(pattern.matches(text))),
            (Function::LikeComputed, [Cell::Str(pattern), Cell::Str(text)]) => {
                Pattern::read(pattern).map(|pattern| Cell::Bool(pattern.matches(text)))
            }
            (Function::Slice, [Cell::I64(start), Cell::Str(text)]) => text::slice(text, *start, None).map(Cell::Str),
            (Function::Slice, [Cell::I64(start), Cell::I64(count), Cell::Str(text)]) => {
                text::slice(text, *start, Some(*count)).map(Cell::Str)
            }
            (Function::Side { left }, [Cell::I64(count), Cell::Str(text)]) => {
                text::side(text, *count, *left).map(Cell::Str)
            }
            (Function::Position, [Cell::Str(part), Cell::Str(text)]) => Some(Cell::I64(text::position(text, part))),
            (Function::Trim { left, right }, [Cell::Str(set), Cell::Str(text)]) => {
                Some(Cell::Str(text::trimmed(text, set, *left, *right)))
            }
            (Function::Pad { left }, [Cell::I64(length), Cell::Str(fill), Cell::Str(text)]) => {
                let padded = text::padded(text, *length, fill, *left, MAX_TEXT);
                return Ok(Cell::Str(padded.ok_or(Wrong::TooLong)?));
            }
            (Function::Replace, [Cell::Str(old), Cell::Str(new), Cell::Str(text)]) => {
                let replaced = text::replaced(text, old, new, MAX_TEXT);
                return Ok(Cell::Str(replaced.ok_or(Wrong::TooLong)?));
            }
            _ => None,
        };
        cell.ok_or(Wrong::Argument)
    }
}

/// A call in an expression of the engine: the function, and its arguments in our order, the text
/// last; `true` for those that are texts. None where it is none of ours.
fn call_in(expr: &ExprPlan) -> Option<(Function, Vec<(&ExprPlan, bool)>)> {
    use FunctionExprPlan as F;
    if let ExprPlan::Like { expr, negated: false, pattern } = expr {
        let known = match constant(pattern) {
            Some(Cell::Str(pattern)) => Pattern::read(&pattern),
            _ => None,
        };
        return Some(match known {
            Some(pattern) => (Function::Like(pattern), vec![(expr, true)]),
            None => (Function::LikeComputed, vec![(pattern, true), (expr, true)]),
        });
    }
    let ExprPlan::Function(function) = expr else {
        return None;
    };
    Some(match &**function {
        F::Substr { expr, start, count } => {
            let numbers = std::iter::once(start).chain(count).map(|number| (number, false));
            (Function::Slice, numbers.chain([(expr, true)]).collect())
        }
        F::Left { expr, size } => (Function::Side { left: true }, vec![(size, false), (expr, true)]),
        F::Right { expr, size } => (Function::Side { left: false }, vec![(size, false), (expr, true)]),
        F::Position { from_expr, sub_expr } => (Function::Position, vec![(sub_expr, true), (from_expr, true)]),
        F::Ltrim { expr, chars: Some(set) } => {
            (Function::Trim { left: true, right: false }, vec![(set, true), (expr, true)])
        }
        F::Rtrim { expr, chars: Some(set) } => {
            (Function::Trim { left: false, right: true }, vec![(set, true), (expr, true)])
        }
        F::Lpad { expr, size, fill: Some(fill) } => {
            (Function::Pad { left: true }, vec![(size, false), (fill, true), (expr, true)])
        }
        F::Rpad { expr, size, fill: Some(fill) } => {
            (Function::Pad { left: false }, vec![(size, false), (fill, true), (expr, true)])
        }
        F::Replace { expr, old, new } => (Function::Replace, vec![(old, true), (new, true), (expr, true)]),
        _ => return None,
    })
}

/// The value of a constant.
fn constant(expr: &ExprPlan) -> Option<Cell> {
    match expr {
        ExprPlan::Nested(inside) => constant(inside),
        ExprPlan::Value(cell) => Some(cell.clone()),
        ExprPlan::Literal(Literal::QuotedString(text)) => Some(Cell::Str(text.clone())),
        ExprPlan::Literal(Literal::Number(number)) if number.is_integer() => {
            bigdecimal::ToPrimitive::to_i64(number).map(Cell::I64)
        }
        _ => None,
    }
}

/// The result of a call of constants; none where it is no call of ours, or has no result.
pub(crate) fn constant_call(expr: &ExprPlan) -> Option<Cell> {
    let (function, arguments) = call_in(expr)?;
    let cells: Option<Vec<Cell>> = arguments.iter().map(|(argument, _)| constant(argument)).collect();
    function.of(&cells?).ok()
}

/// What the engine is told of the table of a function.
pub(crate) fn schema(name: &str, key_type: DataType) -> Schema {
    let column = |name: &str, data_type: DataType, unique| ColumnDef {
        name: name.to_owned(),
        data_type,
        nullable: true,
        default: None,
        unique,
        comment: None,
    };
    let key = ColumnUniqueOption { is_primary: true };
    Schema {
        table_name: name.to_owned(),
        column_defs: Some(vec![column(KEY, key_type, Some(key)), column(RESULT, data_type(Kind::Unknown), None)]),
        indexes: Vec::new(),
        engine: None,
        foreign_keys: Vec::new(),
        comment: None,
    }
}

/// The engine's type of a text.
pub(crate) fn text_type() -> DataType {
    data_type(Kind::Text)
}
