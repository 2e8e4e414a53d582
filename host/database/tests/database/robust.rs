//! What makes the engine panic or abort is refused or caught, and the session goes on.

use tribunal_protocol::session::Session;

use super::fixture::{all, refused, rows, unchanged};

/// Everything that GlueSQL 0.20 was seen to panic, abort or hang on.
const DEADLY: [&str; 24] = [
    "SELECT FORMAT(DATE '2020-01-01', '%H') AS x",
    "SELECT FORMAT(DATE '2020-01-01', '%Q') AS x",
    "SELECT FORMAT(DATE '2020-01-01', '%') AS x",
    "SELECT LPAD('é', 1) AS x",
    "SELECT RPAD('a', 2, 'é') AS x",
    "SELECT LTRIM('éa', 'é') AS x",
    "SELECT TRIM('é' FROM 'éaé') AS x",
    "SELECT FIND_IDX('éa', 'a', 2) AS x",
    "SELECT FIND_IDX('a', '', 3) AS x",
    "SELECT LPAD('a', 5, '') AS x",
    "SELECT REPEAT('a', -1) AS x",
    "SELECT REPEAT('a', 400000000) AS x",
    "SELECT LPAD('a', 4294967296) AS x",
    "SELECT RPAD('a', 4294967296) AS x",
    "SELECT REPEAT(name, id * 4000000000) AS x FROM accounts",
    "SELECT LPAD(name, id * 4000000000) AS x FROM accounts",
    "SELECT id FROM accounts WHERE FORMAT(CAST('2020-01-01' AS DATE), '%H') = '1'",
    "SELECT * FROM SERIES(10000000000)",
    "SELECT 1e100000000 + 1 AS x",
    "SELECT SUBSTR(SUBSTR(SUBSTR(name, 100, 9223372036854775807), 1, 1), 1, 1) AS x FROM accounts",
    "SELECT CHR(-1) AS x",
    "SELECT ASCII('') AS x",
    "SELECT LEFT(name, -9223372036854775808) AS x FROM accounts",
    "SELECT -9223372036854775808 - id AS x FROM accounts",
];

#[test]
fn nothing_deadly_leaves_the_call() {
    let mut session = all();
    for sql in DEADLY {
        let _ = session.query(sql, &[]);
        assert_eq!(rows(&mut session, "SELECT name FROM accounts WHERE id = 2"), ["Bob"], "{sql}");
    }
    for sql in ["SELECT INTERVAL 9223372036854775807 DAY AS x", "SELECT INTERVAL '9223372036854775807' DAY AS x"] {
        let _ = session.query(sql, &[]);
    }
}

#[test]
fn a_panic_is_a_failure_in_our_words() {
    let _ = all().query("SELECT FORMAT(issued_on, '%H') AS x FROM invoices", &[]).map(|_| ());
    let refusal = refused(&mut all(), "SELECT FORMAT(issued_on, '%H') AS x FROM invoices");
    assert!(!refusal.contains("panic") && refusal.len() < 120, "{refusal}");
}

#[test]
fn text_beyond_ascii_is_right_or_refused() {
    // Account 3 is Cör: three characters, four bytes.
    let mut session = all();
    for (sql, right) in [
        ("SELECT SUBSTR(name, 2, 2) AS x FROM accounts WHERE id = 3", "ör"),
        ("SELECT LEFT(name, 2) AS x FROM accounts WHERE id = 3", "Cö"),
        ("SELECT RIGHT(name, 2) AS x FROM accounts WHERE id = 3", "ör"),
        ("SELECT LENGTH(name) AS x FROM accounts WHERE id = 3", "3"),
        ("SELECT UPPER(name) AS x FROM accounts WHERE id = 3", "CÖR"),
        ("SELECT REVERSE(name) AS x FROM accounts WHERE id = 3", "röC"),
        ("SELECT name AS x FROM accounts WHERE name LIKE 'C_r'", "Cör"),
    ] {
        match session.query(sql, &[]) {
            Ok(table) => assert_eq!(table.row(0)[0].to_string(), right, "{sql}"),
            Err(failure) => assert_eq!(failure.code.name(), "unsupported", "{sql}: {failure}"),
        }
    }
    let ascii = "SELECT SUBSTR(region, 2, 3) AS x FROM accounts WHERE id = 1";
    assert_eq!(rows(&mut session, ascii), ["ort"]);
}

