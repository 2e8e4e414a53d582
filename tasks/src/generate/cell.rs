//! Makes one cell.

use rust_decimal::Decimal;
use tribunal_protocol::value::{Kind, Value, decimal_of};

use super::{Done, Link, Lists, Row, all_hold, dates};
use crate::condition::{Conditions, value_of};
use crate::make::Make;
use crate::random::Stream;
use crate::shape::{ColumnShape, TableShape};

/// What a column remembers from row to row.
#[derive(Debug)]
pub(super) struct Cursor {
    stream: Stream,
    /// First value and step of rising numbers, and how many were given out.
    rising: Option<(i64, i64, i64)>,
    /// Combinations of words in random order, and those given out.
    names: Vec<String>,
    used: Vec<String>,
}

impl Cursor {
    pub(super) fn new(stream: Stream) -> Cursor {
        Cursor { stream, rising: None, names: Vec::new(), used: Vec::new() }
    }

    fn next_number(&mut self, start: [i64; 2], step: [i64; 2]) -> i64 {
        let stream = &mut self.stream;
        let (first, step, count) = self
            .rising
            .get_or_insert_with(|| (stream.between(start[0], start[1]), stream.between(step[0], step[1]), 0));
        let number = *first + *step * *count;
        *count += 1;
        number
    }

    fn next_name(&mut self, lists: &[&Vec<String>], namesakes: f64) -> Result<String, String> {
        if !self.used.is_empty()
            && self.stream.chance(namesakes)
            && let Some(name) = self.stream.pick(&self.used)
        {
            return Ok(name.clone());
        }
        if self.names.is_empty() {
            self.names = combinations(lists);
            self.stream.shuffle(&mut self.names);
        }
        let name = self.names.pop().ok_or("a list of words is empty")?;
        self.used.push(name.clone());
        Ok(name)
    }
}

