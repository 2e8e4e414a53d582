//! What SQLite alone runs, and what it must not do behind the same contract. Expected rows by hand.

use tribunal_database::Snapshot;
use tribunal_protocol::schema::{ColumnSchema, Dataset, Engine, TableData, TableSchema};
use tribunal_protocol::session::Session;
use tribunal_protocol::{Kind, Value};

use crate::sqlite::fixture::{ALL, all, clerk, dataset, open, refused, rows, unchanged};

#[test]
fn what_gluesql_lacks_runs_here() {
    for (sql, right) in [
        (
            "SELECT id, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY total DESC) AS n FROM invoices ORDER BY id",
            vec!["1,2", "2,2", "3,2", "4,1", "5,1", "6,1"],
        ),
        (
            "SELECT id, SUM(total) OVER (ORDER BY id) AS s FROM invoices ORDER BY id",
            vec!["1,10.5", "2,31.5", "3,63", "4,105", "5,157.5", "6,220.5"],
        ),
        (
            "SELECT id, RANK() OVER w AS r, SUM(id) OVER (w ROWS 1 PRECEDING) AS s FROM invoices \
             WINDOW w AS (PARTITION BY voided ORDER BY id) ORDER BY id",
            // Voided: 2, 5; the others: 1, 3, 4, 6.
            vec!["1,1,1", "2,1,2", "3,2,4", "4,3,7", "5,2,7", "6,4,10"],
        ),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i FROM n ORDER BY i",
            vec!["1", "2", "3", "4"],
        ),
        (
            "SELECT a.id AS a, r.id AS r FROM accounts AS a FULL JOIN refunds AS r ON r.id = a.id + 3 ORDER BY a, r",
            vec!["1,NULL", "2,NULL", "3,NULL", "4,NULL", "NULL,1"],
        ),
        (
            "SELECT LAG(issued_on) OVER (ORDER BY id) AS before FROM invoices ORDER BY id LIMIT 2",
            vec!["NULL", "2022-01-09"],
        ),
    ] {
        assert_eq!(rows(&mut all(), sql), right, "{sql}");
        let glue = crate::gluesql::fixture::refused(&mut crate::gluesql::fixture::all(), sql);
        assert!(glue.starts_with("unsupported: "), "{sql}: {glue}");
    }
}

#[test]
fn hidden_names_stay_hidden_where_sqlite_alone_reads() {
    for place in [
        "SELECT ROW_NUMBER() OVER (ORDER BY {}) AS n FROM accounts",
        "SELECT SUM(id) OVER (PARTITION BY {}) AS n FROM accounts",
        "SELECT a.{}, ROW_NUMBER() OVER () AS n FROM accounts AS a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n, accounts WHERE {} = 'x') SELECT i FROM n",
    ] {
        let hidden = refused(&mut clerk(), &place.replace("{}", "secret"));
        let absent = refused(&mut clerk(), &place.replace("{}", "nothing"));
        assert_eq!(hidden.replace("secret", "nothing"), absent, "{place}");
        assert!(hidden.starts_with("unknown: no column "), "{place}: {hidden}");
        clerk().query(&place.replace("{}", "name"), &[]).unwrap_or_else(|f| panic!("{place}: {f}"));
    }
    let table = "SELECT id, ROW_NUMBER() OVER () AS n FROM {}";
    let hidden = refused(&mut clerk(), &table.replace("{}", "payroll"));
    assert_eq!(hidden, "unknown: no table payroll");
    assert_eq!(refused(&mut clerk(), &table.replace("{}", "nothing")), "unknown: no table nothing");
    // Two of six invoices are hidden.
    assert_eq!(rows(&mut clerk(), "SELECT COUNT(*) OVER () AS n FROM invoices LIMIT 1"), ["4"]);
    assert_eq!(rows(&mut all(), "SELECT COUNT(*) OVER () AS n FROM invoices LIMIT 1"), ["6"]);
}

#[test]
fn a_query_after_with_opens_no_catalogue() {
    let own = "WITH sqlite_master AS (SELECT id FROM refunds) SELECT COUNT(*) AS n, ROW_NUMBER() OVER () AS r FROM sqlite_master";
    assert_eq!(rows(&mut clerk(), own), ["1,1"]);
    for sql in [
        "SELECT COUNT(*) AS n, ROW_NUMBER() OVER () AS r FROM sqlite_master",
        "SELECT (WITH sqlite_master AS (SELECT 1 AS id) SELECT COUNT(*) FROM sqlite_master) AS a, \
         ROW_NUMBER() OVER () AS r FROM sqlite_master",
        "SELECT name, ROW_NUMBER() OVER () AS r FROM pragma_table_list",
    ] {
        let refusal = refused(&mut clerk(), sql);
        assert!(refusal.starts_with("unknown: no table "), "{sql}: {refusal}");
    }
}

#[test]
fn the_number_of_a_row_is_no_column() {
    for name in ["rowid", "_rowid_", "oid", "ROWID"] {
        for sql in ["SELECT {} FROM invoices", "SELECT i.{}, ROW_NUMBER() OVER () AS n FROM invoices AS i"] {
            let refusal = refused(&mut clerk(), &sql.replace("{}", name));
            assert!(refusal.starts_with("unknown: no column "), "{name}: {refusal}");
        }
    }
}

