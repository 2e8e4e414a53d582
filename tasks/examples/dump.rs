//! Dumps drafts with their data as JSON lines, for trying queries elsewhere.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use std::collections::BTreeMap;
use tribunal_protocol::schema::Dataset;
use tribunal_tasks::*;
fn data(d: &Dataset) -> serde_json::Value {
    let tables: Vec<_> = d.tables.iter().map(|t| serde_json::json!({
        "schema": t.schema,
        "rows": t.rows.iter().map(|r| r.iter().map(|v| v.to_json()).collect::<Vec<_>>()).collect::<Vec<_>>(),
    })).collect();
    serde_json::json!(tables)
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let suite = match args.get(1) { Some(p) => Suite::load(std::path::Path::new(p)), None => Suite::embedded("analytics") };
    let suite = suite.unwrap_or_else(|e| { println!("{}", serde_json::json!(e.to_string())); std::process::exit(1) });
    for s in suite.schemas() { for seed in 0..5 {
        for f in suite.check(&s, seed).unwrap_or_else(|e| { println!("{}", serde_json::json!(e.to_string())); std::process::exit(1) }) { println!("{}", serde_json::json!({"finding": format!("{s} seed {seed} {}: {}", f.table, f.what)})); }
    }}
    let mut cache = BTreeMap::new();
    let drafts = suite.drafts(&suite.quotas(), 1).unwrap_or_else(|e| { println!("{}", serde_json::json!(e.to_string())); std::process::exit(1) });
    for d in &drafts {
        for d in std::iter::once(d).chain(&d.siblings) {
        for i in &d.task.instances { cache.entry((d.task.schema.clone(), i.seed)).or_insert_with(|| data(&suite.dataset(&d.task.schema, i.seed).unwrap())); }
        let data: Vec<_> = d.task.instances.iter().map(|i| cache[&(d.task.schema.clone(), i.seed)].clone()).collect();
        let (contract, query) = match &d.expectation {
            ExpectationPlan::Result { contract, query } | ExpectationPlan::Clarify { contract, query, .. } => (contract.clone(), query.clone()),
            other => (serde_json::json!(format!("{other:?}")), String::new()),
        };
        println!("{}", serde_json::json!({"task": d.task, "contract": contract, "query": query, "data": data}));
        }
    }
}
