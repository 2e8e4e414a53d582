//! What a contract does not grant is not there: every way to it, beside its permitted twin.

use tribunal_protocol::session::{Session, Verb};

use tribunal_protocol::Value;
use tribunal_protocol::schema::Dataset;

use super::fixture::{CLERK, Meant, all, clerk, dataset, meant, open, refused, rows, seal, snapshot, unchanged};

#[test]
fn the_listing_shows_what_is_granted() {
    let tables = clerk().tables();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["accounts", "invoices", "refunds"]);
    let columns: Vec<&str> = tables[0].columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(columns, ["id", "name", "region"]);
    assert_eq!(tables[2].verbs, [Verb::Read, Verb::Insert, Verb::Update]);
}

#[test]
fn a_star_is_what_is_granted() {
    let table = clerk().query("SELECT * FROM accounts WHERE id = 1", &[]).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["id", "name", "region"]);
    assert_eq!(all().query("SELECT * FROM accounts", &[]).unwrap().columns.len(), 4);
    assert_eq!(rows(&mut clerk(), "SELECT COUNT(*) AS n FROM invoices"), ["4"]);
    assert_eq!(rows(&mut all(), "SELECT COUNT(*) AS n FROM invoices"), ["6"]);
}

/// Every place of a statement in which a column can stand.
const COLUMN_PLACES: [&str; 14] = [
    "SELECT {} FROM accounts",
    "SELECT a.{} FROM accounts AS a",
    "SELECT id FROM accounts WHERE {} = 'secret1'",
    "SELECT id FROM accounts ORDER BY {}",
    "SELECT COUNT(*) AS n FROM accounts GROUP BY {}",
    "SELECT MAX({}) AS m FROM accounts",
    "SELECT region FROM accounts GROUP BY region HAVING MIN({}) = 'secret1'",
    "SELECT CASE WHEN {} = 'secret1' THEN 1 ELSE 0 END AS c FROM accounts",
    "SELECT q.x FROM (SELECT {} AS x FROM accounts) AS q",
    "SELECT i.id FROM invoices AS i JOIN accounts AS a ON a.{} = i.note",
    "SELECT id FROM invoices WHERE note IN (SELECT {} FROM accounts)",
    "SELECT id FROM invoices WHERE EXISTS (SELECT 1 FROM accounts WHERE {} = 'secret1')",
    "SELECT (SELECT {} FROM accounts WHERE id = 1) AS s FROM refunds",
    "SELECT UPPER({}) AS u FROM accounts",
];

#[test]
fn a_hidden_column_is_as_unknown_as_an_absent_one() {
    for place in COLUMN_PLACES {
        let hidden = refused(&mut clerk(), &place.replace("{}", "secret"));
        let absent = refused(&mut clerk(), &place.replace("{}", "nothing"));
        assert_eq!(hidden.replace("secret", "nothing"), absent, "{place}");
        assert!(hidden.starts_with("unknown: "), "{place}: {hidden}");
        let permitted = place.replace("{}", "name");
        clerk().query(&permitted, &[]).unwrap_or_else(|f| panic!("{permitted}: {f}"));
        all().query(&place.replace("{}", "secret"), &[]).unwrap_or_else(|f| panic!("{place}: {f}"));
    }
}

/// Every place of a query in which a table can stand.
const TABLE_PLACES: [&str; 7] = [
    "SELECT id FROM {}",
    "SELECT t.* FROM {} AS t",
    "SELECT a.id FROM accounts AS a JOIN {} AS t ON t.id = a.id",
    "SELECT a.id FROM accounts AS a LEFT JOIN {} AS t ON t.id = a.id",
    "SELECT q.id FROM (SELECT id FROM {}) AS q",
    "SELECT id FROM accounts WHERE id IN (SELECT id FROM {})",
    "SELECT (SELECT MAX(id) FROM {}) AS m FROM accounts",
];

#[test]
fn a_hidden_table_is_as_unknown_as_an_absent_one() {
    for place in TABLE_PLACES {
        let hidden = refused(&mut clerk(), &place.replace("{}", "payroll"));
        let absent = refused(&mut clerk(), &place.replace("{}", "nothing"));
        assert_eq!(hidden.replace("payroll", "nothing"), absent, "{place}");
        assert!(hidden.starts_with("unknown: no table payroll"), "{place}: {hidden}");
        clerk().query(&place.replace("{}", "refunds"), &[]).unwrap();
        all().query(&place.replace("{}", "payroll"), &[]).unwrap();
    }
    for sql in [
        "INSERT INTO {} (id) VALUES (9)",
        "UPDATE {} SET id = 2",
        "DELETE FROM {}",
        "INSERT INTO refunds (id, invoice_id, amount) SELECT 9, 1, id FROM {}",
        "UPDATE refunds SET amount = (SELECT MAX(id) FROM {})",
    ] {
        let hidden = unchanged(&mut clerk(), &sql.replace("{}", "payroll"));
        let absent = unchanged(&mut clerk(), &sql.replace("{}", "nothing"));
        assert_eq!(hidden.replace("payroll", "nothing"), absent, "{sql}");
        assert!(hidden.starts_with("unknown: no table payroll"), "{sql}: {hidden}");
    }
}

