use serde_json::{Value as Json, json};
use tribunal_kit::testing::{NoDatabase, TestHost};
use tribunal_kit::{Abstention, Database as _, Scored, Table};

use super::*;
use crate::sqlite::{self, Sqlite};

const START: &str = "
    CREATE TABLE accounts (id INTEGER, status TEXT);
    CREATE TABLE refunds (id INTEGER, amount DECIMAL_TEXT, note TEXT);
    INSERT INTO accounts VALUES (1, 'open'), (2, 'open');
    INSERT INTO refunds VALUES (1, '5.00', NULL);
";

/// The changes that some SQL makes to [`START`]: the rows that only one of two real databases has.
fn changes(sql: &str) -> Vec<TableChanges> {
    let (first, last) = (sqlite::host(START), sqlite::host(&format!("{START}{sql}")));
    let rows = |host: &TestHost<Sqlite>, table: &str| {
        host.open("last").unwrap().query(&format!("SELECT * FROM {table}"), &[]).unwrap()
    };
    let only = |table: &Table, other: &Table| {
        let mut others: Vec<_> = (0..other.len()).map(|row| other.row(row)).collect();
        let table: tribunal_compare::Table = table.clone().into();
        let own: Vec<_> = (0..table.rows).collect();
        let kept: Vec<bool> = own
            .iter()
            .map(|row| {
                let row: Vec<_> = back(&table).row(*row);
                let place = others.iter().position(|other| *other == row);
                place.map(|place| others.swap_remove(place)).is_none()
            })
            .collect();
        back(&table.select(|row| kept[row]))
    };
    ["accounts", "refunds"]
        .map(|name| {
            let (before, after) = (rows(&first, name), rows(&last, name));
            TableChanges { name: name.into(), removed: only(&before, &after), added: only(&after, &before) }
        })
        .into()
}

/// A table of the comparator as one of the interface.
fn back(table: &tribunal_compare::Table) -> Table {
    use tribunal_compare::Cells as From;
    use tribunal_kit::{Cells, Column, Texts};
    let texts = |texts: &tribunal_compare::Texts| Texts { data: texts.data.clone(), ends: texts.ends.clone() };
    let columns = table.columns.iter().map(|column| Column {
        name: column.name.clone(),
        nulls: column.nulls.clone(),
        cells: match &column.cells {
            From::Integers(cells) => Cells::Integers(cells.clone()),
            From::Texts(cells) => Cells::Texts(texts(cells)),
            From::Decimals(cells) => Cells::Decimals(texts(cells)),
            _ => Cells::Unknown,
        },
    });
    Table::new(table.rows, columns.collect())
}

fn accounts(rows: Json) -> Json {
    json!({"columns": [{"name": "id", "kind": "integer"}, {"name": "status", "kind": "text"}], "rows": rows})
}

fn refunds(rows: Json) -> Json {
    json!({"columns": [{"name": "id", "kind": "integer"}, {"name": "amount", "kind": "decimal"}, {"name": "note", "kind": "text"}], "rows": rows})
}

/// Account 2 is closed, and a refund of 2.50 is recorded under any number.
fn expectation() -> Json {
    json!({"version": 1, "tables": [
        {"name": "accounts", "removed": accounts(json!([[2, "open"]])), "added": accounts(json!([[2, "closed"]]))},
        {"name": "refunds", "ignore": ["id"], "removed": refunds(json!([])), "added": refunds(json!([[2, "2.50", null]]))},
    ]})
}

fn verify(sql: &str, submission: Submission, expectation: &Json) -> Verdict {
    let evidence = Evidence {
        instruction: String::new(),
        submission,
        questions: Vec::new(),
        calls: Vec::new(),
        expectation: expectation.to_string(),
    };
    State::verify(&TestHost::new(NoDatabase).changes(changes(sql)), evidence)
}

fn done(sql: &str) -> Scored {
    match verify(sql, Submission::Done, &expectation()) {
        Verdict::Scored(scored) => scored,
        Verdict::Ungradable(why) => panic!("{why}"),
    }
}

const CLOSE: &str = "UPDATE accounts SET status = 'closed' WHERE id = 2;";
const REFUND: &str = "INSERT INTO refunds VALUES (2, '2.50', NULL);";

