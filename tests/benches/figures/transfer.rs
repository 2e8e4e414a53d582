//! What it costs to move rows from the host to a guest, in the form that the interface has and in
//! the forms that it could have had.

use std::rc::Rc;

use anyhow::{Context as _, Result, anyhow, bail};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer};
use tribunal_component::{BuildPlan, Toolchain, ToolchainOptions, build_modules, encode};
use tribunal_protocol::table::{Cells, Column};
use tribunal_protocol::{Kind, Table, Value};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Engine, Store};

use crate::bare::{config, wasm};
use crate::clock::{Timed, cpu_given};
use crate::figure::{Figure, Section};

wasmtime::component::bindgen!({
    path: ["../wit/1.0.0", "guests/transfer/wit"],
    world: "bench:transfer/transfer",
    imports: { default: trappable },
});

use self::bench::transfer::source;
use self::tribunal::plugin::types;

/// The sandbox's own writer of decimals; every form uses it.
#[path = "../../../host/sandbox/src/convert/decimal.rs"]
#[expect(dead_code, reason = "the host reads decimals too; here they only go out")]
mod decimal;

pub(crate) fn measure() -> Result<Vec<Section>> {
    let bytes = guest()?;
    let engine = wasm(Engine::new(&config()))?;
    let component = wasm(Component::new(&engine, bytes))?;
    let guest = Guest { engine, component };
    let figures = [(10, 3.0), (1_000, 100.0)].into_iter().map(|(rows, target)| figures(&guest, rows, target));
    Ok(vec![Section {
        title: "Rows from the host to a guest".to_owned(),
        note: "4 columns: integer, text (every 7th NULL), decimal, date. Host encodes, guest decodes and folds every cell\n\
               into a checksum, the same for every form; both calls included, one instance for all."
            .to_owned(),
        figures: figures.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(),
    }])
}

fn figures(guest: &Guest, rows: i64, target: f64) -> Result<Vec<Figure>> {
    let table = sample(rows).map_err(|why| anyhow!(why))?;
    let expected = checksum(&table);
    let forms = Form::ALL.map(|form| guest.time(form, &table, expected).map(|timed| (form, timed)));
    let mut timed = Vec::new();
    for form in forms {
        timed.push(form?);
    }
    let chosen = timed.iter().find(|(form, _)| *form == Form::Columnar).context("the chosen form")?.1;
    let figure = Figure::micros(format!("{rows} rows, by column (the interface's form)"), chosen).target(target);
    let others = timed.into_iter().filter(|(form, _)| *form != Form::Columnar);
    Ok(vec![others.fold(figure, |figure, (form, timed)| figure.beside_timed(form.name(), timed))])
}

/// Builds the guest, or finds that it is built.
fn guest() -> Result<Vec<u8>> {
    let root = tribunal_tests::tool::root();
    let target = tribunal_tests::tool::target();
    let options = ToolchainOptions {
        folder: target.join("guest-toolchain"),
        directory: root.clone(),
        allow_rustup: std::env::var("RUSTUP_AUTO_INSTALL").map_or(true, |value| value != "0"),
    };
    let toolchain = Toolchain::find(&options, &mut |_| {})?;
    let plan = BuildPlan {
        manifest_dir: root.join("tests/guests/transfer"),
        packages: Vec::new(),
        out_dir: target.join("bench-guests"),
        target_dir: target.join("bench-guests"),
    };
    // It has a world of its own, so no plugin is made of it.
    let modules = build_modules(&toolchain, &plan, &mut |_| {})?;
    let module = modules.values().next().context("the guest of the transfer bench makes a module")?;
    let core = std::fs::read(module).with_context(|| module.display().to_string())?;
    encode(&core).map_err(|why| anyhow!(why))
}

fn sample(rows: i64) -> Result<Table, String> {
    let columns = [("id", Kind::Integer), ("name", Kind::Text), ("total", Kind::Decimal), ("issued_on", Kind::Date)];
    let columns = columns.map(|(name, kind)| (name.to_owned(), kind));
    let row = |id: i64| {
        vec![
            Value::Integer(1_000_000 + id),
            if id % 7 == 3 { Value::Null } else { Value::Text(format!("account number {id}")) },
            Value::Decimal(Decimal::new(id * 7_919 % 1_000_000, 2)),
            Value::Date(20_000 + i32::try_from(id).unwrap_or(0)),
        ]
    };
    Table::from_rows(&columns, &(0..rows).map(row).collect::<Vec<_>>())
}

