//! A place in the tokens of one statement, with the few moves that reading DDL needs.

use crate::token::{Token, TokenKind};

/// Walks the tokens of one statement.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    /// How deep the expression being read is nested.
    pub depth: u32,
}

/// Why a statement could not be read: what was expected where.
pub(crate) type Reading<T> = Result<T, String>;

impl<'t, 'a> Cursor<'t, 'a> {
    /// Starts at the first token.
    pub fn new(tokens: &'t [Token<'a>]) -> Cursor<'t, 'a> {
        Cursor { tokens, at: 0, depth: 0 }
    }

    /// The token here; none at the end.
    pub fn peek(&self) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at)
    }

    /// The token `ahead` of here.
    pub fn peek_at(&self, ahead: usize) -> Option<&'t Token<'a>> {
        self.tokens.get(self.at + ahead)
    }

    /// Everything from here on.
    pub fn rest(&self) -> &'t [Token<'a>] {
        self.tokens.get(self.at..).unwrap_or(&[])
    }

    /// Takes the token here.
    pub fn take(&mut self) -> Option<&'t Token<'a>> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The line here, or of the last token.
    pub fn line(&self) -> u32 {
        let token = self.peek().or_else(|| self.tokens.last());
        token.map_or(1, |token| token.line)
    }

    /// Takes the words of `phrase` if all stand here.
    pub fn phrase(&mut self, phrase: &[&str]) -> bool {
        let stands = |(ahead, word): (usize, &&str)| self.peek_at(ahead).is_some_and(|token| token.is_word(word));
        let found = phrase.iter().enumerate().all(stands);
        if found {
            self.at += phrase.len();
        }
        found
    }

    /// Takes `word` if it stands here.
    pub fn word(&mut self, word: &str) -> bool {
        self.phrase(&[word])
    }

    /// Takes `symbol` if it stands here.
    pub fn symbol(&mut self, symbol: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_symbol(symbol));
        self.at += usize::from(found);
        found
    }

    /// Takes `word`, which must stand here.
    pub fn expect_word(&mut self, word: &str) -> Reading<()> {
        if self.word(word) {
            return Ok(());
        }
        Err(self.expected(word))
    }

    /// Takes `symbol`, which must stand here.
    pub fn expect_symbol(&mut self, symbol: &str) -> Reading<()> {
        if self.symbol(symbol) {
            return Ok(());
        }
        Err(self.expected(&format!("`{symbol}`")))
    }

    /// `WHAT expected, .. found`.
    pub fn expected(&self, what: &str) -> String {
        match self.peek() {
            None => format!("{what} expected, the statement ends"),
            Some(token) => {
                let shown: String = token.text.chars().take(40).collect();
                format!("{what} expected, `{shown}` found")
            }
        }
    }

    /// Takes a name: a bare word or a quoted identifier.
    pub fn name(&mut self) -> Reading<String> {
        match self.peek() {
            Some(token) if token.is_name() => {
                self.at += 1;
                Ok(token.text.clone().into_owned())
            }
            _ => Err(self.expected("a name")),
        }
    }

    /// Takes `[schema.]name`; gives the schemas and the name.
    pub fn qualified(&mut self) -> Reading<(Vec<String>, String)> {
        let mut prefix = Vec::new();
        let mut name = self.name()?;
        while self.symbol(".") {
            prefix.push(std::mem::replace(&mut name, self.name()?));
        }
        Ok((prefix, name))
    }

    /// Takes `(name, ..)`.
    pub fn names(&mut self) -> Reading<Vec<String>> {
        self.expect_symbol("(")?;
        let mut names = vec![self.name()?];
        while self.symbol(",") {
            names.push(self.name()?);
        }
        self.expect_symbol(")")?;
        Ok(names)
    }

    /// Takes a string literal.
    pub fn text(&mut self) -> Reading<String> {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Text => {
                self.at += 1;
                Ok(token.text.clone().into_owned())
            }
            _ => Err(self.expected("a string")),
        }
    }

    /// Passes over `( .. )`, nesting included.
    pub fn skip_parentheses(&mut self) -> Reading<()> {
        self.expect_symbol("(")?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.take() {
                None => return Err(self.expected("`)`")),
                Some(token) if token.is_symbol("(") => depth += 1,
                Some(token) if token.is_symbol(")") => depth -= 1,
                Some(_) => {}
            }
        }
        Ok(())
    }
}
