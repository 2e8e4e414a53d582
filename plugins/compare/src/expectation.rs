//! What is accepted as an answer: a gold answer with its contract, and perhaps others beside it.

use serde::Deserialize;

use crate::contract::{Contract, VERSION};
use crate::form::Form;
use crate::table::Table;
use crate::verdict::{Tried, Verdict};

/// Why an expectation cannot be judged by: a contract that contradicts itself, or a gold answer
/// that its contract does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// Gold answers, each under a contract of its own, ready to judge submissions: one that equals
/// any of them counts.
#[derive(Debug)]
pub struct Expectation {
    first: Form,
    others: Vec<Form>,
}

/// Gold answers that one expectation may hold: every one costs the verifier fuel.
const MAX_FORMS: usize = 256;

/// An expectation as it is written down; [`ExpectationFile::ready`] checks it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectationFile {
    /// [`VERSION`].
    pub version: u32,
    /// The contract of the gold answer.
    pub contract: Contract,
    /// The gold answer.
    pub gold: Table,
    /// Other answers that count as well.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
}

/// Another answer that counts as well, under a contract of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// Its contract.
    pub contract: Contract,
    /// The answer.
    pub gold: Table,
}

impl ExpectationFile {
    /// Checks every contract and gold answer, and makes them ready.
    ///
    /// # Errors
    /// Says what is wrong with the version, a contract or a gold answer, and with which.
    pub fn ready(self) -> Result<Expectation, Refusal> {
        if self.version != VERSION {
            let given = self.version;
            return Err(Refusal(format!("expectation version {given}: this comparator reads version {VERSION}")));
        }
        let forms = self.alternatives.len() + 1;
        if forms > MAX_FORMS {
            return Err(Refusal(format!("{forms} accepted answers: at most {MAX_FORMS} expected; leave some out")));
        }
        let first = Form::new(self.contract, self.gold).map_err(Refusal)?;
        let other = |(number, one): (usize, Alternative)| {
            Form::new(one.contract, one.gold).map_err(|why| Refusal(format!("alternative {number}: {why}")))
        };
        let others = (1..).zip(self.alternatives).map(other).collect::<Result<_, _>>()?;
        Ok(Expectation { first, others })
    }
}

impl Expectation {
    /// Reads `{"version": 1, "contract": {..}, "gold": {"columns": [..], "rows": [..]},
    /// "alternatives": [{"contract": {..}, "gold": {..}}]}`, the last of which may be left out.
    ///
    /// # Errors
    /// Says what is wrong with the text, a contract or a gold answer.
    pub fn from_json(json: &str) -> Result<Expectation, Refusal> {
        let file: ExpectationFile =
            serde_json::from_str(json).map_err(|fault| Refusal(format!("expectation: {fault}")))?;
        file.ready()
    }

    /// Checks a contract and the only gold answer, and makes them ready.
    ///
    /// # Errors
    /// Says what the contract contradicts, or what of gold does not fit it.
    pub fn new(contract: Contract, gold: Table) -> Result<Expectation, Refusal> {
        let first = Form::new(contract, gold).map_err(Refusal)?;
        Ok(Expectation { first, others: Vec::new() })
    }

    /// Judges a submission. It counts if it equals any accepted answer; else the verdict is that
    /// on the closest one (see [`Reason::closeness`](crate::Reason::closeness)), the first of
    /// equally close ones. The work is bounded: a submission that would need more is not accepted.
    #[must_use]
    pub fn check(&self, pred: &Table) -> Verdict {
        let of = u32::try_from(self.others.len()).unwrap_or(u32::MAX).saturating_add(1);
        let mut closest = self.first.check(pred);
        closest.tried = Tried { number: 1, of };
        for (number, form) in (2..).zip(&self.others) {
            if closest.ok {
                break;
            }
            let verdict = form.check(pred);
            if verdict.ok || verdict.reason.closeness() > closest.reason.closeness() {
                closest = Verdict { tried: Tried { number, of }, ..verdict };
            }
        }
        closest
    }

    /// The reward of a submission with its verdict: 1 or 0, or the little that some contract
    /// gives for what is right in a wrong answer; never more than 0.2.
    #[must_use]
    pub fn reward(&self, pred: &Table, verdict: &Verdict) -> f64 {
        if verdict.ok {
            return 1.0;
        }
        self.forms().map(|form| form.partial(pred)).fold(0.0, f64::max)
    }

    /// The contract of the first accepted answer.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.first.contract
    }

    /// The first accepted answer, its columns in the contract's order.
    #[must_use]
    pub fn gold(&self) -> &Table {
        &self.first.gold
    }

    fn forms(&self) -> impl Iterator<Item = &Form> {
        std::iter::once(&self.first).chain(&self.others)
    }
}
