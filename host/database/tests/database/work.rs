//! Statements that are more work than their rows tell: each is refused in time, beside one that
//! does as much with fewer operators, or with shorter texts.

use tribunal_contract::Contract;
use tribunal_database::{DatabaseSession, Snapshot};
use tribunal_protocol::schema::{ColumnSchema, Dataset, Engine, TableData, TableSchema};
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Code, Failure, Kind, Table, Value};

/// Rows of each of the two tables.
const ROWS: i64 = 1_500;

fn session(engine: Engine) -> DatabaseSession {
    session_under(engine, "")
}

fn session_under(engine: Engine, budget: &str) -> DatabaseSession {
    let table = |name: &str| {
        let columns = vec![ColumnSchema::new("n", Kind::Integer, false), ColumnSchema::new("t", Kind::Text, false)];
        let row = |n: i64| vec![Value::Integer(n), Value::Text(format!("row {n}"))];
        TableData { schema: TableSchema::new(name, columns, &["n"]), rows: (0..ROWS).map(row).collect() }
    };
    session_of(vec![table("a"), table("b")], engine, budget)
}

fn session_of(tables: Vec<TableData>, engine: Engine, budget: &str) -> DatabaseSession {
    let data = Dataset { clock: 0, tables };
    let snapshot = Snapshot::seal_on(&data, engine).unwrap();
    let all = format!("[contract]\nname = \"all\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n{budget}");
    let contract = Contract::parse(&all).unwrap().resolve(snapshot.schemas()).unwrap();
    DatabaseSession::open(snapshot.fork(), contract.into(), Usage::default())
}

fn asked(sql: &str) -> Result<Table, Failure> {
    session(Engine::Gluesql).query(sql, &[])
}

fn refused(sql: &str) {
    let failure = asked(sql).unwrap_err();
    assert_eq!(failure.code, Code::Quota, "{failure}: {sql}");
    assert!(failure.message.contains("too much work"), "{failure}: {sql}");
}

fn allowed(sql: &str) {
    if let Err(failure) = asked(sql) {
        panic!("{failure}: {sql}");
    }
}

/// A sum of so many terms.
fn terms(term: &str, count: usize) -> String {
    vec![term; count].join(" + ")
}

/// 2,250,000 combined rows are within the budget of rows; so many operators on each are not.
#[test]
fn many_operators_on_many_combined_rows() {
    let join = |terms: &str| format!("SELECT COUNT(*) AS n FROM a, b WHERE {terms} > 3");
    refused(&join(&terms("a.n * b.n", 150)));
    allowed(&join(&terms("a.n * b.n", 2)));
    // The same on few rows.
    allowed(&format!("SELECT COUNT(*) AS n FROM a WHERE {} > 3", terms("n * n", 150)));
    refused(&format!("SELECT SUM({}) AS s FROM a, b", terms("a.n % 7", 150)));
    refused(&format!("SELECT a.n AS x FROM a, b ORDER BY {} LIMIT 1", terms("b.n / 7", 150)));
    refused(&format!("SELECT (SELECT COUNT(*) FROM b WHERE {} > a.n) AS x FROM a", terms("b.n + a.n", 100)));
    allowed("SELECT (SELECT COUNT(*) FROM b WHERE b.n > a.n) AS x FROM a");
}

/// A constant is less than an operator, and a list of constants that is looked up is next to nothing.
#[test]
fn long_lists_are_no_work() {
    let list: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    allowed(&format!("SELECT COUNT(*) AS n FROM a, b WHERE a.n IN ({}) AND b.n = a.n", list.join(", ")));
}

/// What may be used, a contract can narrow; on SQLite a part is two steps of its machine.
#[test]
fn the_work_of_a_statement_is_a_limit() {
    let count = "SELECT COUNT(*) AS n FROM a WHERE n * 7 + n % 5 > 3";
    for engine in [Engine::Gluesql, Engine::Sqlite] {
        let code = |most: u64| {
            let mut session = session_under(engine, &format!("[budget]\nstatement_work = {most}\n"));
            session.query(count, &[]).map(drop).map_err(|failure| (failure.code, failure.message))
        };
        let refused = code(2_000).unwrap_err();
        assert!(refused.0 == Code::Quota && refused.1.contains("too much work"), "{refused:?}");
        assert_eq!(code(50_000), Ok(()));
    }
}

