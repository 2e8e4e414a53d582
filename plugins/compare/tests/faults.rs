//! The faults that published result comparators are known for (false accepts and false rejects),
//! each beside its twin that must come out the other way.

mod support;

use serde_json::{Value as Json, json};
use support::{contract, expect, expectation, gold, refused, table_json};
use tribunal_compare::Reason::{
    Arity, ColumnMissing, Duplicate, Empty, Match, Null, Order, RowCount, RowMismatch, Tolerance, TopK, Type,
};

// False accepts of comparators that make a set of the rows.

#[test]
fn duplicates_do_not_collapse() {
    let gold = gold("country: text", json!({}), json!([["de"], ["fr"], ["de"]]));
    expect(&gold, "country: text", json!([["de"], ["fr"]]), Duplicate);
    expect(&gold, "country: text", json!([["fr"], ["de"], ["de"]]), Match);
}

#[test]
fn a_join_that_fans_out_shows() {
    // Each invoice once; joined to its lines each comes once a line.
    let gold = gold("id: integer, total: decimal", json!({}), json!([[1, "10.00"], [2, "5.00"]]));
    let fanned = json!([[1, "10.00"], [1, "10.00"], [2, "5.00"]]);
    expect(&gold, "id: integer, total: decimal", fanned, Duplicate);
    let summed = json!([[1, "20.00"], [2, "5.00"]]);
    expect(&gold, "id: integer, total: decimal", summed, RowMismatch);
    expect(&gold, "id: integer, total: decimal", json!([[2, "5.00"], [1, "10.00"]]), Match);
}

#[test]
fn an_order_that_is_asked_for_is_kept_and_another_one_is_free() {
    let rows = json!([["b", 2], ["a", 1]]);
    let order = json!({"order": [{"column": "n", "direction": "descending"}]});
    let ordered = gold("x: text, n: integer", order, rows.clone());
    let turned = json!([["a", 1], ["b", 2]]);
    expect(&ordered, "x: text, n: integer", turned.clone(), Order);
    expect(&ordered, "x: text, n: integer", rows.clone(), Match);
    // Whether a query says "order by" somewhere is of no matter: the contract says it.
    let free = gold("x: text, n: integer", json!({}), rows);
    expect(&free, "x: text, n: integer", turned, Match);
}

#[test]
fn two_empty_results_are_not_a_match_by_themselves() {
    let nothing = table_json("id: integer", json!([]));
    refused(&contract("id: integer", json!({})), &nothing, "gold has no rows");
    let allowed = gold("id: integer", json!({"empty_ok": true}), json!([]));
    expect(&allowed, "name: text", json!([]), ColumnMissing);
    expect(&allowed, "id: integer, name: text", json!([]), Arity);
    expect(&allowed, "id: integer", json!([]), Match);
}

#[test]
fn an_emptied_table_is_not_the_answer() {
    // What a shadowed or emptied table gives, beside a gold answer that never saw it.
    let gold = gold("id: integer", json!({}), json!([[1], [2]]));
    expect(&gold, "id: integer", json!([]), Empty);
    expect(&gold, "id: integer", json!([[2], [1]]), Match);
}

#[test]
fn a_guessed_constant_is_right_on_one_instance_only() {
    let (first, second) = (gold("n: integer", json!({}), json!([[2]])), gold("n: integer", json!({}), json!([[3]])));
    expect(&first, "n: integer", json!([[2]]), Match);
    expect(&second, "n: integer", json!([[2]]), RowMismatch);
}

// False rejects of the same.

#[test]
fn columns_in_another_order_are_found_by_name() {
    let gold = gold("name: text, n: integer", json!({}), json!([["a", 1]]));
    expect(&gold, "N: integer, Name: text", json!([[1, "a"]]), Match);
    expect(&gold, "name: integer, n: text", json!([[1, "a"]]), Type);
}

