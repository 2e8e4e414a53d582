//! What goes in and comes out of tools and users.

use super::*;
use crate::fixture::*;
use tribunal_protocol::failure::Code;
use tribunal_protocol::plugin::PluginKind;

/// Opens the session of a role whose name is the first `len` bytes of [`DATA`]; the handle is at
/// 2004 then.
fn open(len: usize) -> String {
    format!("(call $open (i32.const {DATA}) (i32.const {len}) (i32.const 2000))")
}

/// Runs `statement`, which lies at DATA + 100, with `parameters` at DATA + 200; leaves the result
/// at 2100.
fn query(len: usize, parameters: usize) -> String {
    format!(
        "(call $query (i32.load (i32.const 2004)) (i32.const {}) (i32.const {len}) (i32.const {}) (i32.const {parameters}) (i32.const 2100))",
        DATA + 100,
        DATA + 200
    )
}

/// Data with a role at DATA and a statement at DATA + 100.
fn words(role: &str, statement: &str) -> String {
    data(&format!("{role:<100}{statement:<100}"))
}

/// A tool that gives back, unread, the table that its query gave.
fn passing() -> Guest {
    let copy = format!(
        "{}{}
        (i32.store8 (i32.const {RESULT}) (i32.load8_u (i32.const 2100)))
        (i64.store (i32.const {}) (i64.const 0))
        (i32.store8 (i32.const {}) (i32.const 1))
        (i32.store (i32.const {}) (i32.load (i32.const 2104)))
        (i64.store (i32.const {}) (i64.load (i32.const 2108)))
        (i32.const {RESULT})",
        open(5),
        query(9, 0),
        RESULT + 4,
        RESULT + 12,
        RESULT + 16,
        RESULT + 20
    );
    Guest::tool(&copy).imports(OPEN).imports(QUERY).fields(&words("agent", "SELECT 42"))
}

#[test]
fn a_tool_reads_its_input_and_says_something() {
    let echo = format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 0))
         (i32.store (i32.const {}) (local.get $args)) (i32.store (i32.const {}) (local.get $args-len))
         (i32.store8 (i32.const {}) (i32.const 0)) (i32.const {RESULT})",
        RESULT + 4,
        RESULT + 8,
        RESULT + 12
    );
    let plugin = load(&Guest::tool(&echo));
    for arguments in ["{}", r#"{"name":"né"}"#] {
        let input = ToolInput { arguments, ..INPUT };
        let ran = plugin.call(&input, Paper::default(), &Limits::default());
        assert_eq!(ran.result, Ok(Ok(ToolOutput { text: arguments.to_owned(), table: None })));
        assert_eq!(ran.usage.memory, 2 * 65_536);
        assert!(ran.usage.fuel > 0 && ran.usage.fuel < 1_000, "{}", ran.usage.fuel);
    }
}

#[test]
fn a_tool_may_fail_and_that_is_no_fault() {
    let failing = Guest::tool(&result(&[1, 4, i64::from(DATA), 4])).fields(&data("nope"));
    let failure = act(&failing, &Limits::default()).result.unwrap().unwrap_err();
    assert_eq!(failure, Failure::new(Code::Invalid, "nope"));
}

#[test]
fn every_kind_of_column_passes_through_a_guest_unchanged() {
    let plugin = load(&passing());
    for rows in [0, 1, 8, 9, 1_000] {
        let table = every_kind(rows);
        let session = Paper { table: table.clone(), ..Paper::default() };
        let ran = plugin.call(&INPUT, session, &Limits::default());
        assert_eq!(ran.result.unwrap().unwrap().table, Some(table));
        assert_eq!(ran.sessions.statements, ["SELECT 42"]);
    }
}

#[test]
fn parameters_reach_the_session() {
    // A value takes 16 bytes: its case, and at 8 what it holds. Integer 7, then the text "agent".
    let store = |at: u32, case: u32, first: &str| format!("(i32.store8 (i32.const {at}) (i32.const {case})) {first}");
    let base = DATA + 200;
    let body = format!(
        "{}{}{}{}{}",
        store(base, 2, &format!("(i64.store (i32.const {}) (i64.const 7))", base + 8)),
        store(
            base + 16,
            5,
            &format!(
                "(i32.store (i32.const {}) (i32.const {DATA})) (i32.store (i32.const {}) (i32.const 5))",
                base + 24,
                base + 28
            )
        ),
        open(5),
        query(2, 2),
        said(DATA, 5)
    );
    let ran = act(&Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&words("agent", "$1")), &Limits::default());
    assert_eq!(ran.sessions.parameters, [Value::Integer(7), Value::Text("agent".to_owned())]);
    assert!(ran.result.unwrap().is_ok());
}

