//! The contract that a task grants: what the agent may see and write.

use std::fmt::Write as _;

use crate::generate::METRICS_TABLE;
use crate::shape::Shape;
use crate::terms::Carry;

/// The agent's contract as TOML: every table, without private columns (unless revealed) and
/// hidden ones; write grants as the carry says.
pub(crate) fn agent(name: &str, shape: &Shape, carry: &Carry) -> Result<String, String> {
    let mut text = format!("[contract]\nname = {}\n", quoted(name));
    for path in carry.reveal.iter().chain(&carry.hide) {
        let known = path.split_once('.').is_some_and(|(table, column)| {
            let table = shape.tables.iter().find(|shape| shape.name == table);
            table.is_some_and(|table| table.index(column).is_ok())
        });
        if !known {
            return Err(format!("`{path}`: a `table.column` of the schema expected"));
        }
    }
    let mut tables: Vec<_> = shape.tables.iter().collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    for table in tables {
        let seen = |column: &&crate::shape::ColumnShape| {
            let path = format!("{}.{}", table.name, column.name);
            !carry.hide.contains(&path) && (!column.private || carry.reveal.contains(&path))
        };
        let columns: Vec<_> = table.columns.iter().filter(seen).map(|c| quoted(&c.name)).collect();
        entry(&mut text, "read", &table.name, &format!("columns = [{}]", columns.join(", ")));
    }
    entry(&mut text, "read", METRICS_TABLE, "columns = [\"*\"]");
    for (table, write) in &carry.write {
        let list = |items: &[String]| items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ");
        let rest = format!("verbs = [{}]\ncolumns = [{}]", list(&write.verbs), list(&write.columns));
        entry(&mut text, "write", table, &rest);
    }
    text.push_str(
        "\n[budget]\nstatements = 120\nrows_scanned = 5_000_000\nrows_returned = 20_000\nbytes_returned = \"2 MiB\"\n",
    );
    Ok(text)
}

/// The verifier's contract: everything where it judges the final state, else nothing.
pub(crate) fn verifier(name: &str, sees_state: bool) -> String {
    let mut text = format!("[contract]\nname = {}\n", quoted(name));
    if sees_state {
        entry(&mut text, "read", "*", "columns = [\"*\"]");
    }
    text
}

fn entry(text: &mut String, section: &str, table: &str, rest: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n[[{section}]]\ntable = {}\n{rest}", quoted(table));
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
