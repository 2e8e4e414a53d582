//! Statements for a session on SQLite. A query is written in its dialect; a change becomes the
//! query that works out which rows it touches and what they get, so that SQLite writes nothing.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AssignmentTarget, Delete, Expr, FromTable, Insert, Query, SelectItem, SetExpr, Statement, TableFactor,
    TableWithJoins, Value as Literal, visit_expressions, visit_expressions_mut,
};
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Failure, Kind, Value};

use super::{Names, Writer};
use crate::select::{query_of, select};
use crate::{Catalog, emit, scope::same};

/// Names under which SQLite knows the number of a row, where no column has them.
const ROW_NUMBERS: [&str; 3] = ["rowid", "_rowid_", "oid"];
/// Digits that a double keeps of any number.
const DIGITS: usize = 15;

/// A query in SQLite's dialect.
#[derive(Clone, Debug)]
pub struct SqliteQuery {
    /// The text.
    pub sql: String,
    /// The names of its queries after WITH, which it reads like tables.
    pub ctes: Vec<String>,
    /// The name of every output column.
    pub names: Vec<String>,
    /// The kind of every output column; none where it is not known beforehand.
    pub kinds: Vec<Option<Kind>>,
}

/// A change as a query: for INSERT its rows are what is inserted; for UPDATE they are the number
/// of a row and what it gets; for DELETE the number alone.
#[derive(Clone, Debug)]
pub struct SqliteChange {
    /// What it does.
    pub verb: Verb,
    /// The exact name of the table that it changes.
    pub table: String,
    /// The columns that it gives or assigns.
    pub columns: Vec<String>,
    /// The kinds of those columns.
    pub kinds: Vec<Kind>,
    /// The query.
    pub sql: String,
    /// The names of its queries after WITH, which it reads like tables.
    pub ctes: Vec<String>,
}

/// The name under which SQLite gives the number of a row of a table.
#[must_use]
pub fn row_number(schema: &TableSchema) -> &'static str {
    let free = |name: &&str| !schema.columns.iter().any(|column| same(&column.name, name));
    ROW_NUMBERS.into_iter().find(free).unwrap_or("rowid")
}

/// Writes a query for SQLite. `resolved`: whether [`crate::prepare_query`] found all of its names.
///
/// # Errors
/// A failure as the agent may read it: no query, or a construct that has no form there.
pub fn sqlite_query(
    sql: &str,
    catalog: &dyn Catalog,
    parameters: &[Value],
    resolved: bool,
) -> Result<SqliteQuery, Failure> {
    let Statement::Query(mut query) = bound(crate::parse::parse_query(sql)?, parameters)? else {
        return Err(Failure::invalid("a query expected: SELECT .."));
    };
    crate::lint::query(&query)?;
    if !resolved {
        refuse_row_numbers(&query)?;
    }
    let mut writer = Writer::new(catalog);
    let columns = writer.query(&mut query, None)?;
    let known = |kind: Kind| (kind != Kind::Unknown).then_some(kind);
    let kinds = columns.iter().map(|(_, kind)| known(*kind)).collect();
    let ctes = writer.named;
    Ok(SqliteQuery { sql: query.to_string(), ctes, names: columns.into_iter().map(|(name, _)| name).collect(), kinds })
}

/// Writes a change for SQLite, which must have passed [`crate::prepare_change`].
///
/// # Errors
/// A failure as the agent may read it.
pub fn sqlite_change(sql: &str, catalog: &dyn Catalog, parameters: &[Value]) -> Result<SqliteChange, Failure> {
    let mut writer = Writer::new(catalog);
    match bound(crate::parse::parse_change(sql)?, parameters)? {
        Statement::Insert(insert) => inserted(&mut writer, insert),
        Statement::Update { table, assignments, selection, .. } => {
            let schema = target(catalog, &table)?;
            let mut set = Vec::with_capacity(assignments.len());
            let mut values = Vec::with_capacity(assignments.len());
            for assignment in assignments {
                let AssignmentTarget::ColumnName(name) = assignment.target else {
                    return Err(Failure::unsupported("SET (a, b) = .."));
                };
                set.push(name.0.last().map(|name| name.value.clone()).unwrap_or_default());
                values.push(assignment.value);
            }
            touched(&mut writer, Verb::Update, &schema, table, (set, values), selection)
        }
        Statement::Delete(Delete { from, selection, .. }) => {
            let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = from;
            let table = from.into_iter().next().ok_or_else(|| Failure::invalid("DELETE from a table expected"))?;
            let schema = target(catalog, &table)?;
            touched(&mut writer, Verb::Delete, &schema, table, (Vec::new(), Vec::new()), selection)
        }
        _ => Err(Failure::invalid("a change expected: INSERT, UPDATE or DELETE")),
    }
}

/// The rows that an UPDATE or DELETE touches.
fn touched(
    writer: &mut Writer<'_>,
    verb: Verb,
    schema: &TableSchema,
    table: TableWithJoins,
    (set, values): (Vec<String>, Vec<Expr>),
    selection: Option<Expr>,
) -> Result<SqliteChange, Failure> {
    let number = Expr::Identifier(sqlparser::ast::Ident::new(row_number(schema)));
    let items = std::iter::once(number).chain(values).map(SelectItem::UnnamedExpr).collect();
    let mut query = query_of(select(items, vec![table], selection));
    writer.query(&mut query, None)?;
    let (columns, kinds) = found(schema, &set)?;
    let ctes = std::mem::take(&mut writer.named);
    Ok(SqliteChange { verb, table: schema.name.clone(), columns, kinds, sql: query.to_string(), ctes })
}

