//! Figures and words as a person reads them.

use tribunal_protocol::verdict::Difference;

use crate::estimate::ratio;

/// A share as `62.5%`. All and none read `100%` and `0%`, and nothing else does.
pub(crate) fn percent(share: f64) -> String {
    if share <= 0.0 {
        return "0%".to_owned();
    }
    if share >= 1.0 {
        return "100%".to_owned();
    }
    format!("{:.1}%", (share * 100.0).clamp(0.1, 99.9))
}

/// A difference of shares in percentage points: `+9.1`, `−3.0`, `0.0`.
pub(crate) fn points(points: f64) -> String {
    let text = format!("{:.1}", points.abs());
    match text.as_str() {
        "0.0" => text,
        _ if points < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// A number with at most two decimals, and none that say nothing: `2`, `1.25`.
pub(crate) fn decimal(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

/// `3 of 4`.
pub(crate) fn of(part: u64, whole: u64) -> String {
    format!("{} of {}", grouped(part), grouped(whole))
}

/// A number with commas: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number in three digits: `9,999`, `12.3 k`, `4.56 M`.
pub(crate) fn brief(number: u64) -> String {
    if number < 10_000 {
        return grouped(number);
    }
    let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    // Rounding may reach the next unit (999,950 is 1.00 M), so the unit is chosen after it.
    let fits = |unit: &&(u64, &str)| ratio(number, unit.0) >= 0.9995;
    let (size, name) = units.iter().find(fits).copied().unwrap_or((1_000, "k"));
    let scaled = ratio(number, size);
    let decimals = match scaled {
        x if x >= 99.95 => 0,
        x if x >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {name}")
}

/// A mean of counts: `3.5`, `12.3 k`; a dash where there is nothing to take it of.
pub(crate) fn mean(sum: u64, count: u64) -> String {
    match count {
        0 => "–".to_owned(),
        _ if sum / count < 1_000 => format!("{:.1}", ratio(sum, count)),
        _ => brief(sum / count),
    }
}

/// An amount: `3.5`, `1,234`, `12.3 k`.
pub(crate) fn amount(amount: f64) -> String {
    if amount < 1_000.0 {
        return format!("{amount:.1}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an amount is above 0 and far below 2^64"
    )]
    let whole = amount.round() as u64;
    brief(whole)
}

/// `1 step`, `2 steps`: a count and its noun.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

/// `answer, row 3, column total: 120.00 expected, 240.00 found`. Rows are counted from 1 here.
pub(crate) fn difference(difference: &Difference) -> String {
    format!("{}: {} expected, {} found", place(difference), filled(&difference.expected), filled(&difference.found))
}

/// `answer, row 3, column total`. Rows are counted from 1 here.
pub(crate) fn place(difference: &Difference) -> String {
    let mut text = difference.path.clone();
    if let Some(row) = difference.row {
        text.push_str(&format!(", row {}", u64::from(row) + 1));
    }
    if let Some(column) = &difference.column {
        text.push_str(&format!(", column {column}"));
    }
    text
}

/// The text, or a word for its absence.
pub(crate) fn filled(text: &str) -> &str {
    if text.is_empty() { "(nothing)" } else { text }
}

/// At most `most` characters, with a note of how many follow; and every character that could
/// hide or reorder others made visible, because what is shown comes from tools and agents.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut shown: String = visible(text.chars().take(most));
    let rest = text.chars().skip(most).count();
    if rest > 0 {
        shown.push_str(&format!(" … {} more characters", grouped(rest as u64)));
    }
    shown
}

fn visible(text: impl Iterator<Item = char>) -> String {
    let mut shown = String::new();
    for c in text {
        match c {
            '\n' | '\t' => shown.push(c),
            // Bidirectional controls, zero-width characters and tags look like nothing.
            '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}' => shown.extend(c.escape_unicode()),
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_and_none_read_as_such() {
        let cases =
            [(0.0, "0%"), (0.000_1, "0.1%"), (0.5, "50.0%"), (2.0 / 3.0, "66.7%"), (0.999_9, "99.9%"), (1.0, "100%")];
        for (share, text) in cases {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn numbers_read_easily() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        let cases =
            [(9_999, "9,999"), (12_345, "12.3 k"), (123_456, "123 k"), (999_950, "1.00 M"), (4_560_000, "4.56 M")];
        for (number, text) in cases {
            assert_eq!(brief(number), text);
        }
        assert_eq!(mean(7, 2), "3.5");
        assert_eq!(mean(24_690, 2), "12.3 k");
        assert_eq!(mean(5, 0), "–");
        assert_eq!((count(1, "step"), count(2, "step")), ("1 step".into(), "2 steps".into()));
    }

    #[test]
    fn points_have_a_sign_and_nothing_has_none() {
        for (number, text) in [(9.08, "+9.1"), (-3.0, "−3.0"), (0.0, "0.0"), (-0.04, "0.0"), (0.05, "+0.1")] {
            assert_eq!(points(number), text);
        }
        for (number, text) in [(2.0, "2"), (1.25, "1.25"), (0.5, "0.5"), (-0.001, "0"), (-2.5, "−2.5"), (100.0, "100")]
        {
            assert_eq!(decimal(number), text);
        }
    }

    #[test]
    fn amounts_read_easily() {
        for (number, text) in [(0.0, "0.0"), (5.55, "5.5"), (999.9, "999.9"), (1_000.4, "1,000"), (161_000.0, "161 k")]
        {
            assert_eq!(amount(number), text);
        }
    }

    #[test]
    fn what_hides_is_made_visible_and_what_is_long_is_cut() {
        assert_eq!(shown("a\u{202e}b\u{0}\u{7}c\nd", 99), "a\\u{202e}b\\u{0}\\u{7}c\nd");
        assert_eq!(shown("née 株", 99), "née 株");
        assert_eq!(shown(&"x".repeat(1_500), 10), "xxxxxxxxxx … 1,490 more characters");
    }
}
