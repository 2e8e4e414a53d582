//! `CREATE TABLE` and `ALTER TABLE`.

use tribunal_protocol::schema::{ColumnSchema, ForeignKey};
use tribunal_protocol::{Kind, Value};

use crate::constant::{Scope, read_value};
use crate::cursor::{Cursor, Reading};
use crate::draft::{ColumnDraft, Draft, Fill, TableDraft, exact};
use crate::types::{ColumnType, read_type};

/// What reading a table's declaration finds besides the table.
#[derive(Debug, Default)]
struct Found {
    /// Things left out that change no answer, with their line.
    notes: Vec<(u32, String)>,
}

/// Reads what follows `CREATE TABLE name`: `( column | constraint, .. )` and table options.
pub(crate) fn create(draft: &mut Draft, file: &str, name: &str, cursor: &mut Cursor<'_, '_>) -> Reading<()> {
    if draft.tables.contains_key(&name.to_lowercase()) {
        return Err("the table is created twice".to_owned());
    }
    let mut table = TableDraft { line: cursor.line(), ..TableDraft::default() };
    table.schema.name = name.to_owned();
    let mut found = Found::default();
    cursor.expect_symbol("(")?;
    loop {
        let scope = Scope { clock: draft.clock, enumerations: &draft.enumerations };
        if is_constraint(cursor) {
            read_constraint(cursor, &mut table, &mut found)?;
        } else {
            read_column(cursor, scope, &mut table, &mut found)?;
        }
        if !cursor.symbol(",") {
            break;
        }
    }
    cursor.expect_symbol(")")?;
    if cursor.word("inherits") || cursor.phrase(&["partition", "of"]) {
        return Err("inheritance and partitions have no form here".to_owned());
    }
    settle(&mut table)?;
    for (line, what) in found.notes {
        draft.note(file, line, Some(name), what);
    }
    draft.tables.insert(name.to_lowercase(), table);
    Ok(())
}

/// Gives keys their exact column names and makes primary keys NOT NULL.
fn settle(table: &mut TableDraft) -> Reading<()> {
    let schema = &mut table.schema;
    let missing = || "a key names a column that the table does not have".to_owned();
    schema.primary_key = exact(schema, &schema.primary_key).ok_or_else(missing)?;
    let unique = schema.unique.iter().map(|key| exact(schema, key));
    schema.unique = unique.collect::<Option<_>>().ok_or_else(missing)?;
    for column in &mut schema.columns {
        if schema.primary_key.contains(&column.name) {
            column.nullable = false;
        }
    }
    Ok(())
}

fn is_constraint(cursor: &Cursor<'_, '_>) -> bool {
    let words = ["constraint", "primary", "unique", "foreign", "check", "exclude", "like", "key"];
    let Some(token) = cursor.peek() else {
        return false;
    };
    // A column may be called `key` or `like`; then its type follows, not a parenthesis.
    let opens = |ahead: usize| cursor.peek_at(ahead).is_some_and(|next| next.is_symbol("("));
    words.iter().any(|word| token.is_word(word))
        && (opens(1) || opens(2) || token.is_word("constraint") || token.is_word("exclude"))
}

/// `[CONSTRAINT name] PRIMARY KEY (..) | UNIQUE (..) | FOREIGN KEY (..) REFERENCES .. | CHECK (..)`.
fn read_constraint(cursor: &mut Cursor<'_, '_>, table: &mut TableDraft, found: &mut Found) -> Reading<()> {
    let line = cursor.line();
    if cursor.word("constraint") {
        cursor.name()?;
    }
    if cursor.phrase(&["primary", "key"]) {
        if !table.schema.primary_key.is_empty() {
            return Err("the table has two primary keys".to_owned());
        }
        table.schema.primary_key = cursor.names()?;
    } else if cursor.word("unique") {
        cursor.word("key");
        let key = cursor.names()?;
        table.schema.unique.push(key);
    } else if cursor.phrase(&["foreign", "key"]) {
        let columns = cursor.names()?;
        cursor.expect_word("references")?;
        let key = read_reference(cursor, columns)?;
        table.schema.foreign_keys.push(key);
    } else if cursor.word("check") {
        cursor.skip_parentheses()?;
        found.notes.push((line, "CHECK: only restricts what may be written".to_owned()));
    } else {
        return Err(cursor.expected("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK"));
    }
    skip_key_options(cursor);
    Ok(())
}

/// What may follow a key and changes no answer.
fn skip_key_options(cursor: &mut Cursor<'_, '_>) {
    while cursor.phrase(&["not", "deferrable"])
        || cursor.word("deferrable")
        || cursor.phrase(&["initially", "deferred"])
        || cursor.phrase(&["initially", "immediate"])
        || cursor.phrase(&["not", "valid"])
        || cursor.phrase(&["no", "inherit"])
    {}
}

