//! Foreign SQL as tokens that know their line. Only the surface is read here (quotes, comments,
//! numbers); what a statement means is decided elsewhere.

use std::borrow::Cow;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A bare word: keyword or identifier.
    Word,
    /// A quoted identifier; the text is without its quotes.
    Quoted,
    /// A string literal; the text is its content.
    Text,
    /// A number without sign.
    Number,
    /// Anything else, such as `(` or `::`.
    Symbol,
}

/// One token of a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its content, without quotes.
    pub text: Cow<'a, str>,
    /// The line it starts on, from 1.
    pub line: u32,
    /// Where it starts in the source, in bytes.
    pub start: usize,
    /// Where it ends in the source, in bytes.
    pub end: usize,
}

impl Token<'_> {
    /// Whether this is the bare word `word`, case ignored.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether this is the symbol `symbol`.
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Whether this can name something: a bare word or a quoted identifier.
    pub fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Quoted)
    }
}

/// Why a text could not be cut into tokens, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenError {
    /// The line where the unfinished token starts.
    pub line: u32,
    /// What is wrong.
    pub what: &'static str,
}

/// Cuts a source text into tokens.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
}

/// Symbols of two characters; longer ones come apart, which nobody here minds.
const PAIRS: [&str; 8] = ["::", "||", "<=", ">=", "<>", "!=", "->", "=="];

impl<'a> Lexer<'a> {
    /// Starts at the beginning of `source`.
    pub fn new(source: &'a str) -> Lexer<'a> {
        Lexer { source, at: 0, line: 1 }
    }

    /// All tokens of `source`.
    pub fn all(source: &'a str) -> Result<Vec<Token<'a>>, TokenError> {
        let mut lexer = Lexer::new(source);
        let mut tokens = Vec::new();
        while let Some(token) = lexer.next_token()? {
            tokens.push(token);
        }
        Ok(tokens)
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or("")
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.source.len());
        let passed = self.source.get(self.at..end).unwrap_or("");
        let newlines = passed.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        self.at = end;
    }

    /// Takes the rest of the current line, and then every line up to one that reads `\.`: the
    /// data that follows `COPY .. FROM stdin;`. Gives each line with its number.
    pub fn copy_lines(&mut self) -> Result<Vec<(u32, &'a str)>, TokenError> {
        let first_line = self.line;
        self.skip_line();
        let mut lines = Vec::new();
        while !self.rest().is_empty() {
            let line = self.line;
            let text = self.skip_line();
            if text == "\\." {
                return Ok(lines);
            }
            lines.push((line, text));
        }
        Err(TokenError { line: first_line, what: "the rows of this COPY never end: a line with `\\.` expected" })
    }

    /// Takes everything up to the end of the line; gives it without its line break.
    pub fn skip_line(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let text = rest.get(..length).unwrap_or("");
        self.advance(length);
        text.trim_end_matches('\n').trim_end_matches('\r')
    }

    /// Passes over white space and comments.
    fn skip_blank(&mut self) -> Result<(), TokenError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.advance(blank);
            } else if rest.starts_with("--") {
                self.skip_line();
            } else if rest.starts_with("/*") {
                self.skip_block_comment()?;
            } else if rest.starts_with('\u{feff}') {
                self.advance('\u{feff}'.len_utf8());
            } else {
                return Ok(());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), TokenError> {
        let line = self.line;
        let mut depth = 0_u32;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.advance(2);
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.advance(2);
                if depth == 0 {
                    return Ok(());
                }
            } else if let Some(next) = rest.chars().next() {
                self.advance(next.len_utf8());
            } else {
                return Err(TokenError { line, what: "a comment that never ends: `*/` expected" });
            }
        }
    }

    /// The next token; none at the end.
    pub fn next_token(&mut self) -> Result<Option<Token<'a>>, TokenError> {
        self.skip_blank()?;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(None);
        };
        let second = rest.chars().nth(1);
        let token = match (first, second) {
            ('\'', _) => self.quoted('\'', TokenKind::Text)?,
            ('"', _) => self.quoted('"', TokenKind::Quoted)?,
            ('`', _) => self.quoted('`', TokenKind::Quoted)?,
            ('e' | 'E', Some('\'')) => self.escaped()?,
            ('$', _) if dollar_tag(rest).is_some() => self.dollar_quoted()?,
            ('0'..='9', _) | ('.', Some('0'..='9')) => self.plain(TokenKind::Number, number(rest)),
            _ if is_word_start(first) => {
                let length =
                    rest.find(|c: char| !(is_word_start(c) || c.is_ascii_digit() || c == '$')).unwrap_or(rest.len());
                self.plain(TokenKind::Word, length)
            }
            _ => {
                let pair = PAIRS.iter().find(|pair| rest.starts_with(**pair));
                let length = pair.map_or(first.len_utf8(), |pair| pair.len());
                self.plain(TokenKind::Symbol, length)
            }
        };
        Ok(Some(token))
    }

    fn plain(&mut self, kind: TokenKind, length: usize) -> Token<'a> {
        let (start, line) = (self.at, self.line);
        let text = self.rest().get(..length).unwrap_or("");
        self.advance(length);
        self.token(kind, Cow::Borrowed(text), line, start)
    }

    fn token(&self, kind: TokenKind, text: Cow<'a, str>, line: u32, start: usize) -> Token<'a> {
        Token { kind, text, line, start, end: self.at }
    }

    /// A token between two `quote`s; a doubled quote inside stands for one.
    fn quoted(&mut self, quote: char, kind: TokenKind) -> Result<Token<'a>, TokenError> {
        let (start, line) = (self.at, self.line);
        let body = self.rest().get(1..).unwrap_or("");
        let mut search = 0;
        let mut doubled = false;
        loop {
            let found = body.get(search..).and_then(|tail| tail.find(quote));
            let Some(end) = found.map(|at| search + at) else {
                return Err(unfinished(quote, line));
            };
            if body.get(end + 1..).is_some_and(|t| t.starts_with(quote)) {
                doubled = true;
                search = end + 2;
                continue;
            }
            let inner = body.get(..end).unwrap_or("");
            let text = if doubled {
                Cow::Owned(inner.replace(&format!("{quote}{quote}"), &quote.to_string()))
            } else {
                Cow::Borrowed(inner)
            };
            self.advance(end + 2);
            return Ok(self.token(kind, text, line, start));
        }
    }

    /// PostgreSQL's `E'..'` with backslash escapes.
    fn escaped(&mut self) -> Result<Token<'a>, TokenError> {
        let (start, line) = (self.at, self.line);
        let body = self.rest().get(2..).unwrap_or("");
        let mut text = String::new();
        let mut chars = body.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\'' if matches!(chars.peek(), Some((_, '\''))) => {
                    chars.next();
                    text.push('\'');
                }
                '\'' => {
                    self.advance(2 + at + 1);
                    return Ok(self.token(TokenKind::Text, Cow::Owned(text), line, start));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other @ ('\\' | '\'' | '"'))) => text.push(other),
                    _ => {
                        return Err(TokenError { line, what: "an escape in E'..' other than \\n \\t \\r \\\\ \\'" });
                    }
                },
                other => text.push(other),
            }
        }
        Err(unfinished('\'', line))
    }

    /// PostgreSQL's `$tag$ .. $tag$`.
    fn dollar_quoted(&mut self) -> Result<Token<'a>, TokenError> {
        let (start, line) = (self.at, self.line);
        let rest = self.rest();
        let tag = dollar_tag(rest).unwrap_or("$$");
        let body = rest.get(tag.len()..).unwrap_or("");
        let Some(end) = body.find(tag) else {
            return Err(unfinished('$', line));
        };
        let text = Cow::Borrowed(body.get(..end).unwrap_or(""));
        self.advance(tag.len() * 2 + end);
        Ok(self.token(TokenKind::Text, text, line, start))
    }
}

