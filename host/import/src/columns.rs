//! The columns of an answer: names that can be told and typed, and how they are compared.
//!
//! Gold names its columns as it likes (`COUNT(DISTINCT p.pid)`, the same name twice), so answers
//! are matched by place, and the instruction tells the place of every column.

use std::collections::BTreeSet;

use tribunal_compare::{ColumnRule, Contract, Direction, Key as RuleKey, Matching, Nulls, Top, Type};
use tribunal_protocol::table::Table;
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::{Kind, Value};

use crate::order::{Arrangement, Key, Place};

/// How far two doubles may part, relative to the larger one: what the order of additions leaves.
pub(crate) const RELATIVE: f64 = 1e-9;
/// How far two doubles may part where both are next to 0.
pub(crate) const ABSOLUTE: f64 = 1e-12;
/// Decimals with more digits after the point are compared as doubles: such digits come from a
/// division, where engines keep different numbers of them.
const MAX_SCALE: u32 = 6;

/// The columns of an answer, under unique names: the names of the result in lower case, with
/// anything but letters, digits and `_` made `_`.
pub(crate) fn answer_columns(table: &Table) -> Vec<AnswerColumn> {
    let mut taken = BTreeSet::new();
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(index, column)| {
            let plain = plain_name(&column.name, index);
            let numbered = (2..).map(|n| format!("{plain}_{n}"));
            let mut names = std::iter::once(plain.clone()).chain(numbered);
            let name = names.find(|name| !taken.contains(name)).unwrap_or(plain);
            taken.insert(name.clone());
            AnswerColumn { name, kind: column.kind() }
        })
        .collect()
}

fn plain_name(name: &str, index: usize) -> String {
    // `t.name` is called `name`, as engines call it.
    let is_path = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '"'));
    let name = match name.rsplit_once('.') {
        Some((_, last)) if is_path => last,
        _ => name,
    };
    let mut plain = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => plain.push(c),
            _ if plain.ends_with('_') || plain.is_empty() => {}
            _ => plain.push('_'),
        }
    }
    let plain = plain.trim_end_matches('_');
    match plain.starts_with(|c: char| c.is_alphabetic()) {
        true => plain.to_owned(),
        false => format!("column_{}", index + 1),
    }
}

/// What a contract is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Comparing two engines: SQLite has no decimals, and every order counts.
    Engines,
    /// Judging an agent's answer; whether the order counts is said.
    Answer {
        /// Whether the question asks for an order.
        ordered: bool,
    },
}

/// The comparison contract of a result.
pub(crate) fn contract(table: &Table, arrangement: &Arrangement, cut: Option<u32>, purpose: Purpose) -> Contract {
    let columns = answer_columns(table);
    let keys = visible_keys(table, &columns, &arrangement.keys);
    let rules = columns.iter().zip(&table.columns);
    let rules = rules.map(|(answer, column)| {
        let values: Vec<Value> = (0..table.rows).map(|row| column.value(row)).collect();
        ColumnRule::new(&answer.name, rule(answer.kind, &values, purpose))
    });
    let mut contract = Contract::new(rules.collect());
    contract.matching = Matching::Position;
    contract.empty_ok = purpose == Purpose::Engines;
    let ordered = purpose != Purpose::Answer { ordered: false };
    contract.top = cut.map(|k| Top { k, keys: keys.clone() });
    if ordered {
        contract.order = keys;
    }
    contract
}

fn rule(kind: Kind, values: &[Value], purpose: Purpose) -> Type {
    let float = Type::Float { abs: ABSOLUTE, rel: RELATIVE, non_finite: false };
    let scale = values.iter().filter_map(|value| match value {
        Value::Decimal(decimal) => Some(decimal.normalize().scale()),
        _ => None,
    });
    match kind {
        Kind::Boolean => Type::Boolean,
        Kind::Integer => Type::Integer,
        Kind::Date => Type::Date,
        Kind::Timestamp => Type::Timestamp,
        Kind::Float => float,
        Kind::Decimal => match scale.max().unwrap_or(0) {
            scale if scale <= MAX_SCALE && purpose != Purpose::Engines => Type::Decimal { scale },
            _ => float,
        },
        Kind::Text | Kind::Unknown => Type::TEXT,
    }
}

/// The order keys that can be seen in the result, up to the first that cannot.
fn visible_keys(table: &Table, columns: &[AnswerColumn], keys: &[Key]) -> Vec<RuleKey> {
    let mut visible: Vec<RuleKey> = Vec::new();
    for key in keys {
        let Some(column) = key_place(table, &key.place).and_then(|place| columns.get(place)) else {
            break;
        };
        // A column that is a key already decides nothing a second time.
        if visible.iter().any(|earlier| earlier.column == column.name) {
            continue;
        }
        visible.push(RuleKey {
            column: column.name.clone(),
            direction: if key.descending { Direction::Descending } else { Direction::Ascending },
            nulls: if key.nulls_first { Nulls::First } else { Nulls::Last },
        });
    }
    visible
}

/// Where a key stands in a result, hidden keys not counted.
fn key_place(table: &Table, place: &Place) -> Option<usize> {
    match place {
        Place::Output(at) => Some(*at),
        Place::Named(name) => {
            let mut columns = table.columns.iter();
            columns.position(|column| plain_name(&column.name, 0).eq_ignore_ascii_case(name))
        }
        Place::Hidden(_) => None,
    }
}

/// The keys of a row of the whole result (see [`Arrangement::whole`]), `width` being the number
/// of columns without hidden ones; none where a key cannot be found.
pub(crate) fn row_keys(whole: &Table, width: usize, keys: &[Key], row: usize) -> Option<Vec<Value>> {
    let at = |key: &Key| {
        let place = match key.place {
            Place::Hidden(behind) => Some(width + behind),
            _ => key_place(whole, &key.place),
        };
        let column = whole.columns.get(place?)?;
        Some(column.value(row))
    };
    keys.iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_unique() {
        let names = ["COUNT(DISTINCT p.pid)", "a.Name", "name", "2 + 2", "\"odd one\"", "name"];
        let columns: Vec<_> = names.map(|name| (name.to_owned(), Kind::Integer)).into();
        let table = Table::from_rows(&columns, &[]).unwrap();
        let found: Vec<_> = answer_columns(&table).into_iter().map(|c| c.name).collect();
        let expected = ["count_distinct_p_pid", "name", "name_2", "column_4", "odd_one", "name_3"];
        assert_eq!(found, expected);
    }
}
