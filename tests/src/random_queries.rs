//! Random data and random queries over it, for differential tests of SQL engines. Everything
//! follows from a seed.
//!
//! The data has what makes answers go wrong: NULL, numbers of three kinds, days and moments,
//! booleans, texts beyond ASCII, empty tables, keys without partners and with several. Numbers
//! that are computed with are multiples of a quarter, so that engines with decimals and engines
//! with doubles agree to the last digit; `fee` alone is in cents, and is only summed and compared.

mod expression;
mod query;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rust_decimal::Decimal;
use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::value::{MICROS_PER_DAY, parse_date};
use tribunal_protocol::{Kind, Value};

pub use query::Limits;

/// Texts of ASCII.
const ASCII: &[&str] = &["", "ada", "Ada", "ABC", "abc", "a%b", "a_b", "x y", " pad ", "O'Neil", "line\nbreak", "Zoe"];
/// Texts beyond it.
const BEYOND: &[&str] = &["Zoë", "naïve", "日本", "ß", "éa", "ÀÉ", "a\u{a0}b", "😀a", "e\u{301}", "日本語日本語"];

/// A source of random choices.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// Dice for a seed; different labels give independent ones.
    #[must_use]
    pub fn new(seed: u64, label: u64) -> Dice {
        Dice(ChaCha8Rng::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ label))
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from(self.0.next_u64() % bound).unwrap_or(0)
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = usize::try_from(high - low + 1).unwrap_or(1);
        low + i64::try_from(self.below(width)).unwrap_or(0)
    }

    /// Whether something of so many in a hundred happens.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of some things.
    ///
    /// # Panics
    /// Where there is none.
    pub fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }
}

/// A random dataset: always the tables `customers`, `orders` and `items`.
#[must_use]
pub fn random_dataset(seed: u64) -> Dataset {
    let mut dice = Dice::new(seed, 1);
    let ascii = seed.is_multiple_of(2);
    let tables = [customers(), orders(), items()];
    let filled = tables.into_iter().map(|schema| {
        let count = if dice.chance(4) { 0 } else { dice.between(3, 24) };
        let rows = (1..=count).map(|id| row(&schema, id, ascii, &mut dice)).collect();
        TableData { schema, rows }
    });
    let tables = filled.collect();
    Dataset { clock: day("2024-03-01"), tables }
}

/// A random query over a random dataset. The grammar is wide; see [`Limits`] for narrower ones.
#[must_use]
pub fn random_query(seed: u64, dataset: &Dataset) -> String {
    query::generate(seed, dataset, &Limits::default())
}

/// A random query within limits.
#[must_use]
pub fn random_query_within(seed: u64, dataset: &Dataset, limits: &Limits) -> String {
    query::generate(seed, dataset, limits)
}

fn day(text: &str) -> i32 {
    parse_date(text).unwrap_or(0)
}

fn customers() -> TableSchema {
    let columns = vec![
        ColumnSchema::new("id", Kind::Integer, false),
        ColumnSchema::new("name", Kind::Text, true),
        ColumnSchema::new("city", Kind::Text, false),
        ColumnSchema::new("joinedOn", Kind::Date, true),
        ColumnSchema::new("score", Kind::Float, true),
        ColumnSchema::new("vip", Kind::Boolean, true),
        ColumnSchema::new("credit", Kind::Decimal, true),
    ];
    TableSchema::new("customers", columns, &["id"])
}

fn orders() -> TableSchema {
    let columns = vec![
        ColumnSchema::new("id", Kind::Integer, false),
        ColumnSchema::new("customer_id", Kind::Integer, true),
        ColumnSchema::new("placed", Kind::Timestamp, true),
        ColumnSchema::new("shipped", Kind::Date, true),
        ColumnSchema::new("total", Kind::Decimal, true),
        ColumnSchema::new("fee", Kind::Decimal, true),
        ColumnSchema::new("discount", Kind::Float, false),
        ColumnSchema::new("paid", Kind::Boolean, false),
        ColumnSchema::new("status", Kind::Text, true),
    ];
    TableSchema::new("orders", columns, &["id"])
}

fn items() -> TableSchema {
    let columns = vec![
        ColumnSchema::new("order_id", Kind::Integer, true),
        ColumnSchema::new("line", Kind::Integer, false),
        ColumnSchema::new("qty", Kind::Integer, true),
        ColumnSchema::new("price", Kind::Decimal, false),
        ColumnSchema::new("weight", Kind::Float, true),
        ColumnSchema::new("due", Kind::Timestamp, false),
        ColumnSchema::new("note", Kind::Text, true),
    ];
    TableSchema::new("items", columns, &[])
}

fn row(schema: &TableSchema, id: i64, ascii: bool, dice: &mut Dice) -> Vec<Value> {
    schema.columns.iter().map(|column| cell(column, id, ascii, dice)).collect()
}

fn cell(column: &ColumnSchema, id: i64, ascii: bool, dice: &mut Dice) -> Value {
    if column.name == "id" {
        return Value::Integer(id);
    }
    if column.nullable && dice.chance(22) {
        return Value::Null;
    }
    match column.kind {
        Kind::Boolean => Value::Boolean(dice.chance(50)),
        Kind::Integer if column.name.ends_with("_id") => Value::Integer(dice.between(1, 26)),
        Kind::Integer if dice.chance(4) => Value::Integer(1_000_003),
        Kind::Integer => Value::Integer(dice.between(-3, 6)),
        Kind::Float => Value::Float(quarters(dice.between(-12, 24))),
        Kind::Decimal if column.name == "fee" => Value::Decimal(Decimal::new(dice.between(-200, 999), 2)),
        Kind::Decimal => Value::Decimal(Decimal::new(dice.between(-12, 40) * 25, 2)),
        Kind::Text | Kind::Unknown => Value::Text(words(ascii, dice)),
        // Some before 1970, which is where days are counted from.
        Kind::Date if dice.chance(8) => Value::Date(i32::try_from(dice.between(-40_000, 10)).unwrap_or(0)),
        Kind::Date => Value::Date(day("2023-12-28") + i32::try_from(dice.between(0, 70)).unwrap_or(0)),
        Kind::Timestamp => Value::Timestamp(moment(dice)),
    }
}

/// A random cell of a column, whatever its row; of a column `id`, one from 1 to 60.
pub fn random_cell(column: &ColumnSchema, dice: &mut Dice) -> Value {
    let id = dice.between(1, 60);
    cell(column, id, false, dice)
}

fn words(ascii: bool, dice: &mut Dice) -> String {
    let list = if ascii || dice.chance(60) { ASCII } else { BEYOND };
    (*dice.pick(list)).to_owned()
}

fn moment(dice: &mut Dice) -> i64 {
    let recent = i64::from(day("2023-12-28")) + dice.between(0, 70);
    let date = if dice.chance(8) { dice.between(-40_000, 10) } else { recent };
    let time = match dice.below(10) {
        0..=2 => 0,
        3 => dice.between(0, 86_399) * 1_000_000 + 250_000,
        _ => dice.between(0, 86_399) * 1_000_000,
    };
    date * MICROS_PER_DAY + time
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn quarters(number: i64) -> f64 {
    number as f64 / 4.0
}
