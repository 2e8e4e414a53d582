//! The little that a wrong answer may earn where the contract says so.

use crate::columns::{InjectiveMaps, Map, fixed_map, read};
use crate::contract::Matching;
use crate::form::Form;
use crate::pairing::Work;
use crate::side::{Side, bags};
use crate::table::Table;

/// What the right shape earns: rows, every column, every cell of its type.
const SHAPE: f64 = 0.1;

/// What the right cells earn at most.
const CELLS: f64 = 0.1;

impl Form {
    /// What a wrong answer earns. Where the contract allows it, one of the right shape earns 0.1,
    /// and up to 0.1 more for its cells: F1 of the cells as one bag per column, so that what is
    /// not gold's costs as much as what is missing. Never more than 0.2, so no partial reward
    /// comes near a right answer.
    pub(crate) fn partial(&self, pred: &Table) -> f64 {
        match self.contract.partial {
            false => 0.0,
            true => self.cells_in_common(pred).map_or(0.0, |f1| SHAPE + CELLS * f1),
        }
    }

    /// F1 of the cells; none where the shape is wrong.
    fn cells_in_common(&self, pred: &Table) -> Option<f64> {
        let fits = pred.columns.len() == self.gold.columns.len()
            && (1..=self.contract.max_rows as usize).contains(&pred.rows)
            && pred.is_whole();
        if !fits {
            return None;
        }
        let map = self.some_map(pred)?;
        let columns = read(&self.contract, pred, &map).ok()?;
        let mut work = Work::new();
        let mut common = 0;
        for (gold, pred_column) in self.side.columns().iter().zip(columns) {
            let gold = Side::new(vec![gold.clone()], self.gold.rows);
            let side = Side::new(vec![pred_column], pred.rows);
            let rest = bags((&gold, 0..gold.rows), (&side, 0..side.rows), &mut work)?;
            common += gold.rows - rest.gold.len();
        }
        let cells = (self.gold.rows + pred.rows) * self.gold.columns.len();
        #[expect(clippy::cast_precision_loss, reason = "counts of cells are far below 2^53")]
        Some(2.0 * common as f64 / cells as f64)
    }

    fn some_map(&self, pred: &Table) -> Option<Map> {
        if self.contract.matching != Matching::Injective {
            return fixed_map(&self.contract, pred).ok();
        }
        InjectiveMaps::new(&self.contract, self.side.columns(), pred).maps(1).into_iter().next()
    }
}
