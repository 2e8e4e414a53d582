use serde_json::json;
use tribunal_kit::testing::{TestHost, loose_tools};
use tribunal_kit::{Code, Database as _};

use super::*;
use crate::sqlite::{self, Sqlite, dump};

/// A reserved word and a quote among the names: they come from settings, and must be quoted.
const DATA: &str = r#"
    CREATE TABLE "order" (id INTEGER PRIMARY KEY, account_id INTEGER, total DECIMAL_TEXT, state TEXT);
    CREATE TABLE refunds (id INTEGER PRIMARY KEY, "order's id" INTEGER, account_id INTEGER, amount DECIMAL_TEXT, reason TEXT, issued_on DATE, status TEXT);
    CREATE TABLE accounts (id INTEGER PRIMARY KEY, status TEXT, merged_into INTEGER);
    CREATE TABLE tickets (code TEXT PRIMARY KEY, account_id INTEGER, state TEXT);
    INSERT INTO "order" VALUES (1, 7, '20.00', 'paid'), (2, 7, '0.30', 'paid'), (3, 8, '5.00', 'void'), (4, 8, NULL, 'paid');
    INSERT INTO refunds VALUES (41, 1, 7, '7.50', 'late', '2025-01-02', 'issued');
    INSERT INTO accounts VALUES (7, 'active', NULL), (8, 'active', NULL), (9, 'closed', NULL), (10, NULL, NULL);
    INSERT INTO tickets VALUES ('T-1', 7, 'open'), ('T-2', 8, 'closed'), ('T-3', 8, 'open');
"#;

fn host() -> TestHost<Sqlite> {
    let settings = json!({
        "refund": {
            "source": {"table": "order", "id": "id", "amount": "total", "status": "state", "refundable": ["paid", "sent"], "account": "account_id"},
            "refunds": {"table": "refunds", "id": "id", "source": "order's id", "amount": "amount", "reason": "reason",
                        "issued_on": "issued_on", "account": "account_id", "constants": {"status": "issued"}, "void": {"status": "withdrawn"}},
            "clock": "2025-06-30"
        },
        "merge": {
            "accounts": {"table": "accounts", "id": "id", "status": "status", "closed_value": "closed", "merged_into": "merged_into"},
            "children": [{"table": "order", "column": "account_id"}, {"table": "tickets", "column": "account_id"}]
        },
        "status": {
            "ticket": {"table": "tickets", "id": "code", "status": "state", "allowed": {"open": ["pending", "closed"], "pending": ["closed"]}}
        }
    });
    sqlite::host(DATA).settings(&settings.to_string())
}

fn call(host: &TestHost<Sqlite>, name: &str, arguments: serde_json::Value) -> Result<String, (Code, String)> {
    Ledger::call(host, name, &arguments.to_string())
        .map(|output| output.text)
        .map_err(|failure| (failure.code, failure.message))
}

const REFUNDS: &str = "SELECT * FROM refunds ORDER BY id";
const FIRST: &str = "41|1|7|7.50|late|2025-01-02|issued";

#[test]
fn a_refund_is_one_row_with_all_its_columns() {
    let host = host();
    let text = call(&host, "issue_refund", json!({"source_id": 1, "amount": "12.50", "reason": " broken "}));
    assert_eq!(text.unwrap(), "refund 42: 12.5 of order 1");
    assert_eq!(dump(&host, REFUNDS), format!("{FIRST}\n42|1|7|12.5|broken|2025-06-30|issued"));
}

#[test]
fn amounts_are_exact() {
    // In doubles 0.1 + 0.2 is above 0.3, and the second refund would be refused.
    let host = host();
    call(&host, "issue_refund", json!({"source_id": "2", "amount": 0.1, "reason": "a"})).unwrap();
    call(&host, "issue_refund", json!({"source_id": "2", "amount": 0.2, "reason": "b"})).unwrap();
    let (code, text) =
        call(&host, "issue_refund", json!({"source_id": 2, "amount": "0.01", "reason": "c"})).unwrap_err();
    assert_eq!(code, Code::Invalid);
    assert_eq!(text, "argument amount: 0.01 is above the 0 that can be given back (0.3 charged, 0.3 refunded)");
}

#[test]
fn a_withdrawn_refund_does_not_count() {
    let host = host();
    let all = json!({"source_id": 1, "amount": 20, "reason": "x"});
    assert_eq!(call(&host, "issue_refund", all.clone()).unwrap_err().0, Code::Invalid);
    let update = "UPDATE refunds SET status = 'withdrawn'";
    host.open("agent").unwrap().change(update, &[]).unwrap();
    call(&host, "issue_refund", all).unwrap();
    assert_eq!(dump(&host, "SELECT id, amount, status FROM refunds ORDER BY id"), "41|7.50|withdrawn\n42|20|issued");
}

