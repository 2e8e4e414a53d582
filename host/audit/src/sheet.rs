//! A table by row: the form in which cases are made and shrunk.

use serde_json::{Value as Json, json};
use tribunal_protocol::table::Table;
use tribunal_protocol::value::{Kind, Value};

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

    /// The table. A column whose cells are of several kinds, or of another than it says, takes the
    /// kind of its first value where all agree, and is text else.
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
        self.columns[place].1 = Kind::Text;
        for row in &mut self.rows {
            if !row[place].is_null() {
                row[place] = Value::Text(row[place].to_string());
            }
        }
    }

    /// `{"columns": [{"name", "kind"}], "rows": [..]}`, as expectations hold gold answers.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let columns: Vec<Json> =
            self.columns.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
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
