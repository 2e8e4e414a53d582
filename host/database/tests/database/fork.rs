//! Forks share what they do not change, and see nothing of each other.

use tribunal_database::DatabaseError;
use tribunal_protocol::session::Session;

use super::fixture::{ALL, all, open, rows, snapshot};

#[test]
fn a_fork_sees_no_other_forks_writes() {
    let snapshot = snapshot();
    let mut one = open(snapshot.fork(), ALL);
    let mut two = open(snapshot.fork(), ALL);
    one.change("UPDATE accounts SET name = 'Eve' WHERE id = 1", &[]).unwrap();
    two.change("DELETE FROM refunds WHERE id = 1", &[]).unwrap();
    let name = "SELECT name FROM accounts WHERE id = 1";
    let refunds = "SELECT COUNT(*) AS n FROM refunds";
    assert_eq!(rows(&mut one, name), ["Eve"]);
    assert_eq!(rows(&mut two, name), ["Ann"]);
    assert_eq!(rows(&mut one, refunds), ["1"]);
    assert_eq!(rows(&mut two, refunds), ["0"]);
    let mut fresh = open(snapshot.fork(), ALL);
    assert_eq!(rows(&mut fresh, name), ["Ann"]);
    assert_eq!(rows(&mut fresh, refunds), ["1"]);
}

#[test]
fn a_fork_of_a_fork_goes_its_own_way() {
    let mut session = all();
    session.change("INSERT INTO refunds VALUES (2, 3, 1.00, 'late')", &[]).unwrap();
    let state = session.into_state();
    let mut left = open(state.clone(), ALL);
    left.change("DELETE FROM refunds WHERE id = 2", &[]).unwrap();
    let mut right = open(state.clone(), ALL);
    right.change("UPDATE refunds SET reason = 'early' WHERE id = 2", &[]).unwrap();
    let ids = "SELECT id, reason FROM refunds ORDER BY id";
    assert_eq!(rows(&mut left, ids), ["1,NULL"]);
    assert_eq!(rows(&mut right, ids), ["1,NULL", "2,early"]);
    assert_eq!(rows(&mut open(state, ALL), ids), ["1,NULL", "2,late"]);
}

#[test]
fn overlay_and_base_merge_in_order() {
    let mut session = all();
    for sql in [
        "DELETE FROM invoices WHERE id = 4",
        "UPDATE invoices SET note = 'changed' WHERE id = 2",
        "INSERT INTO invoices VALUES (10, 1, 1, FALSE, 'new', '2022-01-01')",
        "INSERT INTO invoices VALUES (9, 1, 1, FALSE, 'newer', '2022-01-01')",
        "DELETE FROM invoices WHERE id = 10",
    ] {
        assert_eq!(session.change(sql, &[]).unwrap(), 1, "{sql}");
    }
    let expected = ["1,note 1", "2,changed", "3,NULL", "5,note 5", "6,note 6", "9,newer"];
    assert_eq!(rows(&mut session, "SELECT id, note FROM invoices"), expected);
}

#[test]
fn changes_are_listed_in_both_directions() {
    let snapshot = snapshot();
    let first = snapshot.fork();
    let mut session = open(first.clone(), ALL);
    for sql in [
        "INSERT INTO refunds VALUES (7, 3, 2.50, NULL)",
        "UPDATE accounts SET region = 'west' WHERE id = 4",
        "DELETE FROM refunds WHERE id = 1",
        // There and back: nothing to list.
        "UPDATE invoices SET note = 'x' WHERE id = 1",
        "UPDATE invoices SET note = 'note 1' WHERE id = 1",
        // Gone and come again as it was: nothing to list.
        "DELETE FROM payroll WHERE id = 1",
        "INSERT INTO payroll VALUES (1, 99)",
    ] {
        session.change(sql, &[]).unwrap();
    }
    let last = session.into_state();
    let listed = |changes: Vec<tribunal_protocol::session::TableChanges>| {
        let line = |table: &tribunal_protocol::Table| format!("{:?}", table.to_rows());
        let one = |c: &tribunal_protocol::session::TableChanges| (c.name.clone(), line(&c.removed), line(&c.added));
        changes.iter().map(one).collect::<Vec<_>>()
    };
    let forward = listed(last.changes_since(&first).unwrap());
    let names: Vec<&str> = forward.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["accounts", "refunds"]);
    assert!(forward[0].1.contains("Null") && forward[0].2.contains("west"));
    assert!(forward[1].1.contains("Integer(1)") && forward[1].2.contains("Integer(7)"));
    let backward = listed(first.changes_since(&last).unwrap());
    assert_eq!(backward[0].1, forward[0].2);
    assert_eq!(backward[1].2, forward[1].1);
    assert!(!last.is_unchanged_since(&first));
    assert!(snapshot.fork().is_unchanged_since(&first));
}

#[test]
fn unrelated_states_are_not_compared() {
    let (one, other) = (snapshot().fork(), snapshot().fork());
    assert_eq!(one.changes_since(&other).unwrap_err(), DatabaseError::Unrelated);
}
