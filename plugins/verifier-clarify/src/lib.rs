//! Judges whether the agent knew what it could not know. An expectation either wants a question:
//! `{"version": 1, "must": "clarify", "slot": {"name", "terms"}, "other_slots": [{"name",
//! "terms"}], "max_other_terms": 2, "max_questions": 2, "answer": {as verifier-result}}`, or an
//! abstention: `{"version": 1, "must": "abstain", "missing": ["churn reason", ..]}`.
//!
//! A term is named where all of its words stand side by side in the text, whole, in NFC and
//! without regard to case.

use serde::Deserialize;
use tribunal_compare::ExpectationFile;
use tribunal_compare::text::{named, words};
use tribunal_kit::{Description, Difference, Evidence, Host, Question, Submission, Verdict, Verifier};

/// The plugin.
#[derive(Debug)]
pub struct Clarify;

const CONTRACT: &str = r#"[contract]
name = "verifier-clarify"

[budget]
statements = 0
rows_returned = 0
"#;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
#[serde(tag = "must", rename_all = "lowercase", deny_unknown_fields)]
enum Must {
    Clarify(Box<Wanted>),
    Abstain {
        /// Read before anything else.
        #[serde(rename = "version")]
        _version: u32,
        missing: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Read before anything else.
    #[serde(rename = "version")]
    _version: u32,
    slot: Slot,
    #[serde(default)]
    other_slots: Vec<Slot>,
    /// How many terms of other slots one question may name.
    #[serde(default = "two")]
    max_other_terms: usize,
    #[serde(default = "two")]
    max_questions: usize,
    answer: ExpectationFile,
}

fn two() -> usize {
    2
}

/// What can be asked about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot {
    name: String,
    terms: Vec<String>,
}

impl Verifier for Clarify {
    fn describe() -> Description {
        Description::new("verifier-clarify", env!("CARGO_PKG_VERSION")).contract(CONTRACT)
    }

    fn verify<H: Host>(_host: &H, evidence: Evidence) -> Verdict {
        judge(evidence).unwrap_or_else(Verdict::Ungradable)
    }
}

tribunal_kit::verifier!(Clarify);

/// # Errors
/// Why this cannot be judged.
fn judge(evidence: Evidence) -> Result<Verdict, String> {
    let fault = |fault: serde_json::Error| format!("expectation: {fault}");
    let Version { version } = serde_json::from_str(&evidence.expectation).map_err(fault)?;
    if version != 1 {
        return Err(format!("expectation version {version}: this verifier reads version 1"));
    }
    match serde_json::from_str(&evidence.expectation).map_err(fault)? {
        Must::Abstain { missing, .. } => abstention(&evidence.submission, &missing),
        Must::Clarify(wanted) => clarification(evidence, *wanted),
    }
}

/// More words than it takes to name one thing: a list of everything that might be missing.
const LONGEST: usize = 20;

fn abstention(submission: &Submission, missing: &[String]) -> Result<Verdict, String> {
    if missing.iter().all(|term| words(term).is_empty()) {
        return Err("expectation: missing must name something".to_owned());
    }
    let Submission::Abstention(abstention) = submission else {
        return Ok(Verdict::fail("should-abstain", None));
    };
    let found = words(&abstention.missing);
    let difference = difference("missing", &missing.join(" or "), &abstention.missing);
    if found.len() > LONGEST {
        return Ok(Verdict::fail("unfocused", Some(difference)));
    }
    Ok(match named(&found, missing).next() {
        Some(_) => Verdict::pass(),
        None => Verdict::fail("wrong-missing", Some(difference)),
    })
}

fn clarification(evidence: Evidence, wanted: Wanted) -> Result<Verdict, String> {
    let Wanted { slot, other_slots, max_other_terms, max_questions, answer, .. } = wanted;
    if slot.terms.iter().all(|term| words(term).is_empty()) {
        return Err(format!("expectation: slot {} must have terms", slot.name));
    }
    let expectation = answer.ready().map_err(|refusal| format!("answer: {refusal}"))?;
    let table = match evidence.submission {
        Submission::Answer(table) => table,
        Submission::Done => return Ok(Verdict::fail("no-answer", None)),
        Submission::Abstention(_) => return Ok(Verdict::fail("abstained", None)),
    };
    let questions = &evidence.questions;
    let asked = |reason: &str, found: &str| Verdict::fail(reason, Some(difference("questions", &slot.name, found)));
    if questions.is_empty() {
        return Ok(asked("not-asked", "no question"));
    }
    if questions.len() > max_questions {
        return Ok(asked("too-many-questions", &format!("{} questions", questions.len())));
    }
    let others: Vec<&String> = other_slots.iter().flat_map(|slot| &slot.terms).collect();
    let kitchen_sink = |question: &&Question| named_by(question, &others) > max_other_terms;
    if let Some(question) = questions.iter().find(kitchen_sink) {
        return Ok(asked("unfocused", &question.text));
    }
    if questions.iter().all(|question| named_by(question, &slot.terms) == 0) {
        let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
        return Ok(asked("wrong-question", &texts.join(" / ")));
    }
    Ok(Verdict::on_answer(&expectation, table))
}

/// How many terms a question names, in what it is about or in its text; none runs across both.
fn named_by<T: AsRef<str>>(question: &Question, terms: &[T]) -> usize {
    let (about, text) = (words(&question.about), words(&question.text));
    let named = |term: &&T| {
        let term = std::slice::from_ref(*term);
        named(&about, term).chain(named(&text, term)).next().is_some()
    };
    terms.iter().filter(named).count()
}

fn difference(path: &str, expected: &str, found: &str) -> Difference {
    Difference {
        path: path.to_owned(),
        row: None,
        column: None,
        expected: expected.to_owned(),
        found: found.chars().take(200).collect(),
    }
}

#[cfg(test)]
mod tests;
