//! How an answer is compared: the comparison contract that `verifier-result` reads.

use serde_json::{Value as Json, json};
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::value::Kind;

/// A column of the answer with its tolerance.
#[derive(Clone, Debug)]
pub(crate) struct AnswerShape {
    pub(crate) column: AnswerColumn,
    pub(crate) nullable: bool,
    /// Name, meaning and unit, for the instruction.
    pub(crate) says: String,
}

/// Order and cut of the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrangement {
    /// Order keys: place from 1, negative where descending.
    pub(crate) order: Vec<i64>,
    /// How many rows are wanted of a top-k answer.
    pub(crate) top: Option<i64>,
    pub(crate) empty_ok: bool,
}

/// Digits of a decimal column after the point: money.
const SCALE: u32 = 2;

/// Both bounds of a float column: answers are not rounded, so only the order of additions and
/// the engine's arithmetic may show.
const TOLERANCE: f64 = 1e-6;

/// The comparison contract of an answer.
///
/// # Errors
/// An order key that is no column's place.
pub(crate) fn comparison(columns: &[AnswerShape], arrangement: &Arrangement) -> Result<Json, String> {
    let column = |shape: &AnswerShape| {
        let kind = match shape.column.kind {
            Kind::Decimal => json!({"decimal": {"scale": SCALE}}),
            Kind::Float => json!({"float": {"abs": TOLERANCE, "rel": TOLERANCE}}),
            Kind::Text => json!({"text": {}}),
            exact => exact.name().into(),
        };
        json!({"name": shape.column.name, "type": kind, "nullable": shape.nullable})
    };
    let key = |place: &i64| {
        let index = usize::try_from(place.unsigned_abs()).ok().and_then(|place| place.checked_sub(1));
        let shape = index
            .and_then(|index| columns.get(index))
            .ok_or_else(|| format!("order key {place}: a column's place from 1 expected"))?;
        let direction = if *place < 0 { "descending" } else { "ascending" };
        Ok(json!({"column": shape.column.name, "direction": direction}))
    };
    let keys = arrangement.order.iter().map(key).collect::<Result<Vec<_>, String>>()?;
    let mut contract = json!({
        "version": 1,
        "columns": columns.iter().map(column).collect::<Vec<_>>(),
        "match": "name",
        "rows": "bag",
        "empty_ok": arrangement.empty_ok,
    });
    match arrangement.top {
        Some(k) => contract["top"] = json!({"k": k, "keys": keys}),
        None if !keys.is_empty() => contract["order"] = keys.into(),
        None => {}
    }
    Ok(contract)
}
