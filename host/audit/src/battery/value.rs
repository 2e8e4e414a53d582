//! Values beside a value: equal ones, near ones, wrong ones.

use rust_decimal::Decimal;
use tribunal_protocol::value::{MICROS_PER_DAY, Value};

use crate::rules::Type;
use crate::sheet::Sheet;

/// A column with some of its cells replaced; none where none is.
pub(crate) fn changed(sheet: &Sheet, place: usize, change: impl Fn(&Value) -> Option<Value>) -> Option<Sheet> {
    let mut other = sheet.clone();
    let mut any = false;
    for row in &mut other.rows {
        if let Some(value) = change(&row[place]) {
            row[place] = value;
            any = true;
        }
    }
    any.then_some(other)
}

/// An equal value of another lawful kind.
pub(crate) fn otherwise(kind: Type, value: &Value) -> Option<Value> {
    match (kind, value) {
        (_, Value::Integer(i)) => Some(Value::Decimal(Decimal::from(*i))),
        (Type::Integer, Value::Decimal(d)) => i64::try_from(*d).ok().map(Value::Integer),
        (Type::Decimal { .. }, Value::Decimal(d)) => d.to_string().parse().ok().map(Value::Float),
        (Type::Float { .. }, Value::Decimal(d)) => d.to_string().parse().ok().map(Value::Float),
        (Type::Float { .. }, Value::Float(x)) => {
            tribunal_protocol::value::decimal_of(&x.to_string()).map(Value::Decimal)
        }
        (_, Value::Date(days)) => Some(Value::Timestamp(i64::from(*days) * MICROS_PER_DAY)),
        _ => None,
    }
}

/// A number moved by `times` its tolerance.
pub(crate) fn off_by(value: &Value, times: f64, abs: f64, rel: f64) -> Option<Value> {
    let x: f64 = match value {
        Value::Float(x) => *x,
        Value::Decimal(_) | Value::Integer(_) => value.to_string().parse().ok()?,
        _ => return None,
    };
    let moved = x + times * abs.max(rel * x.abs());
    (moved != x).then_some(Value::Float(moved))
}

/// A value just outside what a column's type takes for equal.
pub(crate) fn just_outside(kind: Type, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Type::Float { abs, rel, .. }, _) => off_by(value, 1.5, abs.max(1e-12), rel),
        (Type::Decimal { scale }, Value::Decimal(d)) => d.checked_add(Decimal::new(1, scale)).map(Value::Decimal),
        (Type::Integer, Value::Integer(i)) => i.checked_add(1).map(Value::Integer),
        (Type::Date, Value::Date(days)) => days.checked_add(1).map(Value::Date),
        (Type::Timestamp, Value::Timestamp(micros)) => micros.checked_add(1).map(Value::Timestamp),
        _ => None,
    }
}

/// Values that look like this one and are not.
pub(crate) fn next_to(kind: Type, value: &Value) -> Vec<(Value, &'static str)> {
    match (kind, value) {
        (Type::Text { trim, ignore_case }, Value::Text(text)) => {
            let mut others = Vec::new();
            let turned = if text.to_uppercase() == *text { text.to_lowercase() } else { text.to_uppercase() };
            if !ignore_case && turned != *text {
                others.push((Value::Text(turned), "the same letters in another case"));
            }
            if !trim {
                others.push((Value::Text(format!("{text} ")), "with a blank at its end"));
            }
            others
        }
        (Type::Date, Value::Date(days)) => {
            let noon = i64::from(*days) * MICROS_PER_DAY + MICROS_PER_DAY / 2;
            vec![(Value::Timestamp(noon), "noon of that day")]
        }
        (Type::Integer, Value::Integer(i)) => {
            let half = Decimal::from(*i).checked_add(Decimal::new(5, 1)).unwrap_or_default();
            let float = half.to_string().parse().unwrap_or_default();
            vec![(Value::Decimal(half), "a half more"), (Value::Float(float), "a half more, as a float")]
        }
        (Type::Decimal { scale }, Value::Decimal(d)) => {
            let finer = d.checked_add(Decimal::new(1, scale + 2)).unwrap_or_default();
            let float = finer.to_string().parse().unwrap_or_default();
            vec![
                (Value::Decimal(finer), "a hundredth of its last digit more"),
                (Value::Float(float), "the same as a float"),
            ]
        }
        _ => Vec::new(),
    }
}

/// A number at the very bound of its tolerance, which is inside; exact, so as a decimal.
pub(crate) fn at_bound(kind: Type, value: &Value) -> Option<Value> {
    let Type::Float { abs, rel, .. } = kind else { return None };
    let exact = |x: f64| tribunal_protocol::value::decimal_of(&x.to_string());
    let number = match value {
        Value::Decimal(d) => *d,
        Value::Float(x) => exact(*x)?,
        _ => return None,
    };
    let bound = exact(abs)?;
    let moved = number.checked_add(bound)?;
    // Where the relative part is the larger one, its bound depends on the sum itself.
    let plain = exact(rel)?.checked_mul(moved.abs())? <= bound && !bound.is_zero() && number.scale() <= 20;
    plain.then_some(Value::Decimal(moved))
}

/// A number times a factor.
pub(crate) fn scaled(value: &Value, factor: i64) -> Option<Value> {
    match value {
        Value::Integer(i) => i.checked_mul(factor).map(Value::Integer),
        Value::Decimal(d) => d.checked_mul(Decimal::from(factor)).map(Value::Decimal),
        Value::Float(x) => Some(Value::Float(x * 100.0)),
        _ => None,
    }
}

/// Another value of the same kind, far from this one; NULL becomes 7.
pub(crate) fn strange(value: &Value) -> Value {
    match value {
        Value::Null => Value::Integer(7),
        Value::Boolean(b) => Value::Boolean(!b),
        Value::Integer(i) => Value::Integer(i.wrapping_add(1_000_003)),
        Value::Float(x) => Value::Float(x + 1_000_003.5),
        Value::Decimal(d) => Value::Decimal(d.checked_add(Decimal::from(1_000_003)).unwrap_or_default()),
        Value::Text(text) => Value::Text(format!("{text} and another")),
        Value::Date(days) => Value::Date(days.wrapping_add(400)),
        Value::Timestamp(micros) => Value::Timestamp(micros.wrapping_add(400 * MICROS_PER_DAY)),
    }
}

pub(crate) fn plausible(kind: Type) -> Value {
    match kind {
        Type::Boolean => Value::Boolean(true),
        Type::Integer => Value::Integer(1),
        Type::Decimal { .. } => Value::Decimal(Decimal::from(100)),
        Type::Float { .. } => Value::Float(0.5),
        Type::Text { .. } => Value::Text("active".to_owned()),
        Type::Date => Value::Date(20_089),
        Type::Timestamp => Value::Timestamp(1_735_689_600_000_000),
    }
}

/// The rows over and over, as many as are still judged.
pub(crate) fn largest(sheet: &Sheet) -> Sheet {
    let table = sheet.to_table();
    let cells = (table.rows as u64) * (table.columns.len() as u64);
    let once = table.bytes().saturating_add(cells * 8).max(1);
    let times = usize::try_from(tribunal_episode::LARGEST_ANSWER / once).unwrap_or(1).saturating_sub(1).max(2);
    let rows = std::iter::repeat_n(&sheet.rows, times).flatten().cloned().collect();
    Sheet { columns: sheet.columns.clone(), rows }
}
