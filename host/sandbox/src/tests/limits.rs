//! Every limit is hit once, beside a twin that stays below it.

use super::*;
use crate::fixture::*;

fn ok() -> String {
    said(DATA, 0)
}

#[test]
fn fuel() {
    let spinning = Guest::tool("(loop $l (br $l)) unreachable");
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    let first = act(&spinning, &limits);
    assert_eq!(first.result, Err(Fault::Fuel { plugin: "guest".to_owned(), limit: 1_000_000 }));
    assert_eq!(first.usage.fuel, 1_000_000);
    assert_eq!(act(&spinning, &limits).usage, first.usage);

    let counting = Guest::tool(&format!(
        "(local $i i32) (loop $l (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000)))) {}",
        ok()
    ));
    let enough = act(&counting, &limits);
    assert!(enough.result.is_ok() && enough.usage.fuel > 1_000);
    let exact = Limits { fuel: enough.usage.fuel, ..Limits::default() };
    assert!(act(&counting, &exact).result.is_ok());
    let less = Limits { fuel: enough.usage.fuel / 2, ..Limits::default() };
    assert_eq!(act(&counting, &less).result.unwrap_err().name(), "fuel");
}

#[test]
fn wall_time_of_the_guest() {
    let spinning = Guest::tool("(loop $l (br $l)) unreachable");
    let limits = Limits { fuel: u64::MAX, wall_ms: 50, ..Limits::default() };
    let ran = act(&spinning, &limits);
    assert_eq!(ran.result, Err(Fault::Time { plugin: "guest".to_owned(), limit_ms: 50 }));
}

#[test]
fn wall_time_of_the_host_inside_the_call() {
    let body = format!(
        "(call $open (i32.const {DATA}) (i32.const 5) (i32.const 2000))
        (call $query (i32.load (i32.const 2004)) (i32.const {DATA}) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 2100)) {}",
        ok()
    );
    let plugin = load(&Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&data("agent")));
    let limits = Limits { wall_ms: 100, ..Limits::default() };
    let slow = Paper { pause: Duration::from_millis(250), ..Paper::default() };
    let ran = plugin.call(&INPUT, slow, &limits);
    assert_eq!(ran.result.unwrap_err().name(), "time");
    assert_eq!(ran.sessions.statements.len(), 1);
    assert!(plugin.call(&INPUT, Paper::default(), &limits).result.is_ok());
}

fn growing(pages: u32) -> Guest {
    Guest::tool(&format!("(drop (memory.grow (i32.const {pages}))) {}", ok()))
}

#[test]
fn memory() {
    let limits = Limits { memory: 10 * 65_536, ..Limits::default() };
    let full = act(&growing(8), &limits);
    assert!(full.result.is_ok());
    assert_eq!(full.usage.memory, 10 * 65_536);
    let past = act(&growing(9), &limits);
    assert_eq!(
        past.result,
        Err(Fault::Limit { plugin: "guest".to_owned(), what: "memory".to_owned(), limit: 655_360 })
    );
    assert_eq!(past.usage.memory, 2 * 65_536, "what was not given is not counted");
    assert_eq!(limit_of(act(&growing(65_536), &limits).result), "memory");
    // A maximum of the guest's own is no limit of ours: growing fails as it does anywhere.
    let own = Guest { memory: "2 4".to_owned(), ..growing(3) };
    assert_eq!(act(&own, &limits).usage.memory, 2 * 65_536);
    assert!(act(&own, &limits).result.is_ok());
}

#[test]
fn memory_at_the_start() {
    let large = Guest { memory: "100".to_owned(), ..Guest::tool(&ok()) };
    let limits = Limits { memory: 50 * 65_536, ..Limits::default() };
    assert_eq!(limit_of(act(&large, &limits).result), "memory");
    assert!(act(&large, &Limits::default()).result.is_ok());
}

#[test]
fn table_elements() {
    let growing = |by: u32| {
        let body = format!("(drop (table.grow $t (ref.null func) (i32.const {by}))) {}", ok());
        Guest::tool(&body).fields("(table $t 10 funcref)")
    };
    let limits = Limits { table_elements: 100, ..Limits::default() };
    // The encoder adds small tables of its own for what the guest imports; there is none here.
    assert!(act(&growing(90), &limits).result.is_ok());
    assert_eq!(limit_of(act(&growing(91), &limits).result), "table elements");
    // What a table grows by is paid for first, so the most a guest can ask for is out of reach.
    assert_eq!(act(&growing(u32::MAX), &limits).result.unwrap_err().name(), "fuel");
}

#[test]
fn stack() {
    let deep = |times: u32| {
        Guest::tool(&format!("(call $down (i32.const {times})) {}", ok())).fields(
            "(func $down (param i32) (if (local.get 0) (then (call $down (i32.sub (local.get 0) (i32.const 1))))) (drop (i32.const 0)))",
        )
    };
    assert!(act(&deep(100), &Limits::default()).result.is_ok());
    assert_eq!(limit_of(act(&deep(10_000_000), &Limits::default()).result), "stack");
}

