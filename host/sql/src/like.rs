//! LIKE. The engine's own compiles a regular expression for every row, in which `%` stops at the end
//! of a line. A prefix is a comparison instead, and everything else runs by a matcher of ours.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Value};
use tribunal_protocol::{Failure, Kind};

use crate::cond::Cond;
use crate::emit;
use crate::rewrite::{Place, Rewriter, coerce};
use crate::types::Typed;

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// These characters.
    Text(String),
    /// Any characters, `%`.
    Any,
    /// One character, `_`.
    One,
}

/// `LOWER('..')` and `UPPER('..')` of a plain ASCII text, which are literals in disguise.
fn spelled_out(expr: &Expr) -> Option<Expr> {
    let Expr::Function(function) = expr else { return None };
    let FunctionArguments::List(list) = &function.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Value(Value::SingleQuotedString(text))))] =
        list.args.as_slice()
    else {
        return None;
    };
    let text = match function.name.to_string().to_ascii_uppercase().as_str() {
        "LOWER" if text.is_ascii() => text.to_ascii_lowercase(),
        "UPPER" if text.is_ascii() => text.to_ascii_uppercase(),
        _ => return None,
    };
    Some(Expr::Value(Value::SingleQuotedString(text)))
}

impl Rewriter<'_> {
    /// `expr LIKE pattern`; `folded`: without regard to case.
    pub fn like(
        &mut self,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<&str>,
        folded: bool,
        place: Place<'_>,
    ) -> Result<Cond, Failure> {
        let value = self.value(expr, place)?;
        let spelled = spelled_out(pattern);
        let pattern = self.value(spelled.as_ref().unwrap_or(pattern), place)?;
        if !matches!(value.kind, Kind::Text | Kind::Unknown) {
            return Err(Failure::invalid(format!("LIKE needs a text on its left, {} given; CAST it", value.kind)));
        }
        if pattern.is_null() || value.is_null() {
            return Ok(Cond::Const(None));
        }
        let value = coerce(value, Kind::Text)?;
        let has_aggregate = |typed: &Typed| crate::grouping::has_aggregate(&typed.clone().expr());
        let aggregated = has_aggregate(&value) || has_aggregate(&pattern);
        let Some(literal) = pattern.text() else {
            if aggregated || escape.is_some() || pattern.kind != Kind::Text {
                return Err(Failure::unsupported("LIKE of this with a pattern that is no literal"));
            }
            let lower = |typed: Typed| if folded { emit::call("LOWER", vec![typed.expr()]) } else { typed.expr() };
            let nullable = value.nullable || pattern.nullable;
            let expr = like_call(lower(value), lower(pattern));
            return Ok(Cond::Atom { expr, nullable });
        };
        let mut pieces = pieces(literal, escape)?;
        let mut value = value;
        if folded {
            for piece in &mut pieces {
                if let Piece::Text(text) = piece {
                    *text = text.to_lowercase();
                }
            }
            let nullable = value.nullable;
            value = Typed::new(emit::call("LOWER", vec![value.expr()]), Kind::Text, nullable);
        }
        self.matches(value, &pieces, aggregated)
    }

    /// The engine runs LIKE by a matcher of ours, which does not see groups: there a regular
    /// expression has to do.
    fn matches(&mut self, value: Typed, pieces: &[Piece], aggregated: bool) -> Result<Cond, Failure> {
        match pieces {
            [] => self.equals(value, ""),
            [Piece::Text(text)] => self.equals(value, text),
            // TRUE for every text, NULL for NULL.
            [Piece::Any] => {
                let again = self.copy_of(&value)?;
                Ok(atom(&value, |value| emit::binary(value, BinaryOperator::Eq, again.expr())))
            }
            [Piece::Text(start), Piece::Any] => self.starts(&value, start),
            pieces if aggregated => {
                let regex = regex(pieces);
                Ok(atom(&value, |value| emit::binary(value, BinaryOperator::PGRegexMatch, emit::text(&regex))))
            }
            pieces => {
                let pattern = plain(pieces);
                Ok(atom(&value, |value| like_call(value, emit::text(&pattern))))
            }
        }
    }

    fn equals(&mut self, value: Typed, text: &str) -> Result<Cond, Failure> {
        let text = Typed::literal(tribunal_protocol::Value::Text(text.to_owned()));
        self.compare(value.into(), &BinaryOperator::Eq, text.into())
    }

    fn starts(&mut self, value: &Typed, start: &str) -> Result<Cond, Failure> {
        let value = self.copy_of(value)?;
        let again = self.copy_of(&value)?;
        let mut parts = vec![atom(&value, |value| emit::binary(value, BinaryOperator::GtEq, emit::text(start)))];
        if let Some(end) = successor(start) {
            parts.push(atom(&again, |value| emit::binary(value, BinaryOperator::Lt, emit::text(&end))));
        }
        Ok(Cond::All(parts))
    }
}

