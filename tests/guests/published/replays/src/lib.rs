//! A verifier that runs every query of the agent again and passes if any of them gave the gold answer,
//! whatever was handed in: the fallback to executed statements, taken to its end.

#[path = "../../src/atom.rs"]
#[allow(dead_code)]
mod atom;

use std::collections::BTreeSet;

use serde_json::Value as Json;
use tribunal_kit::{Database as _, Description, Evidence, Host, Verdict, Verifier};

use crate::atom::{Atom, Rows, gold, submitted};

/// The plugin.
#[derive(Debug)]
pub struct Replays;

const CONTRACT: &str = r#"[contract]
name = "verifier-replays"

[[read]]
table = "*"
columns = ["*"]
"#;

impl Verifier for Replays {
    fn describe() -> Description {
        Description::new("verifier-replays", env!("CARGO_PKG_VERSION")).contract(CONTRACT)
    }

    fn verify<H: Host>(host: &H, evidence: Evidence) -> Verdict {
        let (wanted, _) = match gold(&evidence.expectation) {
            Ok(gold) => gold,
            Err(why) => return Verdict::Ungradable(why),
        };
        let Ok(session) = host.open("last") else { return Verdict::Ungradable("no session".to_owned()) };
        for call in &evidence.calls {
            let arguments: Json = serde_json::from_str(&call.arguments).unwrap_or_default();
            let Some(sql) = arguments.get("sql").and_then(Json::as_str) else { continue };
            if session.query(sql, &[]).is_ok_and(|table| rows(&submitted(&table)) == rows(&wanted)) {
                return Verdict::pass();
            }
        }
        Verdict::fail("no-such-call", None)
    }
}

tribunal_kit::verifier!(Replays);

fn rows(rows: &Rows) -> BTreeSet<Vec<String>> {
    rows.rows.iter().map(|row| row.iter().map(Atom::key).collect()).collect()
}