/// What follows REFERENCES: `table [(columns)] [ON DELETE ..] [ON UPDATE ..] [MATCH ..]`.
fn read_reference(cursor: &mut Cursor<'_, '_>, columns: Vec<String>) -> Reading<ForeignKey> {
    let (_, table) = cursor.qualified()?;
    let opens = cursor.peek().is_some_and(|token| token.is_symbol("("));
    let references = if opens { cursor.names()? } else { Vec::new() };
    loop {
        if cursor.phrase(&["on", "delete"]) || cursor.phrase(&["on", "update"]) {
            if !(cursor.phrase(&["no", "action"])
                || cursor.phrase(&["set", "null"])
                || cursor.phrase(&["set", "default"])
                || cursor.word("cascade")
                || cursor.word("restrict"))
            {
                return Err(cursor.expected("an action such as CASCADE"));
            }
        } else if cursor.word("match") {
            cursor.name()?;
        } else {
            break;
        }
    }
    skip_key_options(cursor);
    Ok(ForeignKey { columns, table, references })
}

fn read_column(
    cursor: &mut Cursor<'_, '_>,
    scope: Scope<'_>,
    table: &mut TableDraft,
    found: &mut Found,
) -> Reading<()> {
    let line = cursor.line();
    let name = cursor.name()?;
    let same = |column: &ColumnSchema| column.name.eq_ignore_ascii_case(&name);
    if table.schema.columns.iter().any(same) {
        return Err(format!("column `{name}` is declared twice"));
    }
    let at = |why: String| format!("column `{name}`: {why}");
    let declared = read_type(cursor, scope.enumerations).map_err(at)?;
    if let Some(remark) = declared.remark {
        found.notes.push((line, format!("column `{name}`: {remark}")));
    }
    let mut column = Settings {
        name: name.clone(),
        column_type: declared.column_type,
        nullable: !declared.serial,
        fill: match declared.serial {
            true => Fill::Serial { next: 1 },
            false => Fill::Constant(Value::Null),
        },
    };
    while read_column_option(cursor, scope, table, &mut column, found).map_err(at)? {}
    table.schema.columns.push(ColumnSchema {
        name,
        kind: column.column_type.kind(),
        nullable: column.nullable,
        description: String::new(),
    });
    table.columns.push(ColumnDraft { column_type: column.column_type, fill: column.fill });
    Ok(())
}

/// A column while its options are read.
struct Settings {
    name: String,
    column_type: ColumnType,
    nullable: bool,
    fill: Fill,
}

/// Reads one option of a column; says whether there was one.
fn read_column_option(
    cursor: &mut Cursor<'_, '_>,
    scope: Scope<'_>,
    table: &mut TableDraft,
    column: &mut Settings,
    found: &mut Found,
) -> Reading<bool> {
    let line = cursor.line();
    if cursor.word("constraint") {
        cursor.name()?;
    }
    if cursor.phrase(&["not", "null"]) {
        column.nullable = false;
    } else if cursor.word("null") || cursor.phrase(&["key"]) {
        // NULL is the default; MySQL's KEY after UNIQUE says nothing more.
    } else if cursor.phrase(&["primary", "key"]) {
        let _ = cursor.word("asc") || cursor.word("desc");
        cursor.word("autoincrement");
        if !table.schema.primary_key.is_empty() {
            return Err("the table has two primary keys".to_owned());
        }
        table.schema.primary_key = vec![column.name.clone()];
        // SQLite's `INTEGER PRIMARY KEY` numbers itself; PostgreSQL would refuse such a row.
        if column.column_type.kind() == Kind::Integer && column.fill == Fill::Constant(Value::Null) {
            column.fill = Fill::Serial { next: 1 };
        }
    } else if cursor.word("unique") {
        table.schema.unique.push(vec![column.name.clone()]);
    } else if cursor.word("default") {
        column.fill = read_default(cursor, scope, &column.column_type)?;
    } else if cursor.word("references") {
        let key = read_reference(cursor, vec![column.name.clone()])?;
        table.schema.foreign_keys.push(key);
    } else if cursor.word("check") {
        cursor.skip_parentheses()?;
        found.notes.push((line, "CHECK: only restricts what may be written".to_owned()));
    } else if cursor.word("collate") {
        let (_, collation) = cursor.qualified()?;
        let what = format!("column `{}`: COLLATE {collation} is not kept", column.name);
        found.notes.push((line, what));
    } else if cursor.word("generated") {
        column.fill = read_identity(cursor)?;
        column.nullable = false;
    } else {
        return match cursor.peek() {
            None => Ok(false),
            Some(token) if token.is_symbol(",") || token.is_symbol(")") => Ok(false),
            Some(_) => Err(cursor.expected("an option of the column, `,` or `)`")),
        };
    }
    skip_key_options(cursor);
    Ok(true)
}

