//! Every question judged: what its gold is worth, and the task that comes of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tribunal_protocol::policy::{Action, names};
use tribunal_protocol::task::{AnswerColumn, AnswerForm, Instance, SchemaRef, Split, Task, TaskKind};
use tribunal_protocol::value::date_text;
use tribunal_protocol::{Digest, Kind};

use crate::agree::{Relation, relation};
use crate::draft::Remark;
use crate::engines::{Engines, compare, named, passes};
use crate::expand::{ExpandError, MAX_ALTERNATIVES, expand};
use crate::folder::ForeignSchema;
use crate::instruct::instruction;
use crate::pin::Pin;
use crate::question::ForeignQuestion;
use crate::report::{Class, QuestionReport};
use crate::token::Lexer;
use crate::trial::{self, Accepted, Fate};

/// The contract that an imported task grants to tools: everything may be read.
pub(crate) const GRANT: &str = "[contract]\nname = \"imported-reader\"\n\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
/// The contract that it grants to its verifier: nothing, for the answer says it all.
const VERIFIER_GRANT: &str = "[contract]\nname = \"imported-verifier\"\n";
/// How many actions a policy may take: it has to look around in a schema that it does not know.
const STEPS: u32 = 24;

/// A schema ready to judge questions about it.
pub(crate) struct Bench<'s> {
    schema: &'s ForeignSchema,
    engines: Result<Engines, String>,
    clock: String,
    tables: BTreeSet<String>,
    fingerprint: Digest,
    reference: SchemaRef,
}