fn combinations(lists: &[&Vec<String>]) -> Vec<String> {
    let mut names = vec![String::new()];
    for list in lists {
        let joined = |start: &String| {
            let blank = if start.is_empty() { "" } else { " " };
            list.iter().map(|word| format!("{start}{blank}{word}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(joined).collect();
    }
    names
}

/// A made cell and the row it points to.
type Made = Result<(Value, Link), String>;

/// Makes the cells of one table.
#[derive(Debug)]
pub(super) struct Maker<'a> {
    pub(super) table: &'a TableShape,
    pub(super) done: &'a Done<'a>,
    pub(super) lists: &'a Lists,
}

impl Maker<'_> {
    /// The cell of a column, NULL as often as the column says.
    pub(super) fn cell(&self, column: &ColumnShape, row: &Row, parent: Link, cursor: &mut Cursor) -> Made {
        if column.null > 0.0 && cursor.stream.chance(column.null) {
            return Ok((Value::Null, None));
        }
        self.make(&column.make, column, row, parent, cursor)
    }

    /// A cell of a column by a make, which may be another than the column's own.
    pub(super) fn make(&self, make: &Make, column: &ColumnShape, row: &Row, parent: Link, cursor: &mut Cursor) -> Made {
        match make {
            Make::Parent(name) => self.parent(name, parent),
            Make::Ref { table, column: name, conditions, same, skew } => {
                let open = conditions.is_empty() && same.is_empty();
                let fits = |there: &Row, place| Ok(open || self.fits(there, place, conditions, same, row)?);
                self.reference(table, name, &fits, *skew, &mut cursor.stream)
            }
            Make::Via { through, column: name } => self.via(through, name, row),
            Make::When { conditions, then, otherwise } => {
                let chosen = if all_hold(conditions, self.table, row)? { then } else { otherwise };
                self.make(chosen, column, row, parent, cursor)
            }
            Make::Mix(shares) => {
                let weights: Vec<u64> = shares.iter().map(|share| share.weight).collect();
                let chosen = cursor.stream.weighted(&weights);
                let share = shares.get(chosen).ok_or("a mix without shares")?;
                self.make(&share.make, column, row, parent, cursor)
            }
            plain => self.plain(plain, column.kind, row, cursor).map(|value| (value, None)),
        }
    }

    fn plain(&self, make: &Make, kind: Kind, row: &Row, cursor: &mut Cursor) -> Result<Value, String> {
        match make {
            Make::Serial { start, step } => Ok(Value::Integer(cursor.next_number(*start, *step))),
            Make::Code { prefix, start, step } => {
                Ok(Value::Text(format!("{prefix}{}", cursor.next_number(*start, *step))))
            }
            Make::Integer([low, high]) => Ok(Value::Integer(cursor.stream.between(*low, *high))),
            Make::Decimal(bounds) => decimal_between(bounds, &mut cursor.stream),
            Make::Pick { of, weights } => {
                let index = match weights.len() {
                    0 => cursor.stream.index(of.len()),
                    _ => cursor.stream.weighted(weights),
                };
                value_of(kind, of.get(index).ok_or("fewer values than weights in a pick")?)
            }
            Make::Name { lists, namesakes } => self.name(lists, *namesakes, cursor),
            Make::Date(bounds) | Make::Moment(bounds) => {
                let day = dates::between(bounds, &mut cursor.stream)?;
                dates::cell(kind, day, &mut cursor.stream)
            }
            Make::After { column, days } => dates::after(kind, self.own(column, row)?, *days, &mut cursor.stream),
            Make::Copy(column) => Ok(self.own(column, row)?.clone()),
            Make::Text(form) => self.text(form, row),
            Make::Map { column, to, otherwise } => {
                let key = self.own(column, row)?.to_string();
                let chosen = to.get(&key).or(otherwise.as_ref());
                chosen.map_or(Ok(Value::Null), |value| value_of(kind, value))
            }
            Make::Product([a, b]) => product(self.own(a, row)?, self.own(b, row)?),
            Make::Value(value) => value_of(kind, value),
            Make::Null | Make::Total { .. } => Ok(Value::Null),
            // The makes that point elsewhere were taken by `make`.
            Make::Parent(_) | Make::Ref { .. } | Make::Via { .. } | Make::When { .. } | Make::Mix(_) => {
                Err("a pointing make stands where a plain one is expected".to_owned())
            }
        }
    }

    /// An earlier cell of this row.
    fn own<'r>(&self, column: &str, row: &'r Row) -> Result<&'r Value, String> {
        let index = self.table.index(column)?;
        row.cells.get(index).ok_or_else(|| format!("column `{column}` comes later; only earlier columns can be used"))
    }

    fn name(&self, names: &[String], namesakes: f64, cursor: &mut Cursor) -> Result<Value, String> {
        let list = |name: &String| {
            self.lists.get(name).ok_or_else(|| {
                let known: Vec<_> = self.lists.keys().map(String::as_str).collect();
                format!("no list `{name}` in lists.toml; there are: {}", known.join(", "))
            })
        };
        let lists = names.iter().map(list).collect::<Result<Vec<_>, _>>()?;
        cursor.next_name(&lists, namesakes).map(Value::Text)
    }

    fn text(&self, form: &str, row: &Row) -> Result<Value, String> {
        let mut text = String::new();
        let mut rest = form;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or_else(|| format!("`}}` expected after `{{` in `{form}`"))?;
            text.push_str(before);
            text.push_str(&self.own(name, row)?.to_string());
            rest = after;
        }
        text.push_str(rest);
        Ok(Value::Text(text))
    }

    fn parent(&self, name: &str, parent: Link) -> Made {
        let (table, row) = parent.ok_or("`parent` expects rows = { per = .. }")?;
        let index = self.done.shapes[table].index(name)?;
        Ok((self.done.rows[table][row].cells[index].clone(), parent))
    }

    fn fits(
        &self,
        there: &Row,
        place: usize,
        conditions: &Conditions,
        same: &std::collections::BTreeMap<String, String>,
        row: &Row,
    ) -> Result<bool, String> {
        let shape = self.done.shapes[place];
        for (theirs, ours) in same {
            if there.cells[shape.index(theirs)?] != *self.own(ours, row)? {
                return Ok(false);
            }
        }
        all_hold(conditions, shape, there)
    }

    fn reference(
        &self,
        table: &str,
        name: &str,
        fits: &dyn Fn(&Row, usize) -> Result<bool, String>,
        skew: bool,
        stream: &mut Stream,
    ) -> Made {
        let place = self.done.table(table)?;
        let index = self.done.shapes[place].index(name)?;
        let mut fitting = Vec::new();
        for (number, row) in self.done.rows[place].iter().enumerate() {
            if fits(row, place)? {
                fitting.push(number);
            }
        }
        let mut drawn = stream.index(fitting.len());
        if skew {
            // The smallest of three: early rows are met about three times as often.
            drawn = drawn.min(stream.index(fitting.len())).min(stream.index(fitting.len()));
        }
        let number = *fitting.get(drawn).ok_or_else(|| format!("no row of {table} fits the conditions of this ref"))?;
        let value = self.done.rows[place][number].cells[index].clone();
        Ok((value, Some((place, number))))
    }

    fn via(&self, through: &str, path: &str, row: &Row) -> Made {
        let index = self.table.index(through)?;
        match row.links.get(index) {
            None => Err(format!("column `{through}` comes later; only earlier columns can be used")),
            Some(None) => Ok((Value::Null, None)),
            Some(Some(link)) => {
                let mut made = (Value::Null, Some(*link));
                for step in path.split('.') {
                    // A step from NULL leads nowhere.
                    let Some((table, number)) = made.1 else {
                        return Ok((Value::Null, None));
                    };
                    let column = self.done.shapes[table].index(step)?;
                    let there = &self.done.rows[table][number];
                    made = (there.cells[column].clone(), there.links[column]);
                }
                Ok(made)
            }
        }
    }
}

fn decimal_between(bounds: &[String; 2], stream: &mut Stream) -> Result<Value, String> {
    let cents = |text: &String| {
        decimal_of(text)
            .and_then(|decimal| i64::try_from((decimal * Decimal::ONE_HUNDRED).trunc().mantissa()).ok())
            .ok_or_else(|| format!("decimal expected, `{text}` given"))
    };
    let drawn = stream.between(cents(&bounds[0])?, cents(&bounds[1])?);
    Ok(Value::Decimal(Decimal::new(drawn, 2)))
}

fn product(a: &Value, b: &Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Integer(a), Value::Integer(b)) => Ok(Value::Integer(a.saturating_mul(*b))),
        (Value::Integer(a), Value::Decimal(b)) | (Value::Decimal(b), Value::Integer(a)) => {
            Ok(Value::Decimal(Decimal::from(*a) * b))
        }
        (a, b) => Err(format!("numbers expected in a product, {} and {} given", a.kind(), b.kind())),
    }
}
