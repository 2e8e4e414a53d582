//! Which tasks a suite makes: its splits and how many tasks each gets.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_protocol::plugin::Loading;
use tribunal_protocol::task::{SchemaRef, Split};

use crate::draft::Slot;

/// `suites/<name>/suite.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuiteFile {
    /// The version of this format: 1.
    pub(crate) format: u32,
    pub(crate) name: String,
    pub(crate) version: String,
    /// What it is for, in a sentence.
    pub(crate) summary: String,
    /// Where the schemas lie, from this file's folder.
    #[serde(default = "schemas_folder")]
    pub(crate) schemas: String,
    /// Where the families lie, from this file's folder.
    #[serde(default = "families_folder")]
    pub(crate) families: String,
    /// How its plugins are loaded.
    #[serde(default)]
    pub(crate) plugins: Loading,
    pub(crate) splits: Splits,
    /// How many tasks each split gets unless told otherwise.
    pub(crate) quotas: BTreeMap<Split, usize>,
}

/// What is trained on and what is held out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Splits {
    /// Schemas as `name-vN`.
    pub(crate) train_schemas: Vec<String>,
    #[serde(default)]
    pub(crate) new_schemas: Vec<String>,
    /// How many variants each held-out schema comes in, beside itself, in words that are held out
    /// too (`held-out-words.toml`).
    #[serde(default)]
    pub(crate) new_variants: u32,
    pub(crate) train_families: Vec<String>,
    #[serde(default)]
    pub(crate) new_families: Vec<String>,
}

fn schemas_folder() -> String {
    "schemas".to_owned()
}

fn families_folder() -> String {
    "families".to_owned()
}

/// How many tasks each split gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quotas(pub BTreeMap<Split, usize>);

impl Quotas {
    /// The same number for every split.
    #[must_use]
    pub fn each(count: usize) -> Quotas {
        Quotas(Split::ALL.into_iter().map(|split| (split, count)).collect())
    }
}

/// A family and a schema that carries it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The family's name.
    pub family: String,
    /// The schema.
    pub schema: SchemaRef,
}

/// Reads `billing-v1`.
pub(crate) fn schema_ref(text: &str) -> Result<SchemaRef, String> {
    let wrong = || format!("a schema such as `billing-v1` expected, `{text}` given");
    let (name, version) = text.rsplit_once("-v").ok_or_else(wrong)?;
    let version = version.parse().map_err(|_| wrong())?;
    Ok(SchemaRef { name: name.to_owned(), version })
}

/// The slots of a split: families take turns, and each turn of a family goes to its next schema,
/// starting at another one for every family.
pub(crate) fn slots(split: Split, pairs: &[Pair], count: usize) -> Vec<Slot> {
    let mut families: Vec<(&str, Vec<&Pair>)> = Vec::new();
    for pair in pairs {
        match families.iter_mut().find(|(family, _)| *family == pair.family) {
            Some((_, of_family)) => of_family.push(pair),
            None => families.push((&pair.family, vec![pair])),
        }
    }
    let mut made: BTreeMap<&Pair, u32> = BTreeMap::new();
    let mut slots = Vec::with_capacity(count);
    for turn in 0..count {
        let Some(place) = turn.checked_rem(families.len()) else {
            break;
        };
        let of_family = &families[place].1;
        let pair = of_family[(turn / families.len() + place) % of_family.len()];
        let number = made.entry(pair).or_insert(0);
        *number += 1;
        slots.push(Slot { split, pair: pair.clone(), number: *number });
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(family: &str, schema: &str) -> Pair {
        Pair { family: family.to_owned(), schema: SchemaRef { name: schema.to_owned(), version: 1 } }
    }

    #[test]
    fn families_take_turns_and_schemas_within_them() {
        let pairs = [pair("a", "x"), pair("a", "y"), pair("b", "x")];
        let slots = slots(Split::Train, &pairs, 6);
        let shown: Vec<_> =
            slots.iter().map(|slot| format!("{}{}{}", slot.pair.family, slot.pair.schema.name, slot.number)).collect();
        assert_eq!(shown, ["ax1", "bx1", "ay1", "bx2", "ax2", "bx3"]);
        assert!(super::slots(Split::Train, &[], 3).is_empty());
    }

    #[test]
    fn schema_names_read_back() {
        let read = schema_ref("web-orders-v12");
        assert_eq!(read.as_ref().map(ToString::to_string), Ok("web-orders-v12".to_owned()));
        assert!(schema_ref("billing").is_err());
        assert!(schema_ref("billing-vx").is_err());
    }
}
