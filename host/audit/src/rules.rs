//! An expectation as the audit reads it, by a reader of its own: nothing of it comes from a verifier
//! or from a library that one uses.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tribunal_protocol::table::Table;

use crate::sheet::Sheet;

/// The version of expectations that is read here.
const VERSION: u64 = 1;

/// A gold answer and the comparison contract that it stands under.
#[derive(Clone, Debug)]
pub(crate) struct Gold {
    pub(crate) rules: Rules,
    pub(crate) sheet: Sheet,
}

/// A comparison contract.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rules {
    pub(crate) columns: Vec<Rule>,
    #[serde(default, rename = "match")]
    pub(crate) matching: Matching,
    #[serde(default)]
    rows: Option<String>,
    #[serde(default)]
    pub(crate) order: Vec<Key>,
    #[serde(default)]
    pub(crate) top: Option<Top>,
    #[serde(default)]
    pub(crate) empty_ok: bool,
    #[serde(default = "ten_thousand")]
    pub(crate) max_rows: usize,
    /// As it was written, for expectations that are derived from it.
    #[serde(skip)]
    raw: Json,
}

fn ten_thousand() -> usize {
    10_000
}

/// How columns are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Matching {
    #[default]
    Name,
    Position,
    Injective,
}

/// One column of the answer.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Rule {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: Type,
    #[serde(default = "yes")]
    pub(crate) nullable: bool,
}

fn yes() -> bool {
    true
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Type {
    Boolean,
    Integer,
    Decimal {
        scale: u32,
    },
    Float {
        #[serde(default)]
        abs: f64,
        #[serde(default)]
        rel: f64,
        #[serde(default)]
        non_finite: bool,
    },
    Text {
        #[serde(default)]
        trim: bool,
        #[serde(default)]
        ignore_case: bool,
    },
    Date,
    Timestamp,
}

impl Type {
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Type::Integer | Type::Decimal { .. } | Type::Float { .. })
    }
}

/// An order key.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Key {
    pub(crate) column: String,
}

/// The first `k` rows by some keys.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Top {
    pub(crate) k: usize,
    pub(crate) keys: Vec<Key>,
}

impl Rules {
    pub(crate) fn is_set(&self) -> bool {
        self.rows.as_deref() == Some("set")
    }

    /// The keys that gold's rows stand in order of: those of a top-k, or of the order asked for.
    pub(crate) fn keys(&self) -> &[Key] {
        self.top.as_ref().map_or(&self.order, |top| &top.keys)
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|rule| rule.name == name)
    }

    /// Whether a column is one of the order keys.
    pub(crate) fn is_key(&self, place: usize) -> bool {
        let named = |key: &Key| self.columns.get(place).is_some_and(|rule| rule.name == key.column);
        self.order.iter().chain(self.keys()).any(named)
    }
}

impl Gold {
    /// Reads `{"version": 1, "contract": {..}, "gold": {..}}`. None where it is nothing of the kind,
    /// or accepts several answers: then what differs from one of them need not be wrong.
    pub(crate) fn read(json: &Json) -> Option<Gold> {
        if json.get("version").and_then(Json::as_u64) != Some(VERSION) {
            return None;
        }
        let several = json.get("alternatives").and_then(Json::as_array).is_some_and(|others| !others.is_empty());
        if several {
            return None;
        }
        let raw = json.get("contract")?.clone();
        let mut rules: Rules = serde_json::from_value(raw.clone()).ok()?;
        rules.raw = raw;
        let table: Table = serde_json::from_value(json.get("gold")?.clone()).ok()?;
        let sheet = Sheet::of(&table);
        if sheet.columns.len() != rules.columns.len() {
            return None;
        }
        let order = |rule: &Rule| sheet.place(&rule.name);
        let sheet = match rules.matching {
            Matching::Name => sheet.with_columns(&rules.columns.iter().map(order).collect::<Option<Vec<_>>>()?),
            Matching::Position | Matching::Injective => sheet,
        };
        Some(Gold { rules, sheet })
    }

    /// As a verifier reads it.
    pub(crate) fn to_json(&self) -> Json {
        json!({"version": VERSION, "contract": self.rules.raw, "gold": self.sheet.to_json()})
    }

    /// The same rules with another gold answer.
    pub(crate) fn with(&self, sheet: Sheet) -> Gold {
        Gold { rules: self.rules.clone(), sheet }
    }

    /// The same with no rows as the right answer.
    pub(crate) fn emptied(&self) -> Gold {
        let mut gold = self.clone();
        gold.sheet.rows.clear();
        gold.rules.empty_ok = true;
        gold.rules.raw["empty_ok"] = json!(true);
        gold
    }

    /// The same with its rows in the order of gold by these columns, ascending; `sheet` must be so.
    pub(crate) fn ordered(&self, sheet: Sheet, by: &[usize]) -> Gold {
        let names: Vec<&str> = by.iter().map(|place| self.rules.columns[*place].name.as_str()).collect();
        let mut gold = self.with(sheet);
        gold.rules.order = names.iter().map(|name| Key { column: (*name).to_owned() }).collect();
        gold.rules.raw["order"] = names.iter().map(|name| json!({"column": name})).collect();
        gold
    }

    /// Without a column; none where a key needs it or it is the last.
    pub(crate) fn without_column(&self, place: usize) -> Option<Gold> {
        if self.rules.columns.len() < 2 || self.rules.is_key(place) {
            return None;
        }
        let mut gold = self.clone();
        gold.rules.columns.remove(place);
        gold.rules.raw["columns"].as_array_mut()?.remove(place);
        gold.sheet = gold.sheet.without_column(place);
        Some(gold)
    }
}
