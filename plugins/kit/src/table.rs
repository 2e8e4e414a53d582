//! Tables by column, and their values.

use crate::{Cells, Column, ColumnInfo, Failure, Kind, Table, TableInfo, Texts, Value};

impl Texts {
    /// How many strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// String `index`; empty where there is none.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        let before = index.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0) as usize;
        let end = self.ends.get(index).map_or(start, |end| *end as usize);
        self.data.get(start..end).unwrap_or("")
    }

    /// Appends one string.
    pub fn push(&mut self, text: &str) {
        self.data.push_str(text);
        self.ends.push(u32::try_from(self.data.len()).unwrap_or(u32::MAX));
    }

    /// Keeps the first `count` strings.
    pub fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.data.truncate(self.ends.last().map_or(0, |end| *end as usize));
    }

    /// All strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(strings: I) -> Texts {
        let mut texts = Texts { data: String::new(), ends: Vec::new() };
        strings.into_iter().for_each(|text| texts.push(text));
        texts
    }
}

impl Kind {
    /// The name, as in contracts, schemas and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Decimal => "decimal",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Timestamp => "timestamp",
        }
    }
}

impl Column {
    /// A column of texts without NULL.
    #[must_use]
    pub fn texts<'a>(name: &str, cells: impl IntoIterator<Item = &'a str>) -> Column {
        Column { name: name.to_owned(), nulls: Vec::new(), cells: Cells::Texts(cells.into_iter().collect()) }
    }

    /// A column of booleans without NULL.
    #[must_use]
    pub fn booleans(name: &str, cells: impl IntoIterator<Item = bool>) -> Column {
        Column { name: name.to_owned(), nulls: Vec::new(), cells: Cells::Booleans(cells.into_iter().collect()) }
    }

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

    fn truncate(&mut self, count: usize) {
        match &mut self.cells {
            Cells::Unknown => {}
            Cells::Booleans(cells) => cells.truncate(count),
            Cells::Integers(cells) | Cells::Timestamps(cells) => cells.truncate(count),
            Cells::Floats(cells) => cells.truncate(count),
            Cells::Decimals(cells) | Cells::Texts(cells) => cells.truncate(count),
            Cells::Dates(cells) => cells.truncate(count),
        }
        self.nulls.truncate(count.div_ceil(8));
        // Bits past the last row say nothing, and equal tables have equal bytes.
        if let (Some(last), true) = (self.nulls.last_mut(), !count.is_multiple_of(8)) {
            *last &= (1 << (count % 8)) - 1;
        }
    }

    /// Whether row `row` is NULL.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        let bit = |byte: &u8| byte >> (row % 8) & 1 == 1;
        matches!(self.cells, Cells::Unknown) || self.nulls.get(row / 8).is_some_and(bit)
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
            Cells::Decimals(cells) => text(cells, row).map(Value::Decimal),
            Cells::Texts(cells) => text(cells, row).map(Value::Text),
            Cells::Dates(cells) => cells.get(row).map(|d| Value::Date(*d)),
            Cells::Timestamps(cells) => cells.get(row).map(|t| Value::Timestamp(*t)),
        };
        value.unwrap_or(Value::Null)
    }

    /// The text in row `row`, of a column of texts; none for NULL.
    #[must_use]
    pub fn text(&self, row: usize) -> Option<&str> {
        match &self.cells {
            Cells::Texts(cells) if !self.is_null(row) && row < cells.len() => Some(cells.get(row)),
            _ => None,
        }
    }
}

fn text(cells: &Texts, row: usize) -> Option<String> {
    (row < cells.len()).then(|| cells.get(row).to_owned())
}

impl Table {
    /// A table of columns that are equally long; `rows` says how long.
    #[must_use]
    pub fn new(rows: usize, columns: Vec<Column>) -> Table {
        Table { rows: u32::try_from(rows).unwrap_or(u32::MAX), columns }
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Keeps the first `count` rows.
    pub fn truncate(&mut self, count: usize) {
        if count >= self.len() {
            return;
        }
        self.rows = u32::try_from(count).unwrap_or(u32::MAX);
        for column in &mut self.columns {
            column.truncate(count);
        }
    }

    /// The column of a name, without regard to case.
    ///
    /// # Errors
    /// `failed`: the query that made this table did not name its columns so.
    pub fn column(&self, name: &str) -> Result<&Column, Failure> {
        let same = |column: &&Column| column.name.eq_ignore_ascii_case(name);
        self.columns.iter().find(same).ok_or_else(|| Failure::failed(format!("the result has no column {name}")))
    }

    /// The value in a row and a column, by place; NULL outside.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Value {
        self.columns.get(column).map_or(Value::Null, |column| column.value(row))
    }

    /// The values of a row, in column order.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<Value> {
        self.columns.iter().map(|column| column.value(row)).collect()
    }
}

impl TableInfo {
    /// The granted column of a name, without regard to case.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&ColumnInfo> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_row_with_their_nulls() {
        let column = Column {
            name: "Name".into(),
            nulls: vec![0b10],
            cells: Cells::Texts(["né", "", "z"].into_iter().collect()),
        };
        assert_eq!(column.value(0), Value::Text("né".into()));
        assert_eq!(column.value(1), Value::Null);
        assert_eq!(column.text(2), Some("z"));
        assert_eq!(column.value(3), Value::Null);
        let table = Table::new(3, vec![column]);
        assert_eq!(table.column("name").unwrap().kind(), Kind::Text);
        assert!(table.column("other").is_err());
        assert_eq!(table.value(9, 9), Value::Null);
    }

    #[test]
    fn a_cut_table_holds_nothing_of_the_rest() {
        let texts = |nulls: Vec<u8>, cells: &[&str]| Column {
            name: "t".into(),
            nulls,
            cells: Cells::Texts(cells.iter().copied().collect()),
        };
        let mut table = Table::new(3, vec![texts(vec![0b110], &["a", "", ""])]);
        table.truncate(5);
        assert_eq!(table.len(), 3);
        table.truncate(2);
        assert_eq!(table, Table::new(2, vec![texts(vec![0b10], &["a", ""])]));
        table.truncate(0);
        assert_eq!(table, Table::new(0, vec![texts(vec![], &[])]));
    }
}
