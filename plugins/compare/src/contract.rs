//! What an answer must look like to count as the gold answer: the comparison contract.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::text;

/// The version of comparison contracts that this crate reads and writes.
pub const VERSION: u32 = 1;

/// A comparison contract. Its JSON form leaves out what has its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// [`VERSION`].
    pub version: u32,
    /// The columns of the answer, in gold's order.
    pub columns: Vec<ColumnRule>,
    /// How the columns of a submission are told apart.
    #[serde(default, rename = "match", skip_serializing_if = "is_default")]
    pub matching: Matching,
    /// Whether repeated rows count.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rows: Rows,
    /// The keys that the rows must be ordered by; empty: any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Key>,
    /// Only the first rows by some keys are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<Top>,
    /// Whether an answer without rows may be right.
    #[serde(default, skip_serializing_if = "is_default")]
    pub empty_ok: bool,
    /// How many rows a submission may hold.
    #[serde(default = "default_max_rows")]
    pub max_rows: u32,
    /// Whether a wrong answer earns a little for what is right in it: see
    /// [`Expectation::reward`](crate::Expectation::reward).
    #[serde(default, skip_serializing_if = "is_default")]
    pub partial: bool,
}

fn default_max_rows() -> u32 {
    10_000
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_yes(value: &bool) -> bool {
    *value
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// One column of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRule {
    /// Its name; unique under case folding.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Whether gold may hold NULL here; yes by default.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub nullable: bool,
    /// For [`Matching::Injective`]: this column and the other marked ones of its type may stand
    /// for each other.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interchangeable: bool,
}

impl ColumnRule {
    /// A column that may hold NULL and is not interchangeable.
    pub fn new(name: impl Into<String>, kind: Type) -> ColumnRule {
        ColumnRule { name: name.into(), kind, nullable: true, interchangeable: false }
    }
}

/// The type of a column: cells are read by it, never by how they look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Type {
    /// TRUE or FALSE.
    Boolean,
    /// A signed 64-bit integer.
    Integer,
    /// An exact decimal with at most `scale` digits after the point.
    Decimal {
        /// Digits after the point.
        scale: u32,
    },
    /// A double, equal within `max(abs, rel * max(|a|, |b|))`, the bound included.
    Float {
        /// The absolute tolerance.
        #[serde(default)]
        abs: f64,
        /// The relative tolerance, below 1.
        #[serde(default)]
        rel: f64,
        /// Whether NaN and the infinities may occur. NaN then equals NaN.
        #[serde(default)]
        non_finite: bool,
    },
    /// Text, compared in NFC.
    Text {
        /// Whether white space at both ends is of no matter.
        #[serde(default)]
        trim: bool,
        /// Whether case is of no matter.
        #[serde(default)]
        ignore_case: bool,
    },
    /// A day.
    Date,
    /// A moment at microsecond precision.
    Timestamp,
}

impl Type {
    /// Text without flags.
    pub const TEXT: Type = Type::Text { trim: false, ignore_case: false };

    /// The name, as in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Decimal { .. } => "decimal",
            Type::Float { .. } => "float",
            Type::Text { .. } => "text",
            Type::Date => "date",
            Type::Timestamp => "timestamp",
        }
    }

    /// Types of one class convert into each other, so a consistent swap of two such columns
    /// cannot be seen.
    fn class(self) -> u8 {
        match self {
            Type::Boolean => 0,
            Type::Integer | Type::Decimal { .. } | Type::Float { .. } => 1,
            Type::Text { .. } => 2,
            Type::Date | Type::Timestamp => 3,
        }
    }
}

/// How the columns of a submission are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// By name, without regard to case. The names must be public in the question.
    #[default]
    Name,
    /// By place; names are of no matter.
    Position,
    /// By content: every gold column has one submitted column of its own.
    Injective,
}

/// Whether repeated rows count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rows {
    /// They count.
    #[default]
    Bag,
    /// They do not: only where the question asks for distinct things.
    Set,
}

/// One order key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The column, as in [`Contract::columns`].
    pub column: String,
    /// Which way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// Where NULL stands, whichever way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nulls: Nulls,
}

/// Which way an order goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The least first.
    #[default]
    Ascending,
    /// The greatest first.
    Descending,
}

/// Where NULL stands in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// After every value.
    #[default]
    Last,
    /// Before every value.
    First,
}

/// The first `k` rows by some keys. Gold carries every row above the cut and the whole block of
/// rows that tie with row `k`, and nothing below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Top {
    /// How many rows are asked for.
    pub k: u32,
    /// The keys.
    pub keys: Vec<Key>,
}

/// How many column maps injective matching may have to try.
const MAX_MAPS: u32 = 24;

