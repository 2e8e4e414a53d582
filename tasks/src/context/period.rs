//! Calendar periods as parameters.

use chrono::{Datelike as _, Days, Months, NaiveDate};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::random::Stream;

/// The units of a calendar period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// A month.
    Month,
    /// A quarter of a year.
    Quarter,
    /// Half a year.
    Half,
    /// A year.
    Year,
}

impl Unit {
    fn months(self) -> u32 {
        match self {
            Unit::Month => 1,
            Unit::Quarter => 3,
            Unit::Half => 6,
            Unit::Year => 12,
        }
    }

    fn label(self, start: NaiveDate) -> String {
        let ordinal = ["first", "second", "third", "fourth"];
        let nth = ordinal.get((start.month0() / self.months()) as usize).copied().unwrap_or("");
        match self {
            Unit::Month => start.format("%B %Y").to_string(),
            Unit::Quarter => format!("the {nth} quarter of {}", start.year()),
            Unit::Half => format!("the {nth} half of {}", start.year()),
            Unit::Year => format!("the year {}", start.year()),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Month => "month",
            Unit::Quarter => "quarter",
            Unit::Half => "half-year",
            Unit::Year => "year",
        }
    }
}

/// Draws a period that lies inside the window and has another of its kind before it there.
/// Gives `from`, `until` (the day after the last), `last`, `label`, `span`, `unit`, `months`
/// (its months, each as `from`, `until`, `label`, `code`), `previous` and `next` (as far as
/// `label`).
pub(crate) fn draw(of: &[Unit], window: &[String; 2], stream: &mut Stream) -> Result<Json, String> {
    let (low, high) = bounds(window)?;
    let mut fitting = Vec::new();
    for unit in of {
        let length = Months::new(unit.months());
        let mut start = NaiveDate::from_ymd_opt(low.year(), 1, 1);
        while let Some(day) = start
            && day <= high
        {
            let previous = day.checked_sub_months(length);
            let until = day.checked_add_months(length);
            if let (Some(previous), Some(until)) = (previous, until)
                && previous >= low
                && until <= high
            {
                fitting.push((*unit, day));
            }
            start = until;
        }
    }
    let (unit, start) =
        stream.pick(&fitting).ok_or_else(|| format!("no period with another before it between {low} and {high}"))?;
    whole(*unit, *start).ok_or_else(|| "the calendar ends here".to_owned())
}

fn whole(unit: Unit, start: NaiveDate) -> Option<Json> {
    let mut period = plain(unit, start)?;
    let length = Months::new(unit.months());
    period["previous"] = plain(unit, start.checked_sub_months(length)?)?;
    period["next"] = plain(unit, start.checked_add_months(length)?)?;
    let months = (0..unit.months()).map(|nth| {
        let month = start.checked_add_months(Months::new(nth))?;
        let mut named = plain(Unit::Month, month)?;
        named["code"] = month.format("%Y-%m").to_string().into();
        Some(named)
    });
    period["months"] = months.collect::<Option<Vec<_>>>()?.into();
    Some(period)
}

fn plain(unit: Unit, start: NaiveDate) -> Option<Json> {
    let until = start.checked_add_months(Months::new(unit.months()))?;
    let last = until.checked_sub_days(Days::new(1))?;
    Some(json!({
        "unit": unit.name(),
        "from": start.to_string(),
        "until": until.to_string(),
        "last": last.to_string(),
        "label": unit.label(start),
        "span": format!("{start} to {last}"),
    }))
}

/// Draws the last day of a month inside the window: `date`, `next` (the day after), `label`.
pub(crate) fn month_end(window: &[String; 2], stream: &mut Stream) -> Result<Json, String> {
    let (low, high) = bounds(window)?;
    let mut ends = Vec::new();
    let mut first = NaiveDate::from_ymd_opt(low.year(), low.month(), 1);
    while let Some(next) = first.and_then(|day| day.checked_add_months(Months::new(1))) {
        match next.checked_sub_days(Days::new(1)) {
            Some(end) if end < high => ends.push((end, next)),
            _ => break,
        }
        first = Some(next);
    }
    let (end, next) = stream.pick(&ends).ok_or_else(|| format!("no month ends between {low} and {high}"))?;
    Ok(json!({
        "date": end.to_string(),
        "next": next.to_string(),
        "label": format!("the end of {}", end.format("%-d %B %Y")),
        "day": end.format("%-d %B %Y").to_string(),
    }))
}

fn bounds(window: &[String; 2]) -> Result<(NaiveDate, NaiveDate), String> {
    let read = |text: &String| {
        NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| format!("window: date expected, `{text}` given"))
    };
    Ok((read(&window[0])?, read(&window[1])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_knows_its_days() {
        let start = NaiveDate::from_ymd_opt(2025, 4, 1).unwrap();
        let period = whole(Unit::Quarter, start).unwrap();
        assert_eq!(period["until"], "2025-07-01");
        assert_eq!(period["last"], "2025-06-30");
        assert_eq!(period["label"], "the second quarter of 2025");
        assert_eq!(period["previous"]["from"], "2025-01-01");
        assert_eq!(period["months"][2]["code"], "2025-06");
    }

    #[test]
    fn draws_stay_inside_the_window() {
        let window = ["2025-01-01".to_owned(), "2026-01-01".to_owned()];
        for seed in 0..200 {
            let mut stream = Stream::new(seed, &["p"]);
            let period = draw(&[Unit::Month, Unit::Quarter], &window, &mut stream).unwrap();
            assert!(period["previous"]["from"].as_str().unwrap() >= "2025-01-01");
            assert!(period["until"].as_str().unwrap() <= "2026-01-01");
            let end = month_end(&window, &mut stream).unwrap();
            assert!(end["next"].as_str().unwrap() <= "2026-01-01");
        }
        let narrow = ["2025-01-01".to_owned(), "2025-02-01".to_owned()];
        assert!(draw(&[Unit::Month], &narrow, &mut Stream::new(0, &[])).is_err());
    }
}
