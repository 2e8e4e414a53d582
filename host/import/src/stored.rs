//! A SQLite file's tables. SQLite lets any column hold anything: what a column is follows from its
//! declared type and from every value in it.
//!
//! | the values are | the column becomes |
//! |---|---|
//! | whole numbers | integer; boolean where it is declared so and holds 0 and 1 alone |
//! | doubles, whole numbers among them | decimal where it is declared so and each is one of at most 15 digits; else float |
//! | texts | date or timestamp where every one is, in the form in which SQLite writes it; else text |
//! | texts and numbers | nothing: the table is not read |
//! | bytes | nothing: the column is left out |
//! | NULL alone | what is declared, else text |

use std::path::Path;

use tribunal_protocol::Value;
use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::value::{decimal_of, float_text, parse_date, parse_timestamp};
use tribunal_sqlite::{FileTable, Stored, read_file};

use crate::cursor::{Cursor, Reading};
use crate::draft::{ColumnDraft, Draft, Fill, TableDraft};
use crate::token::Lexer;
use crate::types::{ColumnType, read_type};

/// Digits that a double keeps of any decimal.
const DIGITS: usize = 15;
/// Whole numbers up to here are doubles, too.
const WHOLE: u64 = 1 << 53;

/// Reads the tables of a SQLite file into a draft.
///
/// # Errors
/// Why the file cannot be read.
pub(crate) fn read(draft: &mut Draft, file: &str, path: &Path) -> Reading<()> {
    let read = read_file(path)?;
    for what in read.left_out {
        draft.note(file, 1, None, format!("{what}: left out"));
    }
    for table in read.tables {
        let name = table.name.clone();
        match draft_of(draft, file, table) {
            Ok(table) => drop(draft.tables.insert(name.to_lowercase(), table)),
            Err(why) => draft.problem(file, 1, Some(&name), why),
        }
    }
    Ok(())
}

fn draft_of(draft: &mut Draft, file: &str, table: FileTable) -> Reading<TableDraft> {
    let FileTable { name, columns, mut primary_key, mut unique, foreign_keys, rows } = table;
    let mut made = TableDraft { line: 1, ..TableDraft::default() };
    made.rows = vec![Vec::with_capacity(columns.len()); rows.len()];
    let mut note = |what: String| draft.note(file, 1, Some(&name), what);
    for (place, column) in columns.into_iter().enumerate() {
        let values: Vec<&Stored> = rows.iter().filter_map(|row| row.get(place)).collect();
        let at = |why: String| format!("column `{}`: {why}", column.name);
        let Some(Settled { column_type, values, remark }) = settle(&column.declared, &values).map_err(at)? else {
            note(at("holds bytes, which have no kind here; the column is left out".to_owned()));
            continue;
        };
        if let Some(remark) = remark {
            note(at(remark));
        }
        if primary_key.contains(&column.name) && values.iter().any(Value::is_null) {
            note(at("holds NULL; the primary key is left out".to_owned()));
            primary_key.clear();
        }
        made.schema.columns.push(ColumnSchema::new(&column.name, column_type.kind(), !column.not_null));
        made.columns.push(ColumnDraft { column_type, fill: Fill::Constant(Value::Null) });
        made.rows.iter_mut().zip(values).for_each(|(row, value)| row.push(value));
    }
    if made.columns.is_empty() {
        return Err("no column of it can be kept".to_owned());
    }
    let whole = |key: &Vec<String>| key.iter().all(|name| made.schema.column_index(name).is_some());
    if !whole(&primary_key) {
        primary_key.clear();
    }
    unique.retain(whole);
    for column in made.schema.columns.iter_mut().filter(|column| primary_key.contains(&column.name)) {
        column.nullable = false;
    }
    made.schema = TableSchema { name, primary_key, unique, foreign_keys, ..made.schema };
    Ok(made)
}

/// What a column turned out to be.
struct Settled {
    column_type: ColumnType,
    values: Vec<Value>,
    /// Why it is not what was declared, where it is not.
    remark: Option<String>,
}

/// The first row, from 1, that holds each sort of value.
#[derive(Default)]
struct Sorts {
    integer: Option<usize>,
    real: Option<usize>,
    text: Option<usize>,
    blob: Option<usize>,
}

impl Sorts {
    fn of(values: &[&Stored]) -> Sorts {
        let mut sorts = Sorts::default();
        for (value, row) in values.iter().zip(1..) {
            let place = match value {
                Stored::Null => continue,
                Stored::Integer(_) => &mut sorts.integer,
                Stored::Real(_) => &mut sorts.real,
                Stored::Text(_) => &mut sorts.text,
                Stored::Blob => &mut sorts.blob,
            };
            place.get_or_insert(row);
        }
        sorts
    }
}

