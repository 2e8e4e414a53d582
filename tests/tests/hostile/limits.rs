//! Every limit is hit, by its name: a guest that the limit stops, and the same guest with a little
//! more, which passes.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};
use tribunal_protocol::limits::Limits;
use tribunal_sandbox::{Sandbox, SandboxOptions, ToolInput};

use crate::attack::{self, Outcome};
use crate::guest::Case;
use crate::large;
use crate::world::{ON_SQLITE, WORLD, World};

/// One field of [`Limits`] and how it is hit.
struct Probe {
    field: &'static str,
    /// The fields of the guest.
    guest: String,
    /// What stops it, and what does not.
    past: u64,
    enough: u64,
    /// What is said where it is stopped.
    sign: &'static str,
}

const OPEN: &str = r#"(import "tribunal:plugin/database@1.0.0" "open" (func $open (param i32 i32 i32)))"#;
const LOG: &str = r#"(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))"#;
const CALL: &str = "(func (export \"call\") (param i32 i32 i32 i32) (result i32) (local $i i32)";
const OK: &str = "(call $say (i32.const 16) (i32.const 2)))";

/// Does something `times` times.
fn repeated(times: u64, what: &str) -> String {
    format!(
        "(loop $more {what} (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {times}))))"
    )
}

fn doing(imports: &str, what: &str) -> String {
    format!("{imports}\n{CALL} {what} {OK}")
}

/// Runs a statement `times` times, and gives what it fails with.
fn asking(times: u64, verb: &str, sql: &str) -> String {
    let import = format!(
        r#"(import "tribunal:plugin/database@1.0.0" "[method]session.{verb}" (func $run (param i32 i32 i32 i32 i32 i32)))"#
    );
    // What a change gives is a number of 64 bits, which lies at a multiple of eight.
    let failure = if verb == "change" { 2_112 } else { 2_108 };
    let statement = format!(
        "(call $run (i32.load (i32.const 2004)) (i32.const 8300) (i32.const {len}) (i32.const 0) (i32.const 0) (i32.const 2104))
         (if (i32.load8_u (i32.const 2104)) (then (return (call $fail
           (i32.load8_u (i32.const {failure})) (i32.load offset=4 (i32.const {failure})) (i32.load offset=8 (i32.const {failure}))))))",
        len = sql.len(),
    );
    let words = format!("(data (i32.const 8192) \"agent\") (data (i32.const 8300) \"{sql}\")");
    let open = "(call $open (i32.const 8192) (i32.const 5) (i32.const 2000))";
    doing(&format!("{OPEN} {import} {words}"), &format!("{open} {}", repeated(times, &statement)))
}

const PAGE: u64 = 65_536;

fn probes() -> Vec<Probe> {
    let probe = |field, guest: String, past, enough, sign| Probe { field, guest, past, enough, sign };
    let down = "(func $down (param i32) (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))) (drop (i32.load (i32.const 0))))";
    let insert = "INSERT INTO notes (id, body) VALUES (1, 'a'), (2, 'b'), (3, 'c')";
    let open = "(call $open (i32.const 32) (i32.const 5) (i32.const 2000))";
    vec![
        probe("component_bytes", String::new(), 1_000, 32 << 20, "the limit is 1000"),
        // These two are hit by a component too large to write down; a small one needs little.
        probe("compile_seconds", "slow-to-compile".to_owned(), 1, 1, "more than 1 seconds"),
        probe("compile_memory", "slow-to-compile".to_owned(), 16 << 20, 16 << 20, "more than 16777216 bytes"),
        probe("fuel", doing("", &repeated(100_000, "")), 50_000, 200_000_000, "out of fuel after 50000"),
        probe("wall_ms", doing("", &repeated(200_000_000, "")), 30, 600_000, "within 30 ms"),
        probe(
            "memory",
            doing("", "(drop (memory.grow (i32.const 100)))"),
            102 * PAGE - 1,
            102 * PAGE,
            "memory past its limit",
        ),
        probe(
            "table_elements",
            format!("(table $t 1 funcref) {}", doing("", "(drop (table.grow $t (ref.null func) (i32.const 50000)))")),
            50_000,
            50_001,
            "table elements past its limit",
        ),
        probe(
            "stack",
            format!("{down} {}", doing("", "(call $down (i32.const 4000))")),
            64 << 10,
            512 << 10,
            "stack past its limit",
        ),
        probe(
            "hostcall_bytes",
            doing(&format!("{LOG} (memory (export \"memory\") 20)"), "(call $log (i32.const 0) (i32.const 1100000))"),
            1_000_000,
            2_000_000,
            "hostcall bytes past its limit",
        ),
        probe(
            "handles",
            doing(&format!("{OPEN} (data (i32.const 32) \"agent\")"), &repeated(101, open)),
            100,
            101,
            "handles past its limit",
        ),
        // Zero bytes of text are six bytes of JSON each, and two more for its quotes.
        probe(
            "output_bytes",
            format!("(memory (export \"memory\") 4) {CALL} (call $say (i32.const 131072) (i32.const 100000)))"),
            600_001,
            600_002,
            "quota: the output is larger than 600001 bytes",
        ),
        // Nine bytes, and one for the line, a hundred times. A last line that fits but for its end is kept.
        probe(
            "log_bytes",
            doing(LOG, &repeated(100, "(call $log (i32.const 600) (i32.const 9))")),
            990,
            1_000,
            "9 bytes dropped",
        ),
        probe("statements", asking(11, "query", "SELECT COUNT(*) AS n FROM sales"), 10, 11, "quota"),
        probe("rows_scanned", asking(1, "query", "SELECT id AS n FROM sales"), 4, 6, "quota"),
        probe("rows_returned", asking(1, "query", "SELECT id AS n FROM sales"), 4, 5, "quota"),
        probe("bytes_returned", asking(1, "query", "SELECT id AS n FROM sales"), 20, 1_000, "quota"),
        probe(
            "result_bytes",
            asking(1, "query", "SELECT id AS n FROM sales"),
            39,
            1_000,
            "quota: the result is larger than 39 bytes",
        ),
        probe("rows_written", asking(1, "change", insert), 2, 3, "quota"),
        // One column of five rows; the honest query after it takes some more.
        probe("statement_work", asking(1, "query", "SELECT id AS n FROM sales"), 4, 100, "too much work"),
        probe("statement_memory", asking(1, "query", "SELECT id AS n FROM sales"), 1_000, 1 << 20, "too much memory"),
    ]
}

