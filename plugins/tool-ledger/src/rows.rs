//! Rows by id, with values of the kinds that the tables have.

use serde::Deserialize;
use tribunal_compare::decimal::Decimal;
use tribunal_compare::time::{DAY, date_text, read_date, timestamp_text};
use tribunal_kit::{Database, Failure, Kind, TableInfo, Value, quoted};

/// An id or an amount as agents write it: a JSON number or text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    /// As text: a float by its shortest form.
    pub(crate) fn text(&self) -> String {
        match self {
            Scalar::Integer(i) => i.to_string(),
            Scalar::Float(x) => x.to_string(),
            Scalar::Text(text) => text.trim().to_owned(),
        }
    }
}

/// The granted tables.
pub(crate) struct Tables(Vec<TableInfo>);

impl Tables {
    pub(crate) fn of(session: &impl Database) -> Tables {
        Tables(session.tables())
    }

    /// The kind of a column; `usual` where it can be written but not read.
    pub(crate) fn kind(&self, table: &str, column: &str, usual: Kind) -> Kind {
        let table = self.0.iter().find(|info| info.name.eq_ignore_ascii_case(table));
        table.and_then(|table| table.column(column)).map_or(usual, |column| column.kind)
    }
}

/// A text as a value of a kind.
pub(crate) fn value(kind: Kind, text: &str) -> Result<Value, Failure> {
    let read = match kind {
        Kind::Text | Kind::Unknown => Some(Value::Text(text.to_owned())),
        Kind::Integer => {
            let integer = Decimal::read(text).and_then(|decimal| decimal.to_string().parse().ok());
            integer.map(Value::Integer)
        }
        Kind::Decimal => Decimal::read(text).map(|decimal| Value::Decimal(decimal.to_string())),
        Kind::Float => Decimal::read(text).and_then(|_| text.parse().ok()).map(Value::Float),
        Kind::Boolean => text.parse().ok().map(Value::Boolean),
        Kind::Date => read_date(text).map(Value::Date),
        Kind::Timestamp => read_date(text).map(|days| Value::Timestamp(i64::from(days) * DAY)),
    };
    read.ok_or_else(|| Failure::invalid(format!("{} expected, {text} given", kind.name())))
}

/// A value as agents read it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(b) => b.to_string(),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) => x.to_string(),
        Value::Decimal(text) | Value::Text(text) => text.clone(),
        Value::Date(days) => date_text(i64::from(*days)),
        Value::Timestamp(micros) => timestamp_text(*micros),
    }
}

/// A value as an exact amount; none for NULL and for what is no number.
pub(crate) fn amount(value: &Value) -> Option<Decimal> {
    match value {
        Value::Integer(i) => Decimal::read(&i.to_string()),
        Value::Float(x) => Decimal::of_float(*x),
        Value::Decimal(text) => Decimal::read(text),
        _ => None,
    }
}

/// Some columns of the one row with an id.
///
/// # Errors
/// `unknown` where there is none, `failed` where there are several.
pub(crate) fn one_row(
    session: &impl Database,
    table: &str,
    id_column: &str,
    id: &Value,
    columns: &[&str],
) -> Result<Vec<Value>, Failure> {
    let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
    let sql = format!("SELECT {} FROM {} WHERE {} = $1", list.join(", "), quoted(table), quoted(id_column));
    let found = session.query(&sql, std::slice::from_ref(id))?;
    match found.len() {
        0 => Err(Failure::unknown(format!("no row with id {} in {table}", shown(id)))),
        1 => Ok(found.row(0)),
        _ => Err(Failure::failed(format!("several rows with id {} in {table}", shown(id)))),
    }
}

/// Changes that must touch exactly one row.
pub(crate) fn change_one(session: &impl Database, sql: &str, parameters: &[Value]) -> Result<(), Failure> {
    match session.change(sql, parameters)? {
        1 => Ok(()),
        rows => Err(Failure::failed(format!("{rows} rows were touched instead of one; nothing was changed"))),
    }
}
