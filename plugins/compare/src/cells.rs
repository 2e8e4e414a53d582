//! What kind of cell makes the rows differ that found no partner: NULLs, floats, or anything.

use crate::canon::Canon;
use crate::keys::{Groups, Keyed, group};
use crate::pairing::{Edges, Work, unpaired};
use crate::side::{Rest, Side};
use crate::verdict::Reason;

/// [`Reason::Null`], [`Reason::Tolerance`] or [`Reason::RowMismatch`], the first that applies to
/// all rows that are left over.
pub(crate) fn reason(gold: &Side, pred: &Side, rest: &Rest, work: &mut Work) -> Reason {
    if only_nulls_differ(gold, pred, rest, work) == Some(true) {
        return Reason::Null;
    }
    let floats = gold.columns().iter().any(|column| column.tolerance().is_some());
    if floats && only_floats_differ(gold, pred, rest) {
        return Reason::Tolerance;
    }
    Reason::RowMismatch
}

/// Whether every row of the submission pairs off with one of gold so that the cells of a pair are
/// equal or NULL on one side. Gold may have rows left: those of a tie that were not chosen.
fn only_nulls_differ(gold: &Side, pred: &Side, rest: &Rest, work: &mut Work) -> Option<bool> {
    if rest.gold.len() < rest.pred.len() {
        return Some(false);
    }
    let any_null = |column: &Canon, rows: &[u32]| rows.iter().any(|row| column.null(*row as usize));
    let open: Vec<bool> = (gold.columns().iter().zip(pred.columns()))
        .map(|(a, b)| any_null(a, &rest.gold) || any_null(b, &rest.pred))
        .collect();
    let closed = |side: &Side| {
        let closed = side.columns().iter().zip(&open).filter(|(_, open)| !**open);
        Keyed::new(closed.map(|(column, _)| exact(column)).collect(), side.rows)
    };
    for group in grouped(&closed(gold), &closed(pred), rest).iter() {
        if group.gold.len() < group.pred.len() {
            return Some(false);
        }
        work.take(group.gold.len() * group.pred.len())?;
        let fits = |row: u32, at: u32| {
            let (row, at) = (row as usize, at as usize);
            (gold.columns().iter().zip(pred.columns())).all(|(a, b)| a.null(row) != b.null(at) || a.equal(row, b, at))
        };
        let wanted = |at: &u32| {
            let fitting = (0_u32..).zip(group.gold).filter(|(_, row)| fits(**row, *at));
            fitting.map(|(index, _)| index).collect()
        };
        let edges: Edges = group.pred.iter().map(wanted).collect();
        if !unpaired(&edges, group.gold.len(), work)?.is_empty() {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether every row of the submission pairs off with one of gold so that the cells of a pair are
/// equal or two floats.
fn only_floats_differ(gold: &Side, pred: &Side, rest: &Rest) -> bool {
    let keyed = |side: &Side| Keyed::new(side.columns().iter().map(exact).collect(), side.rows);
    let groups = grouped(&keyed(gold), &keyed(pred), rest);
    groups.iter().all(|group| group.gold.len() >= group.pred.len())
}

fn grouped(gold: &Keyed, pred: &Keyed, rest: &Rest) -> Groups {
    group((gold, rest.gold.iter().copied()), (pred, rest.pred.iter().copied()))
}

/// A column with its floats taken out.
fn exact(column: &Canon) -> Canon {
    match column.tolerance() {
        Some(_) => column.presence(),
        None => column.clone(),
    }
}
