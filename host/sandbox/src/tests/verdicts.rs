//! What verifiers may and may not say, and what they can reach.

use super::*;
use crate::fixture::*;
use std::sync::atomic::{AtomicU32, Ordering};
use tribunal_protocol::session::TableChanges;

fn saying(reward: &str, reason: &str) -> Guest {
    Guest::verifier(&scored(reward, reason.len())).fields(&data(reason))
}

#[test]
fn a_reward_between_zero_and_one_is_a_score() {
    for (reward, expected) in [("0", 0.0), ("0.25", 0.25), ("1", 1.0)] {
        let score = judge(&saying(reward, "row-count")).result.unwrap();
        assert_eq!(score, Score { reward: expected, reason: "row-count".to_owned(), difference: None, instance: 0 });
    }
}

#[test]
fn any_other_reward_is_a_fault() {
    for reward in ["nan", "nan:0x4000000000001", "inf", "-inf", "-0.5", "1.0000001", "1e308"] {
        let fault = judge(&saying(reward, "match")).result.unwrap_err();
        assert_eq!(fault.name(), "malformed", "{reward}: {fault}");
    }
}

#[test]
fn a_reason_must_be_a_code() {
    for reason in ["", "Match", "two words", "a\u{0}b"] {
        let fault = judge(&saying("1", reason)).result.unwrap_err();
        assert_eq!(fault.name(), "malformed", "{reason}: {fault}");
    }
}

#[test]
fn a_verifier_may_decline() {
    let body = format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 1)) (i32.store (i32.const {}) (i32.const {DATA}))
        (i32.store (i32.const {}) (i32.const 7)) (i32.const {RESULT})",
        RESULT + 8,
        RESULT + 12
    );
    let fault = judge(&Guest::verifier(&body).fields(&data("no idea"))).result.unwrap_err();
    assert_eq!(fault, Fault::Ungradable { plugin: "guest".to_owned(), message: "no idea".to_owned() });
}

/// A verifier whose reward is 1 exactly if `check` leaves 1.
fn checking(check: &str) -> Guest {
    let body = scored("0", 5).replace("(f64.const 0)", &format!("(f64.convert_i32_u {check})"));
    Guest::verifier(&body).fields(&data("match"))
}

fn verify(guest: &Guest, evidence: &Evidence, changes: Between) -> Ran<Score, (Paper, Paper)> {
    let last = Paper { table: every_kind(3), ..Paper::default() };
    let input = VerifyInput { evidence, settings: "{}" };
    load(guest).verify(&input, Paper::default(), last, changes, &Limits::default())
}

fn nothing() -> Between {
    Box::new(|| Ok(Vec::new()))
}

#[test]
fn the_evidence_arrives_whole() {
    // Flat parameters: instruction 0-1, case of the submission 2 with its five fields 3-6,
    // questions 7-8, calls 9-10, expectation 11-12. An answer has its rows in 3, columns in 4-5.
    let answer = evidence(Submission::Answer(every_kind(9)));
    let check = "(i32.and (i32.and (i32.eq (local.get 1) (i32.const 5)) (i32.eq (local.get 3) (i32.const 9)))
        (i32.and (i32.eq (local.get 5) (i32.const 8)) (i32.eq (i32.load8_u (local.get 11)) (i32.const 51))))";
    assert_eq!(verify(&checking(check), &answer, nothing()).result.unwrap().reward, 1.0);
    let done = evidence(Submission::Done);
    assert_eq!(verify(&checking(check), &done, nothing()).result.unwrap().reward, 0.0);
    let abstained = evidence(Submission::Abstention { reason: "no such".to_owned(), missing: "a table".to_owned() });
    let check = "(i32.and (i32.eq (local.get 2) (i32.const 2)) (i32.eq (i32.load8_u (local.get 5)) (i32.const 97)))";
    assert_eq!(verify(&checking(check), &abstained, nothing()).result.unwrap().reward, 1.0);
}

