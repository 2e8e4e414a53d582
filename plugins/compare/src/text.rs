//! Text as it is compared, and words in it.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// NFC, then trimmed and case folded where asked.
pub(crate) fn canonical(text: &str, trim: bool, ignore_case: bool) -> Cow<'_, str> {
    let nfc = if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
    let trimmed = match nfc {
        Cow::Borrowed(text) if trim => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if trim => Cow::Owned(text.trim().to_owned()),
        untouched => untouched,
    };
    if !ignore_case {
        return trimmed;
    }
    if trimmed.is_ascii() {
        return Cow::Owned(trimmed.to_ascii_lowercase());
    }
    // Folding may leave NFC, and it must see the decomposed text: Unicode, canonical caseless
    // matching (chapter 3, D145).
    let decomposed: String = trimmed.nfd().collect();
    Cow::Owned(caseless::default_case_fold_str(&decomposed).nfc().collect())
}

/// A column's name as it is matched.
pub(crate) fn name(name: &str) -> String {
    canonical(name, false, true).into_owned()
}

/// The words of a text, in NFC and case folded: runs of letters and digits.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let folded = canonical(text, false, true);
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Which terms some words name: all words of the term, whole and side by side.
pub fn named<'t, T: AsRef<str>>(found: &[String], terms: &'t [T]) -> impl Iterator<Item = &'t str> {
    terms.iter().map(AsRef::as_ref).filter(|term| {
        let wanted = words(term);
        !wanted.is_empty() && found.windows(wanted.len()).any(|run| run == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::{canonical, named, words};

    #[test]
    fn terms_are_named_by_whole_words() {
        let terms = ["period", "time window", "größe"];
        let found = |text: &str| named(&words(text), &terms).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(found("Which PERIOD?"), ["period"]);
        assert_eq!(found("the time-window, the GRÖSSE"), ["time window", "größe"]);
        assert_eq!(found("GRO\u{308}SSE"), ["größe"]);
        assert_eq!(found("the time_window"), ["time window"]);
        assert!(found("periodic; window of time; timewindow; grosse").is_empty());
        assert_eq!(named(&words("any"), &["", "?"]).count(), 0);
    }

    #[test]
    fn composed_and_decomposed_are_one_and_flags_are_off_by_default() {
        assert_eq!(canonical("e\u{301}", false, false), "é");
        assert_ne!(canonical(" a", false, false), canonical("a", false, false));
        assert_ne!(canonical("A", false, false), canonical("a", false, false));
    }

    #[test]
    fn flags_know_more_than_ascii() {
        assert_eq!(canonical("\u{a0}a\u{2003}", true, false), "a");
        assert_eq!(canonical("STRASSE", false, true), canonical("straße", false, true));
        assert_eq!(canonical("ΣΊΣΥΦΟΣ", false, true), canonical("σίσυφος", false, true));
        assert_ne!(canonical("é", false, true), canonical("e", false, true));
    }
}
