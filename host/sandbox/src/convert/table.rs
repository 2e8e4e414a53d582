//! Tables out of a guest: checked, and brought into the one form that the host compares.

use rust_decimal::Decimal;
use tribunal_protocol::table::{Cells, Column, Table, Texts};

use crate::bindings::types;
use crate::convert::decimal;

/// A table from a guest.
///
/// # Errors
/// The first column that does not hold what the interface promises, and why.
pub(crate) fn table(table: types::Table) -> Result<Table, String> {
    let rows = table.rows as usize;
    let columns = table.columns.into_iter().map(|given| {
        let name = given.name.clone();
        column(given, rows).map_err(|why| format!("column `{name}`: {why}"))
    });
    let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
    if columns.is_empty() && rows > 0 {
        return Err(format!("a table of {rows} rows without columns"));
    }
    Ok(Table { rows, columns })
}

fn column(given: types::Column, rows: usize) -> Result<Column, String> {
    let nulls = match given.cells {
        types::Cells::Unknown => Vec::new(),
        _ => mask(given.nulls, rows)?,
    };
    let cells = match given.cells {
        types::Cells::Unknown => Cells::Unknown,
        types::Cells::Booleans(cells) => Cells::Booleans(plain(cells, &nulls, rows)?),
        types::Cells::Integers(cells) => Cells::Integers(plain(cells, &nulls, rows)?),
        types::Cells::Floats(cells) => Cells::Floats(plain(cells, &nulls, rows)?),
        types::Cells::Dates(cells) => Cells::Dates(plain(cells, &nulls, rows)?),
        types::Cells::Timestamps(cells) => Cells::Timestamps(plain(cells, &nulls, rows)?),
        types::Cells::Texts(cells) => Cells::Texts(blank(texts(cells, rows)?, &nulls)),
        types::Cells::Decimals(cells) => Cells::Decimals(decimals(&texts(cells, rows)?, &nulls)?),
    };
    Ok(Column { name: given.name, nulls, cells })
}

/// The mask of NULL rows: empty where there is none, and without bits past the last row.
fn mask(mut nulls: Vec<u8>, rows: usize) -> Result<Vec<u8>, String> {
    let expected = rows.div_ceil(8);
    if !nulls.is_empty() && nulls.len() != expected {
        return Err(format!("{expected} bytes of nulls or none expected for {rows} rows, {} given", nulls.len()));
    }
    if !rows.is_multiple_of(8)
        && let Some(last) = nulls.last_mut()
    {
        *last &= (1 << (rows % 8)) - 1;
    }
    if nulls.iter().all(|byte| *byte == 0) {
        nulls.clear();
    }
    Ok(nulls)
}

fn is_null(nulls: &[u8], row: usize) -> bool {
    nulls.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
}

fn same(cells: usize, rows: usize) -> Result<(), String> {
    if cells == rows { Ok(()) } else { Err(format!("{rows} cells expected, {cells} given")) }
}

/// Cells of one width, with the default where a row is NULL.
fn plain<T: Default>(mut cells: Vec<T>, nulls: &[u8], rows: usize) -> Result<Vec<T>, String> {
    same(cells.len(), rows)?;
    if !nulls.is_empty() {
        let null = cells.iter_mut().enumerate().filter(|(row, _)| is_null(nulls, *row));
        null.for_each(|(_, cell)| *cell = T::default());
    }
    Ok(cells)
}

fn texts(given: types::Texts, rows: usize) -> Result<Texts, String> {
    same(given.ends.len(), rows)?;
    let mut start = 0;
    for (row, end) in given.ends.iter().enumerate() {
        if *end < start || !given.data.is_char_boundary(*end as usize) {
            return Err(format!("row {row} ends at byte {end}, which is no end of a text"));
        }
        start = *end;
    }
    if start as usize != given.data.len() {
        return Err(format!("the last row ends at byte {start} of {}", given.data.len()));
    }
    Ok(Texts { data: given.data, ends: given.ends })
}

/// Empties the texts of NULL rows.
fn blank(texts: Texts, nulls: &[u8]) -> Texts {
    let rows = texts.ends.len();
    if nulls.is_empty() || (0..rows).all(|row| !is_null(nulls, row) || texts.get(row).is_empty()) {
        return texts;
    }
    let mut blanked = Texts::default();
    (0..rows).for_each(|row| blanked.push(if is_null(nulls, row) { "" } else { texts.get(row) }));
    blanked
}

