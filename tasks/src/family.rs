//! The family files: one kind of question, in the terms that a schema must supply.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_protocol::failure::Code;
use tribunal_protocol::task::TaskKind;

use crate::action::ActionForm;
use crate::draw::Draw;

/// A family as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyInfo {
    /// Its name.
    pub name: String,
    /// The kind of its tasks.
    pub kind: TaskKind,
    /// What it asks and what goes wrong in the field, in a sentence or two.
    pub summary: String,
}

/// `families/<name>.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// The version of this format: 1.
    pub(crate) format: u32,
    pub(crate) name: String,
    pub(crate) kind: TaskKind,
    pub(crate) summary: String,
    /// The family whose question this one asks under other conditions: what this file leaves
    /// out is taken from there, and so are the schemas that carry it.
    #[serde(default)]
    pub(crate) like: Option<String>,
    /// The terms that a schema must supply, each with its meaning; a dot goes one level down.
    #[serde(default)]
    pub(crate) terms: BTreeMap<String, String>,
    /// The parameters.
    #[serde(default)]
    pub(crate) draws: BTreeMap<String, Draw>,
    /// Pieces of text that the templates use and mutants replace.
    #[serde(default)]
    pub(crate) parts: BTreeMap<String, String>,
    /// The columns of the answer.
    #[serde(default)]
    pub(crate) columns: Vec<ColumnForm>,
    /// How answers are compared, beyond their columns.
    #[serde(default)]
    pub(crate) compare: Option<Compare>,
    /// What is asked; one is drawn.
    #[serde(default)]
    pub(crate) instructions: Vec<String>,
    /// The gold query.
    #[serde(default)]
    pub(crate) query: Option<String>,
    /// What the right way submits, where that is not the gold query: gold of a top-k question
    /// holds the whole block of ties, an answer only k rows.
    #[serde(default)]
    pub(crate) solve: Option<String>,
    /// The right actions, where they are not a query and its submission.
    #[serde(default)]
    pub(crate) oracle: Vec<ActionForm>,
    /// Wrong ways.
    #[serde(default)]
    pub(crate) mutants: Vec<MutantForm>,
    /// What must be asked of the user first.
    #[serde(default)]
    pub(crate) clarify: Option<ClarifyForm>,
    /// What is missing, any of these words.
    #[serde(default)]
    pub(crate) missing: Vec<String>,
    /// Failures that the host plays.
    #[serde(default)]
    pub(crate) failures: Vec<FailureForm>,
    /// Columns that the final state may hold anything in: table = columns.
    #[serde(default)]
    pub(crate) ignore: BTreeMap<String, Vec<String>>,
}

/// One column of the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnForm {
    /// Its name; one of several is drawn.
    pub(crate) name: Vec<String>,
    /// Its kind.
    pub(crate) kind: String,
    /// What it holds, with unit and rounding, for the instruction.
    pub(crate) says: String,
    /// Whether it may be NULL.
    #[serde(default)]
    pub(crate) nullable: bool,
}

/// How answers are compared.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Compare {
    /// Order keys: the place of the column (from 1), negative where descending.
    pub(crate) order: Vec<i64>,
    /// Rows that are wanted of a top-k answer: an expression.
    pub(crate) top: Option<String>,
    /// Whether an answer without rows can be right.
    pub(crate) empty_ok: bool,
}

/// A wrong way: the gold query with other terms or parts, another query, or other actions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MutantForm {
    /// The fault that it shows.
    pub(crate) fault: String,
    /// Terms without which this schema cannot show it.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// Terms and parts replaced in the gold query.
    #[serde(default)]
    pub(crate) with: BTreeMap<String, String>,
    /// Another query.
    #[serde(default)]
    pub(crate) query: Option<String>,
    /// Other actions.
    #[serde(default)]
    pub(crate) actions: Vec<ActionForm>,
}

/// A question that must be asked, and the simulated user's reply.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClarifyForm {
    /// The name of what is open: `period`, `metric`.
    pub(crate) slot: String,
    /// Words by which a question is known to be about it.
    pub(crate) terms: Vec<String>,
    /// What the right agent says the question is about, and asks.
    pub(crate) about: String,
    pub(crate) question: String,
    /// What the user replies; never a value of the answer.
    pub(crate) reply: String,
    /// Things that are not open, with words by which a question about them is known.
    #[serde(default)]
    pub(crate) others: BTreeMap<String, OtherSlot>,
}

/// Something that is not open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherSlot {
    pub(crate) terms: Vec<String>,
    pub(crate) reply: String,
}

/// A failure that the host plays.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailureForm {
    pub(crate) tool: String,
    pub(crate) nth: u32,
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Family {
    /// This family with what it leaves out taken from the one it is like.
    pub(crate) fn over(&self, base: &Family) -> Family {
        fn other<T: Clone>(own: &[T], base: &[T]) -> Vec<T> {
            if own.is_empty() { base.to_vec() } else { own.to_vec() }
        }
        fn both<T: Clone>(own: &BTreeMap<String, T>, base: &BTreeMap<String, T>) -> BTreeMap<String, T> {
            let mut all = base.clone();
            all.extend(own.clone());
            all
        }
        let mut mutants = base.mutants.clone();
        mutants.extend(self.mutants.clone());
        Family {
            terms: both(&self.terms, &base.terms),
            draws: both(&self.draws, &base.draws),
            parts: both(&self.parts, &base.parts),
            columns: other(&self.columns, &base.columns),
            compare: self.compare.clone().or_else(|| base.compare.clone()),
            instructions: other(&self.instructions, &base.instructions),
            query: self.query.clone().or_else(|| base.query.clone()),
            solve: self.solve.clone().or_else(|| base.solve.clone()),
            oracle: other(&self.oracle, &base.oracle),
            mutants,
            clarify: self.clarify.clone().or_else(|| base.clarify.clone()),
            missing: other(&self.missing, &base.missing),
            failures: other(&self.failures, &base.failures),
            ignore: both(&self.ignore, &base.ignore),
            ..self.clone()
        }
    }

    /// What others see of it.
    pub(crate) fn info(&self) -> FamilyInfo {
        FamilyInfo { name: self.name.clone(), kind: self.kind, summary: self.summary.clone() }
    }
}
