//! Functions of days and moments, in PostgreSQL's and in SQLite's spelling. The engine formats
//! dates by chrono's specifiers, and panics on one that the value cannot fill: only specifiers of
//! ours reach it.

use sqlparser::ast::{BinaryOperator, DateTimeField, Expr, ExtractSyntax};
use tribunal_protocol::value::MICROS_PER_DAY;
use tribunal_protocol::{Failure, Kind, Value};

use crate::dates::{is_time, parse_span};
use crate::emit;
use crate::formats;
use crate::rewrite::{Place, Rewriter, convert};
use crate::types::{Span, Term, Typed};

/// Seconds from the start of the year 0 to that of 1970.
const SECONDS_TO_1970: i64 = 62_167_219_200;

impl Rewriter<'_> {
    /// A function of days and moments; none where `name` is not one.
    pub fn date_call(&mut self, name: &str, list: &[&Expr], place: Place<'_>) -> Result<Option<Typed>, Failure> {
        let result = match (name, list) {
            ("DATE_PART" | "DATE_TRUNC", [field, moment]) => {
                let field = self.value(field, place)?;
                let field = field
                    .text()
                    .map(str::to_lowercase)
                    .ok_or_else(|| Failure::unsupported(format!("{name} of a computed field")))?;
                let moment = self.term(moment, place)?;
                if name == "DATE_PART" {
                    return self.part(&field, moment).map(Some);
                }
                let moment = self.moment(moment.value()?)?;
                self.truncated(&field, moment)
            }
            ("STRFTIME", [format, moment, modifiers @ ..]) => {
                let format = self.value(format, place)?;
                let format = format
                    .text()
                    .map(formats::from_sqlite)
                    .ok_or_else(|| Failure::unsupported("STRFTIME with a computed format"))??;
                let moment = self.sqlite_moment(moment, modifiers, place)?;
                self.formatted(moment, &format)
            }
            ("TO_CHAR", [moment, format]) => {
                let format = self.value(format, place)?;
                let format = format
                    .text()
                    .map(formats::from_postgresql)
                    .ok_or_else(|| Failure::unsupported("TO_CHAR with a computed format"))??;
                let moment = self.value(moment, place)?;
                if !is_time(moment.kind) {
                    return Err(Failure::unsupported(format!("TO_CHAR of {}", moment.kind)));
                }
                self.formatted(moment, &format)
            }
            ("DATE", [moment, modifiers @ ..]) => {
                let moment = self.sqlite_moment(moment, modifiers, place)?;
                self.cast_kind(moment, Kind::Date)
            }
            ("DATETIME", [moment, modifiers @ ..]) => {
                let moment = self.sqlite_moment(moment, modifiers, place)?;
                self.cast_kind(moment, Kind::Timestamp)
            }
            ("TO_DATE", [text, format]) => {
                let format = self.value(format, place)?;
                if format.text().is_none_or(|format| !format.eq_ignore_ascii_case("YYYY-MM-DD")) {
                    return Err(Failure::unsupported("TO_DATE in another format than YYYY-MM-DD"));
                }
                let text = self.value(text, place)?;
                self.cast_kind(text, Kind::Date)
            }
            ("JULIANDAY", [moment, modifiers @ ..]) => {
                let moment = self.sqlite_moment(moment, modifiers, place)?;
                self.julian(moment)
            }
            ("UNIXEPOCH", [moment, modifiers @ ..]) => {
                let moment = self.sqlite_moment(moment, modifiers, place)?;
                let micros = self.micros(moment)?;
                // Whole seconds, rounded down also before 1970: counted from the year 0, where
                // none is negative, since the engine rounds towards zero.
                let since_zero =
                    self.calculate(micros, &BinaryOperator::Plus, Typed::integer(SECONDS_TO_1970 * 1_000_000))?;
                let seconds = self.calculate(since_zero, &BinaryOperator::Divide, Typed::integer(1_000_000))?;
                self.calculate(seconds, &BinaryOperator::Minus, Typed::integer(SECONDS_TO_1970))
            }
            _ => return Ok(None),
        };
        result.map(Some)
    }

    /// `EXTRACT(field FROM moment)`.
    pub fn extract(&mut self, field: &DateTimeField, moment: &Expr, place: Place<'_>) -> Result<Typed, Failure> {
        let moment = self.term(moment, place)?;
        self.part(&field.to_string().to_lowercase(), moment)
    }

    fn part(&mut self, field: &str, moment: Term) -> Result<Typed, Failure> {
        let moment = match moment {
            Term::Value(typed) => self.moment(typed)?,
            Term::Span(Span::Micros(micros)) => return self.part_of_span(field, micros),
            Term::Span(_) => return Err(Failure::unsupported("EXTRACT from an interval")),
        };
        let moment = if moment.text().is_some() { crate::rewrite::coerce(moment, Kind::Timestamp)? } else { moment };
        match field {
            "year" => self.field(moment, "%Y", Some(DateTimeField::Year)),
            "month" => self.field(moment, "%m", Some(DateTimeField::Month)),
            "day" => self.field(moment, "%d", Some(DateTimeField::Day)),
            "hour" => self.field(moment, "%H", None),
            "minute" => self.field(moment, "%M", None),
            "dow" | "dayofweek" => self.field(moment, "%w", None),
            "isodow" => self.field(moment, "%u", None),
            "doy" | "dayofyear" => self.field(moment, "%j", None),
            "week" | "isoweek" => self.field(moment, "%V", None),
            "isoyear" => self.field(moment, "%G", None),
            "quarter" => {
                let month = self.field(moment, "%m", Some(DateTimeField::Month))?;
                let month = self.calculate(month, &BinaryOperator::Plus, Typed::integer(2))?;
                self.calculate(month, &BinaryOperator::Divide, Typed::integer(3))
            }
            "second" => {
                let text = self.formatted(moment, "%S%.f")?;
                self.cast_kind(text, Kind::Decimal)
            }
            "epoch" => {
                let days = moment.kind == Kind::Date;
                let micros = self.micros(moment)?;
                self.seconds(micros, days)
            }
            other => Err(Failure::unsupported(format!("EXTRACT of {other}"))),
        }
    }

    /// Microseconds as seconds: an integer where they are whole, else an exact decimal.
    fn seconds(&mut self, micros: Typed, whole: bool) -> Result<Typed, Failure> {
        if whole {
            return self.calculate(micros, &BinaryOperator::Divide, Typed::integer(1_000_000));
        }
        let millionth = Typed::literal(Value::Decimal(rust_decimal::Decimal::new(1, 6)));
        self.calculate(micros, &BinaryOperator::Multiply, millionth)
    }

    /// The fields of a difference of moments: days, and what is left of a day.
    fn part_of_span(&mut self, field: &str, micros: Typed) -> Result<Typed, Failure> {
        let (unit, within) = match field {
            "epoch" => return self.seconds(micros, false),
            "day" => return self.divided(micros, MICROS_PER_DAY, None),
            "hour" => (3_600_000_000, 24),
            "minute" => (60_000_000, 60),
            "second" => {
                let rest = self.calculate(micros, &BinaryOperator::Modulo, Typed::integer(60_000_000))?;
                return self.seconds(rest, false);
            }
            other => return Err(Failure::unsupported(format!("EXTRACT of {other} from an interval"))),
        };
        self.divided(micros, unit, Some(within))
    }

    fn divided(&mut self, micros: Typed, unit: i64, within: Option<i64>) -> Result<Typed, Failure> {
        let units = self.calculate(micros, &BinaryOperator::Divide, Typed::integer(unit))?;
        match within {
            Some(within) => self.calculate(units, &BinaryOperator::Modulo, Typed::integer(within)),
            None => Ok(units),
        }
    }

    fn field(&mut self, moment: Typed, format: &str, native: Option<DateTimeField>) -> Result<Typed, Failure> {
        // EXTRACT of NULL is an error in the engine; FORMAT of it is NULL.
        if let Some(field) = native
            && !moment.nullable
        {
            let expr = Expr::Extract { field, syntax: ExtractSyntax::From, expr: Box::new(moment.expr()) };
            return Ok(Typed::new(expr, Kind::Integer, false));
        }
        let text = self.formatted(moment, format)?;
        self.cast_kind(text, Kind::Integer)
    }

    /// A moment by one of our formats.
    fn formatted(&mut self, moment: Typed, format: &str) -> Result<Typed, Failure> {
        if moment.is_null() {
            return Ok(crate::arith::null(Kind::Text));
        }
        // A moment has every field that a format may name; a day has no hour.
        let moment = self.cast_kind(moment, Kind::Timestamp)?;
        let nullable = moment.nullable;
        let text = emit::call("FORMAT", vec![moment.expr(), emit::text(format)]);
        Ok(Typed::new(text, Kind::Text, nullable))
    }

    /// `DATE_TRUNC(field, moment)`: a date stays one.
    fn truncated(&mut self, field: &str, moment: Typed) -> Result<Typed, Failure> {
        let kind = moment.kind;
        let format = match field {
            "year" => "%Y-01-01",
            "month" => "%Y-%m-01",
            "day" => return self.at_midnight(moment, kind),
            "hour" if kind == Kind::Timestamp => "%Y-%m-%dT%H:00:00",
            "minute" if kind == Kind::Timestamp => "%Y-%m-%dT%H:%M:00",
            "second" if kind == Kind::Timestamp => "%Y-%m-%dT%H:%M:%S",
            "week" => return self.monday(moment, kind),
            "quarter" => return self.quarter(moment, kind),
            other => return Err(Failure::unsupported(format!("DATE_TRUNC to {other}"))),
        };
        let text = self.formatted(moment, format)?;
        self.cast_kind(text, kind)
    }

    fn at_midnight(&mut self, moment: Typed, kind: Kind) -> Result<Typed, Failure> {
        let date = self.cast_kind(moment, Kind::Date)?;
        self.cast_kind(date, kind)
    }

    /// The Monday of a moment's week.
    fn monday(&mut self, moment: Typed, kind: Kind) -> Result<Typed, Failure> {
        let again = self.copy_of(&moment)?;
        let weekday = self.field(again, "%u", None)?;
        let back = self.calculate(Typed::integer(1), &BinaryOperator::Minus, weekday)?;
        let date = self.cast_kind(moment, Kind::Date)?;
        let monday = self.with_time(date.into(), &BinaryOperator::Plus, back.into())?;
        match monday {
            Ok(Term::Value(monday)) => self.cast_kind(monday, kind),
            _ => Err(Failure::unsupported("DATE_TRUNC to week")),
        }
    }

    /// The first day of a moment's quarter.
    fn quarter(&mut self, moment: Typed, kind: Kind) -> Result<Typed, Failure> {
        let mut branches = Vec::new();
        for (last, format) in [(3, "%Y-01-01"), (6, "%Y-04-01"), (9, "%Y-07-01")] {
            let again = self.copy_of(&moment)?;
            let month = self.field(again, "%m", None)?;
            let early = emit::binary(month.expr(), BinaryOperator::LtEq, emit::number(last));
            branches.push((early, emit::text(format)));
        }
        let format = emit::case(branches, Some(emit::text("%Y-10-01")));
        let moment = self.cast_kind(moment, Kind::Timestamp)?;
        let nullable = moment.nullable;
        let text = emit::call("FORMAT", vec![moment.expr(), format]);
        self.cast_kind(Typed::new(text, Kind::Text, nullable), kind)
    }

    /// Days since noon of the first day of the Julian calendar.
    fn julian(&mut self, moment: Typed) -> Result<Typed, Failure> {
        let micros = self.micros(moment)?;
        let micros = self.cast_kind(micros, Kind::Float)?;
        let day = Typed::literal(Value::Float(86_400_000_000.0));
        let days = self.calculate(micros, &BinaryOperator::Divide, day)?;
        let epoch = Typed::literal(Value::Float(2_440_587.5));
        self.calculate(days, &BinaryOperator::Plus, epoch)
    }

    /// A value as a day or a moment: a text is read as a moment.
    fn moment(&mut self, value: Typed) -> Result<Typed, Failure> {
        match value.kind {
            Kind::Date | Kind::Timestamp => Ok(value),
            Kind::Unknown => Ok(crate::arith::null(Kind::Timestamp)),
            Kind::Text => self.cast_kind(value, Kind::Timestamp),
            kind => Err(Failure::invalid(format!("a date expected, {kind} given"))),
        }
    }

    /// A moment as SQLite's functions take it: `now`, and modifiers after it.
    fn sqlite_moment(&mut self, moment: &Expr, modifiers: &[&Expr], place: Place<'_>) -> Result<Typed, Failure> {
        let value = self.value(moment, place)?;
        if let [first, rest @ ..] = modifiers
            && self.value(first, place)?.text().is_some_and(|text| text.trim().eq_ignore_ascii_case("unixepoch"))
        {
            let mut value = self.since_epoch(value)?;
            for modifier in rest {
                value = self.modified_by(value, modifier, place)?;
            }
            return Ok(value);
        }
        let mut value = match value.text() {
            Some(text) if text.trim().eq_ignore_ascii_case("now") => Typed::literal(Value::Date(self.catalog.clock())),
            Some(text) => {
                let date = convert(&Value::Text(text.to_owned()), Kind::Date).map(Typed::literal);
                match date {
                    Some(date) => date,
                    None => self.moment(value)?,
                }
            }
            None => self.moment(value)?,
        };
        for modifier in modifiers {
            value = self.modified_by(value, modifier, place)?;
        }
        Ok(value)
    }

    fn modified_by(&mut self, value: Typed, modifier: &Expr, place: Place<'_>) -> Result<Typed, Failure> {
        let modifier = self.value(modifier, place)?;
        let text = modifier
            .text()
            .map(|text| text.trim().to_lowercase())
            .ok_or_else(|| Failure::unsupported("a date modifier that is no literal"))?;
        self.modified(value, &text)
    }

    /// Seconds since 1970-01-01 as a moment; NULL outside the years 0 to 9999, as in SQLite.
    fn since_epoch(&mut self, seconds: Typed) -> Result<Typed, Failure> {
        const FIRST: i64 = -SECONDS_TO_1970;
        const LAST: i64 = 253_402_300_799;
        match seconds.kind {
            Kind::Integer => {}
            Kind::Unknown => return Ok(crate::arith::null(Kind::Timestamp)),
            kind => return Err(Failure::unsupported(format!("'unixepoch' of {kind}"))),
        }
        if let Some(number) = seconds.number() {
            let inside = (FIRST..=LAST).contains(&number);
            let moment = if inside { Value::Timestamp(number * 1_000_000) } else { Value::Null };
            return Ok(Typed { kind: Kind::Timestamp, ..Typed::literal(moment) });
        }
        let (low, high) = (self.copy_of(&seconds)?.expr(), self.copy_of(&seconds)?.expr());
        let inside = emit::all(vec![
            emit::binary(low, BinaryOperator::GtEq, emit::number(FIRST)),
            emit::binary(high, BinaryOperator::LtEq, emit::number(LAST)),
        ]);
        let start = Typed::literal(Value::Timestamp(0));
        let span = Span::Scaled { months: 0, micros: 1_000_000, count: seconds };
        match self.with_time(start.into(), &BinaryOperator::Plus, Term::Span(span))? {
            Ok(Term::Value(moment)) => {
                Ok(Typed::new(emit::case(vec![(inside, moment.expr())], None), Kind::Timestamp, true))
            }
            _ => Err(Failure::unsupported("'unixepoch' of this")),
        }
    }

    fn modified(&mut self, value: Typed, modifier: &str) -> Result<Typed, Failure> {
        match modifier {
            "start of month" => return self.truncated("month", value),
            "start of year" => return self.truncated("year", value),
            "start of day" => return self.truncated("day", value),
            "utc" | "localtime" | "auto" => return Ok(value),
            _ => {}
        }
        let Ok(Span::Fixed { months, micros }) = parse_span(modifier) else {
            return Err(Failure::unsupported(format!("the date modifier `{modifier}`")));
        };
        if months != 0 {
            // SQLite runs over into the next month where PostgreSQL stays in this one.
            let literal = value.value().and_then(|value| spilling(value, months, micros));
            let literal = literal.ok_or_else(|| Failure::unsupported("a date modifier of months; add an INTERVAL"))?;
            return Ok(Typed::literal(literal));
        }
        let date = value.kind == Kind::Date && micros % MICROS_PER_DAY == 0;
        let span = Term::Span(Span::Fixed { months, micros });
        match self.with_time(value.into(), &BinaryOperator::Plus, span)? {
            Ok(Term::Value(moment)) if date => self.day_of(moment),
            Ok(Term::Value(moment)) => Ok(moment),
            _ => Err(Failure::unsupported(format!("the date modifier `{modifier}`"))),
        }
    }

    fn day_of(&mut self, moment: Typed) -> Result<Typed, Failure> {
        if let Some(Value::Timestamp(micros)) = moment.value()
            && let Ok(days) = i32::try_from(micros.div_euclid(MICROS_PER_DAY))
        {
            return Ok(Typed::literal(Value::Date(days)));
        }
        self.cast_kind(moment, Kind::Date)
    }
}

/// A day or moment so many months later, by SQLite's rule: the 31st of a month of 30 days is the
/// first of the next.
fn spilling(value: &Value, months: i64, micros: i64) -> Option<Value> {
    use chrono::{Datelike, Duration, NaiveDate};
    use tribunal_protocol::value::{date_of, days_of, moment_of};
    let moment = match value {
        Value::Date(days) => date_of(*days)?.and_hms_opt(0, 0, 0)?,
        Value::Timestamp(micros) => moment_of(*micros)?,
        _ => return None,
    };
    let month = i64::from(moment.year()) * 12 + i64::from(moment.month0()) + months;
    let year = i32::try_from(month.div_euclid(12)).ok()?;
    let first = NaiveDate::from_ymd_opt(year, u32::try_from(month.rem_euclid(12)).ok()? + 1, 1)?;
    let date = first.checked_add_signed(Duration::days(i64::from(moment.day0())))?;
    let moment = date.and_time(moment.time()).checked_add_signed(Duration::microseconds(micros))?;
    Some(match value {
        Value::Date(_) if micros % MICROS_PER_DAY == 0 => Value::Date(days_of(moment.date())),
        _ => Value::Timestamp(moment.and_utc().timestamp_micros()),
    })
}
