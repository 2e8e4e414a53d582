//! Patterns of LIKE: `%` any characters, `_` one, `\` the next as it stands. Read once, matched
//! against every row.

/// A pattern: what stands between its `%`, and whether one stands at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Runs of characters, of which none is any character.
    runs: Vec<Vec<Option<char>>>,
    /// Whether the first run must begin the text.
    anchored_start: bool,
    /// Whether the last run must end it.
    anchored_end: bool,
    /// The only run, where all of its characters are given: then no character need be counted.
    plain: Option<String>,
}

impl Pattern {
    /// Reads a pattern; none where it ends in its escape character.
    pub(crate) fn read(text: &str) -> Option<Pattern> {
        let mut runs: Vec<Vec<Option<char>>> = vec![Vec::new()];
        let mut chars = text.chars();
        let (mut first, mut last) = (None, None);
        while let Some(char) = chars.next() {
            let (any, one) = match char {
                '\\' => (false, Some(chars.next()?)),
                '_' => (false, None),
                '%' => (true, None),
                plain => (false, Some(plain)),
            };
            first.get_or_insert(any);
            last = Some(any);
            if any {
                runs.push(Vec::new());
            } else if let Some(run) = runs.last_mut() {
                run.push(one);
            }
        }
        let (anchored_start, anchored_end) = (first != Some(true), last != Some(true));
        let single = runs.len() == 1;
        runs.retain(|run| !run.is_empty());
        if single && runs.is_empty() {
            runs.push(Vec::new());
        }
        let plain = match runs.as_slice() {
            [run] => run.iter().copied().collect(),
            _ => None,
        };
        Some(Pattern { runs, anchored_start, anchored_end, plain })
    }

    /// Comparisons of characters that a text of so many bytes takes, at most: every place of it may
    /// be held against the whole of a run that is not at an end.
    pub(crate) fn steps(&self, bytes: u64) -> u64 {
        let plain = self.runs.iter().all(|run| run.iter().all(Option::is_some));
        let longest = self.runs.iter().map(Vec::len).max().unwrap_or(0) as u64;
        if self.runs.len() <= 1 && (plain || self.anchored_start || self.anchored_end) {
            return bytes.saturating_add(longest);
        }
        bytes.saturating_mul(longest.max(1))
    }

    /// Whether a text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        if let Some(plain) = &self.plain {
            return match (self.anchored_start, self.anchored_end) {
                (true, true) => text == plain,
                (true, false) => text.starts_with(plain),
                (false, true) => text.ends_with(plain),
                (false, false) => text.contains(plain),
            };
        }
        let chars: Vec<char> = text.chars().collect();
        self.matches_chars(&chars)
    }

    fn matches_chars(&self, mut text: &[char]) -> bool {
        let mut runs = self.runs.as_slice();
        if self.anchored_start && self.anchored_end && runs.len() == 1 {
            return runs.first().is_some_and(|run| run.len() == text.len() && fits(run, text));
        }
        if self.anchored_start
            && let Some((run, rest)) = runs.split_first()
        {
            if !fits(run, text) {
                return false;
            }
            text = text.get(run.len()..).unwrap_or_default();
            runs = rest;
        }
        if self.anchored_end
            && let Some((run, rest)) = runs.split_last()
        {
            let Some(cut) = text.len().checked_sub(run.len()) else {
                return false;
            };
            let (before, end) = text.split_at(cut);
            if !fits(run, end) {
                return false;
            }
            text = before;
            runs = rest;
        }
        // The first place that fits leaves the most for what comes after.
        for run in runs {
            let places = 0..=text.len().saturating_sub(run.len());
            let found = places.into_iter().find(|place| text.get(*place..).is_some_and(|rest| fits(run, rest)));
            let Some(place) = found else {
                return false;
            };
            text = text.get(place + run.len()..).unwrap_or_default();
        }
        true
    }
}

/// Whether a text begins with a run.
fn fits(run: &[Option<char>], text: &[char]) -> bool {
    run.len() <= text.len() && run.iter().zip(text).all(|(wanted, found)| wanted.is_none_or(|wanted| wanted == *found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, spelled out: a match of the rest at every place.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|skip| by_definition(rest, &text[skip..])),
            Some(('_', rest)) => !text.is_empty() && by_definition(rest, &text[1..]),
            Some(('\\', rest)) => {
                let (plain, rest) = rest.split_first().expect("an escaped character");
                text.first() == Some(plain) && by_definition(rest, &text[1..])
            }
            Some((plain, rest)) => text.first() == Some(plain) && by_definition(rest, &text[1..]),
        }
    }

    #[test]
    fn patterns_match_as_they_are_defined() {
        let letters = ["a", "b", "é", "%", "_", r"\%", r"\_"];
        let texts = ["", "a", "b", "ab", "aab", "abab", "é", "éa", "aéb", "a%b", "_a", "a\nb", "bbaa", "ababab"];
        let mut checked = 0;
        for length in 0..5_u32 {
            for number in 0..letters.len().pow(length) {
                let mut rest = number;
                let mut pattern = String::new();
                for _ in 0..length {
                    pattern.push_str(letters[rest % letters.len()]);
                    rest /= letters.len();
                }
                let read = Pattern::read(&pattern).expect("a whole pattern");
                let spelled: Vec<char> = pattern.chars().collect();
                for text in texts {
                    let chars: Vec<char> = text.chars().collect();
                    assert_eq!(read.matches(text), by_definition(&spelled, &chars), "{text:?} LIKE {pattern:?}");
                    checked += 1;
                }
            }
        }
        assert_eq!(checked, 14 * (1 + 7 + 49 + 343 + 2401));
        assert_eq!(Pattern::read(r"a\"), None);
    }
}
