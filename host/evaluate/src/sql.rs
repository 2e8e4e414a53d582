//! SQL as a person reads it: one clause a line, keywords marked. Only white space outside of
//! quotes and comments is touched; nothing here decides anything.

use serde::Serialize;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Span {
    /// `keyword`, `text`, `comment` or empty.
    pub class: &'static str,
    /// The piece itself.
    pub text: String,
}

/// Words that are marked.
const KEYWORDS: &[&str] = &[
    "ALL",
    "AND",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "CROSS",
    "DELETE",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXCEPT",
    "EXISTS",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NATURAL",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "RIGHT",
    "SELECT",
    "SET",
    "THEN",
    "TRUE",
    "UNION",
    "UPDATE",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Words that start a line.
const CLAUSES: &[&str] = &[
    "EXCEPT",
    "FROM",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "JOIN",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "SET",
    "UNION",
    "VALUES",
    "WHERE",
];

/// Words that start a line before JOIN, and are functions otherwise.
const JOINS: &[&str] = &["CROSS", "FULL", "INNER", "LEFT", "NATURAL", "RIGHT"];

/// Words that make a level of parentheses a statement of its own.
const STATEMENTS: &[&str] = &["DELETE", "INSERT", "SELECT", "UPDATE"];

/// The lines of a statement. A statement that has line breaks already keeps them.
pub(crate) fn lines(sql: &str) -> Vec<Vec<Span>> {
    let tokens = tokens(sql);
    let mut writer = Writer { keep_breaks: sql.trim().contains('\n'), levels: vec![true], ..Writer::default() };
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.iter().skip(index + 1).find(|t| t.class != SPACE);
        writer.push(token, next.map(|t| t.text.as_str()).unwrap_or_default());
    }
    writer.finish()
}

const SPACE: &str = "space";
const COMMENT: &str = "comment";
const WORD: &str = "word";
const TEXT: &str = "text";

fn tokens(sql: &str) -> Vec<Span> {
    let mut tokens = Vec::new();
    let mut rest = sql.trim();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let run = |wanted: &dyn Fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let until = |end: &str, from: usize| {
            let found = rest.get(from..).and_then(|tail| tail.find(end));
            found.map_or(rest.len(), |at| from + at + end.len())
        };
        let (class, length) = match first {
            c if c.is_whitespace() => (SPACE, run(&char::is_whitespace)),
            c if word(c) => (WORD, run(&word)),
            '\'' => (TEXT, until("'", 1)),
            '"' => ("", until("\"", 1)),
            '-' if rest.starts_with("--") => (COMMENT, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (COMMENT, until("*/", 2)),
            c => ("", c.len_utf8()),
        };
        let (token, tail) = rest.split_at(length);
        tokens.push(Span { class, text: token.to_owned() });
        rest = tail;
    }
    tokens
}

#[derive(Default)]
struct Writer {
    lines: Vec<Vec<Span>>,
    line: Vec<Span>,
    keep_breaks: bool,
    /// For every open parenthesis, whether it holds a statement.
    levels: Vec<bool>,
    previous: String,
}

impl Writer {
    fn push(&mut self, token: &Span, next: &str) {
        if token.class == SPACE {
            self.space(&token.text);
            return;
        }
        let upper = token.text.to_ascii_uppercase();
        let word = token.class == WORD;
        if word && STATEMENTS.contains(&upper.as_str()) {
            self.levels.last_mut().into_iter().for_each(|level| *level = true);
        }
        if word && self.starts_line(&upper, next) {
            self.end_line();
            let depth = self.levels.len().saturating_sub(1);
            self.add("", &"  ".repeat(depth));
        }
        match token.text.as_str() {
            "(" => self.levels.push(false),
            ")" if self.levels.len() > 1 => drop(self.levels.pop()),
            _ => {}
        }
        let class = match token.class {
            WORD if KEYWORDS.contains(&upper.as_str()) => "keyword",
            WORD => "",
            class => class,
        };
        for (index, part) in token.text.split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.add(class, part);
        }
        if token.class == COMMENT && !self.keep_breaks && token.text.starts_with("--") {
            self.end_line();
        }
        if word {
            self.previous = upper;
        }
    }

    fn starts_line(&self, word: &str, next: &str) -> bool {
        let joins = |word: &str| JOINS.contains(&word) || word == "OUTER";
        let next = next.to_ascii_uppercase();
        let clause = match word {
            "JOIN" => !joins(&self.previous),
            _ if JOINS.contains(&word) => next == "JOIN" || next == "OUTER",
            _ => CLAUSES.contains(&word),
        };
        let statement = self.levels.last().copied().unwrap_or(true);
        clause && statement && !self.keep_breaks && !self.line.is_empty()
    }

    fn space(&mut self, space: &str) {
        if self.keep_breaks {
            for (index, part) in space.split('\n').enumerate() {
                if index > 0 {
                    self.end_line();
                }
                self.add("", part);
            }
        } else if !self.line.is_empty() {
            self.add("", " ");
        }
    }

    fn add(&mut self, class: &'static str, text: &str) {
        match self.line.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.class == class => last.text.push_str(text),
            _ => self.line.push(Span { class, text: text.to_owned() }),
        }
    }

    fn end_line(&mut self) {
        if let Some(last) = self.line.last_mut() {
            let kept = last.text.trim_end_matches([' ', '\r']).len();
            last.text.truncate(kept);
        }
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn finish(mut self) -> Vec<Vec<Span>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sql: &str) -> String {
        let line = |spans: &Vec<Span>| spans.iter().map(|s| s.text.as_str()).collect::<String>();
        lines(sql).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_clause_gets_a_line_and_nested_ones_an_indent() {
        let sql = "select a, LEFT(b, 2), EXTRACT(YEAR FROM d) from t left join u on t.id = u.id \
                   where a in (select x from v where y = 1) order by a";
        let expected = "select a, LEFT(b, 2), EXTRACT(YEAR FROM d)\nfrom t\nleft join u on t.id = u.id\n\
                        where a in (select x\n  from v\n  where y = 1)\norder by a";
        assert_eq!(text(sql), expected);
    }

    #[test]
    fn quotes_comments_and_given_line_breaks_stay() {
        assert_eq!(text("SELECT 'a  from  b' FROM t"), "SELECT 'a  from  b'\nFROM t");
        assert_eq!(text("SELECT a -- from here\nFROM t"), "SELECT a -- from here\nFROM t");
        assert_eq!(text("SELECT a\n  FROM t WHERE b"), "SELECT a\n  FROM t WHERE b");
        assert_eq!(text("SELECT \"from\" /* where */ FROM t"), "SELECT \"from\" /* where */\nFROM t");
    }

    #[test]
    fn nothing_but_white_space_is_ever_changed() {
        let odd = [
            "",
            "'",
            "\"x",
            "/* open",
            "-- c",
            ")))((",
            "é from 'ß",
            "a''b",
            "SELECT'x'FROM\"y\"",
            "))) from from ((( select",
            "$1 + $2\r\nfrom",
            "--\n--\n",
        ];
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        for sql in odd {
            assert_eq!(dense(&text(sql)), dense(sql), "{sql}");
        }
    }

    #[test]
    fn keywords_and_texts_are_marked() {
        let spans: Vec<_> = lines("SELECT 'x' AS from_day").concat();
        let marked: Vec<_> = spans.iter().map(|s| (s.class, s.text.as_str())).collect();
        let expected =
            [("keyword", "SELECT"), ("", " "), ("text", "'x'"), ("", " "), ("keyword", "AS"), ("", " from_day")];
        assert_eq!(marked, expected);
    }
}
