//! The main job as a user runs it: the binary, its exit codes and its files.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tribunal_protocol::digest::Digest;
use tribunal_tests::tool::{said, tribunal};

const TASKS: &str = "40";

fn run(folder: &Path, out: &str, more: &[&str]) -> Value {
    let mut arguments = vec!["run", "--policy", "all", "--tasks", TASKS, "--out", out, "--json"];
    arguments.extend(more);
    let said = said(folder, &arguments);
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

/// Every file of a run folder, by its name.
fn files(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(path.strip_prefix(run).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn traces(run: &Path) -> Vec<PathBuf> {
    files(run).into_keys().filter(|name| name.starts_with("traces")).collect()
}

/// One run serves several checks: it is what takes time.
#[test]
fn the_main_job() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let summary = run(at, "a", &[]);
    the_oracle_does_all_and_nobody_else_anything(&summary);
    replay_is_identical_twice(at);
    alterations_are_named(at);
    another_run_gives_the_same_bytes(at);
    a_report_is_a_function_of_traces(at);
    a_killed_run_goes_on(at);
    a_release_is_decided(at);
    what_cannot_be_decided_is_refused(at);
}

fn the_oracle_does_all_and_nobody_else_anything(summary: &Value) {
    let policies = summary["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 5);
    for policy in policies {
        let total = &policy["total"];
        let count = |name: &str| total[name].as_u64().unwrap();
        let judged = count("passed") + count("partial") + count("zero") + count("invalid");
        assert_eq!(count("void"), 0, "{policy}");
        assert!(judged >= 30, "{policy}");
        if policy["policy"] == "oracle" {
            assert_eq!(count("passed"), judged, "{policy}");
        } else {
            let scored = count("passed") + count("partial");
            assert!(scored * 100 <= judged, "{}: {scored} of {judged}", policy["policy"]);
        }
    }
}

fn replay_is_identical_twice(at: &Path) {
    let count = traces(&at.join("a")).len();
    for _ in 0..2 {
        let said = said(at, &["replay", "a"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains(&format!("{count} identical, 0 different")), "{}", said.out);
    }
}

/// Alters one byte of one event of one trace, a hundred times over, all in one replay.
fn alterations_are_named(at: &Path) {
    let source = at.join("a");
    let altered = at.join("altered");
    std::fs::create_dir_all(altered.join("traces/altered")).unwrap();
    for name in ["run.json", "tasks.jsonl", "refused.json"] {
        std::fs::copy(source.join(name), altered.join(name)).unwrap();
    }
    let names = traces(&source);
    let mut expected = BTreeMap::new();
    for round in 0..100_u64 {
        let draw = |salt: &str, below: usize| {
            let digest = Digest::of(format!("{salt} {round}").as_bytes()).to_string();
            usize::from_str_radix(&digest[..12], 16).unwrap() % below
        };
        let mut bytes = std::fs::read(source.join(&names[draw("trace", names.len())])).unwrap();
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let place = first + draw("byte", bytes.len() - first);
        let event = bytes[..place].iter().filter(|byte| **byte == b'\n').count() - 1;
        bytes[place] ^= 1 << draw("bit", 7);
        let name = format!("{round:03}.jsonl");
        std::fs::write(altered.join("traces/altered").join(&name), bytes).unwrap();
        expected.insert(name, event);
    }
    let said = said(at, &["replay", "altered", "--json"]);
    assert_eq!(said.code, 1, "{}", said.err);
    let outcomes: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    assert_eq!(outcomes.len(), 100);
    for outcome in outcomes {
        let name = Path::new(outcome["trace"].as_str().unwrap()).file_name().unwrap().to_str().unwrap().to_owned();
        let problem = outcome["problem"].as_str().unwrap_or_default();
        let event = format!("event {}:", expected[&name]);
        assert!(problem.starts_with(&event), "{name}: {event} expected, {problem}");
    }
}

fn another_run_gives_the_same_bytes(at: &Path) {
    run(at, "elsewhere/a", &["--jobs", "1"]);
    let (one, two) = (files(&at.join("a")), files(&at.join("elsewhere/a")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(two[name] == *bytes, "{} differs", name.display());
    }
}

fn a_report_is_a_function_of_traces(at: &Path) {
    let before = files(&at.join("a"));
    std::fs::remove_file(at.join("a/report.html")).unwrap();
    std::fs::remove_file(at.join("a/summary.json")).unwrap();
    assert_eq!(said(at, &["report", "a"]).code, 0);
    assert!(files(&at.join("a")) == before);
}

/// Kills a run with SIGKILL when it has some traces, goes on with it, and finds what an
/// uninterrupted run leaves.
fn a_killed_run_goes_on(at: &Path) {
    std::fs::create_dir(at.join("killed")).unwrap();
    let arguments = ["run", "--policy", "all", "--tasks", TASKS, "--out", "killed/a", "--jobs", "1"];
    let mut child = tribunal(at, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let run = at.join("killed/a");
    let some = || run.join("traces").is_dir() && traces(&run).len() >= 5;
    while !some() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!run.join("report.html").exists(), "it was over before it could be killed");
    // As if it had been killed within a write, which happens by chance only.
    std::fs::write(run.join("traces/.half-a1b2c3"), "{").unwrap();
    let refused = said(at, &["run", "--policy", "all", "--tasks", TASKS, "--out", "killed/a"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("--resume"), "{}", refused.err);
    let other = said(at, &["run", "--policy", "oracle", "--tasks", TASKS, "--out", "killed/a", "--resume"]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("policies was"), "{}", other.err);
    assert_eq!(said(at, &["run", "--policy", "all", "--tasks", TASKS, "--out", "killed/a", "--resume"]).code, 0);
    let (whole, resumed) = (files(&at.join("a")), files(&run));
    assert_eq!(whole.keys().collect::<Vec<_>>(), resumed.keys().collect::<Vec<_>>());
    assert!(whole == resumed);
}

const PROTOCOL: &str = r#"
format = 1
name = "end to end"
splits = ["new-data", "new-schema", "new-family", "new-schema-and-family"]
[[clause]]
kind = "violations"
at_most = 0
episodes = 30
[[clause]]
kind = "gain"
measure = "pass@1"
bound = "lower"
above = 0.0
"#;

/// The oracle takes the place of the guesser, and not the other way round.
fn a_release_is_decided(at: &Path) {
    std::fs::write(at.join("release.toml"), PROTOCOL).unwrap();
    let evaluate = |candidate: &str, baseline: &str, more: &[&str]| {
        let mut arguments =
            vec!["evaluate", "a", "--policy", candidate, "--against-policy", baseline, "--out", "judged"];
        arguments.extend(more);
        said(at, &arguments)
    };
    let ship = evaluate("oracle", "guesser", &["--protocol", "release.toml", "--json"]);
    assert_eq!(ship.code, 0, "{}{}", ship.out, ship.err);
    let json: Value = serde_json::from_str(&ship.out).unwrap();
    assert_eq!(json["decision"]["ship"], true);
    assert_eq!(json["groups"][0]["scores"][0]["gain"]["value"], 1.0);
    let before = files(&at.join("judged"));
    assert_eq!(before.keys().collect::<Vec<_>>(), [Path::new("evaluation.html"), Path::new("evaluation.json")]);
    assert_eq!(evaluate("oracle", "guesser", &["--protocol", "release.toml", "--markdown"]).code, 0);
    assert!(files(&at.join("judged")) == before);
    // Links lead from the page to the traces.
    let page = String::from_utf8(before[Path::new("evaluation.html")].clone()).unwrap();
    let links = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().replace("&#x2f;", "/"));
    let traces: Vec<String> = links.filter(|link| link.ends_with(".jsonl")).collect();
    assert!(!traces.is_empty());
    for trace in traces {
        assert!(at.join("judged").join(&trace).is_file(), "{trace}");
    }
    assert_eq!(evaluate("oracle", "guesser", &["--protocol", "release.toml", "--no-links"]).code, 0);
    let bare = std::fs::read_to_string(at.join("judged/evaluation.html")).unwrap();
    assert!(!bare.contains(".jsonl\"") && bare.len() > 10_000);
    let worse = evaluate("guesser", "oracle", &["--protocol", "release.toml"]);
    assert_eq!(worse.code, 1, "{}", worse.err);
    assert!(worse.out.contains("No ship: of 2 clauses, 1 fails (pass@1 gain)"), "{}", worse.out);
    // By the default protocol one attempt a task is too little to know.
    let unknown = evaluate("oracle", "guesser", &[]);
    assert_eq!(unknown.code, 1, "{}", unknown.err);
    assert!(unknown.out.contains("cannot be decided"), "{}", unknown.out);
}

fn what_cannot_be_decided_is_refused(at: &Path) {
    let told = said(at, &["evaluate", "--print-protocol"]);
    assert_eq!(told.code, 0);
    std::fs::write(at.join("default.toml"), &told.out).unwrap();
    std::fs::write(at.join("unknown.toml"), told.out.replace("above = 0.0", "abov = 0.0")).unwrap();
    let pair = ["evaluate", "a", "--policy", "oracle", "--against-policy", "guesser"];
    let with = |more: &[&str]| said(at, &[&pair, more].concat());
    assert_eq!(with(&["--protocol", "default.toml", "--out", "judged"]).code, 1);
    for (arguments, expected) in [
        (["--protocol", "unknown.toml"], "clause 4 (gain): unknown field `abov`"),
        (["--protocol", "missing.toml"], "cannot read missing.toml"),
        (["--training", "a"], "updates.jsonl"),
        (["--against", "altered"], "--against-policy guesser: no traces of it in altered; there are altered"),
        (["--recheck", "judged"], "judged: no run folder"),
    ] {
        let told = with(&arguments);
        assert_eq!(told.code, 2, "{}", told.out);
        assert!(told.err.contains(expected), "{}", told.err);
    }
    for (arguments, expected) in [
        (vec!["evaluate", "a", "--against", "a"], "a: several policies, echo, guesser,"),
        (vec!["evaluate", "a", "--policy", "oracle", "--against-policy", "oracle"], "compared with itself"),
        (vec!["evaluate", "altered", "--against", "a", "--against-policy", "oracle"], "altered: no whole episode"),
    ] {
        let told = said(at, &arguments);
        assert_eq!(told.code, 2, "{}", told.out);
        assert!(told.err.contains(expected), "{}", told.err);
    }
    std::fs::write(at.join("a/spent.jsonl"), "{\"policy\":\"oracle\",\"tokens\":1}\n").unwrap();
    let told = with(&["--out", "judged"]);
    assert_eq!(told.code, 2, "{}", told.out);
    assert!(told.err.contains("spent.jsonl line 1: what an episode spent expected"), "{}", told.err);
}
