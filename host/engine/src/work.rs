//! How much work a statement may be. Rows are counted against a budget, and say little of the time
//! that they take: a row may pass through one operator or through hundreds, each over a long text.
//! So what is counted besides is work: for every row that the store hands out, and every row that a
//! join combines, the parts of all expressions of the statement, and more for long texts. It is
//! never less than what is evaluated, it follows from the statement and from what its holder sees,
//! and it is the same on every machine. How much is too much, the limits say (`statement_work`).

use gluesql_core::plan::{ExprPlan, StatementPlan};
use gluesql_core::prelude::Value as Cell;

use crate::guard::text_length;
use crate::tour::{self, Visitor};

/// Bytes of the texts of a row that take about as long as one part of an expression.
const BYTES: u64 = 64;
/// Bytes of a text that was made, which may pass through every part.
const MADE: u64 = 16;
/// Comparisons of characters that take about as long.
const STEPS: u64 = 32;
/// Constants that take about as long.
const CONSTANTS: u64 = 8;

/// The parts of all expressions of a plan; at least 1.
pub(crate) fn weight(plan: &mut StatementPlan) -> u64 {
    let mut parts = Parts(0);
    tour::statement(plan, &mut parts);
    parts.0.div_ceil(CONSTANTS).max(1)
}

/// Counts parts, in constants.
struct Parts(u64);

impl Visitor for Parts {
    fn expression(&mut self, expression: &mut ExprPlan) {
        self.0 += match expression {
            ExprPlan::Value(_) | ExprPlan::Literal(_) => 1,
            _ => CONSTANTS,
        };
    }
}

/// What a row counts for every part of the expressions: 1, and more for long texts.
pub(crate) fn of_row(cells: &[Cell]) -> u64 {
    let texts = cells.iter().map(|cell| text_length(cell) as u64 / BYTES);
    texts.fold(1, u64::saturating_add)
}

/// What a text that was made counts for every part of the expressions.
pub(crate) fn of_made(cell: &Cell) -> u64 {
    text_length(cell) as u64 / MADE
}

/// What so many comparisons of characters count.
pub(crate) fn of_steps(steps: u64) -> u64 {
    steps / STEPS
}
