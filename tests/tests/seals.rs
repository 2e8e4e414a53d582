//! Seals as their users meet them: the binary, its files, and everything that may be changed in a run.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

use serde_json::Value;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::event::Event;
use tribunal_protocol::verdict::Verdict;
use tribunal_seal::{Envelope, PREDICATE_TYPE, RunPredicate, SigningKey, Statement};
use tribunal_tests::tool::{Said, read, said, tribunal};

/// A run folder `a`, its key `key` with `key.pub`, and its seal.
fn sealed(at: &Path) {
    let ran = said(at, &["run", "--policy", "oracle,echo", "--tasks", "4", "--out", "a"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let made = said(at, &["keygen", "key", "--json"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let sealed = said(at, &["seal", "a", "--key", "key"]);
    assert_eq!(sealed.code, 0, "{}", sealed.err);
    assert!(sealed.out.contains("8 of them traces"), "{}", sealed.out);
}

fn verify(at: &Path, more: &[&str]) -> Said {
    said(at, &[&["verify-seal", "a/seal.json", "a", "--public-key", "key.pub"], more].concat())
}

fn problems(at: &Path, more: &[&str]) -> Vec<(String, String)> {
    let said = verify(at, &[more, &["--json"]].concat());
    let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err));
    let listed = json["problems"].as_array().unwrap();
    assert_eq!(said.code, i32::from(!listed.is_empty()), "{}", said.out);
    assert_eq!(json["holds"], listed.is_empty());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.iter().map(|problem| (text(&problem["name"]), text(&problem["problem"]))).collect()
}

/// One run serves several checks: it is what takes time.
#[test]
fn a_seal_holds_until_anything_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    sealed(at);
    a_seal_holds_and_says_whose_word_it_is(at);
    every_changed_byte_is_named(at);
    what_is_added_or_missing_is_named(at);
    an_altered_seal_does_not_hold(at);
    a_statement_that_its_files_contradict_is_named(at);
    a_protocol_file_is_bound(at);
    a_false_verdict_is_found_by_replay(at);
    what_cannot_be_sealed_is_refused(at);
}

fn a_seal_holds_and_says_whose_word_it_is(at: &Path) {
    let held = verify(at, &[]);
    assert_eq!(held.code, 0, "{}{}", held.out, held.err);
    assert!(held.out.contains("the seal holds") && held.out.contains("(the key that you named)"), "{}", held.out);
    let own = said(at, &["verify-seal", "a/seal.json", "a"]);
    assert_eq!(own.code, 0, "{}{}", own.out, own.err);
    assert!(own.out.contains("the seal's own word"), "{}", own.out);
    assert_eq!(said(at, &["keygen", "other"]).code, 0);
    let other = said(at, &["verify-seal", "a/seal.json", "a", "--public-key", "other.pub"]);
    assert_eq!(other.code, 1, "{}", other.err);
    assert!(other.out.contains("another key signed it"), "{}", other.out);
    // The key of the environment, and a seal outside: the same bytes.
    let key = std::fs::read_to_string(at.join("key")).unwrap();
    let again = tribunal(at, &["seal", "a", "--out", "outside.json"]).env("TRIBUNAL_SIGNING_KEY", &key).output();
    let again = read(&again.unwrap());
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(std::fs::read(at.join("outside.json")).unwrap(), std::fs::read(at.join("a/seal.json")).unwrap());
    assert!(!again.out.contains(key.lines().nth(1).unwrap()));
}

/// Flips one bit in every file, in turn.
fn every_changed_byte_is_named(at: &Path) {
    let envelope = Envelope::read(&std::fs::read(at.join("a/seal.json")).unwrap()).unwrap();
    let statement: Statement<RunPredicate> = Statement::read(&envelope.unverified().unwrap(), PREDICATE_TYPE).unwrap();
    let names: Vec<String> = statement.subject.iter().map(|subject| subject.name.clone()).collect();
    for name in ["run.json", "tasks.jsonl", "refused.json", "summary.json", "report.html"] {
        assert!(names.iter().any(|known| known == name), "{name} is not bound");
    }
    assert_eq!(names.iter().filter(|name| name.starts_with("traces/")).count(), 8);
    for name in names {
        let path = at.join("a").join(&name);
        let bytes = std::fs::read(&path).unwrap();
        let draw = |salt: &str, below: usize| {
            let digest = Digest::of(format!("{salt} {name}").as_bytes()).to_string();
            usize::from_str_radix(&digest[..12], 16).unwrap() % below
        };
        let mut altered = bytes.clone();
        // Of a trace, behind its first line, which is no event.
        let first = match name.starts_with("traces/") {
            true => bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1,
            false => 0,
        };
        let place = first + draw("byte", bytes.len() - first);
        altered[place] ^= 1 << draw("bit", 7);
        std::fs::write(&path, altered).unwrap();
        if name == "run.json" {
            // It may be no run file any more, and is named all the same.
            assert!(verify(at, &[]).out.contains("run.json: altered"));
            assert!(verify(at, &["--replay"]).out.contains("run.json: not replayed"));
        } else {
            let found = problems(at, &[]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].0, name);
            if name.starts_with("traces/") {
                let event = bytes[..place].iter().filter(|byte| **byte == b'\n').count() - 1;
                assert!(found[0].1.starts_with(&format!("event {event}:")), "{found:?}");
            }
        }
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(problems(at, &[]), []);
}

fn what_is_added_or_missing_is_named(at: &Path) {
    let trace = at.join("a/traces/echo");
    std::fs::write(at.join("a/note.txt"), "").unwrap();
    std::fs::rename(&trace, at.join("gone")).unwrap();
    let found = problems(at, &[]);
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found[0].0, "note.txt");
    assert!(found[0].1.contains("it was added"), "{found:?}");
    assert!(
        found[1..].iter().all(|(name, why)| name.starts_with("traces/echo/") && why.contains("not in the run folder"))
    );
    std::fs::rename(at.join("gone"), &trace).unwrap();
    std::fs::remove_file(at.join("a/note.txt")).unwrap();
    assert_eq!(problems(at, &[]), []);
}