#[test]
fn what_may_not_be_refunded_leaves_no_row() {
    let host = host();
    let cases = [
        (json!({"source_id": 1, "amount": "12.51", "reason": "x"}), Code::Invalid, "is above the 12.5"),
        (json!({"source_id": 1, "amount": 0, "reason": "x"}), Code::Invalid, "it must be above 0"),
        (json!({"source_id": 1, "amount": -5, "reason": "x"}), Code::Invalid, "it must be above 0"),
        (json!({"source_id": 1, "amount": "5 EUR", "reason": "x"}), Code::Invalid, "a number expected, 5 EUR given"),
        (json!({"source_id": 1, "amount": 1, "reason": "  "}), Code::Invalid, "argument reason"),
        (
            json!({"source_id": 3, "amount": 1, "reason": "x"}),
            Code::Invalid,
            "order 3 is void; it can be refunded when paid or sent",
        ),
        (json!({"source_id": 4, "amount": 1, "reason": "x"}), Code::Invalid, "has no amount"),
        (json!({"source_id": 5, "amount": 1, "reason": "x"}), Code::Unknown, "no row with id 5 in order"),
        (
            json!({"source_id": "1 OR 1=1", "amount": 1, "reason": "x"}),
            Code::Invalid,
            "argument source_id: integer expected",
        ),
        (json!({"source_id": [1], "amount": 1, "reason": "x"}), Code::Invalid, "argument source_id: "),
        (json!({"source_id": 1, "amount": 1}), Code::Invalid, "missing field `reason`"),
    ];
    for (arguments, code, words) in cases {
        let (found, text) = call(&host, "issue_refund", arguments).unwrap_err();
        assert_eq!(found, code, "{text}");
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(dump(&host, REFUNDS), FIRST);
}

#[test]
fn words_of_the_agent_are_values() {
    let host = host();
    let reason = "x'); DELETE FROM refunds; --";
    call(&host, "issue_refund", json!({"source_id": 1, "amount": 1, "reason": reason})).unwrap();
    assert_eq!(dump(&host, "SELECT reason FROM refunds ORDER BY id"), format!("late\n{reason}"));
}

const ACCOUNTS: &str = "SELECT * FROM accounts ORDER BY id";

#[test]
fn a_merge_moves_everything_and_closes() {
    let host = host();
    let text = call(&host, "merge_accounts", json!({"keep_id": 7, "close_id": "8"}));
    assert_eq!(text.unwrap(), "8 is closed and merged into 7; moved: 2 order, 2 tickets");
    assert_eq!(dump(&host, ACCOUNTS), "7|active|NULL\n8|closed|7\n9|closed|NULL\n10|NULL|NULL");
    assert_eq!(dump(&host, r#"SELECT COUNT(*) AS n FROM "order" WHERE account_id = 7"#), "4");
    assert_eq!(dump(&host, "SELECT code, account_id FROM tickets ORDER BY code"), "T-1|7\nT-2|7\nT-3|7");
}

#[test]
fn accounts_that_cannot_be_merged_stay() {
    let host = host();
    let before = dump(&host, ACCOUNTS);
    for (keep, close, code, words) in [
        (7, 7, Code::Invalid, "the same account"),
        (7, 9, Code::Invalid, "account 9 is already closed"),
        (9, 7, Code::Invalid, "account 9 is already closed"),
        (7, 11, Code::Unknown, "no row with id 11 in accounts"),
    ] {
        let (found, text) = call(&host, "merge_accounts", json!({"keep_id": keep, "close_id": close})).unwrap_err();
        assert_eq!(found, code);
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(dump(&host, ACCOUNTS), before);
    assert_eq!(dump(&host, r#"SELECT COUNT(*) AS n FROM "order" WHERE account_id = 7"#), "2");
}

#[test]
fn a_status_follows_its_transitions() {
    let host = host();
    let set =
        |id: &str, status: &str| call(&host, "set_status", json!({"entity": "ticket", "id": id, "status": status}));
    assert_eq!(set("T-1", "pending").unwrap(), "ticket T-1: open is now pending");
    assert_eq!(set("T-1", "open").unwrap_err().1, "ticket T-1 is pending; from there it can become closed");
    assert_eq!(set("T-2", "open").unwrap_err().1, "ticket T-2 is closed; from there it can become nothing");
    assert_eq!(set("T-9", "open").unwrap_err().0, Code::Unknown);
    assert_eq!(set("T-3", "open").unwrap_err().0, Code::Invalid);
    let other = call(&host, "set_status", json!({"entity": "account", "id": 7, "status": "closed"}));
    assert_eq!(other.unwrap_err(), (Code::Unknown, "no entity account; there are ticket".to_owned()));
    assert_eq!(dump(&host, "SELECT code, state FROM tickets ORDER BY code"), "T-1|pending\nT-2|closed\nT-3|open");
}

#[test]
fn only_what_is_set_up_works() {
    let bare = sqlite::host(DATA);
    for (name, arguments) in [
        ("issue_refund", json!({"source_id": 1, "amount": 1, "reason": "x"})),
        ("merge_accounts", json!({"keep_id": 7, "close_id": 8})),
        ("set_status", json!({"entity": "ticket", "id": "T-1", "status": "closed"})),
    ] {
        assert_eq!(call(&bare, name, arguments).unwrap_err().0, Code::Unsupported);
    }
    assert_eq!(call(&bare, "drop", json!({})).unwrap_err().0, Code::Unknown);
    let broken = sqlite::host(DATA).settings(r#"{"refunds": {}}"#);
    let failure = call(&broken, "merge_accounts", json!({"keep_id": 7, "close_id": 8})).unwrap_err();
    assert_eq!(failure, (Code::Unsupported, "the ledger is not set up here".to_owned()));
    assert!(broken.logged()[0].contains("unknown field `refunds`"), "{:?}", broken.logged());
}

#[test]
fn every_tool_is_closed_and_needs_all_its_arguments() {
    let description = Ledger::describe();
    assert!(loose_tools(&description).is_empty());
    for tool in description.tools {
        let schema: serde_json::Value = serde_json::from_str(&tool.arguments).unwrap();
        assert_eq!(schema["required"].as_array().unwrap().len(), schema["properties"].as_object().unwrap().len());
    }
}
