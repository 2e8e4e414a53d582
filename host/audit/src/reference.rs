//! The reference: whether a table is the gold answer under its comparison contract, decided slowly
//! and plainly. It says what must become of a case; no verifier, and no code of one, has a say.

use crate::cell::{Cell, equal, read};
use crate::rules::{Gold, Matching, Rules, Type};
use crate::sheet::Sheet;

/// Rows beyond which pairing one by one takes too long.
const MOST_ROWS: usize = 1_500;
/// Columns beyond which trying every order takes too long.
const MOST_INJECTIVE: usize = 6;

/// How a table relates to the gold answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// It is the gold answer.
    Same,
    /// It is not.
    Different,
    /// The reference does not say: too large, or gold itself is odd. Such a case is left out.
    Unclear,
}

/// Compares a table with the gold answer.
pub(crate) fn relation(gold: &Gold, found: &Sheet) -> Relation {
    let rules = &gold.rules;
    if gold.sheet.rows.len().max(found.rows.len()) > MOST_ROWS && found.rows.len() != gold.sheet.rows.len() {
        return Relation::Different;
    }
    if gold.sheet.rows.len().max(found.rows.len()) > MOST_ROWS {
        return Relation::Unclear;
    }
    let wanted = read_rows(rules, &gold.sheet);
    if wanted.iter().flatten().any(|cell| *cell == Cell::Wrong) || (wanted.is_empty() && !rules.empty_ok) {
        return Relation::Unclear;
    }
    if found.columns.len() != rules.columns.len() || found.rows.len() > rules.max_rows {
        return Relation::Different;
    }
    if rules.matching == Matching::Injective && found.columns.len() > MOST_INJECTIVE {
        return Relation::Unclear;
    }
    let same = |map: &Vec<usize>| same_rows(rules, &wanted, &read_rows(rules, &found.with_columns(map)));
    if maps(rules, found).iter().any(same) { Relation::Same } else { Relation::Different }
}

fn read_rows(rules: &Rules, sheet: &Sheet) -> Vec<Vec<Cell>> {
    let row = |row: &Vec<_>| rules.columns.iter().zip(row).map(|(rule, value)| read(rule.kind, value)).collect();
    sheet.rows.iter().map(row).collect()
}

