//! Constant expressions as rows and defaults write them: literals, casts, and arithmetic from the
//! clock (`CURRENT_DATE - INTERVAL '1 month'`), with PostgreSQL's meaning.

use chrono::NaiveDateTime;
use rust_decimal::Decimal;
use tribunal_protocol::Value;
use tribunal_protocol::value::{MICROS_PER_DAY, decimal_of, moment_of};

use crate::clock::{Interval, truncate};
use crate::cursor::{Cursor, Reading};
use crate::token::TokenKind;
use crate::types::{ColumnType, read_type};

/// Expressions may nest this deep; reading is recursive.
const MAX_DEPTH: u32 = 50;

/// What an expression may look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'s> {
    /// What `now` is: midnight of this day.
    pub clock: i32,
    /// Names of enumeration types.
    pub enumerations: &'s [String],
}

/// The value of a constant expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Constant {
    /// A value.
    Value(Value),
    /// A span of time.
    Interval(Interval),
}

/// Reads one constant expression; it must be a value that a column can hold.
pub(crate) fn read_value(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Value> {
    match read_sum(cursor, scope)? {
        Constant::Value(value) => Ok(value),
        Constant::Interval(_) => Err("a span of time has no form here".to_owned()),
    }
}

fn read_sum(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Constant> {
    let mut left = read_product(cursor, scope)?;
    loop {
        left = if cursor.symbol("+") {
            add(left, read_product(cursor, scope)?, 1)?
        } else if cursor.symbol("-") {
            add(left, read_product(cursor, scope)?, -1)?
        } else if cursor.symbol("||") {
            join(left, read_product(cursor, scope)?)?
        } else {
            return Ok(left);
        };
    }
}

fn read_product(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Constant> {
    let mut left = read_cast(cursor, scope)?;
    loop {
        let operator = if cursor.symbol("*") {
            '*'
        } else if cursor.symbol("/") {
            '/'
        } else {
            return Ok(left);
        };
        left = multiply(left, operator, read_cast(cursor, scope)?)?;
    }
}

/// A signed primary with any `::type` after it. Every nesting passes through here.
fn read_cast(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Constant> {
    cursor.depth += 1;
    if cursor.depth > MAX_DEPTH {
        return Err(format!("an expression nested deeper than {MAX_DEPTH}"));
    }
    let value = read_signed(cursor, scope);
    cursor.depth -= 1;
    value
}

fn read_signed(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Constant> {
    if cursor.symbol("-") {
        let zero = Constant::Value(Value::Integer(0));
        return match read_cast(cursor, scope)? {
            Constant::Interval(interval) => interval.times(-1).map(Constant::Interval).ok_or_else(too_large),
            Constant::Value(Value::Float(x)) => Ok(Constant::Value(Value::Float(-x))),
            positive => add(zero, positive, -1),
        };
    }
    if cursor.symbol("+") {
        return read_cast(cursor, scope);
    }
    let mut value = read_primary(cursor, scope)?;
    loop {
        if cursor.symbol("::") {
            value = cast(cursor, scope, value)?;
        } else if cursor.phrase(&["at", "time", "zone"]) {
            let zone = cursor.text()?;
            if !matches!(zone.to_ascii_lowercase().as_str(), "utc" | "gmt" | "z") {
                return Err(format!("time zone `{zone}`: only UTC has a form here"));
            }
        } else {
            return Ok(value);
        }
    }
}

fn cast(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>, value: Constant) -> Reading<Constant> {
    if cursor.word("interval") {
        return match value {
            Constant::Value(Value::Text(text)) => interval(&text, None),
            Constant::Interval(_) => Ok(value),
            Constant::Value(_) => Err("a string expected before ::interval".to_owned()),
        };
    }
    // What names a thing of the database (`'seq'::regclass`) stays its name.
    if cursor.word("regclass") {
        return Ok(value);
    }
    let declared = read_type(cursor, scope.enumerations)?;
    match value {
        Constant::Value(value) => Ok(Constant::Value(declared.column_type.fit(value)?)),
        Constant::Interval(_) => Err("a span of time has no form as another type".to_owned()),
    }
}

fn read_primary(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Constant> {
    let Some(token) = cursor.peek() else {
        return Err(cursor.expected("a value"));
    };
    match token.kind {
        TokenKind::Text => cursor.text().map(|text| Constant::Value(Value::Text(text))),
        TokenKind::Number => {
            cursor.take();
            number(&token.text).map(Constant::Value)
        }
        TokenKind::Symbol if cursor.symbol("(") => {
            let inner = read_sum(cursor, scope)?;
            cursor.expect_symbol(")")?;
            Ok(inner)
        }
        TokenKind::Word => {
            cursor.take();
            read_named(cursor, scope, &token.text.to_ascii_lowercase())
        }
        TokenKind::Quoted | TokenKind::Symbol => Err(cursor.expected("a value")),
    }
}

/// A value that starts with a word: a keyword, a typed literal, a function.
fn read_named(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>, word: &str) -> Reading<Constant> {
    let today = Value::Date(scope.clock);
    let now = Value::Timestamp(i64::from(scope.clock) * MICROS_PER_DAY);
    let value = match word {
        "null" => Value::Null,
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        "current_date" => today,
        "current_timestamp" | "localtimestamp" => {
            if cursor.peek().is_some_and(|token| token.is_symbol("(")) {
                cursor.skip_parentheses()?;
            }
            now
        }
        "current_time" | "localtime" => Value::Text("00:00:00".to_owned()),
        "now" | "transaction_timestamp" | "statement_timestamp" | "clock_timestamp" => {
            cursor.expect_symbol("(")?;
            cursor.expect_symbol(")")?;
            now
        }
        "interval" => {
            let text = cursor.text()?;
            let unit = cursor.peek().filter(|token| is_unit(&token.text));
            if unit.is_some() {
                cursor.take();
            }
            return interval(&text, unit.map(|token| token.text.as_ref()));
        }
        "date" if cursor.symbol("(") => ColumnType::Date.fit(last_argument(cursor, scope)?)?,
        "date" => ColumnType::Date.parse(&cursor.text()?)?,
        "time" => ColumnType::Time.parse(&cursor.text()?)?,
        "timestamp" | "timestamptz" => {
            if !cursor.phrase(&["with", "time", "zone"]) {
                cursor.phrase(&["without", "time", "zone"]);
            }
            ColumnType::Timestamp.parse(&cursor.text()?)?
        }
        "cast" => {
            cursor.expect_symbol("(")?;
            let inner = read_sum(cursor, scope)?;
            cursor.expect_word("as")?;
            let value = cast(cursor, scope, inner)?;
            cursor.expect_symbol(")")?;
            return Ok(value);
        }
        "date_trunc" => {
            cursor.expect_symbol("(")?;
            let unit = cursor.text()?;
            cursor.expect_symbol(",")?;
            let moment = moment(&last_argument(cursor, scope)?)?;
            let start = truncate(&unit, moment).ok_or_else(|| format!("unit `{unit}` has no form in date_trunc"))?;
            timestamp(start)
        }
        "extract" | "date_part" => {
            cursor.expect_symbol("(")?;
            let field = match cursor.text() {
                Ok(field) => field,
                Err(_) => cursor.name()?,
            };
            if !cursor.word("from") {
                cursor.expect_symbol(",")?;
            }
            part(&field, moment(&last_argument(cursor, scope)?)?)?
        }
        "make_date" => {
            let parts = arguments(cursor, scope, "(", ")")?;
            made_date(&parts).ok_or("make_date: year, month and day of a real date expected")?
        }
        "array" => Value::Text(array_text(&arguments(cursor, scope, "[", "]")?)),
        "random" | "gen_random_uuid" | "uuid_generate_v4" | "setseed" => {
            return Err(format!("{word}() would give other data each time"));
        }
        _ => return Err(format!("a constant expected, `{word}` has no form here")),
    };
    Ok(Constant::Value(value))
}

fn last_argument(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Value> {
    let value = read_value(cursor, scope)?;
    cursor.expect_symbol(")")?;
    Ok(value)
}

/// `open value, .. close`.
fn arguments(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>, open: &str, close: &str) -> Reading<Vec<Value>> {
    cursor.expect_symbol(open)?;
    let mut values = Vec::new();
    while !cursor.symbol(close) {
        if !values.is_empty() {
            cursor.expect_symbol(",")?;
        }
        values.push(read_value(cursor, scope)?);
    }
    Ok(values)
}

/// One field of a moment, as EXTRACT names it.
fn part(field: &str, moment: NaiveDateTime) -> Reading<Value> {
    use chrono::{Datelike, Timelike};
    let number = match field.to_ascii_lowercase().as_str() {
        "year" => i64::from(moment.year()),
        "quarter" => i64::from((moment.month() - 1) / 3 + 1),
        "month" => i64::from(moment.month()),
        "week" => i64::from(moment.iso_week().week()),
        "day" => i64::from(moment.day()),
        "doy" => i64::from(moment.ordinal()),
        "dow" => i64::from(moment.weekday().num_days_from_sunday()),
        "isodow" => i64::from(moment.weekday().number_from_monday()),
        "hour" => i64::from(moment.hour()),
        "minute" => i64::from(moment.minute()),
        "epoch" => moment.and_utc().timestamp(),
        _ => return Err(format!("field `{field}` has no form in EXTRACT")),
    };
    Ok(Value::Integer(number))
}

fn made_date(parts: &[Value]) -> Option<Value> {
    let [Value::Integer(year), Value::Integer(month), Value::Integer(day)] = parts else {
        return None;
    };
    let (year, month) = (i32::try_from(*year).ok()?, u32::try_from(*month).ok()?);
    let date = chrono::NaiveDate::from_ymd_opt(year, month, u32::try_from(*day).ok()?)?;
    Some(Value::date(date))
}

/// An array as PostgreSQL prints it: `{a,"b c",NULL}`.
fn array_text(values: &[Value]) -> String {
    let item = |value: &Value| {
        let text = value.to_string();
        let plain = |c: char| !c.is_whitespace() && !matches!(c, ',' | '{' | '}' | '"' | '\\');
        let is_text = matches!(value, Value::Text(_));
        let looks_null = is_text && text.eq_ignore_ascii_case("null");
        if text.is_empty() || looks_null || !text.chars().all(plain) {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            text
        }
    };
    format!("{{{}}}", values.iter().map(item).collect::<Vec<_>>().join(","))
}

fn is_unit(word: &str) -> bool {
    let units = ["second", "minute", "hour", "day", "week", "month", "year"];
    units.iter().any(|unit| word.eq_ignore_ascii_case(unit))
}

fn interval(text: &str, unit: Option<&str>) -> Reading<Constant> {
    Interval::parse(text, unit)
        .map(Constant::Interval)
        .ok_or_else(|| format!("interval '{text}': a form such as '1 month' expected"))
}

/// A number literal: whole numbers are integers, those with a point exact decimals.
fn number(text: &str) -> Reading<Value> {
    if let Ok(whole) = text.parse() {
        return Ok(Value::Integer(whole));
    }
    if let Some(decimal) = decimal_of(text) {
        return Ok(Value::Decimal(decimal));
    }
    let float: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    Ok(Value::Float(float))
}

fn too_large() -> String {
    "arithmetic leaves the range of its type".to_owned()
}

fn timestamp(moment: NaiveDateTime) -> Value {
    Value::Timestamp(moment.and_utc().timestamp_micros())
}

/// The moment that a date, a timestamp or its text is.
fn moment(value: &Value) -> Reading<NaiveDateTime> {
    match ColumnType::Timestamp.fit(value.clone())? {
        Value::Timestamp(micros) => moment_of(micros).ok_or_else(too_large),
        _ => Err("a moment expected, NULL given".to_owned()),
    }
}

/// `left + sign * right`.
fn add(left: Constant, right: Constant, sign: i64) -> Reading<Constant> {
    use Constant::{Interval as Span, Value as Val};
    let value = match (left, right) {
        (Val(Value::Null), _) | (_, Val(Value::Null)) => Value::Null,
        (Span(a), Span(b)) => {
            let sum = b.times(sign).and_then(|b| a.plus(b));
            return sum.map(Span).ok_or_else(too_large);
        }
        (Val(value), Span(span)) | (Span(span), Val(value)) if sign > 0 => shifted(&value, span)?,
        (Val(value), Span(span)) => shifted(&value, span.times(sign).ok_or_else(too_large)?)?,
        (Val(Value::Date(date)), Val(Value::Integer(days))) => {
            let moved = days.checked_mul(sign).and_then(|d| d.checked_add(date.into()));
            let moved = moved.and_then(|d| i32::try_from(d).ok());
            Value::Date(moved.ok_or_else(too_large)?)
        }
        (Val(Value::Integer(days)), Val(Value::Date(date))) if sign > 0 => {
            let moved = days.checked_add(date.into());
            Value::Date(moved.and_then(|d| i32::try_from(d).ok()).ok_or_else(too_large)?)
        }
        (Val(Value::Date(a)), Val(Value::Date(b))) if sign < 0 => Value::Integer(i64::from(a) - i64::from(b)),
        // A date and a time of day, which is text here.
        (Val(Value::Date(date)), Val(Value::Text(time))) if sign > 0 => {
            let span = Interval::parse(&time, None).filter(|_| time.contains(':'));
            let span = span.ok_or_else(|| format!("a date and `{time}`, a time such as 10:30 expected"))?;
            shifted(&Value::Date(date), span)?
        }
        (Val(Value::Integer(a)), Val(Value::Integer(b))) => {
            let sum = b.checked_mul(sign).and_then(|b| a.checked_add(b));
            Value::Integer(sum.ok_or_else(too_large)?)
        }
        (Val(a), Val(b)) => {
            let (a, b) = (decimal(&a)?, decimal(&b)?);
            let sum = if sign > 0 { a.checked_add(b) } else { a.checked_sub(b) };
            Value::Decimal(sum.ok_or_else(too_large)?)
        }
        (Span(_), Val(_)) => return Err("a moment cannot be taken from a span of time".to_owned()),
    };
    Ok(Constant::Value(value))
}

/// A date or moment, moved: always a moment, as in PostgreSQL.
fn shifted(value: &Value, span: Interval) -> Reading<Value> {
    span.after(moment(value)?).map(timestamp).ok_or_else(too_large)
}

fn multiply(left: Constant, operator: char, right: Constant) -> Reading<Constant> {
    use Constant::{Interval as Span, Value as Val};
    let value = match (left, operator, right) {
        (Val(Value::Null), _, _) | (_, _, Val(Value::Null)) => Value::Null,
        (Span(span), '*', Val(Value::Integer(factor))) | (Val(Value::Integer(factor)), '*', Span(span)) => {
            return span.times(factor).map(Span).ok_or_else(too_large);
        }
        (Val(Value::Integer(a)), '*', Val(Value::Integer(b))) => {
            Value::Integer(a.checked_mul(b).ok_or_else(too_large)?)
        }
        (Val(Value::Integer(a)), '/', Val(Value::Integer(b))) => {
            Value::Integer(a.checked_div(b).ok_or_else(too_large)?)
        }
        (Val(a), operator, Val(b)) => {
            let (a, b) = (decimal(&a)?, decimal(&b)?);
            let result = match operator {
                '*' => a.checked_mul(b),
                _ => a.checked_div(b),
            };
            Value::Decimal(result.ok_or_else(too_large)?)
        }
        _ => return Err("this arithmetic on a span of time has no form here".to_owned()),
    };
    Ok(Constant::Value(value))
}

fn decimal(value: &Value) -> Reading<Decimal> {
    match value {
        Value::Integer(i) => Ok(Decimal::from(*i)),
        Value::Decimal(d) => Ok(*d),
        other => Err(format!("arithmetic on {} `{other}` has no form here", other.kind())),
    }
}

fn join(left: Constant, right: Constant) -> Reading<Constant> {
    match (left, right) {
        (Constant::Value(Value::Null), Constant::Value(_)) | (Constant::Value(_), Constant::Value(Value::Null)) => {
            Ok(Constant::Value(Value::Null))
        }
        (Constant::Value(a), Constant::Value(b)) => Ok(Constant::Value(Value::Text(format!("{a}{b}")))),
        _ => Err("a span of time has no text here".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Lexer;
    use tribunal_protocol::value::parse_date;

    fn value(text: &str) -> Reading<Value> {
        let tokens = Lexer::all(text).unwrap();
        let scope = Scope { clock: parse_date("2025-03-31").unwrap(), enumerations: &[] };
        let mut cursor = Cursor::new(&tokens);
        let value = read_value(&mut cursor, scope)?;
        assert!(cursor.is_done(), "{text}: {:?}", cursor.peek());
        Ok(value)
    }

    #[test]
    fn constants_mean_what_postgresql_means() {
        // By hand, as the manual of PostgreSQL has it, with the clock at 2025-03-31.
        for (text, expected) in [
            ("'0'::bigint", "integer 0"),
            ("''::character varying", "text "),
            ("- 3", "integer -3"),
            ("(((-2.50)))", "decimal -2.50"),
            ("1e3", "decimal 1000"),
            ("7 / 2", "integer 3"),
            ("7 / 2.0", "decimal 3.5"),
            ("NULL::text", "unknown NULL"),
            ("CURRENT_DATE", "date 2025-03-31"),
            ("CURRENT_DATE - 31", "date 2025-02-28"),
            ("CURRENT_DATE - INTERVAL '1 month'", "timestamp 2025-02-28T00:00:00"),
            ("(CURRENT_DATE - INTERVAL '1 month')::date", "date 2025-02-28"),
            ("NOW() - INTERVAL '5' DAY", "timestamp 2025-03-26T00:00:00"),
            ("CURRENT_TIMESTAMP - INTERVAL '1 day' + INTERVAL '10:30:00'", "timestamp 2025-03-30T10:30:00"),
            ("DATE_TRUNC('month', CURRENT_DATE) - 2 * INTERVAL '1 month'", "timestamp 2025-01-01T00:00:00"),
            ("date_trunc('week', now() - interval '1 week') + interval '1 day'", "timestamp 2025-03-25T00:00:00"),
            ("DATE '2024-02-29' - DATE '2024-02-01'", "integer 28"),
            ("CAST('2024-01-02' AS DATE) + '1 day'::interval", "timestamp 2024-01-03T00:00:00"),
            ("'a' || 'b' || 3", "text ab3"),
            ("EXTRACT(YEAR FROM CURRENT_DATE)::int - 1", "integer 2024"),
            ("date_part('dow', DATE '2025-06-29')", "integer 0"),
            ("make_date(2024, 2, 29)", "date 2024-02-29"),
            ("CURRENT_DATE + TIME '08:30'", "timestamp 2025-03-31T08:30:00"),
            ("ARRAY['a', 'b c', NULL, '']", "text {a,\"b c\",NULL,\"\"}"),
            ("TIMESTAMP '2024-01-02 03:04:05' AT TIME ZONE 'UTC'", "timestamp 2024-01-02T03:04:05"),
        ] {
            let value = value(text).unwrap();
            assert_eq!(format!("{} {value}", value.kind()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_constant_is_named() {
        for (text, part) in [
            ("random()", "other data each time"),
            ("gen_random_uuid()", "other data each time"),
            ("(SELECT 1)", "`select` has no form"),
            ("INTERVAL '1 month'", "span of time"),
            ("CURRENT_DATE - INTERVAL '1 moon'", "interval '1 moon'"),
            ("9223372036854775807 + 1", "range"),
            ("1 / 0", "range"),
            ("make_date(2023, 2, 29)", "real date"),
            ("CURRENT_DATE + 'soon'", "a time such as"),
            ("TRUE + 1", "arithmetic on boolean"),
            ("", "the statement ends"),
        ] {
            let error = value(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = format!("{}1{}", "(".repeat(200), ")".repeat(200));
        assert!(value(&deep).unwrap_err().contains("nested deeper"));
        let minus = format!("{}1", "- ".repeat(100_000));
        assert!(value(&minus).unwrap_err().contains("nested deeper"));
    }
}