#[test]
fn hidden_rows_reach_no_result() {
    // Invoices 2 and 5 are voided; 1, 3, 4 and 6 are left: 14 times 10.50.
    let sum = "SELECT SUM(total) AS s, MAX(id) AS m, COUNT(DISTINCT account_id) AS d FROM invoices";
    assert_eq!(rows(&mut clerk(), sum), ["147,6,2"]);
    assert_eq!(rows(&mut all(), sum), ["220.5,6,3"]);
    let join = "SELECT a.id, i.id FROM accounts AS a LEFT JOIN invoices AS i ON i.account_id = a.id \
                ORDER BY a.id, i.id";
    assert_eq!(rows(&mut clerk(), join), ["1,1", "1,4", "2,NULL", "3,3", "3,6", "4,NULL"]);
    let first = "SELECT id FROM invoices ORDER BY id DESC LIMIT 2 OFFSET 1";
    assert_eq!(rows(&mut clerk(), first), ["4", "3"]);
    assert_eq!(rows(&mut all(), first), ["5", "4"]);
    let exists = "SELECT id FROM accounts WHERE EXISTS (SELECT 1 FROM invoices WHERE id = 5)";
    assert!(rows(&mut clerk(), exists).is_empty());
    assert_eq!(rows(&mut all(), exists).len(), 4);
}

#[test]
fn hidden_data_changes_no_count_that_is_shown() {
    let mut without = dataset();
    without.tables[1].rows.retain(|row| row[3] == Value::Boolean(false));
    without.tables[3].rows.clear();
    for (sql, counted) in [
        ("SELECT COUNT(*) AS n FROM invoices", 4),
        ("SELECT COUNT(*) AS n FROM accounts", 4),
        ("SELECT i.id FROM invoices AS i JOIN accounts AS a ON a.id = i.account_id", 8),
    ] {
        let scanned = |dataset: &Dataset| {
            let mut session = open(seal(dataset).unwrap().fork(), CLERK);
            session.query(sql, &[]).unwrap();
            session.usage().rows_scanned
        };
        assert_eq!(scanned(&dataset()), scanned(&without), "{sql}");
        if !meant(Meant::ScannedInSteps) {
            assert_eq!(scanned(&dataset()), counted, "{sql}");
        }
    }
}

#[test]
fn a_rename_by_position_reaches_granted_columns_alone() {
    let sql = "SELECT q.x FROM accounts AS q(i, n, x) WHERE q.i = 1";
    match clerk().query(sql, &[]) {
        Ok(table) => assert_eq!(table.row(0), [super::fixture::text("north")]),
        Err(failure) => assert_eq!(failure.code.name(), "unsupported"),
    }
    let past = refused(&mut clerk(), "SELECT q.x FROM accounts AS q(i, n, r, x)");
    assert!(!past.contains("secret"), "{past}");
}

#[test]
fn catalogues_and_schema_changes_are_not_there() {
    for sql in [
        "SELECT * FROM GLUE_TABLES",
        "SELECT * FROM glue_table_columns",
        "SELECT * FROM GLUE_INDEXES",
        "SELECT * FROM GLUE_OBJECTS",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM sqlite_temp_master",
        "SELECT * FROM pragma_database_list",
    ] {
        let refusal = refused(&mut clerk(), sql);
        assert!(refusal.starts_with("unknown: no table "), "{sql}: {refusal}");
    }
    for sql in [
        "SHOW TABLES",
        "SHOW COLUMNS FROM accounts",
        "SHOW VERSION",
        "CREATE TABLE x (id INTEGER)",
        "DROP TABLE refunds",
        "ALTER TABLE refunds ADD COLUMN x INTEGER",
        "CREATE INDEX i ON refunds (id)",
        "CREATE FUNCTION f() RETURN 1",
        "BEGIN",
        "COMMIT",
        "INSERT INTO refunds (id, invoice_id, amount) VALUES (2, 1, 1)",
        "SELECT 1 AS a; SELECT 2 AS b",
    ] {
        refused(&mut clerk(), sql);
    }
    let mut session = clerk();
    for sql in ["DROP TABLE refunds", "SELECT id FROM refunds", "CREATE TABLE x (id INTEGER)"] {
        unchanged(&mut session, sql);
    }
    assert!(session.into_state().is_unchanged_since(&snapshot().fork()));
}

#[test]
fn clock_and_chance_are_refused() {
    for sql in [
        "SELECT RAND() AS r",
        "SELECT GENERATE_UUID() AS u",
        "SELECT CURRENT_TIME AS t",
        "SELECT RANDOM() AS r",
        "SELECT RANDOMBLOB(4) AS r",
        "SELECT CAST(LOWER('NOW') AS DATE) AS d FROM accounts",
        "SELECT LOAD_EXTENSION('x') AS x",
        "SELECT SQLITE_VERSION() AS x",
    ] {
        refused(&mut clerk(), sql);
    }
}

