//! Intersection only narrows: properties over random contracts, checked on random rows.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use tribunal_contract::{Budget, Contract, Effective, Holder, Open, TableGrant, check};
use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Kind, Value};

const TABLES: [&str; 3] = ["a", "b", "*"];
const COLUMNS: [&str; 3] = ["x", "y", "z"];

fn schemas() -> Vec<TableSchema> {
    let columns = || COLUMNS.map(|name| ColumnSchema::new(name, Kind::Integer, true)).to_vec();
    let table = |name| TableSchema::new(name, columns(), &[]);
    ["a", "b", "c"].map(table).to_vec()
}

fn columns() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("[\"*\"]".to_owned()),
        prop::sample::subsequence(COLUMNS.to_vec(), 0..=3).prop_map(|names| format!("{names:?}")),
    ]
}

fn filter() -> impl Strategy<Value = String> {
    let leaf =
        (prop::sample::select(COLUMNS.to_vec()), 0..4_i64, 0..5_u8).prop_map(|(column, number, form)| match form {
            0 => format!("{column} = {number}"),
            1 => format!("{number} <= {column}"),
            2 => format!("{column} IS NULL"),
            3 => format!("{column} NOT IN (1, {number})"),
            _ => format!("{column} BETWEEN {number} AND 3"),
        });
    leaf.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), inner, 0..3_u8).prop_map(|(a, b, form)| match form {
            0 => format!("({a}) AND ({b})"),
            1 => format!("({a}) OR ({b})"),
            _ => format!("NOT ({a})"),
        })
    })
}

fn rows() -> impl Strategy<Value = String> {
    prop::option::of(filter()).prop_map(|rows| rows.map_or(String::new(), |rows| format!("rows = \"{rows}\"\n")))
}

fn contract() -> impl Strategy<Value = Contract> {
    let read = (prop::sample::subsequence(TABLES.to_vec(), 0..=3), columns(), rows());
    let write = (prop::sample::subsequence(TABLES.to_vec(), 0..=3), columns(), rows(), 0..8_u8);
    let budget = prop::option::of(0..100_u64);
    ("[a-c]", read, write, budget).prop_map(|(name, read, write, budget)| {
        let mut text = format!("[contract]\nname = \"{name}\"\n");
        for table in read.0 {
            text += &format!("[[read]]\ntable = {table:?}\ncolumns = {}\n{}", read.1, read.2);
        }
        for table in write.0 {
            let verbs = ["insert", "update", "delete"].into_iter().enumerate();
            let verbs: Vec<&str> = verbs.filter(|(bit, _)| write.3 >> bit & 1 == 1).map(|(_, verb)| verb).collect();
            let sets = verbs.iter().any(|verb| *verb != "delete");
            let columns = if sets { format!("columns = {}\n", write.1) } else { String::new() };
            text += &format!("[[write]]\ntable = {table:?}\nverbs = {verbs:?}\n{columns}{}", write.2);
        }
        if let Some(statements) = budget {
            text += &format!("[budget]\nstatements = {statements}\n");
        }
        Contract::parse(&text).unwrap()
    })
}

/// Every row over NULL and 0 to 3.
fn all_rows() -> Vec<Vec<Value>> {
    let cell = |n: i64| if n == 4 { Value::Null } else { Value::Integer(n) };
    (0..125).map(|n| vec![cell(n % 5), cell(n / 5 % 5), cell(n / 25)]).collect()
}

fn admits(rows: Option<&tribunal_contract::RowRule>, row: &[Value]) -> bool {
    let compare = |a: &Value, b: &Value| (!a.is_null() && !b.is_null()).then(|| a.total_cmp(b));
    rows.is_none_or(|rule| rule.condition.holds(row, &compare, &Value::is_null))
}

