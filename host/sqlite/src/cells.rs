//! SQLite's cells as our values.

use rusqlite::types::ValueRef;
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive as _;
use tribunal_protocol::value::{Kind, Value, decimal_of, exact_integer, float_text, parse_date, parse_timestamp};

/// Decimals are doubles in SQLite; this many places of them are trusted.
pub const DECIMAL_PLACES: u32 = 6;

/// Reads a cell as `kind`, or as what SQLite has it for.
pub(crate) fn read(cell: ValueRef<'_>, kind: Option<Kind>) -> Result<Value, String> {
    let value = match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => integer(i, kind),
        ValueRef::Real(x) => real(x, kind)?,
        ValueRef::Text(bytes) => {
            text(std::str::from_utf8(bytes).map_err(|_| "text that is not UTF-8".to_owned())?, kind)
        }
        ValueRef::Blob(_) => return Err("a blob, which no kind of ours is".to_owned()),
    };
    Ok(value)
}

fn integer(i: i64, kind: Option<Kind>) -> Value {
    match (kind, i) {
        (Some(Kind::Boolean), 0 | 1) => Value::Boolean(i == 1),
        #[expect(clippy::cast_precision_loss, reason = "a float was asked for")]
        (Some(Kind::Float), _) => Value::Float(i as f64),
        (Some(Kind::Decimal), _) => Value::Decimal(i.into()),
        _ => Value::Integer(i),
    }
}

fn real(x: f64, kind: Option<Kind>) -> Result<Value, String> {
    match kind {
        Some(Kind::Decimal) => {
            let decimal = Decimal::from_f64(x).ok_or_else(|| format!("{x} is no decimal"))?;
            Ok(Value::Decimal(decimal.round_dp(DECIMAL_PLACES).normalize()))
        }
        Some(Kind::Integer) => Ok(exact_integer(x).map_or(Value::Float(x), Value::Integer)),
        _ => Ok(Value::Float(x)),
    }
}

fn text(text: &str, kind: Option<Kind>) -> Value {
    let read = match kind {
        Some(Kind::Date) => parse_date(text).map(Value::Date),
        Some(Kind::Timestamp) => parse_timestamp(text).map(Value::Timestamp),
        _ => None,
    };
    read.unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// Digits that a double keeps of any decimal.
const DIGITS: usize = 15;

/// The decimal that a double stands for: the one of at most 15 digits that is nearest to it, of
/// which there is never a second; where there is none, a computed number is left, and is rounded to
/// [`DECIMAL_PLACES`] places.
pub(crate) fn decimal(x: f64) -> Option<Decimal> {
    let shortest = decimal_of(&float_text(x))?.normalize();
    if shortest.mantissa().unsigned_abs().to_string().len() <= DIGITS {
        return Some(shortest);
    }
    Some(shortest.round_dp(DECIMAL_PLACES).normalize())
}

/// Reads a cell for the holder of a session; as [`read`], with decimals exact where they were
/// stored, and texts read as the kind that was asked for where they are of it.
pub(crate) fn typed(cell: ValueRef<'_>, kind: Option<Kind>) -> Result<Value, String> {
    match (cell, kind) {
        (ValueRef::Real(x), Some(Kind::Decimal)) => {
            decimal(x).map(Value::Decimal).ok_or_else(|| "a number beyond decimals".to_owned())
        }
        _ => read(cell, kind),
    }
}

/// The kind of a whole column: as asked where every value has it, else what all have in common.
pub(crate) fn settle(values: &mut [Value], asked: Option<Kind>) -> Kind {
    let mut kinds: Vec<Kind> = values.iter().map(Value::kind).filter(|kind| *kind != Kind::Unknown).collect();
    kinds.sort_unstable();
    kinds.dedup();
    match (kinds.as_slice(), asked) {
        ([], asked) => asked.unwrap_or(Kind::Unknown),
        ([kind], _) => *kind,
        ([Kind::Integer, Kind::Float], _) => {
            for value in values {
                if let Value::Integer(i) = value {
                    #[expect(clippy::cast_precision_loss, reason = "a column of integers and floats is one of floats")]
                    let float = *i as f64;
                    *value = Value::Float(float);
                }
            }
            Kind::Float
        }
        _ => {
            for value in values.iter_mut().filter(|value| !value.is_null()) {
                *value = Value::Text(value.to_string());
            }
            Kind::Text
        }
    }
}
