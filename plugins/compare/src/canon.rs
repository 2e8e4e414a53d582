//! Cells as they are compared: read by the column's declared type, never by how they look.
//! Conversions that lose nothing are lawful; everything else is of the wrong type.

use std::cmp::Ordering;

use crate::contract::Type;
use crate::decimal::{Decimal, Tolerance, quick_units};
use crate::keys::{hash, mixed};
use crate::table::{Cells, Column, Texts};
use crate::text;
use crate::time::{DAY, read_date, read_timestamp};

/// One column, comparable with another one of the same type.
#[derive(Clone, Debug)]
pub(crate) struct Canon {
    /// By row; empty: no NULL.
    nulls: Vec<bool>,
    pub(crate) cells: CanonCells,
    rows: usize,
}

/// Comparable cells. A NULL cell holds anything.
#[derive(Clone, Debug)]
pub(crate) enum CanonCells {
    /// Equal words are equal cells.
    Words(Vec<u64>),
    /// Decimals in units of the last digit of the column's scale. What does not fit it is some
    /// number that no decimal of gold is.
    Units(Vec<i128>),
    /// Equal bytes are equal cells.
    Texts(Texts),
    /// Equal within the tolerance.
    Floats(Vec<f64>, Tolerance),
}

/// A cell of the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongType {
    pub(crate) row: usize,
}

/// The integer that a double is, where it is one within 2^53.
pub(crate) fn exact_integer(x: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the same line")]
    (x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0).then_some(x as i64)
}

/// Reads a column by a type. ISO text is lawful for dates and timestamps where `iso_text` says
/// so: not where columns are matched by content, since text could then stand for two types.
pub(crate) fn canonical(kind: Type, column: &Column, rows: usize, iso_text: bool) -> Result<Canon, WrongType> {
    let any = !column.nulls.is_empty() || matches!(column.cells, Cells::Unknown);
    let nulls: Vec<bool> = if any { (0..rows).map(|row| column.is_null(row)).collect() } else { Vec::new() };
    let reader = Reader { column, nulls: &nulls, rows, iso_text };
    let cells = match kind {
        Type::Boolean => CanonCells::Words(reader.words(Reader::boolean)?),
        Type::Integer => CanonCells::Words(reader.words(Reader::integer)?),
        Type::Date => CanonCells::Words(reader.words(Reader::date)?),
        Type::Timestamp => CanonCells::Words(reader.words(Reader::timestamp)?),
        Type::Decimal { scale } => CanonCells::Units(reader.decimals(scale)?),
        Type::Text { trim, ignore_case } => CanonCells::Texts(reader.texts(trim, ignore_case)?),
        Type::Float { abs, rel, non_finite } => {
            let floats = reader.floats(non_finite)?;
            if abs == 0.0 && rel == 0.0 {
                CanonCells::Words(floats.into_iter().map(f64::to_bits).collect())
            } else {
                CanonCells::Floats(floats, Tolerance { abs, rel })
            }
        }
    };
    Ok(Canon { nulls, cells, rows })
}

struct Reader<'a> {
    column: &'a Column,
    nulls: &'a [bool],
    rows: usize,
    iso_text: bool,
}