#[test]
fn the_clock_of_the_machine_is_out_of_reach() {
    for moment in ["'n' || 'ow'", "LOWER('NOW')", "' now '"] {
        for sql in [
            "SELECT DATE({}) AS d, ROW_NUMBER() OVER () AS n FROM refunds",
            "SELECT STRFTIME('%Y', {}) AS d, ROW_NUMBER() OVER () AS n FROM refunds",
            "SELECT CAST({} AS DATE) AS d, ROW_NUMBER() OVER () AS n FROM refunds",
        ] {
            match all().query(&sql.replace("{}", moment), &[]) {
                // The clock of the snapshot: day 19,100.
                Ok(table) => assert!(table.row(0)[0].to_string().starts_with("2022"), "{sql} {moment}"),
                Err(failure) => assert_eq!(failure.code.name(), "invalid", "{sql} {moment}: {failure}"),
            }
        }
    }
    let today = "SELECT CURRENT_DATE AS d, ROW_NUMBER() OVER () AS n FROM refunds";
    assert_eq!(rows(&mut all(), today), ["2022-04-18,1"]);
    for sql in [
        "SELECT RANDOM() AS r, ROW_NUMBER() OVER () AS n FROM refunds",
        "SELECT CURRENT_TIME AS r, ROW_NUMBER() OVER () AS n FROM refunds",
        "SELECT CHANGES() AS r, ROW_NUMBER() OVER () AS n FROM refunds",
        "SELECT SQLITE_SOURCE_ID() AS r, ROW_NUMBER() OVER () AS n FROM refunds",
    ] {
        let refusal = refused(&mut all(), sql);
        let code = refusal.split(':').next().unwrap_or_default();
        assert!(["unknown", "unsupported", "denied"].contains(&code), "{sql}: {refusal}");
    }
}

fn one(kind: Kind, value: Value) -> Dataset {
    let schema = TableSchema::new("t", vec![ColumnSchema::new("x", kind, true)], &[]);
    Dataset { clock: 0, tables: vec![TableData { schema, rows: vec![vec![value]] }] }
}

#[test]
fn stored_values_come_back_as_they_are_or_are_refused_at_the_door() {
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let all = format!("[contract]\nname = \"t\"\n{ALL}");
    for (kind, value) in [
        (Kind::Decimal, decimal("0.00000000012345")),
        (Kind::Decimal, decimal("-1234567890123.45")),
        (Kind::Decimal, decimal("0.1")),
        (Kind::Integer, Value::Integer(i64::MIN)),
        (Kind::Float, Value::Float(1e300)),
        (Kind::Text, Value::Text("né'\"".to_owned())),
        (Kind::Boolean, Value::Boolean(true)),
        (Kind::Date, Value::Date(-1)),
        (Kind::Timestamp, Value::Timestamp(1_700_000_000_123_456)),
        (Kind::Date, Value::Null),
    ] {
        let snapshot = Snapshot::seal_on(&one(kind, value.clone()), Engine::Sqlite).unwrap();
        let contract = tribunal_contract::Contract::parse(&all).unwrap().resolve(snapshot.schemas()).unwrap();
        let mut session = tribunal_database::DatabaseSession::open(
            snapshot.fork(),
            contract.into(),
            tribunal_protocol::usage::Usage::default(),
        );
        let table = session.query("SELECT x FROM t", &[]).unwrap();
        assert_eq!((table.row(0), table.columns[0].kind()), (vec![value.clone()], kind), "{value}");
        // As a parameter it finds itself.
        if !value.is_null() {
            assert_eq!(
                session.query("SELECT x FROM t WHERE x = $1", std::slice::from_ref(&value)).unwrap().rows,
                1,
                "{value}"
            );
        }
    }
    for (kind, value) in [
        (Kind::Decimal, decimal("12345678901234.567")),
        (Kind::Float, Value::Float(f64::NAN)),
        (Kind::Text, Value::Text("a\0b".to_owned())),
    ] {
        assert!(Snapshot::seal(&one(kind, value.clone())).is_ok());
        let refusal = Snapshot::seal_on(&one(kind, value), Engine::Sqlite).unwrap_err().to_string();
        assert!(refusal.starts_with("table t: row 1, column x: "), "{refusal}");
    }
}

#[test]
fn a_decimal_that_would_be_another_is_refused() {
    let refusal = unchanged(&mut all(), "UPDATE invoices SET total = 12345678901234.567 WHERE id = 1");
    assert!(refusal.starts_with("unsupported: 12345678901234.567: "), "{refusal}");
    assert_eq!(all().change("UPDATE invoices SET total = 1234567890123.45 WHERE id = 1", &[]).unwrap(), 1);
}

#[test]
fn sums_of_money_are_exact() {
    // 0.1 + 0.2 and ten times 0.1 are not what they seem in doubles.
    let mut session = all();
    session.change("UPDATE invoices SET total = 0.1", &[]).unwrap();
    assert_eq!(rows(&mut session, "SELECT SUM(total) AS s, SUM(total * 3) AS t FROM invoices"), ["0.6,1.8"]);
    assert_eq!(rows(&mut session, "SELECT id FROM invoices WHERE total + 0.2 > 0.35"), Vec::<String>::new());
}

#[test]
fn forks_of_both_engines_are_of_their_engine() {
    assert_eq!(Snapshot::seal(&dataset()).unwrap().engine(), Engine::Gluesql);
    assert_eq!(Snapshot::seal_on(&dataset(), Engine::Sqlite).unwrap().engine(), Engine::Sqlite);
    assert!(tribunal_database::engine_name(Engine::Sqlite).starts_with("sqlite 3."));
    // A state that was written by another session is read as it was left.
    let mut first = all();
    first.change("DELETE FROM invoices WHERE id > 3", &[]).unwrap();
    let mut second = open(first.into_state(), ALL);
    assert_eq!(rows(&mut second, "SELECT MAX(id) AS m FROM invoices"), ["3"]);
}
