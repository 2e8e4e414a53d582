//! Each of the comparator's rules, with its denial.

mod support;

use serde_json::json;
use support::{contract, expect, expectation, gold, kinds, refused, table_json};
use tribunal_compare::Reason::{
    Arity, ColumnMismatch, ColumnMissing, Duplicate, Empty, Match, Null, Order, RowCount, RowMismatch, Tolerance, TopK,
    Type,
};

#[test]
fn conversions_that_lose_nothing_are_lawful() {
    // Contract type, gold cell, submitted kind, submitted cell, verdict.
    let cases = [
        ("integer", json!(2), "float", json!(2.0), Match),
        ("integer", json!(2), "float", json!(2.5), Type),
        ("integer", json!(9_007_199_254_740_992_i64), "float", json!(9_007_199_254_740_992.0), Match),
        ("integer", json!(1), "float", json!(18_014_398_509_481_984.0), Type),
        ("integer", json!(2), "decimal", json!("2.00"), Match),
        ("integer", json!(2), "decimal", json!("2.01"), Type),
        ("integer", json!(1), "decimal", json!("9223372036854775808"), Type),
        ("integer", json!(1), "boolean", json!(true), Type),
        ("integer", json!(1), "text", json!("1"), Type),
        ("decimal", json!("2.00"), "integer", json!(2), Match),
        ("decimal", json!("2.50"), "float", json!(2.5), Match),
        ("decimal", json!("2.50"), "float", json!(2.505), Type),
        ("decimal", json!("0.10"), "float", json!(0.1), Match),
        ("decimal", json!("2.50"), "decimal", json!("2.5"), Match),
        ("decimal", json!("2.50"), "decimal", json!("2.501"), RowMismatch),
        ("decimal", json!("2.50"), "text", json!("2.50"), Type),
        ("float", json!(2.0), "integer", json!(2), Match),
        ("float", json!(0.1), "decimal", json!("0.10"), Match),
        ("float", json!(0.1), "decimal", json!("0.11"), RowMismatch),
        ("float", json!(0.0), "float", json!(-0.0), Match),
        ("float", json!(1.0), "float", json!("NaN"), Type),
        ("float", json!(1.0), "float", json!("Infinity"), Type),
        ("float", json!(1.0), "text", json!("1.0"), Type),
        ("boolean", json!(true), "boolean", json!(true), Match),
        ("boolean", json!(true), "boolean", json!(false), RowMismatch),
        ("boolean", json!(true), "integer", json!(1), Type),
        ("boolean", json!(true), "text", json!("true"), Type),
        ("date", json!("2024-01-31"), "timestamp", json!("2024-01-31T00:00:00"), Match),
        ("date", json!("2024-01-31"), "timestamp", json!("2024-01-31T00:00:01"), Type),
        ("date", json!("2024-01-31"), "text", json!("2024-01-31"), Match),
        ("date", json!("2024-01-31"), "text", json!("31.01.2024"), Type),
        ("date", json!("2024-01-31"), "date", json!("2024-02-01"), RowMismatch),
        ("timestamp", json!("2024-01-31T00:00:00"), "date", json!("2024-01-31"), Match),
        ("timestamp", json!("2024-01-31T08:00:00.5"), "text", json!("2024-01-31 08:00:00.500"), Match),
        ("timestamp", json!("2024-01-31T08:00:00"), "timestamp", json!("2024-01-31T08:00:00.000001"), RowMismatch),
        ("text", json!("1"), "integer", json!(1), Type),
        ("text", json!("a"), "text", json!("a"), Match),
        ("text", json!("2024-01-31"), "date", json!("2024-01-31"), Type),
    ];
    for (kind, wanted, given_kind, given, reason) in cases {
        let gold = gold(&format!("x: {kind}"), json!({}), json!([[wanted]]));
        expect(&gold, &format!("x: {given_kind}"), json!([[given]]), reason);
    }
}

#[test]
fn nan_and_infinity_only_where_the_column_says_so() {
    let columns = json!([{"name": "x", "type": {"float": {"abs": 0.1, "non_finite": true}}}]);
    let contract = json!({"version": 1, "columns": columns});
    let rows = json!([["NaN"], ["Infinity"], [1.0]]);
    let gold = expectation(&contract, &table_json("x: float", rows)).unwrap();
    expect(&gold, "x: float", json!([[1.05], ["NaN"], ["Infinity"]]), Match);
    expect(&gold, "x: float", json!([[1.0], ["NaN"], ["-Infinity"]]), Tolerance);
    expect(&gold, "x: float", json!([[1.0], [null], ["Infinity"]]), Null);
    let closed = support::contract("x: cent", json!({}));
    refused(&closed, &table_json("x: float", json!([["NaN"]])), "gold column x row 0: float expected, float NaN given");
}

