//! Column types of foreign DDL, and how their values are read from text.
//!
//! PostgreSQL has more types than a [`Kind`]: what has no kind of its own is kept as text in the
//! form in which PostgreSQL prints it (`time`, `uuid`, `json`, enumerations), because gold in
//! SQLite's dialect sees those as text, too. Type lengths (`varchar(10)`) change no answer and
//! are not kept.
//!
//! `numeric` is a decimal: money must add up exactly. SQLite itself has no decimals; the second
//! opinion computes such columns as doubles and is compared to 1e-9.

use rust_decimal::{Decimal, RoundingStrategy};
use tribunal_protocol::value::{decimal_of, parse_date, parse_timestamp};
use tribunal_protocol::{Kind, Value};

use crate::clock::{self};
use crate::cursor::{Cursor, Reading};
use crate::token::TokenKind;

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// `smallint`, `integer`, `bigint`, ..
    Integer,
    /// `real`, `double precision`, `float`. A `real` is kept as the double that its text says.
    Float,
    /// `numeric`, rounded half away from zero to the scale, where one is declared.
    Decimal(Option<u32>),
    /// `text`, `varchar`, `char`, and types that are kept as their text.
    Text,
    /// `time`, kept as the text `HH:MM:SS`.
    Time,
    /// `boolean`.
    Boolean,
    /// `date`.
    Date,
    /// `timestamp`; one with a zone is kept in UTC.
    Timestamp,
}

/// A column's type as DDL gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The type.
    pub column_type: ColumnType,
    /// Whether values are counted up from 1 where none is given (`serial`).
    pub serial: bool,
    /// Why the type is not kept as it is declared, where it is not.
    pub remark: Option<String>,
}

impl Declared {
    /// A plain type.
    fn plain(column_type: ColumnType) -> Declared {
        Declared { column_type, serial: false, remark: None }
    }
}

/// Reads a type name with its arguments.
pub(crate) fn read_type(cursor: &mut Cursor<'_, '_>, enumerations: &[String]) -> Reading<Declared> {
    let (_, name) = cursor.qualified()?;
    let name = name.to_ascii_lowercase();
    let is_enumeration = enumerations.iter().any(|e| e.eq_ignore_ascii_case(&name));
    let mut declared = match name.as_str() {
        "int" | "integer" | "bigint" | "smallint" | "int2" | "int4" | "int8" | "tinyint" | "mediumint" | "oid" => {
            Declared::plain(ColumnType::Integer)
        }
        "serial" | "bigserial" | "smallserial" | "serial2" | "serial4" | "serial8" => {
            Declared { serial: true, ..Declared::plain(ColumnType::Integer) }
        }
        "real" | "float" | "float4" | "float8" => Declared::plain(ColumnType::Float),
        "double" => {
            cursor.word("precision");
            Declared::plain(ColumnType::Float)
        }
        "numeric" | "decimal" => Declared::plain(ColumnType::Decimal(None)),
        "money" => Declared::plain(ColumnType::Decimal(Some(2))),
        "text" | "varchar" | "char" | "bpchar" | "nvarchar" | "nchar" | "citext" | "string" => {
            Declared::plain(ColumnType::Text)
        }
        "character" => {
            cursor.word("varying");
            Declared::plain(ColumnType::Text)
        }
        "bool" | "boolean" => Declared::plain(ColumnType::Boolean),
        "date" => Declared::plain(ColumnType::Date),
        "timestamp" | "timestamptz" | "datetime" => Declared::plain(ColumnType::Timestamp),
        "time" | "timetz" => Declared::plain(ColumnType::Time),
        "uuid" | "json" | "jsonb" | "xml" | "inet" | "cidr" | "macaddr" | "interval" | "name" => as_text(&name),
        _ if is_enumeration => as_text(&name),
        _ => return Err(format!("type `{name}` has no form here")),
    };
    let arguments = read_arguments(cursor)?;
    if let ColumnType::Decimal(scale) = &mut declared.column_type
        && scale.is_none()
    {
        *scale = match arguments.as_slice() {
            [] => None,
            [_] => Some(0),
            [_, scale, ..] => Some(*scale),
        };
    }
    if cursor.phrase(&["with", "time", "zone"]) {
        declared.remark = Some("moments are kept in UTC, without a zone".to_owned());
    } else {
        cursor.phrase(&["without", "time", "zone"]);
    }
    if cursor.symbol("[") {
        while !cursor.symbol("]") {
            if cursor.take().is_none() {
                return Err(cursor.expected("`]`"));
            }
        }
        declared = as_text(&format!("{name}[]"));
    }
    Ok(declared)
}

