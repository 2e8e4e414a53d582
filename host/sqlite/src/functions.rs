//! Functions that SQLite lacks or has otherwise, for queries in our dialect: what
//! `tribunal_sql::to_sqlite` calls. Written apart from the engine and its rewrite, so that the two
//! can disagree.

use std::sync::Arc;

use chrono::{Duration, Months, NaiveDate, NaiveDateTime};
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, Error, Result};
use rust_decimal::prelude::{FromPrimitive as _, ToPrimitive as _};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::meter::Meter;

/// Bytes of a text that a function may make, at most.
const MAX_TEXT: usize = 256 << 10;

/// What a function says that would make a longer one.
pub(crate) const TOO_LONG: &str = "a text grows too long";

type Scalar = fn(&Context<'_>) -> Result<Cell>;

/// Registers all of them; what they go over counts on the meter, where there is one.
pub(crate) fn register(connection: &Connection, meter: Option<&Arc<Meter>>) -> Result<()> {
    let scalars: &[(&str, i32, Scalar)] = &[
        ("upper", 1, |context| by_text(context, |text| text.to_uppercase())),
        ("lower", 1, |context| by_text(context, |text| text.to_lowercase())),
        ("reverse", 1, |context| by_text(context, |text| text.chars().rev().collect())),
        ("lpad", 2, |context| pad(context, true)),
        ("lpad", 3, |context| pad(context, true)),
        ("rpad", 2, |context| pad(context, false)),
        ("rpad", 3, |context| pad(context, false)),
        ("tribunal_replace", 3, replace),
        ("tribunal_substr", 2, substr),
        ("tribunal_substr", 3, substr),
        ("tribunal_left", 2, |context| side(context, true)),
        ("tribunal_right", 2, |context| side(context, false)),
        ("tribunal_round", 1, round),
        ("tribunal_round", 2, round),
        ("tribunal_trunc", 1, trunc),
        ("tribunal_trunc", 2, trunc),
        ("tribunal_mod", 2, |context| by_floats(context, |a, b| (b != 0.0).then(|| a % b))),
        ("power", 2, |context| by_floats(context, |a, b| Some(a.powf(b)))),
        ("sqrt", 1, |context| by_float(context, |x| (x >= 0.0).then(|| x.sqrt()))),
        ("ln", 1, |context| by_float(context, |x| (x > 0.0).then(|| x.ln()))),
        ("log", 1, |context| by_float(context, |x| (x > 0.0).then(|| x.log10()))),
        ("log10", 1, |context| by_float(context, |x| (x > 0.0).then(|| x.log10()))),
        ("log2", 1, |context| by_float(context, |x| (x > 0.0).then(|| x.log2()))),
        ("exp", 1, |context| by_float(context, |x| Some(x.exp()))),
        ("floor", 1, |context| step(context, f64::floor)),
        ("ceil", 1, |context| step(context, f64::ceil)),
        ("pi", 0, |_| Ok(Cell::Real(std::f64::consts::PI))),
        ("tribunal_truth", 1, truth),
        ("tribunal_greatest", -1, |context| extreme(context, false)),
        ("tribunal_least", -1, |context| extreme(context, true)),
        ("tribunal_shift", 3, shift),
        ("tribunal_micros", 1, micros),
        ("tribunal_timestamp", 1, |context| Ok(moment(context, 0)?.map_or(Cell::Null, written))),
        ("tribunal_format", 2, format),
    ];
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments, function) in scalars {
        let function = *function;
        let meter = meter.cloned();
        connection.create_scalar_function(*name, *arguments, flags, move |context| {
            let Some(meter) = &meter else { return function(context) };
            meter.given(context);
            function(context).inspect(|made| meter.made(made))
        })?;
    }
    for (name, sample, root) in [
        ("stddev", true, true),
        ("stddev_samp", true, true),
        ("stddev_pop", false, true),
        ("variance", true, false),
        ("var_samp", true, false),
        ("var_pop", false, false),
    ] {
        connection.create_aggregate_function(name, 1, flags, Spread { sample, root })?;
    }
    Ok(())
}

fn wrong(why: &str) -> Error {
    Error::UserFunctionError(why.into())
}

fn is_null(context: &Context<'_>) -> bool {
    (0..context.len()).any(|index| matches!(context.get_raw(index), ValueRef::Null))
}

fn text<'c>(context: &'c Context<'_>, index: usize) -> Result<&'c str> {
    context.get_raw(index).as_str().map_err(|_| wrong("a text expected"))
}

fn float(context: &Context<'_>, index: usize) -> Result<f64> {
    match context.get_raw(index) {
        #[expect(clippy::cast_precision_loss, reason = "a float is wanted")]
        ValueRef::Integer(i) => Ok(i as f64),
        ValueRef::Real(x) => Ok(x),
        _ => Err(wrong("a number expected")),
    }
}