#[test]
fn long_chains_and_deep_nests_are_run_or_refused() {
    let mut session = all();
    for count in [10, 100, 390, 5_000] {
        for (join, part) in [(" + ", "1"), (" OR ", "id = 1"), (" AND ", "id > 0"), (" || ", "'a'")] {
            let chain = vec![part; count].join(join);
            let sql = match join {
                " + " | " || " => format!("SELECT {chain} AS x FROM payroll"),
                _ => format!("SELECT id FROM payroll WHERE {chain}"),
            };
            let result = session.query(&sql, &[]);
            assert!(result.is_ok() || count > 300, "{count} of {join}: {result:?}");
        }
        let nest = format!("SELECT {}1{} AS x", "(".repeat(count), ")".repeat(count));
        let _ = session.query(&nest, &[]);
        let casts = format!("SELECT 1{} AS x", "::INTEGER".repeat(count));
        let _ = session.query(&casts, &[]);
        let list = format!("SELECT id FROM payroll WHERE id IN ({})", vec!["1"; count].join(", "));
        let _ = session.query(&list, &[]);
    }
    assert_eq!(rows(&mut session, "SELECT id FROM payroll"), ["1"]);
}

#[test]
fn what_runs_once_gives_what_it_gave_for_every_row() {
    // Account 4 has no region: its IN is unknown, and OR must still find it. By hand.
    let mut session = all();
    for (sql, right) in [
        (
            "SELECT id FROM accounts WHERE region IN (SELECT region FROM accounts WHERE id = 1) OR id = 4 ORDER BY id",
            vec!["1", "3", "4"],
        ),
        (
            "SELECT id FROM accounts WHERE region IN (SELECT region FROM accounts WHERE id = 1) ORDER BY id",
            vec!["1", "3"],
        ),
        (
            "SELECT id FROM accounts WHERE region NOT IN (SELECT region FROM accounts WHERE id = 1) ORDER BY id",
            vec!["2"],
        ),
        ("SELECT id FROM accounts WHERE region NOT IN (SELECT region FROM accounts)", vec![]),
        ("SELECT id FROM accounts WHERE id = (SELECT MAX(account_id) FROM invoices)", vec!["3"]),
        (
            "SELECT id FROM accounts AS a WHERE EXISTS (SELECT 1 FROM invoices AS i WHERE i.account_id = a.id AND i.id > 4) ORDER BY id",
            vec!["2", "3"],
        ),
        (
            "SELECT a.id, d.n FROM accounts AS a LEFT JOIN (SELECT account_id, COUNT(*) AS n FROM invoices WHERE id > 1 GROUP BY account_id) AS d ON d.account_id = a.id ORDER BY a.id",
            vec!["1,1", "2,2", "3,2", "4,NULL"],
        ),
        // A condition on the joined side of an outer join removes matches, never rows.
        (
            "SELECT a.id, r.id FROM accounts AS a LEFT JOIN refunds AS r ON r.id = a.id AND r.amount > 100 ORDER BY a.id",
            vec!["1,NULL", "2,NULL", "3,NULL", "4,NULL"],
        ),
        (
            "SELECT a.id FROM accounts AS a LEFT JOIN refunds AS r ON r.id = a.id WHERE r.id IS NULL ORDER BY a.id",
            vec!["2", "3", "4"],
        ),
    ] {
        assert_eq!(rows(&mut session, sql), right, "{sql}");
    }
}

#[test]
fn a_division_by_zero_gives_nothing() {
    let sql = "SELECT 1 / (id - 1) AS x FROM payroll";
    assert_eq!(rows(&mut all(), sql), ["NULL"]);
    let set = unchanged(&mut all(), "UPDATE payroll SET salary = 1 / (id - 1)");
    assert!(set.starts_with("invalid: "), "{set}");
}
