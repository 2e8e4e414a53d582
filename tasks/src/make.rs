//! How the cells of a column are made: the declarative half of the row generator.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::condition::Conditions;

/// How one cell is made. In TOML: `make = { integer = [1, 5] }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Make {
    /// Rising integers; first value and step are drawn once for the table.
    Serial {
        /// Bounds of the first value.
        start: [i64; 2],
        /// Bounds of the step.
        #[serde(default = "one")]
        step: [i64; 2],
    },
    /// Text with a rising number: `prefix` + number.
    Code {
        /// What stands before the number.
        prefix: String,
        /// Bounds of the first number.
        start: [i64; 2],
        /// Bounds of the step.
        #[serde(default = "one")]
        step: [i64; 2],
    },
    /// An integer between two bounds, both included.
    Integer([i64; 2]),
    /// A decimal with two digits between two bounds, both included.
    Decimal([String; 2]),
    /// One of some values.
    Pick {
        /// The values.
        of: Vec<toml::Value>,
        /// How likely each is; all the same where empty.
        #[serde(default)]
        weights: Vec<u64>,
    },
    /// Words from the suite's lists, joined by a blank; no combination twice until all were used.
    Name {
        /// The lists.
        lists: Vec<String>,
        /// How often a name of an earlier row is used again.
        #[serde(default)]
        namesakes: f64,
    },
    /// A day between two days, both included.
    Date([String; 2]),
    /// A moment between two days, both included, to the minute.
    Moment([String; 2]),
    /// Days after the day or moment in another column; NULL where that is NULL.
    After {
        /// The earlier column of this row.
        column: String,
        /// Bounds of the number of days, both included; may be negative.
        days: [i64; 2],
    },
    /// The column of the parent row, in tables made row by row for a parent.
    Parent(String),
    /// The column of a random row of an earlier table.
    Ref {
        /// The table.
        table: String,
        /// Its column.
        column: String,
        /// Which rows may be drawn.
        #[serde(default, rename = "where")]
        conditions: Conditions,
        /// Columns of that row that must equal columns of this row: theirs = ours.
        #[serde(default)]
        same: BTreeMap<String, String>,
        /// Whether early rows are drawn far more often than late ones.
        #[serde(default)]
        skew: bool,
    },
    /// Another column of the row that a `ref` or `parent` column points to.
    Via {
        /// The pointing column of this row.
        through: String,
        /// The column there; `a.b` goes on to column `b` of the row that `a` there points to.
        column: String,
    },
    /// The value of an earlier column of this row.
    Copy(String),
    /// Text with `{column}` replaced by earlier columns of this row.
    Text(String),
    /// A value chosen by the text of another column.
    Map {
        /// The earlier column.
        column: String,
        /// Values by text.
        to: BTreeMap<String, toml::Value>,
        /// The value where the text is not listed; NULL where absent.
        #[serde(default)]
        otherwise: Option<toml::Value>,
    },
    /// Two makes, by conditions on earlier columns of this row.
    When {
        /// The conditions.
        #[serde(rename = "where")]
        conditions: Conditions,
        /// Made where they hold.
        then: Box<Make>,
        /// Made where they do not.
        otherwise: Box<Make>,
    },
    /// One of several makes, by weight.
    Mix(Vec<Share>),
    /// The product of two earlier columns of this row.
    Product([String; 2]),
    /// The sum over a later table's rows that point to this row; filled in when that is made.
    Total {
        /// The later table.
        table: String,
        /// Its pointing column.
        by: String,
        /// The column of this table it points to.
        #[serde(default = "id")]
        key: String,
        /// What is summed.
        of: String,
        /// Rows of this table that stay NULL.
        #[serde(default)]
        unless: Conditions,
    },
    /// Always this value.
    Value(toml::Value),
    /// Always NULL.
    Null,
}

/// One make of a mix.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    /// How likely it is, beside the others.
    pub(crate) weight: u64,
    /// How the cell is made then.
    pub(crate) make: Make,
}

fn one() -> [i64; 2] {
    [1, 1]
}

fn id() -> String {
    "id".to_owned()
}