impl<'s> Bench<'s> {
    /// Loads a schema's data into both engines. `reference` is the schema as tasks name it.
    pub fn new(schema: &'s ForeignSchema, reference: SchemaRef) -> Bench<'s> {
        let tables = schema.data.tables.iter().map(|table| table.schema.name.to_lowercase());
        Bench {
            schema,
            engines: Engines::open(&schema.data),
            clock: date_text(schema.data.clock),
            tables: tables.chain(schema.broken.keys().cloned()).collect(),
            fingerprint: schema.data.fingerprint(),
            reference,
        }
    }

    /// Judges a question; a scored one comes with its task.
    pub fn judge(&self, suite: &str, question: &ForeignQuestion) -> (QuestionReport, Option<Task>) {
        let mut report = blank(question);
        match self.accepted(question, &mut report) {
            Ok(accepted) => {
                let rows = accepted.first().map_or(0, |first| first.result.rows);
                report.rows = u32::try_from(rows).unwrap_or(u32::MAX);
                report.kept = u32::try_from(accepted.len()).unwrap_or(u32::MAX);
                let task = self.task(suite, question, &accepted, &mut report);
                (report, task)
            }
            Err((class, why)) => {
                report.class = class;
                report.why = why;
                (report, None)
            }
        }
    }

    /// The alternatives that an answer may equal.
    fn accepted(
        &self,
        question: &ForeignQuestion,
        report: &mut QuestionReport,
    ) -> Result<Vec<Accepted>, (Class, String)> {
        let engines = self.engines.as_ref().map_err(|why| (Class::Unsupported, format!("schema: {why}")))?;
        let alternatives = expand(&question.gold).map_err(|error| match error {
            ExpandError::Malformed(what) => (Class::GoldWrong, format!("the gold cannot be read: {what}")),
            ExpandError::TooMany => {
                (Class::Unsupported, format!("its gold stands for more than {MAX_ALTERNATIVES} alternatives"))
            }
        })?;
        report.alternatives = u32::try_from(alternatives.len()).unwrap_or(u32::MAX);
        if let Some(remark) = self.broken(&alternatives) {
            return Err((Class::Unsupported, format!("a table that could not be read: {remark}")));
        }
        let ordered = asks_order(question);
        let mut accepted: Vec<(usize, Accepted)> = Vec::new();
        let mut first_unsupported = None;
        let mut first_wrong = None;
        for (number, gold) in (1_usize..).zip(&alternatives) {
            let left_out = match self.run(engines, gold, ordered) {
                Fate::Accepted(one) => {
                    accepted.push((number, *one));
                    continue;
                }
                Fate::Disagree(difference) => {
                    return Err((Class::Disagree, numbered(number, alternatives.len(), &difference)));
                }
                Fate::Unsupported(why) => {
                    first_unsupported.get_or_insert_with(|| why.clone());
                    why
                }
                Fate::Wrong(why) => {
                    first_wrong.get_or_insert_with(|| why.clone());
                    why
                }
            };
            report.remarks.push(format!("alternative {number} is left out: {left_out}"));
        }
        if accepted.is_empty() {
            let unsupported = first_unsupported.map(|why| (Class::Unsupported, why));
            let wrong = || (Class::GoldWrong, first_wrong.unwrap_or_default());
            return Err(unsupported.unwrap_or_else(wrong));
        }
        relate(&accepted, report)?;
        if ordered && accepted.iter().any(|(_, one)| one.hidden_order) {
            report.remarks.push("its order cannot be judged: the key is not in the answer".to_owned());
        }
        if accepted.iter().any(|(_, one)| one.ignores_case) {
            report.remarks.push("its LIKE ignores case, as SQLite's does: ILIKE in our dialect".to_owned());
        }
        Ok(accepted.into_iter().map(|(_, one)| one).collect())
    }

    fn run(&self, engines: &Engines, gold: &str, ordered: bool) -> Fate {
        let pin = Pin { clock: &self.clock, prefixes: &self.schema.prefixes, tables: &self.tables };
        match pin.gold(gold) {
            Ok(sql) => trial::run(engines, &sql, ordered),
            Err(why) => Fate::Wrong(why),
        }
    }

    /// The first table of the gold that could not be read.
    fn broken(&self, alternatives: &[String]) -> Option<&Remark> {
        let tokens = alternatives.iter().filter_map(|gold| Lexer::all(gold).ok());
        let mut words = tokens.flatten().filter(|token| token.is_name());
        words.find_map(|word| self.schema.broken.get(&word.text.to_lowercase()))
    }

    /// The task of a question, if every accepted answer passes on the verifier's own path.
    fn task(
        &self,
        suite: &str,
        question: &ForeignQuestion,
        accepted: &[Accepted],
        report: &mut QuestionReport,
    ) -> Option<Task> {
        let first = accepted.first()?;
        let forms = distinct(accepted);
        let expected = expectation(&forms);
        // Whatever the agent is told that it may answer must pass, not the oracle's answer alone.
        let fails = |(number, one): (usize, &Accepted)| {
            let why = passes(&expected, &one.result).err()?;
            Some(numbered(number, accepted.len(), &format!("its own answer does not score: {why}")))
        };
        if let Some(why) = (1..).zip(accepted).find_map(fails) {
            report.class = Class::Disagree;
            report.why = why;
            return None;
        }
        let listed: Vec<_> = forms.iter().map(|one| (one.columns.clone(), one.contract.clone())).collect();
        let category = slug(&question.category);
        Some(Task {
            id: format!("{}-q{:04}", self.reference.name, question.number),
            suite: suite.to_owned(),
            family: format!("imported-{category}"),
            schema: self.reference.clone(),
            kind: TaskKind::Answer,
            split: Split::NewSchemaAndFamily,
            fingerprint: self.fingerprint,
            instruction: instruction(
                &question.question,
                &question.instructions,
                &self.schema.glossary,
                &self.clock,
                &listed,
            ),
            answer: told(&listed),
            answer_form: AnswerForm::Call,
            instances: vec![Instance { seed: 0, expectation: expected }],
            tools: vec!["tool-catalog".to_owned(), "tool-query".to_owned()],
            grant: GRANT.to_owned(),
            settings: BTreeMap::new(),
            verifier: "verifier-result".to_owned(),
            verifier_grant: VERIFIER_GRANT.to_owned(),
            user: None,
            failures: Vec::new(),
            steps: STEPS,
            oracle: vec![
                Action::call("query", json!({ "sql": first.sql })),
                Action::call(names::SUBMIT, json!({ "call": 1 })),
            ],
            mutants: Vec::new(),
        })
    }
}

fn blank(question: &ForeignQuestion) -> QuestionReport {
    QuestionReport {
        number: question.number,
        file: question.file.clone(),
        line: question.line,
        schema: question.schema.clone(),
        category: question.category.clone(),
        question: question.question.clone(),
        class: Class::Scored,
        why: String::new(),
        alternatives: 0,
        kept: 0,
        rows: 0,
        remarks: Vec::new(),
    }
}

/// The report of a question about a schema that is not there.
pub(crate) fn homeless(question: &ForeignQuestion, known: &[String]) -> QuestionReport {
    QuestionReport {
        class: Class::Unsupported,
        why: format!("no schema `{}` in the folder; there are: {}", question.schema, known.join(", ")),
        ..blank(question)
    }
}

fn numbered(number: usize, of: usize, what: &str) -> String {
    match of {
        1 => what.to_owned(),
        _ => format!("alternative {number}: {what}"),
    }
}

/// Whether the question asks for an order, by its category or its words: the rule of the
/// evaluator that such questions were written for, with the words' other forms.
fn asks_order(question: &ForeignQuestion) -> bool {
    let words = ["order", "ordered", "sort", "sorted", "arrange", "arranged"];
    let said = format!("{} {}", question.question, question.instructions).to_lowercase();
    let mut spoken = said.split(|c: char| !c.is_alphanumeric());
    question.category == "order_by" || spoken.any(|word| words.contains(&word))
}

/// Looks for alternatives that contradict each other, and remarks on those that differ in rows.
fn relate(accepted: &[(usize, Accepted)], report: &mut QuestionReport) -> Result<(), (Class, String)> {
    for (index, (first, a)) in accepted.iter().enumerate() {
        for (second, b) in accepted.iter().skip(index + 1) {
            let rows = || format!("{} and {} rows", a.result.rows, b.result.rows);
            let remark = match relation(&a.result, &b.result) {
                Relation::Same => continue,
                Relation::Contradiction(row, other) => {
                    let why = format!(
                        "alternatives {first} and {second} contradict each other: {row} stands only in the one, \
                         {other} only in the other"
                    );
                    return Err((Class::GoldWrong, why));
                }
                Relation::Part => format!("alternatives {first} and {second} differ in their rows: {}", rows()),
                Relation::Apart => {
                    format!("alternatives {first} and {second} share no numbers by name: {}", rows())
                }
            };
            // One remark for each alternative that differs from the first is enough.
            if index == 0 {
                report.remarks.push(remark);
            }
        }
    }
    Ok(())
}

/// The alternatives without those that another one accepts anyway.
fn distinct(accepted: &[Accepted]) -> Vec<&Accepted> {
    let mut forms: Vec<&Accepted> = Vec::new();
    for one in accepted {
        let covered = |form: &&Accepted| {
            form.contract.columns.len() == one.contract.columns.len()
                && compare(&form.contract, &form.gold, &one.result).is_ok()
                && compare(&one.contract, &one.gold, &form.result).is_ok()
        };
        if !forms.iter().any(covered) {
            forms.push(one);
        }
    }
    forms
}

/// The columns of the first form as the agent is told; a kind that another form has otherwise
/// under the same name is left open.
fn told(forms: &[(Vec<AnswerColumn>, tribunal_compare::Contract)]) -> Vec<AnswerColumn> {
    let Some((first, _)) = forms.first() else {
        return Vec::new();
    };
    let open = |column: &AnswerColumn| {
        let mut others = forms.iter().flat_map(|(columns, _)| columns);
        others.any(|other| other.name == column.name && other.kind != column.kind)
    };
    let tell = |column: &AnswerColumn| AnswerColumn {
        name: column.name.clone(),
        kind: if open(column) { Kind::Unknown } else { column.kind },
    };
    first.iter().map(tell).collect()
}

/// What `verifier-result` expects: the first form, and the others as alternatives.
fn expectation(forms: &[&Accepted]) -> String {
    let form = |one: &&Accepted| json!({ "contract": one.contract, "gold": named(&one.gold) });
    let mut expected = json!({ "version": 1 });
    if let Some(first) = forms.first() {
        expected["contract"] = json!(first.contract);
        expected["gold"] = json!(named(&first.gold));
    }
    if forms.len() > 1 {
        expected["alternatives"] = forms.iter().skip(1).map(form).collect();
    }
    expected.to_string()
}

/// Lower-case letters, digits, `_` and `-`: safe as a file's name.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "other".to_owned() } else { slug.to_owned() }
}