fn integer(context: &Context<'_>, index: usize) -> Result<i64> {
    context.get_raw(index).as_i64().map_err(|_| wrong("an integer expected"))
}

fn by_text(context: &Context<'_>, function: fn(&str) -> String) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    Ok(Cell::Text(function(text(context, 0)?)))
}

fn by_float(context: &Context<'_>, function: fn(f64) -> Option<f64>) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    Ok(function(float(context, 0)?).map_or(Cell::Null, Cell::Real))
}

fn by_floats(context: &Context<'_>, function: fn(f64, f64) -> Option<f64>) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let (a, b) = (float(context, 0)?, float(context, 1)?);
    Ok(function(a, b).map_or(Cell::Null, Cell::Real))
}

/// FLOOR and CEIL leave integers as they are.
fn step(context: &Context<'_>, function: fn(f64) -> f64) -> Result<Cell> {
    match context.get_raw(0) {
        ValueRef::Integer(i) => Ok(Cell::Integer(i)),
        _ => match by_float(context, Some)? {
            Cell::Real(x) => Ok(Cell::Real(function(x))),
            other => Ok(other),
        },
    }
}

/// `SUBSTRING(text FROM start FOR count)`: characters before the text count, and are not there.
fn substr(context: &Context<'_>) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let start = integer(context, 1)?;
    let end = if context.len() > 2 {
        let count = integer(context, 2)?;
        if count < 0 {
            return Err(wrong("a negative length"));
        }
        start.saturating_add(count)
    } else {
        i64::MAX
    };
    let inside = |(place, char)| (start..end).contains(&place).then_some(char);
    Ok(Cell::Text((1..).zip(text(context, 0)?.chars()).filter_map(inside).collect()))
}

/// NULL for any NULL: SQLite's own gives the text where the second is empty, whatever the third is.
fn replace(context: &Context<'_>) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let (whole, old, new) = (text(context, 0)?, text(context, 1)?, text(context, 2)?);
    let grown = whole.matches(old).count().saturating_mul(new.len()).saturating_add(whole.len());
    if !old.is_empty() && grown > MAX_TEXT {
        return Err(wrong(TOO_LONG));
    }
    let replaced = if old.is_empty() { whole.to_owned() } else { whole.replace(old, new) };
    Ok(Cell::Text(replaced))
}

fn side(context: &Context<'_>, left: bool) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let chars: Vec<char> = text(context, 0)?.chars().collect();
    let count = usize::try_from(integer(context, 1)?).map_err(|_| wrong("a negative length"))?.min(chars.len());
    let cut = if left { chars.get(..count) } else { chars.get(chars.len() - count..) };
    Ok(Cell::Text(cut.unwrap_or_default().iter().collect()))
}

fn pad(context: &Context<'_>, left: bool) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let chars: Vec<char> = text(context, 0)?.chars().collect();
    let wanted = usize::try_from(integer(context, 1)?).unwrap_or(0);
    if wanted > MAX_TEXT {
        return Err(wrong(TOO_LONG));
    }
    let fill: Vec<char> = if context.len() > 2 { text(context, 2)?.chars().collect() } else { vec![' '] };
    if chars.len() >= wanted || fill.is_empty() {
        return Ok(Cell::Text(chars.into_iter().take(wanted).collect()));
    }
    let padding = fill.iter().copied().cycle().take(wanted - chars.len());
    let padded = if left { padding.chain(chars).collect() } else { chars.into_iter().chain(padding).collect() };
    Ok(Cell::Text(padded))
}

/// A number by its decimal text of 15 digits, which both of two nearly equal doubles have.
fn decimal(context: &Context<'_>) -> Result<Decimal> {
    let x = float(context, 0)?;
    Decimal::from_f64(x)
        .and_then(|exact| exact.round_sf_with_strategy(15, RoundingStrategy::MidpointAwayFromZero))
        .ok_or_else(|| wrong("a number out of range"))
}

fn by_digits(context: &Context<'_>, strategy: RoundingStrategy) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let digits = if context.len() > 1 { integer(context, 1)? } else { 0 };
    if let (ValueRef::Integer(i), 0..) = (context.get_raw(0), digits) {
        return Ok(Cell::Integer(i));
    }
    let places = u32::try_from(digits.unsigned_abs()).ok().filter(|places| *places <= 20);
    let power = Decimal::from(10).powi_checked(places.ok_or_else(|| wrong("too many digits"))?);
    let number = decimal(context)?;
    let scaled = if digits < 0 { number.checked_div(power) } else { number.checked_mul(power) };
    let rounded = scaled.ok_or_else(|| wrong("a number out of range"))?.round_dp_with_strategy(0, strategy);
    let back = if digits < 0 { rounded.checked_mul(power) } else { rounded.checked_div(power) };
    let back = back.and_then(|back| back.to_f64()).ok_or_else(|| wrong("a number out of range"))?;
    Ok(Cell::Real(back))
}