/// What the guest must come to, worked out here from the rows: weights 1, 3, 5, .. row by row.
fn checksum(table: &Table) -> u64 {
    let text = |text: &str| {
        let end = |byte: Option<u8>| u64::from(byte.unwrap_or(0));
        text.len() as u64 + (end(text.bytes().next()) << 16) + (end(text.bytes().last()) << 24)
    };
    let cell = |value: &Value| match value {
        Value::Null => 0x9e37_79b9,
        Value::Boolean(b) => u64::from(*b),
        Value::Integer(i) | Value::Timestamp(i) => *i as u64,
        Value::Float(x) => x.to_bits(),
        Value::Decimal(d) => text(&d.to_string()),
        Value::Text(t) => text(t),
        Value::Date(d) => *d as u64,
    };
    let names: u64 = table.columns.iter().map(|column| text(&column.name)).sum();
    let cells = table.to_rows().into_iter().flatten();
    let weights = (0..).map(|place| 2 * place + 1);
    cells
        .zip(weights)
        .fold(names, |sum, (value, weight): (Value, u64)| sum.wrapping_add(cell(&value).wrapping_mul(weight)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Columnar,
    Values,
    Json,
    Postcard,
    Raw,
    Nothing,
}

impl Form {
    const ALL: [Form; 6] = [Form::Columnar, Form::Values, Form::Json, Form::Postcard, Form::Raw, Form::Nothing];

    fn name(self) -> &'static str {
        match self {
            Form::Columnar => "by column",
            Form::Values => "list<list<value>>",
            Form::Json => "JSON text",
            Form::Postcard => "postcard bytes",
            Form::Raw => "postcard's bytes, made before, not decoded",
            Form::Nothing => "the two calls with no rows",
        }
    }
}

/// What the host holds before a call, in the shape that an engine would give for that form.
enum Given {
    Nothing,
    Table(Table),
    Rows(Names, Vec<Vec<Value>>),
    /// Rows that the encoder only reads: these forms are not charged for dropping them.
    Shared(Rc<(Names, Vec<Vec<Value>>)>),
    Bytes(Vec<u8>),
}

type Names = Vec<String>;

struct Host(Given);

impl Host {
    fn take(&mut self) -> Given {
        std::mem::replace(&mut self.0, Given::Nothing)
    }

    fn shared(&mut self) -> wasmtime::Result<Rc<(Names, Vec<Vec<Value>>)>> {
        match self.take() {
            Given::Shared(rows) => Ok(rows),
            _ => wrong(),
        }
    }
}

fn wrong<T>() -> wasmtime::Result<T> {
    Err(wasmtime::Error::msg("the guest asked for another form than the one that was laid out"))
}

impl source::Host for Host {
    fn nothing(&mut self) -> wasmtime::Result<()> {
        Ok(())
    }

    fn columnar(&mut self) -> wasmtime::Result<types::Table> {
        match self.take() {
            Given::Table(table) => Ok(by_column(table)),
            _ => wrong(),
        }
    }

    fn values(&mut self) -> wasmtime::Result<source::Rows> {
        match self.take() {
            Given::Rows(names, rows) => {
                let rows = rows.into_iter().map(|row| row.into_iter().map(value).collect()).collect();
                Ok(source::Rows { names, rows })
            }
            _ => wrong(),
        }
    }

    fn json(&mut self) -> wasmtime::Result<String> {
        let shared = self.shared()?;
        let (names, rows) = &*shared;
        Ok(serde_json::to_string(&Encoded { names, rows: Rows(rows, |value| Json(cell(value))) })?)
    }

    fn postcard(&mut self) -> wasmtime::Result<Vec<u8>> {
        let shared = self.shared()?;
        let (names, rows) = &*shared;
        Ok(postcard(names, rows)?)
    }

    fn raw(&mut self) -> wasmtime::Result<Vec<u8>> {
        match self.take() {
            Given::Bytes(bytes) => Ok(bytes),
            _ => wrong(),
        }
    }
}

impl types::Host for Host {}

/// As the sandbox does it.
fn by_column(table: Table) -> types::Table {
    let texts = |texts: tribunal_protocol::table::Texts| types::Texts { data: texts.data, ends: texts.ends };
    let column = |column: Column| {
        let cells = match column.cells {
            Cells::Unknown => types::Cells::Unknown,
            Cells::Booleans(cells) => types::Cells::Booleans(cells),
            Cells::Integers(cells) => types::Cells::Integers(cells),
            Cells::Floats(cells) => types::Cells::Floats(cells),
            Cells::Decimals(cells) => types::Cells::Decimals(decimals(&cells)),
            Cells::Texts(cells) => types::Cells::Texts(texts(cells)),
            Cells::Dates(cells) => types::Cells::Dates(cells),
            Cells::Timestamps(cells) => types::Cells::Timestamps(cells),
        };
        types::Column { name: column.name, nulls: column.nulls, cells }
    };
    types::Table { rows: table.rows as u32, columns: table.columns.into_iter().map(column).collect() }
}

fn decimals(cells: &[Decimal]) -> types::Texts {
    let mut data = String::with_capacity(cells.len() * 10);
    let mut ends = Vec::with_capacity(cells.len());
    for cell in cells {
        decimal::write(cell, &mut data);
        ends.push(data.len() as u32);
    }
    types::Texts { data, ends }
}

fn decimal_text(decimal: &Decimal) -> String {
    let mut text = String::new();
    decimal::write(decimal, &mut text);
    text
}

fn value(value: Value) -> types::Value {
    match value {
        Value::Null => types::Value::Null,
        Value::Boolean(b) => types::Value::Boolean(b),
        Value::Integer(i) => types::Value::Integer(i),
        Value::Float(x) => types::Value::Float(x),
        Value::Decimal(d) => types::Value::Decimal(decimal_text(&d)),
        Value::Text(t) => types::Value::Text(t),
        Value::Date(d) => types::Value::Date(d),
        Value::Timestamp(t) => types::Value::Timestamp(t),
    }
}

/// One cell as postcard writes it; the guest has the same variants.
#[derive(Serialize)]
enum Cell<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Decimal(String),
    Text(&'a str),
    Date(i32),
    Timestamp(i64),
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(b) => Cell::Boolean(*b),
        Value::Integer(i) => Cell::Integer(*i),
        Value::Float(x) => Cell::Float(*x),
        Value::Decimal(d) => Cell::Decimal(decimal_text(d)),
        Value::Text(t) => Cell::Text(t),
        Value::Date(d) => Cell::Date(*d),
        Value::Timestamp(t) => Cell::Timestamp(*t),
    }
}

