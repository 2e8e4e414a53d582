//! One conformance suite for plugins in every language: the same cases, the same expected values,
//! the same denials. Rust always runs. Python and JavaScript run where their tools are at hand or
//! can be fetched; where not, the test says that it skipped, and why.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../../tasks/tests/example/mod.rs"]
mod example;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value as Json, json};
use tribunal_tests::tool::{read, root, target, tribunal};

/// A table of every kind of value.
const SCHEMA: &str = "CREATE TABLE kinds (id INTEGER PRIMARY KEY, flag BOOLEAN, number INTEGER, ratio FLOAT,
        amount NUMERIC(20,4), word TEXT, day DATE, at TIMESTAMP, nothing TEXT);
    CREATE TABLE secrets (id INTEGER PRIMARY KEY);
    INSERT INTO secrets VALUES (7);
    INSERT INTO kinds VALUES (1, FALSE, 0, 0.0, 0.0, '', '2000-01-01', '2000-01-01 00:00:00', 'something');
    INSERT INTO kinds VALUES (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    INSERT INTO kinds VALUES (3, TRUE, 9007199254740991, 1.5, 123456789012345.6789, 'Größe Ω 日本 😀', '1969-12-31',
        '2025-06-30 12:34:56', NULL);
    INSERT INTO kinds VALUES (4, TRUE, 9223372036854775807, 2.5, -0.5, 'x', '2025-06-30', '2025-06-30 12:34:56', NULL);";

const GRANT: &str = "[contract]\nname = \"clerk\"\n[[read]]\ntable = \"kinds\"\ncolumns = [\"*\"]\n\
    [[write]]\ntable = \"kinds\"\nverbs = [\"update\"]\ncolumns = [\"*\"]\n[budget]\nstatements = 20\n";

#[derive(Clone, Copy, PartialEq)]
enum Language {
    Rust,
    Python,
    Javascript,
}

impl Language {
    fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Python => "python",
            Language::Javascript => "javascript",
        }
    }

    /// What a suite would say in `[plugins]`.
    fn flags(self) -> &'static [&'static str] {
        match self {
            Language::Rust => &[],
            Language::Python => &["--wasi", "inert", "--compile-seconds", "600"],
            Language::Javascript => &["--wasi", "inert"],
        }
    }
}

/// The two plugins of a language, and data to call them on.
struct Desk {
    language: Language,
    folder: tempfile::TempDir,
}

impl Desk {
    /// None where the language's tools are not to be had, which is said.
    fn new(language: Language) -> Option<Desk> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("shop")).unwrap();
        std::fs::write(folder.path().join("shop/schema.sql"), SCHEMA).unwrap();
        std::fs::write(folder.path().join("grant.toml"), GRANT).unwrap();
        for kind in ["tool", "verifier"] {
            if let Err(why) = build(language, kind, folder.path()) {
                skipped(language, &why);
                return None;
            }
        }
        Some(Desk { language, folder })
    }

    fn component(&self, kind: &str) -> PathBuf {
        built(self.language).join(format!("{kind}-conform.wasm"))
    }

    /// The report of one call, and what was said of an error.
    fn call(&self, kind: &str, input: &Json, more: &[&str]) -> (Json, String) {
        std::fs::write(self.folder.path().join("call.json"), input.to_string()).unwrap();
        let component = self.component(kind);
        // Compiled once for all tests.
        let cache = target().join("languages/cache");
        let mut arguments = vec!["call", component.to_str().unwrap(), "call.json", "--json", "--data", "shop"];
        arguments.extend(["--clock", "2025-06-30", "--cache", cache.to_str().unwrap()]);
        arguments.extend(self.language.flags());
        arguments.extend(more);
        let said = read(&tribunal(self.folder.path(), &arguments).output().unwrap());
        (serde_json::from_str(&said.out).unwrap_or(Json::Null), said.err)
    }

    fn act(&self, arguments: Json) -> Json {
        let (report, err) = self.call("tool", &json!({"tool": "act", "arguments": arguments}), &[]);
        assert_ne!(report, Json::Null, "{}: {err}", self.language.name());
        report
    }

    fn query(&self, sql: &str) -> Json {
        self.act(json!({"do": "query", "sql": sql}))["result"].clone()
    }

    fn judge(&self, input: &Json) -> Json {
        let (report, err) = self.call("verifier", input, &[]);
        assert_ne!(report, Json::Null, "{}: {err}", self.language.name());
        report
    }
}

