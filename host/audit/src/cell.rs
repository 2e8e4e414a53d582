//! A cell as its column's type reads it, and when two are equal. Written from the published rules
//! (docs of `plugins/compare`), not from its code: exact rational arithmetic, no fast path.

use bigdecimal::{BigDecimal, Zero};
use tribunal_protocol::value::{MICROS_PER_DAY, Value, float_text, parse_date, parse_timestamp};
use unicode_normalization::UnicodeNormalization;

use crate::rules::Type;

/// A cell, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Boolean(bool),
    Number(BigDecimal),
    /// NaN or an infinity, by name.
    NotFinite(&'static str),
    Text(String),
    /// Microseconds since 1970-01-01.
    Moment(i64),
    /// A value that the column's type does not take.
    Wrong,
}

/// Reads a value by a column's type. Conversions that lose nothing are lawful, all else is not.
pub(crate) fn read(kind: Type, value: &Value) -> Cell {
    let number = || match value {
        Value::Integer(i) => Some(BigDecimal::from(*i)),
        Value::Float(x) if x.is_finite() => float_text(*x).parse().ok(),
        Value::Decimal(d) => d.to_string().parse().ok(),
        _ => None,
    };
    match (kind, value) {
        (_, Value::Null) => Cell::Null,
        (Type::Boolean, Value::Boolean(b)) => Cell::Boolean(*b),
        (Type::Text { trim, ignore_case }, Value::Text(text)) => {
            let text: String = text.nfc().collect();
            let text = if trim { text.trim().to_owned() } else { text };
            Cell::Text(if ignore_case { text.to_lowercase() } else { text })
        }
        (Type::Float { non_finite: true, .. }, Value::Float(x)) if !x.is_finite() => Cell::NotFinite(if x.is_nan() {
            "NaN"
        } else if *x > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
        (Type::Float { .. }, _) => number().map_or(Cell::Wrong, Cell::Number),
        (Type::Integer, _) => number().filter(|n| within(n, 0)).map_or(Cell::Wrong, Cell::Number),
        (Type::Decimal { scale }, _) => number().filter(|n| within(n, scale)).map_or(Cell::Wrong, Cell::Number),
        (Type::Date, _) => match moment(value) {
            Some(micros) if micros % MICROS_PER_DAY == 0 => Cell::Moment(micros),
            _ => Cell::Wrong,
        },
        (Type::Timestamp, _) => moment(value).map_or(Cell::Wrong, Cell::Moment),
        (Type::Boolean | Type::Text { .. }, _) => Cell::Wrong,
    }
}

/// Whether a number has no more than so many digits after the point.
fn within(number: &BigDecimal, scale: u32) -> bool {
    number.normalized().fractional_digit_count() <= i64::from(scale)
}

fn moment(value: &Value) -> Option<i64> {
    match value {
        Value::Date(days) => Some(i64::from(*days) * MICROS_PER_DAY),
        Value::Timestamp(micros) => Some(*micros),
        Value::Text(text) => parse_timestamp(text).or_else(|| Some(i64::from(parse_date(text)?) * MICROS_PER_DAY)),
        _ => None,
    }
}

/// Whether two cells of a column are equal: exactly, or within its tolerance, the bound included.
pub(crate) fn equal(kind: Type, a: &Cell, b: &Cell) -> bool {
    match (kind, a, b) {
        (_, Cell::Wrong, _) | (_, _, Cell::Wrong) => false,
        (Type::Float { abs, rel, .. }, Cell::Number(a), Cell::Number(b)) => {
            let far = (a - b).abs();
            let larger = a.abs().max(b.abs());
            far <= exact(abs).max(exact(rel) * larger)
        }
        _ => a == b,
    }
}

fn exact(x: f64) -> BigDecimal {
    float_text(x).parse().unwrap_or_else(|_| BigDecimal::zero())
}
