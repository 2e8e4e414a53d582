//! Questions over a small folder, each with a fault of its own, beside a twin without it.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;

use serde_json::Value as Json;
use tempfile::TempDir;
use tribunal_import::{Class, DEFAULT_CLOCK, Import, QuestionReport, import};
use tribunal_protocol::task::Task;

const SCHEMA: &str = "
    CREATE TABLE public.author (id int PRIMARY KEY, name text, born date, rating real);
    INSERT INTO public.author VALUES
        (1, 'Ada', CURRENT_DATE - INTERVAL '1 year', 4.5),
        (2, 'Bob', CURRENT_DATE - INTERVAL '2 years', 4.5),
        (3, 'Cy', NULL, 3.0);
    CREATE TABLE public.book (id int, author_id int, pages int);
    INSERT INTO public.book VALUES (1, 1, 100), (2, 1, 50), (3, 2, 70);
    CREATE TABLE public.odd (id int, body bytea);
";

/// Judges one question with this gold.
fn judged(category: &str, question: &str, gold: &str) -> (QuestionReport, Option<Json>, Import) {
    judged_in(SCHEMA, category, question, gold)
}

/// The same on other data.
fn judged_in(sql: &str, category: &str, question: &str, gold: &str) -> (QuestionReport, Option<Json>, Import) {
    let folder = TempDir::new().unwrap();
    let schema = folder.path().join("library");
    fs::create_dir(&schema).unwrap();
    fs::write(schema.join("library.sql"), sql).unwrap();
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let csv =
        format!("db_name,query_category,query,question\nlibrary,{category},{},{}\n", quoted(gold), quoted(question));
    fs::write(folder.path().join("questions.csv"), csv).unwrap();
    let import = import(folder.path(), DEFAULT_CLOCK).unwrap();
    let report = import.report.results[0].clone();
    let task = import.suite.tasks.first();
    let expectation = task.map(|task| serde_json::from_str(&task.instances[0].expectation).unwrap());
    (report, expectation, import)
}

fn gold(gold: &str) -> QuestionReport {
    judged("group_by", "?", gold).0
}

#[test]
fn a_question_that_stands_becomes_a_task() {
    let sql = "SELECT {a.name, a.id}, COUNT(b.id) AS n FROM public.author a JOIN book b ON b.author_id = a.id \
               GROUP BY {} ORDER BY n DESC";
    let (report, expectation, import) = judged("group_by", "How many books by author?", sql);
    assert_eq!((report.class, report.why.as_str()), (Class::Scored, ""), "{report:?}");
    assert_eq!((report.alternatives, report.kept, report.rows), (3, 3, 2));
    let task = &import.suite.tasks[0];
    assert_eq!(task.id, "library-q0001");
    assert!(task.instruction.starts_with("How many books by author?"), "{}", task.instruction);
    for told in ["name (text), n (integer)", "does not count", "2025-06-30"] {
        assert!(task.instruction.contains(told), "{told}: {}", task.instruction);
    }
    // `{name, id}` stands for one column or the other or both: three forms, all told, all kept.
    for told in ["id (integer), n (integer)", "name (text), id (integer), n (integer)"] {
        assert!(task.instruction.contains(told), "{told}: {}", task.instruction);
    }
    let expectation = expectation.unwrap();
    let forms: Vec<&Json> =
        expectation["alternatives"].as_array().unwrap().iter().map(|one| &one["gold"]["rows"]).collect();
    assert_eq!(forms, [&serde_json::json!([[1, 2], [2, 1]]), &serde_json::json!([["Ada", 1, 2], ["Bob", 2, 1]])]);
    assert_eq!(expectation["gold"]["rows"], serde_json::json!([["Ada", 2], ["Bob", 1]]));
    assert_eq!(expectation["contract"]["match"], "position");
    let sql = task.oracle[0].arguments["sql"].as_str().unwrap();
    assert_eq!(sql.matches("public.").count(), 0, "{sql}");
}

/// The reason that the verifier's comparator gives for an answer of these columns and rows.
fn reason(expectation: &Json, columns: &[(&str, &str)], rows: Json) -> String {
    let columns: Vec<Json> =
        columns.iter().map(|(name, kind)| serde_json::json!({"name": name, "kind": kind})).collect();
    let answer = serde_json::from_value(serde_json::json!({"columns": columns, "rows": rows})).unwrap();
    let expectation = tribunal_compare::Expectation::from_json(&expectation.to_string()).unwrap();
    expectation.check(&answer).reason.to_string()
}

