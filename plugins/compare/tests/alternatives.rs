//! Questions with several right answers: any of them counts, a mixture of them does not, and of
//! the wrong ones the closest says why.

#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use serde_json::{Value as Json, json};
use support::{contract, kinds, table, table_json};
use tribunal_compare::Reason::{self, Arity, Empty, Match, Null, RowCount, RowMismatch, Tolerance, Type};
use tribunal_compare::{Expectation, Tried};

/// One accepted answer: columns, more of its contract, rows.
type Form<'a> = (&'a str, Json, Json);

fn text(forms: &[Form<'_>]) -> Json {
    let form = |(columns, more, rows): &Form<'_>| json!({"contract": contract(columns, more.clone()), "gold": table_json(&kinds(columns), rows.clone())});
    let (first, others) = forms.split_first().unwrap();
    let mut whole = form(first);
    whole["version"] = json!(1);
    whole["alternatives"] = others.iter().map(form).collect();
    whole
}

fn read(expectation: &Json) -> Result<Expectation, String> {
    Expectation::from_json(&expectation.to_string()).map_err(|refusal| refusal.to_string())
}

/// The same authors by name, by number, and by both.
fn authors() -> Expectation {
    let forms: [Form<'_>; 3] = [
        ("name: text, n: integer", json!({}), json!([["ada", 2], ["bob", 1]])),
        ("id: integer, n: integer", json!({}), json!([[7, 2], [8, 1]])),
        ("name: text, id: integer, n: integer", json!({}), json!([["ada", 7, 2], ["bob", 8, 1]])),
    ];
    read(&text(&forms)).unwrap()
}

#[track_caller]
fn says(gold: &Expectation, columns: &str, rows: Json, reason: Reason, number: u32) {
    let verdict = gold.check(&table(columns, rows));
    assert_eq!((verdict.reason, verdict.tried.number), (reason, number), "{verdict:?}");
    assert_eq!(verdict.ok, reason == Match);
    assert_eq!(verdict.difference.is_none(), verdict.ok);
}

#[test]
fn any_of_them_counts_and_none_is_left_by_a_cell() {
    let gold = authors();
    says(&gold, "n: integer, name: text", json!([[1, "bob"], [2, "ada"]]), Match, 1);
    says(&gold, "n: integer, name: text", json!([[1, "ada"], [2, "bob"]]), RowMismatch, 1);
    says(&gold, "id: integer, n: integer", json!([[8, 1], [7, 2]]), Match, 2);
    says(&gold, "id: integer, n: integer", json!([[8, 2], [7, 1]]), RowMismatch, 2);
    says(&gold, "name: text, id: integer, n: integer", json!([["bob", 8, 1], ["ada", 7, 2]]), Match, 3);
    says(&gold, "name: text, id: integer, n: integer", json!([["bob", 7, 1], ["ada", 8, 2]]), RowMismatch, 3);
}

#[test]
fn rows_of_two_answers_are_no_answer() {
    let forms: [Form<'_>; 2] =
        [("x: text", json!({}), json!([["a"], ["b"]])), ("x: text", json!({}), json!([["a"], ["b"], ["c"], ["d"]]))];
    let gold = read(&text(&forms)).unwrap();
    says(&gold, "x: text", json!([["b"], ["a"]]), Match, 1);
    says(&gold, "x: text", json!([["d"], ["c"], ["b"], ["a"]]), Match, 2);
    for neither in [json!([["a"]]), json!([["a"], ["b"], ["c"]]), json!([["c"], ["d"]])] {
        assert!(!gold.check(&table("x: text", neither)).ok);
    }
}

#[test]
fn each_is_judged_under_its_own_contract() {
    // The first wants an order, the second a tolerance; neither lends its leniency to the other.
    let order = json!({"order": [{"column": "x"}]});
    let forms: [Form<'_>; 2] =
        [("x: float", order, json!([[1.0], [2.0]])), ("x: cent", json!({}), json!([[5.0], [6.0]]))];
    let gold = read(&text(&forms)).unwrap();
    says(&gold, "x: float", json!([[1.0], [2.0]]), Match, 1);
    says(&gold, "x: float", json!([[2.0], [1.0]]), Reason::Order, 1);
    says(&gold, "x: float", json!([[6.0], [5.005]]), Match, 2);
    assert!(!gold.check(&table("x: float", json!([[1.0], [2.005]]))).ok);
    // An empty answer counts only where its own contract says so.
    let forms: [Form<'_>; 2] =
        [("x: integer", json!({}), json!([[1]])), ("y: integer", json!({"empty_ok": true}), json!([]))];
    let gold = read(&text(&forms)).unwrap();
    says(&gold, "y: integer", json!([]), Match, 2);
    says(&gold, "y: integer", json!([[1]]), RowCount, 2);
    says(&read(&text(&forms[..1])).unwrap(), "y: integer", json!([]), Empty, 1);
}

#[test]
fn the_closest_says_why_and_the_first_of_equals() {
    let forms: [Form<'_>; 4] = [
        ("x: text, y: text", json!({}), json!([["a", "b"]])),
        ("x: integer", json!({}), json!([[1], [2]])),
        ("x: integer", json!({}), json!([[1], [null]])),
        ("x: cent", json!({}), json!([[1.0], [7.0]])),
    ];
    let gold = read(&text(&forms)).unwrap();
    says(&gold, "x: text", json!([["a"], ["b"]]), Type, 2);
    says(&gold, "x: integer", json!([[1], [2], [3]]), RowCount, 2);
    says(&gold, "x: integer", json!([[1], [3]]), Null, 3);
    says(&gold, "x: float", json!([[1.0], [7.5]]), Tolerance, 4);
    says(&gold, "a: text, b: text, c: text", json!([["a", "b", "c"]]), Arity, 1);
    let verdict = gold.check(&table("x: integer", json!([[1], [2], [3]])));
    assert_eq!(verdict.tried, Tried { number: 2, of: 4 });
    let found = verdict.difference.unwrap().found;
    assert_eq!(found, "3 rows; 3");
}

#[test]
fn what_is_wrong_with_one_of_them_is_named() {
    let good: Form<'_> = ("x: integer", json!({}), json!([[1]]));
    let empty: Form<'_> = ("x: integer", json!({}), json!([]));
    assert_eq!(
        read(&text(&[good.clone(), good.clone(), empty])).unwrap_err(),
        "alternative 2: gold has no rows, and the contract does not say empty_ok"
    );
    let mut unknown = text(&[good.clone(), good.clone()]);
    unknown["alternatives"][0]["weight"] = json!(2);
    assert!(read(&unknown).unwrap_err().contains("unknown field `weight`"));
    let most = vec![good.clone(); 256];
    says(&read(&text(&most)).unwrap(), "x: integer", json!([[1]]), Match, 1);
    let message = read(&text(&vec![good; 257])).unwrap_err();
    assert_eq!(message, "257 accepted answers: at most 256 expected; leave some out");
}

#[test]
fn a_part_earned_is_the_most_that_some_contract_gives() {
    // Half of the cells are right by the second, and only the second gives anything for it.
    let forms: [Form<'_>; 2] =
        [("x: integer", json!({}), json!([[1], [5]])), ("x: integer", json!({"partial": true}), json!([[1], [2]]))];
    let gold = read(&text(&forms)).unwrap();
    let reward = |rows: Json| {
        let answer = table("x: integer", rows);
        gold.reward(&answer, &gold.check(&answer))
    };
    assert!((reward(json!([[1], [3]])) - 0.15).abs() < 1e-9);
    assert!((reward(json!([[8], [9]])) - 0.1).abs() < 1e-9);
    assert!((reward(json!([[1], [5]])) - 1.0).abs() < 1e-9);
    let strict = read(&text(&forms[..1])).unwrap();
    let answer = table("x: integer", json!([[1], [3]]));
    assert!(strict.reward(&answer, &strict.check(&answer)).abs() < 1e-9);
}
