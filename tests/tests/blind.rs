//! Evaluations that both sides are blind in: what leaves the host, and what does not.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use serde_json::Value;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::task::Task;
use tribunal_seal::{DISCLOSED_TYPE, Envelope, PublicKey, Statement};
use tribunal_tests::tool::{plugins, said};

const AGGREGATES: &str = "format = 1\nshow = \"aggregates\"\nminimum_group = 6\n";
const PER_TASK: &str = "format = 1\nshow = \"per-task\"\n";
/// The same as [`AGGREGATES`], in a protocol file.
const OF_PROTOCOL: &str = "format = 1\nname = \"p\"\n[disclosure]\nshow = \"aggregates\"\nminimum_group = 6\n";

fn done(at: &Path, arguments: &[&str]) -> String {
    let said = said(at, arguments);
    assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
    said.out
}

fn encrypt(at: &Path, file: &str) {
    done(at, &["encrypt", file, "--to", "host.pub", "--out", &format!("{file}.encrypted")]);
}

/// What leaves an evaluation of these tasks, as its signed statement.
fn released(at: &Path, tasks: &[Task], disclosure: &str) -> Statement<Value> {
    let lines: Vec<String> = tasks.iter().map(|task| serde_json::to_string(task).unwrap()).collect();
    std::fs::write(at.join("tasks.jsonl"), lines.join("\n")).unwrap();
    std::fs::write(at.join("disclosure.toml"), disclosure).unwrap();
    encrypt(at, "tasks.jsonl");
    let before = names(at);
    let arguments = ["--host-key", "host", "--disclosure", "disclosure.toml", "--key", "key", "--policy", "oracle"];
    let told = done(
        at,
        &[
            &["evaluate-blind", "tasks.jsonl.encrypted", "--plugin", "verifier.wasm.encrypted", "--out", "out.json"],
            &arguments[..],
        ]
        .concat(),
    );
    assert!(!told.contains(&tasks[0].instruction));
    let mut after = names(at);
    after.retain(|name| name != "out.json" && !before.contains(name));
    assert_eq!(after, [""; 0], "something else was written");
    let key = PublicKey::from_pem(&std::fs::read_to_string(at.join("key.pub")).unwrap()).unwrap();
    let envelope = Envelope::read(&std::fs::read(at.join("out.json")).unwrap()).unwrap();
    Statement::open(&envelope, &key, DISCLOSED_TYPE).unwrap()
}

fn names(at: &Path) -> Vec<String> {
    std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The tasks of a small run, with the expectations of one of them taken from another: its oracle fails.
fn spoilt(tasks: &[Task], which: usize, by: usize) -> Vec<Task> {
    let mut tasks = tasks.to_vec();
    let expectation = tasks[by].instances[0].expectation.clone();
    tasks[which].instances.iter_mut().for_each(|instance| instance.expectation.clone_from(&expectation));
    tasks
}

#[test]
fn nothing_leaves_but_what_the_disclosure_allows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    done(at, &["run", "--policy", "oracle", "--tasks", "40", "--out", "run"]);
    done(at, &["keygen", "host", "--host"]);
    done(at, &["keygen", "key"]);
    std::fs::copy(plugins().join("verifier-result.wasm"), at.join("verifier.wasm")).unwrap();
    encrypt(at, "verifier.wasm");
    let text = std::fs::read_to_string(at.join("run/tasks.jsonl")).unwrap();
    let all: Vec<Task> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tasks: Vec<Task> = all.into_iter().filter(|task| task.verifier == "verifier-result").take(6).collect();
    assert_eq!(tasks.len(), 6);

    let whole = released(at, &tasks, AGGREGATES);
    assert_eq!(
        whole.predicate["policies"]["oracle"]["all"],
        serde_json::json!({"tasks": 6, "judged": 6, "passed": 6, "void": 0})
    );
    assert!(whole.predicate["policies"]["oracle"]["tasks"].is_null());
    let named: Vec<&str> = whole.subject.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(named, ["disclosure.toml", "tasks.jsonl.encrypted", "verifier.wasm.encrypted"]);
    let ciphertext = std::fs::read(at.join("tasks.jsonl.encrypted")).unwrap();
    assert_eq!(whole.subject[1].sha256(), Some(Digest::of(&ciphertext)));

    // Which task fails, on what data, for what reason, and what it asks: no byte changes with it.
    let one = released(at, &spoilt(&tasks, 0, 5), AGGREGATES);
    assert_eq!(one.predicate["policies"]["oracle"]["all"]["passed"], 5);
    let mut other = spoilt(&tasks, 3, 4);
    other[1].instruction = "what nobody may read".to_owned();
    other[2].mutants.clear();
    other.reverse();
    let other = released(at, &other, AGGREGATES);
    assert_eq!(serde_json::to_string(&one.predicate).unwrap(), serde_json::to_string(&other.predicate).unwrap());
    // The twins: another aggregate, and a disclosure that allows more.
    assert_ne!(one.predicate, whole.predicate);
    let per_task = |tasks: &[Task]| released(at, tasks, PER_TASK).predicate["policies"]["oracle"]["tasks"].clone();
    let (first, second) = (per_task(&spoilt(&tasks, 0, 5)), per_task(&spoilt(&tasks, 3, 4)));
    assert_ne!(first, second);
    assert_eq!(first[&tasks[0].id]["passed"], 0);
    assert_eq!(second[&tasks[3].id]["passed"], 0);
    assert_eq!(released(at, &tasks, OF_PROTOCOL).predicate, whole.predicate);
    // Too few to hide in.
    let few = released(at, &tasks[..5], AGGREGATES);
    assert!(few.predicate["policies"]["oracle"]["all"].is_null());
    a_result_is_checked(at);
    what_cannot_be_read_is_refused(at, &tasks[0]);
}

