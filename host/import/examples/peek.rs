#![allow(missing_docs, warnings, clippy::all)]
fn main() {
    let f = std::env::args().nth(1).unwrap();
    let i = tribunal_import::import(std::path::Path::new(&f), "2025-06-30").unwrap();
    for r in &i.report.results { println!("{} {} {} {} alts {}/{} rows {} | {} | {:?}", r.number, r.schema, r.category, r.class, r.kept, r.alternatives, r.rows, r.why, r.remarks); }
    println!("{:?}", i.report.totals);
    for t in i.suite.tasks.iter().take(400) { println!("{} {}\n   {}\n", t.id, t.instruction, t.instances[0].expectation); }
}
