//! Judges an answer by the gold answer in its expectation:
//! `{"version": 1, "contract": {"version": 1, "columns": [..]}, "gold": {"columns": [..], "rows": [..]}}`.
//! The comparator decides what is equal: order, ties, tolerance, NULL, the forms of a decimal.

use tribunal_compare::Expectation;
use tribunal_kit::{Description, Evidence, Host, Submission, Verdict, Verifier};

/// The plugin.
#[derive(Debug)]
pub struct Plugin;

/// What this plugin asks for: nothing. One that compares states asks for the tables that it reads,
/// and opens them with `host.open("first")` and `host.open("last")`.
const CONTRACT: &str = concat!(
    "[contract]\nname = \"",
    env!("CARGO_PKG_NAME"),
    r#""

[budget]
statements = 0
rows_returned = 0
"#
);

impl Verifier for Plugin {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")).contract(CONTRACT)
    }

    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict {
        // Who cannot judge says so: that is void, neither pass nor fail.
        let expectation = match Expectation::from_json(&evidence.expectation) {
            Ok(expectation) => expectation,
            Err(refusal) => return Verdict::Ungradable(refusal.to_string()),
        };
        match evidence.submission {
            Submission::Answer(answer) => {
                host.log(&format!("an answer of {} rows", answer.len()));
                Verdict::on_answer(&expectation, answer)
            }
            Submission::Done => Verdict::fail("no-answer", None),
            Submission::Abstention(_) => Verdict::fail("abstained", None),
        }
    }
}

tribunal_kit::verifier!(Plugin);

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_kit::testing::{NoDatabase, TestHost};
    use tribunal_kit::{Column, Table};

    const EXPECTATION: &str = r#"{
        "version": 1,
        "contract": {"version": 1, "columns": [{"name": "city", "type": {"text": {}}}]},
        "gold": {"columns": [{"name": "city", "kind": "text"}], "rows": [["Oslo"], ["Rome"]]}
    }"#;

    fn verdict(submission: Submission, expectation: &str) -> Verdict {
        let (instruction, expectation) = ("Name the cities.".to_owned(), expectation.to_owned());
        let evidence = Evidence { instruction, submission, questions: Vec::new(), calls: Vec::new(), expectation };
        Plugin::verify(&TestHost::new(NoDatabase), evidence)
    }

    fn cities(names: &[&str]) -> Submission {
        Submission::Answer(Table::new(names.len(), vec![Column::texts("city", names.iter().copied())]))
    }

    fn reward(verdict: Verdict) -> Option<f64> {
        match verdict {
            Verdict::Scored(scored) => Some(scored.reward),
            Verdict::Ungradable(_) => None,
        }
    }

    #[test]
    fn the_right_rows_pass_in_any_order() {
        assert_eq!(reward(verdict(cities(&["Rome", "Oslo"]), EXPECTATION)), Some(1.0));
    }

    #[test]
    fn everything_else_fails() {
        for wrong in [&["Rome"][..], &["Rome", "Oslo", "Oslo"], &["Rome", "Bern"], &[]] {
            assert_eq!(reward(verdict(cities(wrong), EXPECTATION)), Some(0.0), "{wrong:?}");
        }
        assert_eq!(reward(verdict(Submission::Done, EXPECTATION)), Some(0.0));
    }

    #[test]
    fn a_broken_expectation_judges_nobody() {
        assert_eq!(reward(verdict(cities(&["Rome", "Oslo"]), "{}")), None);
    }
}
