//! One value, its kind, and its text forms.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// The kind of a column. [`Kind::Unknown`] is the kind of a column that holds only NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Nothing but NULL was seen.
    Unknown,
    /// TRUE or FALSE.
    Boolean,
    /// A signed 64-bit integer.
    Integer,
    /// An IEEE 754 double.
    Float,
    /// An exact decimal of at most 28 digits.
    Decimal,
    /// Unicode text.
    Text,
    /// A day, without a zone.
    Date,
    /// A moment at microsecond precision, without a zone.
    Timestamp,
}

impl Kind {
    /// The name, as in contracts, schemas and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Decimal => "decimal",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Timestamp => "timestamp",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One value. Two values are equal when kind and content are equal; NULL equals NULL here, and
/// a float compares by its bits with -0.0 as 0.0, so that equality is total.
#[derive(Clone, Debug)]
pub enum Value {
    /// The absence of a value.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A signed 64-bit integer.
    Integer(i64),
    /// An IEEE 754 double.
    Float(f64),
    /// An exact decimal.
    Decimal(Decimal),
    /// Unicode text.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00.
    Timestamp(i64),
}

impl Value {
    /// The value's kind; NULL is [`Kind::Unknown`].
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Unknown,
            Value::Boolean(_) => Kind::Boolean,
            Value::Integer(_) => Kind::Integer,
            Value::Float(_) => Kind::Float,
            Value::Decimal(_) => Kind::Decimal,
            Value::Text(_) => Kind::Text,
            Value::Date(_) => Kind::Date,
            Value::Timestamp(_) => Kind::Timestamp,
        }
    }

    /// Whether this is NULL.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Days since 1970-01-01 of a calendar date.
    #[must_use]
    pub fn date(date: NaiveDate) -> Value {
        Value::Date(days_of(date))
    }

    /// A total order: NULL first, then by kind, then by content (floats by IEEE total order).
    #[must_use]
    pub fn total_cmp(&self, other: &Value) -> std::cmp::Ordering {
        match (self, other) {
            (Value::Boolean(a), Value::Boolean(b)) => a.cmp(b),
            (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => positive_zero(*a).total_cmp(&positive_zero(*b)),
            (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Date(a), Value::Date(b)) => a.cmp(b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
            (a, b) => a.kind().cmp(&b.kind()),
        }
    }

    /// The JSON form; a column's kind is needed to read it back ([`Value::from_json`]).
    /// Decimals, dates and timestamps are text, and so are the floats that JSON lacks.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(b) => (*b).into(),
            Value::Integer(i) => (*i).into(),
            Value::Float(x) => {
                serde_json::Number::from_f64(*x).map_or_else(|| float_text(*x).into(), serde_json::Value::Number)
            }
            Value::Text(t) => t.as_str().into(),
            Value::Decimal(_) | Value::Date(_) | Value::Timestamp(_) => self.to_string().into(),
        }
    }

    /// Reads the JSON form of a value of `kind`. Lossless conversions are lawful (an integral
    /// float for an integer, any integer for a decimal); parsing free text is not.
    ///
    /// # Errors
    /// A fragment such as `decimal expected, text given`.
    pub fn from_json(kind: Kind, json: &serde_json::Value) -> Result<Value, String> {
        use serde_json::Value as Json;
        let wrong = || Err(format!("{kind} expected, {} given", json_name(json)));
        match (kind, json) {
            (_, Json::Null) => Ok(Value::Null),
            (Kind::Boolean, Json::Bool(b)) => Ok(Value::Boolean(*b)),
            (Kind::Integer, Json::Number(n)) => match (n.as_i64(), n.as_f64()) {
                (Some(i), _) => Ok(Value::Integer(i)),
                (None, Some(x)) => exact_integer(x).map_or_else(wrong, |i| Ok(Value::Integer(i))),
                (None, None) => wrong(),
            },
            (Kind::Float, Json::Number(n)) => n.as_f64().map_or_else(wrong, |x| Ok(Value::Float(x))),
            (Kind::Float, Json::String(t)) => match t.as_str() {
                "NaN" => Ok(Value::Float(f64::NAN)),
                "Infinity" => Ok(Value::Float(f64::INFINITY)),
                "-Infinity" => Ok(Value::Float(f64::NEG_INFINITY)),
                _ => wrong(),
            },
            (Kind::Decimal, Json::Number(n)) => {
                decimal_of(&n.to_string()).map_or_else(wrong, |d| Ok(Value::Decimal(d)))
            }
            (Kind::Decimal, Json::String(t)) => decimal_of(t).map_or_else(wrong, |d| Ok(Value::Decimal(d))),
            (Kind::Text, Json::String(t)) => Ok(Value::Text(t.clone())),
            (Kind::Date, Json::String(t)) => parse_date(t).map_or_else(wrong, |d| Ok(Value::Date(d))),
            (Kind::Timestamp, Json::String(t)) => parse_timestamp(t).map_or_else(wrong, |t| Ok(Value::Timestamp(t))),
            _ => wrong(),
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        self.kind() == other.kind() && self.total_cmp(other).is_eq()
    }
}

impl Eq for Value {}

/// The text form that agents read: dates as `2024-01-31`, timestamps as `2024-01-31T08:00:00`
/// with a fraction only where there is one, NULL as `NULL`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Boolean(b) => write!(f, "{b}"),
            Value::Integer(i) => write!(f, "{i}"),
            Value::Float(x) => f.write_str(&float_text(*x)),
            Value::Decimal(d) => write!(f, "{d}"),
            Value::Text(t) => f.write_str(t),
            Value::Date(d) => f.write_str(&date_text(*d)),
            Value::Timestamp(t) => f.write_str(&timestamp_text(*t)),
        }
    }
}

