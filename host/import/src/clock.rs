//! The pinned clock, and PostgreSQL's calendar arithmetic from it.

use chrono::{Days, Months, NaiveDate, NaiveDateTime};

/// What `now` is in an imported suite unless another date is asked for. A fixed day: the end of
/// a half year, so that the last month, quarter and half year are all complete; far enough from
/// the fixed dates of common sample data to keep `the last N years` meaningful.
pub const DEFAULT_CLOCK: &str = "2025-06-30";

/// A span of time as PostgreSQL keeps it: months, days and microseconds do not convert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Calendar months.
    pub months: i64,
    /// Calendar days.
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

/// Units of PostgreSQL's interval text, with what one of them is.
const UNITS: [(&[&str], Interval); 11] = [
    (&["microsecond", "us"], span(0, 0, 1)),
    (&["millisecond", "ms"], span(0, 0, 1_000)),
    (&["second", "sec", "s"], span(0, 0, 1_000_000)),
    (&["minute", "min", "m"], span(0, 0, 60_000_000)),
    (&["hour", "hr", "h"], span(0, 0, 3_600_000_000)),
    (&["day", "d"], span(0, 1, 0)),
    (&["week", "w"], span(0, 7, 0)),
    (&["month", "mon"], span(1, 0, 0)),
    (&["quarter"], span(3, 0, 0)),
    (&["year", "yr", "y"], span(12, 0, 0)),
    (&["decade"], span(120, 0, 0)),
];

const fn span(months: i64, days: i64, micros: i64) -> Interval {
    Interval { months, days, micros }
}

impl Interval {
    /// This span `factor` times.
    pub fn times(self, factor: i64) -> Option<Interval> {
        Some(span(self.months.checked_mul(factor)?, self.days.checked_mul(factor)?, self.micros.checked_mul(factor)?))
    }

    /// The sum of two spans.
    pub fn plus(self, other: Interval) -> Option<Interval> {
        Some(span(
            self.months.checked_add(other.months)?,
            self.days.checked_add(other.days)?,
            self.micros.checked_add(other.micros)?,
        ))
    }

    /// Reads PostgreSQL's verbose form: `1 month`, `2 years -3 days`, `1 day 04:05:06`,
    /// `10 days ago`. With `unit`, bare digits are that unit (`INTERVAL '3' MONTH`).
    pub fn parse(text: &str, unit: Option<&str>) -> Option<Interval> {
        let mut words = text.split_whitespace().peekable();
        let mut total = Interval::default();
        let mut any = false;
        while let Some(word) = words.next() {
            if any && word.eq_ignore_ascii_case("ago") && words.peek().is_none() {
                return total.times(-1);
            }
            any = true;
            if word.contains(':') {
                total = total.plus(clock_time(word)?)?;
                continue;
            }
            // `3days` is lawful too: the number ends where the letters begin.
            let split = word.find(char::is_alphabetic).unwrap_or(word.len());
            let (number, glued) = (word.get(..split)?, word.get(split..)?);
            let count: i64 = number.strip_prefix('+').unwrap_or(number).parse().ok()?;
            let name = match glued {
                "" => words.next().or(unit)?,
                glued => glued,
            };
            total = total.plus(unit_of(name)?.times(count)?)?;
        }
        any.then_some(total)
    }

    /// The moment this span after `moment`: months first, clamped to the end of the month, then
    /// days, then microseconds.
    pub fn after(self, moment: NaiveDateTime) -> Option<NaiveDateTime> {
        let months = Months::new(u32::try_from(self.months.unsigned_abs()).ok()?);
        let moment =
            if self.months < 0 { moment.checked_sub_months(months)? } else { moment.checked_add_months(months)? };
        let days = Days::new(self.days.unsigned_abs());
        let moment = if self.days < 0 { moment.checked_sub_days(days)? } else { moment.checked_add_days(days)? };
        moment.checked_add_signed(chrono::TimeDelta::microseconds(self.micros))
    }
}

fn unit_of(name: &str) -> Option<Interval> {
    let name = name.to_ascii_lowercase();
    let singular = name.strip_suffix('s').filter(|stem| stem.len() > 1);
    UNITS.iter().find_map(|(names, interval)| {
        let is_it = |n: &&str| *n == name || singular == Some(*n);
        names.iter().any(is_it).then_some(*interval)
    })
}

