//! What a call costs: a fresh store and instance, the call, and their end. And what a table
//! costs on its way from a session into a guest.
//!
//! `cargo bench -p tribunal-sandbox --profile dev`: the profile that everything runs in.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a bench")]

#[expect(dead_code, reason = "shared with the unit tests, which use all of it")]
#[path = "../src/fixture.rs"]
mod fixture;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use fixture::{DATA, Guest, OPEN, QUERY, data, said};
use tribunal_protocol::evidence::{Evidence, Submission};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::{Kind, Value};
use tribunal_sandbox::{Plugin, Sandbox, SandboxOptions, ToolInput, VerifyInput};

/// A session whose answer is ready, so that only its way into the guest is measured.
struct Ready(Option<Table>);

impl Session for Ready {
    fn tables(&mut self) -> Vec<TableInfo> {
        Vec::new()
    }

    fn query(&mut self, _: &str, _: &[Value]) -> Result<Table, Failure> {
        Ok(self.0.take().unwrap_or_default())
    }

    fn change(&mut self, _: &str, _: &[Value]) -> Result<u64, Failure> {
        Ok(0)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn violations(&self) -> u32 {
        0
    }
}

/// An integer, a text, a decimal and a date: the columns of most answers.
fn table(rows: i64) -> Table {
    let columns = [("id", Kind::Integer), ("name", Kind::Text), ("total", Kind::Decimal), ("day", Kind::Date)];
    let columns = columns.map(|(name, kind)| (name.to_owned(), kind));
    let row = |row: i64| {
        let total = format!("{}.{:02}", row * 37 % 9_000, row % 100);
        vec![
            Value::Integer(row),
            Value::Text(format!("customer {}", row % 97)),
            Value::Decimal(total.parse().unwrap_or_default()),
            Value::Date(19_000 + row as i32 % 365),
        ]
    };
    Table::from_rows(&columns, &(0..rows).map(row).collect::<Vec<_>>()).unwrap_or_default()
}

fn load(sandbox: &Sandbox, guest: &Guest) -> Arc<Plugin> {
    sandbox.load("guest", &guest.build()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Opens its session, and queries it or not.
fn reader(queries: bool) -> Guest {
    let query = format!(
        "(call $query (i32.load (i32.const 2004)) (i32.const {DATA}) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 2100))"
    );
    let body = format!(
        "(call $open (i32.const {DATA}) (i32.const 5) (i32.const 2000)) {} {}",
        if queries { query } else { String::new() },
        said(DATA, 5)
    );
    Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&data("agent"))
}

const INPUT: ToolInput<'_> = ToolInput { tool: "act", arguments: "{}", settings: "{}" };

fn instances(criterion: &mut Criterion) {
    let sandbox = Sandbox::new(SandboxOptions::default()).unwrap_or_else(|fault| panic!("{fault}"));
    let limits = Limits::default();
    let minimal = load(&sandbox, &Guest::tool(&said(DATA, 2)).fields(&data("ok")));
    let mut group = criterion.benchmark_group("call");
    group.bench_function("minimal tool", |bench| {
        bench.iter(|| black_box(minimal.call(&INPUT, Ready(None), &limits).result.is_ok()));
    });
    let open = load(&sandbox, &reader(false));
    group.bench_function("tool that opens its session", |bench| {
        bench.iter(|| black_box(open.call(&INPUT, Ready(None), &limits).result.is_ok()));
    });
    let reader = load(&sandbox, &reader(true));
    for rows in [0, 10, 1_000] {
        let table = table(rows);
        group.bench_function(format!("tool that is given {rows} rows"), |bench| {
            let ready = || Ready(Some(table.clone()));
            bench.iter_batched(ready, |ready| reader.call(&INPUT, ready, &limits), BatchSize::SmallInput);
        });
    }
    let verifier = Guest::verifier(&fixture::scored("1", 5)).fields(&data("match"));
    let verifier = load(&sandbox, &verifier);
    for rows in [10, 1_000] {
        let submission = Submission::Answer(table(rows));
        let text = String::new;
        let evidence =
            Evidence { instruction: text(), submission, questions: vec![], calls: vec![], expectation: text() };
        let input = VerifyInput { evidence: &evidence, settings: "{}" };
        group.bench_function(format!("verifier that is given {rows} rows"), |bench| {
            let run = || verifier.verify(&input, Ready(None), Ready(None), Box::new(|| Ok(Vec::new())), &limits);
            bench.iter(|| black_box(run().result.is_ok()));
        });
    }
    group.finish();
    real(criterion, &sandbox);
}

/// The plugins that `tribunal build` made, if it has.
fn real(criterion: &mut Criterion, sandbox: &Sandbox) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/plugins");
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("real");
    for (name, tool, arguments) in
        [("tool-query", "query", r#"{"sql":"SELECT 1"}"#), ("tool-catalog", "list_tables", "{}")]
    {
        let Ok(bytes) = std::fs::read(folder.join(format!("{name}.wasm"))) else { continue };
        let plugin = sandbox.load(name, &bytes).unwrap_or_else(|fault| panic!("{fault}"));
        let input = ToolInput { tool, arguments, settings: "{}" };
        for rows in [0, 10, 1_000] {
            let table = table(rows);
            group.bench_function(format!("{name} that is given {rows} rows"), |bench| {
                let ready = || Ready(Some(table.clone()));
                bench.iter_batched(ready, |ready| plugin.call(&input, ready, &limits), BatchSize::SmallInput);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, instances);
criterion_main!(benches);
