//! The steps of SQLite's machine say little of texts: one step may go over a text of a hundred
//! thousand characters, or over it again for every character of another. So whatever goes over a
//! text counts steps for it, and once a statement has made a long text every step of it counts for
//! more. What is SQLite's own and could go over a text again and again is registered anew, linear
//! where it can be, and gives the same.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value as Cell, ValueRef};
use rusqlite::{Connection, Error, Result};

use crate::plain;

/// Bytes of a text that take about as long as one step.
const BYTES: usize = 16;
/// Bytes of a text that was made for which every later step counts once more.
const LONG: usize = 1_024;
/// Bytes of a pattern, at most.
pub(crate) const MAX_PATTERN: usize = 1_000;

/// What a statement has used.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// Steps that were looked at since the statement began to run; below zero while it is prepared.
    count: AtomicI64,
    /// What a step counts.
    weight: AtomicI64,
}

impl Meter {
    /// Begins at some count.
    pub(crate) fn start(&self, count: i64) {
        self.count.store(count, Ordering::Relaxed);
        self.weight.store(1, Ordering::Relaxed);
    }

    /// Counts steps of the machine; gives the count.
    pub(crate) fn step(&self, steps: i64) -> i64 {
        self.add(steps.saturating_mul(self.weight.load(Ordering::Relaxed)))
    }

    fn add(&self, steps: i64) -> i64 {
        self.count.fetch_add(steps, Ordering::Relaxed).saturating_add(steps)
    }

    /// Counts the texts that a function is given.
    pub(crate) fn given(&self, context: &Context<'_>) {
        let bytes: usize = (0..context.len()).map(|index| bytes(context.get_raw(index))).sum();
        self.add(i64::try_from(bytes / BYTES).unwrap_or(i64::MAX));
    }

    /// Counts every character of one text against every one of another.
    fn product(&self, a: usize, b: usize) {
        self.add(i64::try_from(a.saturating_mul(b) / BYTES).unwrap_or(i64::MAX));
    }

    /// Notes what a function made.
    pub(crate) fn made(&self, cell: &Cell) {
        if let Cell::Text(text) = cell {
            let weight = i64::try_from(1 + text.len() / LONG).unwrap_or(i64::MAX);
            self.weight.fetch_max(weight, Ordering::Relaxed);
        }
    }
}

fn bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    }
}

type Metered = fn(&Context<'_>, &Meter) -> Result<Cell>;

/// Registers them over SQLite's own.
pub(crate) fn register(connection: &Connection, meter: &Arc<Meter>) -> Result<()> {
    let functions: [(&str, i32, Metered); 10] = [
        ("like", 2, like),
        ("like", 3, like),
        ("glob", 2, glob),
        ("instr", 2, instr),
        ("trim", 1, |context, _| trim(context, "trim", true, true)),
        ("trim", 2, |context, _| trim(context, "trim", true, true)),
        ("ltrim", 1, |context, _| trim(context, "ltrim", true, false)),
        ("ltrim", 2, |context, _| trim(context, "ltrim", true, false)),
        ("rtrim", 1, |context, _| trim(context, "rtrim", false, true)),
        ("rtrim", 2, |context, _| trim(context, "rtrim", false, true)),
    ];
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, arguments, function) in functions {
        let meter = Arc::clone(meter);
        connection.create_scalar_function(name, arguments, flags, move |context| {
            meter.given(context);
            function(context, &meter)
        })?;
    }
    Ok(())
}

/// The arguments as texts; none where one of them is no text, and SQLite's own must decide.
fn texts<'c>(context: &'c Context<'_>) -> Option<Vec<&'c str>> {
    let text = |index| match context.get_raw(index) {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    };
    (0..context.len()).map(text).collect()
}

fn instr(context: &Context<'_>, _meter: &Meter) -> Result<Cell> {
    let Some([whole, part]) = texts(context).as_deref().and_then(|texts| texts.first_chunk::<2>().copied()) else {
        return plain::call("instr", context);
    };
    let before = whole.find(part).and_then(|place| whole.get(..place));
    let place = before.map_or(0, |before| before.chars().count() + 1);
    Ok(Cell::Integer(i64::try_from(place).unwrap_or(i64::MAX)))
}

fn trim(context: &Context<'_>, name: &str, left: bool, right: bool) -> Result<Cell> {
    let Some(texts) = texts(context) else { return plain::call(name, context) };
    let (text, set) = (texts.first().copied().unwrap_or_default(), texts.get(1).copied().unwrap_or(" "));
    let set: BTreeSet<char> = set.chars().collect();
    let inside = |char: char| set.contains(&char);
    let text = if left { text.trim_start_matches(inside) } else { text };
    let text = if right { text.trim_end_matches(inside) } else { text };
    Ok(Cell::Text(text.to_owned()))
}

