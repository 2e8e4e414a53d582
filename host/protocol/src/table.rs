//! A table of values, held by column as it crosses the boundary to a guest.

use rust_decimal::Decimal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::value::{Kind, Value};

/// The cells of one column. A NULL cell holds 0, false or the empty string.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// NULL throughout.
    Unknown,
    /// Booleans.
    Booleans(Vec<bool>),
    /// Integers.
    Integers(Vec<i64>),
    /// Doubles.
    Floats(Vec<f64>),
    /// Decimals.
    Decimals(Vec<Decimal>),
    /// Texts.
    Texts(Texts),
    /// Days since 1970-01-01.
    Dates(Vec<i32>),
    /// Microseconds since 1970-01-01T00:00:00.
    Timestamps(Vec<i64>),
}

/// Many strings as one: string `i` runs from `ends[i - 1]` (or 0) to `ends[i]`, in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts {
    /// All strings, one after the other.
    pub data: String,
    /// Where each ends.
    pub ends: Vec<u32>,
}

impl Texts {
    /// Appends one string. Past 4 GiB the string is cut off; byte budgets end far below that.
    pub fn push(&mut self, text: &str) {
        self.data.push_str(text);
        self.ends.push(u32::try_from(self.data.len()).unwrap_or(u32::MAX));
    }

    /// String `index`; empty where there is none.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends.get(index - 1).copied().unwrap_or(0) };
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.data.get(start as usize..end as usize).unwrap_or("")
    }
}

/// One named and typed column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, as the query gave it.
    pub name: String,
    /// Bit `i % 8` of byte `i / 8` says that row `i` is NULL; empty: none is.
    pub nulls: Vec<u8>,
    /// The cells, as many as the table has rows.
    pub cells: Cells,
}

impl Column {
    /// The kind of its cells.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.cells {
            Cells::Unknown => Kind::Unknown,
            Cells::Booleans(_) => Kind::Boolean,
            Cells::Integers(_) => Kind::Integer,
            Cells::Floats(_) => Kind::Float,
            Cells::Decimals(_) => Kind::Decimal,
            Cells::Texts(_) => Kind::Text,
            Cells::Dates(_) => Kind::Date,
            Cells::Timestamps(_) => Kind::Timestamp,
        }
    }

    /// Whether row `row` is NULL.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        matches!(self.cells, Cells::Unknown) || self.nulls.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
    }

    /// The value in row `row`; NULL past the end.
    #[must_use]
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        let value = match &self.cells {
            Cells::Unknown => None,
            Cells::Booleans(cells) => cells.get(row).map(|b| Value::Boolean(*b)),
            Cells::Integers(cells) => cells.get(row).map(|i| Value::Integer(*i)),
            Cells::Floats(cells) => cells.get(row).map(|x| Value::Float(*x)),
            Cells::Decimals(cells) => cells.get(row).map(|d| Value::Decimal(*d)),
            Cells::Texts(texts) => (row < texts.ends.len()).then(|| Value::Text(texts.get(row).to_owned())),
            Cells::Dates(cells) => cells.get(row).map(|d| Value::Date(*d)),
            Cells::Timestamps(cells) => cells.get(row).map(|t| Value::Timestamp(*t)),
        };
        value.unwrap_or(Value::Null)
    }

    /// Builds a column of `kind` from values. A value of another kind is an error, NULL is not.
    ///
    /// # Errors
    /// `column NAME row N: KIND expected, KIND given`.
    pub fn from_values<'a>(
        name: &str,
        kind: Kind,
        values: impl ExactSizeIterator<Item = &'a Value>,
    ) -> Result<Column, String> {
        let mut builder = ColumnBuilder::new(name, kind, values.len());
        for value in values {
            builder.push(value)?;
        }
        Ok(builder.finish())
    }
}

/// Collects the cells of one column.
#[derive(Debug)]
pub struct ColumnBuilder {
    name: String,
    nulls: Vec<u8>,
    any_null: bool,
    cells: Cells,
    rows: usize,
}

