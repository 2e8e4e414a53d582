//! Cells as a script around a database driver has them: numbers, texts, NULL.

use serde_json::Value as Json;
use tribunal_kit::{Cells, Column, Table};

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    Null,
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Atom {
    /// As a number, the way `1 == 1.0` is true.
    pub fn number(&self) -> Option<f64> {
        match self {
            Atom::Integer(i) => Some(*i as f64),
            Atom::Float(x) => Some(*x),
            Atom::Null | Atom::Text(_) => None,
        }
    }

    /// A key under which equal cells are equal, `1` and `1.0` among them.
    pub fn key(&self) -> String {
        match (self, self.number()) {
            (_, Some(x)) => format!("n{x:?}"),
            (Atom::Text(text), _) => format!("t{text}"),
            _ => "null".to_owned(),
        }
    }

    /// A key that tells `1` from `1.0`, as a sort by text and type does.
    pub fn typed_key(&self) -> String {
        match self {
            Atom::Integer(i) => format!("{i}<int>"),
            Atom::Float(x) => format!("{x:?}<float>"),
            Atom::Text(text) => format!("{text}<str>"),
            Atom::Null => "None<NoneType>".to_owned(),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        match self {
            Atom::Null => "None".to_owned(),
            Atom::Integer(i) => i.to_string(),
            Atom::Float(x) => x.to_string(),
            Atom::Text(text) => text.clone(),
        }
    }
}

/// Rows of cells.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub names: Vec<String>,
    pub rows: Vec<Vec<Atom>>,
}

impl Rows {
    /// How many columns.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// One column.
    pub fn column(&self, place: usize) -> Vec<Atom> {
        self.rows.iter().map(|row| row[place].clone()).collect()
    }

    /// All cells as one text, rows from top to bottom.
    pub fn text(&self) -> String {
        self.rows.iter().flatten().map(Atom::text).collect::<Vec<_>>().join(" ")
    }
}

/// A submitted table.
pub fn submitted(table: &Table) -> Rows {
    let rows = table.rows as usize;
    let cells = |row: usize| table.columns.iter().map(|column| cell(column, row)).collect();
    Rows { names: table.columns.iter().map(|column| column.name.clone()).collect(), rows: (0..rows).map(cells).collect() }
}

fn cell(column: &Column, row: usize) -> Atom {
    if column.is_null(row) {
        return Atom::Null;
    }
    match &column.cells {
        Cells::Unknown => Atom::Null,
        Cells::Booleans(cells) => cells.get(row).map_or(Atom::Null, |b| Atom::Integer(i64::from(*b))),
        Cells::Integers(cells) => cells.get(row).map_or(Atom::Null, |i| Atom::Integer(*i)),
        Cells::Floats(cells) => cells.get(row).map_or(Atom::Null, |x| Atom::Float(*x)),
        Cells::Decimals(texts) => texts.get(row).parse().map_or(Atom::Null, Atom::Float),
        Cells::Texts(texts) => Atom::Text(texts.get(row).to_owned()),
        Cells::Dates(cells) => cells.get(row).map_or(Atom::Null, |days| Atom::Text(format!("day {days}"))),
        Cells::Timestamps(cells) => {
            const DAY: i64 = 86_400_000_000;
            cells.get(row).map_or(Atom::Null, |t| match t.rem_euclid(DAY) {
                0 => Atom::Text(format!("day {}", t.div_euclid(DAY))),
                _ => Atom::Text(format!("microsecond {t}")),
            })
        }
    }
}

/// Days since 1970-01-01 of `2024-01-31`, by the civil calendar.
fn days(text: &str) -> Option<i64> {
    let mut parts = text.get(..10)?.splitn(3, '-');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (next()?, next()?, next()?);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The gold answer of an expectation, and whether an order is asked for.
pub fn gold(expectation: &str) -> Result<(Rows, bool), String> {
    let whole: Json = serde_json::from_str(expectation).map_err(|why| why.to_string())?;
    let answer = whole.get("answer").unwrap_or(&whole);
    if answer.get("version").and_then(Json::as_u64) != Some(1) {
        return Err("no gold answer of version 1".to_owned());
    }
    let (Some(gold), Some(contract)) = (answer.get("gold"), answer.get("contract")) else {
        return Err("no gold answer".to_owned());
    };
    let ordered = contract.get("order").and_then(Json::as_array).is_some_and(|keys| !keys.is_empty());
    let columns = gold.get("columns").and_then(Json::as_array).cloned().unwrap_or_default();
    let field = |column: &Json, name: &str| column.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let kinds: Vec<String> = columns.iter().map(|column| field(column, "kind")).collect();
    let rows = gold.get("rows").and_then(Json::as_array).cloned().unwrap_or_default();
    let row = |row: &Json| {
        let cells = row.as_array().cloned().unwrap_or_default();
        kinds.iter().zip(&cells).map(|(kind, cell)| read(kind, cell)).collect()
    };
    let names = columns.iter().map(|column| field(column, "name")).collect();
    Ok((Rows { names, rows: rows.iter().map(row).collect() }, ordered))
}

fn read(kind: &str, cell: &Json) -> Atom {
    match (kind, cell) {
        (_, Json::Null) => Atom::Null,
        ("boolean", Json::Bool(b)) => Atom::Integer(i64::from(*b)),
        ("integer", _) => cell.as_i64().map_or(Atom::Null, Atom::Integer),
        ("float", _) => cell.as_f64().map_or(Atom::Null, Atom::Float),
        ("decimal", Json::String(text)) => text.parse().map_or(Atom::Null, Atom::Float),
        ("date" | "timestamp", Json::String(text)) => {
            days(text).map_or_else(|| Atom::Text(text.clone()), |days| Atom::Text(format!("day {days}")))
        }
        (_, Json::String(text)) => Atom::Text(text.clone()),
        (_, other) => Atom::Text(other.to_string()),
    }
}
