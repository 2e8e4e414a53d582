//! What became of every question: for a table, and as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::draft::Remark;

/// The version of the report's form.
pub const REPORT_VERSION: u32 = 1;

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Both engines agree on every alternative that is kept, the result is not empty, and the
    /// gold scores while an empty answer does not: it is a task of the suite.
    Scored,
    /// The engine does not run it, or a table that it needs could not be read.
    Unsupported,
    /// The gold itself is at fault: it fails in SQLite, too, or decides by chance, or
    /// contradicts itself, or has no answer on this data.
    GoldWrong,
    /// The two engines give different results.
    Disagree,
}

impl Class {
    /// All classes, in the order of tables.
    pub const ALL: [Class; 4] = [Class::Scored, Class::Unsupported, Class::GoldWrong, Class::Disagree];

    /// The name, as in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Scored => "scored",
            Class::Unsupported => "unsupported",
            Class::GoldWrong => "gold-wrong",
            Class::Disagree => "disagree",
        }
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionReport {
    /// Its number in the import, from 1.
    pub number: u32,
    /// The file, relative to the imported folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The schema.
    pub schema: String,
    /// Its author's category.
    pub category: String,
    /// What is asked.
    pub question: String,
    /// What became of it.
    pub class: Class,
    /// Why, in a line; empty where it is scored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How many alternatives its gold stands for.
    pub alternatives: u32,
    /// How many of them are accepted by the task.
    pub kept: u32,
    /// Rows of the first kept alternative.
    pub rows: u32,
    /// What should be known besides: alternatives left out, order that cannot be judged, ..
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What became of all questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportReport {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// What `now` is: an ISO date.
    pub clock: String,
    /// How many questions there are.
    pub questions: u32,
    /// How many of each class.
    pub totals: BTreeMap<Class, u32>,
    /// How many of each class, by schema.
    pub by_schema: BTreeMap<String, BTreeMap<Class, u32>>,
    /// How many of each class, by category.
    pub by_category: BTreeMap<String, BTreeMap<Class, u32>>,
    /// Every question, in order.
    pub results: Vec<QuestionReport>,
    /// What could not be read in the schemas.
    pub problems: Vec<Remark>,
    /// What was read and left out because it changes no answer.
    pub notes: Vec<Remark>,
}

impl ImportReport {
    /// Counts what became of the questions.
    pub(crate) fn new(
        clock: String,
        results: Vec<QuestionReport>,
        problems: Vec<Remark>,
        notes: Vec<Remark>,
    ) -> ImportReport {
        let none = || Class::ALL.map(|class| (class, 0)).into_iter().collect::<BTreeMap<_, _>>();
        let mut totals = none();
        let mut by_schema = BTreeMap::new();
        let mut by_category = BTreeMap::new();
        let count = |counts: &mut BTreeMap<Class, u32>, class| *counts.entry(class).or_insert(0) += 1;
        for result in &results {
            count(&mut totals, result.class);
            count(by_schema.entry(result.schema.clone()).or_insert_with(none), result.class);
            count(by_category.entry(result.category.clone()).or_insert_with(none), result.class);
        }
        ImportReport {
            version: REPORT_VERSION,
            clock,
            questions: u32::try_from(results.len()).unwrap_or(u32::MAX),
            totals,
            by_schema,
            by_category,
            results,
            problems,
            notes,
        }
    }

    /// How many questions are of a class.
    #[must_use]
    pub fn count(&self, class: Class) -> u32 {
        self.totals.get(&class).copied().unwrap_or(0)
    }
}
