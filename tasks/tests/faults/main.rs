//! Every kind of fault in a suite's files: the error names the file, the key, and how to mend it.
//! The twin of each is the suite of README.md itself, which differs from it in that fault alone.
#![expect(clippy::panic, reason = "tests")]

#[path = "../example/mod.rs"]
mod example;
mod families;
mod schemas;
mod suites;
mod terms;

use example::Folder;

const SUITE: &str = "suite.toml";
const SCHEMA: &str = "schemas/shop/v1/schema.toml";
const TERMS: &str = "schemas/shop/v1/terms.toml";
const FAMILY: &str = "families/order-totals.toml";

/// Expects the suite to be refused with a fault that begins so, and says so much more.
#[track_caller]
fn fault(folder: &Folder, begins: &str, says: &[&str]) {
    let fault = match folder.load() {
        Ok(_) => panic!("it loads; expected: {begins}"),
        Err(fault) => fault.to_string(),
    };
    assert!(fault.starts_with(begins), "`{begins}` expected: {fault}");
    for words in says {
        assert!(fault.contains(words), "`{words}` expected in: {fault}");
    }
}

/// The suite with one text in a file replaced by another.
fn with(file: &str, from: &str, to: &str) -> Folder {
    Folder::new().with(file, from, to)
}

#[test]
fn the_suite_without_a_fault_loads() {
    let suite = Folder::new().load().unwrap();
    assert_eq!((suite.name(), suite.version(), suite.schemas().len()), ("shop", "1", 1));
}