/// What follows GENERATED: an identity is a serial; a computed column has no form here.
fn read_identity(cursor: &mut Cursor<'_, '_>) -> Reading<Fill> {
    let _ = cursor.word("always") || cursor.phrase(&["by", "default"]);
    cursor.expect_word("as")?;
    if !cursor.word("identity") {
        return Err("a computed column has no form here".to_owned());
    }
    if cursor.peek().is_some_and(|token| token.is_symbol("(")) {
        cursor.skip_parentheses()?;
    }
    Ok(Fill::Serial { next: 1 })
}

/// What follows DEFAULT. An expression that has no form here is unreadable only for rows that
/// need it.
fn read_default(cursor: &mut Cursor<'_, '_>, scope: Scope<'_>, column_type: &ColumnType) -> Reading<Fill> {
    if cursor.word("nextval") {
        cursor.skip_parentheses()?;
        return Ok(Fill::Serial { next: 1 });
    }
    let mut trial = cursor.clone();
    let value = read_value(&mut trial, scope).and_then(|value| column_type.fit(value));
    match value {
        Ok(value) => {
            *cursor = trial;
            Ok(Fill::Constant(value))
        }
        Err(why) => {
            skip_expression(cursor)?;
            Ok(Fill::Unreadable(why))
        }
    }
}

/// Passes over an expression: up to `,` or `)` outside parentheses, or a word that begins the
/// next option.
fn skip_expression(cursor: &mut Cursor<'_, '_>) -> Reading<()> {
    let ends = ["not", "null", "constraint", "primary", "unique", "references", "check", "collate"];
    let mut first = true;
    while let Some(token) = cursor.peek() {
        let is_end = token.is_symbol(",") || token.is_symbol(")");
        if is_end || (!first && ends.iter().any(|word| token.is_word(word))) {
            break;
        }
        first = false;
        if token.is_symbol("(") {
            cursor.skip_parentheses()?;
        } else {
            cursor.take();
        }
    }
    Ok(())
}

/// Reads what follows `ALTER TABLE name`. Says whether it was something that changes no answer.
pub(crate) fn alter(draft: &mut Draft, name: &str, cursor: &mut Cursor<'_, '_>) -> Reading<bool> {
    if cursor.phrase(&["owner", "to"])
        || cursor.phrase(&["enable", "row", "level", "security"])
        || cursor.phrase(&["replica", "identity"])
        || cursor.word("cluster")
        || cursor.phrase(&["validate", "constraint"])
    {
        return Ok(true);
    }
    let (clock, enumerations) = (draft.clock, draft.enumerations.clone());
    let scope = Scope { clock, enumerations: &enumerations };
    let table = draft.table(name)?;
    loop {
        alter_once(table, scope, cursor)?;
        if !cursor.symbol(",") {
            break;
        }
    }
    settle(table)?;
    let null_key = table.schema.primary_key.iter().any(|key| holds_null(table, key));
    match null_key {
        true => Err("the primary key holds NULL".to_owned()),
        false => Ok(false),
    }
}

fn alter_once(table: &mut TableDraft, scope: Scope<'_>, cursor: &mut Cursor<'_, '_>) -> Reading<()> {
    let mut found = Found::default();
    if cursor.word("add") {
        if is_constraint(cursor) {
            return read_constraint(cursor, table, &mut found);
        }
        if !table.rows.is_empty() {
            return Err("a column is added after rows were written".to_owned());
        }
        cursor.word("column");
        cursor.phrase(&["if", "not", "exists"]);
        return read_column(cursor, scope, table, &mut found);
    }
    if !cursor.word("alter") {
        return Err(cursor.expected("ADD or ALTER COLUMN"));
    }
    cursor.word("column");
    let column = cursor.name()?;
    let places = table.places(Some(std::slice::from_ref(&column)))?;
    let place = places.first().copied().unwrap_or_default();
    let (Some(draft), Some(schema)) = (table.columns.get_mut(place), table.schema.columns.get_mut(place)) else {
        return Err(format!("no column `{column}`"));
    };
    if cursor.phrase(&["set", "default"]) {
        draft.fill = read_default(cursor, scope, &draft.column_type)?;
    } else if cursor.phrase(&["drop", "default"]) {
        draft.fill = Fill::Constant(Value::Null);
    } else if cursor.phrase(&["set", "not", "null"]) {
        schema.nullable = false;
        if holds_null(table, &column) {
            return Err(format!("column `{column}` holds NULL and becomes NOT NULL"));
        }
    } else if cursor.phrase(&["drop", "not", "null"]) {
        schema.nullable = true;
    } else if cursor.phrase(&["add", "generated"]) {
        draft.fill = read_identity(cursor)?;
    } else if !cursor.phrase(&["set", "statistics"]) && !cursor.phrase(&["set", "storage"]) {
        return Err(cursor.expected("SET DEFAULT, SET NOT NULL or ADD GENERATED"));
    } else {
        cursor.take();
    }
    Ok(())
}

fn holds_null(table: &TableDraft, column: &str) -> bool {
    let place = table.schema.column_index(column);
    let is_null = |row: &Vec<Value>| place.and_then(|place| row.get(place)).is_some_and(Value::is_null);
    table.rows.iter().any(is_null)
}
