//! Changes: all or nothing, within the contract, and telling nothing of what it hides.

use tribunal_protocol::Value;
use tribunal_protocol::session::Session;

use super::fixture::{all, cents, clerk, open, rows, snapshot, text, unchanged};

#[test]
fn changes_do_what_they_say() {
    let mut session = all();
    let insert = "INSERT INTO refunds (id, invoice_id, amount, reason) VALUES ($1, $2, $3, $4)";
    let parameters = [Value::Integer(2), Value::Integer(3), cents(250), text("it's late")];
    assert_eq!(session.change(insert, &parameters).unwrap(), 1);
    let copied = "INSERT INTO refunds (id, invoice_id, amount) SELECT id + 10, id, total FROM invoices \
                  WHERE id > 4";
    assert_eq!(session.change(copied, &[]).unwrap(), 2);
    let update = "UPDATE refunds SET amount = amount + 1, reason = NULL WHERE id < 3";
    assert_eq!(session.change(update, &[]).unwrap(), 2);
    assert_eq!(session.change("DELETE FROM refunds WHERE id = 15", &[]).unwrap(), 1);
    assert_eq!(
        rows(&mut session, "SELECT id, invoice_id, amount, reason FROM refunds ORDER BY id"),
        ["1,1,6,NULL", "2,3,3.5,NULL", "16,6,63,NULL"]
    );
    assert_eq!(session.usage().rows_written, 6);
}

#[test]
fn a_change_that_fails_leaves_nothing_behind() {
    for (sql, part) in [
        ("INSERT INTO refunds VALUES (5, 1, 1, 'x'), (1, 1, 1, 'same id')", "already has a row with id = 1"),
        ("INSERT INTO refunds VALUES (5, 1, 1, 'x'), (5, 1, 1, 'x')", "already has a row with id = 5"),
        ("INSERT INTO refunds VALUES (5, 1, 1, 'x'), (6, 77, 1, 'x')", "invoices has no row with id = 77"),
        ("INSERT INTO refunds VALUES (5, 1, NULL, 'x')", "amount must not be NULL"),
        ("INSERT INTO refunds (id, invoice_id) VALUES (5, 1)", "amount must not be NULL"),
        ("UPDATE refunds SET id = NULL", "id must not be NULL"),
        ("UPDATE invoices SET id = 9 WHERE id > 4", "already has a row with id = 9"),
        ("UPDATE invoices SET id = 9 WHERE id = 1", "a row of refunds refers to invoices with id = 1"),
        ("DELETE FROM accounts", "a row of invoices refers to accounts"),
        ("UPDATE invoices SET account_id = 9", "accounts has no row with id = 9"),
        ("UPDATE invoices SET account_id = 2.5 WHERE id = 3", ""),
        ("INSERT INTO invoices SELECT id + 50, account_id, 10 / (id - 6), FALSE, NULL, issued_on FROM invoices", ""),
    ] {
        let first = snapshot().fork();
        let mut session = open(first.clone(), super::fixture::ALL);
        let failure = unchanged(&mut session, sql);
        assert!(failure.starts_with("invalid: ") && failure.contains(part), "{sql}: {failure}");
        assert_eq!(session.usage().rows_written, 0);
        assert!(session.into_state().is_unchanged_since(&first), "{sql}");
    }
}

#[test]
fn keys_may_be_exchanged_within_one_statement() {
    let mut session = all();
    let shift = "UPDATE payroll SET id = id + 1";
    session.change("INSERT INTO payroll VALUES (2, 5)", &[]).unwrap();
    assert_eq!(session.change(shift, &[]).unwrap(), 2);
    assert_eq!(rows(&mut session, "SELECT id FROM payroll ORDER BY id"), ["2", "3"]);
}

#[test]
fn verbs_columns_and_rows_are_walls() {
    for (sql, code) in [
        ("DELETE FROM refunds WHERE id = 1", "denied"),
        ("UPDATE refunds SET reason = 'x'", "denied"),
        ("INSERT INTO accounts (id, name, region) VALUES (9, 'x', 'y')", "denied"),
        ("UPDATE accounts SET name = 'x'", "denied"),
        ("UPDATE accounts SET secret = 'x'", "unknown"),
        ("INSERT INTO refunds (id, invoice_id, amount) VALUES (2, 1, 100.01)", "denied"),
        ("UPDATE refunds SET amount = 101", "denied"),
        ("UPDATE invoices SET total = 1 WHERE issued_on > '2000-01-01'", "denied"),
        ("UPDATE invoices SET total = 1 WHERE voided = TRUE", "denied"),
        ("UPDATE refunds SET nothing = 1", "unknown"),
    ] {
        let mut session = clerk();
        let failure = unchanged(&mut session, sql);
        assert!(failure.starts_with(code), "{sql}: {failure}");
        assert!(session.into_state().is_unchanged_since(&snapshot().fork()), "{sql}");
    }
    let mut session = clerk();
    for sql in [
        "INSERT INTO refunds (id, invoice_id, amount) VALUES (2, 1, 100)",
        "UPDATE refunds SET amount = 99.99 WHERE id = 1",
        "UPDATE invoices SET voided = TRUE WHERE id = 6",
    ] {
        assert_eq!(session.change(sql, &[]).unwrap(), 1, "{sql}");
    }
    assert_eq!(rows(&mut session, "SELECT COUNT(*) AS n FROM invoices"), ["3"]);
}