/// Whoever has the key checks a result; what was changed is named, and a stranger's key is none.
fn a_result_is_checked(at: &Path) {
    let verify = |more: &[&str]| said(at, &[&["verify-seal", "out.json"], more].concat());
    let sound = verify(&[".", "--public-key", "key.pub"]);
    assert_eq!(sound.code, 0, "{}{}", sound.out, sound.err);
    assert!(
        sound.out.contains("compared  disclosure.toml, tasks.jsonl.encrypted, verifier.wasm.encrypted"),
        "{}",
        sound.out
    );
    let alone = verify(&["--public-key", "key.pub"]);
    assert!(alone.code == 0 && alone.out.contains("not here  disclosure.toml, "), "{}", alone.out);
    done(at, &["keygen", "stranger"]);
    let forged = verify(&["--public-key", "stranger.pub"]);
    assert!(forged.code == 1 && forged.out.contains("the result does not hold"), "{}", forged.out);
    let disclosure = std::fs::read_to_string(at.join("disclosure.toml")).unwrap();
    std::fs::write(at.join("disclosure.toml"), PER_TASK).unwrap();
    let other = verify(&[".", "--public-key", "key.pub"]);
    assert!(other.code == 1 && other.out.contains("disclosure.toml: altered"), "{}", other.out);
    std::fs::write(at.join("disclosure.toml"), disclosure).unwrap();
    // What was disclosed is part of what was signed.
    let whole = std::fs::read_to_string(at.join("out.json")).unwrap();
    let mut envelope: Value = serde_json::from_str(&whole).unwrap();
    let payload = envelope["payload"].as_str().unwrap().to_owned();
    let middle = payload.len() / 2;
    let letter = if &payload[middle..=middle] == "A" { "B" } else { "A" };
    envelope["payload"] = format!("{}{letter}{}", &payload[..middle], &payload[middle + 1..]).into();
    std::fs::write(at.join("out.json"), envelope.to_string()).unwrap();
    assert_ne!(verify(&["--public-key", "key.pub"]).code, 0);
    std::fs::write(at.join("out.json"), whole).unwrap();
}

fn what_cannot_be_read_is_refused(at: &Path, task: &Task) {
    done(at, &["keygen", "elsewhere", "--host"]);
    std::fs::write(at.join("broken.jsonl"), format!("{}\n{{\"a secret\":1}}\n", serde_json::to_string(task).unwrap()))
        .unwrap();
    encrypt(at, "broken.jsonl");
    for (tasks, host, disclosure, expected) in [
        ("missing", "host", "disclosure.toml", "cannot read missing"),
        ("tasks.jsonl", "host", "disclosure.toml", "tasks.jsonl: no encrypted file"),
        ("tasks.jsonl.encrypted", "elsewhere", "disclosure.toml", "not encrypted to this host"),
        ("tasks.jsonl.encrypted", "key", "disclosure.toml", "key: no host key"),
        ("tasks.jsonl.encrypted", "host", "key", "key: no disclosure file"),
        ("verifier.wasm.encrypted", "host", "disclosure.toml", "no tasks.jsonl"),
        ("broken.jsonl.encrypted", "host", "disclosure.toml", "line 2 is no task"),
    ] {
        let arguments = [
            "evaluate-blind",
            tasks,
            "--host-key",
            host,
            "--disclosure",
            disclosure,
            "--key",
            "key",
            "--out",
            "no.json",
        ];
        let told = said(at, &arguments);
        assert_eq!(told.code, 2, "{arguments:?}: {}", told.out);
        assert!(told.err.contains(expected), "{arguments:?}: {}", told.err);
        assert!(!told.err.contains("a secret") && !told.err.contains(&task.instruction), "{}", told.err);
        assert!(!at.join("no.json").exists());
    }
    let told = said(at, &["encrypt", "tasks.jsonl", "--to", "key.pub", "--out", "x"]);
    assert_eq!(told.code, 2);
    assert!(told.err.contains("key.pub: no key to encrypt to"), "{}", told.err);
}
