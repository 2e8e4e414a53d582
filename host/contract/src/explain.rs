//! What a contract allows, and why it does not allow something: for authors, never for agents.

use tribunal_protocol::session::Verb;

use crate::effective::{Effective, RowRule, TableGrant};

/// One line of an explanation: what one verb may do with one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainRow {
    /// The table.
    pub table: String,
    /// The verb.
    pub verb: Verb,
    /// The columns that it reaches; empty for DELETE.
    pub columns: Vec<String>,
    /// The columns that it does not reach; empty for DELETE.
    pub hidden: Vec<String>,
    /// The row filter; none: all rows.
    pub rows: Option<String>,
}

/// Something that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The table.
    pub table: &'a str,
    /// The column; none where the table as a whole was meant.
    pub column: Option<&'a str>,
    /// The verb.
    pub verb: Verb,
}

impl Effective {
    /// What is allowed, table by table and verb by verb.
    #[must_use]
    pub fn explain(&self) -> Vec<ExplainRow> {
        let of_table = |grant: &TableGrant| {
            let verbs = grant.verbs();
            let rows = verbs.into_iter().map(|verb| explain_verb(grant, verb));
            rows.collect::<Vec<_>>()
        };
        self.tables().flat_map(of_table).collect()
    }

    /// Why something is not allowed: what was tried, what is granted, and the line of the
    /// contract that would allow it.
    #[must_use]
    pub fn why_not(&self, wanted: Wanted<'_>) -> String {
        let Wanted { table, column, verb } = wanted;
        let object = column.map_or_else(|| table.to_owned(), |column| format!("{table}.{column}"));
        let tried = format!("{} of {object} was tried", verb.name());
        let lines: Vec<String> =
            self.explain().iter().filter(|row| row.table == table).map(ExplainRow::to_line).collect();
        let granted = match lines.len() {
            0 => format!("contract {:?} grants nothing of {table}", self.name()),
            _ => format!("contract {:?} grants {}", self.name(), lines.join("; ")),
        };
        format!("{tried}; {granted}; {}", self.remedy(wanted))
    }

    fn remedy(&self, wanted: Wanted<'_>) -> String {
        let Wanted { table, column, verb } = wanted;
        let grant = self.table(table);
        let has_entry = grant.is_some_and(|grant| grant.verbs().contains(&verb));
        to_allow(table, verb, column.as_slice(), has_entry)
    }
}

/// What to write into a contract to allow a verb on more columns of an entry, or, where none is
/// named, on more rows of it. `has_entry`: the contract grants the verb there already.
pub(crate) fn to_allow(entry: &str, verb: Verb, columns: &[&str], has_entry: bool) -> String {
    let section = if verb == Verb::Read { "read" } else { "write" };
    let verbs = match verb {
        Verb::Read => String::new(),
        Verb::Insert | Verb::Update | Verb::Delete => format!(" verbs = [\"{}\"]", verb.name()),
    };
    let place = format!("[[{section}]] table = \"{entry}\"{verbs}");
    let named = columns.iter().map(|column| format!("\"{column}\"")).collect::<Vec<_>>().join(", ");
    match (named.as_str(), has_entry) {
        ("", true) => format!("to reach more rows, widen `rows` of {place}"),
        (_, true) => format!("to allow it, add {named} to `columns` of {place}"),
        (_, false) if verb == Verb::Delete => format!("to allow it, add {place}"),
        ("", false) => format!("to allow it, add {place} columns = [\"*\"]"),
        (_, false) => format!("to allow it, add {place} columns = [{named}]"),
    }
}

/// What a verb may do, as one line.
pub(crate) fn line(verb: &str, columns: &[String], rows: Option<&str>) -> String {
    let columns = if columns.is_empty() { String::new() } else { format!(" {}", columns.join(", ")) };
    let rows = rows.map(|rows| format!(" where {rows}"));
    format!("{verb}{columns}{}", rows.unwrap_or_default())
}

fn explain_verb(grant: &TableGrant, verb: Verb) -> ExplainRow {
    let (places, rows): (&[usize], Option<&RowRule>) = match (verb, grant.rule(verb)) {
        (Verb::Read, _) | (_, None) => (&grant.readable, grant.rows.as_ref()),
        (_, Some(rule)) => (&rule.columns, rule.rows.as_ref()),
    };
    let named = |reached: bool| {
        let columns = grant.schema.columns.iter().enumerate();
        columns
            .filter(|(place, _)| verb != Verb::Delete && places.contains(place) == reached)
            .map(|(_, column)| column.name.clone())
            .collect()
    };
    ExplainRow {
        table: grant.schema.name.clone(),
        verb,
        columns: named(true),
        hidden: named(false),
        rows: rows.map(|rule| rule.text.clone()),
    }
}

impl ExplainRow {
    /// The row as one line: `read id, total where voided = FALSE`.
    #[must_use]
    pub fn to_line(&self) -> String {
        line(self.verb.name(), &self.columns, self.rows.as_deref())
    }
}
