//! A suite of somebody's own, as `tasks/README.md` shows one: on trial, and played.

#[path = "../../tasks/tests/example/mod.rs"]
mod example;

use example::Folder;
use serde_json::Value;
use tribunal_tests::tool::said;

const SCHEMA: &str = "schemas/shop/v1/schema.toml";
const FAMILY: &str = "families/order-totals.toml";

#[test]
fn the_suite_on_the_page_passes_its_trial() {
    let suite = Folder::new();
    let at = tempfile::tempdir().unwrap();
    let said = said(at.path(), &["tasks", "--suite", suite.path("").to_str().unwrap(), "--json"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let made: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(made["suite"], "shop@1");
    assert_eq!(made["tasks"].as_array().unwrap().len(), 4);
    assert_eq!(made["refused"], Value::Array(Vec::new()));
}

/// The twin: a wrong way that is right after all is found, and named.
#[test]
fn a_suite_whose_wrong_way_is_right_is_refused() {
    let suite = Folder::new().with(FAMILY, "MAX({{ amount }})", "SUM({{ amount }} + 0)");
    let at = tempfile::tempdir().unwrap();
    let said = said(at.path(), &["tasks", "--suite", suite.path("").to_str().unwrap()]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    let line = said.err.lines().rfind(|line| line.starts_with("tribunal: ")).unwrap();
    for words in ["4 places of the suite stay empty", "the mutant not-added-up", "correct that family"] {
        assert!(line.contains(words), "{words}: {line}");
    }
}

/// The same suite on SQLite: it passes the same trial, is played, and replays on the engine that
/// its traces name; and a schema with an engine that nobody has is refused.
#[test]
fn a_suite_may_run_on_sqlite() {
    let at = tempfile::tempdir().unwrap();
    let engine = |name: &str| Folder::new().with(SCHEMA, "format = 1", &format!("format = 1\nengine = \"{name}\""));
    let suite = engine("sqlite");
    let path = suite.path("").to_str().unwrap().to_owned();
    let ran = said(at.path(), &["run", "--suite", &path, "--policy", "oracle,guesser", "--out", "played"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let summary = std::fs::read_to_string(at.path().join("played/summary.json")).unwrap();
    let traces = std::fs::read_dir(at.path().join("played/traces/oracle")).unwrap();
    let traces: Vec<String> = traces.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert_eq!(traces.len(), 4, "{summary}");
    for trace in &traces {
        assert!(trace.contains("\"engines\":[\"sqlite 3."), "{}", &trace[..400]);
        assert!(trace.contains("\"reward\":1.0"), "{trace}");
    }
    let replayed = said(at.path(), &["replay", "played"]);
    assert_eq!((replayed.code, replayed.out.contains("8 identical, 0 different")), (0, true), "{}", replayed.out);
    let unknown = engine("oracle-db");
    let refused = said(at.path(), &["tasks", "--suite", unknown.path("").to_str().unwrap()]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("gluesql") && refused.err.contains("sqlite"), "{}", refused.err);
}
