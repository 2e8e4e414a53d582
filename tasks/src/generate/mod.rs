//! Makes the rows of a dataset from a schema and a seed.

mod cell;
mod dates;

use std::collections::BTreeMap;

use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::value::{Kind, Value, parse_date};

use crate::condition::{Conditions, holds, value_of};
use crate::error::TasksError;
use crate::make::Make;
use crate::random::Stream;
use crate::shape::{Alter, ColumnShape, Metric, Rows, Shape, TableShape};
use cell::{Cursor, Maker};

/// The table that explains the metrics of a schema.
pub(crate) const METRICS_TABLE: &str = "metric_definitions";

/// Lists of words by name: `schemas/lists.toml`.
pub(crate) type Lists = BTreeMap<String, Vec<String>>;

/// The row that a cell points to: table and row, by place.
pub(crate) type Link = Option<(usize, usize)>;

/// One row while it is made: its cells, and for each the row it points to.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Value>,
    pub(crate) links: Vec<Link>,
}

/// The tables that are finished.
#[derive(Debug, Default)]
pub(crate) struct Done<'a> {
    pub(crate) shapes: Vec<&'a TableShape>,
    pub(crate) rows: Vec<Vec<Row>>,
}

impl Done<'_> {
    /// The place of a finished table.
    pub(crate) fn table(&self, name: &str) -> Result<usize, String> {
        self.shapes
            .iter()
            .position(|shape| shape.name == name)
            .ok_or_else(|| format!("no earlier table `{name}`; a table refers only to those before it"))
    }
}

/// What every stream of a dataset is named by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    /// Such as `billing-v1`.
    pub(crate) schema: &'a str,
    pub(crate) seed: u64,
}

impl Origin<'_> {
    pub(crate) fn stream(&self, table: &str, purpose: &str) -> Stream {
        Stream::new(self.seed, &["rows", self.schema, table, purpose])
    }
}

/// Makes the dataset of a schema and a seed.
///
/// # Errors
/// [`TasksError::Invalid`] with the table and column whose make cannot be followed.
pub(crate) fn dataset(shape: &Shape, lists: &Lists, file: &str, origin: Origin<'_>) -> Result<Dataset, TasksError> {
    let clock = parse_date(&shape.clock).ok_or_else(|| {
        let why = format!("date expected, `{}` given", shape.clock);
        TasksError::invalid(file, "clock", why)
    })?;
    let mut done = Done::default();
    for table in &shape.tables {
        let fault = |(key, why): (String, String)| TasksError::invalid(file, format!("table {}{key}", table.name), why);
        let rows = make_table(table, &done, lists, origin).map_err(fault)?;
        done.shapes.push(table);
        done.rows.push(rows);
        fill_totals(&mut done).map_err(fault)?;
    }
    let finished = done.shapes.iter().zip(done.rows);
    let mut tables: Vec<_> = finished
        .map(|(shape, rows)| TableData {
            schema: shape.schema(),
            rows: rows.into_iter().map(|row| row.cells).collect(),
        })
        .collect();
    tables.push(metrics_table(&shape.metrics));
    tables.sort_by(|a, b| a.schema.name.cmp(&b.schema.name));
    Ok(Dataset { clock, tables })
}

/// A fault with the place inside the table that it belongs to.
type Placed<T> = Result<T, (String, String)>;

fn make_table(table: &TableShape, done: &Done<'_>, lists: &Lists, origin: Origin<'_>) -> Placed<Vec<Row>> {
    let mut cursors = cursors(table, origin, "");
    let maker = Maker { table, done, lists };
    let plan = row_plan(table, done, origin).map_err(|why| (", rows".to_owned(), why))?;
    let mut rows = Vec::with_capacity(plan.len());
    for seat in plan {
        let mut row =
            Row { cells: Vec::with_capacity(table.columns.len()), links: Vec::with_capacity(table.columns.len()) };
        for (column, cursor) in table.columns.iter().zip(&mut cursors) {
            let (value, link) = match seat.fixed.and_then(|fixed| fixed.get(&column.name)) {
                Some(fixed) => value_of(column.kind, fixed).map(|value| (value, None)),
                None => maker.cell(column, &row, seat.parent, cursor),
            }
            .map_err(|why| (format!(", column {}", column.name), why))?;
            row.cells.push(value);
            row.links.push(link);
        }
        rows.push(row);
    }
    for (nth, alter) in table.alter.iter().enumerate() {
        alter_rows(&maker, alter, nth, &mut rows, &mut cursors, origin)
            .map_err(|why| (format!(", alter {}", nth + 1), why))?;
    }
    Ok(rows)
}

