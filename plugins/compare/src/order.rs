//! Order keys, and the blocks of gold's rows that tie in them.

use std::cmp::Ordering;
use std::ops::Range;

use crate::canon::{Canon, CanonCells};
use crate::contract::{ColumnRule, Contract, Direction, Key, Nulls, Type};
use crate::pairing::Work;
use crate::side::{Side, bags};

/// Cuts gold into blocks of neighbours that are equal in every key, a float within its tolerance.
///
/// # Errors
/// Names the first row that stands out of order. What order texts have is the author's choice:
/// of a text key only the place of NULL is checked.
pub(crate) fn blocks(
    contract: &Contract,
    keys: &[Key],
    gold: &[Canon],
    rows: usize,
) -> Result<Vec<Range<usize>>, String> {
    let mut blocks = Vec::new();
    let mut start = 0;
    for row in 1..rows {
        match neighbours(contract, keys, gold, row) {
            Some((key, Ordering::Greater)) => {
                return Err(format!(
                    "gold row {row} is out of order by {} ({}); order gold as the contract says",
                    key.column,
                    match key.nulls {
                        Nulls::Last => "NULL comes last",
                        Nulls::First => "NULL comes first",
                    }
                ));
            }
            Some(_) => {
                blocks.push(start..row);
                start = row;
            }
            None => {}
        }
    }
    if start < rows {
        blocks.push(start..rows);
    }
    Ok(blocks)
}

/// How a row stands to the one before it: the first key that differs, and which way.
fn neighbours<'k>(contract: &Contract, keys: &'k [Key], gold: &[Canon], row: usize) -> Option<(&'k Key, Ordering)> {
    keys.iter().find_map(|key| {
        let place = contract.place(&key.column)?;
        let (rule, column) = (contract.columns.get(place)?, gold.get(place)?);
        let before = row.checked_sub(1)?;
        if column.equal(before, column, row) {
            return None;
        }
        let order = match (column.null(before), column.null(row), key.nulls) {
            (true, _, Nulls::Last) | (_, true, Nulls::First) => Ordering::Greater,
            (true, _, Nulls::First) | (_, true, Nulls::Last) => Ordering::Less,
            (false, false, _) => match (compare(rule, column, before, row), key.direction) {
                (Some(order), Direction::Ascending) => order,
                (Some(order), Direction::Descending) => order.reverse(),
                (None, _) => Ordering::Less,
            },
        };
        Some((key, order))
    })
}

/// Two cells of one column by value; none for texts, which may be sorted in many ways.
fn compare(rule: &ColumnRule, column: &Canon, a: usize, b: usize) -> Option<Ordering> {
    match (&column.cells, rule.kind) {
        (CanonCells::Floats(floats, _), _) => Some(floats.get(a)?.total_cmp(floats.get(b)?)),
        (CanonCells::Words(words), Type::Float { .. }) => {
            let float = |row| words.get(row).map(|word| f64::from_bits(*word));
            Some(float(a)?.total_cmp(&float(b)?))
        }
        (CanonCells::Words(words), _) => Some(words.get(a)?.cast_signed().cmp(&words.get(b)?.cast_signed())),
        (CanonCells::Units(units), _) => Some(units.get(a)?.cmp(units.get(b)?)),
        (CanonCells::Texts(_), _) => None,
    }
}

/// The first block whose place in the submission holds other rows; none if every block is there.
/// The outer none: the work ran out.
pub(crate) fn first_displaced(
    gold: &Side,
    pred: &Side,
    blocks: &[Range<usize>],
    work: &mut Work,
) -> Option<Option<Range<usize>>> {
    for block in blocks {
        let same = if block.len() == 1 {
            gold.equal(block.start, pred, block.start)
        } else {
            bags((gold, block.clone()), (pred, block.clone()), work)?.is_empty()
        };
        if !same {
            return Some(Some(block.clone()));
        }
    }
    Some(None)
}