fn an_altered_seal_does_not_hold(at: &Path) {
    let path = at.join("a/seal.json");
    let bytes = std::fs::read(&path).unwrap();
    for round in 0..24_usize {
        let mut altered = bytes.clone();
        let place = (bytes.len() - 1) * round / 23;
        altered[place] ^= 1 << (round % 7);
        std::fs::write(&path, altered).unwrap();
        for key in [&["--public-key", "key.pub"][..], &[]] {
            let told = said(at, &[&["verify-seal", "a/seal.json", "a"], key].concat());
            assert!(told.code == 1 || told.code == 2, "byte {place}: {}{}", told.out, told.err);
            assert!(
                format!("{}{}", told.out, told.err).contains("a/seal.json"),
                "byte {place}: {}{}",
                told.out,
                told.err
            );
        }
    }
    std::fs::write(&path, bytes).unwrap();
}

/// Reads the statement of the seal, changes it, and signs it with the same key.
fn resigned(at: &Path, change: impl FnOnce(&mut Statement<RunPredicate>)) -> Vec<u8> {
    let key = SigningKey::from_pem(&std::fs::read_to_string(at.join("key")).unwrap()).unwrap();
    let envelope = Envelope::read(&std::fs::read(at.join("a/seal.json")).unwrap()).unwrap();
    let mut statement = Statement::open(&envelope, &key.public(), PREDICATE_TYPE).unwrap();
    change(&mut statement);
    statement.seal(&key).unwrap().to_line().unwrap()
}

fn a_statement_that_its_files_contradict_is_named(at: &Path) {
    let path = at.join("a/seal.json");
    let honest = std::fs::read(&path).unwrap();
    assert_eq!(resigned(at, |_| {}), honest, "the twin: nothing changed, the same bytes");
    std::fs::write(&path, resigned(at, |statement| statement.predicate.settings.seed += 1)).unwrap();
    let found = problems(at, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "predicate.settings");
    std::fs::write(&path, &honest).unwrap();
    let twice = resigned(at, |statement| statement.subject.push(statement.subject[0].clone()));
    std::fs::write(&path, twice).unwrap();
    assert!(problems(at, &[])[0].1.contains("named twice"));
    std::fs::write(&path, &honest).unwrap();
    let newer = resigned(at, |statement| statement.predicate_type = PREDICATE_TYPE.replace("v1", "v2"));
    std::fs::write(&path, newer).unwrap();
    let told = verify(at, &[]);
    assert_eq!(told.code, 2, "{}", told.out);
    assert!(told.err.contains("a newer tribunal may read it"), "{}", told.err);
    std::fs::write(&path, honest).unwrap();
}

fn a_protocol_file_is_bound(at: &Path) {
    std::fs::write(at.join("release.toml"), "one").unwrap();
    assert!(problems(at, &["--protocol", "release.toml"])[0].1.contains("binds no protocol file"));
    assert_eq!(said(at, &["seal", "a", "--key", "key", "--protocol", "release.toml"]).code, 0);
    assert_eq!(problems(at, &["--protocol", "release.toml"]), []);
    std::fs::write(at.join("release.toml"), "two").unwrap();
    let found = problems(at, &["--protocol", "release.toml"]);
    assert_eq!((found.len(), found[0].0.as_str()), (1, "release.toml"));
    assert_eq!(problems(at, &[]), []);
}