#[test]
fn text_is_nfc_and_flags_are_off() {
    let plain = gold("x: text", json!({}), json!([["é"]]));
    expect(&plain, "x: text", json!([["e\u{301}"]]), Match);
    expect(&plain, "x: text", json!([["É"]]), RowMismatch);
    expect(&plain, "x: text", json!([[" é"]]), RowMismatch);
    let columns = json!([{"name": "x", "type": {"text": {"trim": true, "ignore_case": true}}}]);
    let contract = json!({"version": 1, "columns": columns});
    let gold = expectation(&contract, &table_json("x: text", json!([["é"]]))).unwrap();
    expect(&gold, "x: text", json!([["\u{2003}E\u{301} "]]), Match);
    expect(&gold, "x: text", json!([["e"]]), RowMismatch);
}

#[test]
fn the_tolerance_holds_its_bound() {
    let cent = gold("x: cent", json!({}), json!([[1.0], [50.0]]));
    expect(&cent, "x: float", json!([[50.01], [0.99]]), Match);
    expect(&cent, "x: float", json!([[50.010_000_1], [0.99]]), Tolerance);
    let percent = gold("x: percent", json!({}), json!([[100.0]]));
    expect(&percent, "x: float", json!([[99.0]]), Match);
    expect(&percent, "x: float", json!([[98.99]]), Tolerance);
}

#[test]
fn several_floats_pair_off_for_real() {
    // Sorting both sides by the first float pairs the wrong rows here.
    let columns = "a: cent, b: cent";
    let near = gold(columns, json!({}), json!([[1.0, 10.0], [1.004, 20.0], [1.008, 30.0]]));
    let rows = json!([[1.009, 10.0], [1.0, 20.0], [1.001, 30.0]]);
    expect(&near, "a: float, b: float", rows, Match);
    let rows = json!([[1.009, 10.0], [1.0, 20.0], [1.02, 30.0]]);
    expect(&near, "a: float, b: float", rows, Tolerance);
    // Each row is near to two, and only one way of pairing serves all.
    let chain = gold(columns, json!({}), json!([[0.0, 0.0], [0.01, 0.0], [0.02, 0.0]]));
    expect(&chain, "a: float, b: float", json!([[0.01, 0.0], [0.0, 0.0], [0.03, 0.0]]), Match);
    expect(&chain, "a: float, b: float", json!([[0.03, 0.0], [0.03, 0.0], [0.0, 0.0]]), Tolerance);
}

#[test]
fn columns_are_matched_by_name_without_case() {
    let gold = gold("Account: text, Größe: integer", json!({}), json!([["a", 1]]));
    expect(&gold, "GRÖSSE: integer, account: text", json!([[1, "a"]]), Match);
    let verdict = expect(&gold, "account: text, size: integer", json!([["a", 1]]), ColumnMissing);
    assert_eq!(verdict.difference.unwrap().column.as_deref(), Some("Größe"));
    expect(&gold, "account: text, ACCOUNT: text", json!([["a", "a"]]), ColumnMissing);
    expect(&gold, "account: text", json!([["a"]]), Arity);
    expect(&gold, "account: text, größe: integer, x: text", json!([["a", 1, "x"]]), Arity);
}

#[test]
fn by_position_names_are_of_no_matter() {
    let gold = gold("a: integer, b: integer", json!({"match": "position"}), json!([[1, 2]]));
    expect(&gold, "x: integer, y: integer", json!([[1, 2]]), Match);
    expect(&gold, "b: integer, a: integer", json!([[2, 1]]), RowMismatch);
}

