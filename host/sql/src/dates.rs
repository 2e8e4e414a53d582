//! Days, moments, and the stretches of time between them.

use chrono::{Duration, Months, NaiveDate, NaiveDateTime};
use sqlparser::ast::{BinaryOperator, DateTimeField, Expr, Interval};
use tribunal_protocol::value::{MICROS_PER_DAY, date_of, moment_of};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::rewrite::{Rewriter, convert};
use crate::types::{Span, Term, Typed};

const SECOND: i64 = 1_000_000;
/// Ten thousand years.
const MAX_MONTHS: i64 = 120_000;
const MAX_DAYS: i64 = 3_652_425;

impl Rewriter<'_> {
    /// `left op right` where a date, a moment or a stretch of time is in it; else the operands.
    pub fn with_time(
        &mut self,
        left: Term,
        op: &BinaryOperator,
        right: Term,
    ) -> Result<Result<Term, (Typed, Typed)>, Failure> {
        let done = match (left, op, right) {
            (Term::Value(base), BinaryOperator::Plus, Term::Span(span))
            | (Term::Span(span), BinaryOperator::Plus, Term::Value(base)) => self.shift(base, span)?.into(),
            (Term::Value(base), BinaryOperator::Minus, Term::Span(span)) => self.shift(base, negated(span)?)?.into(),
            (Term::Span(left), BinaryOperator::Plus | BinaryOperator::Minus, Term::Span(right)) => {
                let right = if *op == BinaryOperator::Minus { negated(right)? } else { right };
                Term::Span(added(left, right)?)
            }
            (Term::Span(span), BinaryOperator::Multiply, Term::Value(count))
            | (Term::Value(count), BinaryOperator::Multiply, Term::Span(span)) => Term::Span(times(span, count)?),
            (Term::Value(left), op, Term::Value(right)) => {
                if !is_time(left.kind) && !is_time(right.kind) {
                    return Ok(Err((left, right)));
                }
                self.between_times(left, op, right)?
            }
            (_, op, _) => {
                return Err(Failure::unsupported(format!("{op} with an interval")));
            }
        };
        Ok(Ok(done))
    }

    fn between_times(&mut self, left: Typed, op: &BinaryOperator, right: Typed) -> Result<Term, Failure> {
        match (left.kind, op, right.kind) {
            (Kind::Date, BinaryOperator::Plus, Kind::Integer) => self.add_days(left, right),
            (Kind::Integer, BinaryOperator::Plus, Kind::Date) => self.add_days(right, left),
            (Kind::Date, BinaryOperator::Minus, Kind::Integer) => {
                let zero = Typed::integer(0);
                let days = self.calculate(zero, &BinaryOperator::Minus, right)?;
                self.add_days(left, days)
            }
            (_, BinaryOperator::Minus, _) => {
                let (left, right, kind) = self.pair(left, right)?;
                if kind == Kind::Date {
                    return Ok(days_between(left, right).into());
                }
                let (left, right) = (self.micros(left)?, self.micros(right)?);
                let micros = self.calculate(left, &BinaryOperator::Minus, right)?;
                Ok(Term::Span(Span::Micros(micros)))
            }
            (left, op, right) => Err(Failure::invalid(format!("{left} {op} {right} has no meaning"))),
        }
    }

    /// A date so many days later.
    fn add_days(&mut self, date: Typed, days: Typed) -> Result<Term, Failure> {
        let span = Span::Scaled { months: 0, micros: MICROS_PER_DAY, count: days };
        let moment = self.shift(date, simplified(span)?)?;
        Ok(match moment.value() {
            Some(Value::Timestamp(micros)) => {
                let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY));
                Typed::literal(days.map_or(Value::Null, Value::Date)).into()
            }
            _ => {
                let nullable = moment.nullable;
                let expr = emit::cast(moment.expr(), Kind::Date);
                Typed::new(expr, Kind::Date, nullable).into()
            }
        })
    }

    /// A date or moment, so much later: a moment, as in PostgreSQL. Months come first, and the
    /// last day of a month stays inside it.
    fn shift(&mut self, base: Typed, span: Span) -> Result<Typed, Failure> {
        let base = match base.text() {
            Some(_) => crate::rewrite::coerce(base, Kind::Timestamp)?,
            None => base,
        };
        if base.is_null() || base.kind == Kind::Unknown {
            return Ok(crate::arith::null(Kind::Timestamp));
        }
        if !is_time(base.kind) {
            return Err(Failure::invalid(format!("an interval added to {}", base.kind)));
        }
        match span {
            Span::Fixed { months, micros } => {
                if let Some(value) = base.value() {
                    let moment = later(value, months, micros);
                    let moment = moment.ok_or_else(|| Failure::invalid("a date is out of range"))?;
                    return Ok(Typed::literal(moment));
                }
                let nullable = base.nullable;
                let mut expr = base.clone().expr();
                let mut kind = base.kind;
                if months != 0 {
                    (expr, kind) = self.add_months(base, emit::number(months))?;
                }
                if micros != 0 {
                    expr = emit::binary(expr, BinaryOperator::Plus, micros_span(micros));
                    kind = Kind::Timestamp;
                }
                if kind == Kind::Date {
                    expr = emit::cast(expr, Kind::Timestamp);
                }
                Ok(Typed::new(expr, Kind::Timestamp, nullable))
            }
            Span::Scaled { months, micros, count } => self.shift_scaled(base, months, micros, count),
            Span::Micros(_) => Err(Failure::unsupported("the difference of two timestamps added to a third")),
        }
    }

    fn shift_scaled(&mut self, base: Typed, months: i64, micros: i64, count: Typed) -> Result<Typed, Failure> {
        let nullable = base.nullable || count.nullable;
        if months != 0 && micros != 0 {
            return Err(Failure::unsupported("an interval of months and days, times a computed number"));
        }
        if count.is_null() {
            return Ok(crate::arith::null(Kind::Timestamp));
        }
        let expr = if months == 0 {
            let (unit, field) = if micros % MICROS_PER_DAY == 0 {
                (micros / MICROS_PER_DAY, DateTimeField::Day)
            } else if micros % SECOND == 0 {
                (micros / SECOND, DateTimeField::Second)
            } else {
                return Err(Failure::unsupported("an interval of fractions of a second, times a computed number"));
            };
            let total = self.calculate(count, &BinaryOperator::Multiply, Typed::integer(unit))?;
            let most = if field == DateTimeField::Day { MAX_DAYS } else { MAX_DAYS * 86_400 };
            let again = self.copy_of(&total)?;
            let moved = emit::binary(base.expr(), BinaryOperator::Plus, span(total.expr(), field));
            self.within(again, most, moved)?
        } else {
            let total = self.calculate(count, &BinaryOperator::Multiply, Typed::integer(months))?;
            let again = self.copy_of(&total)?;
            let (expr, kind) = self.add_months(base, total.expr())?;
            let moved = if kind == Kind::Date { emit::cast(expr, Kind::Timestamp) } else { expr };
            self.within(again, MAX_MONTHS, moved)?
        };
        Ok(Typed::new(expr, Kind::Timestamp, nullable))
    }

    /// `expr` where `count` is within what the engine's intervals hold, beyond which they wrap; NULL
    /// where it is NULL, of which an interval is an error in the engine.
    fn within(&mut self, count: Typed, most: i64, expr: Expr) -> Result<Expr, Failure> {
        let nullable = count.nullable;
        let mut copy = || Ok::<_, Failure>(self.copy_of(&count)?.expr());
        let inside = emit::all(vec![
            emit::binary(copy()?, BinaryOperator::GtEq, emit::number(-most)),
            emit::binary(copy()?, BinaryOperator::LtEq, emit::number(most)),
        ]);
        let mut branches = Vec::with_capacity(2);
        if nullable {
            branches.push((emit::is_null(copy()?), emit::null()));
        }
        branches.push((inside, expr));
        // No moment: an error, where a row comes to it.
        let beyond = emit::cast(emit::text("out of range"), Kind::Timestamp);
        Ok(emit::case(branches, Some(beyond)))
    }

    /// The engine's own month arithmetic fails in December and on the 31st; its ADD_MONTH, on
    /// the text of a date, does not.
    fn add_months(&mut self, base: Typed, months: Expr) -> Result<(Expr, Kind), Failure> {
        let added = |date: Expr| {
            let text = emit::cast(date, Kind::Text);
            emit::call("ADD_MONTH", vec![text, months])
        };
        if base.kind == Kind::Date {
            return Ok((added(base.expr()), Kind::Date));
        }
        let again = self.copy_of(&base)?.expr();
        let third = self.copy_of(&base)?.expr();
        let midnight = emit::cast(emit::cast(again, Kind::Date), Kind::Timestamp);
        let time = emit::binary(third, BinaryOperator::Minus, midnight);
        let date = added(emit::cast(base.expr(), Kind::Date));
        let moment = emit::binary(date, BinaryOperator::Plus, time);
        Ok((moment, Kind::Timestamp))
    }

    /// Microseconds since 1970-01-01T00:00:00.
    pub fn micros(&mut self, moment: Typed) -> Result<Typed, Failure> {
        if let Some(value) = moment.value() {
            return Ok(match convert(value, Kind::Timestamp) {
                Some(Value::Timestamp(micros)) => Typed::integer(micros),
                _ => crate::arith::null(Kind::Integer),
            });
        }
        let nullable = moment.nullable;
        let moment = crate::rewrite::coerce(moment, Kind::Timestamp)?;
        let again = self.copy_of(&moment)?;
        let part = |moment: Expr, format: &str| {
            let text = emit::call("FORMAT", vec![moment, emit::text(format)]);
            emit::cast(text, Kind::Integer)
        };
        let seconds = emit::binary(part(moment.expr(), "%s"), BinaryOperator::Multiply, emit::number(SECOND));
        let micros = emit::binary(seconds, BinaryOperator::Plus, part(again.expr(), "%6f"));
        Ok(Typed::new(micros, Kind::Integer, nullable))
    }

    /// `INTERVAL ..`.
    pub fn interval(&mut self, interval: &Interval) -> Result<Term, Failure> {
        let Interval {
            value,
            leading_field,
            leading_precision: None,
            last_field: None,
            fractional_seconds_precision: None,
        } = interval
        else {
            return Err(Failure::unsupported("an interval of two fields or with a precision"));
        };
        let scope = crate::scope::Scope::default();
        let value = self.value(value, crate::rewrite::Place::plain(&scope, "INTERVAL"))?;
        let text = match value.value() {
            Some(Value::Text(text)) => text.clone(),
            Some(value @ (Value::Integer(_) | Value::Decimal(_))) => value.to_string(),
            _ => return Err(Failure::unsupported("an interval that is no literal")),
        };
        let text = match leading_field {
            None => text,
            Some(field) => format!("{text} {field}"),
        };
        Ok(Term::Span(parse_span(&text)?))
    }
}

