//! What is specific to imported gold, before any engine sees it: the pinned clock for `now`, and
//! no schema prefixes. The result is still SQLite's dialect; both engines get the same text.

use std::collections::BTreeSet;

use crate::cursor::Reading;
use crate::token::{Lexer, Token, TokenKind};

/// SQLite's date and time functions.
const DATE_FUNCTIONS: [&str; 7] = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"];

/// What pinning needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pin<'p> {
    /// The clock as an ISO date.
    pub clock: &'p str,
    /// Schema prefixes, lower case.
    pub prefixes: &'p BTreeSet<String>,
    /// Table names, lower case.
    pub tables: &'p BTreeSet<String>,
}

impl Pin<'_> {
    /// The gold with every `now` replaced by the clock and every schema prefix dropped.
    ///
    /// # Errors
    /// What would make it give other results each time or in other places.
    pub fn gold(&self, gold: &str) -> Reading<String> {
        let tokens = Lexer::all(gold).map_err(|error| error.what.to_owned())?;
        let mut edits = Edits::new(gold);
        // For each open parenthesis: whether it holds the arguments of a date function.
        let mut calls: Vec<bool> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1);
            let opens = next.is_some_and(|token| token.is_symbol("("));
            let in_date = calls.last().copied().unwrap_or(false);
            if token.is_symbol("(") {
                let name = at.checked_sub(1).and_then(|at| tokens.get(at));
                calls.push(name.is_some_and(is_date_function));
                let closes = next.is_some_and(|token| token.is_symbol(")"));
                if calls.last() == Some(&true) && closes {
                    // `date()` is `date('now')`.
                    edits.replace(token.end, token.end, &self.text());
                }
                let ends = tokens.get(at + 2).is_some_and(|token| token.is_symbol(")"));
                if ends && name.is_some_and(|name| name.is_word("strftime")) {
                    // `strftime(format)` is `strftime(format, 'now')`.
                    let end = next.map_or(token.end, |token| token.end);
                    edits.replace(end, end, &format!(", {}", self.text()));
                }
            } else if token.is_symbol(")") {
                calls.pop();
            } else if in_date && token.kind == TokenKind::Text {
                if token.text.eq_ignore_ascii_case("now") {
                    edits.replace(token.start, token.end, &self.text());
                } else if is_zone(&token.text) {
                    let zone = &token.text;
                    return Err(format!("'{zone}' depends on where it runs: only UTC has a form"));
                }
            } else if token.kind == TokenKind::Word {
                self.word(&tokens, at, opens, &mut edits)?;
            }
        }
        Ok(edits.finish())
    }

    /// The clock as a literal.
    fn text(&self) -> String {
        format!("'{}'", self.clock)
    }

    fn word(&self, tokens: &[Token<'_>], at: usize, opens: bool, edits: &mut Edits<'_>) -> Reading<()> {
        let Some(token) = tokens.get(at) else {
            return Ok(());
        };
        let after_dot = at > 0 && tokens.get(at - 1).is_some_and(|token| token.is_symbol("."));
        if after_dot {
            return Ok(());
        }
        match token.text.to_ascii_lowercase().as_str() {
            "current_date" => edits.replace(token.start, token.end, &self.text()),
            "current_timestamp" => {
                edits.replace(token.start, token.end, &format!("'{} 00:00:00'", self.clock));
            }
            "current_time" => edits.replace(token.start, token.end, "'00:00:00'"),
            "random" | "randomblob" if opens => {
                return Err("random() would give other results each time".to_owned());
            }
            prefix if self.prefixes.contains(prefix) && !self.tables.contains(prefix) => {
                let dot = tokens.get(at + 1).is_some_and(|token| token.is_symbol("."));
                let table = tokens.get(at + 2).filter(|token| token.is_name());
                if let (true, Some(table)) = (dot, table)
                    && self.tables.contains(&table.text.to_lowercase())
                {
                    edits.replace(token.start, table.start, "");
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn is_date_function(token: &Token<'_>) -> bool {
    DATE_FUNCTIONS.iter().any(|name| token.is_word(name))
}

fn is_zone(text: &str) -> bool {
    text.eq_ignore_ascii_case("localtime") || text.eq_ignore_ascii_case("utc")
}

/// Replacements in a text, in order of place.
struct Edits<'s> {
    source: &'s str,
    out: String,
    copied: usize,
}

impl<'s> Edits<'s> {
    fn new(source: &'s str) -> Edits<'s> {
        Edits { source, out: String::with_capacity(source.len()), copied: 0 }
    }

    fn replace(&mut self, start: usize, end: usize, by: &str) {
        self.out.push_str(self.source.get(self.copied..start).unwrap_or(""));
        self.out.push_str(by);
        self.copied = end;
    }

    fn finish(mut self) -> String {
        self.out.push_str(self.source.get(self.copied..).unwrap_or(""));
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(gold: &str) -> Reading<String> {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect();
        let (prefixes, tables) = (names(&["public", "shop"]), names(&["author", "shop"]));
        let pin = Pin { clock: "2025-06-30", prefixes: &prefixes, tables: &tables };
        pin.gold(gold)
    }

    #[test]
    fn now_is_the_clock_wherever_a_date_is_meant() {
        for (gold, expected) in [
            ("date('now', '-1 year')", "date('2025-06-30', '-1 year')"),
            ("JULIANDAY( 'NOW' ) - 1", "JULIANDAY( '2025-06-30' ) - 1"),
            ("strftime('%Y', date('now'))", "strftime('%Y', date('2025-06-30'))"),
            ("strftime('%Y')", "strftime('%Y', '2025-06-30')"),
            ("date() < d", "date('2025-06-30') < d"),
            ("d < CURRENT_DATE", "d < '2025-06-30'"),
            ("t < current_timestamp", "t < '2025-06-30 00:00:00'"),
            ("w = 'now' OR f('now')", "w = 'now' OR f('now')"),
            ("a.current_date", "a.current_date"),
        ] {
            assert_eq!(pinned(gold).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn prefixes_go_but_tables_of_the_same_name_stay() {
        for (gold, expected) in [
            ("FROM public.author", "FROM author"),
            ("Public . author.name", "author.name"),
            ("shop.author", "shop.author"),
            ("public.other", "public.other"),
            ("'public.author'", "'public.author'"),
        ] {
            assert_eq!(pinned(gold).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_differs_by_run_or_place_is_refused() {
        assert!(pinned("datetime('now', 'localtime')").is_err());
        assert!(pinned("SELECT random()").is_err());
        assert!(pinned("random.x").is_ok());
    }
}
