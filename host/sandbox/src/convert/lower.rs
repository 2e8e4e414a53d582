//! From the host to the guest. Columns are moved; only decimals, which cross as text, are written
//! anew.

use rust_decimal::Decimal;
use tribunal_protocol::failure::{Code, Failure};
use tribunal_protocol::schema::ColumnSchema;
use tribunal_protocol::session::{TableChanges, TableInfo, Verb};
use tribunal_protocol::table::{Cells, Column, Table};
use tribunal_protocol::value::Kind;

use crate::bindings::{changes, database, types};
use crate::convert::decimal;

/// Bytes that a decimal's text takes, as a first guess for a column's buffer.
const DECIMAL_BYTES: usize = 10;

pub(crate) fn table(table: Table) -> Result<types::Table, Failure> {
    let rows = u32::try_from(table.rows);
    let rows = rows.map_err(|_| Failure::quota("the result has more than 4294967295 rows"))?;
    Ok(types::Table { rows, columns: table.columns.into_iter().map(column).collect() })
}

fn column(column: Column) -> types::Column {
    let cells = match column.cells {
        Cells::Unknown => types::Cells::Unknown,
        Cells::Booleans(cells) => types::Cells::Booleans(cells),
        Cells::Integers(cells) => types::Cells::Integers(cells),
        Cells::Floats(cells) => types::Cells::Floats(cells),
        Cells::Decimals(cells) => types::Cells::Decimals(decimals(&cells)),
        Cells::Texts(texts) => types::Cells::Texts(types::Texts { data: texts.data, ends: texts.ends }),
        Cells::Dates(cells) => types::Cells::Dates(cells),
        Cells::Timestamps(cells) => types::Cells::Timestamps(cells),
    };
    types::Column { name: column.name, nulls: column.nulls, cells }
}

pub(crate) fn decimals(cells: &[Decimal]) -> types::Texts {
    let mut data = String::with_capacity(cells.len() * DECIMAL_BYTES);
    let mut ends = Vec::with_capacity(cells.len());
    for cell in cells {
        decimal::write(cell, &mut data);
        ends.push(u32::try_from(data.len()).unwrap_or(u32::MAX));
    }
    types::Texts { data, ends }
}

pub(crate) fn failure(failure: Failure) -> types::Failure {
    types::Failure { code: code(failure.code), message: failure.message }
}

pub(crate) fn code(code: Code) -> types::Code {
    match code {
        Code::Denied => types::Code::Denied,
        Code::Unknown => types::Code::Unknown,
        Code::Unsupported => types::Code::Unsupported,
        Code::Quota => types::Code::Quota,
        Code::Invalid => types::Code::Invalid,
        Code::Failed => types::Code::Failed,
    }
}

pub(crate) fn table_info(info: TableInfo) -> database::TableInfo {
    database::TableInfo {
        name: info.name,
        description: info.description,
        columns: info.columns.into_iter().map(column_info).collect(),
        primary_key: info.primary_key,
        verbs: info.verbs.into_iter().map(verb).collect(),
    }
}

fn column_info(column: ColumnSchema) -> database::ColumnInfo {
    database::ColumnInfo {
        name: column.name,
        kind: kind(column.kind),
        nullable: column.nullable,
        description: column.description,
    }
}

fn kind(kind: Kind) -> types::Kind {
    match kind {
        Kind::Unknown => types::Kind::Unknown,
        Kind::Boolean => types::Kind::Boolean,
        Kind::Integer => types::Kind::Integer,
        Kind::Float => types::Kind::Float,
        Kind::Decimal => types::Kind::Decimal,
        Kind::Text => types::Kind::Text,
        Kind::Date => types::Kind::Date,
        Kind::Timestamp => types::Kind::Timestamp,
    }
}

fn verb(verb: Verb) -> database::Verb {
    match verb {
        Verb::Read => database::Verb::Read,
        Verb::Insert => database::Verb::Insert,
        Verb::Update => database::Verb::Update,
        Verb::Delete => database::Verb::Delete,
    }
}

pub(crate) fn table_changes(changed: TableChanges) -> Result<changes::TableChanges, Failure> {
    Ok(changes::TableChanges { name: changed.name, removed: table(changed.removed)?, added: table(changed.added)? })
}
