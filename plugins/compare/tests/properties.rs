//! The comparator beside the plainest one that could be written: it tries every way of pairing
//! rows, with somebody else's decimal arithmetic.

#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::str::FromStr as _;

use bigdecimal::BigDecimal;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use support::{contract, gold, judge, kinds, table};
use tribunal_compare::{Reason, Verdict};

/// A row: a text, an integer that may be NULL, two floats of which the first may be NULL.
type Row = (String, Option<i64>, Option<f64>, f64);

const COLUMNS: &str = "t: text, n: integer, x: cent, y: cent";

fn rows_json(rows: &[Row]) -> Json {
    rows.iter().map(|(t, n, x, y)| json!([t, n, x, y])).collect()
}

/// Hundredths and thousandths around a few values, so that bounds are met and chains arise.
fn near() -> impl Strategy<Value = f64> {
    prop_oneof![(0_i32..6).prop_map(|n| f64::from(n) / 200.0), (0_i32..4).prop_map(|n| f64::from(n) / 100.0), Just(7.0),]
}

fn row() -> impl Strategy<Value = Row> {
    ("[ab]", prop::option::weighted(0.8, 0_i64..2), prop::option::weighted(0.8, near()), near())
}

fn covers(a: f64, b: f64) -> bool {
    let exact = |x: f64| BigDecimal::from_str(&format!("{x:e}")).unwrap();
    (exact(a) - exact(b)).abs() <= BigDecimal::from_str("0.01").unwrap()
}

