//! Stand-ins for WASI: there only where they were asked for, inert, deterministic and metered.

use tribunal_protocol::plugin::Wasi;

use super::*;
use crate::fixture::{DATA, data, said};

static INERT: LazyLock<Sandbox> = LazyLock::new(|| {
    Sandbox::new(SandboxOptions { wasi: Wasi::Inert, concurrent_calls: 8, ..SandboxOptions::default() }).unwrap()
});

fn ran(guest: &Guest, arguments: &str) -> Ran<Result<ToolOutput, Failure>, Paper> {
    let plugin = INERT.load("guest", &guest.build()).unwrap_or_else(|fault| panic!("{fault}\n{guest:?}"));
    plugin.call(&ToolInput { arguments, ..INPUT }, Paper::default(), &Limits::default())
}

fn text(guest: &Guest, arguments: &str) -> String {
    ran(guest, arguments).result.unwrap().unwrap().text
}

const STDERR: &str = r#"(import "wasi:cli/stderr@0.2.12" "get-stderr" (func $stderr (result i32)))"#;
const WRITE: &str = r#"(import "wasi:io/streams@0.2.12" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))"#;
const RANDOM: &str = r#"(import "wasi:random/random@0.2.12" "get-random-bytes" (func $random (param i64 i32)))"#;
const NUMBER: &str = r#"(import "wasi:random/random@0.2.12" "get-random-u64" (func $number (result i64)))"#;

/// Writes the first bytes of [`DATA`] to standard error, in pieces.
fn writer(bytes: &str, pieces: &[(usize, usize)]) -> Guest {
    let write = |(at, len): &(usize, usize)| {
        format!("(call $write (call $stderr) (i32.const {}) (i32.const {len}) (i32.const 3000))", DATA as usize + at)
    };
    let body: String = pieces.iter().map(write).collect();
    Guest::tool(&format!("{body} {}", said(DATA, 0))).imports(STDERR).imports(WRITE).fields(&data(bytes))
}

/// Says a number as eight letters, so that it can be seen.
fn numbered() -> Guest {
    let letters = "(local $n i64) (local $i i32) (local.set $n (call $number))
        (loop $more
            (i32.store8 (i32.add (i32.const 9000) (local.get $i))
                (i32.add (i32.const 97) (i32.and (i32.wrap_i64 (local.get $n)) (i32.const 15))))
            (local.set $n (i64.shr_u (local.get $n) (i64.const 4)))
            (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))";
    Guest::tool(&format!("{letters} {}", said(9_000, 16))).imports(NUMBER)
}

#[test]
fn without_the_flag_it_is_refused_by_name_and_told_how() {
    let bytes = numbered().build();
    let fault = SANDBOX.load("x.wasm", &bytes).unwrap_err().to_string();
    for words in ["`wasi:random/random@0.2.12`: Tribunal offers no WASI", "wasi = \"inert\"", "[plugins]"] {
        assert!(fault.contains(words), "{fault}");
    }
    INERT.load("x.wasm", &bytes).unwrap();
    // What has no stand-in is refused with the flag too.
    let other = wat::parse_str(
        r#"(component (import "wasi:http/types@0.2.0" (instance)) (core module $m (func (export "f")))
            (core instance $i (instantiate $m)) (func (export "call") (canon lift (core func $i "f"))))"#,
    );
    let fault = INERT.load("x.wasm", &other.unwrap()).unwrap_err().to_string();
    assert!(fault.contains("`wasi:http/types@0.2.0`: no stand-in exists"), "{fault}");
}

#[test]
fn what_is_written_becomes_lines_of_the_log_within_its_limit() {
    let guest = writer("one\ntwo\nlast", &[(0, 2), (2, 4), (6, 6)]);
    assert_eq!(ran(&guest, "{}").log.lines, ["one", "two", "last"]);
    let plugin = INERT.load("guest", &writer(&"x".repeat(4_000), &[(0, 4_000); 4]).build()).unwrap();
    let small = Limits { log_bytes: 5_000, ..Limits::default() };
    let log = plugin.call(&INPUT, Paper::default(), &small).log;
    assert_eq!((log.lines.len(), log.lines[0].len(), log.dropped), (1, 5_000, 11_000));
}

#[test]
fn randomness_is_a_function_of_what_the_call_was_given() {
    let guest = numbered();
    let first = text(&guest, "{}");
    assert_eq!(text(&guest, "{}"), first);
    assert_ne!(text(&guest, r#"{"a":1}"#), first);
    assert_ne!(first, "a".repeat(16));
}

#[test]
fn randomness_has_a_limit_at_once() {
    let asking = |bytes: u64| {
        let body = format!("(call $random (i64.const {bytes}) (i32.const 3000)) {}", said(DATA, 0));
        ran(&Guest::tool(&body).imports(RANDOM), "{}").result
    };
    assert_eq!(limit_of(asking((64 << 10) + 1)), "random bytes at once");
    asking(64 << 10).unwrap().unwrap();
}

#[test]
fn a_guest_that_ends_itself_is_void() {
    let exit = r#"(import "wasi:cli/exit@0.2.12" "exit" (func $exit (param i32)))"#;
    let guest = |status| Guest::tool(&format!("(call $exit (i32.const {status})) {}", said(DATA, 0))).imports(exit);
    for status in [0, 1] {
        let fault = ran(&guest(status), "{}").result.unwrap_err();
        assert_eq!((fault.name(), fault.to_string()), ("trap", "guest: trap: it called `exit`".to_owned()));
    }
}

#[test]
fn the_clock_moves_by_being_asked_and_waited_for_alone() {
    let imports = r#"(import "wasi:clocks/monotonic-clock@0.2.12" "now" (func $now (result i64)))
        (import "wasi:clocks/monotonic-clock@0.2.12" "subscribe-duration" (func $later (param i64) (result i32)))
        (import "wasi:io/poll@0.2.12" "[method]pollable.block" (func $block (param i32)))"#;
    // An hour of waiting: asked before and after, the difference is an hour and a microsecond.
    let body = format!(
        "(local $began i64) (local.set $began (call $now)) (call $block (call $later (i64.const 3600000000000)))
         (if (i64.ne (i64.sub (call $now) (local.get $began)) (i64.const 3600000001000)) (then unreachable)) {}",
        said(DATA, 0)
    );
    assert_eq!(text(&Guest::tool(&body).imports(imports), "{}"), "");
}

#[test]
fn there_are_no_files_no_environment_and_no_network() {
    let imports = r#"(import "wasi:filesystem/preopens@0.2.12" "get-directories" (func $folders (param i32)))
        (import "wasi:cli/environment@0.2.12" "get-environment" (func $environment (param i32)))
        (import "wasi:sockets/tcp-create-socket@0.2.12" "create-tcp-socket" (func $socket (param i32 i32)))"#;
    let empty = |function: &str| {
        format!("(call {function} (i32.const 3000)) (if (i32.load (i32.const 3004)) (then unreachable))")
    };
    // An error (1) whose code is `access-denied` (1).
    let socket = "(call $socket (i32.const 0) (i32.const 3000))
        (if (i32.ne (i32.load8_u (i32.const 3000)) (i32.const 1)) (then unreachable))
        (if (i32.ne (i32.load8_u (i32.const 3004)) (i32.const 1)) (then unreachable))";
    let body = format!("{} {} {socket} {}", empty("$folders"), empty("$environment"), said(DATA, 0));
    assert_eq!(text(&Guest::tool(&body).imports(imports), "{}"), "");
}