#[test]
fn float_noise_is_inside_a_stated_tolerance() {
    let rate = gold("rate: cent", json!({}), json!([[0.333_333]]));
    expect(&rate, "rate: float", json!([[0.33]]), Match);
    expect(&rate, "rate: float", json!([[0.32]]), Tolerance);
    // 0.1 + 0.2, where no tolerance is stated.
    let exact = gold("rate: float", json!({}), json!([[0.3]]));
    expect(&exact, "rate: float", json!([[0.1 + 0.2]]), RowMismatch);
    let money = gold("total: decimal", json!({}), json!([["0.30"]]));
    expect(&money, "total: float", json!([[0.3]]), Match);
}

#[test]
fn a_limit_through_a_tie_may_cut_anywhere_in_it() {
    let top = json!({"top": {"k": 2, "keys": [{"column": "n", "direction": "descending"}]}});
    let gold = gold("x: text, n: integer", top, json!([["a", 3], ["b", 2], ["c", 2]]));
    expect(&gold, "x: text, n: integer", json!([["a", 3], ["c", 2]]), Match);
    expect(&gold, "x: text, n: integer", json!([["a", 3], ["b", 2]]), Match);
    expect(&gold, "x: text, n: integer", json!([["b", 2], ["c", 2]]), TopK);
    expect(&gold, "x: text, n: integer", json!([["a", 3]]), RowCount);
}

#[test]
fn rows_in_another_order_and_repeated_values_are_judged_as_rows() {
    // Position by position, one leading row shifts everything and a value thrice counts thrice.
    let gold = gold("x: text", json!({}), json!([["a"], ["b"], ["c"]]));
    expect(&gold, "x: text", json!([["c"], ["a"], ["b"]]), Match);
    expect(&gold, "x: text", json!([["z"], ["a"], ["b"], ["c"]]), RowCount);
    let one = support::gold("x: text", json!({}), json!([["a"]]));
    expect(&one, "x: text", json!([["a"], ["a"], ["a"]]), Duplicate);
}

// Comparators that permute columns.

#[test]
fn least_and_greatest_cannot_change_places() {
    let rows = json!([["a", 1, 9], ["b", 2, 8]]);
    let turned = json!([["a", 9, 1], ["b", 8, 2]]);
    let columns = "who: text, low: integer, high: integer";
    for matching in ["name", "position"] {
        let gold = gold(columns, json!({"match": matching}), rows.clone());
        expect(&gold, columns, turned.clone(), RowMismatch);
        expect(&gold, columns, rows.clone(), Match);
    }
    let injective = contract(columns, json!({"match": "injective"}));
    refused(&injective, &table_json(columns, rows), "columns low and high");
}

#[test]
fn two_columns_that_happen_to_be_equal_need_both() {
    // Average and maximum coincide on this data; on the next instance they do not.
    let columns = "avg: float, max: float";
    let same = gold(columns, json!({}), json!([[5.0, 5.0]]));
    expect(&same, "avg: float, max: float", json!([[5.0, 5.0]]), Match);
    let differ = gold(columns, json!({}), json!([[5.0, 6.0]]));
    expect(&differ, "avg: float, max: float", json!([[6.0, 6.0]]), RowMismatch);
}

#[test]
fn integers_equal_floats_in_rows_of_several_columns() {
    // Sorting rows by text and type puts 1 and 1.0 apart.
    let gold = gold("a: float, b: integer", json!({}), json!([[1.0, 10], [2.0, 9]]));
    expect(&gold, "a: integer, b: float", json!([[2, 9.0], [1, 10.0]]), Match);
    expect(&gold, "a: integer, b: float", json!([[2, 10.0], [1, 9.0]]), RowMismatch);
}

#[test]
fn many_equal_columns_cost_no_factorial() {
    // 26 columns in 26! orders: by name and by position there is one.
    let columns: Vec<Json> = (0..26).map(|n| json!({"name": format!("c{n}"), "type": "integer"})).collect();
    let kinds: Vec<String> = (0..26).map(|n| format!("c{n}: integer")).collect();
    let row: Vec<i64> = vec![1; 26];
    let position = json!({"version": 1, "columns": columns, "match": "position"});
    let gold = expectation(&position, &table_json(&kinds.join(","), json!([row]))).unwrap();
    let mut other = row.clone();
    expect(&gold, &kinds.join(","), json!([row]), Match);
    other[25] = 2;
    expect(&gold, &kinds.join(","), json!([other]), RowMismatch);
}

