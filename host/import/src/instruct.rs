//! What an agent is told.

use std::fmt::Write as _;

use tribunal_compare::{Contract, Direction, Nulls};
use tribunal_protocol::task::AnswerColumn;

/// Longest glossary that is told with every question of its schema, in characters.
const MAX_GLOSSARY: usize = 4_000;

/// The instruction of a task: the question as asked, what its asker adds, and the form of the
/// answer, which gold alone would know otherwise.
pub(crate) fn instruction(
    question: &str,
    instructions: &str,
    glossary: &str,
    clock: &str,
    forms: &[(Vec<AnswerColumn>, Contract)],
) -> String {
    let mut text = question.trim().to_owned();
    for addition in [instructions.trim(), glossary.trim()] {
        if !addition.is_empty() && addition.len() <= MAX_GLOSSARY {
            let _ = write!(text, "\n{addition}");
        }
    }
    let mut lists: Vec<String> = Vec::new();
    for (columns, _) in forms {
        let list = listed(columns);
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    if let Some(first) = lists.first() {
        let _ = write!(text, "\nAnswer with these columns, in this order: {first}.");
    }
    if lists.len() > 1 {
        let others = lists.get(1..).unwrap_or(&[]).join("; or: ");
        let _ = write!(text, " Instead of them may stand: {others}.");
    }
    if let Some((_, contract)) = forms.first() {
        text.push_str(&order(contract));
    }
    let _ = write!(text, " Today is {clock}.");
    text
}

fn listed(columns: &[AnswerColumn]) -> String {
    let column = |column: &AnswerColumn| format!("{} ({})", column.name, column.kind);
    columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Which order and cut counts.
fn order(contract: &Contract) -> String {
    let keys = match (&contract.order, &contract.top) {
        (order, _) if !order.is_empty() => order,
        (_, Some(top)) => &top.keys,
        _ => return " The order of the rows does not count.".to_owned(),
    };
    let key = |key: &tribunal_compare::Key| {
        let way = match key.direction {
            Direction::Ascending => "ascending",
            Direction::Descending => "descending",
        };
        let nulls = match key.nulls {
            Nulls::First => "first",
            Nulls::Last => "last",
        };
        let nullable = contract.columns.iter().any(|rule| rule.name == key.column && rule.nullable);
        match nullable {
            true => format!("{} {way} (NULL {nulls})", key.column),
            false => format!("{} {way}", key.column),
        }
    };
    let shown = keys.iter().map(key).collect::<Vec<_>>().join(", ");
    match (contract.order.is_empty(), &contract.top) {
        (_, None) => format!(" The order of the rows counts: by {shown}."),
        (false, Some(top)) => format!(" The first {} rows by {shown}, in that order.", top.k),
        (true, Some(top)) => format!(" The first {} rows by {shown}, in any order.", top.k),
    }
}