#[test]
fn the_golden_state_scores_one_however_it_was_reached() {
    for sql in [
        format!("{CLOSE}{REFUND}"),
        format!("{REFUND}DELETE FROM accounts WHERE id = 2; INSERT INTO accounts VALUES (2, 'closed');"),
        format!("{CLOSE}INSERT INTO refunds VALUES (77, '2.5', NULL);"),
        // The number of a refund may be anything, that of the old one too.
        format!("{CLOSE}{REFUND}UPDATE refunds SET id = 9 WHERE id = 1;"),
    ] {
        let scored = done(&sql);
        assert_eq!((scored.reward, scored.reason.as_str(), scored.difference), (1.0, "match", None), "{sql}");
    }
}

#[test]
fn each_fault_has_its_reason() {
    for (sql, reason, path, expected, found) in [
        (String::new(), "unchanged", None, "", ""),
        (CLOSE.into(), "state-mismatch", Some("table refunds"), "0 rows removed, 1 added", "no change"),
        (
            format!("{CLOSE}{REFUND}{REFUND}"),
            "state-mismatch",
            Some("table refunds, rows added"),
            "1 copy of 2.50, NULL",
            "2 copies of 2.50, NULL",
        ),
        (
            format!("{CLOSE}INSERT INTO refunds VALUES (2, '2.51', NULL);"),
            "state-mismatch",
            Some("table refunds, rows added"),
            "2.50",
            "2.51",
        ),
        (
            format!("{CLOSE}INSERT INTO refunds VALUES (2, '2.50', '');"),
            "state-mismatch",
            Some("table refunds, rows added"),
            "NULL",
            "",
        ),
        (
            format!("{CLOSE}{REFUND}DELETE FROM refunds WHERE id = 1;"),
            "state-mismatch",
            Some("table refunds, rows removed"),
            "0 rows",
            "1 rows",
        ),
        (
            format!("{REFUND}UPDATE accounts SET status = 'closed';"),
            "state-mismatch",
            Some("table accounts, rows added"),
            "1 row; no such row",
            "2 rows; 1, closed",
        ),
        (
            format!("{REFUND}UPDATE accounts SET status = 'closed' WHERE id = 1;"),
            "state-mismatch",
            Some("table accounts, rows added"),
            "2",
            "1",
        ),
    ] {
        let scored = done(&sql);
        assert_eq!((scored.reward, scored.reason.as_str()), (0.0, reason), "{sql}: {scored:?}");
        let shown = scored.difference.map(|d| (d.path, d.expected, d.found));
        assert_eq!(shown, path.map(|path| (path.into(), expected.into(), found.into())), "{sql}");
    }
}

#[test]
fn what_else_was_changed_is_collateral() {
    let only_refund = json!({"version": 1, "tables": [expectation()["tables"][1]]});
    for (sql, reason) in
        [(format!("{CLOSE}{REFUND}"), "collateral"), (REFUND.to_owned(), "match"), (CLOSE.to_owned(), "collateral")]
    {
        let Verdict::Scored(scored) = verify(&sql, Submission::Done, &only_refund) else { panic!("void") };
        assert_eq!(scored.reason, reason, "{sql}");
    }
}

#[test]
fn only_done_is_done() {
    let golden = format!("{CLOSE}{REFUND}");
    let abstention = Abstention { reason: String::new(), missing: String::new() };
    for submission in [Submission::Answer(Table::new(0, vec![])), Submission::Abstention(abstention)] {
        let Verdict::Scored(scored) = verify(&golden, submission, &expectation()) else { panic!("void") };
        assert_eq!((scored.reward, scored.reason.as_str()), (0.0, "not-done"));
    }
}

#[test]
fn an_expectation_that_doing_nothing_would_meet_judges_nobody() {
    let nothing = json!({"version": 1, "tables": [{"name": "accounts", "removed": accounts(json!([])), "added": accounts(json!([]))}]});
    for broken in [nothing, json!({"version": 1, "tables": []}), json!({"version": 2, "tables": []}), json!({})] {
        let verdict = verify("", Submission::Done, &broken);
        assert!(matches!(verdict, Verdict::Ungradable(_)), "{verdict:?}");
    }
}