#[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
fn skipped(language: Language, why: &str) {
    eprintln!("skipped: plugins in {}: {why}", language.name());
}

/// Where the components of a language lie.
fn built(language: Language) -> PathBuf {
    target().join("languages").join(language.name())
}

/// Builds one plugin of a language.
fn build(language: Language, kind: &str, folder: &Path) -> Result<(), String> {
    let package = format!("{kind}-conform");
    if language == Language::Rust {
        return run_build(&root().join("tests/guests/languages/rust"), &package, &built(language), folder);
    }
    if let Some(why) = missing(language, &target().join("toolchains")) {
        return Err(why);
    }
    let at = with_kit(language, &format!("{}-{kind}", language.name()), folder);
    run_build(&at, &package, &built(language), folder)
}

/// The sources of a guest with the kit beside them, as `tribunal new` puts it there.
fn with_kit(language: Language, guest: &str, folder: &Path) -> PathBuf {
    let at = folder.join(guest);
    copy(&root().join("tests/guests/languages").join(guest), &at);
    copy(&root().join(format!("plugins/kit/{}/tribunal", language.name())), &at.join("tribunal"));
    at
}

fn run_build(source: &Path, package: &str, out: &Path, folder: &Path) -> Result<(), String> {
    let mut command = tribunal(folder, &["build", package]);
    command.arg("--manifest").arg(source).arg("--out").arg(out).arg("--guests").arg(target().join("guest"));
    command.arg("--toolchain").arg(target().join("guest-toolchain"));
    command.arg("--toolchains").arg(target().join("toolchains"));
    let said = read(&command.output().unwrap());
    match said.code {
        0 => Ok(()),
        // A registry that cannot be reached is no fault of ours; everything else is.
        _ if said.err.contains("could not be fetched") => Err(said.err),
        _ => panic!("{}: {}", source.display(), said.err),
    }
}