fn inserted(writer: &mut Writer<'_>, insert: Insert) -> Result<SqliteChange, Failure> {
    let table = insert.table_name.0.last().map(|part| part.value.clone()).unwrap_or_default();
    let schema = writer.catalog.table(&table).ok_or_else(|| Failure::unknown(format!("no table {table}")))?.clone();
    let names: Vec<String> = match insert.columns.is_empty() {
        true => schema.columns.iter().map(|column| column.name.clone()).collect(),
        false => insert.columns.iter().map(|name| name.value.clone()).collect(),
    };
    let (columns, kinds) = found(&schema, &names)?;
    let mut source = insert.source.ok_or_else(|| Failure::unsupported("INSERT .. DEFAULT VALUES"))?;
    written_source(writer, &mut source)?;
    let ctes = std::mem::take(&mut writer.named);
    Ok(SqliteChange { verb: Verb::Insert, table: schema.name, columns, kinds, sql: source.to_string(), ctes })
}

fn written_source(writer: &mut Writer<'_>, source: &mut Query) -> Result<(), Failure> {
    let SetExpr::Values(values) = &mut *source.body else {
        return writer.query(source, None).map(drop);
    };
    let names = Names::default();
    for expr in values.rows.iter_mut().flatten() {
        writer.expr(expr, &names)?;
    }
    Ok(())
}

/// The exact names and the kinds of columns.
fn found(schema: &TableSchema, names: &[String]) -> Result<(Vec<String>, Vec<Kind>), Failure> {
    let mut columns = Vec::with_capacity(names.len());
    let mut kinds = Vec::with_capacity(names.len());
    for name in names {
        let column = schema.columns.iter().find(|column| same(&column.name, name));
        let column = column.ok_or_else(|| Failure::unknown(format!("no column {name} in {}", schema.name)))?;
        columns.push(column.name.clone());
        kinds.push(column.kind);
    }
    Ok((columns, kinds))
}

fn target(catalog: &dyn Catalog, table: &TableWithJoins) -> Result<TableSchema, Failure> {
    let TableFactor::Table { name, .. } = &table.relation else {
        return Err(Failure::unsupported("a change of anything but a table"));
    };
    let name = name.0.last().map(|part| part.value.as_str()).unwrap_or_default();
    catalog.table(name).cloned().ok_or_else(|| Failure::unknown(format!("no table {name}")))
}

/// The statement with its parameters in it, as literals, so that they are treated as these are.
fn bound(mut statement: Statement, parameters: &[Value]) -> Result<Statement, Failure> {
    let put = |expr: &mut Expr| {
        let literal = match expr {
            Expr::Value(Literal::Placeholder(name)) => parameter(name, parameters),
            Expr::Value(Literal::Number(number, _)) => exact(&number.to_string()).map(|()| expr.clone()),
            _ => return ControlFlow::Continue(()),
        };
        match literal {
            Ok(literal) => {
                *expr = literal;
                ControlFlow::Continue(())
            }
            Err(failure) => ControlFlow::Break(failure),
        }
    };
    match visit_expressions_mut(&mut statement, put) {
        ControlFlow::Continue(()) => Ok(statement),
        ControlFlow::Break(failure) => Err(failure),
    }
}

fn parameter(name: &str, parameters: &[Value]) -> Result<Expr, Failure> {
    let number: Option<usize> = name.strip_prefix('$').and_then(|digits| digits.parse().ok());
    let value = number.and_then(|number| number.checked_sub(1)).and_then(|place| parameters.get(place));
    let value = value
        .ok_or_else(|| Failure::invalid(format!("{name} is used, but {} parameters are given", parameters.len())))?;
    match value {
        Value::Decimal(decimal) => exact(&decimal.normalize().to_string())?,
        Value::Text(text) if text.contains('\0') => return Err(Failure::unsupported("a text with a NUL character")),
        _ => {}
    }
    Ok(emit::literal(value))
}

/// Refuses a number that SQLite would hold as another one.
fn exact(digits: &str) -> Result<(), Failure> {
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let all: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let significant = all.trim_start_matches('0').trim_end_matches('0').len();
    if significant <= DIGITS || digits.parse::<i64>().is_ok() {
        return Ok(());
    }
    Err(Failure::unsupported(format!("{digits}: numbers with a fraction have at most {DIGITS} digits on SQLite")))
}

/// The number of a row is no column, and tells of rows that may be hidden.
fn refuse_row_numbers(query: &Query) -> Result<(), Failure> {
    let named = visit_expressions(query, |expr| {
        let name = match expr {
            Expr::Identifier(name) => &name.value,
            Expr::CompoundIdentifier(parts) => match parts.last() {
                Some(name) => &name.value,
                None => return ControlFlow::Continue(()),
            },
            _ => return ControlFlow::Continue(()),
        };
        match ROW_NUMBERS.iter().any(|number| same(number, name)) {
            true => ControlFlow::Break(name.clone()),
            false => ControlFlow::Continue(()),
        }
    });
    match named {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(name) => Err(Failure::unknown(format!("no column {name}"))),
    }
}