fn equal(a: &Row, b: &Row) -> bool {
    let floats = match (a.2, b.2) {
        (Some(a), Some(b)) => covers(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    a.0 == b.0 && a.1 == b.1 && floats && covers(a.3, b.3)
}

/// Whether there is a way to give every row of `pred` a row of `gold` of its own, with
/// `allowed(gold place, pred place)`, that leaves no gold row over of which `needed` says so.
fn pairs(
    gold: &[Row],
    pred: &[Row],
    allowed: &dyn Fn(usize, usize) -> bool,
    needed: &dyn Fn(usize) -> bool,
    at: usize,
    taken: &mut Vec<bool>,
) -> bool {
    let Some(row) = pred.get(at) else {
        return (0..gold.len()).all(|place| taken[place] || !needed(place));
    };
    (0..gold.len()).any(|place| {
        if taken[place] || !allowed(place, at) || !equal(&gold[place], row) {
            return false;
        }
        taken[place] = true;
        let found = pairs(gold, pred, allowed, needed, at + 1, taken);
        taken[place] = false;
        found
    })
}

fn check(more: Json, gold_rows: &[Row], pred_rows: &[Row]) -> Verdict {
    judge(&gold(COLUMNS, more, rows_json(gold_rows)), &kinds(COLUMNS), rows_json(pred_rows))
}

/// Gold, and a submission made of it: cells moved, rows dropped, doubled, changed, turned.
fn pair() -> impl Strategy<Value = (Vec<Row>, Vec<Row>)> {
    prop::collection::vec(row(), 1..6).prop_flat_map(|gold| {
        let length = gold.len();
        let noise = prop::collection::vec((-3_i32..=3, -3_i32..=3), length);
        let strangers = prop::collection::vec(row(), 0..2);
        (Just(gold), noise, strangers, 0..4_u8, any::<prop::sample::Index>()).prop_map(
            |(gold, noise, strangers, how, index)| {
                let moved = |(row, (dx, dy)): (&Row, &(i32, i32))| {
                    let by = |x: f64, d: i32| (x * 200.0 + f64::from(d)).round() / 200.0;
                    (row.0.clone(), row.1, row.2.map(|x| by(x, *dx)), by(row.3, *dy))
                };
                let mut pred: Vec<Row> = gold.iter().zip(&noise).map(moved).collect();
                let place = index.index(pred.len());
                match (how, strangers.into_iter().next()) {
                    (0, Some(stranger)) => pred[place] = stranger,
                    (1, Some(stranger)) => pred.push(stranger),
                    (2, _) => {
                        pred.remove(place);
                    }
                    _ => {}
                }
                let turn = place % pred.len().max(1);
                pred.rotate_left(turn);
                (gold, pred)
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn a_bag_matches_where_some_pairing_does((gold, pred) in pair()) {
        let verdict = check(json!({}), &gold, &pred);
        let pairs = gold.len() == pred.len()
            && pairs(&gold, &pred, &|_, _| true, &|_| true, 0, &mut vec![false; gold.len()]);
        prop_assert_eq!(verdict.ok, pairs, "{:?}", verdict);
        if !pred.is_empty() && gold.len() != pred.len() {
            prop_assert!(matches!(verdict.reason, Reason::RowCount | Reason::Duplicate));
        }
    }

    #[test]
    fn an_order_matches_where_some_pairing_inside_the_ties_does((gold, pred) in pair()) {
        let mut gold = gold;
        gold.sort_by_key(|row| (row.1.is_none(), row.1));
        let same = |a: usize, b: usize| b < gold.len() && gold[a].1 == gold[b].1;
        let pairs = gold.len() == pred.len()
            && pairs(&gold, &pred, &same, &|_| true, 0, &mut vec![false; gold.len()]);
        let verdict = check(json!({"order": [{"column": "n"}]}), &gold, &pred);
        prop_assert_eq!(verdict.ok, pairs, "{:?}", verdict);
    }

    #[test]
    fn a_top_matches_where_some_choice_does((gold, pred) in pair(), k in 1_usize..5) {
        let mut gold = gold;
        gold.sort_by_key(|row| (row.1.is_none(), row.1));
        let cut = gold.get(k - 1).map(|row| row.1);
        let last = gold.iter().rposition(|row| Some(row.1) == cut).map_or(gold.len(), |at| at + 1);
        gold.truncate(last.max(k.min(gold.len())));
        let above = |place: usize| gold.len() <= k || Some(gold[place].1) != cut;
        let pairs = pred.len() == k.min(gold.len())
            && pairs(&gold, &pred, &|_, _| true, &above, 0, &mut vec![false; gold.len()]);
        let verdict = check(json!({"top": {"k": k, "keys": [{"column": "n"}]}}), &gold, &pred);
        prop_assert_eq!(verdict.ok, pairs, "{:?}", verdict);
    }

    #[test]
    fn neither_the_order_of_rows_nor_of_columns_is_seen(
        (gold_rows, pred) in pair(),
        turn in 0_usize..4,
    ) {
        let plain = check(json!({}), &gold_rows, &pred);
        let mut turned = pred.clone();
        turned.reverse();
        let rows: Json = turned.iter().map(|(t, n, x, y)| {
            let mut cells = vec![json!(t), json!(n), json!(x), json!(y)];
            cells.rotate_left(turn);
            json!(cells)
        }).collect();
        let mut names: Vec<&str> = kinds(COLUMNS).leak().split(", ").collect();
        names.rotate_left(turn);
        let gold = gold(COLUMNS, json!({}), rows_json(&gold_rows));
        let verdict = gold.check(&table(&names.join(","), rows));
        prop_assert_eq!((verdict.ok, verdict.reason), (plain.ok, plain.reason));
    }

    #[test]
    fn reasons_hold_what_they_say((gold, pred) in pair()) {
        let verdict = check(json!({}), &gold, &pred);
        let keys = |rows: &[Row], nulls: bool| {
            let mut keys: Vec<_> = rows.iter().map(|(t, n, x, _)| (t.clone(), *n, nulls && x.is_none())).collect();
            keys.sort();
            keys
        };
        match verdict.reason {
            Reason::Empty => prop_assert!(pred.is_empty()),
            Reason::Tolerance => prop_assert_eq!(keys(&gold, true), keys(&pred, true)),
            Reason::Duplicate => {
                let near = |row: &Row, rows: &[Row]| rows.iter().any(|other| equal(row, other));
                prop_assert!(gold.iter().all(|row| near(row, &pred)));
                prop_assert!(pred.iter().all(|row| near(row, &gold)));
            }
            Reason::RowMismatch => prop_assert_ne!(keys(&gold, true), keys(&pred, true)),
            _ => {}
        }
    }

    #[test]
    fn contracts_read_back_as_they_were_written(k in 1_u32..9, set in any::<bool>(), turned in any::<bool>()) {
        let direction = if turned { "descending" } else { "ascending" };
        let more = if set {
            json!({"rows": "set", "empty_ok": turned})
        } else {
            json!({"top": {"k": k, "keys": [{"column": "n", "direction": direction}]}, "match": "position"})
        };
        let columns = if set { "n: integer, t: text" } else { COLUMNS };
        let read: tribunal_compare::Contract = serde_json::from_value(contract(columns, more)).unwrap();
        let again = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        prop_assert_eq!(read, again);
    }
}