#[test]
fn an_answer_in_any_accepted_form_passes_and_no_mixture_does() {
    let sql = "SELECT {a.name, a.id}, COUNT(b.id) AS n FROM author a JOIN book b ON b.author_id = a.id GROUP BY {}";
    let (_, expectation, _) = judged("group_by", "How many books by author?", sql);
    let expectation = expectation.unwrap();
    let (name, id, n) = (("name", "text"), ("id", "integer"), ("n", "integer"));
    for (columns, rows, wanted) in [
        (vec![name, n], serde_json::json!([["Ada", 2], ["Bob", 1]]), "match"),
        (vec![id, n], serde_json::json!([[2, 1], [1, 2]]), "match"),
        (vec![name, id, n], serde_json::json!([["Ada", 1, 2], ["Bob", 2, 1]]), "match"),
        // Wrong in whatever form: of the names, the ids, and one that no form has.
        (vec![name, n], serde_json::json!([["Ada", 1], ["Bob", 2]]), "row-mismatch"),
        (vec![id, n], serde_json::json!([[1, 1], [2, 2]]), "row-mismatch"),
        (vec![n], serde_json::json!([[2], [1]]), "arity"),
    ] {
        assert_eq!(reason(&expectation, &columns, rows.clone()), wanted, "{columns:?} {rows}");
    }
}

/// What an agent is told of a question is the same whatever the data, and so the answers, are.
#[test]
fn what_the_agent_is_told_does_not_depend_on_any_accepted_answer() {
    let sql = "SELECT {a.name, a.id}, COUNT(b.id) AS n FROM author a JOIN book b ON b.author_id = a.id GROUP BY {}";
    let of = |schema: &str| {
        let (_, expectation, import) = judged_in(schema, "group_by", "How many books by author?", sql);
        (import.suite.tasks[0].clone(), expectation.unwrap())
    };
    let (task, expectation) = of(SCHEMA);
    let (other, other_expectation) =
        of(&SCHEMA.replace("'Ada'", "'Eve'").replace("(3, 2, 70)", "(3, 2, 70), (4, 2, 9)"));
    assert_ne!(expectation, other_expectation);
    assert_ne!(expectation["alternatives"], other_expectation["alternatives"]);
    let visible = |task: &Task| (task.instruction.clone(), task.answer.clone(), task.grant.clone(), task.steps);
    assert_eq!(visible(&task), visible(&other));
}

#[test]
fn the_clock_of_gold_is_pinned() {
    // Born on 2024-06-30 and 2023-06-30.
    let report = gold("SELECT COUNT(*) FROM author WHERE born >= date('now', '-1 year')");
    assert_eq!(report.class, Class::Scored, "{report:?}");
    let (_, expectation, _) = judged("x", "?", "SELECT name FROM author WHERE born = date('now', '-1 year')");
    assert_eq!(expectation.unwrap()["gold"]["rows"], serde_json::json!([["Ada"]]));
}

#[test]
fn gold_at_fault_says_why() {
    for (sql, part) in [
        ("SELECT nope FROM author", "fails in SQLite, too: no such column"),
        ("SELECT name FROM author WHERE id > 9", "no row"),
        ("SELECT SUM(pages) FROM book WHERE id > 9", "nothing but NULL"),
        ("SELECT name FROM author ORDER BY rating DESC LIMIT 1", "cuts through a tie"),
        ("SELECT name FROM author LIMIT 1", "without ORDER BY"),
        ("SELECT 'x", "cannot be read"),
        ("SELECT random()", "other results each time"),
        ("SELECT date('now', 'localtime')", "depends on where it runs"),
        ("SELECT SUM(pages) AS n FROM book;SELECT COUNT(pages) AS n FROM book", "contradict each other"),
    ] {
        let report = gold(sql);
        assert_eq!(report.class, Class::GoldWrong, "{sql}: {report:?}");
        assert!(report.why.contains(part), "{sql}: {}", report.why);
        assert_eq!(report.kept, 0);
    }
}

#[test]
fn the_twins_without_the_fault_stand() {
    for sql in [
        "SELECT name FROM author",
        "SELECT SUM(pages) FROM book WHERE id > 2",
        "SELECT name FROM author ORDER BY rating ASC LIMIT 1",
        "SELECT name FROM author ORDER BY rating DESC, name LIMIT 1",
        "SELECT name, rating FROM author ORDER BY rating DESC LIMIT 1",
        "SELECT SUM(pages) AS n FROM book;SELECT SUM(pages) AS n, COUNT(*) AS m FROM book",
    ] {
        let report = gold(sql);
        assert_eq!(report.class, Class::Scored, "{sql}: {report:?}");
    }
}

