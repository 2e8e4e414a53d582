//! One connection to a sealed database, for one session.

use std::sync::Arc;

use rusqlite::{Connection, StatementStatus};
use tribunal_protocol::schema::TableSchema;
use tribunal_protocol::table::ColumnBuilder;
use tribunal_protocol::value::{Kind, Value};
use tribunal_protocol::{Failure, Table};

use crate::memory::Limited;
use crate::meter::{self, Meter};
use crate::wall::{Mode, Wall, mode_of};
use crate::{SqliteError, cells, failure, functions, load, moments, sealed};

/// Steps of SQLite's machine that count as one row scanned. SQLite does not tell the rows that it
/// reads; its machine takes about so many steps for a row of a plain scan, and the same statement
/// on the same rows takes always as many.
pub const STEPS_PER_ROW: u64 = 8;
/// Steps that count as one part of an expression.
pub const STEPS_PER_PART: u64 = 2;
/// How often the steps are looked at while a statement runs.
const STEPS_BETWEEN: u64 = 1_000;
/// SQLite counts steps in 32 bits.
const STEPS_MAX: u64 = 2_000_000_000;
/// Steps that SQLite may take to prepare a statement, which is capped: more than it ever does.
const STEPS_TO_PREPARE: i64 = 100_000_000;

/// What a statement may still use.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// Rows scanned.
    pub rows_scanned: u64,
    /// Rows of the result.
    pub rows: u64,
    /// Bytes of the result.
    pub bytes: u64,
    /// Parts of expressions, each [`STEPS_PER_PART`] steps.
    pub work: u64,
    /// Bytes of memory that SQLite may hold meanwhile.
    pub memory: u64,
}

/// What a statement gave and used.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    /// The result, or why there is none.
    pub result: Result<T, Failure>,
    /// Rows scanned, failed statements included: see [`STEPS_PER_ROW`].
    pub rows_scanned: u64,
}

/// The labels and rows of a result.
type Labelled = (Vec<String>, Vec<Vec<Value>>);

/// A query of a session.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its text, in SQLite's dialect.
    pub sql: &'a str,
    /// The names of its queries after WITH.
    pub ctes: &'a [String],
    /// The kinds of its columns, where they are known.
    pub kinds: &'a [Option<Kind>],
}

