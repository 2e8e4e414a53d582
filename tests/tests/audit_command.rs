//! `tribunal audit` from the outside: exit codes, files, labels, the same bytes for any number of workers.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use serde_json::Value as Json;
use tribunal_tests::tool::{Said, plugins, said};

fn audit(folder: &Path, plugin: &str, more: &[&str]) -> Said {
    let file = plugins().join(format!("{plugin}.wasm"));
    let mut arguments = vec!["audit", file.to_str().unwrap(), "--tasks", "12"];
    arguments.extend(more);
    said(folder, &arguments)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_sound_verifier_is_said_to_be_one_in_the_same_bytes_for_any_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let one = audit(folder.path(), "verifier-result", &["--jobs", "1", "--out", "one"]);
    assert_eq!(one.code, 0, "{}{}", one.out, one.err);
    assert!(one.out.contains("verifier-result: nothing wrong found"), "{}", one.out);
    let three = audit(folder.path(), "verifier-result", &["--jobs", "3", "--out", "three", "--json"]);
    assert_eq!(three.code, 0, "{}", three.err);
    for file in ["audit.json", "audit.html", "cases.jsonl"] {
        assert_eq!(
            read(&folder.path().join("one").join(file)),
            read(&folder.path().join("three").join(file)),
            "{file}"
        );
    }
    let printed: Json = serde_json::from_str(&three.out).unwrap();
    let written: Json = serde_json::from_str(&read(&folder.path().join("three/audit.json"))).unwrap();
    assert_eq!(printed, written);
    let cases = read(&folder.path().join("one/cases.jsonl")).lines().count();
    assert_eq!(written["cases"].as_u64(), u64::try_from(cases).ok());
    let page = read(&folder.path().join("one/audit.html"));
    assert!(page.contains("nothing wrong found") && !page.contains("<script"));
}

#[test]
fn agreement_with_labels_is_worked_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    audit(at, "verifier-result", &["--out", "first"]);
    let id = |line: &str| serde_json::from_str::<Json>(line).unwrap();
    let cases: Vec<Json> = read(&at.join("first/cases.jsonl")).lines().map(id).collect();
    let pick = |expected: &str, count: usize| -> Vec<String> {
        let of = cases.iter().filter(|case| case["expected"] == expected).take(count);
        of.map(|case| case["id"].as_str().unwrap().to_owned()).collect()
    };
    let (right, wrong) = (pick("accept", 3), pick("reject", 3));
    // Two of each as the verifier has them, one of each the other way: p_o = 4/6, p_e = 1/2, so 1/3.
    let mut lines = vec!["case,label".to_owned(), "no-such-task/gold/1,accept".to_owned()];
    lines.extend(
        right.iter().enumerate().map(|(n, case)| format!("{case},{}", if n < 2 { "accept" } else { "reject" })),
    );
    lines.extend(
        wrong.iter().enumerate().map(|(n, case)| format!("{case},{}", if n < 2 { "reject" } else { "accept" })),
    );
    std::fs::write(at.join("labels.csv"), lines.join("\n")).unwrap();
    let said = audit(at, "verifier-result", &["--out", "second", "--labels", "labels.csv", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let agreement = &serde_json::from_str::<Json>(&said.out).unwrap()["agreement"];
    assert_eq!((agreement["labelled"].as_u64(), agreement["agreed"].as_u64()), (Some(6), Some(4)), "{agreement}");
    let kappa = agreement["kappa"].as_f64().unwrap();
    assert!((kappa - 1.0 / 3.0).abs() < 1e-12, "{kappa}");
    let named: Vec<&str> =
        agreement["disagreements"].as_array().unwrap().iter().map(|one| one["case"].as_str().unwrap()).collect();
    assert!(named.contains(&right[2].as_str()) && named.contains(&wrong[2].as_str()) && named.len() == 2, "{named:?}");
    assert_eq!(agreement["unknown"], serde_json::json!(["no-such-task/gold/1"]));
}

#[test]
fn what_cannot_be_tried_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("labels.csv"), "a/gold/1,perhaps").unwrap();
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("tool-query", &[], &["a verifier expected", "tool"]),
        ("no-such", &[], &["no-such.wasm"]),
        ("verifier-result", &["--in-place-of", "verifier-x"], &["verifier-x", "--in-place-of", "verifier-state"]),
        ("verifier-result", &["--settings", "7"], &["--settings", "a JSON object expected"]),
        ("verifier-result", &["--labels", "labels.csv"], &["labels.csv", "line 1", "perhaps"]),
    ];
    for (plugin, more, words) in cases {
        let said = audit(at, plugin, more);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{plugin} {more:?}: {}", said.err);
        for word in words {
            assert!(said.err.contains(word), "`{word}` expected in: {}", said.err);
        }
    }
}
