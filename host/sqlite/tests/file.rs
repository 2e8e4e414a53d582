//! Somebody's SQLite file: read as it is, or refused in one line.
#![expect(clippy::unwrap_used, reason = "tests")]

use rusqlite::Connection;
use tribunal_protocol::schema::ForeignKey;
use tribunal_sqlite::{Stored, count_memory, is_sqlite_file, read_file};

fn written(folder: &tempfile::TempDir, sql: &str) -> std::path::PathBuf {
    let path = folder.path().join("a #?%41 file.sqlite");
    // Before SQLite is used in any other way.
    count_memory().unwrap();
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    path
}

#[test]
fn tables_keys_and_values_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        &folder,
        "CREATE TABLE parts (a TEXT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID;
         CREATE TABLE \"odd \"\"name\" (id INTEGER PRIMARY KEY, n NUMERIC(9,2) NOT NULL, x, p TEXT, q INT,
            g INT GENERATED ALWAYS AS (id + 1), UNIQUE (n, p), FOREIGN KEY (q, p) REFERENCES parts (b, a),
            FOREIGN KEY (q, p) REFERENCES parts);
         CREATE UNIQUE INDEX half ON \"odd \"\"name\" (p) WHERE p > 'a';
         CREATE UNIQUE INDEX counted ON \"odd \"\"name\" (p || 'x');
         INSERT INTO parts VALUES ('é', 7);
         INSERT INTO \"odd \"\"name\" VALUES (1, 2.5, x'00ff', 'é', 7), (2, 3, NULL, NULL, NULL);
         CREATE VIEW seen AS SELECT * FROM parts;",
    );
    let file = read_file(&path).unwrap();
    assert_eq!(file.left_out, ["`seen` is a view"]);
    let [odd, parts] = file.tables.as_slice() else { panic!("{file:?}") };
    assert_eq!((odd.name.as_str(), parts.name.as_str()), ("odd \"name", "parts"));
    assert_eq!(parts.primary_key, ["b", "a"]);
    assert_eq!(parts.rows, [[Stored::Text("é".to_owned()), Stored::Integer(7)]]);
    let names: Vec<(&str, &str, bool)> =
        odd.columns.iter().map(|c| (c.name.as_str(), c.declared.as_str(), c.not_null)).collect();
    assert_eq!(names[..3], [("id", "INTEGER", false), ("n", "NUMERIC(9,2)", true), ("x", "", false)]);
    assert_eq!(odd.unique, [["n", "p"]]);
    let key = |columns: &[&str], references: &[&str]| ForeignKey {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        table: "parts".to_owned(),
        references: references.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(odd.foreign_keys, [key(&["q", "p"], &["b", "a"]), key(&["q", "p"], &[])]);
    let first = [Stored::Integer(1), Stored::Real(2.5), Stored::Blob, Stored::Text("é".to_owned())];
    assert_eq!(odd.rows[0][..4], first);
    assert_eq!(odd.rows[0][5], Stored::Integer(2), "a computed column has its values");
    assert!(is_sqlite_file(&path) && !is_sqlite_file(folder.path()));
}

#[test]
fn what_is_no_whole_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    assert!(read_file(&path).is_ok());
    let mut beside = path.clone().into_os_string();
    beside.push("-wal");
    std::fs::write(&beside, b"changes").unwrap();
    assert!(read_file(&path).unwrap_err().contains("wal_checkpoint"));
    std::fs::write(&beside, b"").unwrap();
    assert!(read_file(&path).is_ok());
    std::fs::write(&path, "a letter, and a long one, so that it is more than a header").unwrap();
    assert_eq!(read_file(&path).unwrap_err(), "it is no SQLite file");
    assert!(read_file(&folder.path().join("nowhere.db")).is_err());
}

/// Flips bytes of a good file: whatever comes, it is an answer or a line, and no crash.
#[test]
fn no_damaged_file_ends_more_than_its_reading() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y')";
    let path = written(&folder, sql);
    let whole = std::fs::read(&path).unwrap();
    let (mut read, mut refused) = (0, 0);
    for place in (0..whole.len()).step_by(37) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        std::fs::write(&path, bytes).unwrap();
        match read_file(&path) {
            Ok(_) => read += 1,
            Err(why) => {
                assert!(!why.is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}