#[test]
fn hidden_rows_cannot_be_touched() {
    let mut session = clerk();
    assert_eq!(session.change("UPDATE invoices SET total = 1", &[]).unwrap(), 4);
    assert_eq!(session.change("UPDATE invoices SET total = 2 WHERE id = 2", &[]).unwrap(), 0);
    let mut seen = open(session.into_state(), super::fixture::ALL);
    let totals = rows(&mut seen, "SELECT id, total FROM invoices ORDER BY id");
    assert_eq!(totals, ["1,1", "2,21", "3,1", "4,1", "5,52.5", "6,1"]);
}

#[test]
fn a_hidden_column_decides_no_change() {
    let clerk = "[[read]]\ntable = \"accounts\"\ncolumns = [\"id\", \"name\", \"region\"]\n\
                 [[write]]\ntable = \"accounts\"\nverbs = [\"update\"]\ncolumns = [\"region\"]\n\
                 [[write]]\ntable = \"accounts\"\nverbs = [\"delete\"]\n";
    for place in [
        "UPDATE accounts SET region = 'x' WHERE {} = 'secret1'",
        "UPDATE accounts SET region = {} WHERE id = 1",
        "UPDATE accounts SET region = (SELECT MAX({}) FROM accounts)",
        "DELETE FROM accounts WHERE {} = 'secret4'",
    ] {
        let first = snapshot().fork();
        let refused = |column: &str| {
            let mut session = open(first.clone(), clerk);
            let failure = unchanged(&mut session, &place.replace("{}", column));
            assert!(session.into_state().is_unchanged_since(&first), "{place}");
            failure
        };
        let (hidden, absent) = (refused("secret"), refused("nothing"));
        assert!(hidden.starts_with("unknown: "), "{place}: {hidden}");
        assert_eq!(hidden.replace("secret", "nothing"), absent, "{place}");
        // The twins: a column that is granted, and a contract that grants this one.
        open(first.clone(), clerk).change(&place.replace("{}", "name"), &[]).unwrap();
        open(first.clone(), super::fixture::ALL).change(&place.replace("{}", "secret"), &[]).unwrap();
    }
}

#[test]
fn a_hidden_row_is_no_conflict_and_no_target() {
    // Invoice 2 is hidden: its number is as free as 77 is, and as little there to refer to.
    let insert = "INSERT INTO invoices (id, account_id, total, voided, issued_on) \
                  VALUES ({}, 1, 1, FALSE, '2024-01-01')";
    for free in ["2", "77"] {
        assert_eq!(clerk().change(&insert.replace("{}", free), &[]).unwrap(), 1);
    }
    let taken = unchanged(&mut clerk(), &insert.replace("{}", "3"));
    assert_eq!(taken, "invalid: invoices already has a row with id = 3");
    let refund = "INSERT INTO refunds (id, invoice_id, amount) VALUES (2, {}, 1)";
    let hidden = unchanged(&mut clerk(), &refund.replace("{}", "2"));
    let absent = unchanged(&mut clerk(), &refund.replace("{}", "77"));
    assert_eq!(hidden.replace("= 2", "= 77"), absent);
    assert_eq!(clerk().change(&refund.replace("{}", "3"), &[]).unwrap(), 1);
}

#[test]
fn a_left_out_number_is_the_next_one_that_can_be_seen() {
    let toml = r#"
        [[write]]
        table = "refunds"
        verbs = ["insert"]
        columns = ["invoice_id", "amount"]
    "#;
    let insert = "INSERT INTO refunds (invoice_id, amount) VALUES (1, 1), (3, 2)";
    let mut session = open(snapshot().fork(), toml);
    assert_eq!(session.change(insert, &[]).unwrap(), 2);
    let mut seen = open(session.into_state(), super::fixture::ALL);
    assert_eq!(rows(&mut seen, "SELECT id FROM refunds ORDER BY id"), ["1", "2", "3"]);
    // 6 is the largest invoice that the clerk sees, and hiding another makes no difference.
    let insert = "INSERT INTO invoices (account_id, total, voided, issued_on) \
                  VALUES (1, 1, FALSE, '2024-01-01')";
    let mut session = clerk();
    session.change(insert, &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT MAX(id) AS m FROM invoices"), ["7"]);
}

#[test]
fn a_number_is_not_given_twice() {
    let mut session = all();
    let insert = "INSERT INTO refunds (invoice_id, amount) VALUES (1, 1)";
    session.change("INSERT INTO refunds (id, invoice_id, amount) VALUES (40, 1, 1)", &[]).unwrap();
    session.change(insert, &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT MAX(id) AS m FROM refunds"), ["41"], "one more than in the fork");
    session.change("DELETE FROM refunds", &[]).unwrap();
    session.change(insert, &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT id FROM refunds"), ["2"], "1 was in the base");
}

#[test]
fn nothing_is_rounded_or_cut_on_the_way_in() {
    for sql in [
        "UPDATE payroll SET salary = 1.5",
        "UPDATE payroll SET salary = 'many'",
        "UPDATE invoices SET voided = 3",
        "UPDATE invoices SET issued_on = 'yesterday'",
        "INSERT INTO payroll (id, salary) SELECT id + 1, 2.5 FROM payroll",
    ] {
        let failure = unchanged(&mut all(), sql);
        assert!(failure.starts_with("invalid: "), "{sql}: {failure}");
    }
    let mut session = all();
    session.change("UPDATE payroll SET salary = 3.0", &[]).unwrap();
    session.change("UPDATE invoices SET issued_on = '2024-02-29', total = 7 WHERE id = 1", &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT salary FROM payroll"), ["3"]);
    let invoice = "SELECT issued_on, total FROM invoices WHERE id = 1";
    assert_eq!(rows(&mut session, invoice), ["2024-02-29,7"]);
}
