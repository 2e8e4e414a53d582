//! Conditions on the cells of a row, as they stand in TOML.
//!
//! A plain value means equality, a list means one of, and a table means all of its tests:
//! `not` (a value or a list), `null`, `min`, `max` (both included), `before` (excluded).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Deserialize;
use tribunal_protocol::value::{Kind, Value, decimal_of, parse_date, parse_timestamp};

/// Conditions by column; all must hold.
pub(crate) type Conditions = BTreeMap<String, toml::Value>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tests {
    not: Option<toml::Value>,
    null: Option<bool>,
    min: Option<toml::Value>,
    max: Option<toml::Value>,
    before: Option<toml::Value>,
}

/// Whether a cell of `kind` satisfies a condition.
///
/// # Errors
/// A fragment that says which value does not fit the column's kind.
pub(crate) fn holds(condition: &toml::Value, kind: Kind, cell: &Value) -> Result<bool, String> {
    match condition {
        toml::Value::Array(values) => one_of(values, kind, cell),
        toml::Value::Table(_) => tests_hold(condition, kind, cell),
        plain => Ok(*cell == value_of(kind, plain)?),
    }
}

fn one_of(values: &[toml::Value], kind: Kind, cell: &Value) -> Result<bool, String> {
    for value in values {
        if *cell == value_of(kind, value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn tests_hold(condition: &toml::Value, kind: Kind, cell: &Value) -> Result<bool, String> {
    let tests: Tests = condition
        .clone()
        .try_into()
        .map_err(|fault: toml::de::Error| fault.message().to_owned())?;
    if tests.null.is_some_and(|null| null != cell.is_null()) {
        return Ok(false);
    }
    if let Some(not) = &tests.not
        && holds(not, kind, cell)?
    {
        return Ok(false);
    }
    let bounds: [(&Option<toml::Value>, &[Ordering]); 3] = [
        (&tests.min, &[Ordering::Greater, Ordering::Equal]),
        (&tests.max, &[Ordering::Less, Ordering::Equal]),
        (&tests.before, &[Ordering::Less]),
    ];
    for (bound, lawful) in bounds {
        if let Some(bound) = bound
            && (cell.is_null() || !lawful.contains(&cell.total_cmp(&value_of(kind, bound)?)))
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads a TOML value as a value of `kind`; decimals, dates and timestamps are written as text.
///
/// # Errors
/// `KIND expected, .. given`.
pub(crate) fn value_of(kind: Kind, toml: &toml::Value) -> Result<Value, String> {
    use toml::Value as Toml;
    let value = match (kind, toml) {
        (Kind::Boolean, Toml::Boolean(b)) => Some(Value::Boolean(*b)),
        (Kind::Integer, Toml::Integer(i)) => Some(Value::Integer(*i)),
        (Kind::Float, Toml::Float(x)) => Some(Value::Float(*x)),
        (Kind::Decimal, Toml::Integer(i)) => Some(Value::Decimal(Decimal::from(*i))),
        (Kind::Decimal, Toml::String(t)) => decimal_of(t).map(Value::Decimal),
        (Kind::Text, Toml::String(t)) => Some(Value::Text(t.clone())),
        (Kind::Date, Toml::String(t)) => parse_date(t).map(Value::Date),
        (Kind::Timestamp, Toml::String(t)) => parse_timestamp(t).map(Value::Timestamp),
        _ => None,
    };
    value.ok_or_else(|| format!("{kind} expected, `{toml}` given"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn check(condition: &str, kind: Kind, cell: &Value) -> bool {
        let toml: toml::Table = toml::from_str(&format!("c = {condition}")).unwrap();
        holds(&toml["c"], kind, cell).unwrap()
    }

    #[test]
    fn each_test_holds_and_fails() {
        let three = Value::Integer(3);
        let text = Value::Text("paid".into());
        let day = Value::Date(parse_date("2025-04-01").unwrap());
        let cases = [
            ("3", Kind::Integer, &three, true),
            ("4", Kind::Integer, &three, false),
            ("['open', 'paid']", Kind::Text, &text, true),
            ("['open']", Kind::Text, &text, false),
            ("{ not = 'paid' }", Kind::Text, &text, false),
            ("{ not = ['open'] }", Kind::Text, &text, true),
            ("{ null = true }", Kind::Text, &Value::Null, true),
            ("{ null = false }", Kind::Text, &Value::Null, false),
            ("{ min = 3, max = 3 }", Kind::Integer, &three, true),
            ("{ min = 4 }", Kind::Integer, &three, false),
            ("{ before = '2025-04-01' }", Kind::Date, &day, false),
            ("{ before = '2025-04-02' }", Kind::Date, &day, true),
            ("{ min = 1 }", Kind::Integer, &Value::Null, false),
        ];
        for (condition, kind, cell, expected) in cases {
            assert_eq!(check(condition, kind, cell), expected, "{condition}");
        }
        let wrong = holds(&toml::Value::Integer(1), Kind::Text, &text);
        assert_eq!(wrong, Err("text expected, `1` given".to_owned()));
    }
}
