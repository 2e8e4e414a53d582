//! One gold answer under one contract, ready to judge submissions.

use std::ops::Range;

use crate::canon::canonical;
use crate::contract::{Contract, Matching, Type};
use crate::order::blocks;
use crate::side::Side;
use crate::table::Table;

/// A gold answer under its contract.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) contract: Contract,
    pub(crate) gold: Table,
    pub(crate) side: Side,
    /// Blocks of gold's rows that tie in the order keys (or those of top-k).
    pub(crate) blocks: Vec<Range<usize>>,
}

impl Form {
    /// Checks a contract and a gold answer, and makes them ready.
    ///
    /// # Errors
    /// Says what the contract contradicts, or what of gold does not fit it.
    pub(crate) fn new(contract: Contract, gold: Table) -> Result<Form, String> {
        contract.validate().map_err(|why| format!("contract: {why}"))?;
        let gold = in_contract_order(&contract, gold)?;
        check_gold(&contract, &gold)?;
        let iso_text = contract.matching != Matching::Injective;
        let mut columns = Vec::with_capacity(gold.columns.len());
        for (rule, column) in contract.columns.iter().zip(&gold.columns) {
            let canon = canonical(rule.kind, column, gold.rows, iso_text).map_err(|wrong| {
                let given = format!("{} {}", column.cells.kind(), column.shown(wrong.row));
                let (name, kind) = (&rule.name, rule.kind.name());
                format!("gold column {name} row {}: {kind} expected, {given} given", wrong.row)
            })?;
            if let (Some(row), Type::Decimal { scale }) = (canon.misfit(), rule.kind) {
                return Err(format!(
                    "gold column {} row {row}: {} does not fit scale {scale}; round it in gold, \
                     or raise the scale",
                    rule.name,
                    column.shown(row)
                ));
            }
            columns.push(canon);
        }
        let keys = contract.top.as_ref().map_or(&contract.order, |top| &top.keys);
        let blocks = match keys.is_empty() {
            true => Vec::new(),
            false => blocks(&contract, keys, &columns, gold.rows)?,
        };
        check_top(&contract, gold.rows, &blocks)?;
        let side = Side::new(columns, gold.rows);
        Ok(Form { contract, gold, side, blocks })
    }
}

/// Gold with its columns as the contract lists them: by name, or by place where names are of no
/// matter.
fn in_contract_order(contract: &Contract, mut gold: Table) -> Result<Table, String> {
    if gold.columns.len() != contract.columns.len() {
        return Err(format!(
            "gold: {} columns in the contract, {} in gold ({})",
            contract.columns.len(),
            gold.columns.len(),
            gold.names()
        ));
    }
    if contract.matching != Matching::Name {
        return Ok(gold);
    }
    let mut columns = Vec::with_capacity(gold.columns.len());
    for rule in &contract.columns {
        let wanted = crate::text::name(&rule.name);
        let place = gold.columns.iter().position(|column| crate::text::name(&column.name) == wanted);
        let Some(place) = place else {
            return Err(format!("gold: no column {} (it has {})", rule.name, gold.names()));
        };
        columns.push(gold.columns.swap_remove(place));
    }
    Ok(Table { rows: gold.rows, columns })
}

fn check_gold(contract: &Contract, gold: &Table) -> Result<(), String> {
    if !gold.is_whole() {
        return Err("gold: its columns are not equally long".to_owned());
    }
    if gold.rows == 0 && !contract.empty_ok {
        return Err("gold has no rows, and the contract does not say empty_ok".to_owned());
    }
    if gold.rows > contract.max_rows as usize {
        return Err(format!("gold has {} rows, max_rows is {}", gold.rows, contract.max_rows));
    }
    for (rule, column) in contract.columns.iter().zip(&gold.columns) {
        let null = (0..gold.rows).find(|row| column.is_null(*row));
        if let (false, Some(row)) = (rule.nullable, null) {
            return Err(format!("gold column {} row {row}: NULL, and it is not nullable", rule.name));
        }
    }
    Ok(())
}

/// Gold must end with the block that holds row `k`.
fn check_top(contract: &Contract, rows: usize, blocks: &[Range<usize>]) -> Result<(), String> {
    let (Some(top), Some(last)) = (&contract.top, blocks.last()) else { return Ok(()) };
    if rows > top.k as usize && last.start >= top.k as usize {
        return Err(format!(
            "gold row {}: below the cut of top {}; gold carries the rows above it and those that \
             tie with row {}, nothing below",
            last.start, top.k, top.k
        ));
    }
    Ok(())
}