#[test]
fn a_denial_comes_to_the_guest_as_it_is() {
    // The failure of the query becomes the failure of the tool: code and message are copied.
    let body = format!(
        "{}{}
        (i32.store8 (i32.const {RESULT}) (i32.load8_u (i32.const 2100)))
        (i32.store8 (i32.const {}) (i32.load8_u (i32.const 2104)))
        (i64.store (i32.const {}) (i64.load (i32.const 2108)))
        (i32.const {RESULT})",
        open(5),
        query(6, 0),
        RESULT + 4,
        RESULT + 8
    );
    let ran =
        act(&Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&words("agent", "denied")), &Limits::default());
    assert_eq!(ran.result.unwrap().unwrap_err(), Failure::denied("not yours"));
}

/// A tool that opens a role and says how that went: the case and the code as they came.
fn opening(role: &str) -> Guest {
    let body = format!(
        "{}(i32.store8 (i32.const 3000) (i32.add (i32.const 48) (i32.load8_u (i32.const 2000))))
        (i32.store8 (i32.const 3001) (i32.add (i32.const 48) (i32.load8_u (i32.const 2004)))){}",
        open(role.len()),
        said(3000, 2)
    );
    Guest::tool(&body).imports(OPEN).fields(&words(role, ""))
}

#[test]
fn a_tool_opens_its_own_role_and_no_other() {
    let answer = |role: &str| act(&opening(role), &Limits::default()).result.unwrap().unwrap().text;
    assert!(answer("agent").starts_with('0'));
    for role in ["first", "last", "Agent", "", "admin"] {
        // Case 1, an error, with code 1, `unknown`.
        assert_eq!(answer(role), "11", "{role}");
    }
}

#[test]
fn handles_of_one_role_share_one_session() {
    let change = |handle: u32| {
        format!(
            "(call $change (i32.load (i32.const {handle})) (i32.const {}) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 2104))",
            DATA + 100
        )
    };
    let again = format!("(call $open (i32.const {DATA}) (i32.const 5) (i32.const 2020))");
    let body = format!("{}{again}{}{}{}", open(5), change(2004), change(2024), said(DATA, 1));
    let ran = act(&Guest::tool(&body).imports(OPEN).imports(CHANGE).fields(&words("agent", "x")), &Limits::default());
    assert!(ran.result.unwrap().is_ok());
    assert_eq!(ran.sessions.statements, ["x", "x"]);
}

#[test]
fn sessions_come_back_after_a_fault() {
    let body = format!("{}{}unreachable", open(5), query(9, 0));
    let ran =
        act(&Guest::tool(&body).imports(OPEN).imports(QUERY).fields(&words("agent", "SELECT 42")), &Limits::default());
    assert_eq!(ran.result.unwrap_err().name(), "trap");
    assert_eq!(ran.sessions.usage().statements, 1);
    assert!(ran.usage.fuel > 0 && ran.usage.memory > 0);
}

#[test]
fn a_panic_of_the_host_is_the_hosts_fault_and_stays_in_its_call() {
    let plugin = load(&passing());
    let ran = plugin.call(&INPUT, Paper { panics: true, ..Paper::default() }, &Limits::default());
    assert_eq!(ran.result, Err(Fault::Host { message: "a query panicked: the engine broke".to_owned() }));
    assert!(plugin.call(&INPUT, ran.sessions, &Limits::default()).result.is_err());
    assert!(plugin.call(&INPUT, Paper::default(), &Limits::default()).result.is_ok());
}

/// A session whose statement calls another plugin of the same sandbox.
struct Nested(Arc<Plugin>, Option<Result<(), Fault>>);

impl Session for Nested {
    fn tables(&mut self) -> Vec<TableInfo> {
        Vec::new()
    }

    fn query(&mut self, _: &str, _: &[Value]) -> Result<Table, Failure> {
        let inner = self.0.call(&INPUT, Paper::default(), &Limits::default());
        self.1 = Some(inner.result.map(|_| ()));
        Ok(Table::default())
    }

