//! Functions of texts, by character.

/// The characters from place `start` (the first is 1), `count` of them at most. Places before the
/// text count and are not there. None for a negative count.
pub(super) fn slice(text: &str, start: i64, count: Option<i64>) -> Option<String> {
    let end = match count {
        Some(count) if count < 0 => return None,
        Some(count) => start.saturating_add(count),
        None => i64::MAX,
    };
    let skip = usize::try_from(start.saturating_sub(1)).unwrap_or(0);
    let take = usize::try_from(end.saturating_sub(start.max(1))).unwrap_or(0);
    Some(text.chars().skip(skip).take(take).collect())
}

/// The first `count` characters, or the last. None for a negative count.
pub(super) fn side(text: &str, count: i64, left: bool) -> Option<String> {
    let count = usize::try_from(count).ok()?;
    let skip = if left { 0 } else { text.chars().count().saturating_sub(count) };
    Some(text.chars().skip(skip).take(count).collect())
}

/// The place of the first occurrence, from 1; 0 where there is none.
pub(super) fn position(text: &str, part: &str) -> i64 {
    let before = text.find(part).and_then(|place| text.get(..place));
    before.map_or(0, |before| i64::try_from(before.chars().count()).unwrap_or(i64::MAX).saturating_add(1))
}

/// The text without the characters of `set` at its ends.
pub(super) fn trimmed(text: &str, set: &str, left: bool, right: bool) -> String {
    let inside = |char: char| set.contains(char);
    let mut rest = text;
    if left {
        rest = rest.trim_start_matches(inside);
    }
    if right {
        rest = rest.trim_end_matches(inside);
    }
    rest.to_owned()
}

/// The text with `fill` before or behind it until it has `length` characters; cut off at the end
/// where it has more. None for more than `most` characters.
pub(super) fn padded(text: &str, length: i64, fill: &str, left: bool, most: usize) -> Option<String> {
    let length = usize::try_from(length).unwrap_or(0);
    if length > most {
        return None;
    }
    let own = text.chars().count();
    let missing = length.saturating_sub(own);
    if missing == 0 || fill.is_empty() {
        return Some(text.chars().take(length).collect());
    }
    let padding = fill.chars().cycle().take(missing);
    Some(if left { padding.chain(text.chars()).collect() } else { text.chars().chain(padding).collect() })
}

/// The text with every occurrence of `old` replaced. None where it would have more than `most`
/// bytes.
pub(super) fn replaced(text: &str, old: &str, new: &str, most: usize) -> Option<String> {
    if old.is_empty() {
        return Some(text.to_owned());
    }
    let found = if new.len() > old.len() { text.matches(old).count() } else { 0 };
    let grown = new.len().saturating_sub(old.len()).saturating_mul(found);
    (text.len().saturating_add(grown) <= most).then(|| text.replace(old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_character() {
        // (text, start, count, expected), by PostgreSQL's rule for places before the text.
        for (text, start, count, expected) in [
            ("héllo", 2, Some(2), Some("él")),
            ("héllo", 0, Some(2), Some("h")),
            ("héllo", -1, Some(3), Some("h")),
            ("héllo", -5, Some(2), Some("")),
            ("héllo", 9, None, Some("")),
            ("日本", 2, None, Some("本")),
            ("abc", i64::MIN, None, Some("abc")),
            ("abc", i64::MAX, Some(i64::MAX), Some("")),
            ("abc", 1, Some(-1), None),
        ] {
            assert_eq!(slice(text, start, count).as_deref(), expected, "{text} {start} {count:?}");
        }
        assert_eq!(side("héllo", 2, true).as_deref(), Some("hé"));
        assert_eq!(side("hélló", 2, false).as_deref(), Some("ló"));
        assert_eq!(side("é", 9, false).as_deref(), Some("é"));
        assert_eq!(side("é", -1, true), None);
    }

    #[test]
    fn places_trims_and_paddings_count_characters() {
        assert_eq!(position("naïve", "ve"), 4);
        assert_eq!(position("naïve", ""), 1);
        assert_eq!(position("naïve", "z"), 0);
        assert_eq!(trimmed("éaé", "é", true, true), "a");
        assert_eq!(trimmed("xaxy", "yx", false, true), "xa");
        assert_eq!(trimmed("ab", "", true, true), "ab");
        assert_eq!(padded("é", 3, "ab", true, 9).as_deref(), Some("abé"));
        assert_eq!(padded("éab", 2, "x", false, 9).as_deref(), Some("éa"));
        assert_eq!(padded("a", 5, "", false, 9).as_deref(), Some("a"));
        assert_eq!(padded("a", -1, "x", false, 9).as_deref(), Some(""));
        assert_eq!(padded("a", 10, "x", false, 9), None);
        assert_eq!(replaced("aXbX", "X", "éé", 10).as_deref(), Some("aéébéé"));
        assert_eq!(replaced("aXbX", "X", "éé", 9), None);
        assert_eq!(replaced("ab", "", "x", 9).as_deref(), Some("ab"));
    }
}