/// Which columns of the table may stand for the columns of the contract, in its order.
fn maps(rules: &Rules, found: &Sheet) -> Vec<Vec<usize>> {
    match rules.matching {
        Matching::Name => {
            let named: Option<Vec<usize>> = rules.columns.iter().map(|rule| found.place(&rule.name)).collect();
            let whole = |map: &Vec<usize>| (0..found.columns.len()).all(|place| map.contains(&place));
            named.filter(whole).into_iter().collect()
        }
        Matching::Position => vec![(0..found.columns.len()).collect()],
        Matching::Injective => permutations(found.columns.len()),
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let longer = |map: Vec<usize>| {
            let free: Vec<usize> = (0..count).filter(|place| !map.contains(place)).collect();
            free.into_iter().map(move |place| map.iter().copied().chain([place]).collect::<Vec<_>>())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

fn same_rows(rules: &Rules, wanted: &[Vec<Cell>], found: &[Vec<Cell>]) -> bool {
    if let Some(top) = &rules.top {
        return same_top(rules, top.k, wanted, found);
    }
    if rules.is_set() {
        let has = |row: &Vec<Cell>, rows: &[Vec<Cell>]| rows.iter().any(|other| equal_rows(rules, row, other));
        return wanted.iter().all(|row| has(row, found)) && found.iter().all(|row| has(row, wanted));
    }
    if wanted.len() != found.len() {
        return false;
    }
    blocks(rules, wanted).into_iter().all(|(start, end)| pairs(rules, &wanted[start..end], &found[start..end]))
}

/// Gold's rows above the cut, each of them, and any of those that tie at it.
fn same_top(rules: &Rules, k: usize, wanted: &[Vec<Cell>], found: &[Vec<Cell>]) -> bool {
    if found.len() != wanted.len().min(k) {
        return false;
    }
    let blocks = blocks_by(rules, rules.keys(), wanted);
    let ordered = !rules.order.is_empty();
    let tied = if wanted.len() > k { blocks.last().copied() } else { None };
    let cut = tied.map_or(wanted.len(), |(start, _)| start);
    if ordered {
        let above = blocks.iter().take_while(|(_, end)| *end <= cut);
        let mut whole = above.into_iter().all(|(start, end)| pairs(rules, &wanted[*start..*end], &found[*start..*end]));
        whole &= subset(rules, &found[cut..], &wanted[cut..]);
        return whole;
    }
    // One pairing of all: every found row has one of gold, and every row above the cut is used.
    subset(rules, found, wanted) && subset(rules, &wanted[..cut], found)
}

/// Runs of gold's rows that are equal in the keys that rows must stand in order of.
fn blocks(rules: &Rules, rows: &[Vec<Cell>]) -> Vec<(usize, usize)> {
    if rules.order.is_empty() { vec![(0, rows.len())] } else { blocks_by(rules, &rules.order, rows) }
}

fn blocks_by(rules: &Rules, keys: &[crate::rules::Key], rows: &[Vec<Cell>]) -> Vec<(usize, usize)> {
    let places: Vec<usize> = keys.iter().filter_map(|key| rules.place(&key.column)).collect();
    let tied =
        |a: &[Cell], b: &[Cell]| places.iter().all(|place| equal(rules.columns[*place].kind, &a[*place], &b[*place]));
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for row in 0..rows.len() {
        match blocks.last_mut() {
            Some((start, end)) if tied(&rows[*start], &rows[row]) => *end = row + 1,
            _ => blocks.push((row, row + 1)),
        }
    }
    blocks
}

fn equal_rows(rules: &Rules, a: &[Cell], b: &[Cell]) -> bool {
    rules.columns.iter().zip(a.iter().zip(b)).all(|(rule, (a, b))| equal(rule.kind, a, b))
}

/// Whether the rows of both sides pair off, all of them.
fn pairs(rules: &Rules, a: &[Vec<Cell>], b: &[Vec<Cell>]) -> bool {
    a.len() == b.len() && subset(rules, a, b)
}

/// Whether every row of `a` has a row of `b` of its own: augmenting paths (Kuhn, 1955).
fn subset(rules: &Rules, a: &[Vec<Cell>], b: &[Vec<Cell>]) -> bool {
    let exact = !rules.columns.iter().any(|rule| matches!(rule.kind, Type::Float { .. }));
    let mut owner: Vec<Option<usize>> = vec![None; b.len()];
    for row in 0..a.len() {
        if exact {
            // Equality is an equivalence: the first free equal row is as good as any.
            let free = (0..b.len()).find(|at| owner[*at].is_none() && equal_rows(rules, &a[row], &b[*at]));
            let Some(at) = free else { return false };
            owner[at] = Some(row);
            continue;
        }
        if !augment(rules, a, b, row, &mut vec![false; b.len()], &mut owner) {
            return false;
        }
    }
    true
}

fn augment(
    rules: &Rules,
    a: &[Vec<Cell>],
    b: &[Vec<Cell>],
    row: usize,
    seen: &mut [bool],
    owner: &mut [Option<usize>],
) -> bool {
    for at in 0..b.len() {
        if seen[at] || !equal_rows(rules, &a[row], &b[at]) {
            continue;
        }
        seen[at] = true;
        let free = match owner[at] {
            None => true,
            Some(other) => augment(rules, a, b, other, seen, owner),
        };
        if free {
            owner[at] = Some(row);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gold(contract: serde_json::Value, rows: serde_json::Value) -> Gold {
        let columns = json!([{"name": "a", "kind": "text"}, {"name": "x", "kind": "decimal"}]);
        Gold::read(&json!({"version": 1, "contract": contract, "gold": {"columns": columns, "rows": rows}})).unwrap()
    }

    fn sheet(kind: &str, rows: serde_json::Value) -> Sheet {
        let table = json!({"columns": [{"name": "a", "kind": "text"}, {"name": "x", "kind": kind}], "rows": rows});
        Sheet::of(&serde_json::from_value(table).unwrap())
    }

    fn contract(kind: serde_json::Value) -> serde_json::Value {
        json!({"version": 1, "columns": [{"name": "a", "type": {"text": {}}}, {"name": "x", "type": kind}]})
    }

    #[test]
    fn the_bound_of_a_tolerance_is_inside() {
        let gold = gold(contract(json!({"float": {"abs": 0.5}})), json!([["p", "1"], ["p", "2"]]));
        // 1.5 is near both, so only one pairing works: 1.5 with 2, 0.5 with 1.
        for (rows, same) in [
            (json!([["p", 1.5], ["p", 0.5]]), true),
            (json!([["p", 1.5], ["p", 1.5]]), true),
            (json!([["p", 2.5], ["p", 0.5]]), true),
            (json!([["p", 2.5], ["p", 2.5]]), false),
            (json!([["p", 2.500001], ["p", 0.5]]), false),
            (json!([["q", 1.0], ["p", 2.0]]), false),
        ] {
            let expected = if same { Relation::Same } else { Relation::Different };
            assert_eq!(relation(&gold, &sheet("float", rows.clone())), expected, "{rows}");
        }
    }

    #[test]
    fn bags_count_and_null_is_only_null() {
        let gold = gold(contract(json!({"decimal": {"scale": 2}})), json!([["p", "1.00"], ["p", "1"], ["q", null]]));
        for (rows, same) in [
            (json!([["q", null], ["p", "1"], ["p", "1.0"]]), true),
            (json!([["q", null], ["p", "1"]]), false),
            (json!([["q", null], ["q", null], ["p", "1"]]), false),
            (json!([["q", "0"], ["p", "1"], ["p", "1.0"]]), false),
            (json!([["q", null], ["p", "1.001"], ["p", "1.0"]]), false),
        ] {
            let expected = if same { Relation::Same } else { Relation::Different };
            assert_eq!(relation(&gold, &sheet("decimal", rows.clone())), expected, "{rows}");
        }
    }

    #[test]
    fn order_is_that_of_keys_and_a_cut_through_a_tie_may_go_either_way() {
        let mut ordered = contract(json!({"decimal": {"scale": 2}}));
        ordered["order"] = json!([{"column": "x", "direction": "descending"}]);
        let rows = json!([["p", "3"], ["q", "2"], ["r", "2"], ["s", "1"]]);
        let by_order = gold(ordered.clone(), rows);
        for (rows, same) in [
            (json!([["p", "3"], ["r", "2"], ["q", "2"], ["s", "1"]]), true),
            (json!([["q", "2"], ["p", "3"], ["r", "2"], ["s", "1"]]), false),
        ] {
            let expected = if same { Relation::Same } else { Relation::Different };
            assert_eq!(relation(&by_order, &sheet("decimal", rows.clone())), expected, "{rows}");
        }
        ordered["top"] = json!({"k": 2, "keys": [{"column": "x", "direction": "descending"}]});
        let by_top = gold(ordered, json!([["p", "3"], ["q", "2"], ["r", "2"]]));
        for (rows, same) in [
            (json!([["p", "3"], ["r", "2"]]), true),
            (json!([["p", "3"], ["q", "2"]]), true),
            (json!([["q", "2"], ["r", "2"]]), false),
            (json!([["r", "2"], ["p", "3"]]), false),
            (json!([["p", "3"], ["q", "2"], ["r", "2"]]), false),
        ] {
            let expected = if same { Relation::Same } else { Relation::Different };
            assert_eq!(relation(&by_top, &sheet("decimal", rows.clone())), expected, "{rows}");
        }
    }
}
