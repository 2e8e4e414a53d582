//! Judges a submission, reason by reason.

use std::ops::Range;

use crate::columns::{InjectiveMaps, Map, fixed_map, read};
use crate::contract::{Contract, Matching, Rows};
use crate::expectation::{Expectation, Refusal};
use crate::explain::{Rows as Shown, explain};
use crate::form::Form;
use crate::order::first_displaced;
use crate::pairing::Work;
use crate::side::{Rest, Side, alone, bags, groups, sets};
use crate::table::Table;
use crate::verdict::{Difference, Reason, Verdict};

/// Judges a submission against a gold answer under a contract.
///
/// # Errors
/// Why the contract or gold cannot be judged by.
pub fn check(contract: &Contract, gold: &Table, pred: &Table) -> Result<Verdict, Refusal> {
    Ok(Expectation::new(contract.clone(), gold.clone())?.check(pred))
}

impl Form {
    /// Judges a submission. The work is bounded: a submission that would need more is not
    /// accepted.
    pub(crate) fn check(&self, pred: &Table) -> Verdict {
        self.judge(pred).unwrap_or_else(|verdict| verdict)
    }

    fn judge(&self, pred: &Table) -> Result<Verdict, Verdict> {
        self.check_shape(pred)?;
        let mut work = Work::new();
        if self.contract.matching != Matching::Injective {
            let map = fixed_map(&self.contract, pred)?;
            self.check_size(pred)?;
            return self.check_rows(pred, &map, &mut work);
        }
        self.check_size(pred)?;
        let mut first = None;
        for map in InjectiveMaps::new(&self.contract, self.side.columns(), pred).maps(24) {
            let verdict = self.check_rows(pred, &map, &mut work).unwrap_or_else(|fail| fail);
            if verdict.ok {
                return Ok(verdict);
            }
            first = first.or(Some(verdict));
        }
        Err(first.unwrap_or_else(|| {
            Verdict::fail(Reason::ColumnMismatch, Difference::whole(kinds(&self.gold), kinds(pred)))
        }))
    }

    fn check_shape(&self, pred: &Table) -> Result<(), Verdict> {
        if pred.rows == 0 && self.gold.rows > 0 {
            let difference = Difference::whole(count(self.gold.rows, "row"), "no rows");
            return Err(Verdict::fail(Reason::Empty, difference));
        }
        let (wanted, given) = (self.gold.columns.len(), pred.columns.len());
        if wanted != given {
            let shown = |table: &Table| format!("{}: {}", count(table.columns.len(), "column"), table.names());
            let difference = Difference::whole(shown(&self.gold), shown(pred));
            return Err(Verdict::fail(Reason::Arity, difference));
        }
        Ok(())
    }

    /// Nothing that is larger than the contract allows, or broken, is looked at.
    fn check_size(&self, pred: &Table) -> Result<(), Verdict> {
        if pred.rows > self.contract.max_rows as usize {
            let most = format!("at most {}", count(self.contract.max_rows as usize, "row"));
            let difference = Difference::whole(most, count(pred.rows, "row"));
            return Err(Verdict::fail(Reason::RowCount, difference));
        }
        if !pred.is_whole() {
            let difference = Difference::whole("columns equally long", "columns that are not");
            return Err(Verdict::fail(Reason::Type, difference));
        }
        Ok(())
    }

    fn check_rows(&self, pred: &Table, map: &Map, work: &mut Work) -> Result<Verdict, Verdict> {
        let side = Side::new(read(&self.contract, pred, map)?, pred.rows);
        let found = self.compare(&side, work);
        let Some((reason, rest)) = found else {
            let difference = Difference::whole("rows as gold has them", "too many near ones");
            return Err(Verdict::fail(Reason::RowMismatch, difference));
        };
        if reason == Reason::Match {
            return Ok(Verdict::MATCH);
        }
        let shown = Shown { form: self, pred, map, side: &side };
        Err(Verdict::fail(reason, explain(&shown, reason, &rest)))
    }