/// Whether a kind is a day or a moment.
pub fn is_time(kind: Kind) -> bool {
    matches!(kind, Kind::Date | Kind::Timestamp)
}

/// Days from one date to another.
fn days_between(left: Typed, right: Typed) -> Typed {
    if let (Some(Value::Date(left)), Some(Value::Date(right))) = (left.value(), right.value()) {
        return Typed::integer(i64::from(*left) - i64::from(*right));
    }
    if left.is_null() || right.is_null() {
        return crate::arith::null(Kind::Integer);
    }
    let nullable = left.nullable || right.nullable;
    let guard = nullable.then(|| {
        let known = |typed: &Typed| typed.nullable.then(|| emit::is_not_null(typed.clone().expr()));
        emit::all([known(&left), known(&right)].into_iter().flatten().collect())
    });
    let span = emit::binary(left.expr(), BinaryOperator::Minus, right.expr());
    let days = Expr::Extract {
        field: DateTimeField::Day,
        syntax: sqlparser::ast::ExtractSyntax::From,
        expr: Box::new(Expr::Nested(Box::new(span))),
    };
    // EXTRACT of NULL is an error in the engine.
    let days = match guard {
        Some(guard) => emit::case(vec![(guard, days)], None),
        None => days,
    };
    Typed::new(days, Kind::Integer, nullable)
}

