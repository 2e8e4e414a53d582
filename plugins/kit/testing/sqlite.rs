//! A real database for the tests of plugins: SQLite in memory, without a contract. Plugins take
//! this file in by its path, for tests only: no guest depends on SQLite.

#![allow(dead_code, clippy::expect_used, clippy::unwrap_used, reason = "tests, each with its own part of this")]

use std::fmt;
use std::rc::Rc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql};
use tribunal_compare::time;
use tribunal_kit::testing::TestHost;
use tribunal_kit::{
    Cells, Code, Column, ColumnInfo, Database, Failure, Host as _, Kind, Table, TableInfo, Texts, Value, Verb, quoted,
};

/// A database in memory.
#[derive(Clone)]
pub(crate) struct Sqlite(Rc<Connection>);

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlite")
    }
}

/// A host over what some SQL makes. Kinds go by declared types: a decimal that must keep its
/// digits is a `DECIMAL_TEXT`.
pub(crate) fn host(sql: &str) -> TestHost<Sqlite> {
    let connection = Connection::open_in_memory().expect("SQLite opens in memory");
    connection.execute_batch(sql).expect("the test's SQL runs");
    TestHost::new(Sqlite(Rc::new(connection)))
}

/// All rows of a query as text: cells by `|`, rows by line.
pub(crate) fn dump(host: &TestHost<Sqlite>, sql: &str) -> String {
    let table = host.open("agent").and_then(|session| session.query(sql, &[])).expect("the test's query runs");
    let row = |row: usize| table.row(row).iter().map(shown).collect::<Vec<_>>().join("|");
    (0..table.len()).map(row).collect::<Vec<_>>().join("\n")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(b) => b.to_string(),
        Value::Integer(i) => i.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Decimal(text) | Value::Text(text) => text.clone(),
        Value::Date(days) => time::date_text(i64::from(*days)),
        Value::Timestamp(micros) => time::timestamp_text(*micros),
    }
}

impl Database for Sqlite {
    fn tables(&self) -> Vec<TableInfo> {
        let names = self
            .query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", &[])
            .expect("the catalogue can be read");
        (0..names.len()).filter_map(|row| names.columns.first()?.text(row)).map(|name| self.table(name)).collect()
    }

    fn query(&self, sql: &str, parameters: &[Value]) -> Result<Table, Failure> {
        let mut statement = self.0.prepare(sql).map_err(failure)?;
        bind(&mut statement, parameters)?;
        let mut columns: Vec<Filling> =
            statement.columns().map(|column| Filling::new(column.name(), column.decl_type())).collect();
        let mut rows = statement.raw_query();
        let mut count = 0;
        while let Some(row) = rows.next().map_err(failure)? {
            for (place, column) in columns.iter_mut().enumerate() {
                column.push(row.get_ref(place).map_err(failure)?);
            }
            count += 1;
        }
        Ok(Table::new(count, columns.into_iter().map(Filling::finish).collect()))
    }

    fn change(&self, sql: &str, parameters: &[Value]) -> Result<u64, Failure> {
        let mut statement = self.0.prepare(sql).map_err(failure)?;
        bind(&mut statement, parameters)?;
        let rows = statement.raw_execute().map_err(failure)?;
        Ok(u64::try_from(rows).unwrap_or(u64::MAX))
    }
}

impl Sqlite {
    fn table(&self, name: &str) -> TableInfo {
        let mut statement =
            self.0.prepare(&format!("PRAGMA table_info({})", quoted(name))).expect("the table can be described");
        let mut primary_key = Vec::new();
        let columns = statement
            .query_map([], |row| {
                let (name, kind): (String, String) = (row.get(1)?, row.get(2)?);
                if row.get::<_, i64>(5)? > 0 {
                    primary_key.push(name.clone());
                }
                let nullable = row.get::<_, i64>(3)? == 0;
                Ok(ColumnInfo { name, kind: kind_of(&kind), nullable, description: String::new() })
            })
            .and_then(Iterator::collect)
            .expect("the table can be described");
        let verbs = vec![Verb::Read, Verb::Insert, Verb::Update, Verb::Delete];
        TableInfo { name: name.to_owned(), description: String::new(), columns, primary_key, verbs }
    }
}

fn failure(fault: rusqlite::Error) -> Failure {
    Failure::new(Code::Invalid, fault.to_string())
}

fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> Result<(), Failure> {
    for (value, number) in parameters.iter().zip(1..) {
        let place = statement.parameter_index(&format!("${number}")).map_err(failure)?;
        if let Some(place) = place {
            statement.raw_bind_parameter(place, Bound(value)).map_err(failure)?;
        }
    }
    Ok(())
}

struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        use rusqlite::types::Value as Sql;
        Ok(ToSqlOutput::Owned(match self.0 {
            Value::Null => Sql::Null,
            Value::Boolean(b) => Sql::Integer(i64::from(*b)),
            Value::Integer(i) => Sql::Integer(*i),
            Value::Float(x) => Sql::Real(*x),
            other => Sql::Text(shown(other)),
        }))
    }
}

fn kind_of(declared: &str) -> Kind {
    let declared = declared.to_ascii_uppercase();
    let kinds = [
        ("DECIMAL", Kind::Decimal),
        ("BOOL", Kind::Boolean),
        ("INT", Kind::Integer),
        ("TIMESTAMP", Kind::Timestamp),
        ("DATE", Kind::Date),
        ("REAL", Kind::Float),
        ("TEXT", Kind::Text),
    ];
    kinds.iter().find(|(name, _)| declared.contains(name)).map_or(Kind::Unknown, |(_, kind)| *kind)
}

/// A column while it is read: of its declared kind, or of that of its first value.
struct Filling {
    name: String,
    kind: Kind,
    values: Vec<Value>,
}

impl Filling {
    fn new(name: &str, declared: Option<&str>) -> Filling {
        Filling { name: name.to_owned(), kind: declared.map_or(Kind::Unknown, kind_of), values: Vec::new() }
    }

    fn push(&mut self, value: ValueRef<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let value = match (self.kind, value) {
            (_, ValueRef::Null) => Value::Null,
            (Kind::Boolean, ValueRef::Integer(i)) => Value::Boolean(i != 0),
            (Kind::Decimal, ValueRef::Integer(i)) => Value::Decimal(i.to_string()),
            (Kind::Decimal, ValueRef::Real(x)) => Value::Decimal(x.to_string()),
            (Kind::Decimal, ValueRef::Text(t)) => Value::Decimal(text(t)),
            (Kind::Float, ValueRef::Integer(i)) => Value::Float(i as f64),
            (Kind::Date, ValueRef::Text(t)) => time::read_date(&text(t)).map_or(Value::Null, Value::Date),
            (Kind::Timestamp, ValueRef::Text(t)) => {
                time::read_timestamp(&text(t)).map_or(Value::Null, Value::Timestamp)
            }
            (_, ValueRef::Integer(i)) => Value::Integer(i),
            (_, ValueRef::Real(x)) => Value::Float(x),
            (_, ValueRef::Text(t) | ValueRef::Blob(t)) => Value::Text(text(t)),
        };
        if self.kind == Kind::Unknown {
            self.kind = match value {
                Value::Integer(_) => Kind::Integer,
                Value::Float(_) => Kind::Float,
                Value::Text(_) => Kind::Text,
                _ => Kind::Unknown,
            };
        }
        self.values.push(value);
    }

    fn finish(self) -> Column {
        let mut nulls = vec![0; self.values.len().div_ceil(8)];
        for (row, value) in self.values.iter().enumerate() {
            nulls[row / 8] |= u8::from(matches!(value, Value::Null)) << (row % 8);
        }
        macro_rules! cells {
            ($variant:ident, $default:expr) => {
                self.values.iter().map(|value| match value {
                    Value::$variant(cell) => cell.clone(),
                    _ => $default,
                })
            };
        }
        let texts = |cells: Vec<String>| cells.iter().map(String::as_str).collect::<Texts>();
        let cells = match self.kind {
            Kind::Unknown => Cells::Unknown,
            Kind::Boolean => Cells::Booleans(cells!(Boolean, false).collect()),
            Kind::Integer => Cells::Integers(cells!(Integer, 0).collect()),
            Kind::Float => Cells::Floats(cells!(Float, 0.0).collect()),
            Kind::Decimal => Cells::Decimals(texts(cells!(Decimal, String::new()).collect())),
            Kind::Text => Cells::Texts(texts(cells!(Text, String::new()).collect())),
            Kind::Date => Cells::Dates(cells!(Date, 0).collect()),
            Kind::Timestamp => Cells::Timestamps(cells!(Timestamp, 0).collect()),
        };
        Column { name: self.name, nulls, cells }
    }
}
