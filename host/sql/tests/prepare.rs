//! What is refused, by name; what is unknown; and what a prepared statement says of itself.

use std::collections::BTreeSet;

use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::{Code, Failure, Kind, Value};
use tribunal_sql::{Catalog, Prepared, prepare_change, prepare_query, to_sqlite};

struct Shop(Vec<TableSchema>);

impl Catalog for Shop {
    fn table(&self, name: &str) -> Option<&TableSchema> {
        self.0.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// 2024-03-01.
    fn clock(&self) -> i32 {
        19_783
    }
}

fn shop() -> Shop {
    let column = |(name, kind, nullable): &(&str, Kind, bool)| ColumnSchema::new(*name, *kind, *nullable);
    let table = |name: &str, columns: &[(&str, Kind, bool)]| {
        TableSchema::new(name, columns.iter().map(column).collect(), &["id"])
    };
    let orders = [
        ("id", Kind::Integer, false),
        ("customer_id", Kind::Integer, true),
        ("total", Kind::Decimal, true),
        ("placedOn", Kind::Date, true),
        ("status", Kind::Text, false),
        ("paid", Kind::Boolean, true),
        ("rate", Kind::Float, true),
    ];
    let customers = [("id", Kind::Integer, false), ("name", Kind::Text, true)];
    Shop(vec![table("Orders", &orders), table("customers", &customers)])
}

fn query(sql: &str) -> Result<Prepared, Failure> {
    prepare_query(sql, &shop(), &[])
}

fn change(sql: &str) -> Result<Prepared, Failure> {
    prepare_change(sql, &shop(), &[])
}

/// The statement for the engine, or the failure, as text.
fn text(result: Result<Prepared, Failure>) -> String {
    match result {
        Ok(prepared) => prepared.statement.to_string(),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn what_the_engine_would_drop_is_refused_by_name() {
    for (sql, name) in [
        (
            "SELECT SUM(total) OVER (PARTITION BY status) FROM orders",
            "window functions (OVER); it runs on schemas with engine = \"sqlite\"",
        ),
        (
            "SELECT ROW_NUMBER() OVER () FROM orders",
            "window functions (OVER); it runs on schemas with engine = \"sqlite\"",
        ),
        ("SELECT id FROM orders WINDOW w AS (PARTITION BY id)", "WINDOW; it runs on schemas with engine = \"sqlite\""),
        ("SELECT id FROM orders QUALIFY id > 1", "QUALIFY"),
        ("SELECT DISTINCT ON (id) id FROM orders", "DISTINCT ON"),
        ("SELECT COUNT(DISTINCT *) FROM orders", "COUNT(DISTINCT *)"),
        ("SELECT id FROM orders GROUP BY ROLLUP (id)", "GROUPING SETS, CUBE or ROLLUP"),
        ("SELECT id FROM orders FOR UPDATE", "FOR UPDATE"),
        ("SELECT id FROM orders FETCH FIRST 1 ROWS WITH TIES", "FETCH .. WITH TIES"),
        ("SELECT id INTO x FROM orders", "SELECT INTO"),
        ("SELECT id FROM orders UNION BY NAME SELECT id FROM customers", "UNION BY NAME"),
        (
            "SELECT id FROM orders o WHERE id IN (SELECT c.id FROM customers c WHERE c.id = o.id UNION SELECT 1)",
            "UNION in a subquery that refers to the query around it",
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r",
            "WITH RECURSIVE; it runs on schemas with engine = \"sqlite\"",
        ),
        (
            "SELECT o.id FROM orders o FULL JOIN customers c ON o.id = c.id",
            "FULL JOIN; it runs on schemas with engine = \"sqlite\"",
        ),
        ("SELECT * FROM generate_series(1, 10)", "the table function generate_series"),
        ("SELECT STRING_AGG(status, ',') FROM orders", "the function STRING_AGG"),
        ("SELECT id FROM orders WHERE status ~ 'a'", "the operator ~"),
        ("SELECT status COLLATE \"C\" FROM orders", "COLLATE"),
        ("SELECT id & 1 FROM orders", "the operator &"),
        ("SELECT id FROM orders ORDER BY id LIMIT 1 BY id", "LIMIT BY"),
        ("SELECT id FROM orders, LATERAL (SELECT 1) x", "LATERAL"),
        ("SELECT CAST(status AS VARCHAR(3)) FROM orders", "the type VARCHAR(3)"),
        ("SELECT CAST(rate AS TEXT) FROM orders", "a float as text; CAST it AS DECIMAL, or ROUND it, first"),
    ] {
        match query(sql) {
            Err(failure) if failure.code == Code::Invalid => {
                // Some constructs do not even parse; that is a refusal, too, but say so here.
                assert!(failure.message.starts_with("syntax"), "{sql}: {failure}");
            }
            other => assert_eq!(text(other), format!("unsupported: {name}"), "{sql}"),
        }
    }
}

#[test]
fn what_is_not_there_is_unknown_and_near_names_are_told() {
    for (sql, message) in [
        ("SELECT 1 FROM nosuch", "no table nosuch"),
        ("SELECT nosuch FROM orders", "no column nosuch"),
        ("SELECT custmer_id FROM orders", "no column custmer_id; there is customer_id, id"),
        ("SELECT o.totl FROM orders o", "no column o.totl; there is total"),
        ("SELECT x.id FROM orders o", "no table x in this FROM"),
        ("SELECT orders.id FROM orders o", "no table orders in this FROM"),
        ("SELECT frobnicate(id) FROM orders", "no function FROBNICATE of 1 argument"),
        ("SELECT ROUND(id, 1, 2) FROM orders", "no function ROUND of 3 arguments"),
    ] {
        assert_eq!(text(query(sql)), format!("unknown: {message}"), "{sql}");
    }
}

#[test]
fn what_has_no_meaning_is_invalid() {
    for (sql, message) in [
        ("SELECT id FROM orders o JOIN customers c ON o.id = c.id", "column id is ambiguous; put its table before it"),
        ("SELECT status FROM orders GROUP BY customer_id", "column status must be in GROUP BY or inside an aggregate"),
        ("SELECT status, COUNT(*) FROM orders", "column status must be in GROUP BY or inside an aggregate"),
        (
            "SELECT id FROM orders WHERE COUNT(*) > 1",
            "COUNT cannot stand in WHERE; aggregates go to the select list or HAVING",
        ),
        (
            "SELECT SUM(COUNT(*)) FROM orders",
            "COUNT cannot stand in another aggregate; aggregates go to the select list or HAVING",
        ),
        ("SELECT id FROM orders WHERE status = 1", "text and integer do not go together; CAST one of them"),
        ("SELECT id FROM orders WHERE placedon = 'yesterday'", "date expected, `yesterday` given"),
        ("SELECT id FROM orders WHERE id", "a condition must be boolean, integer given; compare it with something"),
        ("SELECT SUM(status) FROM orders", "SUM needs numbers, text given"),
        ("SELECT id FROM orders ORDER BY 2", "ORDER BY 2: there are 1 columns"),
        ("SELECT DISTINCT status FROM orders ORDER BY id", "ORDER BY id with DISTINCT: it must be in the select list"),
        ("SELECT id FROM orders, orders", "orders stands twice in FROM; give each an alias"),
        ("SELECT id FROM orders LIMIT -1", "LIMIT needs a whole number from 0"),
        ("SELECT id FROM orders WHERE id = $1", "$1 is used, but 0 parameters are given"),
        ("SELECT (SELECT id, total FROM orders)", "a subquery of one column expected, 2 given"),
    ] {
        assert_eq!(text(query(sql)), format!("invalid: {message}"), "{sql}");
    }
}

#[test]
fn randomness_is_denied_and_the_clock_is_the_schemas() {
    for sql in ["SELECT RANDOM()", "SELECT RAND()", "SELECT GENERATE_UUID()", "SELECT CURRENT_TIME"] {
        assert_eq!(query(sql).err().map(|failure| failure.code), Some(Code::Denied), "{sql}");
    }
    let now = "SELECT DATE '2024-03-01' AS \"c1\"";
    assert_eq!(text(query("SELECT CURRENT_DATE")), now);
    assert_eq!(text(query("SELECT date('now')")), now);
    let month = "SELECT DATE '2024-02-01' AS \"c1\"";
    assert_eq!(text(query("SELECT date('now', '-1 month')")), month);
    let before = "SELECT TIMESTAMP '2024-01-31T00:00:00' AS \"c1\"";
    assert_eq!(text(query("SELECT CURRENT_DATE - INTERVAL '30 days'")), before);
}

#[test]
fn a_prepared_query_says_what_it_gives_and_reads() {
    let prepared = query(
        "SELECT o.*, c.NAME AS who, COUNT(*) FROM ORDERS o LEFT JOIN Customers c ON c.id = o.customer_id GROUP BY o.id, c.name",
    );
    let prepared = prepared.expect("a good query");
    let names = ["id", "customer_id", "total", "placedOn", "status", "paid", "rate", "who", "COUNT(*)"];
    assert_eq!(prepared.names, names);
    assert_eq!(prepared.kinds[2], Some(Kind::Decimal));
    assert_eq!(prepared.kinds[8], Some(Kind::Integer));
    let tables = ["Orders", "customers"].map(str::to_owned);
    assert_eq!(prepared.tables, BTreeSet::from(tables));
    assert_eq!(query("SELECT NULL").expect("a good query").kinds, [None]);
}

#[test]
fn kinds_are_unified_and_literals_worked_out() {
    for (sql, item) in [
        ("SELECT 7 / 2", "CAST(3 AS INTEGER)"),
        ("SELECT 7 / 2.0", "CAST('3.5' AS DECIMAL)"),
        ("SELECT 1 / 0", "NULL"),
        ("SELECT 'a' || 'b' || 1", "'ab1'"),
        ("SELECT total * 2 FROM orders", "\"@1\".\"total\" * CAST('2' AS DECIMAL)"),
        ("SELECT id + 1 FROM orders", "\"@1\".\"id\" + 1"),
        ("SELECT id * rate FROM orders", "CAST(\"@1\".\"id\" AS FLOAT) * \"@1\".\"rate\""),
        // A literal with a point is no integer: beside integers it makes them decimals.
        (
            "SELECT 2.00 / id FROM orders",
            "CAST('2.00' AS DECIMAL) / NULLIF(CAST(\"@1\".\"id\" AS DECIMAL), CAST('0' AS DECIMAL))",
        ),
        (
            "SELECT COALESCE(id, 2.0) / 4 FROM orders",
            "COALESCE(CAST(\"@1\".\"id\" AS DECIMAL), CAST('2.0' AS DECIMAL)) / CAST('4' AS DECIMAL)",
        ),
        ("SELECT CONCAT(status, MOD(id, 0)) FROM orders", "\"@1\".\"status\""),
        ("SELECT id / id FROM orders", "\"@1\".\"id\" / NULLIF(\"@1\".\"id\", 0)"),
    ] {
        let got = text(query(sql));
        assert!(got.starts_with(&format!("SELECT {item} AS \"c1\"")), "{sql}: {got}");
    }
}

#[test]
fn conditions_are_right_under_three_values() {
    for (condition, expected) in [
        ("id = 2.0", "\"@1\".\"id\" = 2"),
        ("id < 2.5", "CAST(\"@1\".\"id\" AS DECIMAL) < CAST('2.5' AS DECIMAL)"),
        ("placedon > '2024-01-31'", "\"@1\".\"placedOn\" > DATE '2024-01-31'"),
        ("NOT (total > 1 OR id = 2)", "(\"@1\".\"total\" <= CAST('1' AS DECIMAL)) AND (\"@1\".\"id\" <> 2)"),
        ("total > 1 OR id = 2", "COALESCE(\"@1\".\"total\" > CAST('1' AS DECIMAL), false) OR (\"@1\".\"id\" = 2)"),
        // Never TRUE: not in the list would have to be known of NULL, too.
        ("id NOT IN (1, NULL)", "(NOT (\"@1\".\"id\" IN (1))) AND false"),
        ("status LIKE 'a%'", "(\"@1\".\"status\" >= 'a') AND (\"@1\".\"status\" < 'b')"),
        ("status LIKE '%a%'", "\"@1\".\"status\" LIKE '%a%'"),
        ("status LIKE 'a!%_' ESCAPE '!'", "\"@1\".\"status\" LIKE 'a\\%_'"),
        ("paid = 1", "\"@1\".\"paid\" = true"),
    ] {
        let got = text(query(&format!("SELECT 1 FROM orders WHERE {condition}")));
        let (_, filter) = got.split_once(" WHERE ").unwrap_or(("", &got));
        assert_eq!(filter, expected, "{condition}");
    }
}

#[test]
fn changes_give_every_column_and_fit_them() {
    let insert = "INSERT INTO customers (name) VALUES ('x')";
    assert_eq!(text(change(insert)), "invalid: column id cannot be NULL and is not given");
    assert_eq!(
        text(change("INSERT INTO CUSTOMERS (Name, id) VALUES ('x', 1)")),
        "INSERT INTO \"customers\" (\"id\", \"name\") VALUES (CAST(1 AS INTEGER), 'x')"
    );
    assert_eq!(
        text(change("UPDATE orders SET total = 1, status = 'a' WHERE id = 1")),
        "UPDATE \"Orders\" SET \"total\" = CAST('1' AS DECIMAL), \"status\" = 'a' WHERE \"Orders\".\"id\" = 1"
    );
    assert_eq!(text(change("UPDATE orders SET status = NULL")), "invalid: column status cannot be NULL");
    assert_eq!(
        text(change("UPDATE orders SET total = 'much'")),
        "invalid: column total: decimal expected, `much` given"
    );
    assert_eq!(text(change("DELETE FROM orders")), "DELETE FROM \"Orders\"");
    for (sql, name) in [
        ("DELETE FROM orders USING customers", "DELETE .. USING"),
        ("DELETE FROM orders WHERE id = 1 RETURNING id", "RETURNING"),
        ("UPDATE orders SET total = 1 FROM customers", "UPDATE .. FROM"),
        ("INSERT INTO customers VALUES (1, 'x') ON CONFLICT DO NOTHING", "ON CONFLICT"),
    ] {
        assert_eq!(text(change(sql)), format!("unsupported: {name}"), "{sql}");
    }
}

#[test]
fn parameters_are_literals_of_their_kind() {
    let sql = "SELECT id FROM orders WHERE placedon >= $1 AND total < $2";
    let parameters = [Value::Text("2024-01-01".to_owned()), Value::Integer(5)];
    let prepared = prepare_query(sql, &shop(), &parameters).expect("a good query");
    let text = prepared.statement.to_string();
    assert!(text.contains("DATE '2024-01-01'") && text.contains("CAST('5' AS DECIMAL)"), "{text}");
}

#[test]
fn the_second_opinion_reads_the_statement_as_it_was_written() {
    let write = |sql: &str| {
        let parsed = tribunal_sql::parse_query(sql).expect("a query");
        to_sqlite(&parsed, &shop()).unwrap_or_else(|failure| failure.to_string())
    };
    for (sql, expected) in [
        (
            "SELECT id FROM orders WHERE placedon >= DATE '2024-01-01' ORDER BY id DESC",
            "SELECT \"id\" FROM \"orders\" WHERE \"placedon\" >= '2024-01-01' ORDER BY \"id\" DESC NULLS FIRST",
        ),
        (
            "SELECT EXTRACT(YEAR FROM placedon), total::INTEGER FROM orders",
            "SELECT CAST(strftime('%Y', \"placedon\") AS INTEGER), CAST(tribunal_round(\"total\", 0) AS INTEGER) FROM \"orders\"",
        ),
        (
            "SELECT placedon + INTERVAL '1 month' FROM orders",
            "SELECT tribunal_shift(\"placedon\", 1, 0) FROM \"orders\"",
        ),
        ("SELECT CURRENT_DATE", "SELECT '2024-03-01'"),
        (
            "SELECT status ILIKE 'A%' FROM orders",
            "SELECT lower(\"status\") LIKE lower('A%') ESCAPE '\\' FROM \"orders\"",
        ),
    ] {
        assert_eq!(write(sql), expected, "{sql}");
    }
}

#[test]
fn long_statements_are_prepared_on_a_small_stack() {
    let chain = |op: &str| format!("SELECT 1 FROM orders WHERE {}", vec!["id = id"; 190].join(op));
    let sum = format!("SELECT {} FROM orders", vec!["id"; 390].join(" + "));
    let work = move || {
        for sql in [chain(" AND "), chain(" OR "), sum] {
            query(&sql).expect("a long query within the caps");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

#[test]
fn rewrites_that_double_are_stopped() {
    let mut expr = "total".to_owned();
    for _ in 0..40 {
        expr = format!("ROUND({expr}, 1)");
    }
    let failure = query(&format!("SELECT {expr} FROM orders")).expect_err("too large");
    assert!(matches!(failure.code, Code::Unsupported | Code::Quota), "{failure}");
}
