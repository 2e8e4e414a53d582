//! Dates and timestamps as ISO text. The calendar is the proleptic Gregorian one; the day
//! numbers follow H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".

/// Microseconds in a day.
pub const DAY: i64 = 86_400_000_000;

/// Days since 1970-01-01 of `2024-01-31`; none for anything else.
#[must_use]
pub fn read_date(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    let [_, _, _, _, b'-', _, _, b'-', _, _] = bytes else {
        return None;
    };
    let (year, month, day) = (number(bytes.get(..4)?)?, number(bytes.get(5..7)?)?, number(bytes.get(8..)?)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if day < 1 || day > length {
        return None;
    }
    i32::try_from(day_number(year, month, day)).ok()
}

/// Microseconds since 1970-01-01T00:00:00 of `2024-01-31T08:30:00.5`: a blank for the `T`, no
/// seconds, no time at all, and a `Z` at the end are allowed.
#[must_use]
pub fn read_timestamp(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let days = i64::from(read_date(text.get(..10)?)?);
    let rest = text.get(10..)?.as_bytes();
    let micros = match rest {
        [] => 0,
        [b'T' | b' ', clock @ ..] => read_clock(clock)?,
        _ => return None,
    };
    Some(days * DAY + micros)
}

fn read_clock(clock: &[u8]) -> Option<i64> {
    let (hour, minute) = match clock {
        [a, b, b':', c, d, ..] => (number(&[*a, *b])?, number(&[*c, *d])?),
        _ => return None,
    };
    let (second, fraction) = match clock.get(5..)? {
        [] => (0, 0),
        [b':', a, b] => (number(&[*a, *b])?, 0),
        [b':', a, b, b'.', digits @ ..] => (number(&[*a, *b])?, micros(digits)?),
        _ => return None,
    };
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then_some(((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction)
}

/// The digits after the point as microseconds; finer ones must be 0.
fn micros(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || digits.len() > 9 || digits.iter().skip(6).any(|d| *d != b'0') {
        return None;
    }
    let mut padded = [b'0'; 6];
    padded.iter_mut().zip(digits).for_each(|(to, from)| *to = *from);
    number(&padded)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// ISO text of a day number.
#[must_use]
pub fn date_text(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// ISO text of a microsecond number, its fraction only where there is one.
#[must_use]
pub fn timestamp_text(micros: i64) -> String {
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let text = format!("{}T{hour:02}:{minute:02}:{second:02}", date_text(days));
    if fraction == 0 { text } else { format!("{text}.{fraction:06}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_days() {
        // By hand, from the definition of the epoch and the length of years.
        for (text, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("2024-02-29", 19_782),
            ("1900-03-01", -25_508),
        ] {
            assert_eq!(read_date(text), Some(days), "{text}");
            assert_eq!(date_text(i64::from(days)), text);
        }
        for wrong in ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-1-1", "24-01-01", "2024-01-01 ", ""]
        {
            assert_eq!(read_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn known_moments() {
        assert_eq!(read_timestamp("1970-01-02T00:00:01.5Z"), Some(DAY + 1_500_000));
        assert_eq!(read_timestamp("1970-01-01 00:01"), Some(60_000_000));
        assert_eq!(read_timestamp("1970-01-02"), Some(DAY));
        assert_eq!(read_timestamp("1970-01-01T00:00:00.123456000"), Some(123_456));
        assert_eq!(timestamp_text(-1), "1969-12-31T23:59:59.999999");
        for wrong in [
            "1970-01-01T24:00:00",
            "1970-01-01T00:60",
            "1970-01-01T00:00:00.1234567",
            "1970-01-01T00:00:00+01:00",
            "1970-01-01T00:00:0é",
        ] {
            assert_eq!(read_timestamp(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn texts_are_those_of_the_protocol(days in -700_000_i32..2_900_000, micros in 0..DAY) {
            let date = tribunal_protocol::value::date_text(days);
            prop_assert_eq!(&date_text(i64::from(days)), &date);
            prop_assert_eq!(read_date(&date), Some(days));
            let moment = i64::from(days) * DAY + micros;
            let text = tribunal_protocol::value::timestamp_text(moment);
            prop_assert_eq!(read_timestamp(&text), Some(moment));
            prop_assert_eq!(read_timestamp(&timestamp_text(moment)), Some(moment));
        }
    }
}
