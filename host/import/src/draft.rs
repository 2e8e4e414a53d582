//! A database while its DDL is being read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tribunal_protocol::digest::{Digest, Hasher};
use tribunal_protocol::schema::{ForeignKey, TableData, TableSchema};
use tribunal_protocol::{Kind, Value};

use crate::cursor::Reading;
use crate::types::ColumnType;

/// Something worth knowing about a place in a foreign file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// The file, relative to the imported folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The table that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What is so.
    pub what: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some(table) = &self.table {
            write!(f, "table {table}: ")?;
        }
        f.write_str(&self.what)
    }
}

/// What a column holds where a row gives no value for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fill {
    /// A constant; NULL where nothing is declared.
    Constant(Value),
    /// The next whole number.
    Serial {
        /// The number that comes next.
        next: i64,
    },
    /// An expression that could not be read; only a row that needs it is unreadable.
    Unreadable(String),
}

/// A column while it is read.
#[derive(Clone, Debug)]
pub(crate) struct ColumnDraft {
    /// Its type.
    pub column_type: ColumnType,
    /// What stands where a row gives nothing.
    pub fill: Fill,
}

/// A table while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableDraft {
    /// What it will look like.
    pub schema: TableSchema,
    /// What is known of its columns beyond that, in the same order.
    pub columns: Vec<ColumnDraft>,
    /// Its rows so far.
    pub rows: Vec<Vec<Value>>,
    /// The line where it is declared.
    pub line: u32,
}

