//! UNION, INTERSECT and EXCEPT: both branches run, and their rows, combined, are a table for the
//! rest of the statement. A branch that fails counts where somebody reads that table.

use std::collections::HashMap;

use gluesql_core::ast::Statement;
use gluesql_core::data::Key;
use gluesql_core::prelude::{Payload, Value as Cell};
use tribunal_protocol::Failure;
use tribunal_sql::{Combine, SetOperation};

use crate::failure::stopped;
use crate::gate::{Footprint, Shape};
use crate::guard::Guard;
use crate::hoist::hoist;
use crate::run::{Request, planned, run, translated};
use crate::tick::capped;

/// Rows of one branch, at most.
const MAX_ROWS: u64 = 200_000;

type Rows = Vec<Vec<Cell>>;

/// A set operation that passed the gate.
pub(crate) struct Set {
    name: String,
    combine: Combine,
    all: bool,
    columns: usize,
    branches: [(Statement, Shape); 2],
}

/// Lets the set operations of a statement through the gate.
pub(crate) fn admit(request: Request<'_>, footprint: &mut Footprint) -> Result<Vec<Set>, Failure> {
    let mut sets = Vec::with_capacity(request.sets.len());
    for SetOperation { name, combine, all, left, right, columns } in request.sets {
        let mut branch = |query: &tribunal_sql::ast::Query| {
            let mut statement = translated(&tribunal_sql::ast::Statement::Query(Box::new(query.clone())), request)?;
            let shape = footprint.admit(&mut statement)?;
            Ok::<_, Failure>((statement, shape))
        };
        let branches = [branch(left)?, branch(right)?];
        footprint.results.insert(name.clone());
        sets.push(Set { name: name.clone(), combine: *combine, all: *all, columns: *columns, branches });
    }
    Ok(sets)
}

/// Runs the set operations of a statement, and keeps what they give.
pub(crate) fn run_all(guard: &mut Guard<'_>, sets: Vec<Set>, footprint: &Footprint) -> Result<(), Failure> {
    for Set { name, combine, all, columns, branches: [left, right] } in sets {
        let rows = match branch(guard, left, footprint)? {
            Ok(left) => branch(guard, right, footprint)?.and_then(|right| combined(combine, all, left, right)),
            Err(failure) => Err(failure),
        };
        let labels = (1..=columns).map(|number| format!("c{number}")).collect();
        guard.keep_as(&name, labels, rows);
    }
    Ok(())
}

/// The rows of a branch, or why it has none; an error where the statement must stop.
fn branch(
    guard: &mut Guard<'_>,
    (mut statement, shape): (Statement, Shape),
    footprint: &Footprint,
) -> Result<Result<Rows, Failure>, Failure> {
    hoist(guard, &mut statement, footprint)?;
    let plan = match planned(guard, statement, &shape) {
        Ok(plan) => capped(plan, MAX_ROWS + 1),
        Err(failure) => return Ok(Err(failure)),
    };
    let payload = run(guard, &plan);
    if let Some(stop) = guard.stopped() {
        return Err(stopped(stop));
    }
    Ok(match payload {
        Ok(Payload::Select { labels: _, rows }) if rows.len() as u64 > MAX_ROWS => {
            Err(Failure::quota(format!("a branch of UNION, INTERSECT or EXCEPT has more than {MAX_ROWS} rows")))
        }
        Ok(Payload::Select { labels: _, rows }) => Ok(rows),
        Ok(_) => Err(Failure::unsupported("the statement gives no rows")),
        Err(failure) => Err(failure),
    })
}

/// What a row is compared by: NULL is the same as NULL here, and 1.50 as 1.5.
fn key(row: &[Cell]) -> Result<Vec<Key>, Failure> {
    let keys: Result<_, _> = row.iter().map(Key::try_from).collect();
    keys.map_err(|_| Failure::unsupported("UNION, INTERSECT or EXCEPT of values of this kind"))
}

/// The rows of two branches, in the order of the first, then of the second.
fn combined(combine: Combine, all: bool, left: Rows, right: Rows) -> Result<Rows, Failure> {
    if combine == Combine::Union && all {
        return Ok(left.into_iter().chain(right).collect());
    }
    let mut there: HashMap<Vec<Key>, usize> = HashMap::new();
    if combine != Combine::Union {
        for row in &right {
            *there.entry(key(row)?).or_default() += 1;
        }
    }
    let rest = if combine == Combine::Union { right } else { Vec::new() };
    let mut seen: HashMap<Vec<Key>, usize> = HashMap::new();
    let mut rows = Vec::new();
    for row in left.into_iter().chain(rest) {
        let key = key(&row)?;
        let others = there.get(&key).copied().unwrap_or(0);
        let seen = seen.entry(key).or_default();
        *seen += 1;
        let first = *seen == 1;
        let kept = match (combine, all) {
            (Combine::Union, _) => first,
            (Combine::Intersect, false) => first && others > 0,
            (Combine::Except, false) => first && others == 0,
            (Combine::Intersect, true) => *seen <= others,
            (Combine::Except, true) => *seen > others,
        };
        if kept {
            rows.push(row);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[Option<i64>]) -> Rows {
        cells.iter().map(|cell| vec![cell.map_or(Cell::Null, Cell::I64)]).collect()
    }

    #[test]
    fn rows_are_combined_by_the_definition() {
        // PostgreSQL's rule: with m copies on the left and n on the right, UNION ALL has m + n,
        // INTERSECT ALL min(m, n), EXCEPT ALL max(m - n, 0); without ALL one where that is more
        // than 0 (for EXCEPT: where n is 0).
        let left = rows(&[Some(1), Some(1), Some(1), Some(2), None, None, Some(3)]);
        let right = rows(&[Some(1), None, Some(4), Some(3), Some(3)]);
        for (combine, all, expected) in [
            (Combine::Union, false, vec![Some(1), Some(2), None, Some(3), Some(4)]),
            (Combine::Intersect, false, vec![Some(1), None, Some(3)]),
            (Combine::Except, false, vec![Some(2)]),
            (Combine::Intersect, true, vec![Some(1), None, Some(3)]),
            (Combine::Except, true, vec![Some(1), Some(1), Some(2), None]),
        ] {
            let found = combined(combine, all, left.clone(), right.clone()).unwrap();
            assert_eq!(found, rows(&expected), "{combine:?} ALL {all}");
        }
        assert_eq!(combined(Combine::Union, true, left, right).unwrap().len(), 12);
    }

    #[test]
    fn equal_numbers_are_one_row() {
        let decimal = |number, scale| vec![vec![Cell::Decimal(rust_decimal::Decimal::new(number, scale))]];
        assert_eq!(combined(Combine::Union, false, decimal(150, 2), decimal(15, 1)).unwrap().len(), 1);
        let float = |number| vec![vec![Cell::F64(number)]];
        assert_eq!(combined(Combine::Except, false, float(0.0), float(-0.0)).unwrap().len(), 0);
    }
}