#[test]
fn a_visible_tie_at_the_cut_is_a_top_k() {
    let sql = "SELECT name, rating FROM author ORDER BY rating DESC LIMIT 1";
    let (_, expectation, import) = judged("order_by", "Who is rated best?", sql);
    let expectation = expectation.unwrap();
    assert_eq!(expectation["contract"]["top"]["k"], 1);
    assert_eq!(expectation["gold"]["rows"].as_array().unwrap().len(), 2);
    assert!(import.suite.tasks[0].instruction.contains("The first 1 rows by rating descending"));
}

#[test]
fn an_order_counts_where_the_question_asks_for_it() {
    let sql = "SELECT name, rating FROM author ORDER BY rating, name DESC";
    let (_, asked, _) = judged("group_by", "Authors, sorted by rating?", sql);
    assert_eq!(asked.unwrap()["contract"]["order"].as_array().unwrap().len(), 2);
    let (_, unasked, _) = judged("group_by", "Authors and ratings?", sql);
    assert_eq!(unasked.unwrap()["contract"].get("order"), None);
    let hidden = judged("order_by", "Authors by rating?", "SELECT name FROM author ORDER BY rating, name").0;
    assert!(hidden.remarks.iter().any(|remark| remark.contains("order cannot be judged")), "{hidden:?}");
}

#[test]
fn what_the_engine_does_not_run_names_the_construct() {
    let report = gold("SELECT name, ROW_NUMBER() OVER (ORDER BY id) FROM author");
    assert_eq!(report.class, Class::Unsupported, "{report:?}");
    assert!(!report.why.is_empty());
    let odd = gold("SELECT id FROM odd");
    assert_eq!(odd.class, Class::Unsupported);
    assert!(odd.why.contains("library/library.sql:9"), "{}", odd.why);
    assert!(odd.why.contains("bytea"), "{}", odd.why);
    let many = gold("SELECT {id,name,born,rating,id+1,id+2,id+3,id+4,id+5} FROM author");
    assert_eq!(many.class, Class::Unsupported);
    assert!(many.why.contains("255"), "{}", many.why);
}

/// An alternative that cannot be judged is left out with a remark; the others stand.
#[test]
fn one_bad_alternative_does_not_spoil_the_others() {
    let report = gold("SELECT COUNT(*) AS n FROM author;SELECT COUNT(*) AS n FROM nowhere");
    assert_eq!((report.class, report.kept, report.alternatives), (Class::Scored, 1, 2), "{report:?}");
    assert!(report.remarks[0].contains("alternative 2 is left out: fails in SQLite"), "{report:?}");
}

/// SQLite's LIKE ignores case and ours minds it: the gold's meaning is kept, and said.
#[test]
fn like_means_what_it_means_in_sqlite() {
    let (report, expectation, import) =
        judged("x", "?", "SELECT name FROM author WHERE name LIKE 'a%' OR name LIKE 'B%'");
    assert_eq!((report.class, report.rows), (Class::Scored, 2), "{report:?}");
    assert!(report.remarks[0].contains("ILIKE"), "{report:?}");
    assert_eq!(expectation.unwrap()["gold"]["rows"], serde_json::json!([["Ada"], ["Bob"]]));
    assert!(import.suite.tasks[0].oracle[0].arguments["sql"].as_str().unwrap().contains("ILIKE"));
    let same = gold("SELECT name FROM author WHERE LOWER(name) LIKE 'a%'");
    assert_eq!((same.class, same.remarks.len()), (Class::Scored, 0), "{same:?}");
}

#[test]
fn nulls_stand_where_sqlite_puts_them() {
    let sql = "SELECT name, born FROM author ORDER BY born DESC";
    let (report, expectation, _) = judged("order_by", "Authors by birth, youngest first?", sql);
    assert_eq!(report.class, Class::Scored, "{report:?}");
    let names = expectation.unwrap()["gold"]["rows"].to_string();
    assert!(names.find("Ada") < names.find("Bob") && names.find("Bob") < names.find("Cy"), "{names}");
}

#[test]
fn a_question_about_no_schema_is_named() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("s")).unwrap();
    fs::write(folder.path().join("s/schema.sql"), "CREATE TABLE t (id int);").unwrap();
    fs::write(folder.path().join("questions.csv"), "db_name,query,question\nx,SELECT 1,?\n").unwrap();
    let import = import(folder.path(), DEFAULT_CLOCK).unwrap();
    let report = &import.report.results[0];
    assert_eq!(report.why, "no schema `x` in the folder; there are: s");
    match tribunal_import::import(folder.path(), "2025-02-30") {
        Err(error) => assert_eq!(error.to_string(), "clock `2025-02-30`: a date such as 2025-06-30 expected"),
        Ok(_) => panic!("a date that is none"),
    }
}