/// The guest of a probe, with its limit at `value`.
fn case(probe: &Probe, value: u64) -> Case {
    let large = probe.guest == "slow-to-compile";
    let mut case = Case::of("tool", if large { "" } else { &probe.guest });
    if large && value == probe.past {
        case.component = large::make(&probe.guest, case.component);
    }
    let mut limits = Map::from_iter([(probe.field.to_owned(), json!(value))]);
    if probe.field == "wall_ms" {
        limits.insert("fuel".to_owned(), json!(1_u64 << 50));
    }
    case.limits = Some(serde_json::from_value(Json::Object(limits)).unwrap());
    case.acts = 1;
    case
}

/// What is said of a guest, and whether it was let through.
fn said(world: &World, probe: &Probe, value: u64) -> (String, bool) {
    let case = case(probe, value);
    if probe.field == "log_bytes" {
        let dropped = dropped(&case);
        return (format!("{dropped} bytes dropped"), dropped == 0);
    }
    let outcome = attack::run(world, &case);
    let answered = match &outcome {
        Outcome::Played { verdict, answers, .. } => {
            verdict == "passed" && !answers.iter().any(|text| text.starts_with("quota"))
        }
        Outcome::Refused(_) => false,
    };
    (outcome.shown(), answered)
}

fn dropped(case: &Case) -> u64 {
    let limits = case.limits.clone().unwrap_or_default();
    let sandbox = Sandbox::new(SandboxOptions { concurrent_calls: 2, ..SandboxOptions::default() }).unwrap();
    let plugin = sandbox.load("probe", &case.component).unwrap();
    let input = ToolInput { tool: "act", arguments: "{}", settings: "{}" };
    let ran = plugin.call(&input, crate::fuzz::component::Nothing, &limits);
    ran.result.unwrap().unwrap();
    ran.log.dropped
}

#[test]
fn every_limit_has_a_probe() {
    let Json::Object(fields) = serde_json::to_value(Limits::default()).unwrap() else { panic!("limits are an object") };
    let fields: BTreeSet<String> = fields.into_iter().map(|(name, _)| name).collect();
    let probed: BTreeSet<String> = probes().iter().map(|probe| probe.field.to_owned()).collect();
    assert_eq!(fields, probed, "a limit without a test that hits it, or a test of no limit");
}

#[test]
fn every_limit_stops_what_is_past_it_and_nothing_below() {
    let mut wrong = Vec::new();
    for probe in probes() {
        // What SQLite holds, SQLite alone can be stopped for.
        let world = if probe.field == "statement_memory" { &*ON_SQLITE } else { &*WORLD };
        let (text, let_through) = said(world, &probe, probe.past);
        if let_through || !text.contains(probe.sign) {
            wrong.push(format!("{} at {}: `{}` expected, {text}", probe.field, probe.past, probe.sign));
        }
        // The twin of the two of compiling is another guest under the same limit.
        let enough = if probe.enough == probe.past { probe.enough + 1 } else { probe.enough };
        let (text, let_through) = said(world, &probe, enough);
        if !let_through {
            wrong.push(format!("{} at {enough}: {text}", probe.field));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
