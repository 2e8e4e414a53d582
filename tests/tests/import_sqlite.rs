//! A SQLite file as a suite, by the binary: imported, its questions judged and run.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use rusqlite::Connection;
use serde_json::Value as Json;
use tribunal_tests::tool::{Said, said};

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, since DATE, active BOOLEAN);
    INSERT INTO customers VALUES (1, 'Zoë', '2024-01-31', 1), (2, 'Bob', '2024-02-29', 0), (3, 'Cy', NULL, 1);
    CREATE TABLE \"order lines\" (id INTEGER PRIMARY KEY, customer_id INT REFERENCES customers, amount NUMERIC(10,2),
        placed DATETIME, weight INT, photo BLOB);
    INSERT INTO \"order lines\" VALUES
        (1, 1, 10.5, '2024-03-01 08:00:00', 1, x'00'), (2, 1, 20, '2024-03-02 09:30:00', 2.5, NULL),
        (3, 2, 0.25, '2024-04-01 00:00:00', NULL, NULL);
    CREATE TABLE stock (sku TEXT, n INTEGER);
    INSERT INTO stock VALUES ('a', 7), ('b', 'N/A');
    CREATE VIEW busy AS SELECT * FROM customers WHERE active;
";

/// With answers worked out by hand: 30.5 and 0.25; February; 3.5 and nothing.
const QUESTIONS: &str = "query,question\n\
    \"SELECT c.name AS name, SUM(o.amount) AS total FROM customers c JOIN \"\"order lines\"\" o ON o.customer_id = c.id GROUP BY c.name\",How much by customer?\n\
    \"SELECT name FROM customers WHERE strftime('%m', since) = '02'\",Who came in February?\n\
    \"SELECT customer_id, SUM(weight) AS w FROM \"\"order lines\"\" GROUP BY customer_id\",What does it weigh?\n\
    SELECT SUM(n) AS n FROM stock,How much is there?\n";

fn made(at: &Path, sql: &str) {
    // Before SQLite is used in any other way in this process.
    tribunal_sqlite::count_memory().unwrap();
    Connection::open(at).unwrap().execute_batch(sql).unwrap();
}

fn report(suite: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(suite.join("report.json")).unwrap()).unwrap()
}

fn classes(report: &Json) -> Vec<&str> {
    report["results"].as_array().unwrap().iter().map(|result| result["class"].as_str().unwrap()).collect()
}

/// The kind of every column of a table.
fn kinds(suite: &Path, schema: &str, table: &str) -> Vec<String> {
    let text = std::fs::read_to_string(suite.join("schemas").join(schema).join("schema.json")).unwrap();
    let tables: Json = serde_json::from_str(&text).unwrap();
    let table = tables.as_array().unwrap().iter().find(|found| found["name"] == table).unwrap();
    let column = |column: &Json| format!("{} {}", column["name"].as_str().unwrap(), column["kind"].as_str().unwrap());
    table["columns"].as_array().unwrap().iter().map(column).collect()
}

#[test]
fn a_file_becomes_a_suite_whose_questions_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    made(&at.join("shop.sqlite"), SHOP);
    std::fs::write(at.join("asked.csv"), QUESTIONS).unwrap();
    let Said { code, out, err } = said(at, &["import", "shop.sqlite", "--questions", "asked.csv", "--out", "suite"]);
    // One table is refused, so not all is well.
    assert_eq!(code, 1, "{out}{err}");
    for words in [
        "problem: shop.sqlite line 1: column `n`: row 2 holds the text `N/A` and row 1 the number 7",
        "column `photo`: holds bytes",
        "column `weight`: row 1 holds a whole number among others; kept as float",
        "`busy` is a view",
    ] {
        assert!(out.contains(words), "`{words}` expected in\n{out}");
    }
    let suite = at.join("suite");
    let report = report(&suite);
    assert_eq!(classes(&report)[..3], ["scored"; 3], "{report:#}");
    assert_ne!(classes(&report)[3], "scored");
    let customers = ["id integer", "name text", "since date", "active boolean"];
    assert_eq!(kinds(&suite, "shop-v1", "customers"), customers);
    let lines = ["id integer", "customer_id integer", "amount decimal", "placed timestamp", "weight float"];
    assert_eq!(kinds(&suite, "shop-v1", "order lines"), lines);
    let tasks = std::fs::read_to_string(suite.join("tasks.jsonl")).unwrap();
    for (task, answer) in tasks.lines().zip(["30.5", "Bob", "3.5"]) {
        assert!(task.contains(answer), "{answer}: {task}");
    }
    let ran = said(at, &["run", "--suite", "suite", "--policy", "oracle", "--out", "run", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(summary["policies"][0]["total"]["passed"], 3, "{summary:#}");
}

#[test]
fn a_folder_may_hold_one_and_so_may_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let clean = SHOP.replace("'N/A'", "8");
    for place in ["one", "many", "many/shop"] {
        std::fs::create_dir(at.join(place)).unwrap();
    }
    made(&at.join("one/shop.db"), &clean);
    std::fs::write(at.join("one/questions.csv"), QUESTIONS).unwrap();
    made(&at.join("many/shop/shop.sqlite"), &clean);
    std::fs::write(at.join("many/shop/questions.csv"), QUESTIONS).unwrap();
    let mut suites = Vec::new();
    for source in ["one", "many", "one/shop.db"] {
        let out = format!("{}-suite", source.replace('/', "-"));
        let imported = said(at, &["import", source, "--out", &out]);
        // The twin of the refused table: all is well.
        assert_eq!(imported.code, 0, "{}{}", imported.out, imported.err);
        assert_eq!(classes(&report(&at.join(&out))), ["scored"; 4], "{source}");
        suites.push(std::fs::read(at.join(&out).join("schemas/shop-v1/customers.csv")).unwrap());
    }
    assert!(suites.iter().all(|suite| *suite == suites[0]));
}

#[test]
fn what_is_no_sqlite_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let refused = |arguments: &[&str], word: &str| {
        let said = said(at, arguments);
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.err.contains(word), "`{word}` expected in {}", said.err);
        assert!(!at.join("suite").exists());
    };
    std::fs::write(at.join("letter.sqlite"), "Dear all, this is no database at all, whatever its name says of it.")
        .unwrap();
    refused(&["import", "letter.sqlite", "--out", "suite"], "no SQLite file");
    std::fs::create_dir(at.join("folder")).unwrap();
    refused(&["import", "folder", "--questions", "q.csv", "--out", "suite"], "--questions goes with a SQLite file");
    refused(&["import", "folder", "--out", "suite"], "NAME.sqlite");
    made(&at.join("shop.sqlite"), SHOP);
    refused(&["import", "shop.sqlite", "--questions", "none.csv", "--out", "suite"], "none.csv");
}