/// `[-]HH:MM[:SS[.ffffff]]`.
fn clock_time(text: &str) -> Option<Interval> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut parts = text.split(':');
    let hours: i64 = parts.next()?.parse().ok()?;
    let minutes: i64 = parts.next()?.parse().ok()?;
    let (seconds, fraction) = match parts.next() {
        None => (0, 0),
        Some(part) => {
            let (whole, fraction) = part.split_once('.').unwrap_or((part, ""));
            if fraction.len() > 6 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
            (whole.parse().ok()?, micros)
        }
    };
    let in_range = (0..60).contains(&minutes) && (0..60).contains(&seconds);
    if parts.next().is_some() || !in_range || hours < 0 {
        return None;
    }
    let seconds = hours.checked_mul(3_600)?.checked_add(minutes * 60 + seconds)?;
    Some(span(0, 0, sign * (seconds.checked_mul(1_000_000)?.checked_add(fraction)?)))
}

/// The start of the unit that `moment` is in, as PostgreSQL's `date_trunc` has it (weeks start
/// on Monday).
pub(crate) fn truncate(unit: &str, moment: NaiveDateTime) -> Option<NaiveDateTime> {
    use chrono::{Datelike, Timelike};
    let date = moment.date();
    let day = |year: i32, month: u32| NaiveDate::from_ymd_opt(year, month, 1);
    let date = match unit.to_ascii_lowercase().as_str() {
        "second" => return moment.with_nanosecond(0),
        "minute" => return moment.with_nanosecond(0)?.with_second(0),
        "hour" => return moment.with_nanosecond(0)?.with_second(0)?.with_minute(0),
        "day" => date,
        "week" => {
            let since_monday = u64::from(date.weekday().num_days_from_monday());
            date.checked_sub_days(Days::new(since_monday))?
        }
        "month" => day(date.year(), date.month())?,
        "quarter" => day(date.year(), (date.month() - 1) / 3 * 3 + 1)?,
        "year" => day(date.year(), 1)?,
        _ => return None,
    };
    date.and_hms_opt(0, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> NaiveDateTime {
        text.parse().unwrap()
    }

    fn moved(from: &str, interval: &str) -> NaiveDateTime {
        let interval = Interval::parse(interval, None).unwrap();
        interval.after(moment(from)).unwrap()
    }

    #[test]
    fn months_end_where_postgresql_ends_them() {
        // By hand, after the rule in the manual of PostgreSQL: months, then days, then time.
        for (from, interval, to) in [
            ("2024-03-31T00:00:00", "-1 month", "2024-02-29T00:00:00"),
            ("2023-03-31T00:00:00", "-1 month", "2023-02-28T00:00:00"),
            ("2024-02-29T00:00:00", "-1 year", "2023-02-28T00:00:00"),
            ("2025-06-30T00:00:00", "8 months", "2026-02-28T00:00:00"),
            ("2025-01-31T00:00:00", "1 mon 1 day", "2025-03-01T00:00:00"),
            ("2025-06-30T00:00:00", "1 month ago", "2025-05-30T00:00:00"),
            ("2025-06-30T00:00:00", "-02:30", "2025-06-29T21:30:00"),
            ("2025-06-30T00:00:00", "2 weeks 3days", "2025-07-17T00:00:00"),
            ("2025-06-30T00:00:00", "1 day 00:00:01.5", "2025-07-01T00:00:01.500"),
        ] {
            assert_eq!(moved(from, interval), moment(to), "{from} + {interval}");
        }
    }

    #[test]
    fn two_steps_are_not_one() {
        // 31 March - 1 month - 1 month is 29 January; - 2 months at once is 31 January.
        let once = moved("2024-03-31T00:00:00", "-2 months");
        let back = Interval::parse("-1 month", None).unwrap();
        let twice = back.after(back.after(moment("2024-03-31T00:00:00")).unwrap());
        assert_eq!(once, moment("2024-01-31T00:00:00"));
        assert_eq!(twice.unwrap(), moment("2024-01-29T00:00:00"));
    }

    #[test]
    fn a_unit_may_stand_outside_and_nonsense_is_refused() {
        let three = Interval::parse("3", Some("MONTH")).unwrap();
        assert_eq!(three, span(3, 0, 0));
        assert_eq!(Interval::parse("1 minute", None).unwrap(), span(0, 0, 60_000_000));
        for wrong in ["", "3", "1.5 months", "P1M", "1 fortnight", "1 2 days x", "ago", "25:61"] {
            assert_eq!(Interval::parse(wrong, None), None, "{wrong}");
        }
    }

    #[test]
    fn units_start_where_postgresql_starts_them() {
        // 2025-06-29 is a Sunday: its week starts on Monday the 23rd.
        let from = moment("2025-06-29T13:14:15.5");
        for (unit, to) in [
            ("week", "2025-06-23T00:00:00"),
            ("month", "2025-06-01T00:00:00"),
            ("quarter", "2025-04-01T00:00:00"),
            ("year", "2025-01-01T00:00:00"),
            ("HOUR", "2025-06-29T13:00:00"),
        ] {
            assert_eq!(truncate(unit, from), Some(moment(to)), "{unit}");
        }
        assert_eq!(truncate("century", from), None);
    }
}