fn glob(context: &Context<'_>, meter: &Meter) -> Result<Cell> {
    let length = |index| if index < context.len() { bytes(context.get_raw(index)) } else { 0 };
    meter.product(length(0), length(1));
    plain::call("glob", context)
}

/// `like(pattern, text[, escape])`, where case counts.
fn like(context: &Context<'_>, meter: &Meter) -> Result<Cell> {
    let Some(texts) = texts(context) else { return plain::call("like", context) };
    let (pattern, text) = (texts.first().copied().unwrap_or_default(), texts.get(1).copied().unwrap_or_default());
    if pattern.len() > MAX_PATTERN {
        return Err(wrong("LIKE or GLOB pattern too complex"));
    }
    let escape = match texts.get(2).map(|escape| escape.chars().collect::<Vec<_>>()) {
        None => None,
        Some(escape) => match escape.as_slice() {
            [escape] => Some(*escape),
            _ => return Err(wrong("ESCAPE expression must be a single character")),
        },
    };
    let Some(pattern) = pattern_of(pattern, escape) else { return Ok(Cell::Integer(0)) };
    // A text without a part to go back to is gone over once.
    if pattern.iter().filter(|part| **part == Part::Any).count() > 0 {
        meter.product(pattern.len(), text.len());
    }
    Ok(Cell::Integer(matches(&pattern, text).into()))
}

fn wrong(why: &str) -> Error {
    Error::UserFunctionError(why.into())
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Any characters.
    Any,
    /// One, whichever.
    One,
    /// This one.
    Char(char),
}

/// The parts of a pattern; none where it ends in its escape character, and matches nothing.
fn pattern_of(pattern: &str, escape: Option<char>) -> Option<Vec<Part>> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        parts.push(match char {
            char if Some(char) == escape => Part::Char(chars.next()?),
            '%' => Part::Any,
            '_' => Part::One,
            char => Part::Char(char),
        });
    }
    Some(parts)
}

/// Whether a text matches: where it does not, the last `%` takes one character more.
fn matches(pattern: &[Part], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(char) = text.get(place) {
        match pattern.get(at) {
            Some(Part::Any) => {
                back = Some((at, place));
                at += 1;
            }
            Some(Part::One) => (at, place) = (at + 1, place + 1),
            Some(Part::Char(wanted)) if wanted == char => (at, place) = (at + 1, place + 1),
            _ => match &mut back {
                None => return false,
                Some((any, taken)) => {
                    *taken += 1;
                    (at, place) = (*any + 1, *taken);
                }
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|part| *part == Part::Any))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function against SQLite's own, on all short texts of a few letters.
    #[test]
    fn each_gives_what_sqlites_own_gives() {
        crate::count_memory().unwrap();
        let (ours, theirs) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        for connection in [&ours, &theirs] {
            connection.execute_batch("PRAGMA case_sensitive_like = ON").unwrap();
        }
        let meter = Arc::new(Meter::default());
        meter.start(0);
        register(&ours, &meter).unwrap();
        let letters = ["a", "B", "é", "%", "_", "\\", " "];
        let mut texts = vec!["NULL".to_owned(), "12".to_owned(), "1.5".to_owned(), "''".to_owned()];
        for a in letters {
            texts.push(format!("'{a}'"));
            for b in letters {
                texts.push(format!("'{a}{b}'"));
                texts.extend(["a", "%", "_"].map(|c| format!("'{a}{b}{c}'")));
            }
        }
        let forms = [
            "SELECT x LIKE y FROM",
            "SELECT x LIKE y ESCAPE '\\' FROM",
            "SELECT x LIKE y ESCAPE '%' FROM",
            "SELECT x LIKE y ESCAPE 'a' FROM",
            "SELECT x GLOB y FROM",
            "SELECT instr(x, y) FROM",
            "SELECT trim(x, y) FROM",
            "SELECT ltrim(x, y) FROM",
            "SELECT rtrim(x, y) FROM",
            "SELECT trim(x) FROM",
        ];
        let values = texts.iter().map(|text| format!("({text})")).collect::<Vec<_>>().join(", ");
        let pairs = format!("(WITH t(v) AS (VALUES {values}) SELECT a.v AS x, b.v AS y FROM t a, t b)");
        for form in forms {
            let sql = format!("{form} {pairs}");
            let all = |connection: &Connection| -> Vec<Cell> {
                let mut statement = connection.prepare(&sql).unwrap();
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
            };
            let (here, there) = (all(&ours), all(&theirs));
            assert_eq!(here.len(), texts.len() * texts.len());
            for (place, (a, b)) in here.iter().zip(&there).enumerate() {
                let (x, y) = (&texts[place / texts.len()], &texts[place % texts.len()]);
                assert_eq!(a, b, "{form}: x = {x}, y = {y}");
            }
        }
        assert!(meter.step(0) > 0);
    }
}
