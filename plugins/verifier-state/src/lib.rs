//! Judges what the agent's work changed by what the golden calls change on the same start. The
//! expectation is `{"version": 1, "tables": [{"name", "ignore": ["id"], "removed": {table},
//! "added": {table}}]}`: rows that must be gone and rows that must be new, a changed row in both.
//! How the agent got there is of no matter.

mod expected;

use tribunal_kit::{Description, Difference, Evidence, Host, Submission, TableChanges, Verdict, Verifier};

use crate::expected::Expected;

/// The plugin.
#[derive(Debug)]
pub struct State;

const CONTRACT: &str = r#"[contract]
name = "verifier-state"

[[read]]
table = "*"
columns = ["*"]
"#;

impl Verifier for State {
    fn describe() -> Description {
        Description::new("verifier-state", env!("CARGO_PKG_VERSION")).contract(CONTRACT)
    }

    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict {
        judge(host, &evidence).unwrap_or_else(Verdict::Ungradable)
    }
}

tribunal_kit::verifier!(State);

/// # Errors
/// Why this cannot be judged.
fn judge<H: Host>(host: &H, evidence: &Evidence) -> Result<Verdict, String> {
    let expected = Expected::read(&evidence.expectation)?;
    if !matches!(evidence.submission, Submission::Done) {
        return Ok(Verdict::fail("not-done", None));
    }
    let changes = host.changes().map_err(|failure| failure.message)?;
    let mut changes: Vec<TableChanges> =
        changes.into_iter().filter(|change| !change.removed.is_empty() || !change.added.is_empty()).collect();
    if changes.is_empty() {
        return Ok(Verdict::fail("unchanged", None));
    }
    if let Some(change) = changes.iter().find(|change| expected.table(&change.name).is_none()) {
        let found = format!("{} rows removed, {} added", change.removed.rows, change.added.rows);
        return Ok(Verdict::fail("collateral", Some(whole(&change.name, "no change", &found))));
    }
    for table in &expected.tables {
        let place = changes.iter().position(|change| change.name == table.name);
        let difference = match place {
            Some(place) => table.differs(changes.swap_remove(place))?,
            None => Some(whole(&table.name, &table.summary(), "no change")),
        };
        if difference.is_some() {
            return Ok(Verdict::fail("state-mismatch", difference));
        }
    }
    Ok(Verdict::pass())
}

fn whole(table: &str, expected: &str, found: &str) -> Difference {
    Difference {
        path: format!("table {table}"),
        row: None,
        column: None,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

#[cfg(test)]
#[path = "../../kit/testing/sqlite.rs"]
mod sqlite;

#[cfg(test)]
mod tests;
