//! What one statement may hold of SQLite's memory, and how much work it may be: each beside a twin
//! that is within it.
#![expect(clippy::unwrap_used, reason = "tests")]

use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::{Kind, Value};
use tribunal_sqlite::{Asked, Left, Reader, STEPS_PER_PART, STEPS_PER_ROW, Sealed};

fn asked(sql: &str) -> Asked<'_> {
    Asked { sql, ctes: &[], kinds: &[] }
}

/// 1,000 rows of 1,000 bytes.
fn large() -> Reader {
    let columns = vec![ColumnSchema::new("id", Kind::Integer, false), ColumnSchema::new("name", Kind::Text, true)];
    let row = |id: u64| vec![Value::Integer(i64::try_from(id).unwrap()), Value::Text(format!("{id:01000}"))];
    let mut sealed = Sealed::new().unwrap();
    sealed.add(&TableSchema::new("t", columns, &[]), (0..1_000).map(|id| (id, row(id)))).unwrap();
    sealed.reader().unwrap()
}

/// All ways in which SQLite keeps rows aside: each over a million pairs of rows, which are gigabytes,
/// and over ten thousand, which are not.
#[test]
fn memory_is_limited_for_each_statement_by_itself() {
    let left = Left { rows_scanned: 50_000_000, rows: 10, bytes: 100_000, work: 1 << 40, memory: 64 << 20 };
    let pairs = "SELECT a.name || b.name AS n, a.id AS i, b.id AS j FROM t a, t b WHERE b.id < $1";
    let mut reader = large();
    for (ctes, form) in [
        (&[][..], "SELECT n FROM ({pairs}) ORDER BY n DESC LIMIT 1 OFFSET 900 * $1"),
        (&[], "SELECT COUNT(*) FROM (SELECT DISTINCT n FROM ({pairs}))"),
        (&[], "SELECT COUNT(*) FROM (SELECT n, COUNT(*) FROM ({pairs}) GROUP BY n)"),
        (&[], "SELECT COUNT(*) FROM ({pairs} UNION SELECT name, 0, 0 FROM t)"),
        (&[], "SELECT COUNT(*) FROM ({pairs} EXCEPT SELECT name, 0, 0 FROM t)"),
        (&[], "SELECT COUNT(DISTINCT n) FROM ({pairs})"),
        (&[], "SELECT COUNT(*) FROM (SELECT lag(n) OVER (ORDER BY i, j) AS l FROM ({pairs})) WHERE l > 'a'"),
        (&[], "SELECT COUNT(*) FROM t WHERE name IN (SELECT n FROM ({pairs}))"),
        (&["x"], "WITH x AS MATERIALIZED ({pairs}) SELECT COUNT(*) FROM x a JOIN x b ON b.n = a.n AND b.i = -1"),
        (
            &["x"],
            "WITH RECURSIVE x(n, i) AS (SELECT name, 0 FROM t WHERE id = 1 UNION SELECT substr(n, 1, 900) || i, i + 1 \
             FROM x, t WHERE i < $1 / 100 AND id < 100) SELECT COUNT(*) FROM (SELECT * FROM x, t WHERE t.id < $1)
             WHERE n || name IN (SELECT n FROM ({pairs}))",
        ),
    ] {
        let ctes: Vec<String> = ctes.iter().map(|name: &&str| (*name).to_owned()).collect();
        let mut ask = |most: &str, left: Left| {
            let sql = form.replace("{pairs}", pairs).replace("$1", most);
            reader.query(Asked { sql: &sql, ctes: &ctes, kinds: &[] }, &[], left).result
        };
        let refused = ask("1000", left).unwrap_err().to_string();
        assert!(refused.starts_with("quota: the statement takes too much memory"), "{form}: {refused}");
        // Less, on the same connection; and what is refused is refused again, at the same place.
        ask("10", left).unwrap_or_else(|failure| panic!("{failure}: {form}"));
        ask("1000", left).unwrap_err();
    }
    // A text alone cannot be past it.
    let long = "SELECT length(group_concat(a.name)) FROM t a, t b WHERE b.id < 2";
    let refused = reader.query(asked(long), &[], left).result.unwrap_err().to_string();
    assert!(refused.starts_with("quota: the texts of this statement grow too long"), "{refused}");
    let short = "SELECT length(group_concat(a.name)) FROM t a, t b WHERE b.id < 1";
    assert_eq!(reader.query(asked(short), &[], left).result.unwrap().row(0), [Value::Integer(1_000_999)]);
}

/// A statement takes the same whatever ran before it, and on whichever connection.
#[test]
fn the_memory_of_a_statement_is_its_own() {
    let left = |memory| Left { rows_scanned: 1_000_000, rows: 10, bytes: 10_000, work: 1 << 40, memory };
    let sort = asked("SELECT id FROM t ORDER BY name DESC LIMIT 1 OFFSET 900");
    let runs = |reader: &mut Reader, memory| reader.query(sort, &[], left(memory)).result.is_ok();
    let (mut below, mut least) = (0_u64, 64 << 20);
    while least - below > 1 {
        let middle = below.midpoint(least);
        if runs(&mut large(), middle) { least = middle } else { below = middle }
    }
    // A thousand rows of a thousand bytes, the pages that they are read from, and room to grow.
    assert!((1_000_000..8_000_000).contains(&least), "{least}");
    let mut reader = large();
    for _ in 0..3 {
        assert!(!runs(&mut reader, least - 1));
        assert!(runs(&mut reader, least));
    }
}

#[test]
fn a_statement_may_be_too_much_work_for_few_rows() {
    let count = asked("SELECT COUNT(*) AS n FROM t a, t b WHERE a.id < b.id");
    let mut reader = large();
    let left = |work| Left { rows_scanned: 50_000_000, rows: 10, bytes: 10_000, work, memory: 64 << 20 };
    let refused = reader.query(count, &[], left(100_000));
    assert!(refused.result.unwrap_err().to_string().starts_with("quota: the statement is too much work"));
    assert_eq!(refused.rows_scanned, 100_000 * STEPS_PER_PART / STEPS_PER_ROW);
    let count = reader.query(count, &[], left(10_000_000)).result.unwrap();
    assert_eq!(count.row(0), [Value::Integer(499_500)]);
}
