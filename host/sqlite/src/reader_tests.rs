//! The second wall alone: statements that never met the first.

use tribunal_protocol::schema::ColumnSchema;

use super::*;
use crate::Sealed;

const LEFT: Left = Left { rows_scanned: 10_000, rows: 100, bytes: 10_000, work: 1_000_000, memory: 256 << 20 };

fn reader() -> Reader {
    let columns = vec![ColumnSchema::new("id", Kind::Integer, false), ColumnSchema::new("name", Kind::Text, true)];
    let rows =
        (0..3).map(|id| (id * 7, vec![Value::Integer(i64::try_from(id).unwrap()), Value::Text(format!("n{id}"))]));
    let mut sealed = Sealed::new().unwrap();
    sealed.add(&TableSchema::new("t", columns, &[]), rows).unwrap();
    // The reader keeps the database alive by itself.
    sealed.reader().unwrap()
}

fn asked(sql: &str) -> Asked<'_> {
    Asked { sql, ctes: &[], kinds: &[] }
}

fn refusal(sql: &str) -> String {
    let mut reader = reader();
    let refusal = reader.query(asked(sql), &[], LEFT).result.unwrap_err().to_string();
    // It lives on, and nothing was changed.
    let rows = reader.query(asked("SELECT id, name FROM t"), &[], LEFT).result.unwrap().to_rows();
    assert_eq!(rows.len(), 3, "{sql}");
    refusal
}

#[test]
fn what_is_not_allowed_by_name_does_not_run() {
    for (sql, said) in [
        ("SELECT * FROM sqlite_master", "unknown: no table sqlite_master"),
        ("SELECT COUNT(*) FROM sqlite_schema", "unknown: no table sqlite_schema"),
        ("SELECT name FROM pragma_table_list", "unsupported: the statement does more than to read"),
        ("SELECT rowid FROM t", "unknown: no column ROWID"),
        ("SELECT random()", "unknown: no function random"),
        ("SELECT hex(randomblob(4))", "unknown: no function randomblob"),
        ("SELECT load_extension('x')", "unknown: no function load_extension"),
        ("SELECT current_timestamp", "unknown: no function current_timestamp"),
        ("SELECT sqlite_version()", "unknown: no function sqlite_version"),
        ("SELECT zeroblob(1000000000)", "unknown: no function zeroblob"),
        ("SELECT printf('%1000000000d', 1)", "unknown: no function printf"),
        ("PRAGMA table_list", "unsupported: the statement does more than to read"),
        ("ATTACH 'file:x?mode=memory' AS x", "unsupported: the statement does more than to read"),
        ("INSERT INTO t VALUES (9, 'x')", "unsupported: the statement does more than to read"),
        ("DELETE FROM t", "unsupported: the statement does more than to read"),
        ("DROP TABLE t", "unsupported: the statement does more than to read"),
        ("CREATE TEMP TABLE u (x)", "unsupported: the statement does more than to read"),
        ("BEGIN", "unsupported: the statement does more than to read"),
        ("SELECT date('now')", "invalid: a function or operator was given a value that it cannot take"),
        ("SELECT \"nothing\" FROM t", "unknown: no column nothing"),
    ] {
        let refusal = refusal(sql);
        assert!(refusal == said || (sql.contains("pragma_") && refusal.starts_with("unknown: ")), "{sql}: {refusal}");
    }
    let right = reader().query(asked("SELECT date('2024-01-31', '+1 day')"), &[], LEFT).result.unwrap();
    assert_eq!(right.row(0), [Value::Text("2024-02-01".to_owned())]);
}

#[test]
fn a_join_in_parentheses_runs_and_gives_no_numbers() {
    let join = "t AS a JOIN (t AS b LEFT JOIN t AS c ON c.id = b.id) ON b.id = a.id";
    let star = format!("SELECT * FROM {join} ORDER BY a.id");
    let table = reader().query(asked(&star), &[], LEFT).result.unwrap();
    assert_eq!((table.rows, table.columns.len()), (3, 6), "id and name, three times");
    for number in ["b.rowid", "b._ROWID_", "\"b\".\"oid\"", "rowid"] {
        let refused = reader().query(asked(&format!("SELECT {number} FROM {join}")), &[], LEFT);
        refused.result.unwrap_err();
    }
}

#[test]
fn the_number_of_a_row_is_for_changes_alone() {
    let numbers = reader().rows(asked("SELECT rowid FROM t ORDER BY id"), LEFT).result.unwrap();
    assert_eq!(numbers, [[Value::Integer(0)], [Value::Integer(7)], [Value::Integer(14)]]);
    assert!(reader().rows(asked("DELETE FROM t"), LEFT).result.is_err());
}

#[test]
fn budgets_end_a_statement_at_the_same_place_every_time() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0";
    let ctes = ["n".to_owned()];
    let endless = Asked { sql: endless, ctes: &ctes, kinds: &[] };
    let Rows { result, rows_scanned } = reader().query(endless, &[], LEFT);
    assert_eq!(result.unwrap_err().to_string(), "quota: the budget of rows scanned is spent");
    assert_eq!(rows_scanned, LEFT.rows_scanned);
    let scan = asked("SELECT id FROM t");
    let mut reader = reader();
    let cost = reader.query(scan, &[], LEFT).rows_scanned;
    assert_eq!(reader.query(scan, &[], Left { rows_scanned: cost, ..LEFT }).rows_scanned, cost);
    let spent = reader.query(scan, &[], Left { rows_scanned: cost - 1, ..LEFT });
    assert!(spent.result.is_err() && spent.rows_scanned == cost - 1);
    // A fresh reader, which has prepared nothing yet, counts the same.
    assert_eq!(self::reader().query(scan, &[], Left { rows_scanned: cost, ..LEFT }).rows_scanned, cost);
    assert!(reader.query(scan, &[], Left { rows: 2, ..LEFT }).result.unwrap_err().to_string().contains("2 rows"));
    assert!(reader.query(scan, &[], Left { bytes: 9, ..LEFT }).result.is_err());
}

#[test]
fn what_is_written_is_seen_by_its_writer_alone() {
    let columns = vec![ColumnSchema::new("id", Kind::Integer, false)];
    let schema = TableSchema::new("t", columns, &[]);
    let mut sealed = Sealed::new().unwrap();
    sealed.add(&schema, (0..2).map(|id| (id, vec![Value::Integer(1)]))).unwrap();
    let (mut one, mut other) = (sealed.reader().unwrap(), sealed.reader().unwrap());
    for rows in [3_u64, 5] {
        one.replace(&schema, (0..rows).map(|id| (id, vec![Value::Integer(1)]))).unwrap();
        let count = |reader: &mut Reader| {
            reader.query(asked("SELECT count(*) AS n FROM t"), &[], LEFT).result.unwrap().row(0)[0].to_string()
        };
        assert_eq!((count(&mut one), count(&mut other)), (rows.to_string(), "2".to_owned()));
    }
}
