//! The speed of a query by the whole pipeline, beside other engines, and what each part of the
//! pipeline takes of it.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::json;
use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::schema::{Dataset, TableSchema};
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Table, Value};
use tribunal_sandbox::{Sandbox, SandboxOptions, ToolInput};
use tribunal_sql::{Catalog, prepare_query};

use crate::call;
use crate::clock::{Timed, cpu, cpu_if_short};
use crate::data;
use crate::figure::{Figure, Section};
use crate::rivals::{self, Sum, same};
use crate::sales::{self, QUERIES, ROWS};

const BUDGET: &str = "[budget]\nstatements = 1_000_000_000\nrows_scanned = 1_000_000_000_000\n\
                      rows_returned = 1_000_000_000\nbytes_returned = 1_000_000_000_000\n";
const ALL: &str = "[contract]\nname = \"all\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";
/// The columns that the queries use, and all rows, told by a filter.
const NARROW: &str = "[contract]\nname = \"narrow\"\n[[read]]\ntable = \"sales\"\n\
    columns = [\"id\", \"product_id\", \"store_id\", \"customer_id\", \"qty\", \"price\", \"tag\"]\nrows = \"qty >= 0\"\n\
    [[read]]\ntable = \"products\"\ncolumns = [\"id\", \"category\"]\n\
    [[read]]\ntable = \"stores\"\ncolumns = [\"id\", \"region\"]\n\
    [[read]]\ntable = \"customers\"\ncolumns = [\"id\", \"segment\"]\n";

pub(crate) fn measure() -> Result<Vec<Section>> {
    let data = sales::dataset();
    let snapshot = Snapshot::seal(&data)?.with_memo(0);
    Ok(vec![engines(&data, &snapshot)?, parts(&data, &snapshot)?, contracts()?])
}

fn effective(snapshot: &Snapshot, contract: &str) -> Result<Arc<Effective>> {
    Ok(Arc::new(Contract::parse(&format!("{contract}{BUDGET}"))?.resolve(snapshot.schemas())?))
}

fn asked(session: &mut DatabaseSession, sql: &str) -> Result<Table> {
    session.query(sql, &[]).map_err(|failure| anyhow!("{sql}: {failure}"))
}

fn sum(table: &Table) -> Sum {
    let number = |value: &Value| match value {
        Value::Integer(i) => *i as f64,
        Value::Float(x) => *x,
        Value::Decimal(d) => f64::try_from(*d).unwrap_or(f64::NAN),
        _ => 0.0,
    };
    (table.rows, table.to_rows().iter().flatten().map(number).sum())
}

fn engines(data: &Dataset, snapshot: &Snapshot) -> Result<Section> {
    let mut session = DatabaseSession::open(snapshot.fork(), effective(snapshot, ALL)?, Usage::default());
    let mut memory = rivals::memory_storage(data)?;
    let sqlite = rivals::sqlite(data)?;
    let duckdb = rivals::duckdb()?;
    let mut figures = Vec::new();
    for (place, query) in QUERIES.iter().enumerate() {
        let ours = sum(&asked(&mut session, query.sql)?);
        let lite = rivals::lite(&sqlite, query.sql)?;
        ensure!(same(ours, lite), "{}: {ours:?} here, {lite:?} in SQLite", query.name);
        let mut figure = Figure::micros(query.name, cpu(|| session.query(query.sql, &[])))
            .beside_timed("SQLite", cpu(|| rivals::lite(&sqlite, query.sql)));
        if query.raw {
            let (taken, glue) = cpu_if_short(|| rivals::glue(&mut memory, query.sql));
            let glue = glue?;
            ensure!(same(ours, glue), "{}: {ours:?} here, {glue:?} in MemoryStorage", query.name);
            figure = figure.beside_timed("GlueSQL on MemoryStorage", taken);
        }
        if let Some((seconds, rows, total)) = duckdb.as_ref().and_then(|duckdb| duckdb.taken.get(place).copied()) {
            ensure!(same(ours, (rows, total)), "{}: {ours:?} here, {rows} rows and {total} in DuckDB", query.name);
            figure = figure.beside_timed("DuckDB", Timed { median: seconds, least: seconds });
        }
        figures.push(figure);
    }
    let duckdb = duckdb.map_or_else(
        || "DuckDB is not installed here (no Python module `duckdb`), so it has no figure.".to_owned(),
        |duckdb| format!("DuckDB {} on one thread, by its Python module.", duckdb.version),
    );
    Ok(Section {
        title: format!("Queries over {ROWS} rows and three dimensions"),
        note: format!(
            "A session under a contract that grants everything, nothing remembered; SQLite in this process.\n\
             All engines must give the same. Where GlueSQL has no figure, it runs the\n\
             part in parentheses again for every row. {duckdb}"
        ),
        figures,
    })
}