trait Power {
    fn powi_checked(self, power: u32) -> Decimal;
}

impl Power for Decimal {
    fn powi_checked(self, power: u32) -> Decimal {
        (0..power).fold(Decimal::ONE, |product, _| product * self)
    }
}

fn round(context: &Context<'_>) -> Result<Cell> {
    by_digits(context, RoundingStrategy::MidpointAwayFromZero)
}

fn trunc(context: &Context<'_>) -> Result<Cell> {
    by_digits(context, RoundingStrategy::ToZero)
}

fn truth(context: &Context<'_>) -> Result<Cell> {
    match context.get_raw(0) {
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Integer(i) => Ok(Cell::Integer((i != 0).into())),
        _ => match text(context, 0)?.trim().to_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Ok(Cell::Integer(1)),
            "false" | "f" | "no" | "n" | "off" | "0" => Ok(Cell::Integer(0)),
            _ => Err(wrong("not a boolean")),
        },
    }
}

/// GREATEST and LEAST: NULL is passed over.
fn extreme(context: &Context<'_>, least: bool) -> Result<Cell> {
    let mut best: Option<usize> = None;
    for index in 0..context.len() {
        if matches!(context.get_raw(index), ValueRef::Null) {
            continue;
        }
        let better = match best {
            None => true,
            Some(best) => match (context.get_raw(index), context.get_raw(best)) {
                (ValueRef::Text(a), ValueRef::Text(b)) => (a < b) == least && a != b,
                _ => {
                    let (a, b) = (float(context, index)?, float(context, best)?);
                    (a < b) == least && a != b
                }
            },
        };
        if better {
            best = Some(index);
        }
    }
    best.map_or(Ok(Cell::Null), |best| Cell::try_from(context.get_raw(best)).map_err(|_| wrong("a value expected")))
}

fn parsed(text: &str) -> Option<NaiveDateTime> {
    let day = |text| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .or_else(|| day(text))
}

fn moment(context: &Context<'_>, index: usize) -> Result<Option<NaiveDateTime>> {
    if matches!(context.get_raw(index), ValueRef::Null) {
        return Ok(None);
    }
    parsed(text(context, index)?).map(Some).ok_or_else(|| wrong("a date expected"))
}

fn written(moment: NaiveDateTime) -> Cell {
    Cell::Text(moment.format("%Y-%m-%d %H:%M:%S%.f").to_string())
}

/// So many months and then microseconds later; the last day of a month stays inside it.
fn shift(context: &Context<'_>) -> Result<Cell> {
    if is_null(context) {
        return Ok(Cell::Null);
    }
    let Some(base) = moment(context, 0)? else {
        return Ok(Cell::Null);
    };
    let (months, micros) = (integer(context, 1)?, integer(context, 2)?);
    let count = Months::new(u32::try_from(months.unsigned_abs()).map_err(|_| wrong("out of range"))?);
    let shifted = if months < 0 { base.checked_sub_months(count) } else { base.checked_add_months(count) };
    shifted
        .and_then(|shifted| shifted.checked_add_signed(Duration::microseconds(micros)))
        .map(written)
        .ok_or_else(|| wrong("out of range"))
}

fn micros(context: &Context<'_>) -> Result<Cell> {
    Ok(moment(context, 0)?.map_or(Cell::Null, |moment| Cell::Integer(moment.and_utc().timestamp_micros())))
}

fn format(context: &Context<'_>) -> Result<Cell> {
    let Some(moment) = moment(context, 0)? else {
        return Ok(Cell::Null);
    };
    let mut written = String::new();
    let format = moment.format(text(context, 1)?);
    std::fmt::Write::write_fmt(&mut written, format_args!("{format}")).map_err(|_| wrong("a wrong format"))?;
    Ok(Cell::Text(written))
}

/// Variance and standard deviation, by Welford's method.
struct Spread {
    sample: bool,
    root: bool,
}

#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Aggregate<Moments, Option<f64>> for Spread {
    fn init(&self, _: &mut Context<'_>) -> Result<Moments> {
        Ok(Moments::default())
    }

    fn step(&self, context: &mut Context<'_>, moments: &mut Moments) -> Result<()> {
        if is_null(context) {
            return Ok(());
        }
        let x = float(context, 0)?;
        moments.count += 1.0;
        let off = x - moments.mean;
        moments.mean += off / moments.count;
        moments.squares += off * (x - moments.mean);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, moments: Option<Moments>) -> Result<Option<f64>> {
        let moments = moments.unwrap_or_default();
        let divisor = if self.sample { moments.count - 1.0 } else { moments.count };
        let variance = (divisor > 0.0).then(|| moments.squares / divisor);
        Ok(variance.map(|variance| if self.root { variance.sqrt() } else { variance }))
    }
}
