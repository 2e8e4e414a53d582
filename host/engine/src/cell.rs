//! Between our values and the engine's cells.

use std::cmp::Ordering;

use chrono::NaiveDateTime;
use gluesql_core::ast::DataType;
use gluesql_core::prelude::Value as Cell;
use rust_decimal::prelude::ToPrimitive;
use tribunal_protocol::value::{MICROS_PER_DAY, date_of, days_of, exact_integer, moment_of};
use tribunal_protocol::{Kind, Value};

/// The type under which the engine holds a kind.
pub(crate) fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Boolean => DataType::Boolean,
        Kind::Integer => DataType::Int,
        Kind::Float => DataType::Float,
        Kind::Decimal => DataType::Decimal,
        Kind::Text | Kind::Unknown => DataType::Text,
        Kind::Date => DataType::Date,
        Kind::Timestamp => DataType::Timestamp,
    }
}

/// The engine's cell of a value; none where a date or timestamp is outside its calendar.
pub(crate) fn to_cell(value: &Value) -> Option<Cell> {
    Some(match value {
        Value::Null => Cell::Null,
        Value::Boolean(truth) => Cell::Bool(*truth),
        Value::Integer(number) => Cell::I64(*number),
        Value::Float(number) => Cell::F64(*number),
        Value::Decimal(number) => Cell::Decimal(*number),
        Value::Text(text) => Cell::Str(text.clone()),
        Value::Date(days) => Cell::Date(date_of(*days)?),
        Value::Timestamp(micros) => Cell::Timestamp(moment_of(*micros)?),
    })
}

/// Our value of a cell; an error names what the cell is, where we have no kind for it.
pub(crate) fn to_value(cell: &Cell) -> Result<Value, &'static str> {
    let integer = |number: i128| i64::try_from(number).map(Value::Integer);
    Ok(match cell {
        Cell::Null => Value::Null,
        Cell::Bool(truth) => Value::Boolean(*truth),
        Cell::I64(number) => Value::Integer(*number),
        Cell::I8(number) => Value::Integer((*number).into()),
        Cell::I16(number) => Value::Integer((*number).into()),
        Cell::I32(number) => Value::Integer((*number).into()),
        Cell::U8(number) => Value::Integer((*number).into()),
        Cell::U16(number) => Value::Integer((*number).into()),
        Cell::U32(number) => Value::Integer((*number).into()),
        Cell::U64(number) => integer((*number).into()).map_err(|_| "an integer beyond 64 bits")?,
        Cell::I128(number) => integer(*number).map_err(|_| "an integer beyond 64 bits")?,
        Cell::U128(number) => i64::try_from(*number).map(Value::Integer).map_err(|_| "an integer beyond 64 bits")?,
        Cell::F64(number) => Value::Float(*number),
        Cell::F32(number) => Value::Float((*number).into()),
        Cell::Decimal(number) => Value::Decimal(*number),
        Cell::Str(text) => Value::Text(text.clone()),
        Cell::Date(date) => Value::Date(days_of(*date)),
        Cell::Timestamp(moment) => Value::Timestamp(micros(moment)),
        Cell::Time(_) => return Err("a time of day"),
        Cell::Interval(_) => return Err("an interval"),
        Cell::Bytea(_) => return Err("bytes"),
        Cell::Inet(_) => return Err("an address"),
        Cell::Uuid(_) => return Err("a UUID"),
        Cell::Map(_) => return Err("a map"),
        Cell::List(_) => return Err("a list"),
        Cell::Point(_) => return Err("a point"),
    })
}

fn micros(moment: &NaiveDateTime) -> i64 {
    moment.and_utc().timestamp_micros()
}

