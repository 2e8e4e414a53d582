//! The author's kit: a new plugin from a template, and one call of a plugin, on data and on a
//! recording of its host calls.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use serde_json::{Value as Json, json};
use tribunal_tests::tool::{plugins, said};

/// The templates as they are written, natively: their own tests run here too.
#[path = "../../host/cli/templates/tool.rs"]
mod tool_template;
#[path = "../../host/cli/templates/user.rs"]
mod user_template;
#[path = "../../host/cli/templates/verifier.rs"]
mod verifier_template;

#[test]
fn the_templates_request_a_contract_that_can_be_read() {
    use tribunal_kit::{Tool, User, Verifier};
    let described =
        [tool_template::Plugin::describe(), verifier_template::Plugin::describe(), user_template::Plugin::describe()];
    for description in described {
        let contract = tribunal_contract::Contract::parse(&description.contract).unwrap();
        assert_eq!(contract.name(), description.name);
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_new_plugin_is_whole_and_nothing_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let new = |arguments: &[&str]| said(at, &[&["new"], arguments].concat());
    let made = new(&["verifier", "verifier-mine"]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(made.out.contains("cd verifier-mine && tribunal build"), "{}", made.out);
    let manifest = at.join("verifier-mine/Cargo.toml");
    let parsed: toml::Value = toml::from_str(&text(&manifest)).unwrap();
    assert_eq!(parsed["package"]["name"].as_str(), Some("verifier-mine"));
    assert_eq!(parsed["profile"]["guest"]["panic"].as_str(), Some("abort"));
    for file in ["src/lib.rs", "call.json", "grant.toml", "tribunal/wit/1.0.0/plugin.wit", "tribunal/Cargo.toml"] {
        assert!(at.join("verifier-mine").join(file).is_file(), "{file}");
    }
    // The author's work stays, whatever is asked for a second time.
    std::fs::write(&manifest, "mine").unwrap();
    let again = new(&["tool", "verifier-mine"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("is left as it is"), "{}", again.err);
    assert_eq!(text(&manifest), "mine");
    assert_eq!(new(&["tool", "other", "--out", "deep/other"]).code, 0);
    assert!(at.join("deep/other/src/lib.rs").is_file());
    let bad = new(&["tool", "Bad Name"]);
    assert_eq!((bad.code, at.join("Bad Name").exists()), (2, false), "{}", bad.err);
}

/// Three invoices, one of them voided.
const SCHEMA: &str = "CREATE TABLE invoices (id INTEGER PRIMARY KEY, total NUMERIC(10,2), voided BOOLEAN);
    INSERT INTO invoices VALUES (1, 10.50, FALSE), (2, 4.25, FALSE), (3, 99.00, TRUE);";

const GRANT: &str = "[contract]\nname = \"clerk\"\n[[read]]\ntable = \"invoices\"\ncolumns = [\"id\", \"total\"]\n\
    rows = \"voided = FALSE\"\n[budget]\nstatements = 40\n";

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        let desk = Desk(tempfile::tempdir().unwrap());
        std::fs::create_dir(desk.0.path().join("shop")).unwrap();
        desk.put("shop/schema.sql", SCHEMA);
        desk.put("grant.toml", GRANT);
        desk
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    /// A call as JSON, with its exit code and its errors.
    fn call(&self, plugin: &str, input: &Json, more: &[&str]) -> (i32, Json, String) {
        self.command("call", plugin, input, more)
    }

    /// The same of another command on a call.
    fn command(&self, command: &str, plugin: &str, input: &Json, more: &[&str]) -> (i32, Json, String) {
        self.put("call.json", &input.to_string());
        let plugin = plugins().join(format!("{plugin}.wasm"));
        let said = said(self.0.path(), &[&[command, plugin.to_str().unwrap(), "call.json", "--json"], more].concat());
        (said.code, serde_json::from_str(&said.out).unwrap_or(Json::Null), said.err)
    }
}

fn query(sql: &str) -> Json {
    json!({"tool": "query", "arguments": {"sql": sql}})
}

fn limit<'a>(report: &'a Json, name: &str) -> &'a Json {
    report["limits"].as_array().unwrap().iter().find(|limit| limit["name"] == name).unwrap()
}

const SUM: &str = "SELECT SUM(total) AS total FROM invoices";

