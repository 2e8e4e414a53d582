//! `docs/threat-model.md`, held: every promise names tests, and every test that it names exists.

use tribunal_tests::tool::root;

/// The tests that a text names, as file and name.
fn named(text: &str) -> Vec<(&str, &str)> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(|words| words.split_once("::")).filter(|(file, _)| file.ends_with(".rs")).collect()
}

/// Whether a file has a test of that name: a function behind an attribute, or one that a test
/// without a harness lists.
fn exists(file: &str, name: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(root().join(file)) else { return false };
    let function = format!("fn {name}(");
    text.match_indices(&function).any(|(at, _)| text[..at].trim_end().ends_with("]"))
        || text.contains(&format!("\", {name}),")) && text.contains(&function)
}

#[test]
fn every_promise_names_tests_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let promised = page.split("## What is promised").nth(1).unwrap().split("## What is not promised").next().unwrap();
    let rows = promised.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promise"));
    let mut count = 0;
    for row in rows {
        let tests = named(row);
        assert!(!tests.is_empty(), "a promise without a test: {row}");
        for (file, name) in tests {
            assert!(exists(file, name), "{file} has no test `{name}`; correct docs/threat-model.md");
        }
        count += 1;
    }
    assert!(count >= 20, "{count} promises");
}

#[test]
fn a_test_that_is_not_there_is_missed() {
    assert!(exists("tests/tests/threat_model.rs", "a_test_that_is_not_there_is_missed"));
    assert!(exists("host/sandbox/tests/compile.rs", "too_much_memory_is_stopped"));
    assert!(!exists("tests/tests/threat_model.rs", "a_test_that_never_was"));
    assert!(!exists("tests/tests/threat_model.rs", "named"), "a function is no test");
    assert!(!exists("tests/tests/nowhere.rs", "named"));
    assert_eq!(named("| a | `b.rs::c`, `not::one` and `d/e.rs::f` |"), [("b.rs", "c"), ("d/e.rs", "f")]);
}
