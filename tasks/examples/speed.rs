//! Times drafts.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, clippy::disallowed_methods)]
fn main() {
    let t = std::time::Instant::now();
    let suite = tribunal_tasks::Suite::embedded("analytics").unwrap();
    println!("load {:?}", t.elapsed());
    for s in suite.schemas() {
        let t = std::time::Instant::now();
        for seed in 0..20 { suite.dataset(&s, seed).unwrap(); }
        println!("{s} {:?}", t.elapsed() / 20);
    }
    let t = std::time::Instant::now();
    let d = suite.drafts(&suite.quotas(), 1).unwrap();
    println!("{} drafts {:?}", d.len(), t.elapsed());
}