// Comparators that look at columns one by one.

#[test]
fn rows_scrambled_across_columns_are_not_the_facts() {
    let gold = gold("city: text, n: integer", json!({}), json!([["rome", 1], ["oslo", 2]]));
    expect(&gold, "city: text, n: integer", json!([["rome", 2], ["oslo", 1]]), RowMismatch);
    expect(&gold, "city: text, n: integer", json!([["oslo", 2], ["rome", 1]]), Match);
}

#[test]
fn extra_columns_are_not_forgiven() {
    let gold = gold("n: integer", json!({}), json!([[1]]));
    expect(&gold, "n: integer, m: integer, o: integer", json!([[1, 2, 3]]), Arity);
    expect(&gold, "n: integer", json!([[1]]), Match);
}

#[test]
fn one_column_serves_one_column() {
    let more = json!({"match": "injective"});
    let gold = gold("a: integer, b: text", more, json!([[1, "1"]]));
    expect(&gold, "x: integer", json!([[1]]), Arity);
    expect(&gold, "x: text, y: integer", json!([["1", 1]]), Match);
}

#[test]
fn null_is_not_zero_nor_empty() {
    let gold = gold("n: integer, t: text", json!({}), json!([[null, null]]));
    expect(&gold, "n: integer, t: text", json!([[0, null]]), Null);
    expect(&gold, "n: integer, t: text", json!([[null, ""]]), Null);
    expect(&gold, "n: integer, t: text", json!([[null, null]]), Match);
}

#[test]
fn a_fixed_tolerance_does_not_swallow_small_rates() {
    // Within 0.01 of each other, and 200% apart.
    let rate = gold("rate: percent", json!({}), json!([[0.004]]));
    expect(&rate, "rate: float", json!([[0.012]]), Tolerance);
    expect(&rate, "rate: float", json!([[0.0]]), Tolerance);
    expect(&rate, "rate: float", json!([[0.004_04]]), Match);
}

#[test]
fn tolerance_survives_sorting() {
    // As texts, 10.0001 sorts before 9.9999 and 50.
    let gold = gold("x: cent", json!({}), json!([[9.9999], [50.0]]));
    expect(&gold, "x: float", json!([[50.0], [10.0001]]), Match);
    expect(&gold, "x: float", json!([[50.0], [10.01]]), Tolerance);
}

#[test]
fn text_is_no_number_and_dates_have_one_form() {
    let gold = gold("n: integer, day: date", json!({}), json!([[7, "2024-03-05"]]));
    expect(&gold, "n: text, day: date", json!([["7", "2024-03-05"]]), Type);
    expect(&gold, "n: integer, day: text", json!([[7, "05/03/2024"]]), Type);
    expect(&gold, "n: integer, day: timestamp", json!([[7, "2024-03-05T00:00:00"]]), Match);
}

// Comparators that round, and that edit the query's text.

#[test]
fn nothing_is_rounded_away() {
    let gold = gold("x: float", json!({}), json!([[0.004]]));
    expect(&gold, "x: float", json!([[0.0]]), RowMismatch);
    expect(&gold, "x: float", json!([[0.004]]), Match);
}

#[test]
fn distinct_is_judged_by_its_rows() {
    // Where distinct rows are asked for, leaving DISTINCT out shows as duplicates, unless the
    // contract says that duplicates are of no matter.
    let rows = json!([["a"], ["b"]]);
    let bag = gold("x: text", json!({}), rows.clone());
    expect(&bag, "x: text", json!([["a"], ["a"], ["b"]]), Duplicate);
    let set = gold("x: text", json!({"rows": "set"}), rows);
    expect(&set, "x: text", json!([["a"], ["a"], ["b"]]), Match);
}

// Comparators that look for the answer anywhere in what was said.

#[test]
fn a_list_of_every_answer_is_none() {
    let gold = gold("n: integer", json!({}), json!([[10]]));
    expect(&gold, "n: integer", json!([[10], [11], [12]]), RowCount);
    expect(&gold, "n: integer", json!([[100]]), RowMismatch);
    expect(&gold, "n: integer", json!([[10]]), Match);
}
