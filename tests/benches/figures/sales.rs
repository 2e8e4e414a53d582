//! A fact of 100,000 rows with three dimensions, and queries over them.

use tribunal_protocol::schema::{ColumnSchema, Dataset, TableData, TableSchema};
use tribunal_protocol::{Kind, Value};

/// Rows of the fact.
pub(crate) const ROWS: i64 = 100_000;
const PRODUCTS: i64 = 1_000;
const STORES: i64 = 10;
const CUSTOMERS: i64 = 2_000;

/// A query, and whether GlueSQL by itself ends it in our lifetime.
pub(crate) struct Query {
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) raw: bool,
}

const fn query(name: &'static str, sql: &'static str) -> Query {
    Query { name, sql, raw: true }
}

/// GlueSQL runs the part in parentheses again for each row of what stands outside.
const fn rerun(name: &'static str, sql: &'static str) -> Query {
    Query { name, sql, raw: false }
}

pub(crate) const QUERIES: [Query; 16] = [
    query("COUNT(*)", "SELECT COUNT(*) AS n FROM sales"),
    query("filter, SUM", "SELECT SUM(price) AS s FROM sales WHERE qty > 5"),
    query("LIKE 'tag1%'", "SELECT COUNT(*) AS n FROM sales WHERE tag LIKE 'tag1%'"),
    query("LIKE under OR", "SELECT COUNT(*) AS n FROM sales WHERE tag LIKE '%9' OR qty = 3"),
    query("GROUP BY 10", "SELECT store_id, COUNT(*) AS n, SUM(price) AS s FROM sales GROUP BY store_id"),
    query("GROUP BY 1,000", "SELECT product_id, COUNT(*) AS n, SUM(price) AS s FROM sales GROUP BY product_id"),
    query("COUNT DISTINCT", "SELECT COUNT(DISTINCT product_id) AS n FROM sales"),
    query("ORDER BY, LIMIT 10", "SELECT id, price FROM sales ORDER BY price DESC, id LIMIT 10"),
    query(
        "2-way join",
        "SELECT st.region, SUM(s.price) AS t FROM sales s JOIN stores st ON s.store_id = st.id GROUP BY st.region",
    ),
    query(
        "3-way join",
        "SELECT st.region, p.category, SUM(s.price) AS t FROM sales s JOIN stores st ON s.store_id = st.id \
         JOIN products p ON s.product_id = p.id GROUP BY st.region, p.category",
    ),
    query(
        "4-way join, filter",
        "SELECT st.region, c.segment, SUM(s.price) AS t FROM sales s JOIN stores st ON s.store_id = st.id \
         JOIN products p ON s.product_id = p.id JOIN customers c ON s.customer_id = c.id \
         WHERE p.category = 'c3' GROUP BY st.region, c.segment",
    ),
    query(
        "LEFT anti join",
        "SELECT COUNT(*) AS n FROM sales s LEFT JOIN products p ON s.product_id = p.id WHERE p.id IS NULL",
    ),
    query(
        "IN (subquery, 50 ids)",
        "SELECT COUNT(*) AS n FROM sales WHERE product_id IN (SELECT id FROM products WHERE category = 'c3')",
    ),
    rerun("scalar subquery", "SELECT COUNT(*) AS n FROM sales WHERE price > (SELECT AVG(price) FROM sales)"),
    rerun(
        "joined derived table",
        "SELECT p.category, SUM(q.t) AS t FROM products p JOIN (SELECT product_id, SUM(price) AS t FROM sales \
         GROUP BY product_id) q ON q.product_id = p.id GROUP BY p.category",
    ),
    rerun(
        "correlated EXISTS",
        "SELECT COUNT(*) AS n FROM stores st WHERE EXISTS (SELECT 1 FROM sales s WHERE s.store_id = st.id AND s.qty = 9)",
    ),
];

/// The same tables in SQL; `range` is DuckDB's.
pub(crate) const DUCKDB: &str = "
    CREATE TABLE sales AS SELECT i AS id, i * 7 % 1010 AS product_id, i % 10 AS store_id, i * 11 % 2000 AS customer_id,
        i * 13 % 10 AS qty, (i * 37 % 10000) / 100.0 AS price, 'tag' || (i % 1000) AS tag FROM range(100000) t(i);
    CREATE TABLE products AS SELECT i AS id, 'c' || (i % 20) AS category FROM range(1000) t(i);
    CREATE TABLE stores AS SELECT i AS id, 'r' || (i % 4) AS region FROM range(10) t(i);
    CREATE TABLE customers AS SELECT i AS id, 's' || (i % 5) AS segment FROM range(2000) t(i);
";

fn table(name: &str, columns: &[(&str, Kind)], rows: Vec<Vec<Value>>) -> TableData {
    let columns = columns.iter().map(|(name, kind)| ColumnSchema::new(*name, *kind, false)).collect();
    TableData { schema: TableSchema::new(name, columns, &["id"]), rows }
}

/// The tables; one sale in a hundred is of no known product.
pub(crate) fn dataset() -> Dataset {
    let named = |letter: &str, number: i64| Value::Text(format!("{letter}{number}"));
    let dimension = |name: &str, column: &str, letter: &str, rows: i64, different: i64| {
        let rows = (0..rows).map(|i| vec![Value::Integer(i), named(letter, i % different)]).collect();
        table(name, &[("id", Kind::Integer), (column, Kind::Text)], rows)
    };
    let sale = |i: i64| {
        vec![
            Value::Integer(i),
            Value::Integer(i * 7 % 1_010),
            Value::Integer(i % STORES),
            Value::Integer(i * 11 % CUSTOMERS),
            Value::Integer(i * 13 % 10),
            Value::Float((i * 37 % 10_000) as f64 / 100.0),
            named("tag", i % 1_000),
        ]
    };
    let columns = [
        ("id", Kind::Integer),
        ("product_id", Kind::Integer),
        ("store_id", Kind::Integer),
        ("customer_id", Kind::Integer),
        ("qty", Kind::Integer),
        ("price", Kind::Float),
        ("tag", Kind::Text),
    ];
    let tables = vec![
        table("sales", &columns, (0..ROWS).map(sale).collect()),
        dimension("products", "category", "c", PRODUCTS, 20),
        dimension("stores", "region", "r", STORES, 4),
        dimension("customers", "segment", "s", CUSTOMERS, 5),
    ];
    Dataset { clock: 20_000, tables }
}