fn as_text(name: &str) -> Declared {
    Declared { remark: Some(format!("type {name} is kept as its text")), ..Declared::plain(ColumnType::Text) }
}

/// `(10)`, `(10, 2)`.
fn read_arguments(cursor: &mut Cursor<'_, '_>) -> Reading<Vec<u32>> {
    let mut arguments = Vec::new();
    if cursor.symbol("(") {
        loop {
            let token = cursor.take().filter(|t| t.kind == TokenKind::Number);
            let number = token.and_then(|token| token.text.parse().ok());
            arguments.push(number.ok_or_else(|| cursor.expected("a length or a scale"))?);
            if !cursor.symbol(",") {
                break;
            }
        }
        cursor.expect_symbol(")")?;
    }
    Ok(arguments)
}

impl ColumnType {
    /// The kind of the column.
    pub fn kind(&self) -> Kind {
        match self {
            ColumnType::Integer => Kind::Integer,
            ColumnType::Float => Kind::Float,
            ColumnType::Decimal(_) => Kind::Decimal,
            ColumnType::Text | ColumnType::Time => Kind::Text,
            ColumnType::Boolean => Kind::Boolean,
            ColumnType::Date => Kind::Date,
            ColumnType::Timestamp => Kind::Timestamp,
        }
    }

