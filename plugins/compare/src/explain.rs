//! The first difference, as people read it.

use crate::form::Form;
use crate::judge::count;
use crate::side::{Rest, Side};
use crate::table::Table;
use crate::verdict::{Difference, Reason};

/// Both sides, as they were handed in and as they were compared.
pub(crate) struct Rows<'a> {
    pub(crate) form: &'a Form,
    pub(crate) pred: &'a Table,
    pub(crate) map: &'a [usize],
    pub(crate) side: &'a Side,
}

/// How many rows are looked at for the one that comes nearest.
const NEAREST: usize = 256;

/// Shows the first of the rows that found no partner beside the nearest one that is left of the
/// other side.
pub(crate) fn explain(rows: &Rows<'_>, reason: Reason, rest: &Rest) -> Difference {
    if reason == Reason::Order {
        return rows.out_of_order(rest);
    }
    let whole = match (reason, rest.gold.first(), rest.pred.first()) {
        (Reason::Duplicate, Some(row), _) => rows.copies(*row as usize, true),
        (Reason::Duplicate, None, Some(row)) => rows.copies(*row as usize, false),
        (Reason::RowCount | Reason::TopK, Some(row), _) => {
            Difference::whole(rows.gold_row(*row), "no such row").at_row(*row as usize)
        }
        (_, None, Some(row)) => Difference::whole("no such row", rows.pred_row(*row)).at_row(*row as usize),
        (_, Some(row), _) => rows.beside_nearest(*row, &rest.pred),
        (_, None, None) => Difference::default(),
    };
    match reason {
        Reason::RowCount => {
            let (wanted, given) = (rows.wanted(), rows.pred.rows);
            Difference {
                expected: format!("{}; {}", count(wanted, "row"), whole.expected),
                found: format!("{}; {}", count(given, "row"), whole.found),
                ..whole
            }
        }
        _ => whole,
    }
}

impl Rows<'_> {
    fn wanted(&self) -> usize {
        let rows = self.form.gold.rows;
        self.form.contract.top.as_ref().map_or(rows, |top| rows.min(top.k as usize))
    }

    fn gold_cell(&self, place: usize, row: u32) -> String {
        let column = self.form.gold.columns.get(place);
        column.map(|column| column.shown(row as usize)).unwrap_or_default()
    }

    fn pred_cell(&self, place: usize, row: u32) -> String {
        let column = self.map.get(place).and_then(|place| self.pred.columns.get(*place));
        column.map(|column| column.shown(row as usize)).unwrap_or_default()
    }

    fn gold_row(&self, row: u32) -> String {
        joined((0..self.map.len()).map(|place| self.gold_cell(place, row)))
    }

    fn pred_row(&self, row: u32) -> String {
        joined((0..self.map.len()).map(|place| self.pred_cell(place, row)))
    }

    /// Whether the cells of a column are equal in a row of gold and one of the submission.
    fn equal(&self, place: usize, row: u32, at: u32) -> bool {
        let (gold, pred) = (&self.form.side, self.side);
        match (gold.columns().get(place), pred.columns().get(place)) {
            (Some(a), Some(b)) => a.equal(row as usize, b, at as usize),
            _ => false,
        }
    }

    fn beside_nearest(&self, row: u32, candidates: &[u32]) -> Difference {
        let places = 0..self.map.len();
        let likeness = |at: &&u32| {
            let alike = places.clone().filter(|place| self.equal(*place, row, **at)).count();
            // Of equally near ones the first.
            (alike, std::cmp::Reverse(**at))
        };
        let Some(at) = candidates.iter().take(NEAREST).max_by_key(likeness) else {
            return Difference::whole(self.gold_row(row), "no such row").at_row(row as usize);
        };
        let place = places.clone().find(|place| !self.equal(*place, row, *at)).unwrap_or(0);
        self.cells(place, row, *at)
    }

    fn cells(&self, place: usize, row: u32, at: u32) -> Difference {
        let name = self.form.contract.columns.get(place).map_or("", |rule| &rule.name);
        Difference::whole(self.gold_cell(place, row), self.pred_cell(place, at)).at_row(row as usize).at_column(name)
    }

    /// How often a row occurs on either side.
    fn copies(&self, row: usize, of_gold: bool) -> Difference {
        let (gold, pred) = (&self.form.side, self.side);
        let own = if of_gold { gold } else { pred };
        let among = |side: &Side| (0..side.rows).filter(|at| own.equal(row, side, *at)).count();
        let number = u32::try_from(row).unwrap_or(u32::MAX);
        let shown = if of_gold { self.gold_row(number) } else { self.pred_row(number) };
        let text = |times: usize| format!("{} of {shown}", count(times, "copy").replace("copys", "copies"));
        Difference::whole(text(among(gold)), text(among(pred))).at_row(row)
    }

    /// The first row of a block that the submission fills with other rows, by its first key that
    /// differs there.
    fn out_of_order(&self, block: &Rest) -> Difference {
        let contract = &self.form.contract;
        let keys: Vec<usize> = contract.order.iter().filter_map(|key| contract.place(&key.column)).collect();
        let places = keys.iter().copied().chain(0..self.map.len());
        let differs =
            |row: &u32| places.clone().find(|place| !self.equal(*place, *row, *row)).map(|place| (place, *row));
        match block.gold.iter().find_map(differs) {
            Some((place, row)) => self.cells(place, row, row),
            None => Difference::default(),
        }
    }
}

/// Cells side by side, cut where they get long.
fn joined(cells: impl Iterator<Item = String>) -> String {
    const LONGEST: usize = 200;
    let mut text = cells.collect::<Vec<_>>().join(", ");
    if let Some((cut, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(cut);
        text.push('…');
    }
    text
}