/// What a column is; none where it holds bytes.
fn settle(declared: &str, values: &[&Stored]) -> Reading<Option<Settled>> {
    let sorts = Sorts::of(values);
    let known = declared_type(declared);
    let number = sorts.integer.or(sorts.real);
    match (number, sorts.text) {
        _ if sorts.blob.is_some() => Ok(None),
        (Some(number), Some(text)) => {
            let shown = |row: usize| values.get(row - 1).map_or_else(String::new, |value| shown(value));
            Err(format!(
                "row {text} holds the text {} and row {number} the number {}: texts and numbers cannot be compared; \
                 make all of them texts (CAST(.. AS TEXT)), or numbers and NULL",
                shown(text),
                shown(number)
            ))
        }
        (None, None) => {
            let column_type = known.unwrap_or(ColumnType::Text);
            Ok(Some(Settled { column_type, values: vec![Value::Null; values.len()], remark: None }))
        }
        (None, Some(_)) => Ok(Some(texts(declared, known.as_ref(), values))),
        (Some(_), None) if sorts.real.is_none() => Ok(Some(integers(declared, known.as_ref(), values))),
        (Some(_), None) => reals(declared, known.as_ref(), values, &sorts).map(Some),
    }
}

/// The declared type, where it is one that is known.
fn declared_type(declared: &str) -> Option<ColumnType> {
    let tokens = Lexer::all(declared).ok()?;
    read_type(&mut Cursor::new(&tokens), &[]).ok().map(|declared| declared.column_type)
}