fn cursors(table: &TableShape, origin: Origin<'_>, purpose: &str) -> Vec<Cursor> {
    let cursor =
        |column: &ColumnShape| Cursor::new(origin.stream(&table.name, &format!("{purpose}column {}", column.name)));
    table.columns.iter().map(cursor).collect()
}

/// A row to be made: under which parent, and with which cells given.
struct Seat<'a> {
    parent: Link,
    fixed: Option<&'a BTreeMap<String, toml::Value>>,
}

fn row_plan<'a>(table: &'a TableShape, done: &Done<'_>, origin: Origin<'_>) -> Result<Vec<Seat<'a>>, String> {
    let mut stream = origin.stream(&table.name, "row count");
    match &table.rows {
        Rows::Count([low, high]) => {
            let seat = |_| Seat { parent: None, fixed: None };
            Ok((0..stream.between(*low, *high)).map(seat).collect())
        }
        Rows::List(list) => {
            if let Some(unknown) = list.iter().flat_map(BTreeMap::keys).find(|name| table.index(name).is_err()) {
                return Err(format!("no column `{unknown}` in this table"));
            }
            let seat = |fixed| Seat { parent: None, fixed: Some(fixed) };
            Ok(list.iter().map(seat).collect())
        }
        Rows::Per { table: parent, children, profile, conditions } => {
            let place = done.table(parent)?;
            let mut counts = profile.clone();
            let mut seats = Vec::new();
            for (number, row) in done.rows[place].iter().enumerate() {
                if !all_hold(conditions, done.shapes[place], row)? {
                    continue;
                }
                let count = match children {
                    Some([low, high]) => stream.between(*low, *high),
                    None => shared_out(&mut counts, profile, &mut stream),
                };
                let seat = |_| Seat { parent: Some((place, number)), fixed: None };
                seats.extend((0..count).map(seat));
            }
            Ok(seats)
        }
    }
}

/// Takes one count out of what is left of a profile, in random order.
fn shared_out(left: &mut Vec<i64>, profile: &[i64], stream: &mut Stream) -> i64 {
    if left.is_empty() {
        left.extend_from_slice(profile);
    }
    if left.is_empty() {
        return 0;
    }
    let taken = stream.index(left.len());
    left.swap_remove(taken)
}

