//! Reading a filter: recursive descent with a depth limit.

use super::lex::{Token, lex};
use super::{Comparison, Literal, Node, Operand};

/// Bytes of one filter, at most.
const MAX_BYTES: usize = 8 << 10;
/// Parentheses and NOTs inside one another, at most.
const MAX_DEPTH: usize = 32;

const ALLOWED: &str = "a row filter is made of column comparisons (= <> < <= > >=), IS [NOT] NULL, \
                       [NOT] IN, [NOT] BETWEEN, AND, OR, NOT and parentheses";

pub(super) fn parse(text: &str) -> Result<Node, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("longer than {MAX_BYTES} bytes"));
    }
    let tokens = lex(text)?;
    let mut parser = Parser { tokens: &tokens, depth: 0 };
    let node = parser.or()?;
    match parser.tokens.first() {
        None => Ok(node),
        Some(token) => Err(format!("{} is left over; {ALLOWED}", shown(token))),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    depth: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.clone())
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Keyword(k)) if *k == keyword);
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.tokens.first(), Some(Token::Symbol(s)) if *s == symbol);
        self.tokens = &self.tokens[usize::from(found)..];
        found
    }

    fn or(&mut self) -> Result<Node, String> {
        self.chain("OR", Self::and, Node::Or)
    }

    fn and(&mut self) -> Result<Node, String> {
        self.chain("AND", Self::not, Node::And)
    }

    fn chain(
        &mut self,
        separator: &str,
        part: fn(&mut Self) -> Result<Node, String>,
        join: fn(Vec<Node>) -> Node,
    ) -> Result<Node, String> {
        let first = part(self)?;
        let mut nodes = vec![first];
        while self.keyword(separator) {
            nodes.push(part(self)?);
        }
        match nodes.len() {
            1 => Ok(nodes.remove(0)),
            _ => Ok(join(nodes)),
        }
    }

    fn deeper<T>(&mut self, part: fn(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn not(&mut self) -> Result<Node, String> {
        if self.keyword("NOT") {
            return Ok(Node::Not(Box::new(self.deeper(Self::not)?)));
        }
        if self.symbol("(") {
            let node = self.deeper(Self::or)?;
            if !self.symbol(")") {
                return Err("`)` is missing".to_owned());
            }
            return Ok(node);
        }
        self.predicate()
    }

    fn predicate(&mut self) -> Result<Node, String> {
        let left = self.operand()?;
        if let Some(comparison) = self.comparison() {
            let right = self.operand()?;
            return compare(left, comparison, right);
        }
        let Operand::Column(column) = left else {
            return Err(format!("{left} must be compared with a column; {ALLOWED}"));
        };
        if self.keyword("IS") {
            let negated = self.keyword("NOT");
            if !self.keyword("NULL") {
                return Err("`NULL` must follow IS or IS NOT".to_owned());
            }
            return Ok(negate(negated, Node::IsNull { column }));
        }
        let negated = self.keyword("NOT");
        if self.keyword("IN") {
            let list = self.list()?;
            return Ok(negate(negated, Node::In { column, list }));
        }
        if self.keyword("BETWEEN") {
            let low = self.literal()?;
            if !self.keyword("AND") {
                return Err("`AND` is missing in BETWEEN".to_owned());
            }
            let high = self.literal()?;
            let bound = |comparison, literal| Node::Compare {
                left: Operand::Column(column.clone()),
                comparison,
                right: Operand::Literal(literal),
            };
            let bounds = vec![bound(Comparison::GreaterOrEqual, low), bound(Comparison::LessOrEqual, high)];
            return Ok(negate(negated, Node::And(bounds)));
        }
        let found = self.tokens.first().map_or_else(|| "the end".to_owned(), shown);
        Err(format!("{found} follows {column}; {ALLOWED} (a flag is `{column} = TRUE`)"))
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let Some(Token::Symbol(symbol)) = self.tokens.first() else {
            return None;
        };
        let comparison = match *symbol {
            "=" => Comparison::Equal,
            "<>" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        };
        self.tokens = &self.tokens[1..];
        Some(comparison)
    }

    fn operand(&mut self) -> Result<Operand, String> {
        if let Some(Token::Name(name)) = self.tokens.first() {
            let name = name.clone();
            self.tokens = &self.tokens[1..];
            return Ok(Operand::Column(name));
        }
        self.literal().map(Operand::Literal)
    }

    fn literal(&mut self) -> Result<Literal, String> {
        let typed = self.keyword("DATE") || self.keyword("TIMESTAMP");
        match self.next() {
            Some(Token::Text(text)) => Ok(Literal::Text(text)),
            Some(Token::Number(digits)) if !typed => Ok(Literal::Number(digits)),
            Some(Token::Keyword("TRUE")) if !typed => Ok(Literal::Boolean(true)),
            Some(Token::Keyword("FALSE")) if !typed => Ok(Literal::Boolean(false)),
            Some(Token::Keyword("NULL")) => Err("nothing equals NULL; write IS NULL or IS NOT NULL".to_owned()),
            Some(token) => Err(format!("{} where a value belongs; {ALLOWED}", shown(&token))),
            None => Err(format!("ends where a value belongs; {ALLOWED}")),
        }
    }

    fn list(&mut self) -> Result<Vec<Literal>, String> {
        if !self.symbol("(") {
            return Err("`(` must follow IN".to_owned());
        }
        let mut list = vec![self.literal()?];
        while self.symbol(",") {
            list.push(self.literal()?);
        }
        if !self.symbol(")") {
            return Err("`)` is missing after IN (".to_owned());
        }
        Ok(list)
    }
}

/// Columns stand on the left.
fn compare(left: Operand, comparison: Comparison, right: Operand) -> Result<Node, String> {
    match (&left, &right) {
        (Operand::Literal(left), Operand::Literal(right)) => {
            Err(format!("{left} and {right} are both literals; compare a column"))
        }
        (Operand::Literal(_), Operand::Column(_)) => {
            Ok(Node::Compare { left: right, comparison: comparison.flipped(), right: left })
        }
        _ => Ok(Node::Compare { left, comparison, right }),
    }
}

fn negate(negated: bool, node: Node) -> Node {
    if negated { Node::Not(Box::new(node)) } else { node }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Keyword(word) | Token::Symbol(word) => format!("`{word}`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Number(digits) => format!("`{digits}`"),
        Token::Text(text) => format!("'{text}'"),
    }
}