/// One cell as JSON: bare, and a date as its day number, which favours this form.
struct Json<'a>(Cell<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Cell::Null => serializer.serialize_unit(),
            Cell::Boolean(b) => serializer.serialize_bool(*b),
            Cell::Integer(i) | Cell::Timestamp(i) => serializer.serialize_i64(*i),
            Cell::Float(x) => serializer.serialize_f64(*x),
            Cell::Decimal(t) => serializer.serialize_str(t),
            Cell::Text(t) => serializer.serialize_str(t),
            Cell::Date(d) => serializer.serialize_i32(*d),
        }
    }
}

#[derive(Serialize)]
struct Encoded<'a, R> {
    names: &'a [String],
    rows: R,
}

/// Rows whose cells are turned into what is written one by one, without a copy of them all.
struct Rows<'a, F>(&'a [Vec<Value>], F);

struct Row<'r, 'a, F>(&'a [Value], &'r F);

impl<'a, C: Serialize, F: Fn(&'a Value) -> C> Serialize for Rows<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|row| Row(row, &self.1)))
    }
}

impl<'a, C: Serialize, F: Fn(&'a Value) -> C> Serialize for Row<'_, 'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(self.1))
    }
}

fn postcard(names: &[String], rows: &[Vec<Value>]) -> Result<Vec<u8>, ::postcard::Error> {
    ::postcard::to_allocvec(&Encoded { names, rows: Rows(rows, cell) })
}

struct Guest {
    engine: Engine,
    component: Component,
}

impl Guest {
    fn start(&self) -> Result<(Store<Host>, Transfer)> {
        let mut linker = Linker::new(&self.engine);
        wasm(Transfer::add_to_linker::<Host, HasSelf<Host>>(&mut linker, |host| host))?;
        let mut store = Store::new(&self.engine, Host(Given::Nothing));
        wasm(store.set_fuel(u64::MAX / 2))?;
        store.set_epoch_deadline(1 << 40);
        let guest = wasm(Transfer::instantiate(&mut store, &self.component, &linker))?;
        Ok((store, guest))
    }

    fn time(&self, form: Form, table: &Table, expected: u64) -> Result<Timed> {
        let names: Names = table.columns.iter().map(|column| column.name.clone()).collect();
        let rows = table.to_rows();
        let bytes = postcard(&names, &rows)?;
        let shared = Rc::new((names.clone(), rows.clone()));
        let expected = match form {
            Form::Raw => bytes.len() as u64,
            Form::Nothing => 0,
            _ => expected,
        };
        let given = || match form {
            Form::Nothing => Given::Nothing,
            Form::Columnar => Given::Table(table.clone()),
            Form::Values => Given::Rows(names.clone(), rows.clone()),
            Form::Json | Form::Postcard => Given::Shared(Rc::clone(&shared)),
            Form::Raw => Given::Bytes(bytes.clone()),
        };
        let (mut store, guest) = self.start()?;
        let mut wrong = None;
        let timed = cpu_given(given, |given| {
            store.data_mut().0 = given;
            let sum = call(form, &guest, &mut store);
            if !sum.as_ref().is_ok_and(|sum| *sum == expected) {
                wrong = Some(sum);
            }
        });
        match wrong {
            Some(sum) => bail!("{}: checksum {expected} expected, {sum:?} found", form.name()),
            None => Ok(timed),
        }
    }
}

fn call(form: Form, guest: &Transfer, store: &mut Store<Host>) -> Result<u64> {
    wasm(match form {
        Form::Columnar => guest.call_columnar(store),
        Form::Values => guest.call_values(store),
        Form::Json => guest.call_json(store),
        Form::Postcard => guest.call_postcard(store),
        Form::Raw => guest.call_raw(store),
        Form::Nothing => guest.call_nothing(store),
    })
}