/// A connection that may read what was sealed, and nothing else.
pub struct Reader {
    connection: Connection,
    wall: Wall,
    meter: Arc<Meter>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl Reader {
    pub(crate) fn new(mut connection: Connection, shapes: &[TableSchema]) -> rusqlite::Result<Reader> {
        load::strict(&connection)?;
        connection.execute_batch("PRAGMA case_sensitive_like = ON; PRAGMA temp_store = MEMORY")?;
        let meter = Arc::new(Meter::default());
        functions::register(&connection, Some(&meter))?;
        moments::register(&connection)?;
        // After the pragma, which registers LIKE.
        meter::register(&connection, &meter)?;
        let wall = Wall::build(&mut connection)?;
        shapes.iter().for_each(|shape| wall.grant(shape));
        // The schema is read now, so that it is no part of what the first statement takes.
        connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(Reader { connection, wall, meter })
    }

    /// Puts a private table in the place of a sealed one: what a session wrote is seen by no other.
    ///
    /// # Errors
    /// What SQLite said, with the table.
    pub fn replace(
        &mut self,
        schema: &TableSchema,
        rows: impl Iterator<Item = (u64, Vec<Value>)>,
    ) -> Result<(), SqliteError> {
        self.wall.enter(Mode::Host, &[]);
        sealed::filled(&self.connection, schema, true, rows)
    }

    /// Runs one query. `names` are those of its columns, where they are known.
    pub fn query(&mut self, asked: Asked<'_>, names: &[String], left: Left) -> Rows<Table> {
        let Rows { result, rows_scanned } = self.run(mode_of(asked.sql), asked, left);
        let result = result.and_then(|(labels, rows)| table(&labels, names, asked.kinds, rows, left));
        Rows { result, rows_scanned }
    }

    /// Runs one query about rows that are to be changed: it may read their numbers. Of more rows
    /// than may be returned it gives so many and no more.
    pub fn rows(&mut self, asked: Asked<'_>, left: Left) -> Rows<Vec<Vec<Value>>> {
        let Rows { result, rows_scanned } = self.run(Mode::Change, asked, left);
        Rows { result: result.map(|(_, rows)| rows), rows_scanned }
    }

    fn run(&mut self, mode: Mode, asked: Asked<'_>, left: Left) -> Rows<Labelled> {
        let by_rows = left.rows_scanned.saturating_mul(STEPS_PER_ROW);
        let by_work = left.work.saturating_mul(STEPS_PER_PART);
        let most = by_rows.min(by_work).min(STEPS_MAX);
        let mut steps = 0;
        let result = self.prepare(mode, asked, most).and_then(|()| {
            let _limited = Limited::to(left.memory);
            self.step(mode, asked, left, &mut steps)
        });
        let result = match (result, self.wall.denied()) {
            (Err(_), Some(denied)) => Err(failure::denied(&denied)),
            (Ok(_), _) if steps > most => Err(failure::spent()),
            (result, _) => result,
        };
        let result = match result {
            Err(failure) if failure == failure::spent() && by_work < by_rows => Err(failure::worked()),
            result => result,
        };
        self.wall.enter(Mode::Host, &[]);
        Rows { result, rows_scanned: steps.min(most).div_ceil(STEPS_PER_ROW).min(left.rows_scanned) }
    }

    /// Sets the walls of a statement. Pages that an earlier one left behind are given back first: what
    /// a statement takes must not depend on what ran before it.
    fn prepare(&mut self, mode: Mode, asked: Asked<'_>, most: u64) -> Result<(), Failure> {
        self.connection.execute_batch("PRAGMA shrink_memory").map_err(|why| failure::failed(&why))?;
        self.wall.enter(mode, asked.ctes);
        self.watch(most)
    }

    /// Stops what runs on after so many steps. What SQLite looks at while it prepares a statement
    /// counts apart: it depends on what the connection has prepared before.
    fn watch(&mut self, most: u64) -> Result<(), Failure> {
        let between = i32::try_from(most.clamp(1, STEPS_BETWEEN)).unwrap_or(1);
        let (step, most) = (i64::from(between), i64::try_from(most).unwrap_or(i64::MAX));
        let meter = Arc::clone(&self.meter);
        let over = move || meter.step(step) > most;
        self.meter.start(-STEPS_TO_PREPARE);
        self.connection.progress_handler(between, Some(over)).map_err(|why| failure::failed(&why))
    }

    fn step(&self, mode: Mode, asked: Asked<'_>, left: Left, steps: &mut u64) -> Result<Labelled, Failure> {
        let Asked { sql, kinds, .. } = asked;
        let mut statement = self.connection.prepare(sql).map_err(|why| failure::failed(&why))?;
        if !statement.readonly() {
            return Err(Failure::unsupported("the statement does more than to read"));
        }
        self.meter.start(0);
        let labels: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = collect(mode, &mut statement.raw_query(), &labels, kinds, left);
        *steps = u64::try_from(statement.get_status(StatementStatus::VmStep)).unwrap_or(STEPS_MAX);
        if rows.as_ref().is_err_and(|failure| *failure == failure::spent()) {
            *steps = STEPS_MAX;
        }
        rows.map(|rows| (labels, rows))
    }
}

fn collect(
    mode: Mode,
    rows: &mut rusqlite::Rows<'_>,
    labels: &[String],
    kinds: &[Option<Kind>],
    left: Left,
) -> Result<Vec<Vec<Value>>, Failure> {
    let mut all = Vec::new();
    let mut bytes: u64 = 0;
    while let Some(row) = rows.next().map_err(|why| failure::failed(&why))? {
        if all.len() as u64 >= left.rows {
            match mode {
                Mode::Change => break,
                Mode::Host | Mode::Query | Mode::Numberless => return Err(too_many(left)),
            }
        }
        let mut values = Vec::with_capacity(labels.len());
        for (index, label) in labels.iter().enumerate() {
            let cell = row.get_ref(index).map_err(|why| failure::failed(&why))?;
            let value = cells::typed(cell, kinds.get(index).copied().flatten())
                .map_err(|what| Failure::unsupported(format!("column {label} of the result is {what}; cast it")))?;
            if let Value::Text(text) = &value {
                bytes = bytes.saturating_add(text.len() as u64);
            }
            values.push(value);
        }
        if bytes > left.memory {
            return Err(failure::out_of_memory());
        }
        if bytes > left.bytes {
            return Err(too_large(left));
        }
        all.push(values);
    }
    Ok(all)
}

fn too_many(left: Left) -> Failure {
    Failure::quota(format!(
        "the result has more than the {} rows that may still be returned; add LIMIT or aggregate",
        left.rows
    ))
}

fn too_large(left: Left) -> Failure {
    Failure::quota(format!(
        "the result is larger than the {} bytes that may still be returned; select fewer columns or rows",
        left.bytes
    ))
}

fn table(
    labels: &[String],
    names: &[String],
    kinds: &[Option<Kind>],
    mut rows: Vec<Vec<Value>>,
    left: Left,
) -> Result<Table, Failure> {
    let mut columns = Vec::with_capacity(labels.len());
    for (place, label) in labels.iter().enumerate() {
        let name = names.get(place).unwrap_or(label);
        let mut values: Vec<Value> =
            rows.iter_mut().filter_map(|row| Some(std::mem::replace(row.get_mut(place)?, Value::Null))).collect();
        let kind = match kinds.get(place).copied().flatten() {
            Some(kind) => kind,
            None => cells::settle(&mut values, None),
        };
        let mut builder = ColumnBuilder::new(name, kind, values.len());
        for value in &values {
            builder.push(value).map_err(|_| Failure::unsupported(format!("column {name} mixes kinds; cast it")))?;
        }
        columns.push(builder.finish());
    }
    let table = Table { rows: rows.len(), columns };
    if table.bytes() > left.bytes {
        return Err(too_large(left));
    }
    Ok(table)
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
