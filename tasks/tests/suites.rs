//! The suite on the page and the suite in the binary: read whole, and the same from wherever.

mod example;

use std::path::Path;

use example::{Folder, files};
use tribunal_tasks::Suite;

#[test]
fn the_page_shows_a_whole_suite() {
    let names: Vec<String> = files().into_iter().map(|(name, _)| name).collect();
    let expected =
        ["suite.toml", "schemas/shop/v1/schema.toml", "schemas/shop/v1/terms.toml", "families/order-totals.toml"];
    assert_eq!(names, expected);
    let suite = Folder::new().load().unwrap();
    let drafts = suite.drafts(&suite.quotas(), 1).unwrap();
    let ids: Vec<&str> = drafts.iter().map(|draft| draft.task.id.as_str()).collect();
    assert_eq!(ids, [1, 2, 3, 4].map(|n| format!("shop-v1.order-totals.000{n}")));
    for draft in &drafts {
        assert_eq!(draft.task.mutants.len(), 3, "{}", draft.task.id);
        assert!(!draft.task.grant.contains("email"), "a private column is granted: {}", draft.task.grant);
    }
    // Its traps are there; it claims one of those that a suite of ours never goes without.
    let findings = suite.check(&suite.schemas()[0], 5).unwrap();
    assert!(findings.iter().all(|finding| finding.what.ends_with("is not claimed")), "{findings:?}");
}

#[test]
fn every_make_that_the_page_lists_is_one() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (_, rest) = page.split_once("one `make`:").unwrap();
    let (list, _) = rest.split_once("(`src/make.rs`").unwrap();
    let mut listed: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    listed.sort_unstable();
    // What the reader of schemas says there is, when asked for what is not.
    let folder = Folder::new().with("schemas/shop/v1/schema.toml", "make = { date =", "make = { day =");
    let fault = folder.load().unwrap_err().to_string();
    let (_, known) = fault.split_once("expected one of ").unwrap();
    let mut known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// Whoever copies the folder of the built-in suite has the very suite.
#[test]
fn the_built_in_suite_is_its_folder() {
    let built_in = Suite::embedded("analytics").unwrap();
    let loaded = Suite::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("suites/analytics")).unwrap();
    assert_eq!(built_in.digest(), loaded.digest());
    assert_eq!((built_in.name(), built_in.version()), (loaded.name(), loaded.version()));
    assert_eq!(built_in.schemas(), loaded.schemas());
    assert_eq!(built_in.families(), loaded.families());
    assert_eq!(built_in.quotas(), loaded.quotas());
    for schema in built_in.schemas() {
        assert_eq!(built_in.dataset(&schema, 3).unwrap(), loaded.dataset(&schema, 3).unwrap(), "{schema}");
    }
    let few = tribunal_tasks::Quotas::each(3);
    assert_eq!(built_in.drafts(&few, 2).unwrap(), loaded.drafts(&few, 2).unwrap());
}

/// The twin: one byte in a file of the folder is another suite.
#[test]
fn another_byte_is_another_digest() {
    let digest = |folder: &Folder| folder.load().unwrap().digest();
    let first = digest(&Folder::new());
    assert_eq!(first, digest(&Folder::new()));
    for (file, from, to) in [
        ("suite.toml", "train = 4", "train = 5"),
        ("schemas/shop/v1/schema.toml", "Porto", "Porta"),
        ("schemas/shop/v1/terms.toml", "do not count", "don't count"),
        ("families/order-totals.toml", "the sum in EUR", "the sum in Euro"),
    ] {
        assert_ne!(digest(&Folder::new().with(file, from, to)), first, "{file}");
    }
    // A file that no schema or family of the suite is in changes nothing.
    assert_eq!(digest(&Folder::new().and("families/other.toml", "format = 7")), first);
}
