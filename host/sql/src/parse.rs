//! One statement, within caps.

use sqlparser::ast::Statement;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};
use tribunal_protocol::Failure;

/// Bytes of one statement, at most.
pub const MAX_BYTES: usize = 16 << 10;
/// Tokens of one statement, white space not counted, at most.
pub const MAX_TOKENS: usize = 4_000;
/// Operators of one statement, at most. A chain of operators becomes a tree as deep as it is
/// long, and trees are walked recursively.
pub const MAX_OPERATORS: usize = 400;
/// Joins of one statement, at most.
pub const MAX_JOINS: usize = 32;
/// Parentheses, CASE and subqueries inside one another, at most.
pub const MAX_DEPTH: usize = 64;
/// Characters of one number, at most.
const MAX_DIGITS: usize = 60;

/// Parses one query.
///
/// # Errors
/// `quota` past a cap; `invalid` where it is no query.
pub fn parse_query(sql: &str) -> Result<Statement, Failure> {
    let statement = parse(sql)?;
    match statement {
        Statement::Query(_) => Ok(statement),
        _ => Err(Failure::invalid("a query expected: SELECT ..")),
    }
}

/// Parses one INSERT, UPDATE or DELETE.
///
/// # Errors
/// `quota` past a cap; `invalid` where it is none of them.
pub fn parse_change(sql: &str) -> Result<Statement, Failure> {
    let statement = parse(sql)?;
    match statement {
        Statement::Insert(_) | Statement::Update { .. } | Statement::Delete(_) => Ok(statement),
        _ => Err(Failure::invalid("a change expected: INSERT, UPDATE or DELETE")),
    }
}

fn parse(sql: &str) -> Result<Statement, Failure> {
    let tokens = tokenize(sql)?;
    cap(&tokens)?;
    let dialect = PostgreSqlDialect {};
    let mut statements =
        Parser::new(&dialect).with_tokens(tokens).parse_statements().map_err(|error| unparsed(&error))?;
    match (statements.pop(), statements.len()) {
        (Some(statement), 0) => Ok(statement),
        (None, _) => Err(Failure::invalid("a statement expected, nothing given")),
        _ => Err(Failure::invalid("one statement expected, several given")),
    }
}

fn tokenize(sql: &str) -> Result<Vec<Token>, Failure> {
    if sql.len() > MAX_BYTES {
        return Err(Failure::quota(format!("a statement has at most {MAX_BYTES} bytes; this one has {}", sql.len())));
    }
    Tokenizer::new(&PostgreSqlDialect {}, sql)
        .tokenize()
        .map_err(|error| Failure::invalid(format!("syntax: {}", error.message)))
}

fn unparsed(error: &ParserError) -> Failure {
    match error {
        ParserError::ParserError(message) | ParserError::TokenizerError(message) => {
            Failure::invalid(format!("syntax: {message}"))
        }
        ParserError::RecursionLimitExceeded => Failure::quota("a statement nested too deep"),
    }
}

/// What a statement is made of, as far as it is capped.
#[derive(Default)]
struct Counts {
    tokens: usize,
    operators: usize,
    joins: usize,
    depth: usize,
}

fn cap(tokens: &[Token]) -> Result<(), Failure> {
    let mut counts = Counts::default();
    for token in tokens {
        counts.add(token)?;
    }
    let Counts { tokens, operators, joins, .. } = counts;
    for (what, count, most) in
        [("tokens", tokens, MAX_TOKENS), ("operators", operators, MAX_OPERATORS), ("joins", joins, MAX_JOINS)]
    {
        if count > most {
            return Err(Failure::quota(format!("a statement has at most {most} {what}; this one has {count}")));
        }
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, token: &Token) -> Result<(), Failure> {
        match token {
            Token::Whitespace(_) => return Ok(()),
            Token::Number(digits, _) => number(digits)?,
            Token::LParen => self.deeper()?,
            Token::RParen => self.depth = self.depth.saturating_sub(1),
            Token::Word(word) => match word.keyword {
                Keyword::AND
                | Keyword::OR
                | Keyword::NOT
                | Keyword::XOR
                | Keyword::IS
                | Keyword::IN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::SIMILAR
                | Keyword::BETWEEN
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::UNION
                | Keyword::INTERSECT
                | Keyword::EXCEPT => self.operators += 1,
                Keyword::JOIN => self.joins += 1,
                Keyword::CASE => self.deeper()?,
                Keyword::END => self.depth = self.depth.saturating_sub(1),
                _ => {}
            },
            Token::Comma | Token::SemiColon | Token::Period | Token::SingleQuotedString(_) | Token::Placeholder(_) => {}
            _ => self.operators += 1,
        }
        self.tokens += 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Failure::quota("a statement nested too deep"));
        }
        Ok(())
    }
}