impl Contract {
    /// A contract over some columns with every default: matched by name, a bag, any order.
    #[must_use]
    pub fn new(columns: Vec<ColumnRule>) -> Contract {
        Contract {
            version: VERSION,
            columns,
            matching: Matching::Name,
            rows: Rows::Bag,
            order: Vec::new(),
            top: None,
            empty_ok: false,
            max_rows: default_max_rows(),
            partial: false,
        }
    }

    /// The place of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Refuses what cannot be judged rightly.
    ///
    /// # Errors
    /// Says which part contradicts which, and what to do.
    pub fn validate(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("version {}: this comparator reads version {VERSION}", self.version));
        }
        if self.columns.is_empty() {
            return Err("columns: at least one is expected".to_owned());
        }
        self.validate_names()?;
        for column in &self.columns {
            column.validate()?;
        }
        self.validate_rows()?;
        self.validate_keys("order", &self.order)?;
        self.validate_top()?;
        self.validate_matching()
    }

    fn validate_names(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        let twice = self.columns.iter().find(|column| !seen.insert(text::name(&column.name)));
        match twice {
            Some(column) => {
                Err(format!("column {}: another column has this name when case is ignored; rename one", column.name))
            }
            None => Ok(()),
        }
    }

    fn validate_rows(&self) -> Result<(), String> {
        if self.rows != Rows::Set {
            return Ok(());
        }
        let float = |column: &&ColumnRule| matches!(column.kind, Type::Float { .. });
        if let Some(column) = self.columns.iter().find(float) {
            return Err(format!(
                "rows set with the float column {}: distinct rows need exact cells; use bag",
                column.name
            ));
        }
        match (self.order.is_empty(), &self.top, self.matching) {
            (false, ..) => Err("rows set with an order: use bag".to_owned()),
            (_, Some(_), _) => Err("rows set with top: use bag".to_owned()),
            (.., Matching::Injective) => Err("rows set with injective matching: match by name or position".to_owned()),
            _ => Ok(()),
        }
    }

    fn validate_keys(&self, part: &str, keys: &[Key]) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for key in keys {
            if self.place(&key.column).is_none() {
                return Err(format!("{part}: no column {}", key.column));
            }
            if !seen.insert(&key.column) {
                return Err(format!("{part}: column {} stands twice", key.column));
            }
        }
        Ok(())
    }

    fn validate_top(&self) -> Result<(), String> {
        let Some(top) = &self.top else { return Ok(()) };
        self.validate_keys("top", &top.keys)?;
        if top.k == 0 || top.keys.is_empty() {
            return Err("top: k above 0 and at least one key are expected".to_owned());
        }
        if self.matching == Matching::Injective {
            return Err("top with injective matching: match by name or position".to_owned());
        }
        if !self.order.is_empty() && self.order != top.keys {
            return Err("top with another order: order and top keys must be the same".to_owned());
        }
        Ok(())
    }

    fn validate_matching(&self) -> Result<(), String> {
        let marked = |column: &&ColumnRule| column.interchangeable;
        if self.matching != Matching::Injective {
            return match self.columns.iter().find(marked) {
                Some(column) => Err(format!("column {}: interchangeable is for injective matching only", column.name)),
                None => Ok(()),
            };
        }
        for (index, a) in self.columns.iter().enumerate() {
            let alike = |b: &&ColumnRule| a.kind.class() == b.kind.class() && !(a.interchangeable && b.interchangeable);
            if let Some(b) = self.columns.iter().skip(index + 1).find(alike) {
                return Err(format!(
                    "columns {} and {}: injective matching cannot tell a swap of two columns of \
                     one type; mark both interchangeable, or match by name or position",
                    a.name, b.name
                ));
            }
        }
        let maps = (0..4_u8)
            .map(|class| {
                let alike = |c: &&ColumnRule| c.kind.class() == class;
                let count = u32::try_from(self.columns.iter().filter(alike).count());
                (1..=count.unwrap_or(u32::MAX)).fold(1, u32::saturating_mul)
            })
            .fold(1, u32::saturating_mul);
        if maps > MAX_MAPS {
            return Err(format!(
                "injective matching: {maps} column maps, at most {MAX_MAPS} can be tried; match \
                 by name or position"
            ));
        }
        Ok(())
    }
}

impl ColumnRule {
    fn validate(&self) -> Result<(), String> {
        let Type::Float { abs, rel, .. } = self.kind else {
            return Ok(());
        };
        if !(abs.is_finite() && abs >= 0.0) {
            return Err(format!("column {}: abs must be 0 or above", self.name));
        }
        if !(0.0..1.0).contains(&rel) {
            return Err(format!("column {}: rel must lie in 0..1, 1 excluded", self.name));
        }
        Ok(())
    }
}
