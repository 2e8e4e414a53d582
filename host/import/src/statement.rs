//! Statements of a foreign SQL file, one by one: what each does to the database being read.

use tribunal_protocol::Value;

use crate::constant::{Scope, read_value};
use crate::cursor::{Cursor, Reading};
use crate::draft::Draft;
use crate::table;
use crate::token::{Lexer, Token, TokenKind};

/// Reads all statements of a file into `draft`. What cannot be read becomes a problem with its
/// line; reading goes on with the next statement.
pub(crate) fn read_file(draft: &mut Draft, file: &str, source: &str) {
    let mut lexer = Lexer::new(source);
    loop {
        let statement = match next_statement(&mut lexer) {
            Ok(Some(statement)) => statement,
            Ok(None) => return,
            Err(error) => {
                draft.problem(file, error.line, None, error.what.to_owned());
                // Nothing after this can be told apart from the inside of a string.
                let what = "nothing after this line could be read".to_owned();
                draft.problem(file, error.line, None, what);
                break_all(draft);
                return;
            }
        };
        read_statement(draft, file, &statement, &mut lexer);
    }
}

/// After an unfinished string any table may lack rows: none can be trusted.
fn break_all(draft: &mut Draft) {
    let reason = draft.problems.last().cloned();
    for key in draft.tables.keys() {
        if let Some(reason) = &reason {
            let entry = draft.broken.entry(key.clone());
            entry.or_insert_with(|| reason.clone());
        }
    }
}

/// The tokens up to the next `;`; none at the end of the file.
fn next_statement<'a>(lexer: &mut Lexer<'a>) -> Result<Option<Vec<Token<'a>>>, crate::token::TokenError> {
    let mut tokens: Vec<Token<'a>> = Vec::new();
    while let Some(token) = lexer.next_token()? {
        if token.is_symbol(";") {
            if tokens.is_empty() {
                continue;
            }
            return Ok(Some(tokens));
        }
        // A line of psql's own, such as `\connect db`.
        if tokens.is_empty() && token.is_symbol("\\") {
            lexer.skip_line();
            continue;
        }
        tokens.push(token);
    }
    Ok((!tokens.is_empty()).then_some(tokens))
}

/// What a statement did.
enum Done {
    /// It was read.
    Read,
    /// It was left out: it changes no answer.
    LeftOut(&'static str),
}

/// Why a statement was not read, and which table that breaks.
struct Unreadable {
    table: Option<String>,
    line: Option<u32>,
    why: String,
}

impl From<String> for Unreadable {
    fn from(why: String) -> Unreadable {
        Unreadable { table: None, line: None, why }
    }
}

fn read_statement<'a>(draft: &mut Draft, file: &str, tokens: &[Token<'a>], lexer: &mut Lexer<'a>) {
    let mut cursor = Cursor::new(tokens);
    let line = cursor.line();
    match dispatch(draft, file, &mut cursor, lexer) {
        Ok(Done::Read) => {}
        Ok(Done::LeftOut(why)) => {
            let what = format!("{}: {why}", summary(tokens));
            draft.note(file, line, None, what);
        }
        Err(unreadable) => {
            let at = unreadable.line.unwrap_or(line);
            let what = format!("{}: {}", summary(tokens), unreadable.why);
            draft.problem(file, at, unreadable.table.as_deref(), what);
        }
    }
}

