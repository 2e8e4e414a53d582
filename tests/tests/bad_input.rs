//! Bad input: one clear line that says how to mend it, exit code 2, nothing half-written.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use tribunal_tests::tool::{plugins, said};

/// Runs, expects a refusal, and expects its one line to hold all of `words`.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let said = said(folder, arguments);
    assert_eq!(said.code, 2, "{arguments:?}: {}{}", said.out, said.err);
    let line = said.err.lines().rfind(|line| line.starts_with("tribunal: ")).unwrap_or_default();
    for word in words {
        assert!(line.contains(word), "{arguments:?}: `{word}` expected in: {}", said.err);
    }
    assert!(!said.err.contains("panicked"), "{}", said.err);
}

fn component(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, wat::parse_str(text).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn components_that_are_no_plugins() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let wasi = component(at, "wasi.wasm", r#"(component (import "wasi:cli/environment@0.2.0" (instance)))"#);
    refused(at, &["inspect", "--wasi", "refused", &wasi], &["wasi:cli/environment@0.2.0", "WASI"]);
    // What has no stand-in is refused in any case.
    let http = component(at, "http.wasm", r#"(component (import "wasi:http/types@0.2.0" (instance)))"#);
    refused(at, &["inspect", &http], &["wasi:http/types@0.2.0"]);
    let world = component(at, "world.wasm", "(component)");
    refused(at, &["inspect", &world], &["describe"]);
    let version = component(at, "version.wasm", r#"(component (import "tribunal:plugin/log@2.0.0" (instance)))"#);
    refused(at, &["inspect", &version], &["2.0.0", "1.0.0"]);
    let core = component(at, "core.wasm", "(module)");
    refused(at, &["inspect", &core], &["tribunal build"]);

    let real = std::fs::read(plugins().join("tool-query.wasm")).unwrap();
    let cut = at.join("cut.wasm");
    std::fs::write(&cut, &real[..real.len() / 2]).unwrap();
    refused(at, &["inspect", cut.to_str().unwrap()], &["cut.wasm"]);
    refused(at, &["inspect", "nowhere.wasm"], &["nowhere.wasm"]);
    // The twin: what is a plugin is shown.
    let whole = said(at, &["inspect", plugins().join("tool-query.wasm").to_str().unwrap()]);
    assert_eq!(whole.code, 0, "{}", whole.err);
    assert!(whole.out.contains("tool-query"), "{}", whole.out);
}

#[test]
fn runs_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(at, &["run", "--policy", "genius"], &["genius", "oracle"]);
    refused(at, &["run", "--suite", "no-such-suite"], &["no-such-suite", "analytics"]);
    refused(at, &["run", "--plugins", "nowhere"], &["nowhere", "tribunal build"]);
    std::fs::create_dir(at.join("full")).unwrap();
    std::fs::write(at.join("full/letter.txt"), "mine").unwrap();
    refused(at, &["run", "--tasks", "5", "--out", "full"], &["full", "--out"]);
    assert_eq!(std::fs::read(at.join("full/letter.txt")).unwrap(), b"mine");
    assert!(!at.join("runs").exists(), "a refused run left something behind");
}

#[test]
fn a_run_folder_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // A file where a folder is needed fails for everybody, the superuser included.
    std::fs::write(at.join("file"), "").unwrap();
    refused(at, &["run", "--tasks", "5", "--out", "file/run"], &["file/run"]);
    assert_eq!(std::fs::read(at.join("file")).unwrap(), b"");
}

#[test]
fn traces_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    refused(at, &["replay", "nowhere.jsonl"], &["nowhere.jsonl"]);
    std::fs::write(at.join("stray.jsonl"), "{}").unwrap();
    refused(at, &["replay", "stray.jsonl"], &["run.json"]);
    refused(at, &["report", "."], &["run.json"]);
}