fn span(value: Expr, field: DateTimeField) -> Expr {
    Expr::Interval(Interval {
        value: Box::new(value),
        leading_field: Some(field),
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    })
}

fn micros_span(micros: i64) -> Expr {
    if micros % MICROS_PER_DAY == 0 {
        let days = (micros / MICROS_PER_DAY).to_string();
        return span(emit::text(&days), DateTimeField::Day);
    }
    let seconds = rust_decimal::Decimal::new(micros, 6).normalize().to_string();
    span(emit::text(&seconds), DateTimeField::Second)
}

fn later(value: &Value, months: i64, micros: i64) -> Option<Value> {
    let moment = match value {
        Value::Date(days) => date_of(*days)?.and_hms_opt(0, 0, 0)?,
        Value::Timestamp(micros) => moment_of(*micros)?,
        _ => return None,
    };
    let count = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    let moment: NaiveDateTime =
        if months < 0 { moment.checked_sub_months(count)? } else { moment.checked_add_months(count)? };
    let moment = moment.checked_add_signed(Duration::microseconds(micros))?;
    Some(Value::Timestamp(moment.and_utc().timestamp_micros()))
}

/// The stretch the other way.
pub fn negated(span: Span) -> Result<Span, Failure> {
    let out_of_range = || Failure::invalid("an interval is out of range");
    Ok(match span {
        Span::Fixed { months, micros } => {
            Span::Fixed { months: -months, micros: micros.checked_neg().ok_or_else(out_of_range)? }
        }
        Span::Scaled { months, micros, count } => {
            Span::Scaled { months: -months, micros: micros.checked_neg().ok_or_else(out_of_range)?, count }
        }
        Span::Micros(_) => {
            return Err(Failure::unsupported("- before a difference of timestamps"));
        }
    })
}