impl TableDraft {
    /// The places of columns, case ignored; all of them where `names` is none.
    pub fn places(&self, names: Option<&[String]>) -> Reading<Vec<usize>> {
        let Some(names) = names else {
            return Ok((0..self.columns.len()).collect());
        };
        let mut places: Vec<usize> = Vec::with_capacity(names.len());
        for name in names {
            let columns = &self.schema.columns;
            let place = columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
            let place = place.ok_or_else(|| format!("no column `{name}`"))?;
            if places.contains(&place) {
                return Err(format!("column `{name}` is given twice"));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// Appends a row: `given[i]` is for the column at `places[i]`; none stands for DEFAULT.
    pub fn push(&mut self, places: &[usize], given: Vec<Option<Value>>) -> Reading<()> {
        if given.len() != places.len() {
            let (wanted, found) = (places.len(), given.len());
            return Err(format!("{wanted} values expected in a row, {found} given"));
        }
        let mut values: Vec<Option<Value>> = vec![None; self.columns.len()];
        for (place, value) in places.iter().zip(given) {
            if let Some(slot) = values.get_mut(*place) {
                *slot = value;
            }
        }
        let mut row = Vec::with_capacity(values.len());
        for ((column, schema), value) in self.columns.iter_mut().zip(&self.schema.columns).zip(values) {
            let at = |why: String| format!("column `{}`: {why}", schema.name);
            let value = match value {
                Some(value) => column.column_type.fit(value).map_err(at)?,
                None => filled(&mut column.fill).map_err(at)?,
            };
            if value.is_null() && !schema.nullable {
                return Err(at("NULL in a column that is NOT NULL".to_owned()));
            }
            row.push(value);
        }
        self.rows.push(row);
        Ok(())
    }

    /// The finished table.
    pub fn finish(self) -> TableData {
        TableData { schema: self.schema, rows: self.rows }
    }
}

fn filled(fill: &mut Fill) -> Reading<Value> {
    match fill {
        Fill::Constant(value) => Ok(value.clone()),
        Fill::Unreadable(why) => Err(format!("its default is needed and unreadable: {why}")),
        Fill::Serial { next } => {
            let number = *next;
            *next = number.checked_add(1).ok_or("its numbers are used up")?;
            Ok(Value::Integer(number))
        }
    }
}

/// A database while it is read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// What `now` is: days since 1970-01-01.
    pub clock: i32,
    /// The tables by lower-case name.
    pub tables: BTreeMap<String, TableDraft>,
    /// Names of enumeration types.
    pub enumerations: Vec<String>,
    /// Schema prefixes that stood before a table's name, lower case.
    pub prefixes: BTreeSet<String>,
    /// Tables that cannot be trusted, by lower-case name, with the first reason.
    pub broken: BTreeMap<String, Remark>,
    /// What could not be read.
    pub problems: Vec<Remark>,
    /// What was read and left out because it changes no answer.
    pub notes: Vec<Remark>,
}

impl Draft {
    /// An empty database.
    pub fn new(clock: i32) -> Draft {
        Draft { clock, ..Draft::default() }
    }

    /// The table of that name, case ignored.
    pub fn table(&mut self, name: &str) -> Reading<&mut TableDraft> {
        self.tables.get_mut(&name.to_lowercase()).ok_or_else(|| format!("no table `{name}` was created before"))
    }

    /// Notes that something could not be read. A table named there is broken from now on.
    pub fn problem(&mut self, file: &str, line: u32, table: Option<&str>, what: String) {
        let remark = Remark { file: file.to_owned(), line, table: table.map(str::to_owned), what };
        if let Some(table) = table {
            let key = table.to_lowercase();
            self.broken.entry(key).or_insert_with(|| remark.clone());
        }
        self.problems.push(remark);
    }

    /// Notes that something was left out.
    pub fn note(&mut self, file: &str, line: u32, table: Option<&str>, what: impl Into<String>) {
        self.notes.push(Remark { file: file.to_owned(), line, table: table.map(str::to_owned), what: what.into() });
    }

    /// Settles what needs all tables: whether the rows hold the keys that they promise, and keys
    /// that point at other tables. Then gives the readable tables, by name.
    pub fn finish(&mut self, file: &str) -> Vec<TableData> {
        self.check_keys(file);
        let broken = &self.broken;
        self.tables.retain(|key, _| !broken.contains_key(key));
        self.settle_foreign_keys(file);
        let tables = std::mem::take(&mut self.tables);
        tables.into_values().map(TableDraft::finish).collect()
    }

    /// Gives every foreign key the exact names of what it refers to. One that refers to nothing,
    /// as a whole or in some row, is left out with a note: it is no data.
    fn settle_foreign_keys(&mut self, file: &str) {
        let mut settled_keys = Vec::new();
        let mut notes = Vec::new();
        for table in self.tables.values() {
            let mut kept = Vec::new();
            for key in &table.schema.foreign_keys {
                match settled(key, table, &self.tables) {
                    Ok(key) => kept.push(key),
                    Err(why) => notes.push((table.line, table.schema.name.clone(), why)),
                }
            }
            settled_keys.push(kept);
        }
        for (table, keys) in self.tables.values_mut().zip(settled_keys) {
            table.schema.foreign_keys = keys;
        }
        for (line, name, why) in notes {
            self.note(file, line, Some(&name), format!("{why}; the foreign key is left out"));
        }
    }

    fn check_keys(&mut self, file: &str) {
        let mut found = Vec::new();
        for table in self.tables.values() {
            let schema = &table.schema;
            let keys = std::iter::once(&schema.primary_key).chain(&schema.unique);
            for key in keys.filter(|key| !key.is_empty()) {
                if let Some(row) = first_duplicate(table, key) {
                    let shown = key.join(", ");
                    let what = format!("row {} repeats the key ({shown})", row + 1);
                    found.push((table.line, schema.name.clone(), what));
                }
            }
        }
        for (line, name, what) in found {
            self.problem(file, line, Some(&name), what);
        }
    }
}

fn settled(key: &ForeignKey, table: &TableDraft, tables: &BTreeMap<String, TableDraft>) -> Result<ForeignKey, String> {
    let nothing = || format!("`{}` has no such columns here", key.table);
    let target = tables.get(&key.table.to_lowercase()).ok_or_else(nothing)?;
    let references = if key.references.is_empty() {
        target.schema.primary_key.clone()
    } else {
        exact(&target.schema, &key.references).ok_or_else(nothing)?
    };
    let columns = exact(&table.schema, &key.columns).ok_or_else(nothing)?;
    if columns.is_empty() || columns.len() != references.len() {
        return Err(nothing());
    }
    let known: BTreeSet<Digest> = keys_of(target, &references).flatten().collect();
    let orphan = |key: Option<Digest>| key.is_some_and(|key| !known.contains(&key));
    match keys_of(table, &columns).position(orphan) {
        Some(row) => Err(format!("row {} points at no row of `{}`", row + 1, target.schema.name)),
        None => Ok(ForeignKey { columns, table: target.schema.name.clone(), references }),
    }
}

/// The exact names of columns, case ignored in the question.
pub(crate) fn exact(schema: &TableSchema, names: &[String]) -> Option<Vec<String>> {
    let find = |name: &String| {
        let mut columns = schema.columns.iter();
        let column = columns.find(|column| column.name.eq_ignore_ascii_case(name))?;
        Some(column.name.clone())
    };
    names.iter().map(find).collect()
}

/// The first row that repeats a key of an earlier one.
fn first_duplicate(table: &TableDraft, key: &[String]) -> Option<usize> {
    let mut seen: BTreeSet<Digest> = BTreeSet::new();
    keys_of(table, key).position(|key| key.is_some_and(|key| !seen.insert(key)))
}

/// The key of every row; none where a part of it is NULL, for that equals nothing.
fn keys_of<'t>(table: &'t TableDraft, key: &[String]) -> impl Iterator<Item = Option<Digest>> + 't {
    let places = table.places(Some(key)).unwrap_or_default();
    table.rows.iter().map(move |row| {
        let values: Vec<&Value> = places.iter().filter_map(|place| row.get(*place)).collect();
        let whole = values.iter().all(|value| value.kind() != Kind::Unknown);
        let mut hasher = Hasher::new("import key");
        values.iter().for_each(|value| hasher.value(value));
        whole.then(|| hasher.finish())
    })
}