/// What the machine lacks.
fn missing(language: Language, toolchains: &Path) -> Option<String> {
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
    };
    let fetched = toolchains.read_dir().is_ok_and(|mut entries| {
        let name = if language == Language::Python { "componentize-py" } else { "componentize-qjs" };
        entries.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with(name))
    });
    match language {
        Language::Rust => None,
        Language::Python if !runs("python3", &["--version"]) => Some("python3 is not installed".to_owned()),
        Language::Python if !fetched && !runs("python3", &["-m", "pip", "--version"]) => {
            Some("pip is not installed".to_owned())
        }
        Language::Javascript if !runs("node", &["--version"]) => Some("node is not installed".to_owned()),
        Language::Javascript if !fetched && !runs("npm", &["--version"]) => Some("npm is not installed".to_owned()),
        _ => None,
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn rust_conforms() {
    conforms(&Desk::new(Language::Rust).unwrap());
}

#[test]
fn python_conforms() {
    if let Some(desk) = Desk::new(Language::Python) {
        conforms(&desk);
        stand_ins(&desk);
    }
}

#[test]
fn javascript_conforms() {
    if let Some(desk) = Desk::new(Language::Javascript) {
        conforms(&desk);
        stand_ins(&desk);
    }
}

fn conforms(desk: &Desk) {
    values(desk);
    failures(desk);
    limits(desk);
    broken(desk);
    state(desk);
    verdicts(desk);
}

const COLUMNS: &str = "SELECT * FROM kinds WHERE id = ";

fn values(desk: &Desk) {
    // Out of the database, through the guest.
    let table = |id: u32| desk.query(&format!("{COLUMNS}{id}"))["output"]["table"].clone();
    let kinds: Vec<Json> =
        table(3)["columns"].as_array().unwrap().iter().map(|column| column["kind"].clone()).collect();
    let expected =
        ["integer", "boolean", "integer", "float", "decimal", "text", "date", "timestamp"].map(|kind| json!(kind));
    assert_eq!(kinds[..8], expected, "{}", desk.language.name());
    let row = json!([
        3,
        true,
        9_007_199_254_740_991_i64,
        1.5,
        "123456789012345.6789",
        "Größe Ω 日本 😀",
        "1969-12-31",
        "2025-06-30T12:34:56",
        null
    ]);
    assert_eq!(table(3)["rows"][0], row, "{}", desk.language.name());
    assert_eq!(table(2)["rows"][0], json!([2, null, null, null, null, null, null, null, null]));
    // The largest integer: exact, or refused by name where a language has no exact number for it.
    let large = desk.query("SELECT number FROM kinds WHERE id = 4");
    match desk.language {
        Language::Javascript => {
            assert_eq!(large["failure"]["code"], "unsupported", "{large}");
            let as_text = desk.query("SELECT CAST(number AS TEXT) AS number FROM kinds WHERE id = 4");
            assert_eq!(as_text["output"]["table"]["rows"][0][0], "9223372036854775807");
        }
        _ => assert_eq!(large["output"]["table"]["rows"][0][0], json!(i64::MAX), "{large}"),
    }
    // Into the database as parameters, and out again.
    let given = desk.act(json!({"do": "parameters"}))["result"]["output"]["table"]["rows"][0].clone();
    let row = json!([1, true, 42, -0.5, "12.5", "naïve 日本 😀", "2025-06-30", "2025-06-30T12:34:56.000001", null]);
    assert_eq!(plain(&given), row, "{}", desk.language.name());
    // Made by the guest.
    let made = desk.act(json!({"do": "made"}))["result"]["output"].clone();
    assert_eq!(made["text"], "made");
    let row = json!([true, -7, 0.25, "100", "é\n\"", "1969-12-31", "1969-12-31T23:59:59.999999", null]);
    assert_eq!(made["table"]["rows"], json!([row, [null, null, null, null, null, null, null, null]]), "{made}");
}

/// A row with the decimal at its place without zeros at its end.
fn plain(row: &Json) -> Json {
    let mut row = row.clone();
    let amount = row[4].as_str().unwrap().trim_end_matches('0').to_owned();
    row[4] = json!(amount);
    row
}

/// What the host refuses comes out as it went in, and so does what the guest refuses.
fn failures(desk: &Desk) {
    let grant = ["--contract", "grant.toml"];
    let act = |arguments: Json| desk.call("tool", &json!({"tool": "act", "arguments": arguments}), &grant).0;
    let hidden = act(json!({"do": "query", "sql": "SELECT id FROM secrets"}));
    let absent = act(json!({"do": "query", "sql": "SELECT id FROM secretz"}));
    assert_eq!(hidden["result"]["failure"]["code"], "unknown", "{hidden}");
    let message = |report: &Json| report["result"]["failure"]["message"].as_str().unwrap().to_owned();
    assert_eq!(message(&hidden).replace("secrets", "secretz"), message(&absent));
    // The author is told what the agent is not, and the twin that is granted passes.
    assert!(hidden["denials"][0].as_str().unwrap().starts_with("read of secrets"), "{hidden}");
    let granted = act(json!({"do": "query", "sql": "SELECT id FROM kinds WHERE id = 2"}));
    assert_eq!(granted["result"]["output"]["table"]["rows"], json!([[2]]), "{granted}");
    let code = |report: Json| report["result"]["failure"]["code"].clone();
    let change = |sql: &str| act(json!({"do": "change", "sql": sql}));
    assert_eq!(code(change("DELETE FROM kinds WHERE id = 2")), "denied");
    assert_eq!(change("UPDATE kinds SET number = 1 WHERE id < 3")["result"]["output"]["text"], "2");
    assert_eq!(code(act(json!({"do": "query", "sql": "SELEC"}))), "invalid");
    assert_eq!(code(act(json!({"do": "role"}))), "unknown");
    let refused = act(json!({"do": "refuse"}));
    assert_eq!(refused["result"]["failure"], json!({"code": "invalid", "message": "not like this: ünmöglich"}));
}

/// What is hit is a void with a name, and never a crash.
fn limits(desk: &Desk) {
    let spin = desk.act(json!({"do": "spin"}))["result"]["fault"].clone();
    assert!(["fuel", "time"].contains(&spin["fault"].as_str().unwrap()), "{spin}");
    let grow = desk.act(json!({"do": "grow"}))["result"]["fault"].clone();
    assert_eq!((&grow["fault"], &grow["what"]), (&json!("limit"), &json!("memory")), "{grow}");
    let shout = desk.act(json!({"do": "shout"}));
    assert_eq!(shout["result"]["output"]["text"], "done", "{shout}");
    let lines = shout["log"]["lines"].as_array().unwrap();
    assert_eq!(lines[7], "line 7 is written to standard output", "{}", desk.language.name());
    let kept: usize = lines.iter().map(|line| line.as_str().unwrap().len() + 1).sum();
    // The last line is cut off, and takes no byte for its end.
    assert!(kept <= (64 << 10) + 1 && shout["log"]["dropped"].as_u64().unwrap() > 50_000, "{kept}");
}

/// What breaks in the plugin points at the plugin's own line.
fn broken(desk: &Desk) {
    let report = desk.act(json!({"do": "broken"}));
    let says = report["result"]["says"].as_str().unwrap();
    let (source, line) = match desk.language {
        Language::Rust => ("src/lib.rs", "no such key"),
        Language::Python => ("plugin.py", "no such key"),
        Language::Javascript => ("plugin.js", "undefined.length"),
    };
    let folder =
        if desk.language == Language::Rust { "rust".to_owned() } else { format!("{}-tool", desk.language.name()) };
    let text = std::fs::read_to_string(root().join("tests/guests/languages").join(folder).join(source)).unwrap();
    let number = text.lines().position(|each| each.contains(line)).unwrap() + 1;
    assert!(says.contains("panic: ") && says.ends_with(&format!("at {source}:{number}")), "{says}");
    assert_eq!(report["result"]["fault"]["fault"], "trap");
}

/// Nothing is kept from one call to the next, and the same call gives the same bytes.
fn state(desk: &Desk) {
    let (mut twice, _) = desk.call("tool", &json!({"tool": "act", "arguments": {"do": "state"}}), &["--repeat", "3"]);
    assert_eq!(twice["result"]["output"]["text"], "1", "{twice}");
    let again = desk.act(json!({"do": "state"}));
    for changing in ["median_ms", "calls"] {
        twice[changing] = again[changing].clone();
    }
    assert_eq!(twice, again, "fuel and memory too");
}

fn verdicts(desk: &Desk) {
    let submitted = |words: &[&str]| {
        let rows: Vec<Json> = words.iter().map(|word| json!([word])).collect();
        json!({"answer": {"columns": [{"name": "word", "kind": "text"}], "rows": rows}})
    };
    let answer = |words: &[&str]| {
        let calls = json!([{"tool": "query", "arguments": "{}", "failure": "denied"}, {"tool": "query", "arguments": "{}", "failure": null}]);
        json!({"submission": submitted(words), "expectation": {"words": ["Ø", "日"]}, "calls": calls,
               "questions": [{"about": "a", "text": "b", "reply": "c"}]})
    };
    let right = desk.judge(&answer(&["Ø", "日"]));
    assert_eq!(
        (&right["result"]["score"]["reward"], &right["result"]["score"]["reason"]),
        (&json!(1.0), &json!("match"))
    );
    assert_eq!(right["log"]["lines"], json!(["1 questions, 2 calls, 1 failed"]));
    let wrong = desk.judge(&answer(&["Ø", "月"]));
    let difference = json!({"path": "answer", "row": 1, "column": "word", "expected": "日", "found": "月"});
    assert_eq!(wrong["result"]["score"]["difference"], difference, "{wrong}");
    let void = desk.judge(&json!({"submission": "done", "expectation": 7}));
    assert_eq!(void["result"]["fault"]["fault"], "ungradable", "{void}");
    // Two states, what lies between them, and no other session.
    let work = ["UPDATE kinds SET amount = 2.5 WHERE id = 1"];
    let state = desk.judge(&json!({"submission": "done", "expectation": {"words": []}, "work": work}));
    assert_eq!(state["result"]["score"]["reward"], json!(0.5), "{state}");
    let lines = json!(["unknown", "123456789012345.1789 123456789012347.6789 kinds -1 +1"]);
    assert_eq!(state["log"]["lines"], lines, "{}", desk.language.name());
    let idle = desk.judge(&json!({"submission": "done", "expectation": {"words": []}}));
    assert_eq!(idle["result"]["score"]["reason"], "unchanged");
}

/// What stands in the place of WASI grants nothing, gives the same every time, and is there only
/// where it was asked for.
fn stand_ins(desk: &Desk) {
    let chance = |more: Json| {
        let mut arguments = json!({"do": "chance"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        desk.act(arguments)["result"]["output"]["text"].as_str().unwrap().to_owned()
    };
    let first = chance(json!({}));
    assert!(first.starts_with("2025-06-30 "), "today is what the data says: {first}");
    assert_eq!(chance(json!({})), first);
    if desk.language == Language::Python {
        assert_ne!(chance(json!({"sql": "other"})), first, "another call, other dice");
        assert!(
            desk.act(json!({"do": "files"}))["result"]["output"]["text"].as_str().unwrap().starts_with("refused: ")
        );
    }
    // Without the flag it is not loaded, and the message names the flag.
    let component = desk.component("tool");
    let at = desk.folder.path();
    let refused =
        read(&tribunal(at, &["call", component.to_str().unwrap(), "call.json", "--data", "shop"]).output().unwrap());
    assert_eq!(refused.code, 2);
    for words in ["wasi:cli/stdout@0.2.", "Tribunal offers no WASI", "wasi = \"inert\"", "[plugins]"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    let mut arguments = vec!["inspect", component.to_str().unwrap(), "--json"];
    let cache = target().join("languages/cache");
    arguments.extend(["--cache", cache.to_str().unwrap()]);
    arguments.extend(desk.language.flags());
    let said = read(&tribunal(at, &arguments).output().unwrap());
    let shown: Json = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
    let stand_ins = shown["stand_ins"].as_array().unwrap();
    assert!(
        stand_ins.len() > 15 && stand_ins.iter().all(|name| name.as_str().unwrap().starts_with("wasi:")),
        "{shown}"
    );
}

/// A whole run: a tool in JavaScript in the place of the built-in one, in a suite that says so, and
/// in one that does not.
#[test]
fn a_suite_runs_a_plugin_of_another_language_where_it_says_so() {
    let at = tempfile::tempdir().unwrap();
    let toolchains = target().join("toolchains");
    let made = match missing(Language::Javascript, &toolchains) {
        Some(why) => Err(why),
        None => {
            let source = with_kit(Language::Javascript, "javascript-query", at.path());
            run_build(&source, "tool-query", &at.path().join("plugins"), at.path())
        }
    };
    if let Err(why) = made {
        skipped(Language::Javascript, &why);
        return;
    }
    for other in ["tool-catalog.wasm", "tool-metrics.wasm", "verifier-result.wasm"] {
        std::fs::copy(target().join("plugins").join(other), at.path().join("plugins").join(other)).unwrap();
    }
    let run = |suite: &example::Folder| {
        let path = suite.path("");
        let mut arguments = vec!["run", "--suite", path.to_str().unwrap(), "--policy", "oracle,no-op"];
        arguments.extend(["--plugins", "plugins", "--out", "played", "--overwrite"]);
        read(&tribunal(at.path(), &arguments).output().unwrap())
    };
    let refused = run(&example::Folder::new());
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("tool-query.wasm") && refused.err.contains("wasi = \"inert\""), "{}", refused.err);
    let suite = example::Folder::new().and("suite.toml", "[plugins]\nwasi = \"inert\"");
    let ran = run(&suite);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let rewards = |policy: &str| {
        let traces = std::fs::read_dir(at.path().join("played/traces").join(policy)).unwrap();
        let texts = traces.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        texts.filter(|text| text.contains("\"reward\":1.0")).count()
    };
    assert_eq!((rewards("oracle"), rewards("no-op")), (4, 0));
    let replayed = read(&tribunal(at.path(), &["replay", "played", "--plugins", "plugins"]).output().unwrap());
    assert_eq!((replayed.code, replayed.out.contains("8 identical, 0 different")), (0, true), "{}", replayed.out);
}
