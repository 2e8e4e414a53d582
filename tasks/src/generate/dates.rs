//! Days and moments as cells.

use tribunal_protocol::value::{Kind, MICROS_PER_DAY, Value, parse_date};

use crate::random::Stream;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// Reads a day written in a schema file.
pub(super) fn day(text: &str) -> Result<i64, String> {
    parse_date(text).map(i64::from).ok_or_else(|| format!("date expected, `{text}` given"))
}

/// A day between two days, both included.
pub(super) fn between(bounds: &[String; 2], stream: &mut Stream) -> Result<i64, String> {
    Ok(stream.between(day(&bounds[0])?, day(&bounds[1])?))
}

/// A day as a cell of a date or timestamp column; a moment lies between 06:00 and 21:59.
pub(super) fn cell(kind: Kind, day: i64, stream: &mut Stream) -> Result<Value, String> {
    match kind {
        Kind::Date => i32::try_from(day).map(Value::Date).map_err(|_| format!("day {day} is outside of the calendar")),
        Kind::Timestamp => {
            let minutes = stream.between(6 * 60, 22 * 60 - 1);
            Ok(Value::Timestamp(day * MICROS_PER_DAY + minutes * MICROS_PER_MINUTE))
        }
        other => Err(format!("a date or timestamp column expected, {other} given")),
    }
}

/// A cell so many days after another; NULL after NULL. A moment after a moment keeps its order
/// even on the same day: the added minutes lie between 5 and 600.
pub(super) fn after(kind: Kind, start: &Value, days: [i64; 2], stream: &mut Stream) -> Result<Value, String> {
    let added = stream.between(days[0], days[1]);
    match (start, kind) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Date(start), _) => cell(kind, i64::from(*start) + added, stream),
        (Value::Timestamp(start), Kind::Timestamp) => {
            let minutes = stream.between(5, 600);
            Ok(Value::Timestamp(start + added * MICROS_PER_DAY + minutes * MICROS_PER_MINUTE))
        }
        (Value::Timestamp(start), _) => cell(kind, start.div_euclid(MICROS_PER_DAY) + added, stream),
        (other, _) => Err(format!("`after` expects a date or timestamp, {} given", other.kind())),
    }
}
