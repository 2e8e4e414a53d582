//! Whether the alternatives of a question mean the same facts.
//!
//! Alternatives are there to let an answer choose its columns (a name, an id, or both) and,
//! where the author says so, its rows (with or without those that count 0). Both leave the facts
//! alone: what two alternatives both state must be the same. Facts are the columns that two
//! results share by name and that are no text, for text is often a choice of form
//! (`2018-01` or `2018-01-01`).

use tribunal_protocol::table::Table;
use tribunal_protocol::{Kind, Value};

use crate::columns::answer_columns;

/// Rounding is a choice of form, too: numbers this close, in themselves or relative to the
/// larger, state the same.
const ROUNDING: f64 = 0.01;
/// Rows that are compared with each other, at most: the comparison is quadratic.
const MAX_ROWS: usize = 2_000;

/// How two results relate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// They state the same as far as they share columns.
    Same,
    /// All that one states, the other states, too.
    Part,
    /// They share no columns, and their numbers of rows differ.
    Apart,
    /// Each states something that the other does not: a row of each.
    Contradiction(String, String),
}

/// Compares two results.
pub(crate) fn relation(a: &Table, b: &Table) -> Relation {
    let shared = shared(a, b);
    if shared.is_empty() || a.rows.max(b.rows) > MAX_ROWS {
        return if a.rows == b.rows { Relation::Same } else { Relation::Apart };
    }
    let left: Vec<usize> = shared.iter().map(|(at, _)| *at).collect();
    let right: Vec<usize> = shared.iter().map(|(_, at)| *at).collect();
    let (mut only_a, mut only_b) = (rows(a, &left), rows(b, &right));
    only_a.retain(|row| match only_b.iter().position(|other| same(row, other)) {
        Some(at) => {
            only_b.swap_remove(at);
            false
        }
        None => true,
    });
    match (only_a.first(), only_b.first()) {
        (None, None) => Relation::Same,
        (Some(row), Some(other)) => Relation::Contradiction(shown(row), shown(other)),
        _ => Relation::Part,
    }
}

/// The places of columns that both have and that are no text.
fn shared(a: &Table, b: &Table) -> Vec<(usize, usize)> {
    let (names_a, names_b) = (answer_columns(a), answer_columns(b));
    let fact = |kind: Kind| !matches!(kind, Kind::Text | Kind::Unknown);
    let mut places = Vec::new();
    for (at, column) in names_a.iter().enumerate() {
        let other = names_b.iter().position(|other| other.name == column.name);
        if let Some(other) = other
            && fact(column.kind)
            && names_b.get(other).is_some_and(|other| fact(other.kind))
        {
            places.push((at, other));
        }
    }
    places
}

fn rows(table: &Table, places: &[usize]) -> Vec<Vec<Value>> {
    let cell = |row: usize, place: &usize| {
        let column = table.columns.get(*place);
        column.map_or(Value::Null, |column| column.value(row))
    };
    let row = |row| places.iter().map(|place| cell(row, place)).collect();
    (0..table.rows).map(row).collect()
}

fn same(a: &[Value], b: &[Value]) -> bool {
    a.iter().zip(b).all(|(a, b)| match (number(a), number(b)) {
        _ if a.kind() == Kind::Integer && b.kind() == Kind::Integer => a == b,
        (Some(x), Some(y)) => (x - y).abs() <= ROUNDING.max(ROUNDING * x.abs().max(y.abs())),
        _ => a == b,
    })
}

/// Two integers are never a matter of rounding.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        Value::Decimal(d) => d.to_string().parse().ok(),
        Value::Integer(i) => i.to_string().parse().ok(),
        _ => None,
    }
}

fn shown(row: &[Value]) -> String {
    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
    format!("({})", cells.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, Kind)], rows: &[&[Value]]) -> Table {
        let columns: Vec<_> = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let rows: Vec<Vec<Value>> = rows.iter().map(|row| row.to_vec()).collect();
        Table::from_rows(&columns, &rows).unwrap()
    }

    fn totals(rows: &[(&str, i64)]) -> Table {
        let rows: Vec<Vec<Value>> =
            rows.iter().map(|(name, total)| vec![Value::Text((*name).to_owned()), Value::Integer(*total)]).collect();
        let columns = [("name".to_owned(), Kind::Text), ("total".to_owned(), Kind::Integer)];
        Table::from_rows(&columns, &rows).unwrap()
    }

    #[test]
    fn a_choice_of_columns_or_rows_is_no_contradiction() {
        let all = totals(&[("a", 6), ("b", 3), ("c", 0)]);
        let ids = table(
            &[("id", Kind::Integer), ("total", Kind::Integer)],
            &[
                &[Value::Integer(2), Value::Integer(3)],
                &[Value::Integer(1), Value::Integer(6)],
                &[Value::Integer(3), Value::Integer(0)],
            ],
        );
        assert_eq!(relation(&all, &ids), Relation::Same);
        assert_eq!(relation(&all, &totals(&[("a", 6), ("b", 3)])), Relation::Part);
        let months = |form: &str| totals(&[(form, 2)]);
        assert_eq!(relation(&months("2018-01"), &months("2018-01-01")), Relation::Same);
        let wide = table(&[("yes", Kind::Integer)], &[&[Value::Integer(6)]]);
        assert_eq!(relation(&all, &wide), Relation::Apart);
    }

    #[test]
    fn other_values_are_a_contradiction() {
        let float = |x: Value| table(&[("ratio", Kind::Float)], &[&[x]]);
        let third = float(Value::Float(1.0 / 3.0));
        assert_eq!(relation(&third, &float(Value::Float(0.33))), Relation::Same);
        let other = relation(&third, &float(Value::Float(0.35)));
        assert!(matches!(other, Relation::Contradiction(..)), "{other:?}");
        let null = relation(&float(Value::Null), &float(Value::Float(0.0)));
        assert_eq!(null, Relation::Contradiction("(NULL)".to_owned(), "(0.0)".to_owned()));
        let counts = relation(&totals(&[("a", 5), ("b", 1)]), &totals(&[("a", 6), ("b", 1)]));
        assert!(matches!(counts, Relation::Contradiction(..)));
    }
}
