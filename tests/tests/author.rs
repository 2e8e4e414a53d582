//! What an author is told of a contract, before a run and in its traces, and that no agent reads
//! a byte of it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tribunal_episode::{Episode, Prepared, run};
use tribunal_protocol::event::{Event, Step};
use tribunal_protocol::policy::{Action, Observation, names};
use tribunal_scripted::Script;
use tribunal_tests::analytics::analytics;
use tribunal_tests::tool::{plugins, said};

const GRANT: &str = r#"
    [contract]
    name = "clerk"
    [[read]]
    table = "accounts"
    columns = ["id", "name"]
    rows = "is_test = FALSE"
    [[read]]
    table = "metric_definitions"
    columns = ["*"]
    [budget]
    statements = 40
"#;

fn checked(folder: &Path, plugin: &str, grant: &str, more: &[&str]) -> (i32, String, String) {
    let contract = folder.join("grant.toml");
    std::fs::write(&contract, grant).unwrap();
    let plugin = plugins().join(format!("{plugin}.wasm"));
    let mut arguments = vec!["check", plugin.to_str().unwrap(), "--contract", contract.to_str().unwrap()];
    arguments.extend(more);
    let said = said(folder, &arguments);
    (said.code, said.out, said.err)
}

#[test]
fn a_contract_is_explained_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    // `*` asks for what is granted, and that is no refusal.
    let (code, out, err) = checked(at, "tool-query", GRANT, &["--schema", "billing-v1"]);
    assert_eq!(code, 0, "{out}{err}");
    for words in [
        "tool tool-query under contract \"clerk\", on billing-v1",
        "id, name where is_test = FALSE",
        "* (what is granted of any table)",
        "all that is requested is granted",
    ] {
        assert!(out.contains(words), "`{words}` expected in\n{out}");
    }
    // A name that is not granted is one.
    let grant = GRANT.replace("metric_definitions", "payments");
    let (code, out, err) = checked(at, "tool-metrics", &grant, &["--schema", "billing-v1"]);
    assert_eq!(code, 1, "{out}{err}");
    for words in ["refused   read of metric_definitions", "to allow it, add [[read]] table = \"metric_definitions\""] {
        assert!(out.contains(words), "`{words}` expected in\n{out}");
    }
    // The twin: a plugin that asks for no more than is granted.
    let (code, out, err) = checked(at, "tool-metrics", GRANT, &["--schema", "billing-v1", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    let json: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((json["plugin"].as_str(), json["schema"].as_str()), (Some("tool-metrics"), Some("billing-v1")));
    assert_eq!(json["check"]["refusals"], json!([]));
    let access = json["check"]["access"].as_array().unwrap();
    let metrics = access.iter().find(|access| access["table"] == "metric_definitions").unwrap();
    assert_eq!(metrics["effective"]["columns"].as_array().unwrap().len(), 6);
    let accounts = access.iter().find(|access| access["table"] == "accounts").unwrap();
    assert_eq!((&accounts["requested"], &accounts["effective"]), (&Json::Null, &Json::Null));
}

#[test]
fn what_cannot_be_checked_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let refused = |plugin: &str, grant: &str, more: &[&str], words: &[&str]| {
        let (code, out, err) = checked(at, plugin, grant, more);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        for word in words {
            assert!(err.contains(word), "`{word}` expected in: {err}");
        }
    };
    refused("tool-query", GRANT, &["--schema", "billing-v9"], &["billing-v9", "billing-v1"]);
    refused("tool-query", &GRANT.replace("\"name\"", "\"nmae\""), &["--schema", "billing-v1"], &["nmae", "name"]);
    refused("tool-query", "[contract", &[], &["grant.toml", "line 1"]);
    refused("tool-query", &GRANT.replace("accounts", "nowhere"), &[], &["fits no schema", "no such table"]);
    refused("tool-query", "[contract]\nname = \"all\"\n", &[], &["it fits billing-v1, ", "--schema"]);
    refused("user-scripted", GRANT, &["--schema", "billing-v1"], &["user-scripted", "no session"]);
    refused("no-such-plugin", GRANT, &["--schema", "billing-v1"], &["no-such-plugin.wasm"]);
}

fn query(sql: &str) -> Action {
    Action::call("query", json!({"sql": sql}))
}

fn steps(events: &[Event]) -> Vec<&Step> {
    events.iter().filter_map(|event| if let Event::Step(step) = event { Some(&**step) } else { None }).collect()
}

/// Words that no explanation is without.
const EXPLAINING: [&str; 4] = ["was tried", "grants", "to allow it", "[[read]]"];

/// What of an author's explanations stands in what an agent read.
fn leaked(read: &str, denials: &[String]) -> Option<String> {
    let parts = denials.iter().flat_map(|denial| denial.split("; ")).chain(EXPLAINING);
    parts.map(str::to_owned).find(|part| read.contains(part.as_str()))
}

#[test]
fn a_denial_stands_in_the_trace_and_the_agent_reads_nothing_of_it() {
    let is_query = |tools: &[String]| tools.iter().any(|tool| tool == "tool-query");
    let world = analytics(1, |task| {
        task.schema.to_string() == "billing-v1" && is_query(&task.tools) && task.failures.is_empty()
    })
    .unwrap();
    let prepared = Prepared::new(&world.stage, Arc::new(world.tasks[0].clone())).unwrap();
    let tries = |column: &str| {
        vec![
            query(&format!("SELECT {column} AS c FROM accounts")),
            query("SELECT id AS c FROM accounts"),
            Action::call(names::DONE, json!({})),
        ]
    };
    let play = |column: &str| run(&prepared, "author", &mut Script::new(tries(column)), 0, 0);
    let (hidden, absent, granted) = (play("contact_email"), play("contact_fmail"), play("name"));
    let told = &steps(&hidden)[0].denials;
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("read of accounts.contact_email was tried; contract \""), "{told:?}");
    assert!(told[0].ends_with("add \"contact_email\" to `columns` of [[read]] table = \"accounts\""), "{told:?}");
    // The twins: what is granted, and what is nowhere, is no denial.
    for events in [&hidden, &absent, &granted] {
        let told: Vec<usize> = steps(events).iter().map(|step| step.denials.len()).collect();
        let expected = if std::ptr::eq(events, &hidden) { [1, 0, 0] } else { [0, 0, 0] };
        assert_eq!(told, expected);
    }
    let text = String::from_utf8(tribunal_trace::write(&hidden).unwrap()).unwrap();
    assert!(text.contains("was tried"));
    assert_eq!(tribunal_trace::read(text.as_bytes()).unwrap(), hidden);

    // All that the agent reads, the hidden name put in the place of the absent one.
    let reads = |column: &str| {
        let mut episode = Episode::start(&prepared, "author", 0, 0);
        for action in tries(column) {
            episode.step(action);
        }
        let view = episode.view();
        let read = (serde_json::to_string(view.briefing).unwrap(), serde_json::to_string(view.turns).unwrap());
        (read.0, read.1.replace("contact_fmail", "contact_email"))
    };
    let (briefing, turns) = reads("contact_email");
    assert_eq!((&briefing, &turns), (&reads("contact_fmail").0, &reads("contact_fmail").1));
    assert_eq!(leaked(&turns, told), None);
    // The twin: an observation with the explanation in it is noticed.
    let Observation::Failure(failure) = &steps(&hidden)[0].observation else { unreachable!() };
    let leaking = format!("{} ({})", failure.message, told[0]);
    assert!(leaked(&leaking, told).is_some());
}