#[test]
fn hostcall_bytes() {
    let body = |bytes: u32| format!("(call $log (i32.const 0) (i32.const {bytes})) {}", ok());
    let logging = |bytes| Guest { memory: "20".to_owned(), ..Guest::tool(&body(bytes)).imports(LOG) };
    let limits = Limits { hostcall_bytes: 1_000_000, ..Limits::default() };
    assert!(act(&logging(900_000), &limits).result.is_ok());
    assert_eq!(limit_of(act(&logging(1_100_000), &limits).result), "hostcall bytes");
}

#[test]
fn handles() {
    let opening = |times: u32| {
        let body = format!(
            "(local $i i32) (loop $l (call $open (i32.const {DATA}) (i32.const 5) (i32.const 2000))
            (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const {times})))) {}",
            ok()
        );
        Guest::tool(&body).imports(OPEN).fields(&data("agent"))
    };
    let limits = Limits { handles: 100, ..Limits::default() };
    assert!(act(&opening(100), &limits).result.is_ok());
    assert_eq!(limit_of(act(&opening(101), &limits).result), "handles");
}

#[test]
fn output_bytes() {
    let saying = |len: usize| Guest { memory: "4".to_owned(), ..Guest::tool(&said(131_072, len)) };
    // Zero bytes of text are six bytes of JSON each, and two more for its quotes.
    let limits = Limits { output_bytes: 602, ..Limits::default() };
    assert!(act(&saying(100), &limits).result.is_ok());
    let failure = act(&saying(101), &limits).result.unwrap().unwrap_err();
    assert_eq!(failure.to_string(), "quota: the output is larger than 602 bytes as JSON; ask for less");
}

#[test]
fn result_bytes() {
    // The guest of the host's slow statement, which asks for a table; 10 rows of 8 bytes.
    let body = format!(
        "(call $open (i32.const {DATA}) (i32.const 5) (i32.const 2000))
        (call $query (i32.load (i32.const 2004)) (i32.const {DATA}) (i32.const 5) (i32.const 0) (i32.const 0) (i32.const 2100))
        (if (i32.load8_u (i32.const 2100)) (then (return {})))
        {}",
        result(&[1, 3, 0, 0]),
        ok()
    );
    let plugin = load(&Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&data("agent")));
    let rows: Vec<_> = (0..10).map(|row| vec![Value::Integer(row)]).collect();
    let table = Table::from_rows(&[("n".to_owned(), Kind::Integer)], &rows).unwrap();
    let bytes = table.bytes();
    assert!(bytes >= 80);
    let code = |result_bytes| {
        let session = Paper { table: table.clone(), ..Paper::default() };
        let ran = plugin.call(&INPUT, session, &Limits { result_bytes, ..Limits::default() });
        ran.result.unwrap().err().map(|failure| failure.code)
    };
    assert_eq!(code(bytes), None);
    assert_eq!(code(bytes - 1), Some(tribunal_protocol::failure::Code::Quota));
}

#[test]
fn output_that_only_claims_to_be_large() {
    // 4294967295 rows of one column of kind `unknown`, which takes no bytes at all. The column
    // (name, nulls and the case of its cells) is 40 bytes of zeros at DATA.
    let rows = |rows: i64| Guest::tool(&result(&[0, 0, 0, 1, rows, i64::from(DATA), 1]));
    let failure = act(&rows(-1), &Limits::default()).result.unwrap().unwrap_err();
    assert!(failure.to_string().starts_with("quota: the output is larger"), "{failure}");
    assert_eq!(act(&rows(3), &Limits::default()).result.unwrap().unwrap().table.unwrap().rows, 3);
}

#[test]
fn log_bytes() {
    let body = format!(
        "(local $i i32) (loop $l (call $log (i32.const {DATA}) (i32.const 9))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000)))) {}",
        ok()
    );
    let flood = Guest::tool(&body).imports(LOG).fields(&data("123456789"));
    let ran = act(&flood, &Limits { log_bytes: 105, ..Limits::default() });
    assert!(ran.result.is_ok(), "a full log stops nobody");
    let kept: usize = ran.log.lines.iter().map(String::len).sum();
    assert_eq!((ran.log.lines.len(), kept), (11, 95));
    assert_eq!(kept as u64 + ran.log.dropped, 9_000);
}

#[test]
fn no_call_gets_more_than_the_sandbox_has() {
    let greedy = Limits { memory: u64::MAX, table_elements: u64::MAX, stack: u64::MAX, ..Limits::default() };
    let Fault::Limit { what, limit, .. } = act(&growing(60_000), &greedy).result.unwrap_err() else { panic!() };
    assert_eq!((what.as_str(), limit), ("memory", Limits::default().memory));
}