/// Whoever has the key can sign a lie whose digests and chains all fit; running it again shows the lie.
fn a_false_verdict_is_found_by_replay(at: &Path) {
    assert_eq!(problems(at, &["--replay"]), []);
    let folder = at.join("a/traces/echo");
    let path = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut events = tribunal_trace::read(&bytes).unwrap();
    let last = events.len() - 1;
    let Some(Event::End(end)) = events.last_mut() else { panic!("no end") };
    end.verdict = Verdict::Invalid { reason: "a-lie".to_owned() };
    std::fs::write(&path, tribunal_trace::write(&events).unwrap()).unwrap();
    let whole = problems(at, &[]);
    assert!(whole[0].1.contains("not the one that was sealed"), "{whole:?}");
    // Its results are not those of its traces: refused, until they are made to fit.
    let refused = said(at, &["seal", "a", "--key", "key"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("summary.json") && refused.err.contains("tribunal report a"), "{}", refused.err);
    assert_eq!(said(at, &["report", "a"]).code, 0);
    assert_eq!(said(at, &["seal", "a", "--key", "key"]).code, 0);
    assert_eq!(problems(at, &[]), []);
    let found = problems(at, &["--replay"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.starts_with(&format!("replayed: event {last} (end) differs at")), "{found:?}");
    assert!(found[0].1.contains("a-lie"), "{found:?}");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(said(at, &["report", "a"]).code, 0);
}

fn what_cannot_be_sealed_is_refused(at: &Path) {
    std::fs::write(at.join("letter"), "no key").unwrap();
    for (arguments, expected) in [
        (vec!["seal", "nowhere", "--key", "key"], "nowhere: no run folder"),
        (vec!["seal", "a"], "tribunal keygen"),
        (vec!["seal", "a", "--key", "missing"], "cannot read missing"),
        (vec!["seal", "a", "--key", "letter"], "letter: no signing key"),
        (vec!["seal", "a", "--key", "key.pub"], "key.pub: no signing key"),
        (vec!["seal", "a", "--key", "key", "--out", "a/other.json"], "as seal.json, or outside"),
        (vec!["seal", "a", "--key", "key", "--out", "nowhere/seal.json"], "cannot read nowhere"),
        (vec!["seal", "a", "--key", "key", "--protocol", "missing"], "cannot read missing"),
        (vec!["verify-seal", "missing", "a"], "cannot read missing"),
        (vec!["verify-seal", "letter", "a"], "letter: no seal"),
        (vec!["verify-seal", "a/seal.json", "a", "--public-key", "key"], "key: no public key"),
        (vec!["keygen", "key"], "never overwritten"),
        (vec!["keygen", "nowhere/key"], "cannot write nowhere/key"),
    ] {
        let told = said(at, &arguments);
        assert_eq!(told.code, 2, "{arguments:?}: {}", told.out);
        assert!(told.err.contains(expected), "{arguments:?}: {}", told.err);
    }
    let trace = std::fs::read_dir(at.join("a/traces/oracle")).unwrap().next().unwrap().unwrap().path();
    let bytes = std::fs::read(&trace).unwrap();
    std::fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    let told = said(at, &["seal", "a", "--key", "key"]);
    assert_eq!(told.code, 2, "{}", told.out);
    std::fs::write(&trace, bytes).unwrap();
    assert_eq!(said(at, &["seal", "a", "--key", "key"]).code, 0);
    assert_eq!(problems(at, &[]), []);
}

#[cfg(unix)]
#[test]
fn a_signing_key_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    assert_eq!(said(at, &["keygen", "key"]).code, 0);
    let mode = |name: &str| std::fs::metadata(at.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("key"), 0o600);
    assert_eq!(mode("key.pub") & 0o400, 0o400);
    let before = std::fs::read(at.join("key")).unwrap();
    // A public key that is there would be overwritten too.
    std::fs::remove_file(at.join("key")).unwrap();
    assert_eq!(said(at, &["keygen", "key"]).code, 2);
    assert!(!at.join("key").exists());
    std::os::unix::fs::symlink("elsewhere", at.join("link")).unwrap();
    assert_eq!(said(at, &["keygen", "link"]).code, 2);
    assert!(!at.join("elsewhere").exists());
    assert!(String::from_utf8(before).unwrap().starts_with("-----BEGIN PRIVATE KEY-----"));
}
