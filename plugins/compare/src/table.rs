//! Tables by column, laid out as the plugin interface lays them out, and their JSON form.

use crate::time::{date_text, timestamp_text};

/// A table: every column holds `rows` cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// How many rows.
    pub rows: usize,
    /// The columns, in order.
    pub columns: Vec<Column>,
}

/// One named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Bit `i % 8` of byte `i / 8` says that row `i` is NULL; empty: none is.
    pub nulls: Vec<u8>,
    /// The cells.
    pub cells: Cells,
}

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
    /// Decimals, as canonical text.
    Decimals(Texts),
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
    /// Appends one string.
    pub fn push(&mut self, text: &str) {
        self.data.push_str(text);
        self.ends.push(u32::try_from(self.data.len()).unwrap_or(u32::MAX));
    }

    /// String `index`; empty where there is none.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        let before = index.checked_sub(1).and_then(|before| self.ends.get(before));
        let start = before.copied().unwrap_or(0) as usize;
        let end = self.ends.get(index).map_or(start, |end| *end as usize);
        self.data.get(start..end).unwrap_or("")
    }
}

impl Cells {
    /// The name of the kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Cells::Unknown => "unknown",
            Cells::Booleans(_) => "boolean",
            Cells::Integers(_) => "integer",
            Cells::Floats(_) => "float",
            Cells::Decimals(_) => "decimal",
            Cells::Texts(_) => "text",
            Cells::Dates(_) => "date",
            Cells::Timestamps(_) => "timestamp",
        }
    }

    /// How many; none where there is nothing to count.
    fn count(&self) -> Option<usize> {
        match self {
            Cells::Unknown => None,
            Cells::Booleans(cells) => Some(cells.len()),
            Cells::Integers(cells) | Cells::Timestamps(cells) => Some(cells.len()),
            Cells::Floats(cells) => Some(cells.len()),
            Cells::Decimals(cells) | Cells::Texts(cells) => Some(cells.ends.len()),
            Cells::Dates(cells) => Some(cells.len()),
        }
    }
}

impl Column {
    /// Whether row `row` is NULL.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        let bit = |byte: &u8| byte >> (row % 8) & 1 == 1;
        matches!(self.cells, Cells::Unknown) || self.nulls.get(row / 8).is_some_and(bit)
    }

    fn select(&self, kept: &[bool]) -> Column {
        fn picked<T: Clone>(cells: &[T], kept: &[bool]) -> Vec<T> {
            let pairs = cells.iter().zip(kept).filter(|(_, keep)| **keep);
            pairs.map(|(cell, _)| cell.clone()).collect()
        }
        let rows = || (0..kept.len()).filter(|row| kept.get(*row) == Some(&true));
        let texts = |texts: &Texts| {
            let mut picked = Texts::default();
            rows().for_each(|row| picked.push(texts.get(row)));
            picked
        };
        let cells = match &self.cells {
            Cells::Unknown => Cells::Unknown,
            Cells::Booleans(cells) => Cells::Booleans(picked(cells, kept)),
            Cells::Integers(cells) => Cells::Integers(picked(cells, kept)),
            Cells::Floats(cells) => Cells::Floats(picked(cells, kept)),
            Cells::Decimals(cells) => Cells::Decimals(texts(cells)),
            Cells::Texts(cells) => Cells::Texts(texts(cells)),
            Cells::Dates(cells) => Cells::Dates(picked(cells, kept)),
            Cells::Timestamps(cells) => Cells::Timestamps(picked(cells, kept)),
        };
        let mut nulls = Vec::new();
        if !self.nulls.is_empty() {
            nulls.resize(rows().count().div_ceil(8), 0_u8);
            for (place, row) in rows().enumerate() {
                if let Some(byte) = nulls.get_mut(place / 8) {
                    *byte |= u8::from(self.is_null(row)) << (place % 8);
                }
            }
        }
        Column { name: self.name.clone(), nulls, cells }
    }

    /// The cell in row `row` as people read it; `NULL` past the end.
    #[must_use]
    pub fn shown(&self, row: usize) -> String {
        let shown = match &self.cells {
            _ if self.is_null(row) => None,
            Cells::Unknown => None,
            Cells::Booleans(cells) => cells.get(row).map(bool::to_string),
            Cells::Integers(cells) => cells.get(row).map(i64::to_string),
            Cells::Floats(cells) => cells.get(row).map(|x| format!("{x:?}")),
            Cells::Decimals(cells) | Cells::Texts(cells) => Some(cells.get(row).to_owned()),
            Cells::Dates(cells) => cells.get(row).map(|days| date_text(i64::from(*days))),
            Cells::Timestamps(cells) => cells.get(row).map(|micros| timestamp_text(*micros)),
        };
        shown.unwrap_or_else(|| "NULL".to_owned())
    }
}

impl Table {
    /// The column of an exact name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The rows of which `keep` says so, in order; it is asked once for each.
    #[must_use]
    pub fn select(&self, keep: impl FnMut(usize) -> bool) -> Table {
        let kept: Vec<bool> = (0..self.rows).map(keep).collect();
        let rows = kept.iter().filter(|keep| **keep).count();
        Table { rows, columns: self.columns.iter().map(|column| column.select(&kept)).collect() }
    }

    /// The names of the columns, for messages.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    }

    /// Whether every column holds as many cells as the table has rows.
    pub(crate) fn is_whole(&self) -> bool {
        self.columns.iter().all(|column| column.cells.count().is_none_or(|count| count == self.rows))
    }
}
