//! What the contract stopped, explained: for the author of a plugin or a task. No agent reads it.

use tribunal_contract::{Effective, Wanted};
use tribunal_engine::Tables;
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Code, Failure};

/// A statement as far as an explanation needs it.
struct Said<'a> {
    verb: Verb,
    /// The table that it changes.
    target: Option<&'a str>,
    /// Its words, each with whether it stands behind WHERE.
    words: Vec<(&'a str, bool)>,
}

impl<'a> Said<'a> {
    fn of(sql: &'a str) -> Said<'a> {
        let all = words(sql);
        let is = |word: &str, keyword: &str| word.eq_ignore_ascii_case(keyword);
        let behind = |keyword: &str| {
            let place = all.iter().position(|word| is(word, keyword))?;
            all.get(place + 1).copied()
        };
        let (verb, target) = match all.first() {
            Some(first) if is(first, "insert") => (Verb::Insert, behind("into")),
            Some(first) if is(first, "update") => (Verb::Update, behind("update")),
            Some(first) if is(first, "delete") => (Verb::Delete, behind("from")),
            _ => (Verb::Read, None),
        };
        let place = all.iter().position(|word| is(word, "where")).unwrap_or(all.len());
        let words = all.into_iter().enumerate().map(|(at, word)| (word, at > place)).collect();
        Said { verb, target, words }
    }
}

/// The words of a statement; texts in single quotes are none, names in double quotes are one.
fn words(sql: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let quoted = |quote: char| rest[1..].find(quote).map_or(rest.len(), |end| end + 1);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let taken = match first {
            '\'' => quoted('\''),
            '"' => {
                let end = quoted('"');
                words.push(&rest[1..end]);
                end
            }
            _ if is_word(first) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                words.push(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            _ => 0,
        };
        rest = rest[taken..].chars().next().map_or("", |last| &rest[taken + last.len_utf8()..]);
    }
    words
}

/// A contract, and all that is there.
#[derive(Clone, Copy)]
pub(crate) struct Hidden<'a> {
    pub(crate) contract: &'a Effective,
    pub(crate) tables: &'a Tables,
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn has(schema: &TableSchema, column: &str) -> bool {
    schema.columns.iter().any(|known| same(&known.name, column))
}

impl Hidden<'_> {
    /// Whether a statement names a table or column that exists and is not granted.
    pub(crate) fn is_named_in(self, sql: &str) -> bool {
        words(sql).into_iter().any(|word| self.hides(word))
    }

    fn hides(self, word: &str) -> bool {
        if self.contract.tables().any(|grant| same(&grant.known.name, word) || has(&grant.known, word)) {
            return false;
        }
        self.tables.schemas().any(|schema| same(&schema.name, word) || has(schema, word))
    }

    /// Why the contract stopped a statement: for everything that was tried, what is granted and
    /// the line that would allow it.
    pub(crate) fn explain(self, sql: &str, failure: &Failure) -> Vec<String> {
        let said = Said::of(sql);
        if failure.code == Code::Denied {
            return vec![self.denied(&said, failure)];
        }
        let hidden = said.words.iter().filter(|(word, _)| self.hides(word));
        hidden.flat_map(|(word, behind)| self.hidden(&said, word, *behind)).collect()
    }

    /// A name that is there, and unknown to the holder: of a table, or of a column of the tables
    /// that the statement names.
    fn hidden(self, said: &Said<'_>, word: &str, behind_where: bool) -> Vec<String> {
        let is_target = |table: &str| said.target.is_some_and(|target| same(target, table));
        if let Some(schema) = self.tables.schemas().find(|schema| same(&schema.name, word)) {
            let verb = if is_target(word) { said.verb } else { Verb::Read };
            return vec![self.why_not(&schema.name, None, verb)];
        }
        let owners: Vec<&TableSchema> = self.tables.schemas().filter(|schema| has(schema, word)).collect();
        let named = |schema: &&TableSchema| said.words.iter().any(|(other, _)| same(other, &schema.name));
        let mut chosen: Vec<&TableSchema> = owners.iter().copied().filter(named).collect();
        if chosen.is_empty() {
            chosen.extend(owners.first());
        }
        let sets = matches!(said.verb, Verb::Insert | Verb::Update) && !behind_where;
        let why = |schema: &TableSchema| {
            let column = schema.columns.iter().find(|column| same(&column.name, word))?;
            let verb = if sets && is_target(&schema.name) { said.verb } else { Verb::Read };
            Some(self.why_not(&schema.name, Some(&column.name), verb))
        };
        chosen.into_iter().filter_map(why).collect()
    }

    /// What is known and may not be done. The message names the column, where it is about one.
    fn denied(self, said: &Said<'_>, failure: &Failure) -> String {
        let no_contract = || format!("{}; no contract allows it", failure.message);
        let Some(grant) = said.target.and_then(|target| self.contract.find(target)) else { return no_contract() };
        let table = grant.schema.name.as_str();
        let Some(rule) = grant.rule(said.verb) else { return self.why_not(table, None, said.verb) };
        if failure.message.starts_with("the statement touches ") {
            return self.why_not(table, None, said.verb);
        }
        let in_message = words(&failure.message);
        let column = [in_message.last(), in_message.get(1)].into_iter().flatten();
        let place = column.filter_map(|name| grant.schema.column_index(name)).next();
        match place {
            Some(place) => {
                let verb = if rule.columns.contains(&place) { Verb::Read } else { said.verb };
                self.why_not(table, Some(&grant.schema.columns[place].name), verb)
            }
            None => no_contract(),
        }
    }

    fn why_not(self, table: &str, column: Option<&str>, verb: Verb) -> String {
        self.contract.why_not(Wanted { table, column, verb })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_words_and_quoted_names_are_one() {
        assert_eq!(
            words("SELECT \"a b\", x_1 FROM t WHERE n = 'se''cret' AND é>2"),
            ["SELECT", "a b", "x_1", "FROM", "t", "WHERE", "n", "AND", "é", "2"]
        );
        // What is not closed ends with the statement.
        assert_eq!(words("SELECT 'x"), ["SELECT"]);
        assert_eq!(words("\"x"), ["x"]);
        assert_eq!(words("\""), [""]);
        assert_eq!(words("é'"), ["é"]);
    }

    #[test]
    fn the_verb_and_its_table_are_found() {
        let said = |sql: &'static str| {
            let said = Said::of(sql);
            (said.verb, said.target, said.words.iter().filter(|(_, behind)| *behind).count())
        };
        assert_eq!(said("INSERT INTO t (a) VALUES (1)"), (Verb::Insert, Some("t"), 0));
        assert_eq!(said("update T set a = 1 where b = 2"), (Verb::Update, Some("T"), 2));
        assert_eq!(said("DELETE FROM t"), (Verb::Delete, Some("t"), 0));
        assert_eq!(said("SELECT a FROM t WHERE b"), (Verb::Read, None, 1));
        assert_eq!(said(""), (Verb::Read, None, 0));
    }
}
