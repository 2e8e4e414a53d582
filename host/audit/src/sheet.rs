//! A table by row: the form in which cases are made and shrunk.

use serde_json::{Value as Json, json};
use tribunal_protocol::table::Table;
use tribunal_protocol::value::{Kind, MICROS_PER_DAY, Value};

/// A table as names, kinds and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Name and kind of every column.
    pub columns: Vec<(String, Kind)>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<Value>>,
}

impl Sheet {
    /// The sheet of a table.
    #[must_use]
    pub fn of(table: &Table) -> Sheet {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.kind())).collect();
        Sheet { columns, rows: table.to_rows() }
    }

    /// The table. A column whose cells are of several kinds takes the narrowest kind that holds them
    /// all without loss to the reader: decimal or float for numbers, timestamp for days, else text.
    #[must_use]
    pub fn to_table(&self) -> Table {
        let mut sheet = self.clone();
        for place in 0..sheet.columns.len() {
            sheet.settle(place);
        }
        Table::from_rows(&sheet.columns, &sheet.rows).unwrap_or_default()
    }

    /// Makes the kind of a column that of its cells.
    fn settle(&mut self, place: usize) {
        let kinds = || self.rows.iter().map(|row| row[place].kind()).filter(|kind| *kind != Kind::Unknown);
        let Some(first) = kinds().next() else { return };
        if kinds().all(|kind| kind == first) {
            self.columns[place].1 = first;
            return;
        }
        let common = kinds().try_fold(first, wider).unwrap_or(Kind::Text);
        self.columns[place].1 = common;
        for row in &mut self.rows {
            row[place] = widened(common, &row[place]);
        }
    }

    /// `{"columns": [{"name", "kind"}], "rows": [..]}`, as expectations hold gold answers.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let columns: Vec<Json> = self.columns.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
        let rows: Vec<Vec<Json>> = self.rows.iter().map(|row| row.iter().map(Value::to_json).collect()).collect();
        json!({"columns": columns, "rows": rows})
    }

    /// The place of a column, by name without case.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        let wanted = name.to_lowercase();
        self.columns.iter().position(|(name, _)| name.to_lowercase() == wanted)
    }

    /// Without a column.
    #[must_use]
    pub fn without_column(&self, place: usize) -> Sheet {
        let mut sheet = self.clone();
        sheet.columns.remove(place);
        for row in &mut sheet.rows {
            row.remove(place);
        }
        sheet
    }

    /// With only these columns, in this order.
    #[must_use]
    pub fn with_columns(&self, places: &[usize]) -> Sheet {
        Sheet {
            columns: places.iter().map(|place| self.columns[*place].clone()).collect(),
            rows: self.rows.iter().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect(),
        }
    }

    /// How many cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.rows.len() * self.columns.len()
    }
}

/// The kind that holds values of both; none but text does.
fn wider(a: Kind, b: Kind) -> Option<Kind> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (Kind::Integer, Kind::Decimal) | (Kind::Decimal, Kind::Integer) => Some(Kind::Decimal),
        (Kind::Float, Kind::Integer | Kind::Decimal) | (Kind::Integer | Kind::Decimal, Kind::Float) => {
            Some(Kind::Float)
        }
        (Kind::Date, Kind::Timestamp) | (Kind::Timestamp, Kind::Date) => Some(Kind::Timestamp),
        _ => None,
    }
}

fn widened(kind: Kind, value: &Value) -> Value {
    match (kind, value) {
        (_, Value::Null) => Value::Null,
        (Kind::Decimal, Value::Integer(i)) => Value::Decimal((*i).into()),
        (Kind::Float, Value::Integer(_) | Value::Decimal(_)) => {
            value.to_string().parse().map_or_else(|_| value.clone(), Value::Float)
        }
        (Kind::Timestamp, Value::Date(days)) => Value::Timestamp(i64::from(*days) * MICROS_PER_DAY),
        (Kind::Text, other) if other.kind() != Kind::Text => Value::Text(other.to_string()),
        (_, other) => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_several_kinds_takes_the_one_that_holds_all() {
        let sheet = |values: Vec<Value>| Sheet {
            columns: vec![("a".to_owned(), Kind::Integer)],
            rows: values.into_iter().map(|value| vec![value]).collect(),
        };
        for (values, kind, last) in [
            (vec![Value::Integer(1), Value::Decimal(rust_decimal::Decimal::new(15, 1))], Kind::Decimal, "1.5"),
            (vec![Value::Integer(1), Value::Float(1.5)], Kind::Float, "1.5"),
            (vec![Value::Timestamp(1), Value::Date(1)], Kind::Timestamp, "1970-01-02T00:00:00"),
            (vec![Value::Text("x".to_owned()), Value::Integer(7)], Kind::Text, "7"),
            (vec![Value::Null, Value::Integer(7)], Kind::Integer, "7"),
        ] {
            let table = sheet(values).to_table();
            assert_eq!((table.columns[0].kind(), table.columns[0].value(1).to_string().as_str()), (kind, last));
        }
    }
}
