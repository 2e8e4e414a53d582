//! What the contract stops is explained to the author, with the line that would allow it, and the
//! holder reads nothing of it.

use tribunal_protocol::session::Session;

use super::fixture::{CLERK, all, clerk, open, snapshot};

const ACCOUNTS: &str = "contract \"test\" grants read id, name, region";
const REFUNDS: &str = "contract \"test\" grants read id, invoice_id, amount, reason; insert id, invoice_id, amount, \
                       reason where amount <= 100; update amount where amount <= 100";

/// What a clerk tries, what the author is told was tried, and how that ends.
fn tries() -> Vec<(&'static str, String)> {
    let told = |tried: &str, granted: &str, line: &str| format!("{tried} was tried; {granted}; {line}");
    vec![
        (
            "SELECT secret FROM accounts",
            told(
                "read of accounts.secret",
                ACCOUNTS,
                "to allow it, add \"secret\" to `columns` of [[read]] table = \"accounts\"",
            ),
        ),
        (
            "SELECT id FROM Payroll WHERE salary > 5",
            told(
                "read of payroll",
                "contract \"test\" grants nothing of payroll",
                "to allow it, add [[read]] table = \"payroll\" columns = [\"*\"]",
            ),
        ),
        (
            "DELETE FROM refunds",
            told("delete of refunds", REFUNDS, "to allow it, add [[write]] table = \"refunds\" verbs = [\"delete\"]"),
        ),
        (
            "UPDATE refunds SET reason = 'x' WHERE amount > 0",
            told(
                "update of refunds.reason",
                REFUNDS,
                "to allow it, add \"reason\" to `columns` of [[write]] table = \"refunds\" verbs = [\"update\"]",
            ),
        ),
        (
            "UPDATE refunds SET amount = 200",
            told(
                "update of refunds",
                REFUNDS,
                "to reach more rows, widen `rows` of [[write]] table = \"refunds\" verbs = [\"update\"]",
            ),
        ),
        (
            "INSERT INTO payroll (id, salary) VALUES (7, 8)",
            told(
                "insert of payroll",
                "contract \"test\" grants nothing of payroll",
                "to allow it, add [[write]] table = \"payroll\" verbs = [\"insert\"] columns = [\"*\"]",
            ),
        ),
        ("SELECT RANDOM() AS r FROM accounts", "no contract allows it".to_owned()),
    ]
}

fn does(session: &mut impl Session, sql: &str) -> Result<(), String> {
    let ran = match sql.starts_with("SELECT") {
        true => session.query(sql, &[]).map(drop),
        false => session.change(sql, &[]).map(drop),
    };
    ran.map_err(|failure| failure.to_string())
}

#[test]
fn every_denial_names_what_is_granted_and_the_line_that_would_allow_it() {
    for (sql, told) in tries() {
        let mut session = clerk();
        let read = does(&mut session, sql).unwrap_err();
        let denials = session.denials();
        assert!(denials.first().is_some_and(|denial| denial.ends_with(&told)), "{sql}: {denials:?}");
        for said in ["was tried", "grants read", "to allow", "to reach", "[["] {
            assert!(!read.contains(said), "{sql}: the holder reads {read}");
        }
        // The twin: what is granted is done, and nothing is told.
        let mut session = all();
        if !sql.contains("RANDOM") {
            does(&mut session, sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
            assert!(session.denials().is_empty(), "{sql}");
        }
    }
}

#[test]
fn the_line_allows_it() {
    let wider = CLERK.replace("[\"id\", \"name\", \"region\"]", "[\"id\", \"name\", \"region\", \"secret\"]")
        + "[[write]]\ntable = \"refunds\"\nverbs = [\"delete\"]\n[[read]]\ntable = \"payroll\"\ncolumns = [\"*\"]\n";
    let mut session = open(snapshot().fork(), &wider);
    for sql in ["SELECT secret FROM accounts", "SELECT id FROM Payroll WHERE salary > 5", "DELETE FROM refunds"] {
        does(&mut session, sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
    }
    assert!(session.denials().is_empty());
}

#[test]
fn a_name_that_is_nowhere_is_no_denial() {
    let mut session = clerk();
    for sql in ["SELECT nothing FROM accounts", "SELECT 'secret' AS s FROM nothing", "DELETE FROM nothing"] {
        does(&mut session, sql).unwrap_err();
    }
    assert_eq!((session.denials().len(), session.violations()), (0, 0));
    does(&mut session, "SELECT id FROM accounts ORDER BY secret").unwrap_err();
    assert_eq!((session.denials().len(), session.violations()), (1, 1));
}

/// A guest that does nothing but ask for what it may not have fills no trace.
#[test]
fn denials_are_told_once_and_few() {
    let mut session = clerk();
    for _ in 0..3 {
        does(&mut session, "SELECT secret FROM accounts").unwrap_err();
    }
    assert_eq!((session.denials().len(), session.violations()), (1, 3));
    let further = [
        "SELECT id FROM payroll",
        "INSERT INTO payroll (id) VALUES (7)",
        "UPDATE payroll SET salary = 1",
        "DELETE FROM payroll",
        "UPDATE refunds SET reason = 'x'",
        "UPDATE refunds SET invoice_id = 1",
        "DELETE FROM refunds",
        "DELETE FROM accounts",
        "UPDATE accounts SET name = 'x'",
        "INSERT INTO accounts (id) VALUES (7)",
    ];
    further.iter().for_each(|sql| drop(does(&mut session, sql).unwrap_err()));
    assert_eq!((session.denials().len(), session.violations()), (8, 13));
}