    fn change(&mut self, _: &str, _: &[Value]) -> Result<u64, Failure> {
        Ok(0)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn violations(&self) -> u32 {
        0
    }
}

#[test]
fn a_call_too_many_at_once_is_the_hosts_fault_and_harms_no_other() {
    let nested = |concurrent_calls| {
        let sandbox = Sandbox::new(SandboxOptions { concurrent_calls, ..SandboxOptions::default() }).unwrap();
        let outer = sandbox.load("outer", &passing().build()).unwrap();
        let inner = sandbox.load("inner", &Guest::tool(&said(DATA, 2)).fields(&data("ok")).build()).unwrap();
        let ran = outer.call(&INPUT, Nested(Arc::clone(&inner), None), &Limits::default());
        assert!(ran.result.unwrap().is_ok(), "the call that was there first goes on");
        assert!(inner.call(&INPUT, Paper::default(), &Limits::default()).result.is_ok(), "and its place is free again");
        ran.sessions.1.unwrap()
    };
    let fault = nested(1).unwrap_err();
    assert_eq!(fault.name(), "host", "{fault}");
    assert!(fault.to_string().starts_with("host: too many plugin calls at once: "), "{fault}");
    assert_eq!(nested(2), Ok(()));
}

#[test]
fn settings_and_log_reach_their_ends() {
    let body = format!(
        "(call $settings (i32.const 2000))
        (call $log (i32.load (i32.const 2000)) (i32.load (i32.const 2004))){}",
        said(DATA, 0)
    );
    let plugin = load(&Guest::tool(&body).imports(SETTINGS).imports(LOG));
    let input = ToolInput { settings: r#"{"rate":2}"#, ..INPUT };
    let ran = plugin.call(&input, Paper::default(), &Limits::default());
    assert_eq!(ran.log, Log { lines: vec![r#"{"rate":2}"#.to_owned()], dropped: 0 });
}

#[test]
fn nothing_is_kept_between_calls() {
    let count = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const {DATA}) (i32.add (i32.load8_u (i32.const {DATA})) (i32.const 1)))
        (i32.store8 (i32.const 3000) (i32.add (i32.const 48) (global.get $calls)))
        (i32.store8 (i32.const 3001) (i32.add (i32.const 48) (i32.load8_u (i32.const {DATA})))){}",
        said(3000, 2)
    );
    let plugin = load(&Guest::tool(&count).fields("(global $calls (mut i32) (i32.const 0))"));
    let runs: Vec<_> = (0..5).map(|_| plugin.call(&INPUT, Paper::default(), &Limits::default())).collect();
    for ran in &runs {
        assert_eq!(ran.result.as_ref().unwrap().as_ref().unwrap().text, "11");
        assert_eq!(ran.usage, runs[0].usage);
    }
}

#[test]
fn a_trap_leaves_the_next_call_alone() {
    let bad = load(&Guest::tool("unreachable"));
    let good = load(&Guest::tool(&said(DATA, 2)).fields(&data("ok")));
    for _ in 0..3 {
        let fault = bad.call(&INPUT, Paper::default(), &Limits::default()).result.unwrap_err();
        assert_eq!(fault.to_string(), "guest: trap: wasm `unreachable` instruction executed");
        assert_eq!(good.call(&INPUT, Paper::default(), &Limits::default()).result.unwrap().unwrap().text, "ok");
    }
}

#[test]
fn a_panic_is_told_in_the_guests_own_words() {
    let text = "panic: no rows";
    let body = format!("(call $log (i32.const {DATA}) (i32.const {})) unreachable", text.len());
    let fault = act(&Guest::tool(&body).imports(LOG).fields(&data(text)), &Limits::default()).result.unwrap_err();
    assert_eq!(fault.to_string(), "guest: trap: panic: no rows");
}

#[test]
fn broken_encodings_are_malformed_answers() {
    let malformed = |guest: Guest| {
        let fault = act(&guest, &Limits::default()).result.unwrap_err();
        assert_eq!(fault.name(), "malformed", "{fault}");
        assert!(!fault.to_string().contains("0x"), "{fault}");
    };
    malformed(Guest::tool(&result(&[7, 0, 0, 0])));
    malformed(Guest::tool(&said(u32::MAX - 4, 2)));
    malformed(Guest::tool("(i32.const 4097)"));
    malformed(Guest::tool("(i32.const -4)"));
    malformed(Guest::tool(&said(DATA, 1)).fields(&format!("(data (i32.const {DATA}) \"\\ff\")")));
    // A table of two rows and no columns.
    malformed(Guest::tool(&result(&[0, 0, 0, 1, 2, 0, 0])));
    assert!(act(&Guest::tool(&result(&[0, 0, 0, 1, 0, 0, 0])), &Limits::default()).result.is_ok());
}

#[test]
fn a_user_replies_within_the_output_limit() {
    let guest = Guest::new(PluginKind::User, &result(&[0, i64::from(DATA), 5])).fields(&data("30 June"));
    let plugin = load(&guest);
    let input = ReplyInput { secret: "{}", about: "the date", question: "until when?", settings: "{}" };
    assert_eq!(plugin.reply(&input, &Limits::default()).result, Ok(Ok("30 Ju".to_owned())));
    let tight = Limits { output_bytes: 6, ..Limits::default() };
    assert_eq!(limit_of(plugin.reply(&input, &tight).result), "output bytes");
    let failing = Guest::new(PluginKind::User, &result(&[1, 5, i64::from(DATA), 4])).fields(&data("busy"));
    assert_eq!(load(&failing).reply(&input, &Limits::default()).result, Ok(Err(Failure::failed("busy"))));
}

#[test]
fn a_plugin_called_as_another_kind_is_the_hosts_fault() {
    let tool = load(&Guest::tool(&said(DATA, 0)));
    let input = ReplyInput { secret: "", about: "", question: "", settings: "" };
    let fault = tool.reply(&input, &Limits::default()).result.unwrap_err();
    assert_eq!(fault.to_string(), "host: guest is a tool and was called as a user");
}