fn shown(value: &Stored) -> String {
    match value {
        Stored::Null => "NULL".to_owned(),
        Stored::Integer(i) => i.to_string(),
        Stored::Real(x) => float_text(*x),
        Stored::Text(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        Stored::Blob => "bytes".to_owned(),
    }
}

/// The values as `read` reads each; none where one of them cannot be read so.
fn all(values: &[&Stored], read: impl Fn(&Stored) -> Option<Value>) -> Option<Vec<Value>> {
    let value = |value: &&Stored| if **value == Stored::Null { Some(Value::Null) } else { read(value) };
    values.iter().map(value).collect()
}

fn texts(declared: &str, known: Option<&ColumnType>, values: &[&Stored]) -> Settled {
    // In the form in which SQLite's own functions write them, so that what they do to the text of
    // the file they do to ours.
    let as_written = |value: &Stored, read: &dyn Fn(&str) -> Option<Value>| match value {
        Stored::Text(text) => read(text).filter(|value| value.to_string().replace('T', " ") == *text),
        _ => None,
    };
    let date = |text: &str| parse_date(text).map(Value::Date);
    let moment = |text: &str| parse_timestamp(text).map(Value::Timestamp);
    if let Some(values) = all(values, |value| as_written(value, &date)) {
        return Settled { column_type: ColumnType::Date, values, remark: None };
    }
    if let Some(values) = all(values, |value| as_written(value, &moment)) {
        return Settled { column_type: ColumnType::Timestamp, values, remark: None };
    }
    let text = |value: &Stored| if let Stored::Text(text) = value { Some(Value::Text(text.clone())) } else { None };
    let plain = matches!(known, None | Some(ColumnType::Text | ColumnType::Time));
    let remark = (!plain).then(|| format!("declared {declared}, and holds other texts; kept as text"));
    Settled { column_type: ColumnType::Text, values: all(values, text).unwrap_or_default(), remark }
}

fn integers(declared: &str, known: Option<&ColumnType>, values: &[&Stored]) -> Settled {
    let truth = |value: &Stored| match value {
        Stored::Integer(i @ (0 | 1)) => Some(Value::Boolean(*i == 1)),
        _ => None,
    };
    if let Some(values) = all(values, truth).filter(|_| known == Some(&ColumnType::Boolean)) {
        return Settled { column_type: ColumnType::Boolean, values, remark: None };
    }
    let whole = |value: &Stored| if let Stored::Integer(i) = value { Some(Value::Integer(*i)) } else { None };
    let other = matches!(known, Some(ColumnType::Boolean | ColumnType::Date | ColumnType::Timestamp));
    let remark = other.then(|| format!("declared {declared}, and holds whole numbers; kept as integer"));
    Settled { column_type: ColumnType::Integer, values: all(values, whole).unwrap_or_default(), remark }
}

fn reals(declared: &str, known: Option<&ColumnType>, values: &[&Stored], sorts: &Sorts) -> Reading<Settled> {
    if let Some(ColumnType::Decimal(scale)) = known
        && let Some(values) = all(values, |value| decimal(value, *scale))
    {
        return Ok(Settled { column_type: ColumnType::Decimal(*scale), values, remark: None });
    }
    let mut floats = Vec::with_capacity(values.len());
    for (value, row) in values.iter().zip(1..) {
        floats.push(float(value).ok_or_else(|| format!("row {row} holds {}, which is no double", shown(value)))?);
    }
    let remark = match (known, sorts.real, sorts.integer) {
        (Some(ColumnType::Float) | None, _, None) => None,
        (_, _, Some(whole)) => {
            Some(format!("row {whole} holds a whole number among others; kept as float, and divided as such"))
        }
        (_, row, None) => {
            let row = row.unwrap_or_default();
            Some(format!("declared {declared}, and row {row} holds a double; kept as float"))
        }
    };
    Ok(Settled { column_type: ColumnType::Float, values: floats, remark })
}

fn float(value: &Stored) -> Option<Value> {
    match value {
        Stored::Null => Some(Value::Null),
        Stored::Real(x) => x.is_finite().then_some(Value::Float(*x)),
        #[expect(clippy::cast_precision_loss, reason = "within the whole numbers that doubles are")]
        Stored::Integer(i) => (i.unsigned_abs() <= WHOLE).then_some(Value::Float(*i as f64)),
        Stored::Text(_) | Stored::Blob => None,
    }
}

/// The decimal that a number stands for, where it has at most so many places.
fn decimal(value: &Stored, scale: Option<u32>) -> Option<Value> {
    let text = match value {
        Stored::Integer(i) => i.to_string(),
        Stored::Real(x) => float_text(*x),
        Stored::Null | Stored::Text(_) | Stored::Blob => return None,
    };
    let decimal = decimal_of(&text)?.normalize();
    let digits = decimal.mantissa().unsigned_abs().to_string().len();
    let fits = digits <= DIGITS && scale.is_none_or(|scale| decimal.scale() <= scale);
    fits.then_some(Value::Decimal(decimal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_protocol::Kind;

    fn kind(declared: &str, values: &[Stored]) -> Result<Option<(Kind, bool)>, String> {
        let settled = settle(declared, &values.iter().collect::<Vec<_>>())?;
        Ok(settled.map(|settled| (settled.column_type.kind(), settled.remark.is_some())))
    }

    fn text(text: &str) -> Stored {
        Stored::Text(text.to_owned())
    }

    #[test]
    fn a_column_is_what_all_its_values_are() {
        use Stored::{Blob, Integer, Null, Real};
        for (declared, values, expected) in [
            ("INTEGER", vec![Integer(1), Null], (Kind::Integer, false)),
            ("", vec![Integer(1), Null], (Kind::Integer, false)),
            ("INT", vec![Integer(1), Real(2.5)], (Kind::Float, true)),
            ("REAL", vec![Real(0.1)], (Kind::Float, false)),
            ("BOOLEAN", vec![Integer(1), Integer(0), Null], (Kind::Boolean, false)),
            ("BOOLEAN", vec![Integer(1), Integer(2)], (Kind::Integer, true)),
            ("INTEGER", vec![Integer(1), Integer(0)], (Kind::Integer, false)),
            ("NUMERIC(10,2)", vec![Real(2.25), Integer(3), Null], (Kind::Decimal, false)),
            ("NUMERIC(10,2)", vec![Real(2.255), Integer(3)], (Kind::Float, true)),
            ("DECIMAL", vec![Real(0.1), Real(1e-5)], (Kind::Decimal, false)),
            ("DECIMAL", vec![Real(0.1 + 0.2)], (Kind::Float, true)),
            ("TEXT", vec![text("2024-02-29"), Null], (Kind::Date, false)),
            ("DATE", vec![text("2024-02-29"), text("2024-02-30")], (Kind::Text, true)),
            ("DATE", vec![text("2024-02-29"), text("")], (Kind::Text, true)),
            ("TEXT", vec![text("2024-2-9")], (Kind::Text, false)),
            ("DATETIME", vec![text("2009-01-01 00:00:00")], (Kind::Timestamp, false)),
            ("DATETIME", vec![text("2009-01-01T00:00:00")], (Kind::Text, true)),
            ("DATETIME", vec![text("2009-01-01 00:00:00"), text("2009-01-01")], (Kind::Text, true)),
            ("DATE", vec![Integer(1_700_000_000)], (Kind::Integer, true)),
            ("VARCHAR(5)", vec![text("x")], (Kind::Text, false)),
            ("TIMESTAMP", vec![Null], (Kind::Timestamp, false)),
            ("SOMETHING ODD", vec![], (Kind::Text, false)),
        ] {
            assert_eq!(kind(declared, &values), Ok(Some(expected)), "{declared} {values:?}");
        }
        assert_eq!(kind("BLOB", &[Blob, Null]), Ok(None));
        assert_eq!(kind("TEXT", &[text("x"), Blob]), Ok(None));
    }

    #[test]
    fn texts_among_numbers_are_refused_with_both_rows() {
        let why = kind("INTEGER", &[Stored::Null, Stored::Integer(7), text("N/A")]).unwrap_err();
        assert!(why.starts_with("row 3 holds the text `N/A` and row 2 the number 7: "), "{why}");
        assert!(why.contains("CAST"), "{why}");
        assert!(kind("REAL", &[Stored::Real(f64::INFINITY)]).unwrap_err().contains("row 1 holds Infinity"));
        assert!(kind("", &[Stored::Real(0.5), Stored::Integer(i64::MAX)]).unwrap_err().contains("row 2"));
        // The twins.
        assert!(kind("INTEGER", &[Stored::Null, Stored::Integer(7), Stored::Integer(8)]).is_ok());
        assert!(kind("", &[Stored::Real(0.5), Stored::Integer(1 << 53)]).is_ok());
    }
}
