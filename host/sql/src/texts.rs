//! Functions of texts. The engine counts bytes in many of them; ours, by character, run in their
//! place. Only where groups are in the way its own do, and those it refuses on other text than
//! ASCII: so what passes here is right.

use sqlparser::ast::{BinaryOperator, Expr, TrimWhereField};
use tribunal_protocol::{Failure, Kind, Value};

use crate::emit;
use crate::rewrite::{Place, Rewriter};
use crate::types::Typed;

/// Characters that a padded text may have, at most.
const MAX_PADDED: i64 = 1_000;
/// The largest position that is told to the engine; no text here is as long.
const FAR: i64 = 2_000_000_000;

impl Rewriter<'_> {
    /// A function of texts; none where `name` is not one.
    pub fn text_function(&mut self, name: &str, arguments: &[Typed]) -> Result<Option<Typed>, Failure> {
        let result = match (name, arguments) {
            ("UPPER" | "UCASE", [x]) => self.text_call("UPPER", std::slice::from_ref(x)),
            ("LOWER" | "LCASE", [x]) => self.text_call("LOWER", std::slice::from_ref(x)),
            ("REVERSE", [x]) => self.text_call("REVERSE", std::slice::from_ref(x)),
            ("LENGTH" | "CHAR_LENGTH" | "CHARACTER_LENGTH" | "LEN", [x]) => self.length(x.clone()),
            ("SUBSTR" | "SUBSTRING", [x, start]) => self.slice(x.clone(), start.clone(), None),
            ("SUBSTR" | "SUBSTRING", [x, start, count]) => self.slice(x.clone(), start.clone(), Some(count.clone())),
            ("LEFT" | "RIGHT", [x, count]) => self.side(name, x.clone(), count.clone()),
            ("TRIM" | "BTRIM", [x]) => self.trimmed(x.clone(), None, true, true),
            ("TRIM" | "BTRIM", [x, set]) => self.trimmed(x.clone(), Some(set), true, true),
            ("LTRIM", [x]) => self.trimmed(x.clone(), None, true, false),
            ("LTRIM", [x, set]) => self.trimmed(x.clone(), Some(set), true, false),
            ("RTRIM", [x]) => self.trimmed(x.clone(), None, false, true),
            ("RTRIM", [x, set]) => self.trimmed(x.clone(), Some(set), false, true),
            ("REPLACE", [x, old, new]) => self.replace(x.clone(), old, new),
            ("STRPOS" | "INSTR", [x, part]) => self.position(x.clone(), part.clone()),
            ("LPAD" | "RPAD", [x, length]) => {
                self.pad(name, x.clone(), length.clone(), Typed::literal(Value::Text(" ".to_owned())))
            }
            ("LPAD" | "RPAD", [x, length, fill]) => self.pad(name, x.clone(), length.clone(), fill.clone()),
            ("CONCAT", [_, ..]) => self.concat_all(arguments),
            ("CONCAT_WS", [_, _, ..]) => self.concat_with(arguments),
            _ => return Ok(None),
        };
        result.map(Some)
    }

    fn text_call(&mut self, name: &str, arguments: &[Typed]) -> Result<Typed, Failure> {
        let mut texts = Vec::with_capacity(arguments.len());
        let mut nullable = false;
        for argument in arguments {
            let text = text(argument.clone(), name)?;
            nullable |= text.nullable;
            texts.push(text.expr());
        }
        Ok(Typed::new(emit::call(name, texts), Kind::Text, nullable))
    }

    fn length(&mut self, x: Typed) -> Result<Typed, Failure> {
        let x = text(x, "LENGTH")?;
        let nullable = x.nullable;
        let length = emit::call("LENGTH", vec![x.expr()]);
        Ok(Typed::new(emit::cast(length, Kind::Integer), Kind::Integer, nullable))
    }

    /// `SUBSTRING(x FROM start FOR count)`.
    pub fn substring(
        &mut self,
        x: &Expr,
        start: Option<&Expr>,
        count: Option<&Expr>,
        place: Place<'_>,
    ) -> Result<Typed, Failure> {
        let x = self.value(x, place)?;
        let start = match start {
            Some(start) => self.value(start, place)?,
            None => Typed::integer(1),
        };
        let count = count.map(|count| self.value(count, place)).transpose()?;
        self.slice(x, start, count)
    }

    fn slice(&mut self, x: Typed, start: Typed, count: Option<Typed>) -> Result<Typed, Failure> {
        let x = text(x, "SUBSTR")?;
        if start.number().is_some_and(|start| start < 1) {
            // PostgreSQL counts on before the text, SQLite from its end.
            return Err(Failure::unsupported("SUBSTR from a place before the text; use RIGHT"));
        }
        if count.as_ref().and_then(Typed::number).is_some_and(|count| count < 0) {
            return Err(Failure::invalid("SUBSTR of a negative length"));
        }
        let start = self.near(start, "SUBSTR")?;
        let mut nullable = x.nullable || start.nullable;
        let mut arguments = vec![x.expr(), start.bare()];
        if let Some(count) = count {
            let count = self.near(count, "SUBSTR")?;
            nullable |= count.nullable;
            arguments.push(count.bare());
        }
        Ok(cut(emit::call("SUBSTR", arguments), nullable))
    }

    /// LEFT and RIGHT.
    fn side(&mut self, name: &str, x: Typed, count: Typed) -> Result<Typed, Failure> {
        let x = text(x, name)?;
        if count.number().is_some_and(|count| count < 0) {
            return Err(Failure::unsupported(format!("{name} of a negative number of characters")));
        }
        let count = whole(count, name)?;
        let nullable = x.nullable || count.nullable;
        Ok(cut(emit::call(name, vec![x.expr(), count.bare()]), nullable))
    }

    /// A position or length, within what the engine can add without overflow.
    fn near(&mut self, number: Typed, name: &str) -> Result<Typed, Failure> {
        if !matches!(number.kind, Kind::Integer | Kind::Unknown) {
            return Err(Failure::invalid(format!(
                "{name} needs integers for its place and length, {} given",
                number.kind
            )));
        }
        if let Some(literal) = number.number() {
            return Ok(Typed::integer(literal.clamp(-FAR, FAR)));
        }
        if number.is_null() {
            return Ok(number);
        }
        let nullable = number.nullable;
        let mut bound = |op: BinaryOperator, limit: i64| -> Result<Expr, Failure> {
            let number = self.copy_of(&number)?;
            Ok(emit::binary(number.expr(), op, emit::number(limit)))
        };
        let branches = vec![
            (bound(BinaryOperator::Gt, FAR)?, Typed::integer(FAR).expr()),
            (bound(BinaryOperator::Lt, -FAR)?, Typed::integer(-FAR).expr()),
        ];
        let clamped = emit::case(branches, Some(number.expr()));
        Ok(Typed::new(clamped, Kind::Integer, nullable))
    }

    /// `TRIM([BOTH | LEADING | TRAILING] [set FROM] x)`.
    pub fn trim(
        &mut self,
        x: &Expr,
        side: Option<TrimWhereField>,
        set: Option<&Expr>,
        place: Place<'_>,
    ) -> Result<Typed, Failure> {
        let x = self.value(x, place)?;
        let set = set.map(|set| self.value(set, place)).transpose()?;
        let left = side != Some(TrimWhereField::Trailing);
        let right = side != Some(TrimWhereField::Leading);
        self.trimmed(x, set.as_ref(), left, right)
    }

    /// Without a set, the engine's TRIM takes other white space than blanks, too, and leaves a
    /// text of blanks as it is: so LTRIM and RTRIM alone.
    fn trimmed(&mut self, x: Typed, set: Option<&Typed>, left: bool, right: bool) -> Result<Typed, Failure> {
        let x = text(x, "TRIM")?;
        let set = match set {
            None => None,
            Some(set) => match set.text() {
                Some(" ") => None,
                Some("") => return Ok(x),
                _ => Some(text(set.clone(), "TRIM")?),
            },
        };
        let mut nullable = x.nullable;
        let mut expr = x.expr();
        for (wanted, name) in [(left, "LTRIM"), (right, "RTRIM")] {
            if wanted {
                let mut arguments = vec![expr];
                if let Some(set) = &set {
                    nullable |= set.nullable;
                    arguments.push(self.copy_of(set)?.expr());
                }
                expr = emit::cast(emit::call(name, arguments), Kind::Text);
            }
        }
        Ok(Typed::new(expr, Kind::Text, nullable))
    }

    fn replace(&mut self, x: Typed, old: &Typed, new: &Typed) -> Result<Typed, Failure> {
        self.text_call("REPLACE", &[x, old.clone(), new.clone()])
    }

    /// The place of the first occurrence, from 1; 0 where there is none.
    fn position(&mut self, x: Typed, part: Typed) -> Result<Typed, Failure> {
        let x = text(x, "STRPOS")?;
        let part = text(part, "STRPOS")?;
        let nullable = x.nullable || part.nullable;
        let position = Expr::Position { expr: Box::new(part.expr()), r#in: Box::new(x.expr()) };
        Ok(Typed::new(position, Kind::Integer, nullable))
    }

    fn pad(&mut self, name: &str, x: Typed, length: Typed, fill: Typed) -> Result<Typed, Failure> {
        let (x, fill) = (text(x, name)?, text(fill, name)?);
        if length.number().is_some_and(|length| length > MAX_PADDED) {
            return Err(Failure::unsupported(format!("{name} to more than {MAX_PADDED} characters")));
        }
        let length = whole(length, name)?;
        let nullable = x.nullable || length.nullable || fill.nullable;
        let arguments = vec![x.expr(), length.bare(), fill.expr()];
        Ok(Typed::new(emit::call(name, arguments), Kind::Text, nullable))
    }

    /// CONCAT takes NULL for the empty text.
    fn concat_all(&mut self, arguments: &[Typed]) -> Result<Typed, Failure> {
        let mut all = Typed::literal(Value::Text(String::new()));
        for argument in arguments {
            let text = self.as_text(argument.clone())?;
            let text = match (text.is_null(), text.nullable) {
                (true, _) => continue,
                (false, false) => text,
                (false, true) => {
                    let known = emit::call("COALESCE", vec![text.expr(), emit::text("")]);
                    Typed::new(known, Kind::Text, false)
                }
            };
            all = if all.text() == Some("") { text } else { self.concat(all, text)? };
        }
        Ok(all)
    }

    fn concat_with(&mut self, arguments: &[Typed]) -> Result<Typed, Failure> {
        let mut texts = Vec::with_capacity(arguments.len());
        let mut nullable = false;
        for (place, argument) in arguments.iter().enumerate() {
            let text = self.as_text(argument.clone())?;
            nullable |= place == 0 && text.nullable;
            texts.push(text.expr());
        }
        Ok(Typed::new(emit::call("CONCAT_WS", texts), Kind::Text, nullable))
    }
}

/// A slice of the engine as a text of its own: it takes a slice of a slice for one of the whole.
fn cut(slice: Expr, nullable: bool) -> Typed {
    Typed::new(emit::cast(slice, Kind::Text), Kind::Text, nullable)
}

fn text(x: Typed, name: &str) -> Result<Typed, Failure> {
    match x.kind {
        Kind::Text => Ok(x),
        Kind::Unknown => Ok(crate::arith::null(Kind::Text)),
        kind => Err(Failure::invalid(format!("{name} needs a text, {kind} given; CAST it"))),
    }
}

/// A number of characters.
fn whole(number: Typed, name: &str) -> Result<Typed, Failure> {
    match number.kind {
        Kind::Integer => Ok(number),
        Kind::Unknown => Ok(crate::arith::null(Kind::Integer)),
        kind => Err(Failure::invalid(format!("{name} needs a whole number of characters, {kind} given"))),
    }
}