/// How two cells of one kind compare; none where either is NULL or the two have no order.
pub(crate) fn compare(left: &Cell, right: &Cell) -> Option<Ordering> {
    match (left, right) {
        (Cell::Bool(a), Cell::Bool(b)) => Some(a.cmp(b)),
        (Cell::I64(a), Cell::I64(b)) => Some(a.cmp(b)),
        (Cell::F64(a), Cell::F64(b)) => a.partial_cmp(b),
        (Cell::Decimal(a), Cell::Decimal(b)) => Some(a.cmp(b)),
        (Cell::Str(a), Cell::Str(b)) => Some(a.cmp(b)),
        (Cell::Date(a), Cell::Date(b)) => Some(a.cmp(b)),
        (Cell::Timestamp(a), Cell::Timestamp(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Whether a cell is NULL.
pub(crate) fn is_null(cell: &Cell) -> bool {
    matches!(cell, Cell::Null)
}

/// The cell as one of `kind`, where that loses nothing: an integral number as another number,
/// a midnight as a date, a date as its midnight. None where it would lose something.
pub(crate) fn lossless(cell: Cell, kind: Kind) -> Option<Cell> {
    match (kind, cell) {
        (_, Cell::Null) => Some(Cell::Null),
        (Kind::Boolean, cell @ Cell::Bool(_))
        | (Kind::Integer, cell @ Cell::I64(_))
        | (Kind::Float, cell @ Cell::F64(_))
        | (Kind::Decimal, cell @ Cell::Decimal(_))
        | (Kind::Text, cell @ Cell::Str(_))
        | (Kind::Date, cell @ Cell::Date(_))
        | (Kind::Timestamp, cell @ Cell::Timestamp(_)) => Some(cell),
        (Kind::Integer, Cell::F64(number)) => exact_integer(number).map(Cell::I64),
        (Kind::Integer, Cell::Decimal(number)) => {
            let whole = number.is_integer().then(|| number.to_i64()).flatten();
            whole.map(Cell::I64)
        }
        (Kind::Float, Cell::I64(number)) => Some(Cell::F64(widened(number))),
        (Kind::Float, Cell::Decimal(number)) => number.to_f64().map(Cell::F64),
        (Kind::Decimal, Cell::I64(number)) => Some(Cell::Decimal(number.into())),
        (Kind::Decimal, Cell::F64(number)) => {
            let shortest = tribunal_protocol::value::float_text(number);
            tribunal_protocol::value::decimal_of(&shortest).map(Cell::Decimal)
        }
        (Kind::Date, Cell::Timestamp(moment)) => {
            let midnight = micros(&moment) % MICROS_PER_DAY == 0;
            midnight.then(|| Cell::Date(moment.date()))
        }
        (Kind::Timestamp, Cell::Date(date)) => date.and_hms_opt(0, 0, 0).map(Cell::Timestamp),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "SQL's own rule for an integer where a double is wanted")]
fn widened(number: i64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::Decimal;

    #[test]
    fn values_come_back_as_they_went_in() {
        let values = [
            Value::Null,
            Value::Boolean(true),
            Value::Integer(i64::MIN),
            Value::Float(-0.5),
            Value::Decimal(Decimal::new(12_345, 3)),
            Value::Text("né".to_owned()),
            Value::Date(-1),
            Value::Timestamp(1_700_000_000_123_456),
        ];
        for value in values {
            assert_eq!(to_value(&to_cell(&value).unwrap()), Ok(value));
        }
        assert_eq!(to_cell(&Value::Date(i32::MAX)), None);
        assert_eq!(to_value(&Cell::U64(u64::MAX)), Err("an integer beyond 64 bits"));
    }

    #[test]
    fn only_lossless_conversions_are_made() {
        assert_eq!(lossless(Cell::F64(3.0), Kind::Integer), Some(Cell::I64(3)));
        assert_eq!(lossless(Cell::F64(3.5), Kind::Integer), None);
        let tenth = Cell::Decimal(Decimal::new(1, 1));
        assert_eq!(lossless(Cell::F64(0.1), Kind::Decimal), Some(tenth.clone()));
        assert_eq!(lossless(tenth, Kind::Integer), None);
        assert_eq!(lossless(Cell::Str("3".to_owned()), Kind::Integer), None);
        let day = date_of(10).unwrap();
        let noon = Cell::Timestamp(day.and_hms_opt(12, 0, 0).unwrap());
        assert_eq!(lossless(noon, Kind::Date), None);
        let midnight = Cell::Timestamp(day.and_hms_opt(0, 0, 0).unwrap());
        assert_eq!(lossless(midnight, Kind::Date), Some(Cell::Date(day)));
    }
}