#[test]
fn a_call_tells_its_result_and_how_much_of_each_limit_it_took() {
    let desk = Desk::new();
    let on = ["--data", "shop", "--contract", "grant.toml"];
    let (code, report, err) = desk.call("tool-query", &query(SUM), &on);
    assert_eq!(code, 0, "{report}{err}");
    // 10.50 + 4.25: the voided row is not granted.
    assert_eq!(report["result"]["output"]["table"]["rows"], json!([["14.75"]]));
    let statements = limit(&report, "statements");
    assert_eq!(
        (&statements["used"], &statements["allowed"], &statements["percent"]),
        (&json!(1), &json!(40), &json!(2.5))
    );
    assert_eq!(limit(&report, "rows_returned")["used"], json!(1));
    assert!(limit(&report, "fuel")["used"].as_u64().unwrap() > 1_000);
    // Again, and as often as one likes: the same figures.
    let (_, again, _) = desk.call("tool-query", &query(SUM), &[&on[..], &["--repeat", "5"]].concat());
    assert_eq!((&again["limits"], &again["calls"]), (&report["limits"], &json!(5)));
    // The twins: all is granted, and nothing of a hidden column is told but to the author.
    let (_, all, _) = desk.call("tool-query", &query(SUM), &["--data", "shop"]);
    assert_eq!(all["result"]["output"]["table"]["rows"], json!([["113.75"]]));
    let (code, hidden, _) = desk.call("tool-query", &query("SELECT voided FROM invoices"), &on);
    assert_eq!((code, &hidden["result"]["failure"]["code"]), (1, &json!("unknown")));
    assert!(hidden["denials"][0].as_str().unwrap().starts_with("read of invoices.voided was tried"), "{hidden}");
}

/// What is a time differs from run to run; that each part holds the one before does not.
#[test]
fn a_bench_tells_part_by_part_what_a_call_costs() {
    let desk = Desk::new();
    let on = ["--data", "shop", "--calls", "20"];
    let (code, found, err) = desk.command("bench", "tool-query", &query(SUM), &on);
    assert_eq!(code, 0, "{err}");
    let (_, called, _) = desk.call("tool-query", &query(SUM), &["--data", "shop"]);
    assert_eq!(found["usage"]["fuel"], limit(&called, "fuel")["used"]);
    assert_eq!((&found["call"]["runs"], &found["usage"]["statements"]), (&json!(20), &json!(1)));
    for part in ["load", "instance", "guest", "call"] {
        let times = ["least_ms", "median_ms", "p90_ms"].map(|name| found[part][name].as_f64().unwrap());
        assert!(0.0 < times[0] && times.is_sorted(), "{part}: {times:?}");
    }
    // A call that fails costs something else, and is refused.
    let (code, _, err) = desk.command("bench", "tool-query", &query("SELECT nothing FROM invoices"), &on);
    assert!(code == 2 && err.contains("the call fails, so its cost says nothing"), "{err}");
}

#[test]
fn a_recording_stands_for_the_data_and_names_what_differs() {
    let desk = Desk::new();
    let (code, live, err) = desk.call("tool-query", &query(SUM), &["--data", "shop", "--record", "calls.jsonl"]);
    assert_eq!(code, 0, "{err}");
    std::fs::remove_dir_all(desk.0.path().join("shop")).unwrap();
    let (code, played, err) = desk.call("tool-query", &query(SUM), &["--replay", "calls.jsonl"]);
    assert_eq!((code, &played["result"], &played["limits"]), (0, &live["result"], &live["limits"]), "{err}");
    assert_eq!(played["difference"], Json::Null);
    // The twin: another statement is not answered.
    let other = "SELECT MAX(total) AS total FROM invoices";
    let (code, differs, _) = desk.call("tool-query", &query(other), &["--replay", "calls.jsonl"]);
    assert_eq!(code, 1);
    let told = differs["difference"].as_str().unwrap();
    assert!(told.starts_with("host call 1 is query of agent \"SELECT MAX") && told.contains("\"SELECT SUM"), "{told}");
    assert_eq!(differs["result"]["failure"]["code"], json!("failed"));
    // A recording of a tool is none of a user.
    let asked = json!({"secret": {"slots": {}, "otherwise": "?"}, "question": "?"});
    let (code, _, err) = desk.call("user-scripted", &asked, &["--replay", "calls.jsonl"]);
    assert!(code == 2 && err.contains("recorded with the tool tool-query"), "{err}");
}