impl Reader<'_> {
    /// One word per row by `read`, which gives none for a cell of the wrong type.
    fn words(&self, read: fn(&Self, usize) -> Option<i64>) -> Result<Vec<u64>, WrongType> {
        self.each(|row| read(self, row).map(i64::cast_unsigned))
    }

    fn each<T: Default>(&self, read: impl Fn(usize) -> Option<T>) -> Result<Vec<T>, WrongType> {
        let mut cells = Vec::with_capacity(self.rows);
        for row in 0..self.rows {
            cells.push(match self.nulls.get(row) {
                Some(true) => T::default(),
                _ => read(row).ok_or(WrongType { row })?,
            });
        }
        Ok(cells)
    }

    fn boolean(&self, row: usize) -> Option<i64> {
        match &self.column.cells {
            Cells::Booleans(cells) => cells.get(row).map(|b| i64::from(*b)),
            _ => None,
        }
    }

    fn integer(&self, row: usize) -> Option<i64> {
        match &self.column.cells {
            Cells::Integers(cells) => cells.get(row).copied(),
            Cells::Floats(cells) => cells.get(row).and_then(|x| exact_integer(*x)),
            Cells::Decimals(cells) => Decimal::read(cells.get(row))?.integer(),
            _ => None,
        }
    }

    fn date(&self, row: usize) -> Option<i64> {
        match &self.column.cells {
            Cells::Dates(cells) => cells.get(row).map(|days| i64::from(*days)),
            Cells::Timestamps(cells) => {
                let micros = cells.get(row)?;
                (micros % DAY == 0).then_some(micros / DAY)
            }
            Cells::Texts(cells) if self.iso_text => read_date(cells.get(row)).map(i64::from),
            _ => None,
        }
    }

    fn timestamp(&self, row: usize) -> Option<i64> {
        match &self.column.cells {
            Cells::Timestamps(cells) => cells.get(row).copied(),
            Cells::Dates(cells) => cells.get(row).map(|days| i64::from(*days) * DAY),
            Cells::Texts(cells) if self.iso_text => read_timestamp(cells.get(row)),
            _ => None,
        }
    }

    fn floats(&self, non_finite: bool) -> Result<Vec<f64>, WrongType> {
        self.each(|row| {
            #[expect(clippy::cast_precision_loss, reason = "an integer is lawful for a float")]
            let x = match &self.column.cells {
                Cells::Floats(cells) => *cells.get(row)?,
                Cells::Integers(cells) => *cells.get(row)? as f64,
                // The nearest double, as for a literal.
                Cells::Decimals(cells) => {
                    Decimal::read(cells.get(row))?;
                    cells.get(row).parse().ok()?
                }
                _ => return None,
            };
            match x {
                _ if x.is_nan() => non_finite.then_some(f64::NAN),
                _ if x.is_infinite() => non_finite.then_some(x),
                // -0.0 is 0.0.
                _ => Some(x + 0.0),
            }
        })
    }

    fn decimals(&self, scale: u32) -> Result<Vec<i128>, WrongType> {
        self.each(|row| match &self.column.cells {
            Cells::Decimals(cells) => decimal_units(cells.get(row), scale),
            Cells::Integers(cells) => decimal_units(&cells.get(row)?.to_string(), scale),
            Cells::Floats(cells) => {
                let float = cells.get(row).filter(|x| x.is_finite())?;
                let decimal = Decimal::of_float(*float)?;
                decimal.fits_scale(scale).then(|| units_of(&decimal, scale))
            }
            _ => None,
        })
    }

    fn texts(&self, trim: bool, ignore_case: bool) -> Result<Texts, WrongType> {
        let cells = match &self.column.cells {
            Cells::Texts(cells) => cells,
            _ => {
                self.each::<()>(|_| None)?;
                return Ok(Texts { data: String::new(), ends: vec![0; self.rows] });
            }
        };
        if !ignore_case && !trim && cells.data.is_ascii() {
            return Ok(cells.clone());
        }
        let mut texts = Texts::default();
        for row in 0..self.rows {
            texts.push(&text::canonical(cells.get(row), trim, ignore_case));
        }
        Ok(texts)
    }
}

fn decimal_units(text: &str, scale: u32) -> Option<i128> {
    match quick_units(text, scale) {
        Some(units) => Some(i128::from(units)),
        None => Some(units_of(&Decimal::read(text)?, scale)),
    }
}

/// A number with more digits than the column's scale, or far too many, is told from every other
/// one by a number below all that fit.
fn units_of(decimal: &Decimal, scale: u32) -> i128 {
    let fitting = decimal.units(scale).filter(|units| units.unsigned_abs() < MOST);
    fitting.unwrap_or_else(|| {
        let text = decimal.to_string();
        i128::MIN + i128::from(hash(text.as_bytes()))
    })
}

/// Below this lie 38 digits.
const MOST: u128 = 10_u128.pow(38);

impl Canon {
    /// The tolerance of a column of floats.
    pub(crate) fn tolerance(&self) -> Option<Tolerance> {
        match self.cells {
            CanonCells::Floats(_, tolerance) => Some(tolerance),
            _ => None,
        }
    }

