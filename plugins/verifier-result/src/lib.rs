//! Judges an answer by the gold answer, under the comparison contract in the expectation:
//! `{"version": 1, "contract": {..}, "gold": {"columns": [{"name", "kind"}], "rows": [[..]]}}`.
//! Where a question has several right answers, the others stand in `"alternatives": [{"contract",
//! "gold"}]`, each under a contract of its own.

use tribunal_compare::Expectation;
use tribunal_kit::{Description, Evidence, Host, Submission, Verdict, Verifier};

/// The plugin.
#[derive(Debug)]
pub struct Result;

const CONTRACT: &str = r#"[contract]
name = "verifier-result"

[budget]
statements = 0
rows_returned = 0
"#;

impl Verifier for Result {
    fn describe() -> Description {
        Description::new("verifier-result", env!("CARGO_PKG_VERSION")).contract(CONTRACT)
    }

    fn verify<H: Host>(_host: &H, evidence: Evidence) -> Verdict {
        let expectation = match Expectation::from_json(&evidence.expectation) {
            Ok(expectation) => expectation,
            Err(refusal) => return Verdict::Ungradable(refusal.to_string()),
        };
        match evidence.submission {
            Submission::Answer(table) => Verdict::on_answer(&expectation, table),
            Submission::Done => Verdict::fail("no-answer", None),
            Submission::Abstention(_) => Verdict::fail("abstained", None),
        }
    }
}

tribunal_kit::verifier!(Result);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tribunal_kit::testing::{NoDatabase, TestHost};
    use tribunal_kit::{Abstention, Column, Difference, Scored, Table};

    fn expectation() -> String {
        json!({
            "version": 1,
            "contract": {"version": 1, "columns": [{"name": "city", "type": {"text": {}}}]},
            "gold": {"columns": [{"name": "city", "kind": "text"}], "rows": [["rome"], ["oslo"]]}
        })
        .to_string()
    }

    fn verify(submission: Submission, expectation: String) -> Verdict {
        let evidence =
            Evidence { instruction: String::new(), submission, questions: Vec::new(), calls: Vec::new(), expectation };
        Result::verify(&TestHost::new(NoDatabase), evidence)
    }

    fn answer(cities: &[&str]) -> Submission {
        Submission::Answer(Table::new(cities.len(), vec![Column::texts("City", cities.iter().copied())]))
    }

    fn scored(verdict: Verdict) -> Scored {
        match verdict {
            Verdict::Scored(scored) => scored,
            Verdict::Ungradable(why) => panic!("{why}"),
        }
    }

    #[test]
    fn the_gold_rows_score_one_and_others_zero() {
        let right = scored(verify(answer(&["oslo", "rome"]), expectation()));
        assert_eq!((right.reward, right.reason.as_str(), right.difference), (1.0, "match", None));
        let wrong = scored(verify(answer(&["oslo", "bern"]), expectation()));
        assert_eq!((wrong.reward, wrong.reason.as_str()), (0.0, "row-mismatch"));
        let difference = Difference {
            path: "answer".into(),
            row: Some(0),
            column: Some("city".into()),
            expected: "rome".into(),
            found: "bern".into(),
        };
        assert_eq!(wrong.difference, Some(difference));
    }

    #[test]
    fn any_accepted_answer_scores_one_and_no_other() {
        let mut both: serde_json::Value = serde_json::from_str(&expectation()).unwrap();
        both["alternatives"] = json!([{
            "contract": {"version": 1, "columns": [{"name": "city", "type": {"text": {}}}]},
            "gold": {"columns": [{"name": "city", "kind": "text"}], "rows": [["roma"], ["oslo"], ["bern"]]}
        }]);
        let judged = |cities: &[&str]| scored(verify(answer(cities), both.to_string()));
        for right in [&["oslo", "rome"][..], &["bern", "oslo", "roma"]] {
            assert_eq!((judged(right).reward, judged(right).reason.as_str()), (1.0, "match"));
        }
        // What the first alone would not accept, and what neither does.
        assert_eq!(scored(verify(answer(&["bern", "oslo", "roma"]), expectation())).reward, 0.0);
        let wrong = judged(&["bern", "oslo", "rome"]);
        assert_eq!((wrong.reward, wrong.reason.as_str()), (0.0, "row-mismatch"));
        let difference = wrong.difference.unwrap();
        assert_eq!(difference.path, "answer (none of 2 accepted ones fits; beside number 2)");
        assert_eq!((difference.expected.as_str(), difference.found.as_str()), ("roma", "rome"));
    }

    #[test]
    fn no_answer_scores_zero() {
        let done = scored(verify(Submission::Done, expectation()));
        assert_eq!((done.reward, done.reason.as_str()), (0.0, "no-answer"));
        let abstention = Abstention { reason: "city".into(), missing: "city".into() };
        let abstained = scored(verify(Submission::Abstention(abstention), expectation()));
        assert_eq!((abstained.reward, abstained.reason.as_str()), (0.0, "abstained"));
    }

    #[test]
    fn a_broken_expectation_judges_nobody() {
        for broken in [String::new(), "{}".into(), expectation().replace("\"version\":1", "\"version\":2")] {
            for submission in [answer(&["oslo", "rome"]), Submission::Done] {
                let verdict = verify(submission, broken.clone());
                assert!(matches!(verdict, Verdict::Ungradable(_)), "{verdict:?}");
            }
        }
    }
}