#[test]
fn injective_finds_the_columns_by_content() {
    let more = json!({"match": "injective"});
    let distinct = gold("a: text, b: integer", more, json!([["x", 1], ["y", 2]]));
    expect(&distinct, "q: integer, p: text", json!([[2, "y"], [1, "x"]]), Match);
    expect(&distinct, "q: integer, p: text", json!([[2, "x"], [1, "y"]]), RowMismatch);
    // One submitted column cannot stand for two.
    expect(&distinct, "q: text, p: text", json!([["x", "1"], ["y", "2"]]), ColumnMismatch);
    let columns = json!([
        {"name": "low", "type": "integer", "interchangeable": true},
        {"name": "high", "type": "integer", "interchangeable": true},
        {"name": "who", "type": {"text": {}}},
    ]);
    let contract = json!({"version": 1, "columns": columns, "match": "injective"});
    let kinds = "low: integer, high: integer, who: text";
    let rows = json!([[1, 5, "a"], [2, 6, "b"]]);
    let pair = expectation(&contract, &table_json(kinds, rows)).unwrap();
    expect(&pair, "w: text, h: integer, l: integer", json!([["a", 5, 1], ["b", 6, 2]]), Match);
    expect(&pair, "w: text, h: integer, l: integer", json!([["a", 5, 1], ["b", 2, 6]]), RowMismatch);
    expect(&pair, "w: text, h: integer, l: integer", json!([["a", 6, 1], ["b", 5, 2]]), RowMismatch);
}

#[test]
fn bags_count_and_sets_do_not() {
    let rows = json!([["a"], ["a"], ["b"]]);
    let bag = gold("x: text", json!({}), rows.clone());
    expect(&bag, "x: text", json!([["b"], ["a"], ["a"]]), Match);
    let verdict = expect(&bag, "x: text", json!([["a"], ["b"]]), Duplicate);
    let difference = verdict.difference.unwrap();
    assert_eq!((difference.expected.as_str(), difference.found.as_str()), ("2 copies of a", "1 copy of a"));
    expect(&bag, "x: text", json!([["a"], ["b"], ["b"]]), Duplicate);
    expect(&bag, "x: text", json!([["a"], ["a"], ["b"], ["c"]]), RowCount);
    expect(&bag, "x: text", json!([["a"], ["a"]]), RowCount);
    let set = gold("x: text", json!({"rows": "set"}), rows);
    expect(&set, "x: text", json!([["b"], ["a"]]), Match);
    expect(&set, "x: text", json!([["b"], ["b"], ["a"]]), Match);
    expect(&set, "x: text", json!([["b"], ["b"]]), RowCount);
    expect(&set, "x: text", json!([["b"], ["c"]]), RowMismatch);
    expect(&set, "x: text", json!([["b"], [null]]), Null);
}

#[test]
fn duplicates_show_through_floats_too() {
    let gold = gold("x: text, y: cent", json!({}), json!([["a", 1.0], ["a", 1.0], ["b", 2.0]]));
    expect(&gold, "x: text, y: float", json!([["a", 1.005], ["b", 2.0]]), Duplicate);
    expect(&gold, "x: text, y: float", json!([["a", 1.5], ["b", 2.0]]), RowCount);
}

#[test]
fn null_equals_only_null() {
    let gold = gold("x: text, y: decimal", json!({}), json!([["a", null], ["b", "0.00"]]));
    expect(&gold, "x: text, y: decimal", json!([["b", "0"], ["a", null]]), Match);
    expect(&gold, "x: text, y: decimal", json!([["b", "0"], ["a", "0"]]), Null);
    expect(&gold, "x: text, y: decimal", json!([["b", null], ["a", null]]), Null);
    expect(&gold, "x: text, y: decimal", json!([["b", null], ["a", "0"]]), Null);
    expect(&gold, "x: text, y: decimal", json!([["b", "0"], [null, null]]), Null);
    // Something else differs too.
    expect(&gold, "x: text, y: decimal", json!([["b", "1"], ["a", "0"]]), RowMismatch);
    expect(&gold, "x: text, y: unknown", json!([["b", null], ["a", null]]), Null);
}

#[test]
fn a_null_and_a_float_beside_each_other() {
    let gold = gold("x: text, y: cent", json!({}), json!([["a", null], ["b", 1.0]]));
    expect(&gold, "x: text, y: float", json!([["a", null], ["b", 1.01]]), Match);
    expect(&gold, "x: text, y: float", json!([["a", 0.0], ["b", 1.01]]), Null);
    expect(&gold, "x: text, y: float", json!([["a", null], ["b", 1.5]]), Tolerance);
    expect(&gold, "x: text, y: float", json!([["a", 0.0], ["b", 1.5]]), RowMismatch);
}