/// The tables as SQL knows them.
struct Tables<'a>(&'a Dataset);

impl Catalog for Tables<'_> {
    fn table(&self, name: &str) -> Option<&TableSchema> {
        let mut schemas = self.0.tables.iter().map(|table| &table.schema);
        schemas.find(|schema| schema.name.eq_ignore_ascii_case(name))
    }

    fn clock(&self) -> i32 {
        self.0.clock
    }
}

fn parts(data: &Dataset, snapshot: &Snapshot) -> Result<Section> {
    let mut all = DatabaseSession::open(snapshot.fork(), effective(snapshot, ALL)?, Usage::default());
    let mut narrow = DatabaseSession::open(snapshot.fork(), effective(snapshot, NARROW)?, Usage::default());
    let mut bare = rivals::Bare::of(data);
    let mut figures = Vec::new();
    for name in ["filter, SUM", "GROUP BY 10", "ORDER BY, LIMIT 10", "2-way join", "4-way join, filter"] {
        let sql = QUERIES.iter().find(|query| query.name == name).context("a query of that name")?.sql;
        let prepare = || prepare_query(sql, &Tables(data), &[]);
        let normalized = prepare().map_err(|failure| anyhow!("{failure}"))?.statement.to_string();
        let (plain, ran) = (rivals::glue(&mut bare, sql)?, rivals::glue(&mut bare, &normalized)?);
        ensure!(same(plain, ran), "{name}: {plain:?} as written, {ran:?} normalized");
        let as_written = cpu(|| rivals::glue(&mut bare, sql));
        let rewritten = cpu(|| rivals::glue(&mut bare, &normalized));
        figures.push(Figure::micros(format!("{name}: prepare (parse, lint, resolve, normalize)"), cpu(prepare)));
        figures.push(
            Figure::micros(format!("{name}: engine alone, normalized"), rewritten)
                .beside_timed("engine alone, as written", as_written),
        );
        figures.push(
            Figure::micros(format!("{name}: all of it"), cpu(|| all.query(sql, &[])))
                .beside_timed("engine alone, normalized", rewritten),
        );
        figures.push(
            Figure::micros(
                format!("{name}: all of it, columns named and rows filtered"),
                cpu(|| narrow.query(sql, &[])),
            )
            .beside_timed("engine alone, normalized", rewritten),
        );
    }
    Ok(Section {
        title: "What the parts of the pipeline take".to_owned(),
        note: "`engine alone`: GlueSQL on a store that shares its rows and does nothing else. What `all of it` has\n\
               more: gate, guard, budgets, the result; what it has less: columns that nobody names are not copied,\n\
               and what depends on no row runs once."
            .to_owned(),
        figures,
    })
}

const GRANTED: &str = "[contract]\nname = \"granted\"\n[[read]]\ntable = \"invoices\"\n\
    columns = [\"id\", \"account_id\", \"total\", \"status\"]\nrows = \"status = 'paid'\"\n\
    [[read]]\ntable = \"accounts\"\ncolumns = [\"id\", \"region\"]\n";

/// Calls of a real tool with and without walls inside the data.
fn contracts() -> Result<Section> {
    let sandbox = Sandbox::new(SandboxOptions::default())?;
    let tool = call::load(&sandbox, "tool-query")?;
    let snapshot = Snapshot::seal(&data::small(1))?.with_memo(0);
    let limits = Limits::default();
    let mut figures = Vec::new();
    for (what, sql) in [
        ("one row by its key", "SELECT id, total FROM invoices WHERE id = 17"),
        ("a count of paid invoices", "SELECT COUNT(*) AS n FROM invoices WHERE status = 'paid'"),
    ] {
        let arguments = json!({"sql": sql}).to_string();
        let input = ToolInput { tool: "query", arguments: &arguments, settings: "{}" };
        let timed = |contract: &str| -> Result<Timed> {
            let contract = effective(&snapshot, contract)?;
            let call = || {
                let session = DatabaseSession::open(snapshot.fork(), Arc::clone(&contract), Usage::default());
                tool.call(&input, session, &limits).result
            };
            let output = call().map_err(|fault| anyhow!("{fault}"))?.map_err(|failure| anyhow!("{failure}"))?;
            ensure!(output.table.is_some_and(|table| table.rows == 1), "{what}: one row");
            Ok(cpu(call))
        };
        figures.push(
            Figure::per_second(format!("{what}, columns and rows granted"), timed(GRANTED)?)
                .beside_timed("everything granted", timed(ALL)?),
        );
    }
    Ok(Section {
        title: "Calls of tool-query under a contract".to_owned(),
        note: "A fresh instance and a fresh session for each call, 1,000 rows, nothing remembered.".to_owned(),
        figures,
    })
}
