//! The JSON form of a table: `{"columns": [{"name", "kind"}], "rows": [[..], ..]}`. Cells go
//! straight into their columns, so that a thousand rows cost no thousand small values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::decimal::is_decimal;
use crate::table::{Cells, Column, Table, Texts};
use crate::time::{DAY, read_date, read_timestamp};

/// The kind of a column, as its JSON form names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Unknown,
    Boolean,
    Integer,
    Float,
    Decimal,
    Text,
    Date,
    Timestamp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    kind: Kind,
}

impl Header {
    fn column(self) -> Column {
        let cells = match self.kind {
            Kind::Unknown => Cells::Unknown,
            Kind::Boolean => Cells::Booleans(Vec::new()),
            Kind::Integer => Cells::Integers(Vec::new()),
            Kind::Float => Cells::Floats(Vec::new()),
            Kind::Decimal => Cells::Decimals(Texts::default()),
            Kind::Text => Cells::Texts(Texts::default()),
            Kind::Date => Cells::Dates(Vec::new()),
            Kind::Timestamp => Cells::Timestamps(Vec::new()),
        };
        Column { name: self.name, nulls: Vec::new(), cells }
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table, D::Error> {
        deserializer.deserialize_map(TableVisitor)
    }
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table: {\"columns\": [{\"name\", \"kind\"}], \"rows\": [[..]]}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
        let mut table: Option<Table> = None;
        // Rows that come before the columns have to wait for them.
        let mut early: Option<Vec<serde_json::Value>> = None;
        let mut filled = false;
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), &mut table) {
                ("columns", None) => {
                    let headers: Vec<Header> = map.next_value()?;
                    let columns = headers.into_iter().map(Header::column).collect();
                    table = Some(Table { rows: 0, columns });
                }
                ("rows", Some(table)) if !filled => {
                    map.next_value_seed(RowsSeed(table))?;
                    filled = true;
                }
                ("rows", None) if early.is_none() => early = Some(map.next_value()?),
                ("columns" | "rows", _) => return Err(A::Error::custom(format!("{key} stands twice"))),
                _ => return Err(A::Error::unknown_field(&key, &["columns", "rows"])),
            }
        }
        let mut table = table.ok_or_else(|| A::Error::missing_field("columns"))?;
        match early {
            Some(rows) if !filled => {
                RowsSeed(&mut table).deserialize(serde_json::Value::Array(rows)).map_err(A::Error::custom)?;
            }
            None if filled => {}
            _ => return Err(A::Error::missing_field("rows")),
        }
        Ok(table)
    }
}

struct RowsSeed<'t>(&'t mut Table);

impl<'de> DeserializeSeed<'de> for RowsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while rows.next_element_seed(RowSeed(self.0))?.is_some() {}
        let rows = self.0.rows;
        for column in &mut self.0.columns {
            if !column.nulls.is_empty() {
                column.nulls.resize(rows.div_ceil(8), 0);
            }
        }
        Ok(())
    }
}

struct RowSeed<'t>(&'t mut Table);

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row: a list of cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<(), A::Error> {
        let (row, wanted) = (self.0.rows, self.0.columns.len());
        let wrong = || A::Error::custom(format!("row {row}: {wanted} values expected"));
        for column in &mut self.0.columns {
            let seed = CellSeed { column, row };
            if cells.next_element_seed(seed)?.is_none() {
                return Err(wrong());
            }
        }
        if cells.next_element::<serde::de::IgnoredAny>()?.is_some() {
            return Err(wrong());
        }
        self.0.rows += 1;
        Ok(())
    }
}

struct CellSeed<'c> {
    column: &'c mut Column,
    row: usize,
}

impl CellSeed<'_> {
    fn wrong<E: Error>(&self, given: &str) -> E {
        let (name, kind) = (&self.column.name, self.column.cells.kind());
        E::custom(format!("column {name} row {}: {kind} expected, {given} given", self.row))
    }

    fn push_null(self) {
        let byte = self.row / 8;
        let nulls = &mut self.column.nulls;
        match &mut self.column.cells {
            Cells::Unknown => return,
            Cells::Booleans(cells) => cells.push(false),
            Cells::Integers(cells) | Cells::Timestamps(cells) => cells.push(0),
            Cells::Floats(cells) => cells.push(0.0),
            Cells::Decimals(cells) | Cells::Texts(cells) => cells.push(""),
            Cells::Dates(cells) => cells.push(0),
        }
        if nulls.len() <= byte {
            nulls.resize(byte + 1, 0);
        }
        if let Some(mask) = nulls.get_mut(byte) {
            *mask |= 1 << (self.row % 8);
        }
    }
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CellSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a cell: null, boolean, number or text")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.push_null();
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        match &mut self.column.cells {
            Cells::Booleans(cells) => {
                cells.push(value);
                Ok(())
            }
            _ => Err(self.wrong("boolean")),
        }
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        match &mut self.column.cells {
            Cells::Integers(cells) => cells.push(value),
            #[expect(clippy::cast_precision_loss, reason = "an integer is lawful for a float")]
            Cells::Floats(cells) => cells.push(value as f64),
            Cells::Decimals(cells) => cells.push(&value.to_string()),
            _ => return Err(self.wrong("integer")),
        }
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(self.wrong("an integer beyond 64 bits")),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        match &mut self.column.cells {
            Cells::Floats(cells) => cells.push(value),
            Cells::Integers(cells) => match crate::canon::exact_integer(value) {
                Some(integer) => cells.push(integer),
                None => return Err(self.wrong("float")),
            },
            Cells::Decimals(cells) => cells.push(&format!("{value}")),
            _ => return Err(self.wrong("float")),
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let read = match &mut self.column.cells {
            Cells::Texts(cells) => {
                cells.push(value);
                Some(())
            }
            Cells::Decimals(cells) => is_decimal(value).then(|| cells.push(value)),
            Cells::Dates(cells) => read_midnight(value).map(|days| cells.push(days)),
            Cells::Timestamps(cells) => read_timestamp(value).map(|micros| cells.push(micros)),
            Cells::Floats(cells) => special_float(value).map(|x| cells.push(x)),
            Cells::Unknown | Cells::Booleans(_) | Cells::Integers(_) => None,
        };
        read.ok_or_else(|| self.wrong("text"))
    }
}

/// The floats that JSON numbers lack.
fn special_float(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Days of a date, or of a moment at midnight.
fn read_midnight(text: &str) -> Option<i32> {
    read_date(text).or_else(|| {
        let micros = read_timestamp(text)?;
        (micros % DAY == 0).then(|| i32::try_from(micros / DAY).ok()).flatten()
    })
}