#[test]
fn order_is_that_of_the_key_values() {
    let order = json!({"order": [{"column": "n", "direction": "descending"}]});
    let rows = json!([["a", 3], ["b", 2], ["c", 2], ["d", 1], ["e", null]]);
    let gold = gold("x: text, n: integer", order, rows);
    let columns = "x: text, n: integer";
    let tied = json!([["a", 3], ["c", 2], ["b", 2], ["d", 1], ["e", null]]);
    expect(&gold, columns, tied, Match);
    let swapped = json!([["a", 3], ["b", 2], ["d", 1], ["c", 2], ["e", null]]);
    let difference = expect(&gold, columns, swapped, Order).difference.unwrap();
    assert_eq!((difference.row, difference.column.as_deref()), (Some(2), Some("n")));
    assert_eq!((difference.expected.as_str(), difference.found.as_str()), ("2", "1"));
    let nulls_first = json!([["e", null], ["a", 3], ["b", 2], ["c", 2], ["d", 1]]);
    expect(&gold, columns, nulls_first, Order);
    let wrong = json!([["a", 3], ["b", 2], ["x", 2], ["d", 1], ["e", null]]);
    expect(&gold, columns, wrong, RowMismatch);
}

#[test]
fn order_keys_inside_the_tolerance_tie() {
    let order = json!({"order": [{"column": "n"}]});
    let gold = gold("x: text, n: cent", order, json!([["a", 1.0], ["b", 1.005], ["c", 1.5]]));
    expect(&gold, "x: text, n: float", json!([["b", 1.005], ["a", 1.0], ["c", 1.5]]), Match);
    expect(&gold, "x: text, n: float", json!([["b", 1.005], ["c", 1.5], ["a", 1.0]]), Order);
}

#[test]
fn nulls_stand_where_the_contract_says() {
    let first = json!({"order": [{"column": "n", "nulls": "first"}]});
    let last = json!({"order": [{"column": "n", "direction": "descending"}]});
    let rows = json!([[null], [1]]);
    expect(&gold("n: integer", first.clone(), rows.clone()), "n: integer", rows.clone(), Match);
    refused(
        &contract("n: integer", last),
        &table_json("n: integer", rows),
        "row 1 is out of order by n (NULL comes last)",
    );
    let late = table_json("n: integer", json!([[1], [null]]));
    refused(&contract("n: integer", first), &late, "NULL comes first");
}

#[test]
fn gold_out_of_order_is_refused() {
    for (kind, before, after) in [
        ("integer", json!(1), json!(2)),
        ("decimal", json!("9.50"), json!("10.00")),
        ("cent", json!(-1.5), json!(1.0)),
        ("float", json!(-2.5), json!(-1.0)),
        ("date", json!("1969-12-31"), json!("1970-01-01")),
        ("boolean", json!(false), json!(true)),
    ] {
        let columns = format!("n: {kind}");
        let kinds = kinds(&columns);
        let up = json!({"order": [{"column": "n"}]});
        let rising = table_json(&kinds, json!([[before], [after]]));
        let falling = table_json(&kinds, json!([[after], [before]]));
        assert!(expectation(&contract(&columns, up.clone()), &rising).is_ok(), "{kind}");
        refused(&contract(&columns, up), &falling, "row 1 is out of order by n");
    }
}

#[test]
fn of_a_tie_at_the_cut_any_rows_will_do() {
    let top = json!({"top": {"k": 3, "keys": [{"column": "n", "direction": "descending"}]}});
    let rows = json!([["a", 9], ["b", 8], ["c", 7], ["d", 7], ["e", 7]]);
    let gold = gold("x: text, n: integer", top.clone(), rows);
    let columns = "x: text, n: integer";
    for chosen in ["c", "d", "e"] {
        expect(&gold, columns, json!([["b", 8], [chosen, 7], ["a", 9]]), Match);
    }
    expect(&gold, columns, json!([["b", 8], ["c", 7], ["d", 7]]), TopK);
    expect(&gold, columns, json!([["c", 7], ["d", 7], ["e", 7]]), TopK);
    expect(&gold, columns, json!([["a", 9], ["c", 7], ["c", 7]]), Duplicate);
    expect(&gold, columns, json!([["a", 9], ["b", 8]]), RowCount);
    expect(&gold, columns, json!([["a", 9], ["b", 8], ["c", 7], ["d", 7]]), RowCount);
    expect(&gold, columns, json!([["a", 9], ["b", 8], ["f", 7]]), RowMismatch);
    expect(&gold, columns, json!([["a", 9], ["b", 8], ["c", 6]]), RowMismatch);
    let below = table_json(columns, json!([["a", 9], ["b", 8], ["c", 7], ["d", 6]]));
    refused(&contract(columns, top), &below, "gold row 3: below the cut of top 3");
}

