//! Days, moments and stretches of time in SQLite's dialect.

use sqlparser::ast::{BinaryOperator, Expr, Interval};
use tribunal_protocol::{Failure, Kind, Value};

use super::{Names, Writer, text};
use crate::dates::{is_time, parse_span};
use crate::emit;
use crate::rewrite::convert;
use crate::types::Span;

/// Whether an expression is an interval literal, or a multiple of one.
pub(super) fn is_span(expr: &Expr) -> bool {
    match expr {
        Expr::Interval(_) => true,
        Expr::Nested(inner) => is_span(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => is_span(left) || is_span(right),
        _ => false,
    }
}

/// A text literal as a date or a moment of SQLite.
pub(super) fn literal(value: &str, kind: Kind) -> Result<Expr, Failure> {
    let value = Value::Text(value.to_owned());
    match convert(&value, kind) {
        Some(value) => Ok(text(&value.to_string().replace('T', " "))),
        None => Err(Failure::invalid(format!("{kind} expected, `{value}` given"))),
    }
}

/// A date as a moment.
pub(super) fn midnight(date: Expr) -> Expr {
    emit::binary(date, BinaryOperator::StringConcat, text(" 00:00:00"))
}

impl Writer<'_> {
    /// Whether an operation is one on days or moments.
    pub(super) fn has_time(&mut self, left: &Expr, right: &Expr, names: &Names<'_>) -> bool {
        is_span(left) || is_span(right) || is_time(self.kind(left, names)) || is_time(self.kind(right, names))
    }

    /// Whether an expression is the difference of two moments.
    pub(super) fn is_lapse(&mut self, expr: &Expr, names: &Names<'_>) -> bool {
        match expr {
            Expr::Nested(inner) => self.is_lapse(inner, names),
            Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => {
                let kinds = [self.kind(left, names), self.kind(right, names)];
                !is_span(left)
                    && !is_span(right)
                    && kinds.contains(&Kind::Timestamp)
                    && kinds.iter().all(|kind| is_time(*kind) || *kind == Kind::Text)
            }
            _ => false,
        }
    }

    /// A stretch of time as microseconds.
    pub(super) fn lapse(&mut self, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        match expr {
            Expr::Nested(inner) => self.lapse(*inner, names),
            Expr::Interval(interval) => match span(&interval)? {
                Span::Fixed { months: 0, micros } => Ok(emit::number(micros)),
                _ => Err(Failure::unsupported("a comparison with an interval of months")),
            },
            Expr::Value(sqlparser::ast::Value::SingleQuotedString(value)) => match parse_span(&value)? {
                Span::Fixed { months: 0, micros } => Ok(emit::number(micros)),
                _ => Err(Failure::unsupported("a comparison with an interval of months")),
            },
            Expr::BinaryOp { left, op: BinaryOperator::Minus, right } => {
                let micros = |expr| emit::call("tribunal_micros", vec![expr]);
                let (left, right) = (self.written(*left, names)?, self.written(*right, names)?);
                Ok(emit::binary(micros(left), BinaryOperator::Minus, micros(right)))
            }
            other => self.written(other, names),
        }
    }

    /// `left op right` on days and moments.
    pub(super) fn time(
        &mut self,
        left: Expr,
        op: &BinaryOperator,
        right: Expr,
        names: &Names<'_>,
    ) -> Result<Expr, Failure> {
        if is_span(&left) && *op == BinaryOperator::Plus && !is_span(&right) {
            return self.time(right, op, left, names);
        }
        let sign = if *op == BinaryOperator::Minus { -1 } else { 1 };
        if is_span(&right) && !is_span(&left) {
            let base = self.written(left, names)?;
            let (months, micros) = self.length(right, sign, names)?;
            return Ok(emit::call("tribunal_shift", vec![base, months, micros]));
        }
        let kinds = (self.kind(&left, names), self.kind(&right, names));
        match (kinds, op) {
            ((Kind::Date, Kind::Integer), BinaryOperator::Plus | BinaryOperator::Minus) => {
                self.days_later(left, right, sign, names)
            }
            ((Kind::Integer, Kind::Date), BinaryOperator::Plus) => self.days_later(right, left, 1, names),
            ((Kind::Date | Kind::Text, Kind::Date | Kind::Text), BinaryOperator::Minus) => {
                let day = |expr| emit::call("julianday", vec![expr]);
                let (left, right) = (self.written(left, names)?, self.written(right, names)?);
                let days = emit::binary(day(left), BinaryOperator::Minus, day(right));
                Ok(emit::cast(days, Kind::Integer))
            }
            _ => Err(Failure::unsupported("this arithmetic on dates in a second opinion")),
        }
    }

    fn days_later(&mut self, date: Expr, days: Expr, sign: i64, names: &Names<'_>) -> Result<Expr, Failure> {
        let (date, days) = (self.written(date, names)?, self.written(days, names)?);
        let days = emit::binary(days, BinaryOperator::Multiply, emit::number(sign));
        let modifier = emit::binary(days, BinaryOperator::StringConcat, text(" days"));
        Ok(emit::call("date", vec![date, modifier]))
    }

    /// The months and microseconds of an interval.
    fn length(&mut self, expr: Expr, sign: i64, names: &Names<'_>) -> Result<(Expr, Expr), Failure> {
        match expr {
            Expr::Nested(inner) => self.length(*inner, sign, names),
            Expr::Interval(interval) => match span(&interval)? {
                Span::Fixed { months, micros } => Ok((emit::number(months * sign), emit::number(micros * sign))),
                _ => Err(Failure::unsupported("this interval in a second opinion")),
            },
            Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
                let (interval, count) = if is_span(&left) { (*left, *right) } else { (*right, *left) };
                let count = self.written(count, names)?;
                let (months, micros) = self.length(interval, sign, names)?;
                let times = |expr| emit::binary(expr, BinaryOperator::Multiply, count.clone());
                Ok((times(months), times(micros)))
            }
            _ => Err(Failure::unsupported("this interval in a second opinion")),
        }
    }

    /// `EXTRACT(field FROM expr)`.
    pub(super) fn part(&mut self, field: &str, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        if self.is_lapse(&expr, names) {
            let micros = self.lapse(expr, names)?;
            return part_of_lapse(field, micros).map(whole);
        }
        let date = self.kind(&expr, names) == Kind::Date;
        let moment = self.written(expr, names)?;
        let micros = |moment| emit::call("tribunal_micros", vec![moment]);
        Ok(whole(match field {
            "year" => number("%Y", moment),
            "month" => number("%m", moment),
            "day" => number("%d", moment),
            "hour" => number("%H", moment),
            "minute" => number("%M", moment),
            "dow" | "dayofweek" => number("%w", moment),
            "isodow" => number("%u", moment),
            "doy" | "dayofyear" => number("%j", moment),
            "week" | "isoweek" => number("%V", moment),
            "isoyear" => number("%G", moment),
            "quarter" => {
                let shifted = emit::binary(number("%m", moment), BinaryOperator::Plus, emit::number(2));
                emit::binary(shifted, BinaryOperator::Divide, emit::number(3))
            }
            "epoch" if date => number("%s", moment),
            "epoch" => seconds(micros(moment)),
            // Before 1970 the count is negative, and so is what SQLite leaves of it.
            "second" => {
                let within = |micros| emit::binary(micros, BinaryOperator::Modulo, emit::number(60_000_000));
                let positive = emit::binary(within(micros(moment)), BinaryOperator::Plus, emit::number(60_000_000));
                seconds(within(positive))
            }
            other => return Err(Failure::unsupported(format!("EXTRACT of {other}"))),
        }))
    }

    /// `DATE_TRUNC(field, expr)`.
    pub(super) fn truncated(&mut self, field: &str, expr: Expr, names: &Names<'_>) -> Result<Expr, Failure> {
        let date = self.kind(&expr, names) == Kind::Date;
        let moment = self.written(expr, names)?;
        let format = |format: &str, moment| emit::call("strftime", vec![text(format), moment]);
        let day = match field {
            "year" => format("%Y-01-01", moment),
            "month" => format("%Y-%m-01", moment),
            "day" => emit::call("date", vec![moment]),
            "week" => {
                let arguments = vec![moment, text("-6 days"), text("weekday 1")];
                emit::call("date", arguments)
            }
            "quarter" => {
                let year = format("%Y", moment.clone());
                let month = number("%m", moment);
                let early = |last| emit::binary(month.clone(), BinaryOperator::LtEq, emit::number(last));
                let branches = vec![(early(3), text("-01-01")), (early(6), text("-04-01")), (early(9), text("-07-01"))];
                let day = emit::case(branches, Some(text("-10-01")));
                emit::binary(year, BinaryOperator::StringConcat, day)
            }
            "hour" if !date => return Ok(format("%Y-%m-%d %H:00:00", moment)),
            "minute" if !date => return Ok(format("%Y-%m-%d %H:%M:00", moment)),
            "second" if !date => return Ok(format("%Y-%m-%d %H:%M:%S", moment)),
            other => return Err(Failure::unsupported(format!("DATE_TRUNC to {other}"))),
        };
        Ok(if date { day } else { midnight(day) })
    }
}