fn judged(rows: &Json, version: u32) -> Json {
    let columns = json!([{"name": "city", "kind": "text"}]);
    json!({
        "submission": {"answer": {"columns": columns, "rows": rows}},
        "expectation": {
            "version": version,
            "contract": {"version": 1, "columns": [{"name": "city", "type": {"text": {}}}]},
            "gold": {"columns": columns, "rows": [["Oslo"], ["Rome"]]}
        }
    })
}

#[test]
fn a_verifier_and_a_user_are_called_too() {
    let desk = Desk::new();
    let verdict = |rows: Json, version| desk.call("verifier-result", &judged(&rows, version), &[]);
    let (code, right, err) = verdict(json!([["Rome"], ["Oslo"]]), 1);
    assert_eq!((code, &right["result"]["score"]["reward"]), (0, &json!(1.0)), "{err}");
    let (code, wrong, _) = verdict(json!([["Rome"], ["Bern"]]), 1);
    assert_eq!((code, &wrong["result"]["score"]["reward"]), (0, &json!(0.0)));
    assert_eq!(wrong["result"]["score"]["difference"]["found"], json!("Bern"));
    let (code, ungradable, _) = verdict(json!([]), 9);
    assert_eq!((code, &ungradable["result"]["fault"]["fault"]), (1, &json!("ungradable")));
    let secret = json!({"slots": {"when": {"terms": ["period"], "reply": "May."}}, "otherwise": "No."});
    let (code, reply, err) = desk.call("user-scripted", &json!({"secret": secret, "question": "Which period?"}), &[]);
    assert_eq!((code, &reply["result"]["reply"]), (0, &json!("May.")), "{err}");
}

/// What a verifier sees of an agent's work, on data and on a recording.
#[test]
fn a_verifier_sees_the_work_between_two_states() {
    let desk = Desk::new();
    let columns = json!([
        {"name": "id", "kind": "integer"},
        {"name": "total", "kind": "decimal"},
        {"name": "voided", "kind": "boolean"}
    ]);
    let table = |total: &str| json!({"columns": columns, "rows": [[1, total, false]]});
    let changed = json!({"name": "invoices", "removed": table("10.50"), "added": table("1.00")});
    let call =
        |work: &[&str]| json!({"submission": "done", "work": work, "expectation": {"version": 1, "tables": [changed]}});
    let judge = |work: &[&str], more: &[&str]| desk.call("verifier-state", &call(work), more);
    let right = ["UPDATE invoices SET total = 1.00 WHERE id = 1"];
    let (code, report, err) = judge(&right, &["--data", "shop", "--record", "calls.jsonl"]);
    assert_eq!((code, &report["result"]["score"]["reward"]), (0, &json!(1.0)), "{report}{err}");
    let (code, played, err) = judge(&[], &["--replay", "calls.jsonl"]);
    assert_eq!((code, &played["result"], &played["limits"]), (0, &report["result"], &report["limits"]), "{err}");
    // The twins: nothing done, something else done, and what cannot be done.
    let (_, idle, _) = judge(&[], &["--data", "shop"]);
    assert_eq!(idle["result"]["score"]["reason"], json!("unchanged"));
    let (_, wrong, _) = judge(&["UPDATE invoices SET total = 2.00 WHERE id = 1"], &["--data", "shop"]);
    assert_eq!(wrong["result"]["score"]["reason"], json!("state-mismatch"));
    let (code, _, err) = judge(&["UPDATE nowhere SET total = 1"], &["--data", "shop"]);
    assert!(code == 2 && err.contains("work, statement 1: "), "{err}");
}

#[test]
fn what_cannot_be_called_is_refused_in_one_line() {
    let desk = Desk::new();
    let refused = |plugin: &str, input: &Json, more: &[&str], words: &[&str]| {
        let (code, report, err) = desk.call(plugin, input, more);
        assert_eq!((code, report, err.lines().count()), (2, Json::Null, 1), "{err}");
        for word in words {
            assert!(err.contains(word), "`{word}` expected in: {err}");
        }
    };
    refused("tool-query", &json!({"tool": "drop"}), &[], &["call.json", "tool-query has no such tool; it has query"]);
    refused("tool-query", &json!({"arguments": {"sql": 1}}), &[], &["query: argument sql: "]);
    refused("tool-query", &query(SUM), &["--schema", "billing-v9"], &["billing-v9", "billing-v1"]);
    refused("tool-query", &query(SUM), &["--data", "nowhere"], &["nowhere"]);
    refused("tool-query", &query(SUM), &["--contract", "grant.toml"], &["clerk", "invoices"]);
    refused("verifier-result", &query(SUM), &[], &["the call of a verifier expected"]);
}