#[test]
fn top_k_of_fewer_rows_wants_them_all() {
    let top = json!({"top": {"k": 5, "keys": [{"column": "n"}]}});
    let gold = gold("n: integer", top, json!([[1], [2], [2]]));
    expect(&gold, "n: integer", json!([[2], [1], [2]]), Match);
    expect(&gold, "n: integer", json!([[2], [1]]), RowCount);
}

#[test]
fn top_k_in_order() {
    let keys = json!([{"column": "n", "direction": "descending"}]);
    let more = json!({"top": {"k": 3, "keys": keys}, "order": keys});
    let rows = json!([["a", 9], ["b", 9], ["c", 7], ["d", 7]]);
    let gold = gold("x: text, n: integer", more, rows);
    let columns = "x: text, n: integer";
    expect(&gold, columns, json!([["b", 9], ["a", 9], ["d", 7]]), Match);
    expect(&gold, columns, json!([["b", 9], ["d", 7], ["a", 9]]), Order);
    expect(&gold, columns, json!([["b", 9], ["c", 7], ["d", 7]]), TopK);
}

#[test]
fn a_tie_at_the_cut_inside_the_tolerance() {
    let top = json!({"top": {"k": 2, "keys": [{"column": "n", "direction": "descending"}]}});
    let rows = json!([["a", 9.0], ["b", 7.005], ["c", 7.0]]);
    let gold = gold("x: text, n: cent", top, rows);
    expect(&gold, "x: text, n: float", json!([["c", 6.995], ["a", 9.01]]), Match);
    expect(&gold, "x: text, n: float", json!([["c", 6.98], ["a", 9.0]]), Tolerance);
    expect(&gold, "x: text, n: float", json!([["c", 7.0], ["b", 7.0]]), TopK);
}

#[test]
fn emptiness_is_the_tasks_choice() {
    let some = gold("n: integer", json!({}), json!([[1]]));
    expect(&some, "n: integer", json!([]), Empty);
    expect(&some, "x: text, y: text", json!([]), Empty);
    let none = gold("n: integer", json!({"empty_ok": true}), json!([]));
    expect(&none, "n: integer", json!([]), Match);
    expect(&none, "n: unknown", json!([]), Match);
    expect(&none, "x: integer", json!([]), ColumnMissing);
    expect(&none, "n: integer, m: integer", json!([]), Arity);
    expect(&none, "n: integer", json!([[1]]), RowCount);
    refused(&contract("n: integer", json!({})), &table_json("n: integer", json!([])), "gold has no rows");
}

#[test]
fn more_rows_than_allowed_are_not_looked_at() {
    let gold = gold("n: integer", json!({"max_rows": 2}), json!([[1], [2]]));
    expect(&gold, "n: integer", json!([[1], [2]]), Match);
    expect(&gold, "n: text", json!([["1"], ["2"], ["3"]]), RowCount);
}