/// An operation in the place of a call: in parentheses.
fn whole(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp { .. } => Expr::Nested(Box::new(expr)),
        other => other,
    }
}

fn span(interval: &Interval) -> Result<Span, Failure> {
    let value = match &*interval.value {
        Expr::Value(sqlparser::ast::Value::SingleQuotedString(value)) => value.clone(),
        Expr::Value(sqlparser::ast::Value::Number(number, _)) => number.to_string(),
        _ => return Err(Failure::unsupported("an interval that is no literal")),
    };
    match &interval.leading_field {
        None => parse_span(&value),
        Some(field) => parse_span(&format!("{value} {field}")),
    }
}

fn number(format: &str, moment: Expr) -> Expr {
    let part = emit::call("strftime", vec![text(format), moment]);
    emit::cast(part, Kind::Integer)
}

fn seconds(micros: Expr) -> Expr {
    let million = emit::cast(emit::number(1_000_000), Kind::Decimal);
    let million = match million {
        Expr::Cast { expr, .. } => Expr::Cast {
            kind: sqlparser::ast::CastKind::Cast,
            expr,
            data_type: sqlparser::ast::DataType::Real,
            format: None,
        },
        other => other,
    };
    emit::binary(micros, BinaryOperator::Divide, million)
}

fn part_of_lapse(field: &str, micros: Expr) -> Result<Expr, Failure> {
    let whole = |micros, unit| emit::binary(micros, BinaryOperator::Divide, emit::number(unit));
    let within = |units, most| emit::binary(units, BinaryOperator::Modulo, emit::number(most));
    Ok(match field {
        "epoch" => seconds(micros),
        "day" => whole(micros, 86_400_000_000),
        "hour" => within(whole(micros, 3_600_000_000), 24),
        "minute" => within(whole(micros, 60_000_000), 60),
        "second" => seconds(within(micros, 60_000_000)),
        other => return Err(Failure::unsupported(format!("EXTRACT of {other} from an interval"))),
    })
}