/// The first words of a statement, for messages.
fn summary(tokens: &[Token<'_>]) -> String {
    let words = tokens.iter().take_while(|token| token.is_name() || token.is_symbol("."));
    let shown: Vec<&str> = words.take(7).map(|token| token.text.as_ref()).collect();
    let text = shown.join(" ").replace(" . ", ".");
    match text.is_empty() {
        true => "a statement".to_owned(),
        false => text,
    }
}

/// Statements that change no answer, by their first words.
const LEFT_OUT: [(&[&str], &str); 22] = [
    (&["set"], "settings of a session"),
    (&["reset"], "settings of a session"),
    (&["select"], "changes nothing"),
    (&["begin"], "all rows are kept"),
    (&["start", "transaction"], "all rows are kept"),
    (&["commit"], "all rows are kept"),
    (&["end"], "all rows are kept"),
    (&["pragma"], "settings of a session"),
    (&["analyze"], "statistics"),
    (&["vacuum"], "storage"),
    (&["grant"], "rights come from contracts"),
    (&["revoke"], "rights come from contracts"),
    (&["create", "schema"], "prefixes are dropped"),
    (&["drop", "schema"], "prefixes are dropped"),
    (&["create", "database"], "one database per folder"),
    (&["create", "extension"], "functions only"),
    (&["create", "sequence"], "columns are numbered from 1"),
    (&["alter", "sequence"], "columns are numbered from 1"),
    (&["create", "index"], "speed only"),
    (&["create", "unique", "index"], "speed, and what may be written"),
    (&["alter", "index"], "speed only"),
    (&["comment", "on", "extension"], "no table"),
];

fn dispatch<'a>(
    draft: &mut Draft,
    file: &str,
    cursor: &mut Cursor<'_, 'a>,
    lexer: &mut Lexer<'a>,
) -> Result<Done, Unreadable> {
    for (words, why) in LEFT_OUT {
        if cursor.phrase(words) {
            return Ok(Done::LeftOut(why));
        }
    }
    if cursor.word("create") {
        return create(draft, file, cursor);
    }
    if cursor.phrase(&["insert", "into"]) {
        return on_table(draft, cursor, insert).map(|()| Done::Read);
    }
    if cursor.word("copy") {
        // The lines are taken even where the statement itself is refused.
        let from_here = cursor.rest().iter().any(|token| token.is_word("stdin"));
        let lines = from_here.then(|| lexer.copy_lines()).transpose();
        return on_table(draft, cursor, |draft, name, cursor| {
            let lines = lines.map_err(|error| error.what.to_owned())?;
            copy(draft, name, cursor, lines)
        })
        .map(|()| Done::Read);
    }
    if cursor.phrase(&["alter", "table"]) {
        cursor.phrase(&["if", "exists"]);
        cursor.word("only");
        let mut left_out = false;
        on_table(draft, cursor, |draft, name, cursor| {
            left_out = table::alter(draft, name, cursor)?;
            Ok(())
        })?;
        return match left_out {
            true => Ok(Done::LeftOut("changes no answer")),
            false => Ok(Done::Read),
        };
    }
    if cursor.phrase(&["comment", "on"]) {
        return comment(draft, cursor);
    }
    if cursor.phrase(&["drop", "table"]) {
        return drop_table(draft, cursor);
    }
    if cursor.phrase(&["delete", "from"]) || cursor.word("update") || cursor.word("truncate") {
        cursor.word("table");
        cursor.word("only");
        let refuse = |_: &mut Draft, _: &str, _: &mut Cursor<'_, 'a>| {
            Err(Unreadable::from("rows that are changed after they were written".to_owned()))
        };
        return on_table(draft, cursor, refuse).map(|()| Done::Read);
    }
    Err("a statement that has no form here".to_owned().into())
}

/// Reads a table's name and does `then` with it. A failure breaks that table.
fn on_table<'t, 'a, F>(draft: &mut Draft, cursor: &mut Cursor<'t, 'a>, then: F) -> Result<(), Unreadable>
where
    F: FnOnce(&mut Draft, &str, &mut Cursor<'t, 'a>) -> Result<(), Unreadable>,
{
    let (prefix, name) = cursor.qualified()?;
    draft.prefixes.extend(prefix.iter().map(|p| p.to_lowercase()));
    then(draft, &name, cursor).map_err(|unreadable| Unreadable { table: Some(name), ..unreadable })
}

fn create<'a>(draft: &mut Draft, file: &str, cursor: &mut Cursor<'_, 'a>) -> Result<Done, Unreadable> {
    if cursor.word("type") {
        let (_, name) = cursor.qualified()?;
        if !cursor.phrase(&["as", "enum"]) {
            return Err("only enumeration types have a form here".to_owned().into());
        }
        draft.enumerations.push(name);
        return Ok(Done::Read);
    }
    let _ = cursor.phrase(&["or", "replace"]);
    let _ = cursor.word("temporary") || cursor.word("temp") || cursor.word("unlogged");
    if cursor.word("view") || cursor.phrase(&["materialized", "view"]) {
        cursor.phrase(&["if", "not", "exists"]);
        let refuse = |_: &mut Draft, _: &str, _: &mut Cursor<'_, 'a>| {
            Err(Unreadable::from("a view has no form here".to_owned()))
        };
        return on_table(draft, cursor, refuse).map(|()| Done::Read);
    }
    if cursor.word("function") || cursor.word("procedure") {
        return Ok(Done::LeftOut("functions of its own are not kept"));
    }
    if !cursor.word("table") {
        return Err("a statement that has no form here".to_owned().into());
    }
    cursor.phrase(&["if", "not", "exists"]);
    on_table(draft, cursor, |draft, name, cursor| Ok(table::create(draft, file, name, cursor)?)).map(|()| Done::Read)
}