impl ColumnBuilder {
    /// An empty column of `kind` with room for `capacity` rows.
    #[must_use]
    pub fn new(name: &str, kind: Kind, capacity: usize) -> ColumnBuilder {
        let cells = match kind {
            Kind::Unknown => Cells::Unknown,
            Kind::Boolean => Cells::Booleans(Vec::with_capacity(capacity)),
            Kind::Integer => Cells::Integers(Vec::with_capacity(capacity)),
            Kind::Float => Cells::Floats(Vec::with_capacity(capacity)),
            Kind::Decimal => Cells::Decimals(Vec::with_capacity(capacity)),
            Kind::Text => Cells::Texts(Texts::default()),
            Kind::Date => Cells::Dates(Vec::with_capacity(capacity)),
            Kind::Timestamp => Cells::Timestamps(Vec::with_capacity(capacity)),
        };
        ColumnBuilder { name: name.to_owned(), nulls: Vec::new(), any_null: false, cells, rows: 0 }
    }

    /// Appends one value.
    ///
    /// # Errors
    /// `column NAME row N: KIND expected, KIND given`.
    pub fn push(&mut self, value: &Value) -> Result<(), String> {
        match (&mut self.cells, value) {
            (_, Value::Null) => {
                self.mark_null();
                self.push_default();
            }
            (Cells::Booleans(cells), Value::Boolean(b)) => cells.push(*b),
            (Cells::Integers(cells), Value::Integer(i)) => cells.push(*i),
            (Cells::Floats(cells), Value::Float(x)) => cells.push(*x),
            (Cells::Decimals(cells), Value::Decimal(d)) => cells.push(*d),
            (Cells::Texts(cells), Value::Text(t)) => cells.push(t),
            (Cells::Dates(cells), Value::Date(d)) => cells.push(*d),
            (Cells::Timestamps(cells), Value::Timestamp(t)) => cells.push(*t),
            (_, other) => {
                let kind = Column { name: String::new(), nulls: Vec::new(), cells: self.cells.clone() }.kind();
                return Err(format!("column {} row {}: {kind} expected, {} given", self.name, self.rows, other.kind()));
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn mark_null(&mut self) {
        self.any_null = true;
        let byte = self.rows / 8;
        if self.nulls.len() <= byte {
            self.nulls.resize(byte + 1, 0);
        }
        if let Some(mask) = self.nulls.get_mut(byte) {
            *mask |= 1 << (self.rows % 8);
        }
    }

    fn push_default(&mut self) {
        match &mut self.cells {
            Cells::Unknown => {}
            Cells::Booleans(cells) => cells.push(false),
            Cells::Integers(cells) | Cells::Timestamps(cells) => cells.push(0),
            Cells::Floats(cells) => cells.push(0.0),
            Cells::Decimals(cells) => cells.push(Decimal::ZERO),
            Cells::Texts(cells) => cells.push(""),
            Cells::Dates(cells) => cells.push(0),
        }
    }

    /// The finished column.
    #[must_use]
    pub fn finish(mut self) -> Column {
        if self.any_null && !matches!(self.cells, Cells::Unknown) {
            self.nulls.resize(self.rows.div_ceil(8), 0);
        } else {
            self.nulls.clear();
        }
        Column { name: self.name, nulls: self.nulls, cells: self.cells }
    }
}

/// A table: every column holds `rows` cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// How many rows.
    pub rows: usize,
    /// The columns, in order.
    pub columns: Vec<Column>,
}

impl Table {
    /// Builds a table from rows of values; each column's kind is given.
    ///
    /// # Errors
    /// A row of the wrong length, or a value of the wrong kind, by name and place.
    pub fn from_rows(columns: &[(String, Kind)], rows: &[Vec<Value>]) -> Result<Table, String> {
        if let Some((index, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != columns.len()) {
            return Err(format!("row {index}: {} values expected, {} given", columns.len(), row.len()));
        }
        let built = columns
            .iter()
            .enumerate()
            .map(|(index, (name, kind))| Column::from_values(name, *kind, rows.iter().map(|row| &row[index])));
        Ok(Table { rows: rows.len(), columns: built.collect::<Result<_, _>>()? })
    }

    /// Row `row` as values, in column order.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<Value> {
        self.columns.iter().map(|column| column.value(row)).collect()
    }

    /// All rows as values.
    #[must_use]
    pub fn to_rows(&self) -> Vec<Vec<Value>> {
        (0..self.rows).map(|row| self.row(row)).collect()
    }

    /// How many bytes the cells take: 8 a number, 4 a date, 1 a boolean, texts by length.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let cells = |column: &Column| match &column.cells {
            Cells::Unknown => 0,
            Cells::Booleans(cells) => cells.len(),
            Cells::Integers(cells) | Cells::Timestamps(cells) => cells.len() * 8,
            Cells::Floats(cells) => cells.len() * 8,
            Cells::Decimals(cells) => cells.len() * 16,
            Cells::Texts(texts) => texts.data.len() + texts.ends.len() * 4,
            Cells::Dates(cells) => cells.len() * 4,
        };
        self.columns.iter().map(|column| (column.name.len() + column.nulls.len() + cells(column)) as u64).sum()
    }
}