/// Whether a row satisfies all conditions.
pub(crate) fn all_hold(conditions: &Conditions, shape: &TableShape, row: &Row) -> Result<bool, String> {
    for (name, condition) in conditions {
        let index = shape.index(name)?;
        let Some(cell) = row.cells.get(index) else {
            return Err(format!("column `{name}` comes later; only earlier columns can be asked"));
        };
        if !holds(condition, shape.columns[index].kind, cell).map_err(|why| format!("condition on {name}: {why}"))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn alter_rows(
    maker: &Maker<'_>,
    alter: &Alter,
    nth: usize,
    rows: &mut Vec<Row>,
    serials: &mut [Cursor],
    origin: Origin<'_>,
) -> Result<(), String> {
    let table = maker.table;
    let mut stream = origin.stream(&table.name, &format!("alter {nth} rows"));
    let mut fitting = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if all_hold(&alter.conditions, table, row)? {
            fitting.push(index);
        }
    }
    stream.shuffle(&mut fitting);
    let wanted = usize::try_from(stream.between(alter.rows[0], alter.rows[1])).unwrap_or(0);
    fitting.truncate(wanted);
    fitting.sort_unstable();
    let mut cursors = cursors(table, origin, &format!("alter {nth} "));
    for unknown in alter.set.keys() {
        table.index(unknown)?;
    }
    for index in fitting {
        let mut row = rows[index].clone();
        let columns = table.columns.iter().enumerate();
        for ((place, column), (cursor, serial)) in columns.zip(cursors.iter_mut().zip(&mut *serials)) {
            let rising = matches!(column.make, Make::Serial { .. } | Make::Code { .. });
            let made = match alter.set.get(&column.name) {
                Some(make) => maker.make(make, column, &row, None, cursor),
                None if alter.copy && rising => maker.cell(column, &row, None, serial),
                None => continue,
            };
            (row.cells[place], row.links[place]) = made.map_err(|why| format!("column {}: {why}", column.name))?;
        }
        if alter.copy {
            rows.push(row);
        } else {
            rows[index] = row;
        }
    }
    Ok(())
}

/// Fills the totals of earlier tables over the table that was finished last.
fn fill_totals(done: &mut Done<'_>) -> Placed<()> {
    let Some(last) = done.shapes.len().checked_sub(1) else {
        return Ok(());
    };
    let child = done.shapes[last];
    for place in 0..last {
        let shape = done.shapes[place];
        for (index, column) in shape.columns.iter().enumerate() {
            let Make::Total { table, by, key, of, unless } = &column.make else {
                continue;
            };
            if *table == child.name {
                let sums = sums(done, last, by, of).map_err(|why| (String::new(), why))?;
                let at = |why| (format!(" (total {}.{})", shape.name, column.name), why);
                let key = shape.index(key).map_err(at)?;
                for row in &mut done.rows[place] {
                    if !unless.is_empty() && all_hold(unless, shape, row).map_err(at)? {
                        continue;
                    }
                    let sum = sums.get(&row.cells[key].to_string());
                    row.cells[index] = match (sum, column.kind) {
                        (Some(sum), _) => sum.clone(),
                        (None, Kind::Decimal) => Value::Decimal(rust_decimal::Decimal::new(0, 2)),
                        (None, _) => Value::Integer(0),
                    };
                }
            }
        }
    }
    Ok(())
}

/// The sums of a column by the text of another.
fn sums(done: &Done<'_>, table: usize, by: &str, of: &str) -> Result<BTreeMap<String, Value>, String> {
    let (by, of) = (done.shapes[table].index(by)?, done.shapes[table].index(of)?);
    let mut sums: BTreeMap<String, Value> = BTreeMap::new();
    for row in &done.rows[table] {
        let (pointer, cell) = (&row.cells[by], &row.cells[of]);
        match sums.get_mut(&pointer.to_string()) {
            Some(sum) => *sum = added(sum, cell)?,
            None if cell.is_null() => {}
            None => {
                sums.insert(pointer.to_string(), cell.clone());
            }
        }
    }
    Ok(sums)
}

fn added(sum: &Value, cell: &Value) -> Result<Value, String> {
    match (sum, cell) {
        (sum, Value::Null) => Ok(sum.clone()),
        (Value::Integer(a), Value::Integer(b)) => Ok(Value::Integer(a.saturating_add(*b))),
        (Value::Decimal(a), Value::Decimal(b)) => Ok(Value::Decimal(a.saturating_add(*b))),
        (a, b) => Err(format!("integers or decimals expected in a total, {} and {} given", a.kind(), b.kind())),
    }
}

fn metrics_table(metrics: &[Metric]) -> TableData {
    let column = |name: &str, description: &str| ColumnSchema {
        name: name.to_owned(),
        kind: Kind::Text,
        nullable: false,
        description: description.to_owned(),
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let row = |metric: &Metric| {
        [&metric.name, &metric.meaning, &metric.grain, &metric.population, &metric.time_window, &metric.unit]
            .map(|cell| text(cell))
            .to_vec()
    };
    TableData {
        schema: TableSchema {
            name: METRICS_TABLE.to_owned(),
            description: "What this company means by its metrics.".to_owned(),
            columns: vec![
                column("name", "the metric"),
                column("meaning", "what it measures"),
                column("grain", "what one value stands for"),
                column("population", "what is counted and what is left out"),
                column("time_window", "which time it is about"),
                column("unit", "what its values are in"),
            ],
            primary_key: vec!["name".to_owned()],
            unique: Vec::new(),
            foreign_keys: Vec::new(),
        },
        rows: metrics.iter().map(row).collect(),
    }
}