    /// The finite double in a row of a column of floats.
    pub(crate) fn finite(&self, row: usize) -> Option<f64> {
        match &self.cells {
            CanonCells::Floats(cells, _) if !self.null(row) => cells.get(row).copied().filter(|x| x.is_finite()),
            _ => None,
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn null(&self, row: usize) -> bool {
        self.nulls.get(row) == Some(&true)
    }

    /// The first row whose decimal does not fit the column's scale.
    pub(crate) fn misfit(&self) -> Option<usize> {
        match &self.cells {
            CanonCells::Units(units) => units.iter().position(|units| units.unsigned_abs() >= MOST),
            _ => None,
        }
    }

    /// Mixes the exact cells into one hash per row. Of a float with a tolerance only its class
    /// counts.
    pub(crate) fn mix(&self, hashes: &mut [u64]) {
        let mut each = |word: &dyn Fn(usize) -> u64| {
            for (row, hash) in hashes.iter_mut().enumerate() {
                let word = if self.null(row) { NULL_WORD } else { word(row) };
                *hash = mixed(*hash, word);
            }
        };
        let at = |words: &[u64], row: usize| words.get(row).copied().unwrap_or_default();
        match &self.cells {
            CanonCells::Words(words) => each(&|row| at(words, row)),
            CanonCells::Units(units) => each(&|row| {
                let units = units.get(row).copied().unwrap_or_default();
                mixed((units >> 64) as u64, units as u64)
            }),
            CanonCells::Texts(texts) => each(&|row| hash(texts.get(row).as_bytes())),
            CanonCells::Floats(floats, _) => {
                each(&|row| u64::from(floats.get(row).map_or(0, |x| class(*x))));
            }
        }
    }

    /// Some order of two cells of columns of one type; any two finite floats are equal in it.
    pub(crate) fn compare_key(&self, row: usize, other: &Canon, at: usize) -> Ordering {
        let nulls = other.null(at).cmp(&self.null(row));
        if nulls.is_ne() || self.null(row) {
            return nulls;
        }
        match (&self.cells, &other.cells) {
            (CanonCells::Words(a), CanonCells::Words(b)) => a.get(row).cmp(&b.get(at)),
            (CanonCells::Units(a), CanonCells::Units(b)) => a.get(row).cmp(&b.get(at)),
            (CanonCells::Texts(a), CanonCells::Texts(b)) => a.get(row).cmp(b.get(at)),
            (CanonCells::Floats(a, _), CanonCells::Floats(b, _)) => {
                let class = |cells: &[f64], row: usize| cells.get(row).map(|x| class(*x));
                class(a, row).cmp(&class(b, at))
            }
            // One type is always read into one form.
            _ => Ordering::Less,
        }
    }

    /// Whether two cells of columns of one type are equal; NULL equals only NULL.
    pub(crate) fn equal(&self, row: usize, other: &Canon, at: usize) -> bool {
        if self.null(row) || other.null(at) {
            return self.null(row) && other.null(at);
        }
        match (&self.cells, &other.cells) {
            (CanonCells::Words(a), CanonCells::Words(b)) => a.get(row) == b.get(at),
            (CanonCells::Units(a), CanonCells::Units(b)) => a.get(row) == b.get(at),
            (CanonCells::Texts(a), CanonCells::Texts(b)) => a.get(row) == b.get(at),
            (CanonCells::Floats(a, tolerance), CanonCells::Floats(b, _)) => match (a.get(row), b.get(at)) {
                (Some(a), Some(b)) if a.is_finite() && b.is_finite() => tolerance.covers(*a, *b),
                (Some(a), Some(b)) => a.total_cmp(b).is_eq(),
                _ => false,
            },
            _ => false,
        }
    }
}

impl Canon {
    /// The column with nothing left but where NULL is.
    pub(crate) fn presence(&self) -> Canon {
        Canon { nulls: self.nulls.clone(), cells: CanonCells::Words(vec![0; self.rows]), rows: self.rows }
    }

    #[cfg(test)]
    pub(crate) fn of_texts(cells: &[&str]) -> Canon {
        let mut texts = Texts::default();
        cells.iter().for_each(|cell| texts.push(cell));
        Canon { nulls: Vec::new(), cells: CanonCells::Texts(texts), rows: cells.len() }
    }
}

/// What a float is, as far as a key tells: finite, NaN, or one of the infinities.
fn class(x: f64) -> u8 {
    match x {
        _ if x.is_finite() => 0,
        _ if x.is_nan() => 1,
        _ if x > 0.0 => 2,
        _ => 3,
    }
}

const NULL_WORD: u64 = 0x6e75_6c6c_6e75_6c6c;