/// The JSON form: `{"columns": [{"name", "kind"}], "rows": [[..], ..]}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableJson {
    columns: Vec<ColumnJson>,
    rows: Vec<Vec<serde_json::Value>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnJson {
    name: String,
    kind: Kind,
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns =
            self.columns.iter().map(|column| ColumnJson { name: column.name.clone(), kind: column.kind() }).collect();
        let rows =
            (0..self.rows).map(|row| self.columns.iter().map(|column| column.value(row).to_json()).collect()).collect();
        TableJson { columns, rows }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        use serde::de::Error;
        let json = TableJson::deserialize(deserializer)?;
        let columns: Vec<_> = json.columns.into_iter().map(|column| (column.name, column.kind)).collect();
        let read_row = |(index, row): (usize, Vec<serde_json::Value>)| {
            if row.len() != columns.len() {
                return Err(format!("row {index}: {} values expected, {} given", columns.len(), row.len()));
            }
            let read = |(cell, (name, kind)): (&serde_json::Value, &(String, Kind))| {
                Value::from_json(*kind, cell).map_err(|why| format!("column {name} row {index}: {why}"))
            };
            row.iter().zip(&columns).map(read).collect::<Result<Vec<_>, _>>()
        };
        let rows: Result<Vec<_>, _> = json.rows.into_iter().enumerate().map(read_row).collect();
        rows.and_then(|rows| Table::from_rows(&columns, &rows)).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let columns = [
            ("id".to_owned(), Kind::Integer),
            ("name".to_owned(), Kind::Text),
            ("paid".to_owned(), Kind::Decimal),
            ("gone".to_owned(), Kind::Unknown),
        ];
        let rows: Vec<Vec<Value>> = (0..20)
            .map(|i| {
                let name = if i % 3 == 0 { Value::Null } else { Value::Text(format!("né{i}")) };
                vec![Value::Integer(i), name, Value::Decimal(Decimal::new(i * 5, 2)), Value::Null]
            })
            .collect();
        Table::from_rows(&columns, &rows).unwrap()
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        let table = sample();
        assert_eq!(table.row(4)[1], Value::Text("né4".to_owned()));
        assert_eq!(table.row(9)[1], Value::Null);
        let json = serde_json::to_string(&table).unwrap();
        let back: Table = serde_json::from_str(&json).unwrap();
        assert_eq!(back.to_rows(), table.to_rows());
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }

    #[test]
    fn a_wrong_cell_is_named() {
        let columns = [("total".to_owned(), Kind::Decimal)];
        let wrong = Table::from_rows(&columns, &[vec![Value::Text("x".into())]]);
        assert_eq!(wrong.unwrap_err(), "column total row 0: decimal expected, text given");
    }
}