/// Where the key is hidden the sealed rows come by what can be seen of them, and then what was
/// inserted, in that order; on both engines, in reading and in what a change meets first.
#[test]
fn the_order_of_rows_tells_nothing_of_a_hidden_key() {
    let names = "[[read]]\ntable = \"accounts\"\ncolumns = [\"name\"]\n\
                 [[write]]\ntable = \"accounts\"\nverbs = [\"insert\"]\ncolumns = [\"*\"]\n\
                 [[write]]\ntable = \"accounts\"\nverbs = [\"update\"]\ncolumns = [\"name\"]\n";
    let mut turned = dataset();
    let count = turned.tables[0].rows.len();
    for (place, row) in turned.tables[0].rows.iter_mut().enumerate() {
        row[0] = Value::Integer(i64::try_from(count - place).unwrap());
    }
    for data in [dataset(), turned] {
        let mut session = open(seal(&data).unwrap().fork(), names);
        let all = "SELECT name FROM accounts";
        assert_eq!(rows(&mut session, all), ["Ann", "Bob", "Cör", "Dee"]);
        for (id, name) in [(9, "Zoe"), (8, "Abe")] {
            let insert = format!("INSERT INTO accounts (id, name, secret) VALUES ({id}, '{name}', 'x')");
            session.change(&insert, &[]).unwrap();
        }
        assert_eq!(rows(&mut session, all), ["Ann", "Bob", "Cör", "Dee", "Zoe", "Abe"]);
        session.change("UPDATE accounts SET name = 'Eve' WHERE name = 'Ann'", &[]).unwrap();
        assert_eq!(rows(&mut session, all), ["Bob", "Cör", "Dee", "Eve", "Zoe", "Abe"]);
    }
    // The twin: a key that can be seen orders.
    let mut session = open(seal(&dataset()).unwrap().fork(), super::fixture::ALL);
    session.change("UPDATE accounts SET name = 'Zoe' WHERE id = 1", &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT name FROM accounts"), ["Zoe", "Bob", "Cör", "Dee"]);
}

/// How long a text may be decides what may be done with it; that of a hidden one must not.
#[test]
fn a_long_hidden_text_changes_nothing() {
    let doubled = "SELECT MAX(name) || MAX(name) AS m FROM accounts";
    let with = |place: usize| {
        let mut data = dataset();
        data.tables[0].rows[0][place] = Value::Text("x".repeat(5_000));
        let mut session = open(seal(&data).unwrap().fork(), CLERK);
        session.query(doubled, &[]).map(|table| table.to_rows()).map_err(|failure| failure.to_string())
    };
    let plain = clerk().query(doubled, &[]).map(|table| table.to_rows()).map_err(|failure| failure.to_string());
    assert!(plain.is_ok(), "{plain:?}");
    assert_eq!(with(3), plain, "the secret is hidden");
    // The twin: the name is not.
    assert_ne!(with(1), plain);
}

#[test]
fn what_the_contract_stops_is_counted_and_nothing_else() {
    let mut session = clerk();
    session.query("SELECT id FROM accounts", &[]).unwrap();
    refused(&mut session, "SELECT nothing FROM accounts");
    refused(&mut session, "SELECT id FROM nothing");
    refused(&mut session, "SELECT id FRO accounts");
    assert_eq!(session.violations(), 0);
    refused(&mut session, "SELECT secret FROM accounts");
    refused(&mut session, "SELECT id FROM Payroll");
    unchanged(&mut session, "DELETE FROM refunds");
    assert_eq!(session.violations(), 3);
}

#[test]
fn a_sessions_changes_are_listed_within_its_contract() {
    let first = snapshot().fork();
    let mut session = all_on(&first);
    for sql in [
        "UPDATE accounts SET secret = 'other' WHERE id = 1",
        "UPDATE accounts SET region = 'east', secret = 'other' WHERE id = 2",
        "UPDATE invoices SET note = 'hidden' WHERE id = 2",
        "UPDATE invoices SET voided = TRUE WHERE id = 6",
        "DELETE FROM payroll",
    ] {
        session.change(sql, &[]).unwrap();
    }
    let last = session.into_state();
    let contract = super::fixture::contract(CLERK);
    let changes = tribunal_database::changes(&first, &last, &contract);
    let shown: Vec<String> =
        changes.iter().map(|c| format!("{} -{:?} +{:?}", c.name, c.removed.rows, c.added.rows)).collect();
    assert_eq!(shown, ["accounts -1 +1", "invoices -1 +0"]);
    assert_eq!(changes[0].added.columns.len(), 3);
    assert_eq!(last.changes_since(&first).unwrap().len(), 3);
}

/// A session that may do all, on a state.
fn all_on(state: &tribunal_database::State) -> tribunal_database::DatabaseSession {
    open(state.clone(), super::fixture::ALL)
}
