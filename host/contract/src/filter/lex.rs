//! The words of a filter.

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword, in capitals.
    Keyword(&'static str),
    /// A column's name.
    Name(String),
    /// A number, as written without a plus sign.
    Number(String),
    /// A text, unquoted.
    Text(String),
    /// One of `( ) , = <> < <= > >=`.
    Symbol(&'static str),
}

const KEYWORDS: [&str; 12] =
    ["AND", "BETWEEN", "DATE", "FALSE", "IN", "IS", "LIKE", "NOT", "NULL", "OR", "TIMESTAMP", "TRUE"];

const SYMBOLS: [(&str, &str); 11] = [
    ("<>", "<>"),
    ("!=", "<>"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "="),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
    ("(", "("),
    (")", ")"),
    (",", ","),
];

fn keyword(word: &str) -> Option<&'static str> {
    KEYWORDS.into_iter().find(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Whether a name reads back without quotes.
pub(super) fn is_bare_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(starts_name) && characters.all(continues_name) && keyword(name).is_none()
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits a filter into words.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' => quoted(rest, '\'').map(|(text, length)| (Token::Text(text), length))?,
            '"' => quoted(rest, '"').map(|(name, length)| (Token::Name(name), length))?,
            c if starts_name(c) => word(rest),
            c if c.is_ascii_digit() || c == '-' || c == '+' || c == '.' => number(rest)?,
            c => symbol(rest).ok_or_else(|| format!("{c:?} has no meaning in a row filter"))?,
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn word(text: &str) -> (Token, usize) {
    let length = text.find(|c| !continues_name(c)).unwrap_or(text.len());
    let word = &text[..length];
    let token = keyword(word).map_or_else(|| Token::Name(word.to_owned()), Token::Keyword);
    (token, length)
}

fn symbol(text: &str) -> Option<(Token, usize)> {
    SYMBOLS
        .into_iter()
        .find(|(written, _)| text.starts_with(written))
        .map(|(written, meant)| (Token::Symbol(meant), written.len()))
}

/// Digits with an optional sign and point; canonical: no plus, no bare point, no outer zeros.
fn number(text: &str) -> Result<(Token, usize), String> {
    let signed = text.starts_with(['-', '+']);
    let digits = &text[usize::from(signed)..];
    let length = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (whole, fraction) = digits[..length].split_once('.').unwrap_or((&digits[..length], ""));
    let total = usize::from(signed) + length;
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err(format!("{:?} is no number", &text[..total.max(1)]));
    }
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let zero = whole == "0" && fraction.is_empty();
    let sign = if text.starts_with('-') && !zero { "-" } else { "" };
    Ok((Token::Number(format!("{sign}{whole}{point}{fraction}")), total))
}

/// A quoted text; a doubled quote stands for one.
fn quoted(text: &str, quote: char) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c != quote {
            out.push(c);
        } else if characters.next_if(|(_, next)| *next == quote).is_some() {
            out.push(quote);
        } else {
            return Ok((out, at + 1));
        }
    }
    Err(format!("the quote {quote} is never closed"))
}