    /// The reason, and the rows that show it. None if the work ran out.
    fn compare(&self, pred: &Side, work: &mut Work) -> Option<(Reason, Rest)> {
        if let Some(top) = &self.contract.top {
            return self.compare_top(pred, top.k as usize, work);
        }
        if self.contract.rows == Rows::Set {
            let (rest, [wanted, given]) = sets(&self.side, pred);
            return match rest.is_empty() {
                true => Some((Reason::Match, rest)),
                false if wanted != given => Some((Reason::RowCount, rest)),
                false => Some((self.cell_reason(pred, &rest, work), rest)),
            };
        }
        let rest = bags((&self.side, 0..self.gold.rows), (pred, 0..pred.rows), work)?;
        if rest.is_empty() {
            return match first_displaced(&self.side, pred, &self.blocks, work)? {
                None => Some((Reason::Match, rest)),
                Some(block) => Some((Reason::Order, numbered(block))),
            };
        }
        if self.same_distinct(pred, work) {
            return Some((Reason::Duplicate, rest));
        }
        if self.gold.rows != pred.rows {
            return Some((Reason::RowCount, rest));
        }
        Some((self.cell_reason(pred, &rest, work), rest))
    }

    /// Rows above the cut, then rows from the block that ties at it.
    fn compare_top(&self, pred: &Side, k: usize, work: &mut Work) -> Option<(Reason, Rest)> {
        let (rows, wanted) = (self.gold.rows, self.gold.rows.min(k));
        let rest = bags((&self.side, 0..rows), (pred, 0..pred.rows), work)?;
        if pred.rows != wanted {
            return Some((Reason::RowCount, rest));
        }
        if !rest.pred.is_empty() {
            let reason = match self.each_is_golds(pred, work) {
                true => Reason::Duplicate,
                false => self.cell_reason(pred, &rest, work),
            };
            return Some((reason, rest));
        }
        // Every row of the submission pairs with one of gold. If every row above the cut pairs
        // with one of the submission too, one pairing does both (Mendelsohn and Dulmage, 1958).
        let tie = if rows > k { self.blocks.last().cloned() } else { None };
        let cut = tie.as_ref().map_or(rows, |tie| tie.start);
        let above = bags((&self.side, 0..cut), (pred, 0..pred.rows), work)?;
        let missing = Rest { gold: above.gold, pred: Vec::new() };
        if !missing.is_empty() {
            return Some((Reason::TopK, missing));
        }
        if self.contract.order.is_empty() {
            return Some((Reason::Match, missing));
        }
        let whole: Vec<_> = self.blocks.iter().filter(|block| block.end <= cut).cloned().collect();
        if let Some(block) = first_displaced(&self.side, pred, &whole, work)? {
            return Some((Reason::Order, numbered(block)));
        }
        let tail = bags((&self.side, cut..rows), (pred, cut..pred.rows), work)?;
        Some(if tail.pred.is_empty() { (Reason::Match, missing) } else { (Reason::Order, numbered(cut..pred.rows)) })
    }

    /// Whether both sides hold the same distinct rows; that the counts differ is known.
    fn same_distinct(&self, pred: &Side, work: &mut Work) -> bool {
        let gold = &self.side;
        let mut counts_differ = false;
        for group in groups((gold, 0..gold.rows), (pred, 0..pred.rows)).iter() {
            counts_differ |= group.gold.len() != group.pred.len();
            let near = near((gold, group.gold), (pred, group.pred), work)
                && near((pred, group.pred), (gold, group.gold), work);
            if !near {
                return false;
            }
        }
        counts_differ
    }

    /// Whether every row of the submission is some row of gold.
    fn each_is_golds(&self, pred: &Side, work: &mut Work) -> bool {
        let gold = &self.side;
        groups((gold, 0..gold.rows), (pred, 0..pred.rows))
            .iter()
            .all(|group| near((pred, group.pred), (gold, group.gold), work))
    }

    fn cell_reason(&self, pred: &Side, rest: &Rest, work: &mut Work) -> Reason {
        crate::cells::reason(&self.side, pred, rest, work)
    }
}

/// Whether every left, all of one key, equals some right of the same key.
fn near(left: (&Side, &[u32]), right: (&Side, &[u32]), work: &mut Work) -> bool {
    let ((left_side, lefts), (right_side, rights)) = (left, right);
    if lefts.is_empty() {
        return true;
    }
    // Those that pair off need no further look; and if none does, none is near any.
    let Some(rest) = alone(left, right, work) else { return false };
    let mut is_near =
        |row: u32, at: u32| work.take(1).is_some() && left_side.equal(row as usize, right_side, at as usize);
    rest.len() < lefts.len() && rest.iter().all(|row| rights.iter().any(|at| is_near(*row, *at)))
}

fn numbered(rows: Range<usize>) -> Rest {
    let rows: Vec<u32> = rows.filter_map(|row| u32::try_from(row).ok()).collect();
    Rest { gold: rows.clone(), pred: rows }
}

fn kinds(table: &Table) -> String {
    let kinds: Vec<&str> = table.columns.iter().map(|column| column.cells.kind()).collect();
    kinds.join(", ")
}

pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
