//! The reference for states.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tribunal_episode::{Exhibit, Prepared};
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::session::TableChanges;
use tribunal_protocol::value::Value;

use super::Site;
use crate::sheet::Sheet;

/// Whether a state is not the golden one. Compares what was changed with
/// what the expectation says, rows as bags of texts, ignored columns left out.
pub(crate) fn wrong(site: &Site, exhibit: &Exhibit, prepared: &Prepared) -> bool {
    if !matches!(exhibit.submission, Submission::Done) {
        return true;
    }
    let first = prepared.snapshots()[site.instance].fork();
    let Ok(changes) = exhibit.last.changes_since(&first) else { return false };
    let tables = site.expectation.get("tables").and_then(Json::as_array).cloned().unwrap_or_default();
    let ignored: BTreeMap<String, Vec<String>> = tables
        .iter()
        .filter_map(|table| {
            let ignore = serde_json::from_value(table.get("ignore")?.clone()).ok()?;
            Some((table.get("name")?.as_str()?.to_owned(), ignore))
        })
        .collect();
    let expected: Option<Vec<TableChanges>> = tables.iter().map(read_changes).collect();
    let Some(expected) = expected else { return false };
    net(&expected, &ignored) != net(&changes, &ignored)
}

fn read_changes(table: &Json) -> Option<TableChanges> {
    let part = |name: &str| serde_json::from_value(table.get(name)?.clone()).ok();
    Some(TableChanges {
        name: table.get("name")?.as_str()?.to_owned(),
        removed: part("removed")?,
        added: part("added")?,
    })
}

/// For every table and row how many more of it there are than before.
fn net(changes: &[TableChanges], ignored: &BTreeMap<String, Vec<String>>) -> BTreeMap<(String, Vec<String>), i64> {
    let mut net = BTreeMap::new();
    for change in changes {
        for (table, sign) in [(&change.added, 1), (&change.removed, -1)] {
            let sheet = Sheet::of(table);
            for row in &sheet.rows {
                let kept = sheet
                    .columns
                    .iter()
                    .zip(row)
                    .filter(|((name, _), _)| ignored.get(&change.name).is_none_or(|ignore| !ignore.contains(name)));
                let cells = kept.map(|((name, _), value)| format!("{name}={}", exact(value))).collect();
                *net.entry((change.name.clone(), cells)).or_insert(0) += sign;
            }
        }
    }
    net.retain(|_, count| *count != 0);
    net
}

/// A value as text that no other value has: NULL is not the text `NULL`, and 1.50 is 1.5.
fn exact(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Decimal(d) => format!("n{}", d.normalize()),
        Value::Integer(i) => format!("n{i}"),
        other => format!("v{other}"),
    }
}