fn unfinished(quote: char, line: u32) -> TokenError {
    let what = match quote {
        '\'' => "a string that never ends: `'` expected",
        '$' => "a dollar-quoted string that never ends",
        _ => "a quoted name that never ends",
    };
    TokenError { line, what }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The opening tag of a dollar quote, such as `$$` or `$body$`.
fn dollar_tag(rest: &str) -> Option<&str> {
    let body = rest.strip_prefix('$')?;
    let end = body.find('$')?;
    let tag = body.get(..end)?;
    let starts_well = !tag.starts_with(|c: char| c.is_ascii_digit());
    let is_tag = tag.chars().all(|c| is_word_start(c) || c.is_ascii_digit());
    (starts_well && is_tag).then(|| rest.get(..end + 2)).flatten()
}

/// How many bytes the number at the start of `rest` takes.
fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<(TokenKind, String, u32)> {
        let tokens = Lexer::all(source).unwrap();
        tokens.into_iter().map(|t| (t.kind, t.text.into_owned(), t.line)).collect()
    }

    #[test]
    fn quotes_comments_and_lines_are_read_as_postgresql_means_them() {
        let source = "a -- x ; 'y\n'it''s;' \"Odd \"\"name\"\"\" /* b /* c */ \n; */ 1.5e-3::int8\n\
                      E'\\n\\'' $q$;'$q$ $1 {x}";
        let expected = [
            (TokenKind::Word, "a", 1),
            (TokenKind::Text, "it's;", 2),
            (TokenKind::Quoted, "Odd \"name\"", 2),
            (TokenKind::Number, "1.5e-3", 3),
            (TokenKind::Symbol, "::", 3),
            (TokenKind::Word, "int8", 3),
            (TokenKind::Text, "\n'", 4),
            (TokenKind::Text, ";'", 4),
            (TokenKind::Symbol, "$", 4),
            (TokenKind::Number, "1", 4),
            (TokenKind::Symbol, "{", 4),
            (TokenKind::Word, "x", 4),
            (TokenKind::Symbol, "}", 4),
        ];
        let expected: Vec<_> = expected.map(|(kind, text, line)| (kind, text.to_owned(), line)).into();
        assert_eq!(texts(source), expected);
    }

    #[test]
    fn what_never_ends_is_named_by_its_first_line() {
        for (source, line) in [("a\n'b\nc", 2), ("\"x", 1), ("\n\n/* x", 3), ("$$ x", 1)] {
            assert_eq!(Lexer::all(source).unwrap_err().line, line, "{source}");
        }
    }

    #[test]
    fn tokens_know_their_place_in_the_source() {
        let source = "SELECT 'é;' , \"ü\" ;x";
        for token in Lexer::all(source).unwrap() {
            let slice = source.get(token.start..token.end).unwrap();
            assert!(slice.contains(&*token.text), "{slice} {token:?}");
        }
    }
}
