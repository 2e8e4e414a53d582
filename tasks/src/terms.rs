//! The terms files: in which words a schema carries a family.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::draw::Draw;
use crate::error::TasksError;
use crate::family::{Family, MutantForm};

/// `schemas/<name>/v<N>/terms.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Terms {
    /// The version of this format: 1.
    pub(crate) format: u32,
    /// The settings of `tool-ledger` for this schema, passed on as JSON.
    #[serde(default)]
    pub(crate) ledger: Option<toml::Table>,
    /// The days between which the data is dense enough to ask about.
    pub(crate) window: [String; 2],
    /// Terms that several carries share, by name.
    #[serde(default, rename = "base")]
    pub(crate) bases: BTreeMap<String, toml::Table>,
    /// One entry for each question that the schema carries; a family may stand here often.
    #[serde(default, rename = "carry")]
    pub(crate) carries: Vec<Carry>,
}

/// One way in which a schema carries a family.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carry {
    pub(crate) family: String,
    /// A word that tells several carries of one family apart.
    pub(crate) name: String,
    /// Bases whose terms it takes over, later ones over earlier ones, its own over all.
    #[serde(default)]
    pub(crate) base: Vec<String>,
    /// The tables that the right way reads.
    #[serde(default)]
    pub(crate) tables: Vec<String>,
    /// The metric, by its name in `metric_definitions`, that says who is counted.
    #[serde(default)]
    pub(crate) metric: Option<String>,
    /// Another window than the schema's.
    #[serde(default)]
    pub(crate) window: Option<[String; 2]>,
    /// The terms, as text templates over the parameters.
    #[serde(default)]
    pub(crate) terms: toml::Table,
    /// Parameters beside or instead of the family's.
    #[serde(default)]
    pub(crate) draws: BTreeMap<String, Draw>,
    /// Wrong ways beside the family's.
    #[serde(default)]
    pub(crate) mutants: Vec<MutantForm>,
    /// What the agent may write: table = columns.
    #[serde(default)]
    pub(crate) write: BTreeMap<String, WriteForm>,
    /// Private columns that this question needs after all: `table.column`.
    #[serde(default)]
    pub(crate) reveal: Vec<String>,
    /// Further columns that the contract hides: `table.column`.
    #[serde(default)]
    pub(crate) hide: Vec<String>,
    /// Columns that the final state may hold anything in: table = columns.
    #[serde(default)]
    pub(crate) ignore: BTreeMap<String, Vec<String>>,
}

/// A write grant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteForm {
    pub(crate) verbs: Vec<String>,
    pub(crate) columns: Vec<String>,
}

impl Terms {
    /// Lays the terms of each carry over those of its bases.
    pub(crate) fn settle(&mut self, file: &str) -> Result<(), TasksError> {
        for carry in &mut self.carries {
            let mut settled = toml::Table::new();
            for name in &carry.base {
                let base = self.bases.get(name).ok_or_else(|| {
                    let known: Vec<_> = self.bases.keys().map(String::as_str).collect();
                    let why = format!("no [base.{name}]; there are: {}", known.join(", "));
                    TasksError::invalid(file, carry.key(), why)
                })?;
                lay_over(&mut settled, base);
            }
            lay_over(&mut settled, &carry.terms);
            carry.terms = settled;
        }
        Ok(())
    }
}

/// Puts `upper` over `lower`, table by table.
fn lay_over(lower: &mut toml::Table, upper: &toml::Table) {
    for (name, value) in upper {
        match (lower.get_mut(name), value) {
            (Some(toml::Value::Table(lower)), toml::Value::Table(upper)) => lay_over(lower, upper),
            _ => {
                lower.insert(name.clone(), value.clone());
            }
        }
    }
}

impl Carry {
    /// How faults name it.
    pub(crate) fn key(&self) -> String {
        format!("carry {}/{}", self.family, self.name)
    }

    /// Whether a term is supplied, and not as an empty text; a dot goes one level down.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.term(path).is_some_and(|term| term.as_str() != Some(""))
    }

    fn term(&self, path: &str) -> Option<&toml::Value> {
        let mut steps = path.split('.');
        let first = self.terms.get(steps.next()?)?;
        steps.try_fold(first, |found, step| found.as_table()?.get(step))
    }

    /// Refuses a carry that does not supply what its family needs.
    pub(crate) fn check(&self, family: &Family, file: &str) -> Result<(), TasksError> {
        match family.terms.iter().find(|(path, _)| self.term(path).is_none()) {
            None => Ok(()),
            Some((path, meaning)) => {
                let why = format!("term `{path}` expected: {meaning}");
                Err(TasksError::invalid(file, self.key(), why))
            }
        }
    }
}