fn added(left: Span, right: Span) -> Result<Span, Failure> {
    let (Span::Fixed { months, micros }, Span::Fixed { months: more_months, micros: more_micros }) = (left, right)
    else {
        return Err(Failure::unsupported("the sum of computed intervals"));
    };
    let micros = micros.checked_add(more_micros);
    Ok(Span::Fixed {
        months: months + more_months,
        micros: micros.ok_or_else(|| Failure::invalid("an interval is out of range"))?,
    })
}

fn times(span: Span, count: Typed) -> Result<Span, Failure> {
    let Span::Fixed { months, micros } = span else {
        return Err(Failure::unsupported("a computed interval times a number"));
    };
    if count.kind != Kind::Integer {
        return Err(Failure::unsupported(format!("an interval times {}", count.kind)));
    }
    simplified(Span::Scaled { months, micros, count })
}

/// A multiple by a literal is a literal.
fn simplified(span: Span) -> Result<Span, Failure> {
    let Span::Scaled { months, micros, count } = span else {
        return Ok(span);
    };
    let Some(number) = count.number() else {
        return Ok(Span::Scaled { months, micros, count });
    };
    match (months.checked_mul(number), micros.checked_mul(number)) {
        (Some(months), Some(micros)) => in_range(months, micros),
        _ => Err(Failure::invalid("an interval is out of range")),
    }
}

/// Reads `1 year 2 months`, `-3 days`, `1.5 hours`, `01:30:00` and their like.
///
/// # Errors
/// `invalid` where it is none of them.
pub fn parse_span(text: &str) -> Result<Span, Failure> {
    let wrong = || Failure::invalid(format!("interval `{text}` is not understood"));
    let (mut months, mut micros) = (0_i64, 0_i64);
    let mut words = text.split_whitespace().peekable();
    words.peek().ok_or_else(wrong)?;
    while let Some(word) = words.next() {
        let (more_months, more_micros) = if word.contains(':') {
            (0, clock_micros(word).ok_or_else(wrong)?)
        } else {
            let cut = word.find(|c: char| c.is_ascii_alphabetic());
            let (count, unit) = match cut {
                Some(cut) => word.split_at(cut),
                None => (word, words.next().ok_or_else(wrong)?),
            };
            let count = tribunal_protocol::value::decimal_of(count.trim_start_matches('+'));
            unit_micros(count.ok_or_else(wrong)?, unit).ok_or_else(wrong)?
        };
        months = months.checked_add(more_months).ok_or_else(wrong)?;
        micros = micros.checked_add(more_micros).ok_or_else(wrong)?;
    }
    in_range(months, micros)
}