fn positive_zero(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}

/// The shortest text that reads back as the same double; integral values keep `.0`.
#[must_use]
pub fn float_text(x: f64) -> String {
    match (x.is_nan(), x.is_infinite()) {
        (true, _) => "NaN".to_owned(),
        (_, true) if x > 0.0 => "Infinity".to_owned(),
        (_, true) => "-Infinity".to_owned(),
        _ => format!("{:?}", positive_zero(x)),
    }
}

/// Days since 1970-01-01.
#[must_use]
pub fn days_of(date: NaiveDate) -> i32 {
    date.num_days_from_ce() - EPOCH_FROM_CE
}

/// 1970-01-01 counted in days of the common era.
const EPOCH_FROM_CE: i32 = 719_163;

/// The calendar date of a day number; none outside the calendar's range.
#[must_use]
pub fn date_of(days: i32) -> Option<NaiveDate> {
    NaiveDate::from_num_days_from_ce_opt(days.checked_add(EPOCH_FROM_CE)?)
}

/// The moment of a microsecond number; none outside the calendar's range.
#[must_use]
pub fn moment_of(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|moment| moment.naive_utc())
}

/// ISO text of a day number; out-of-range days read `day N`.
#[must_use]
pub fn date_text(days: i32) -> String {
    date_of(days).map_or_else(|| format!("day {days}"), |date| date.format("%Y-%m-%d").to_string())
}

/// ISO text of a microsecond number, its fraction only where there is one.
#[must_use]
pub fn timestamp_text(micros: i64) -> String {
    moment_of(micros)
        .map_or_else(|| format!("microsecond {micros}"), |moment| moment.format("%Y-%m-%dT%H:%M:%S%.f").to_string())
}

/// Reads `2024-01-31`, or a midnight timestamp, as days since 1970-01-01.
#[must_use]
pub fn parse_date(text: &str) -> Option<i32> {
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(days_of(date));
    }
    let micros = parse_timestamp(text)?;
    (micros % MICROS_PER_DAY == 0).then(|| i32::try_from(micros / MICROS_PER_DAY).ok()).flatten()
}

/// Microseconds in a day.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Reads ISO text (`T` or a space between date and time, the time optional, `Z` allowed) as
/// microseconds since 1970-01-01T00:00:00.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(moment) = NaiveDateTime::parse_from_str(text, format) {
            return Some(moment.and_utc().timestamp_micros());
        }
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    Some(i64::from(days_of(date)) * MICROS_PER_DAY)
}

/// The integer that a double is, where it is one within 2^53.
#[must_use]
pub fn exact_integer(x: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the same line")]
    (x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0).then_some(x as i64)
}

/// Reads a decimal without rounding: plain or exponent form, at most 28 digits.
#[must_use]
pub fn decimal_of(text: &str) -> Option<Decimal> {
    Decimal::from_str_exact(text).ok().or_else(|| Decimal::from_scientific(text).ok())
}

fn json_name(json: &serde_json::Value) -> &'static str {
    match json {
        serde_json::Value::Null => "null",
        serde_json::Value::Bool(_) => "boolean",
        serde_json::Value::Number(n) if n.is_f64() => "float",
        serde_json::Value::Number(_) => "integer",
        serde_json::Value::String(_) => "text",
        serde_json::Value::Array(_) => "list",
        serde_json::Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_timestamps_keep_their_text() {
        for text in ["1969-12-31", "1970-01-01", "2000-02-29", "2024-12-31"] {
            assert_eq!(date_text(parse_date(text).unwrap()), text);
        }
        assert_eq!(parse_date("1970-01-02"), Some(1));
        assert_eq!(parse_timestamp("1970-01-01T00:00:01"), Some(1_000_000));
        assert_eq!(timestamp_text(1_500_000), "1970-01-01T00:00:01.500");
        assert_eq!(parse_date("2024-01-31T00:00:00"), parse_date("2024-01-31"));
        assert_eq!(parse_date("2024-01-31T00:00:01"), None);
        assert_eq!(parse_date("2024-02-30"), None);
    }

    #[test]
    fn json_reads_back_and_refuses_free_text() {
        let cases = [
            (Kind::Integer, Value::Integer(-3)),
            (Kind::Float, Value::Float(0.1)),
            (Kind::Float, Value::Float(f64::INFINITY)),
            (Kind::Decimal, Value::Decimal(Decimal::new(1250, 2))),
            (Kind::Date, Value::Date(19_000)),
            (Kind::Timestamp, Value::Timestamp(1_700_000_000_123_456)),
            (Kind::Text, Value::Text("é".to_owned())),
            (Kind::Boolean, Value::Boolean(true)),
        ];
        for (kind, value) in cases {
            assert_eq!(Value::from_json(kind, &value.to_json()), Ok(value));
        }
        let wrong = Value::from_json(Kind::Decimal, &"12 euros".into());
        assert_eq!(wrong, Err("decimal expected, text given".to_owned()));
        assert_eq!(Value::from_json(Kind::Integer, &2.0.into()), Ok(Value::Integer(2)));
        assert!(Value::from_json(Kind::Integer, &2.5.into()).is_err());
        assert!(Value::from_json(Kind::Boolean, &1.into()).is_err());
    }
}
