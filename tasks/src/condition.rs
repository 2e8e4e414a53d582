//! Conditions on the cells of a row, as they stand in TOML.
//!
//! A plain value means equality, a list means one of, and a table means all of its tests:
//! `not` (a value or a list), `null`, `min`, `max` (both included), `before` (excluded).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tribunal_protocol::value::{Kind, Value, decimal_of, parse_date, parse_timestamp};

/// Conditions by column; all must hold.
pub(crate) type Conditions = BTreeMap<String, Condition>;

/// One condition.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// The cell is this value.
    Equals(toml::Value),
    /// The cell is one of these values.
    OneOf(Vec<toml::Value>),
    /// All tests hold.
    All(Box<Tests>),
}

/// Tests of a cell.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Tests {
    pub(crate) not: Option<Condition>,
    pub(crate) null: Option<bool>,
    pub(crate) min: Option<toml::Value>,
    pub(crate) max: Option<toml::Value>,
    pub(crate) before: Option<toml::Value>,
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Condition, D::Error> {
        Ok(match toml::Value::deserialize(deserializer)? {
            toml::Value::Array(values) => Condition::OneOf(values),
            table @ toml::Value::Table(_) => Condition::All(Box::new(
                table.try_into().map_err(|fault: toml::de::Error| D::Error::custom(fault.message()))?,
            )),
            plain => Condition::Equals(plain),
        })
    }
}

/// Whether a cell of `kind` satisfies a condition.
///
/// # Errors
/// A fragment that says which value does not fit the column's kind.
pub(crate) fn holds(condition: &Condition, kind: Kind, cell: &Value) -> Result<bool, String> {
    match condition {
        Condition::Equals(value) => equals(value, kind, cell),
        Condition::OneOf(values) => {
            for value in values {
                if equals(value, kind, cell)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Condition::All(tests) => tests_hold(tests, kind, cell),
    }
}

/// Texts are compared where they stand: most conditions are about a text.
fn equals(value: &toml::Value, kind: Kind, cell: &Value) -> Result<bool, String> {
    match (value, cell) {
        (toml::Value::String(wanted), Value::Text(text)) => Ok(wanted == text),
        _ => Ok(*cell == value_of(kind, value)?),
    }
}

fn tests_hold(tests: &Tests, kind: Kind, cell: &Value) -> Result<bool, String> {
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

impl Condition {
    /// The condition with every text in it replaced by a value.
    ///
    /// # Errors
    /// What `replace` says.
    pub(crate) fn replaced(&self, replace: &dyn Fn(&str) -> Result<toml::Value, String>) -> Result<Condition, String> {
        let value = |value: &toml::Value| match value {
            toml::Value::String(text) => replace(text),
            plain => Ok(plain.clone()),
        };
        let maybe = |bound: &Option<toml::Value>| bound.as_ref().map(value).transpose();
        Ok(match self {
            Condition::Equals(plain) => Condition::Equals(value(plain)?),
            Condition::OneOf(values) => Condition::OneOf(values.iter().map(value).collect::<Result<_, _>>()?),
            Condition::All(tests) => Condition::All(Box::new(Tests {
                not: tests.not.as_ref().map(|not| not.replaced(replace)).transpose()?,
                null: tests.null,
                min: maybe(&tests.min)?,
                max: maybe(&tests.max)?,
                before: maybe(&tests.before)?,
            })),
        })
    }
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
mod tests {
    use super::*;

    fn check(condition: &str, kind: Kind, cell: &Value) -> bool {
        let conditions: Conditions = toml::from_str(&format!("c = {condition}")).unwrap();
        holds(&conditions["c"], kind, cell).unwrap()
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
        let wrong = holds(&Condition::Equals(toml::Value::Integer(1)), Kind::Text, &text);
        assert_eq!(wrong, Err("text expected, `1` given".to_owned()));
    }
}
