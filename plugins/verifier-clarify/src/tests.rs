use serde_json::{Value as Json, json};
use tribunal_kit::testing::{NoDatabase, TestHost};
use tribunal_kit::{Abstention, Column, Table as KitTable};

use super::*;

fn clarify() -> Json {
    json!({
        "version": 1,
        "must": "clarify",
        "slot": {"name": "period", "terms": ["period", "quarter", "date range"]},
        "other_slots": [
            {"name": "currency", "terms": ["currency", "euro"]},
            {"name": "format", "terms": ["rounding", "order", "columns"]},
        ],
        "max_questions": 2,
        "answer": {
            "version": 1,
            "contract": {"version": 1, "columns": [{"name": "city", "type": {"text": {}}}]},
            "gold": {"columns": [{"name": "city", "kind": "text"}], "rows": [["rome"]]}
        }
    })
}

fn answer(city: &str) -> Submission {
    Submission::Answer(KitTable::new(1, vec![Column::texts("city", [city])]))
}

fn abstain(missing: &str) -> Submission {
    Submission::Abstention(Abstention { reason: "period churn reason".into(), missing: missing.into() })
}

fn verify(expectation: &Json, submission: Submission, questions: &[(&str, &str)]) -> Verdict {
    let questions = questions.iter().map(|(about, text)| Question {
        about: (*about).into(),
        text: (*text).into(),
        // What the user says names the slot; it must not count as the agent's words.
        reply: "The period is the second quarter.".into(),
    });
    let evidence = Evidence {
        instruction: "period".into(),
        submission,
        questions: questions.collect(),
        calls: Vec::new(),
        expectation: expectation.to_string(),
    };
    Clarify::verify(&TestHost::new(NoDatabase), evidence)
}

#[track_caller]
fn scores(verdict: Verdict, reason: &str) {
    let Verdict::Scored(scored) = verdict else { panic!("{verdict:?}") };
    assert_eq!(scored.reason, reason, "{scored:?}");
    assert_eq!(scored.reward, if reason == "match" { 1.0 } else { 0.0 });
}

#[test]
fn the_right_question_and_the_right_answer() {
    for question in [
        ("period", "Which one?"),
        ("", "Which Quarter do you mean?"),
        ("time", "What DATE-RANGE?"),
        ("period", "In euro, by which period?"),
    ] {
        scores(verify(&clarify(), answer("rome"), &[question]), "match");
        scores(verify(&clarify(), answer("oslo"), &[question]), "row-mismatch");
    }
    scores(verify(&clarify(), answer("rome"), &[("currency", "Which?"), ("period", "Which?")]), "match");
}

#[test]
fn another_accepted_answer_counts_too_but_not_without_the_question() {
    let mut both = clarify();
    both["answer"]["alternatives"] = json!([{
        "contract": both["answer"]["contract"], "gold": {"columns": [{"name": "city", "kind": "text"}], "rows": [["roma"]]}
    }]);
    for city in ["rome", "roma"] {
        scores(verify(&both, answer(city), &[("period", "Which one?")]), "match");
        scores(verify(&both, answer(city), &[]), "not-asked");
    }
    scores(verify(&both, answer("oslo"), &[("period", "Which one?")]), "row-mismatch");
    scores(verify(&clarify(), answer("roma"), &[("period", "Which one?")]), "row-mismatch");
}

#[test]
fn without_the_right_question_no_answer_counts() {
    let cases: [(&[(&str, &str)], &str); 7] = [
        (&[], "not-asked"),
        (&[("currency", "Which one?")], "wrong-question"),
        (&[("periods", "subquarter, range of date")], "wrong-question"),
        // A term does not run from what it is about into the question.
        (&[("date", "range?")], "wrong-question"),
        (&[("period", "?"), ("period", "??"), ("period", "???")], "too-many-questions"),
        (&[("period", "Which period, currency, rounding and order?")], "unfocused"),
        (&[("period", "?"), ("all", "euro, rounding, columns?")], "unfocused"),
    ];
    for (questions, reason) in cases {
        scores(verify(&clarify(), answer("rome"), questions), reason);
    }
}

#[test]
fn asking_alone_is_no_answer() {
    let asked = [("period", "Which?")];
    scores(verify(&clarify(), Submission::Done, &asked), "no-answer");
    scores(verify(&clarify(), abstain("period"), &asked), "abstained");
}

#[test]
fn what_is_missing_must_be_named() {
    let expectation = json!({"version": 1, "must": "abstain", "missing": ["churn reason", "cancellation reason"]});
    for (missing, reason) in [
        ("churn reason", "match"),
        ("There is no column for the Churn-Reason.", "match"),
        ("accounts.cancellation_reason", "match"),
        ("", "wrong-missing"),
        ("reason", "wrong-missing"),
        ("the reason for churn", "wrong-missing"),
        ("churn reasons", "wrong-missing"),
        (
            "the churn reason, the weather, the mood, the price, the colour, the size, the height, the depth, the taste, the smell",
            "unfocused",
        ),
    ] {
        scores(verify(&expectation, abstain(missing), &[]), reason);
    }
    scores(verify(&expectation, answer("rome"), &[]), "should-abstain");
    scores(verify(&expectation, Submission::Done, &[]), "should-abstain");
}

#[test]
fn broken_expectations_judge_nobody() {
    let with = |path: &str, value: Json| {
        let mut expectation = clarify();
        if let Some(place) = expectation.pointer_mut(path) {
            *place = value;
        }
        expectation
    };
    for broken in [
        json!({}),
        json!({"version": 2, "must": "abstain", "missing": ["x"]}),
        json!({"version": 1, "must": "abstain", "missing": ["?"]}),
        json!({"version": 1, "must": "guess"}),
        with("/slot/terms", json!([])),
        with("/answer/version", json!(2)),
        with("/answer/gold/rows", json!([])),
        with("/max_questions", json!("two")),
    ] {
        for submission in [answer("rome"), abstain("x"), Submission::Done] {
            let verdict = verify(&broken, submission, &[("period", "?")]);
            assert!(matches!(verdict, Verdict::Ungradable(_)), "{broken}: {verdict:?}");
        }
    }
}