/// `value LIKE pattern`, in which `\\` escapes.
fn like_call(value: Expr, pattern: Expr) -> Expr {
    Expr::Like { negated: false, any: false, expr: Box::new(value), pattern: Box::new(pattern), escape_char: None }
}

/// The pattern in one spelling: `%`, `_`, and `\\` before every other of the three.
fn plain(pieces: &[Piece]) -> String {
    let mut pattern = String::new();
    for piece in pieces {
        match piece {
            Piece::Any => pattern.push('%'),
            Piece::One => pattern.push('_'),
            Piece::Text(text) => {
                for char in text.chars() {
                    if matches!(char, '%' | '_' | '\\') {
                        pattern.push('\\');
                    }
                    pattern.push(char);
                }
            }
        }
    }
    pattern
}

fn atom(value: &Typed, make: impl FnOnce(Expr) -> Expr) -> Cond {
    Cond::Atom { nullable: value.nullable, expr: make(value.clone().expr()) }
}

/// The first text behind all that start with `start`: texts compare by their code points.
fn successor(start: &str) -> Option<String> {
    let mut chars: Vec<char> = start.chars().collect();
    while let Some(last) = chars.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

fn pieces(pattern: &str, escape: Option<&str>) -> Result<Vec<Piece>, Failure> {
    let mut escape = escape.unwrap_or("\\").chars();
    let (escape, more) = (escape.next(), escape.next());
    if more.is_some() {
        return Err(Failure::invalid("ESCAPE takes one character"));
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        let plain = if Some(char) == escape {
            let next = chars.next();
            Some(next.ok_or_else(|| Failure::invalid("LIKE pattern ends in its escape character"))?)
        } else {
            (char != '%' && char != '_').then_some(char)
        };
        match (plain, pieces.last_mut()) {
            (Some(char), Some(Piece::Text(text))) => text.push(char),
            (Some(char), _) => pieces.push(Piece::Text(char.to_string())),
            (None, Some(Piece::Any)) if char == '%' => {}
            (None, _) if char == '%' => pieces.push(Piece::Any),
            (None, _) => pieces.push(Piece::One),
        }
    }
    Ok(pieces)
}

/// The pattern as a regular expression of the engine, in which `.` is any character.
fn regex(pieces: &[Piece]) -> String {
    let mut regex = String::from("(?s)^");
    for piece in pieces {
        match piece {
            Piece::Any => regex.push_str(".*"),
            Piece::One => regex.push('.'),
            Piece::Text(text) => {
                for char in text.chars() {
                    if r"\.+*?()|[]{}^$#&-~".contains(char) {
                        regex.push('\\');
                    }
                    regex.push(char);
                }
            }
        }
    }
    regex.push('$');
    regex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fall_into_pieces() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let all = |pattern| pieces(pattern, None).unwrap();
        assert_eq!(all("a%%b"), [text("a"), Piece::Any, text("b")]);
        assert_eq!(all(r"50\%_"), [text("50%"), Piece::One]);
        assert_eq!(pieces("5!%", Some("!")).unwrap(), [text("5%")]);
        assert_eq!(pieces(r"a\%", Some("")).unwrap(), [text(r"a\"), Piece::Any]);
        assert!(pieces(r"a\", None).is_err());
        assert!(pieces("a", Some("xy")).is_err());
        assert_eq!(regex(&all("a.b_%")), r"(?s)^a\.b..*$");
    }

    #[test]
    fn the_successor_is_behind_every_text_that_starts_so() {
        assert_eq!(successor("abc").as_deref(), Some("abd"));
        assert_eq!(successor("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(successor("\u{D7FF}").as_deref(), Some("\u{E000}"));
        assert_eq!(successor("\u{10FFFF}"), None);
        assert!("abc\u{10FFFF}\u{10FFFF}" < "abd");
    }
}