    /// Reads a value of this type from text, as PostgreSQL reads a string literal.
    pub fn parse(&self, text: &str) -> Reading<Value> {
        let trimmed = text.trim();
        let value = match self {
            ColumnType::Text => Some(Value::Text(text.to_owned())),
            // `3.0` too: other programs write whole numbers so where a column has gaps.
            ColumnType::Integer => read_integer(trimmed).map(Value::Integer),
            ColumnType::Float => read_float(trimmed).map(Value::Float),
            ColumnType::Decimal(_) => {
                let number = decimal_of(trimmed.trim_start_matches('$'));
                number.and_then(|d| self.scaled(d)).map(Value::Decimal)
            }
            ColumnType::Boolean => read_boolean(trimmed).map(Value::Boolean),
            ColumnType::Date => read_moment(trimmed)
                .map(|micros| Value::Date(days_before(micros)))
                .or_else(|| parse_date(trimmed).map(Value::Date)),
            ColumnType::Timestamp => read_moment(trimmed).map(Value::Timestamp),
            ColumnType::Time => read_time(trimmed).map(Value::Text),
        };
        value.ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            format!("`{shown}` is not a value of type {}", self.name())
        })
    }

    /// Fits a value into a column of this type, as PostgreSQL's assignment does.
    pub fn fit(&self, value: Value) -> Reading<Value> {
        let fitted = match (self, value) {
            (_, Value::Null) => Some(Value::Null),
            (_, Value::Text(text)) => return self.parse(&text),
            (ColumnType::Integer, Value::Integer(i)) => Some(Value::Integer(i)),
            (ColumnType::Integer, Value::Decimal(d)) => {
                let whole = d.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
                whole.try_into().ok().map(Value::Integer)
            }
            (ColumnType::Float, value @ Value::Float(_)) => Some(value),
            (ColumnType::Float, Value::Integer(i)) =>
            {
                #[expect(clippy::cast_precision_loss, reason = "as PostgreSQL assigns it")]
                Some(Value::Float(i as f64))
            }
            // The shortest text of a decimal is what PostgreSQL parses as a double.
            (ColumnType::Float, Value::Decimal(d)) => d.to_string().parse().ok().map(Value::Float),
            (ColumnType::Decimal(_), Value::Decimal(d)) => self.scaled(d).map(Value::Decimal),
            (ColumnType::Decimal(_), Value::Integer(i)) => self.scaled(Decimal::from(i)).map(Value::Decimal),
            (ColumnType::Decimal(_), Value::Float(x)) => {
                decimal_of(&x.to_string()).and_then(|d| self.scaled(d)).map(Value::Decimal)
            }
            (ColumnType::Boolean, value @ Value::Boolean(_)) => Some(value),
            // SQLite's dialect writes booleans so.
            (ColumnType::Boolean, Value::Integer(i @ (0 | 1))) => Some(Value::Boolean(i == 1)),
            (ColumnType::Date, value @ Value::Date(_)) => Some(value),
            (ColumnType::Date, Value::Timestamp(t)) => Some(Value::Date(days_before(t))),
            (ColumnType::Timestamp, value @ Value::Timestamp(_)) => Some(value),
            (ColumnType::Timestamp, Value::Date(d)) => Some(Value::Timestamp(midnight(d))),
            (ColumnType::Time, Value::Timestamp(t)) => Some(Value::Text(time_of(t))),
            (ColumnType::Text, value) => Some(Value::Text(value.to_string())),
            (_, other) => {
                let (given, wanted) = (other.kind(), self.name());
                return Err(format!("{given} `{other}` given, {wanted} expected"));
            }
        };
        fitted.ok_or_else(|| format!("a number that does not fit type {}", self.name()))
    }

    fn scaled(&self, number: Decimal) -> Option<Decimal> {
        match self {
            ColumnType::Decimal(Some(scale)) => {
                Some(number.round_dp_with_strategy(*scale, RoundingStrategy::MidpointAwayFromZero))
            }
            _ => Some(number),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            ColumnType::Time => "time",
            other => other.kind().name(),
        }
    }
}

fn read_integer(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| {
        let number = decimal_of(text)?;
        number.is_integer().then(|| number.try_into().ok()).flatten()
    })
}

fn read_float(text: &str) -> Option<f64> {
    let starts = text.trim_start_matches(['+', '-']);
    let is_number = starts.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    is_number.then(|| text.parse().ok()).flatten()
}

fn read_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Reads a moment, with or without an offset from UTC (`+02`, `-05:30`), as microseconds of UTC.
fn read_moment(text: &str) -> Option<i64> {
    if let Some(micros) = parse_timestamp(text) {
        return Some(micros);
    }
    // An offset comes after the time; a date's own dashes come before.
    let time_at = text.find(':')?;
    let sign_at = time_at + text.get(time_at..)?.find(['+', '-'])?;
    let (moment, offset) = (text.get(..sign_at)?, text.get(sign_at..)?);
    let (hours, minutes) = match offset.get(1..)?.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => (offset.get(1..3)?, offset.get(3..).filter(|m| !m.is_empty()).unwrap_or("0")),
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..=15).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let offset_micros = (hours * 60 + minutes) * 60_000_000;
    let east = if offset.starts_with('-') { -1 } else { 1 };
    parse_timestamp(moment.trim_end())?.checked_sub(east * offset_micros)
}

/// `8:00`, `08:00:00`, `08:00:00.5` as `HH:MM:SS[.f]`.
fn read_time(text: &str) -> Option<String> {
    let interval = clock::Interval::parse(text, None)?;
    let is_time = text.contains(':') && !text.contains(char::is_whitespace);
    let in_day = (0..=86_400_000_000).contains(&interval.micros);
    (is_time && in_day).then(|| time_of(interval.micros))
}

