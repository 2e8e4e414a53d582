//! Agreement with people: labels of experts for cases of a battery.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::auditor::Decided;
use crate::trial::CaseRecord;

/// What experts say must become of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, bool>);

/// Why a file of labels cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelsError {
    /// A line that is none.
    #[error("line {line}: `CASE,accept` or `CASE,reject` expected, `{found}` given; cases.jsonl names the cases")]
    Line {
        /// Which, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A case that is labelled twice, in two ways.
    #[error("line {line}: `{case}` has another label above; give each case one")]
    Twice {
        /// Which, from 1.
        line: usize,
        /// The case.
        case: String,
    },
}

impl Labels {
    /// Reads lines of `CASE,accept` or `CASE,reject`. Empty lines, lines that begin with `#` and the
    /// header `case,label` are passed over.
    ///
    /// # Errors
    /// The first line that is none of these.
    pub fn read(text: &str) -> Result<Labels, LabelsError> {
        let mut labels = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') || content == "case,label" {
                continue;
            }
            let wrong = || LabelsError::Line { line, found: content.to_owned() };
            let (case, label) = content.rsplit_once(',').ok_or_else(wrong)?;
            let accept = match label.trim() {
                "accept" => true,
                "reject" => false,
                _ => return Err(wrong()),
            };
            let case = case.trim().to_owned();
            if labels.insert(case.clone(), accept).is_some_and(|before| before != accept) {
                return Err(LabelsError::Twice { line, case });
            }
        }
        Ok(Labels(labels))
    }
}

/// A case on which the verifier and an expert disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The case.
    pub case: String,
    /// Whether the expert accepts it.
    pub expert_accepts: bool,
    /// What the verifier decided.
    pub decided: Decided,
    /// How the case was made.
    pub how: String,
}

/// How far a verifier agrees with experts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Labelled cases that the audit has; voids are left out, for they are no decision.
    pub labelled: u64,
    /// Labels of cases that this audit does not have.
    pub unknown: Vec<String>,
    /// Labelled cases that came to a void.
    pub void: u64,
    /// On how many both say the same.
    pub agreed: u64,
    /// Cohen's kappa; none where it is not defined: no cases, or both sides always say one thing.
    pub kappa: Option<f64>,
    /// Where they do not.
    pub disagreements: Vec<Disagreement>,
}

impl Agreement {
    /// Compares decisions with labels.
    pub(crate) fn of<'r>(labels: &Labels, records: impl Iterator<Item = &'r CaseRecord>) -> Agreement {
        let mut counts = [[0_u64; 2]; 2];
        let mut void = 0;
        let mut disagreements = Vec::new();
        let mut unknown: BTreeMap<&str, bool> =
            labels.0.iter().map(|(case, accept)| (case.as_str(), *accept)).collect();
        for record in records {
            let Some(expert_accepts) = unknown.remove(record.id.as_str()) else { continue };
            if record.decided == Decided::Void {
                void += 1;
                continue;
            }
            let accepted = record.decided == Decided::Accepted;
            counts[usize::from(accepted)][usize::from(expert_accepts)] += 1;
            if accepted != expert_accepts {
                disagreements.push(Disagreement {
                    case: record.id.clone(),
                    expert_accepts,
                    decided: record.decided,
                    how: record.how.clone(),
                });
            }
        }
        Agreement {
            labelled: counts.iter().flatten().sum(),
            unknown: unknown.into_keys().map(str::to_owned).collect(),
            void,
            agreed: counts[0][0] + counts[1][1],
            kappa: kappa(counts),
            disagreements,
        }
    }
}

/// Cohen's kappa of a table of two raters' decisions: `(p_o - p_e) / (1 - p_e)`, with the observed
/// agreement and that of chance under both raters' own rates.
///
/// Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
/// Measurement 20 (1960), 37-46.
#[must_use]
pub fn kappa(counts: [[u64; 2]; 2]) -> Option<f64> {
    let [[a, b], [c, d]] = counts.map(|row| row.map(u128::from));
    let all = a + b + c + d;
    // Over integers first: (n (a + d) - e) / (n² - e), with e the chance agreement times n².
    let chance = (a + b) * (a + c) + (c + d) * (b + d);
    let (observed, whole) = (all * (a + d), all * all);
    if whole == chance {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of cases, squared, are far below 2^53 times a few")]
    let ratio = |up: u128, down: u128| up as f64 / down as f64;
    Some(if observed >= chance {
        ratio(observed - chance, whole - chance)
    } else {
        -ratio(chance - observed, whole - chance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_is_that_of_the_books() {
        // Cohen's formula by hand: p_o = 35/50 = 0.7, p_e = (25·30 + 25·20)/2500 = 0.5, so 0.4.
        assert_eq!(kappa([[20, 5], [10, 15]]), Some(0.4));
        assert_eq!(kappa([[10, 0], [0, 10]]), Some(1.0));
        assert_eq!(kappa([[0, 10], [10, 0]]), Some(-1.0));
        // The twins: chance alone gives 0, one-sided raters give nothing.
        assert_eq!(kappa([[5, 5], [5, 5]]), Some(0.0));
        assert_eq!(kappa([[7, 0], [0, 0]]), None);
        assert_eq!(kappa([[0, 0], [0, 0]]), None);
    }

    #[test]
    fn labels_are_read_or_refused_by_line() {
        let labels = Labels::read("case,label\n# mine\na/empty/1,reject\n\nb,c/gold/1, accept\n").unwrap();
        assert_eq!(labels.0, BTreeMap::from([("a/empty/1".to_owned(), false), ("b,c/gold/1".to_owned(), true)]));
        let wrong = Labels::read("a,accept\na/1 maybe").unwrap_err();
        assert_eq!(wrong, LabelsError::Line { line: 2, found: "a/1 maybe".to_owned() });
        let twice = Labels::read("a,accept\na,reject").unwrap_err();
        assert_eq!(twice, LabelsError::Twice { line: 2, case: "a".to_owned() });
        assert!(Labels::read("a,accept\na,accept").is_ok());
    }
}