/// A short number such as `1e100000000` stands for one of a hundred million digits.
fn number(digits: &str) -> Result<(), Failure> {
    let exponent = digits.split_once(['e', 'E']).map_or(Some(0), |(_, exponent)| exponent.parse::<i32>().ok());
    if digits.len() > MAX_DIGITS || exponent.is_none_or(|exponent| exponent.abs() > 308) {
        return Err(Failure::invalid("a number is too long or too large"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tribunal_protocol::Code;

    use super::*;

    fn code(sql: &str) -> Option<Code> {
        parse_query(sql).err().map(|failure| failure.code)
    }

    #[test]
    fn one_statement_alone_is_parsed() {
        assert_eq!(code("SELECT 1"), None);
        assert_eq!(code("SELECT 1;"), None);
        assert_eq!(code("SELECT 1; SELECT 2"), Some(Code::Invalid));
        assert_eq!(code("SELECT 1; DROP TABLE t"), Some(Code::Invalid));
        assert_eq!(code(""), Some(Code::Invalid));
        assert_eq!(code("SELEC 1"), Some(Code::Invalid));
        assert_eq!(code("DELETE FROM t"), Some(Code::Invalid));
        assert!(parse_change("SELECT 1").is_err());
        assert!(parse_change("DELETE FROM t").is_ok());
    }

    #[test]
    fn caps_stop_what_is_too_long() {
        let chain = |n: usize| format!("SELECT 1{}", " + 1".repeat(n));
        assert_eq!(code(&chain(MAX_OPERATORS)), None);
        assert_eq!(code(&chain(MAX_OPERATORS + 1)), Some(Code::Quota));
        let tests = |n: usize| format!("SELECT 1{}", " IS NULL".repeat(n));
        assert_eq!(code(&tests(MAX_OPERATORS + 1)), Some(Code::Quota));
        let unions = |n: usize| format!("SELECT 1{}", " UNION SELECT 1".repeat(n));
        assert_eq!(code(&unions(40)), None);
        assert_eq!(code(&unions(MAX_OPERATORS + 1)), Some(Code::Quota));
        let nested = |n: usize| format!("SELECT {}1{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(code(&nested(20)), None);
        assert_eq!(code(&nested(2_000)), Some(Code::Quota));
        let long = |n: usize| format!("SELECT '{}'", "x".repeat(n));
        assert_eq!(code(&long(MAX_BYTES - 9)), None);
        assert_eq!(code(&long(MAX_BYTES - 8)), Some(Code::Quota));
        assert_eq!(code("SELECT 1e100000000"), Some(Code::Invalid));
        assert_eq!(code("SELECT 1e30"), None);
        let joins = |n: usize| format!("SELECT 1 FROM t{}", " JOIN t ON TRUE".repeat(n));
        assert_eq!(code(&joins(MAX_JOINS)), None);
        assert_eq!(code(&joins(MAX_JOINS + 1)), Some(Code::Quota));
    }

    #[test]
    fn a_string_cannot_hide_a_second_statement() {
        assert_eq!(code("SELECT ';' -- ; DELETE FROM t"), None);
        let statement = parse_query("SELECT 'a;b'").unwrap();
        assert_eq!(statement.to_string(), "SELECT 'a;b'");
    }
}