/// The time of the day of a moment, as `HH:MM:SS[.f]`.
fn time_of(micros: i64) -> String {
    let (seconds, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (hours, minutes) = (seconds.div_euclid(3_600), seconds.rem_euclid(3_600) / 60);
    let hours = if hours == 24 { 24 } else { hours.rem_euclid(24) };
    let fraction = match micros {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    };
    format!("{hours:02}:{minutes:02}:{:02}{fraction}", seconds.rem_euclid(60))
}

fn days_before(micros: i64) -> i32 {
    let days = micros.div_euclid(tribunal_protocol::value::MICROS_PER_DAY);
    i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX })
}

fn midnight(days: i32) -> i64 {
    i64::from(days) * tribunal_protocol::value::MICROS_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Lexer;

    fn declared(text: &str) -> Reading<Declared> {
        let tokens = Lexer::all(text).unwrap();
        read_type(&mut Cursor::new(&tokens), &["mood".to_owned()])
    }

    #[test]
    fn types_have_their_kind() {
        for (text, expected) in [
            ("bigint", ColumnType::Integer),
            ("double precision", ColumnType::Float),
            ("real", ColumnType::Float),
            ("numeric", ColumnType::Decimal(None)),
            ("NUMERIC(10, 2)", ColumnType::Decimal(Some(2))),
            ("numeric(5)", ColumnType::Decimal(Some(0))),
            ("character varying(20)", ColumnType::Text),
            ("timestamp(3) without time zone", ColumnType::Timestamp),
            ("time without time zone", ColumnType::Time),
            ("pg_catalog.bool", ColumnType::Boolean),
            ("public.mood", ColumnType::Text),
            ("text[]", ColumnType::Text),
        ] {
            assert_eq!(declared(text).unwrap().column_type, expected, "{text}");
        }
        assert!(declared("serial").unwrap().serial);
        assert_eq!(declared("bytea").unwrap_err(), "type `bytea` has no form here");
    }

    #[test]
    fn text_is_read_as_postgresql_reads_it() {
        let text = |t: &str| Value::Text(t.to_owned());
        for (column_type, from, expected) in [
            (ColumnType::Time, "8:00", text("08:00:00")),
            (ColumnType::Time, "16:05:09.250", text("16:05:09.25")),
            (ColumnType::Integer, "3.0", Value::Integer(3)),
            (ColumnType::Boolean, "T", Value::Boolean(true)),
            (ColumnType::Boolean, "off", Value::Boolean(false)),
            (ColumnType::Date, "1970-01-03", Value::Date(2)),
            (ColumnType::Date, "1970-01-03 23:59:59", Value::Date(2)),
            (ColumnType::Timestamp, "1970-01-01 02:00:01+02", Value::Timestamp(1_000_000)),
            (ColumnType::Timestamp, "1969-12-31 18:30:00-05:30", Value::Timestamp(0)),
            (ColumnType::Decimal(Some(2)), "2.345", Value::Decimal(Decimal::new(235, 2))),
            (ColumnType::Decimal(Some(2)), "-2.345", Value::Decimal(Decimal::new(-235, 2))),
        ] {
            assert_eq!(column_type.parse(from), Ok(expected), "{from}");
        }
    }

    #[test]
    fn what_is_no_value_of_the_type_is_refused() {
        for (column_type, from) in [
            (ColumnType::Integer, "1.5"),
            (ColumnType::Integer, ""),
            (ColumnType::Integer, "9223372036854775808"),
            (ColumnType::Float, "nan"),
            (ColumnType::Date, "infinity"),
            (ColumnType::Date, "2025-02-29"),
            (ColumnType::Time, "25:00"),
            (ColumnType::Boolean, "maybe"),
            (ColumnType::Timestamp, "2025-01-01 10:00:00+99"),
        ] {
            assert!(column_type.parse(from).is_err(), "{from}");
        }
        let wrong = ColumnType::Date.fit(Value::Integer(3));
        assert_eq!(wrong.unwrap_err(), "integer `3` given, date expected");
    }
}