fn decimals(texts: &Texts, nulls: &[u8]) -> Result<Vec<Decimal>, String> {
    let read = |row| {
        if is_null(nulls, row) {
            return Ok(Decimal::ZERO);
        }
        let text = texts.get(row);
        let shown = || format!("row {row}: `{}` is no decimal of at most 28 digits", crate::log::shorten(text, 64));
        decimal::read(text).ok_or_else(shown)
    };
    (0..texts.ends.len()).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::lower;
    use tribunal_protocol::value::{Kind, Value};

    fn one(rows: u32, nulls: &[u8], cells: types::Cells) -> Result<Table, String> {
        let column = types::Column { name: "c".to_owned(), nulls: nulls.to_vec(), cells };
        table(types::Table { rows, columns: vec![column] })
    }

    fn words(data: &str, ends: &[u32]) -> types::Texts {
        types::Texts { data: data.to_owned(), ends: ends.to_vec() }
    }

    #[test]
    fn every_kind_comes_back_as_it_went() {
        let kinds = [
            (Kind::Boolean, Value::Boolean(true)),
            (Kind::Integer, Value::Integer(-5)),
            (Kind::Float, Value::Float(0.1)),
            (Kind::Decimal, Value::Decimal(Decimal::new(-12_345, 3))),
            (Kind::Text, Value::Text("naïve".to_owned())),
            (Kind::Date, Value::Date(-1)),
            (Kind::Timestamp, Value::Timestamp(1)),
            (Kind::Unknown, Value::Null),
        ];
        let columns: Vec<_> = kinds.iter().map(|(kind, _)| (kind.to_string(), *kind)).collect();
        let full: Vec<_> = kinds.iter().map(|(_, value)| value.clone()).collect();
        let rows: Vec<_> = (0..19).map(|row| if row % 3 == 1 { vec![Value::Null; 8] } else { full.clone() }).collect();
        let sent = Table::from_rows(&columns, &rows).unwrap();
        let back = table(lower::table(sent.clone()).unwrap()).unwrap();
        assert_eq!(back, sent);
        assert_eq!(back.to_rows(), rows);
    }

    #[test]
    fn a_column_of_the_wrong_length_is_refused() {
        assert!(one(2, &[], types::Cells::Integers(vec![1, 2])).is_ok());
        for rows in [0, 1, 3, u32::MAX] {
            let fault = one(rows, &[], types::Cells::Integers(vec![1, 2])).unwrap_err();
            assert_eq!(fault, format!("column `c`: {rows} cells expected, 2 given"));
        }
        assert!(table(types::Table { rows: 0, columns: Vec::new() }).is_ok());
        assert!(table(types::Table { rows: 1, columns: Vec::new() }).is_err());
    }

    #[test]
    fn masks_must_fit_and_lose_what_means_nothing() {
        let cells = || types::Cells::Integers(vec![7; 9]);
        for wrong in [1, 3] {
            assert!(one(9, &vec![0; wrong], cells()).unwrap_err().contains("2 bytes of nulls or none"));
        }
        // Bit 9 and above stand for no row; row 8 is NULL and its 7 is not to be seen.
        let masked = one(9, &[0, 0b1111_1111], cells()).unwrap();
        assert_eq!(masked.columns[0].nulls, [0, 1]);
        assert_eq!(masked.columns[0].cells, Cells::Integers(vec![7, 7, 7, 7, 7, 7, 7, 7, 0]));
        assert!(one(9, &[0, 0b1111_1110], cells()).unwrap().columns[0].nulls.is_empty());
        assert!(one(9, &[0xff], types::Cells::Unknown).unwrap().columns[0].nulls.is_empty());
    }

    #[test]
    fn texts_must_be_cut_at_letters_and_in_order() {
        let read = |data, ends: &[u32]| one(ends.len() as u32, &[], types::Cells::Texts(words(data, ends)));
        assert_eq!(read("aé", &[1, 3]).unwrap().row(1), [Value::Text("é".to_owned())]);
        for ends in [[2, 3], [3, 1], [1, 2], [1, 4], [u32::MAX, 3]] {
            assert!(read("aé", &ends).is_err(), "{ends:?}");
        }
        let hidden = one(2, &[0b01], types::Cells::Texts(words("secret!", &[6, 7]))).unwrap();
        assert_eq!(hidden.columns[0].cells, Cells::Texts(Texts { data: "!".into(), ends: vec![0, 1] }));
    }

    #[test]
    fn decimals_are_read_or_named() {
        let read = |data, ends: &[u32], nulls: &[u8]| one(2, nulls, types::Cells::Decimals(words(data, ends)));
        assert_eq!(read("1.50-2", &[4, 6], &[]).unwrap().row(1), [Value::Decimal(Decimal::from(-2))]);
        let fault = read("1.5012 €", &[4, 10], &[]).unwrap_err();
        assert_eq!(fault, "column `c`: row 1: `12 €` is no decimal of at most 28 digits");
        assert!(read("1", &[1, 1], &[]).is_err(), "an empty text is no decimal");
        assert!(read("1", &[1, 1], &[0b10]).is_ok(), "and NULL needs none");
    }
}
