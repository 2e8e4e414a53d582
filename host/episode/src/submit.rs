//! What an agent hands in.

use serde_json::Value as Json;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::policy::{Action, Observation, Turn, names};
use tribunal_protocol::table::Table;
use tribunal_protocol::task::{AnswerColumn, AnswerForm, Task};
use tribunal_protocol::value::{Kind, Value, exact_integer};

use crate::run::HandedIn;

/// How large an answer is judged, in bytes. The size of an answer is the agent's to choose: one
/// that is more work than its verifier can do would void what it fails.
pub(crate) const ANSWER_BYTES: u64 = 512 << 10;
/// What a cell counts beside its bytes; NULL has none, and is compared all the same.
const CELL_BYTES: u64 = 8;
/// Fuel units that a verifier gets for each of those bytes. To sort and compare rows that are all
/// alike, which is the most work that there is, takes a third of that.
const FUEL_PER_BYTE: u64 = 2_000;

fn size(table: &Table) -> u64 {
    let cells = (table.rows as u64).saturating_mul(table.columns.len() as u64);
    table.bytes().saturating_add(cells.saturating_mul(CELL_BYTES))
}

/// Whether an answer is small enough to be judged.
pub(crate) fn judgeable(table: &Table) -> bool {
    size(table) <= ANSWER_BYTES
}

/// The fuel that a verifier gets for a submission, beside what every call has.
pub(crate) fn fuel_for(submission: &Submission) -> u64 {
    match submission {
        Submission::Answer(table) => size(table).saturating_mul(FUEL_PER_BYTE),
        Submission::Done | Submission::Abstention { .. } => 0,
    }
}

fn text(action: &Action, field: &str) -> String {
    action.arguments.get(field).and_then(Json::as_str).unwrap_or_default().to_owned()
}

/// The abstention in an action.
pub(crate) fn abstention(action: &Action) -> Submission {
    Submission::Abstention { reason: text(action, "reason"), missing: text(action, "missing") }
}

/// The answer in an action: an earlier call's result, or a table where the task takes one.
pub(crate) fn answer(task: &Task, turns: &[Turn], action: &Action) -> Result<HandedIn, Failure> {
    let call = action.arguments.get("call").and_then(Json::as_u64);
    let rows = action.arguments.get("rows").and_then(Json::as_array);
    let (table, call) = match (call, rows) {
        (Some(_), Some(_)) => return Err(Failure::invalid("submit: give `call` or `columns` and `rows`, not both")),
        (Some(call), None) => {
            let index = usize::try_from(call).unwrap_or(usize::MAX).saturating_sub(1);
            (result_of(turns, index)?, Some(index))
        }
        (None, Some(rows)) => (own_table(task, action, rows)?, None),
        (None, None) => {
            return Err(Failure::invalid("submit: give `call`, the number of the call whose result is the answer"));
        }
    };
    if !judgeable(&table) {
        let bytes = size(&table);
        return Err(Failure::quota(format!(
            "submit: the answer counts {bytes} bytes, and at most {ANSWER_BYTES} are judged; hand in only what is asked for"
        )));
    }
    check_kinds(&task.answer, &table)?;
    Ok(HandedIn { submission: Submission::Answer(table), call })
}

fn result_of(turns: &[Turn], index: usize) -> Result<Table, Failure> {
    let number = index.saturating_add(1);
    let Some(turn) = turns.get(index) else {
        return Err(Failure::invalid(format!("submit: there is no call {number} yet; {} were made", turns.len())));
    };
    match &turn.observation {
        Observation::Result { table: Some(table), .. } if !names::ALL.contains(&turn.action.tool.as_str()) => {
            Ok(table.clone())
        }
        _ => Err(Failure::invalid(format!("submit: call {number} ({}) gave no table", turn.action.tool))),
    }
}

fn own_table(task: &Task, action: &Action, rows: &[Json]) -> Result<Table, Failure> {
    if task.answer_form == AnswerForm::Call {
        return Err(Failure::unsupported(
            "submit: this task takes the result of a call, so that it can be run again on other data; give `call`",
        ));
    }
    let named = action.arguments.get("columns").and_then(Json::as_array);
    let columns: Vec<&str> = named.into_iter().flatten().filter_map(Json::as_str).collect();
    let kind = |name: &str| {
        let wanted = task.answer.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        wanted.map_or(Kind::Text, |column| column.kind)
    };
    let columns: Vec<(String, Kind)> = columns.into_iter().map(|name| (name.to_owned(), kind(name))).collect();
    let read_row = |(index, row): (usize, &Json)| {
        let cells = row.as_array().map(Vec::as_slice).unwrap_or_default();
        if cells.len() != columns.len() {
            return Err(Failure::invalid(format!(
                "submit: row {index}: {} cells expected, {} given",
                columns.len(),
                cells.len()
            )));
        }
        let read = |(cell, (name, kind)): (&Json, &(String, Kind))| {
            Value::from_json(*kind, cell)
                .map_err(|why| Failure::invalid(format!("submit: column {name} row {index}: {why}")))
        };
        cells.iter().zip(&columns).map(read).collect::<Result<Vec<_>, _>>()
    };
    let rows: Vec<Vec<Value>> = rows.iter().enumerate().map(read_row).collect::<Result<_, _>>()?;
    Table::from_rows(&columns, &rows).map_err(|why| Failure::invalid(format!("submit: {why}")))
}

/// Says at once that a column has a kind that can never be right, so that nobody loses a task to
/// a format. Only what the briefing already tells is used.
fn check_kinds(wanted: &[AnswerColumn], table: &Table) -> Result<(), Failure> {
    for column in wanted {
        let found = table.columns.iter().find(|found| found.name.eq_ignore_ascii_case(&column.name));
        let Some(found) = found else { continue };
        let integral = || {
            (0..table.rows).all(|row| match found.value(row) {
                Value::Float(x) => exact_integer(x).is_some(),
                Value::Decimal(d) => d.fract().is_zero(),
                _ => true,
            })
        };
        let lawful = match (column.kind, found.kind()) {
            (a, b) if a == b => true,
            (_, Kind::Unknown) | (Kind::Unknown, _) => true,
            (Kind::Float | Kind::Decimal, Kind::Integer | Kind::Float | Kind::Decimal) => true,
            (Kind::Date, Kind::Timestamp) | (Kind::Timestamp, Kind::Date) => true,
            (Kind::Integer, Kind::Float | Kind::Decimal) => integral(),
            _ => false,
        };
        if !lawful {
            return Err(Failure::invalid(format!(
                "submit: column {}: {} expected, {} given",
                column.name,
                column.kind,
                found.kind()
            )));
        }
    }
    Ok(())
}