#[test]
fn questions_and_calls_arrive_in_order() {
    use tribunal_protocol::evidence::{Question, ToolCall};
    use tribunal_protocol::failure::Code;
    let mut given = evidence(Submission::Done);
    given.questions = vec![Question { about: "a".into(), text: "b".into(), reply: "cd".into() }];
    let call = |tool: &str, failure| ToolCall { tool: tool.into(), arguments: serde_json::json!({"n": 1}), failure };
    given.calls = vec![call("x", None), call("yy", Some(Code::Quota))];
    // A question is three texts; a call two texts and an option of a code, 20 bytes.
    let load = |place: u32, at: u32| format!("(i32.load offset={at} (local.get {place}))");
    let is = |what: String, value: u32| format!("(i32.eq {what} (i32.const {value}))");
    let parts = [
        is("(local.get 8)".into(), 1),
        is(load(7, 20), 2),
        is("(local.get 10)".into(), 2),
        is(load(9, 4), 1),
        is(load(9, 12), 7),
        is("(i32.load8_u offset=16 (local.get 9))".into(), 0),
        is(load(9, 24), 2),
        is("(i32.load8_u offset=36 (local.get 9))".into(), 1),
        is("(i32.load8_u offset=37 (local.get 9))".into(), 3),
    ];
    let check = parts.into_iter().reduce(|all, part| format!("(i32.and {all} {part})")).unwrap();
    assert_eq!(verify(&checking(&check), &given, nothing()).result.unwrap().reward, 1.0);
}

#[test]
fn the_first_and_the_last_state_are_two_sessions() {
    // Opens the role of `len` bytes at DATA + 10, queries it, and leaves whether that gave rows.
    let guest = |role: &str, rows: u32| {
        let check = format!(
            "(block (result i32)
            (call $open (i32.const {}) (i32.const {}) (i32.const 2000))
            (if (i32.load8_u (i32.const 2000)) (then (return {})))
            (call $query (i32.load (i32.const 2004)) (i32.const {DATA}) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 2100))
            (i32.eq (i32.load (i32.const 2104)) (i32.const {rows})))",
            DATA + 10, role.len(), scored("0.5", 5)
        );
        let role = format!("(data (i32.const {}) \"{role}\")", DATA + 10);
        checking(&check).imports(OPEN).imports(QUERY).fields(&role)
    };
    let run = |role: &str, rows| verify(&guest(role, rows), &evidence(Submission::Done), nothing());
    let first = run("first", 0);
    assert_eq!(first.result.unwrap().reward, 1.0);
    assert_eq!((first.sessions.0.statements.len(), first.sessions.1.statements.len()), (1, 0));
    let last = run("last", 3);
    assert_eq!(last.result.unwrap().reward, 1.0);
    assert_eq!((last.sessions.0.statements.len(), last.sessions.1.statements.len()), (0, 1));
    // The agent's own session is not there for a verifier.
    assert_eq!(run("agent", 0).result.unwrap().reward, 0.5);
}

#[test]
fn changes_are_computed_once_and_only_when_asked_for() {
    static COMPUTED: AtomicU32 = AtomicU32::new(0);
    let between = || -> Between {
        Box::new(|| {
            COMPUTED.fetch_add(1, Ordering::SeqCst);
            let changed = TableChanges { name: "t".into(), removed: every_kind(1), added: every_kind(2) };
            Ok(vec![changed])
        })
    };
    let done = evidence(Submission::Done);
    let ask = "(call $between (i32.const 2000))";
    // Of the result: its case, where the list is, and in its one element the rows of `added`.
    let check = format!(
        "(block (result i32) {ask} {ask} (i32.and (i32.eqz (i32.load8_u (i32.const 2000)))
        (i32.eq (i32.load offset=20 (i32.load (i32.const 2004))) (i32.const 2))))"
    );
    assert_eq!(verify(&saying("1", "match"), &done, between()).result.unwrap().reward, 1.0);
    assert_eq!(COMPUTED.load(Ordering::SeqCst), 0);
    assert_eq!(verify(&checking(&check).imports(BETWEEN), &done, between()).result.unwrap().reward, 1.0);
    assert_eq!(COMPUTED.load(Ordering::SeqCst), 1);
}

#[test]
fn sessions_of_a_verifier_come_back_after_a_fault() {
    let ran = verify(&Guest::verifier("unreachable"), &evidence(Submission::Done), nothing());
    assert_eq!(ran.result.unwrap_err().name(), "trap");
    assert_eq!((ran.sessions.0.table.rows, ran.sessions.1.table.rows), (0, 3));
}