#[test]
fn contracts_that_contradict_themselves_are_refused() {
    let float_set = contract("x: cent", json!({"rows": "set"}));
    let order = json!([{"column": "x"}]);
    let top = json!({"k": 1, "keys": order});
    let two = "x: integer, y: integer";
    let cases = [
        (contract("x: text, X: text", json!({})), "another column has this name"),
        (contract("straße: text, STRASSE: text", json!({})), "another column has this name"),
        (float_set, "rows set with the float column x"),
        (contract("x: text", json!({"rows": "set", "order": order})), "rows set with an order"),
        (contract("x: text", json!({"rows": "set", "top": top})), "rows set with top"),
        (contract("x: text", json!({"rows": "set", "match": "injective"})), "rows set with injective"),
        (contract("x: text", json!({"top": top, "match": "injective"})), "top with injective"),
        (contract(two, json!({"match": "injective"})), "columns x and y: injective matching"),
        (contract("x: integer, y: cent", json!({"match": "injective"})), "columns x and y"),
        (contract("x: date, y: timestamp", json!({"match": "injective"})), "columns x and y"),
        (contract("x: text", json!({"order": [{"column": "z"}]})), "order: no column z"),
        (contract("x: text", json!({"order": [{"column": "x"}, {"column": "x"}]})), "stands twice"),
        (contract(two, json!({"top": top, "order": [{"column": "y"}]})), "top with another order"),
        (contract("x: text", json!({"top": {"k": 0, "keys": order}})), "k above 0"),
        (contract("x: text", json!({"top": {"k": 1, "keys": []}})), "at least one key"),
        (contract("x: text", json!({"version": 2})), "version 2: this comparator reads version 1"),
        (json!({"version": 1, "columns": []}), "columns: at least one"),
        (json!({"version": 1, "columns": [{"name": "x", "type": {"float": {"abs": -1.0}}}]}), "abs must be 0 or above"),
        (json!({"version": 1, "columns": [{"name": "x", "type": {"float": {"rel": 1.0}}}]}), "rel must lie in 0..1"),
        (
            json!({"version": 1, "columns": [{"name": "x", "type": "integer", "interchangeable": true}]}),
            "injective matching only",
        ),
        (json!({"version": 1, "columns": [{"name": "x", "type": "number"}]}), "unknown variant"),
        (contract("x: text", json!({"colour": 1})), "unknown field `colour`"),
    ];
    for (contract, words) in cases {
        refused(&contract, &table_json("x: integer", json!([[1]])), words);
    }
    let five: Vec<_> =
        (0..5).map(|n| json!({"name": format!("c{n}"), "type": "integer", "interchangeable": true})).collect();
    let many = json!({"version": 1, "columns": five, "match": "injective"});
    refused(&many, &table_json("x: integer", json!([[1]])), "120 column maps");
}

#[test]
fn gold_that_does_not_fit_its_contract_is_refused() {
    let wrong = table_json("x: text", json!([["1"]]));
    refused(&contract("x: integer", json!({})), &wrong, "gold column x row 0: integer expected, text 1 given");
    let wrong = table_json("x: decimal", json!([["1.50"], ["1.505"]]));
    refused(&contract("x: decimal", json!({})), &wrong, "gold column x row 1: 1.505 does not fit scale 2");
    let wrong = table_json("y: integer", json!([[1]]));
    refused(&contract("x: integer", json!({})), &wrong, "gold: no column x");
    let wrong = table_json("x: integer, y: integer", json!([[1, 2]]));
    refused(&contract("x: integer", json!({})), &wrong, "1 columns in the contract, 2 in gold");
    let columns = json!([{"name": "x", "type": "integer", "nullable": false}]);
    let strict = json!({"version": 1, "columns": columns});
    refused(&strict, &table_json("x: integer", json!([[1], [null]])), "gold column x row 1: NULL");
    let broken = json!({"columns": [{"name": "x", "kind": "integer"}], "rows": [[1], [1, 2]]});
    refused(&contract("x: integer", json!({})), &broken, "row 1: 1 values expected");
}

#[test]
fn a_partial_reward_is_small_and_only_where_it_is_allowed() {
    let rows = json!([["a", 1], ["b", 2], ["c", 3], ["d", 4]]);
    let strict = gold("x: text, n: integer", json!({}), rows.clone());
    let partial = gold("x: text, n: integer", json!({"partial": true}), rows.clone());
    let everything = json!((0..100).map(|n| json!([(["a", "b", "c", "d"][n % 4]), n])).collect::<Vec<_>>());
    for (columns, submission, reward) in [
        ("x: text, n: integer", rows, 1.0),
        // 7 of 8 cells, on both sides.
        ("x: text, n: integer", json!([["a", 1], ["b", 2], ["c", 3], ["d", 5]]), 0.1 + 0.1 * 7.0 / 8.0),
        // 8 gold cells among 200: F1 is 2 * 8 / 208.
        ("x: text, n: integer", everything, 0.1 + 0.1 * 16.0 / 208.0),
        ("x: text, n: integer", json!([["z", 9]]), 0.1),
        ("x: text, n: integer", json!([]), 0.0),
        ("x: text, n: text", json!([["a", "1"]]), 0.0),
        ("x: text, n: integer, m: integer", json!([["a", 1, 1]]), 0.0),
        ("x: text, m: integer", json!([["a", 1]]), 0.0),
    ] {
        let table = support::table(columns, submission);
        let given = partial.reward(&table, &partial.check(&table));
        assert!((given - reward).abs() < 1e-12, "{given} instead of {reward}");
        let verdict = strict.check(&table);
        assert_eq!(strict.reward(&table, &verdict), if verdict.ok { 1.0 } else { 0.0 });
    }
}