/// What follows `INSERT INTO name`.
fn insert(draft: &mut Draft, name: &str, cursor: &mut Cursor<'_, '_>) -> Result<(), Unreadable> {
    let (clock, enumerations) = (draft.clock, draft.enumerations.clone());
    let scope = Scope { clock, enumerations: &enumerations };
    let table = draft.table(name)?;
    let opens = cursor.peek().is_some_and(|token| token.is_symbol("("));
    let names = if opens { Some(cursor.names()?) } else { None };
    let mut places = table.places(names.as_deref())?;
    let _ = cursor.phrase(&["overriding", "system", "value"]) || cursor.phrase(&["overriding", "user", "value"]);
    if !cursor.word("values") {
        return Err("only INSERT .. VALUES has a form here".to_owned().into());
    }
    loop {
        let line = cursor.line();
        let at = |why: String| Unreadable { table: None, line: Some(line), why };
        let given = read_row(cursor, scope).map_err(at)?;
        // Without a list of columns a row may be shorter than the table.
        if names.is_none() && given.len() < places.len() {
            places.truncate(given.len());
        }
        table.push(&places, given).map_err(at)?;
        if !cursor.symbol(",") {
            break;
        }
    }
    if !cursor.is_done() {
        return Err(cursor.expected("`,` or `;`").into());
    }
    Ok(())
}

/// `(value, DEFAULT, ..)`; none stands for DEFAULT.
fn read_row(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>) -> Reading<Vec<Option<Value>>> {
    cursor.expect_symbol("(")?;
    let mut row = Vec::new();
    loop {
        row.push(match cursor.word("default") {
            true => None,
            false => Some(read_value(cursor, scope)?),
        });
        if !cursor.symbol(",") {
            break;
        }
    }
    cursor.expect_symbol(")")?;
    Ok(row)
}

/// What follows `COPY name`; `lines` are those after the statement, in PostgreSQL's text format.
fn copy(
    draft: &mut Draft,
    name: &str,
    cursor: &mut Cursor<'_, '_>,
    lines: Option<Vec<(u32, &str)>>,
) -> Result<(), Unreadable> {
    let opens = cursor.peek().is_some_and(|token| token.is_symbol("("));
    let names = if opens { Some(cursor.names()?) } else { None };
    let (true, Some(lines)) = (cursor.phrase(&["from", "stdin"]), lines) else {
        return Err("only COPY .. FROM stdin has a form here".to_owned().into());
    };
    if !cursor.is_done() {
        return Err(cursor.expected("`;` (only the plain text format is read)").into());
    }
    let table = draft.table(name)?;
    let places = table.places(names.as_deref())?;
    for (line, text) in lines {
        let given = text.split('\t').map(copy_field).collect();
        table.push(&places, given).map_err(|why| Unreadable { table: None, line: Some(line), why })?;
    }
    Ok(())
}

/// One field of COPY's text format.
fn copy_field(field: &str) -> Option<Value> {
    if field == "\\N" {
        return Some(Value::Null);
    }
    let mut text = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        text.push(match escaped {
            None => c,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('v') => '\u{b}',
            Some(other) => other,
        });
    }
    Some(Value::Text(text))
}

/// `COMMENT ON TABLE t IS '..'`, `COMMENT ON COLUMN t.c IS '..'`.
fn comment(draft: &mut Draft, cursor: &mut Cursor<'_, '_>) -> Result<Done, Unreadable> {
    let on_column = cursor.word("column");
    if !on_column && !cursor.word("table") {
        return Ok(Done::LeftOut("no table"));
    }
    let (mut prefix, name) = cursor.qualified()?;
    cursor.expect_word("is")?;
    let text = match cursor.peek() {
        Some(token) if token.kind == TokenKind::Text => cursor.text()?,
        _ => String::new(),
    };
    if !on_column {
        draft.table(&name)?.schema.description = text;
        return Ok(Done::Read);
    }
    let owner = prefix.pop().ok_or_else(|| "table.column expected".to_owned())?;
    let table = draft.table(&owner)?;
    let mut columns = table.schema.columns.iter_mut();
    let column = columns.find(|column| column.name.eq_ignore_ascii_case(&name));
    column.ok_or_else(|| format!("no column `{name}`"))?.description = text;
    Ok(Done::Read)
}

/// Dropping what is not there is how scripts begin; anything else has no form here.
fn drop_table(draft: &mut Draft, cursor: &mut Cursor<'_, '_>) -> Result<Done, Unreadable> {
    cursor.phrase(&["if", "exists"]);
    loop {
        let (_, name) = cursor.qualified()?;
        if draft.tables.contains_key(&name.to_lowercase()) {
            return Err(Unreadable {
                table: Some(name),
                line: None,
                why: "a table that is dropped after it was created".to_owned(),
            });
        }
        if !cursor.symbol(",") {
            return Ok(Done::LeftOut("no such table before"));
        }
    }
}
