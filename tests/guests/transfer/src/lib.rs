//! Pulls rows over the boundary in several forms, and folds them into a checksum that does not
//! depend on the form.

use serde::Deserialize;

/// The memory that a plugin has.
#[path = "../../../../plugins/kit/src/heap.rs"]
mod heap;

wit_bindgen::generate!({
    path: ["../../../wit/1.0.0", "wit"],
    world: "bench:transfer/transfer",
    generate_all,
});

use bench::transfer::source;
use tribunal::plugin::types::{Cells, Column, Table, Texts, Value};

struct Transfer;

impl Guest for Transfer {
    fn nothing() -> u64 {
        source::nothing();
        0
    }

    fn columnar() -> u64 {
        columns(&source::columnar())
    }

    fn values() -> u64 {
        let given = source::values();
        let mut sum = Sum::over(given.names.iter().map(String::as_str));
        for row in &given.rows {
            row.iter().for_each(|value| sum.add(cell(value)));
        }
        sum.total
    }

    fn json() -> u64 {
        let text = source::json();
        let given: Json = serde_json::from_str(&text).unwrap();
        let mut sum = Sum::over(given.names.iter().map(String::as_str));
        for row in &given.rows {
            row.iter().for_each(|value| sum.add(json_cell(value)));
        }
        sum.total
    }

    fn postcard() -> u64 {
        let bytes = source::postcard();
        let given: Postcard<'_> = postcard::from_bytes(&bytes).unwrap();
        let mut sum = Sum::over(given.names.iter().copied());
        for row in &given.rows {
            row.iter().for_each(|value| sum.add(postcard_cell(value)));
        }
        sum.total
    }

    fn raw() -> u64 {
        source::raw().len() as u64
    }
}

export!(Transfer);

/// Weighs each cell by its place, row by row, so that a cell in the wrong place is noticed.
struct Sum {
    total: u64,
    weight: u64,
}

impl Sum {
    fn over<'a>(names: impl Iterator<Item = &'a str>) -> Sum {
        Sum { total: names.fold(0, |sum, name| sum + text(name)), weight: 1 }
    }

    fn add(&mut self, cell: u64) {
        self.total = self.total.wrapping_add(cell.wrapping_mul(self.weight));
        self.weight = self.weight.wrapping_add(2);
    }
}

const NULL: u64 = 0x9e37_79b9;

/// Length, first and last byte: shows that each text can be had, and costs next to nothing.
fn text(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let end = |byte: Option<&u8>| u64::from(byte.copied().unwrap_or_default());
    bytes.len() as u64 + (end(bytes.first()) << 16) + (end(bytes.last()) << 24)
}

fn cell(value: &Value) -> u64 {
    match value {
        Value::Null => NULL,
        Value::Boolean(b) => u64::from(*b),
        Value::Integer(i) | Value::Timestamp(i) => *i as u64,
        Value::Float(x) => x.to_bits(),
        Value::Decimal(t) | Value::Text(t) => text(t),
        Value::Date(d) => *d as u64,
    }
}

/// By column, since that is how a reader of this form works; the weights are those of the rows.
fn columns(table: &Table) -> u64 {
    let names = table.columns.iter().map(|column| column.name.as_str());
    let Sum { mut total, .. } = Sum::over(names);
    let step = 2 * table.columns.len() as u64;
    for (place, column) in table.columns.iter().enumerate() {
        total = total.wrapping_add(fold(column, table.rows as usize, 1 + 2 * place as u64, step));
    }
    total
}

fn fold(column: &Column, rows: usize, weight: u64, step: u64) -> u64 {
    let all = Weighted { nulls: &column.nulls, weight, step };
    match &column.cells {
        Cells::Unknown => all.sum((0..rows).map(|_| NULL)),
        Cells::Booleans(cells) => all.sum(cells.iter().map(|b| u64::from(*b))),
        Cells::Integers(cells) | Cells::Timestamps(cells) => all.sum(cells.iter().map(|i| *i as u64)),
        Cells::Floats(cells) => all.sum(cells.iter().map(|x| x.to_bits())),
        Cells::Decimals(cells) | Cells::Texts(cells) => all.sum(strings(cells).map(text)),
        Cells::Dates(cells) => all.sum(cells.iter().map(|d| *d as u64)),
    }
}

struct Weighted<'a> {
    nulls: &'a [u8],
    weight: u64,
    step: u64,
}

impl Weighted<'_> {
    fn sum(mut self, cells: impl Iterator<Item = u64>) -> u64 {
        let mut total = 0_u64;
        for (row, cell) in cells.enumerate() {
            let null = self.nulls.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1);
            total = total.wrapping_add(if null { NULL } else { cell }.wrapping_mul(self.weight));
            self.weight = self.weight.wrapping_add(self.step);
        }
        total
    }
}

fn strings(texts: &Texts) -> impl Iterator<Item = &str> {
    let mut start = 0;
    texts.ends.iter().map(move |end| {
        let end = *end as usize;
        &texts.data[std::mem::replace(&mut start, end)..end]
    })
}

/// A reader that knows no column's kind in advance, as no tool does.
#[derive(Deserialize)]
struct Json {
    names: Vec<String>,
    rows: Vec<Vec<serde_json::Value>>,
}

fn json_cell(value: &serde_json::Value) -> u64 {
    match value {
        serde_json::Value::Null => NULL,
        serde_json::Value::Bool(b) => u64::from(*b),
        serde_json::Value::Number(n) => n.as_i64().map_or_else(|| n.as_f64().unwrap().to_bits(), |i| i as u64),
        serde_json::Value::String(t) => text(t),
        serde_json::Value::Array(_) | serde_json::Value::Object(_) => unreachable!("cells are scalars"),
    }
}

#[derive(Deserialize)]
struct Postcard<'a> {
    #[serde(borrow)]
    names: Vec<&'a str>,
    rows: Vec<Vec<PostcardCell<'a>>>,
}

/// The host's `Cell`, variant by variant.
#[derive(Deserialize)]
enum PostcardCell<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Decimal(&'a str),
    Text(&'a str),
    Date(i32),
    Timestamp(i64),
}

fn postcard_cell(cell: &PostcardCell<'_>) -> u64 {
    match cell {
        PostcardCell::Null => NULL,
        PostcardCell::Boolean(b) => u64::from(*b),
        PostcardCell::Integer(i) | PostcardCell::Timestamp(i) => *i as u64,
        PostcardCell::Float(x) => x.to_bits(),
        PostcardCell::Decimal(t) | PostcardCell::Text(t) => text(t),
        PostcardCell::Date(d) => *d as u64,
    }
}
