//! The canonical text of a contract.

use std::fmt::Write as _;

use tribunal_protocol::session::Verb;

use crate::contract::{Columns, Contract};
use crate::filter::Filter;
use crate::read::FORMAT;

impl Contract {
    /// The contract as TOML, in one canonical form: equal contracts have equal texts, and the
    /// text reads back as the same contract.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = format!("[contract]\nname = {}\nversion = {FORMAT}\n", quoted(&self.name()));
        for (table, grant) in &self.read {
            entry(&mut out, "read", table);
            columns(&mut out, &grant.columns);
            rows(&mut out, grant.rows.as_ref());
        }
        for (table, grants) in &self.write {
            if grants.is_empty() {
                entry(&mut out, "write", table);
                out.push_str("verbs = []\n");
            }
            for (verb, grant) in grants {
                entry(&mut out, "write", table);
                let _ = writeln!(out, "verbs = [\"{}\"]", verb.name());
                if *verb != Verb::Delete {
                    columns(&mut out, &grant.columns);
                }
                rows(&mut out, grant.rows.as_ref());
            }
        }
        let mut header = "\n[budget]\n";
        for (name, part) in self.budget.parts() {
            if let Some(number) = part {
                let _ = writeln!(out, "{header}{name} = {number}");
                header = "";
            }
        }
        out
    }
}

fn entry(out: &mut String, section: &str, table: &str) {
    let _ = writeln!(out, "\n[[{section}]]\ntable = {}", quoted(table));
}

fn columns(out: &mut String, columns: &Columns) {
    let names: Vec<String> = match columns {
        Columns::All => vec![quoted("*")],
        Columns::Only(names) => names.iter().map(|name| quoted(name)).collect(),
    };
    let _ = writeln!(out, "columns = [{}]", names.join(", "));
}

fn rows(out: &mut String, rows: Option<&Filter>) {
    if let Some(filter) = rows {
        let _ = writeln!(out, "rows = {}", quoted(&filter.to_string()));
    }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