/// Whether a grant reaches a cell of a row by a verb.
fn reaches(effective: &Effective, table: &str, verb: Verb, column: usize, row: &[Value]) -> bool {
    let reached = |grant: &TableGrant| match grant.rule(verb) {
        None if verb == Verb::Read => grant.readable.contains(&column) && admits(grant.rows.as_ref(), row),
        None => false,
        Some(rule) => (verb == Verb::Delete || rule.columns.contains(&column)) && admits(rule.rows.as_ref(), row),
    };
    effective.table(table).is_some_and(reached)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_text_reads_back(contract in contract()) {
        let text = contract.to_toml();
        let back = Contract::parse(&text).unwrap();
        prop_assert_eq!(&back, &contract, "{}", text);
        prop_assert_eq!(back.to_toml(), text);
    }

    #[test]
    fn intersection_is_idempotent_commutative_and_associative(
        a in contract(), b in contract(), c in contract(),
    ) {
        prop_assert_eq!(a.intersect(&a), a.clone());
        prop_assert_eq!(a.intersect(&b).to_toml(), b.intersect(&a).to_toml());
        let (left, right) = (a.intersect(&b).intersect(&c), a.intersect(&b.intersect(&c)));
        prop_assert_eq!(left.to_toml(), right.to_toml());
    }

    /// Exactly what both reach is reached: never more, and nothing is lost.
    #[test]
    fn intersection_reaches_what_both_reach(a in contract(), b in contract()) {
        let both = a.intersect(&b);
        let resolved = (both.resolve(&schemas()), a.resolve(&schemas()), b.resolve(&schemas()));
        // UPDATE and DELETE without any readable column are refused, in whichever it is.
        let (Ok(both), Ok(a), Ok(b)) = resolved else { return Ok(()) };
        prop_assert!(both.allowance().statements <= a.allowance().statements);
        prop_assert!(both.allowance().statements <= b.allowance().statements);
        for table in ["a", "b", "c"] {
            for verb in Verb::ALL {
                for (column, row) in (0..3).flat_map(|c| all_rows().into_iter().map(move |r| (c, r))) {
                    let reached = reaches(&both, table, verb, column, &row);
                    let by_each = reaches(&a, table, verb, column, &row)
                        && reaches(&b, table, verb, column, &row);
                    prop_assert_eq!(reached, by_each, "{} {} {} {:?}", table, verb.name(), column, row);
                }
            }
        }
    }

    /// The explanation that comes first is of the contract that applies later, and refuses
    /// nothing exactly where the request applies as it stands. Of what a request leaves open by `*`
    /// it may get less.
    #[test]
    fn a_check_says_what_will_apply(a in contract(), b in contract()) {
        let resolved = (a.intersect(&b).resolve(&schemas()), a.resolve(&schemas()));
        let Ok(check) = check(&a, &b, Holder::Tool, &Budget::default(), &schemas()) else { return Ok(()) };
        prop_assert_eq!(check.digest, resolved.0.as_ref().ok().map(Effective::digest));
        let (Ok(both), Ok(alone)) = resolved else { return Ok(()) };
        let lines = |effective: &Effective| -> Vec<String> {
            effective.explain().iter().map(|row| format!("{} {}", row.table, row.to_line())).collect()
        };
        let reached = check.access.iter().filter_map(|access| {
            let reach = access.effective.as_ref()?;
            Some(format!("{} {} {}", access.table, access.verb.name(), reach.to_line()).trim_end().to_owned())
        });
        prop_assert_eq!(reached.collect::<Vec<_>>(), lines(&both));
        let counted = a.budget.statements.is_none_or(|statements| both.allowance().statements == statements);
        let whole = counted && lines(&both) == lines(&alone);
        if whole || check.access.iter().all(|access| access.open == Open::default()) {
            prop_assert_eq!(check.refusals.is_empty(), whole, "{:?}", check.refusals);
        }
        let named = check.access.iter().filter(|access| access.open == Open::default() && access.requested.is_some());
        for access in named.filter(|_| check.refusals.is_empty()) {
            prop_assert_eq!(&access.effective, &access.requested);
        }
    }
}