/// Ten thousand years in both directions: what the engine's own arithmetic can hold.
fn in_range(months: i64, micros: i64) -> Result<Span, Failure> {
    if months.abs() > MAX_MONTHS || micros.abs() > MAX_DAYS * MICROS_PER_DAY {
        return Err(Failure::invalid("an interval is out of range"));
    }
    Ok(Span::Fixed { months, micros })
}

fn clock_micros(text: &str) -> Option<i64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim_start_matches('+')),
    };
    let midnight = NaiveDate::from_ymd_opt(1970, 1, 1)?.and_hms_opt(0, 0, 0)?;
    let time =
        ["%H:%M:%S%.f", "%H:%M"].iter().find_map(|format| chrono::NaiveTime::parse_from_str(text, format).ok())?;
    let passed = midnight.date().and_time(time) - midnight;
    Some(sign * passed.num_microseconds()?)
}

/// So many of a unit, as months and microseconds.
fn unit_micros(count: rust_decimal::Decimal, unit: &str) -> Option<(i64, i64)> {
    use rust_decimal::prelude::ToPrimitive;
    let unit = unit.to_ascii_lowercase().replace("ms", "millisecond");
    let months = match unit.trim_end_matches('s') {
        "year" | "yr" | "y" => 12,
        "month" | "mon" => 1,
        _ => 0,
    };
    if months > 0 {
        let months = count.checked_mul(months.into())?;
        return months.is_integer().then(|| months.to_i64())?.map(|months| (months, 0));
    }
    let micros = match unit.trim_end_matches('s') {
        "week" | "w" => 7 * MICROS_PER_DAY,
        "day" | "d" => MICROS_PER_DAY,
        "hour" | "hr" | "h" => 3_600 * SECOND,
        "minute" | "min" | "m" => 60 * SECOND,
        "second" | "sec" | "" => SECOND,
        "millisecond" => 1_000,
        "microsecond" => 1,
        _ => return None,
    };
    let micros = count.checked_mul(micros.into())?;
    micros.is_integer().then(|| micros.to_i64())?.map(|micros| (0, micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str) -> Option<(i64, i64)> {
        match parse_span(text) {
            Ok(Span::Fixed { months, micros }) => Some((months, micros)),
            _ => None,
        }
    }

    #[test]
    fn intervals_are_read_as_postgresql_reads_them() {
        let day = 86_400 * SECOND;
        for (text, expected) in [
            ("1 year 2 months", Some((14, 0))),
            ("-3 days", Some((0, -3 * day))),
            ("30 DAY", Some((0, 30 * day))),
            ("1.5 hours", Some((0, 5_400 * SECOND))),
            ("1 week", Some((0, 7 * day))),
            ("2 days 01:30:00", Some((0, 2 * day + 5_400 * SECOND))),
            ("-01:00", Some((0, -3_600 * SECOND))),
            ("90s", Some((0, 90 * SECOND))),
            ("", None),
            ("3", None),
            ("3 fortnights", None),
            ("0.5 month", None),
        ] {
            assert_eq!(fixed(text), expected, "{text}");
        }
    }

    #[test]
    fn months_stay_inside_the_month() {
        let date = |text| Value::Date(tribunal_protocol::value::parse_date(text).unwrap());
        let moment = |text| Value::Timestamp(tribunal_protocol::value::parse_timestamp(text).unwrap());
        assert_eq!(later(&date("2024-01-31"), 1, 0), Some(moment("2024-02-29")));
        assert_eq!(later(&date("2024-11-30"), 1, 0), Some(moment("2024-12-30")));
        assert_eq!(later(&date("2024-03-31"), -1, 0), Some(moment("2024-02-29")));
        assert_eq!(later(&date("2024-02-28"), 0, 2 * MICROS_PER_DAY), Some(moment("2024-03-01")));
    }
}