/// What SQLite may hold for a statement is a limit, for queries and for changes.
#[test]
fn the_memory_of_a_statement_is_a_limit_on_sqlite() {
    let pairs = "SELECT MAX(q.m) AS n FROM (SELECT a.t || b.t AS k, MAX(a.n) AS m FROM a, b GROUP BY a.t || b.t) q";
    let few = format!("{pairs} WHERE q.k < 'a'").replace("FROM a, b", "FROM a, b WHERE b.n < 10");
    let code = |sql: &str, budget: &str| {
        let mut session = session_under(Engine::Sqlite, budget);
        session.query(sql, &[]).map(drop).map_err(|failure| (failure.code, failure.message))
    };
    let small = "[budget]\nstatement_memory = \"32 MiB\"\n";
    let refused = code(pairs, small).unwrap_err();
    assert!(refused.0 == Code::Quota && refused.1.contains("too much memory"), "{refused:?}");
    assert_eq!(code(&few, small), Ok(()));
    assert_eq!(code(pairs, ""), Ok(()), "the default is enough for two million rows of 16 bytes");
}

/// The store checks a LIKE before the engine sees the row: that is work as well.
#[test]
fn patterns_over_stored_texts() {
    let text = |length: usize| {
        vec![TableData {
            schema: TableSchema::new("a", vec![ColumnSchema::new("t", Kind::Text, false)], &[]),
            rows: (0..200).map(|_| vec![Value::Text("a".repeat(length))]).collect(),
        }]
    };
    let pattern = format!("'%{}b_%'", "a".repeat(2_000));
    for or in ["", " OR t LIKE 'b%c'"] {
        let sql = format!("SELECT COUNT(*) AS n FROM a WHERE t LIKE {pattern}{or}");
        let asked = |length| session_of(text(length), Engine::Gluesql, "").query(&sql, &[]);
        let refused = asked(100_000).unwrap_err();
        assert!(refused.code == Code::Quota && refused.message.contains("too much work"), "{refused}");
        assert_eq!(asked(1_000).unwrap().row(0), [Value::Integer(0)]);
    }
}

/// A text of some 200,000 characters for every row.
fn long() -> String {
    format!("REPLACE(RPAD(t, 1000, 'a'), 'a', '{}')", "a".repeat(200))
}

#[test]
fn long_texts_under_many_functions() {
    let wrapped = |times: usize, text: &str| format!("{}{text}{}", "REVERSE(".repeat(times), ")".repeat(times));
    let count = |text: &str| format!("SELECT COUNT(*) AS n FROM a WHERE LENGTH({text}) > 3");
    refused(&count(&wrapped(40, &long())));
    allowed(&count(&wrapped(40, "RPAD(t, 20, 'x')")));
    allowed(&format!("{} AND n < 20", count(&wrapped(1, &long()))));
}

#[test]
fn patterns_that_go_back_and_forth_over_long_texts() {
    let like = |text: &str, pattern: &str| format!("SELECT COUNT(*) AS n FROM a WHERE {text} LIKE {pattern}");
    let pattern = format!("'%{}b_%'", "a".repeat(4_000));
    refused(&like(&long(), &pattern));
    allowed(&like("RPAD(t, 100, 'a')", &pattern));
    allowed(&format!("{} AND n < 20", like(&long(), "'%ab%'")));
    // A pattern that is computed, and a set of characters to trim.
    refused(&like(&long(), "'%' || RPAD(t, 1000, 'a') || 'b_%'"));
    refused(&format!("SELECT COUNT(*) AS n FROM a WHERE LENGTH(LTRIM({}, RPAD('b', 1000, t))) > 1", long()));
}

/// SQLite's machine counts its steps, and a step over a long text counts for more.
#[test]
fn long_texts_on_sqlite() {
    let code = |sql: &str| session(Engine::Sqlite).query(sql, &[]).map(drop).map_err(|failure| failure.code);
    let count = |text: &str| format!("SELECT COUNT(*) AS n FROM a WHERE {text}");
    let long = long();
    let pattern = format!("'%{}b_%'", "a".repeat(900));
    for (heavy, light) in [
        (format!("{long} LIKE {pattern}"), format!("RPAD(t, 100, 'a') LIKE {pattern}")),
        (
            format!("EXISTS (SELECT 1 FROM b WHERE STRPOS({long} || b.t, 'zz') > a.n)"),
            "EXISTS (SELECT 1 FROM b WHERE STRPOS(a.t || b.t, 'zz') > a.n)".to_owned(),
        ),
    ] {
        assert_eq!(code(&count(&heavy)), Err(Code::Quota), "{heavy}");
        assert_eq!(code(&count(&light)), Ok(()), "{light}");
    }
}
