//! Random statements that are meant to break something: queries with tokens and bytes changed,
//! calls of every function with arguments that it cannot take, and chains as long as a statement
//! may be. Everything follows from a seed.

use tribunal_protocol::schema::Dataset;

use crate::random_queries::{Dice, random_query};

/// The statement of a seed; its tables are those of [`crate::random_queries::random_dataset`].
#[must_use]
pub fn random_text(seed: u64, dataset: &Dataset) -> String {
    let mut dice = Dice::new(seed, 3);
    match dice.below(10) {
        0..=2 => tokens_changed(&random_query(seed, dataset), &mut dice),
        3 => bytes_changed(&random_query(seed, dataset), &mut dice),
        4 | 5 => calls(&mut dice),
        6 => chain(&mut dice),
        7 => {
            let seed = *dice.pick(SEEDS);
            tokens_changed(seed, &mut dice)
        }
        8 => {
            let seed = *dice.pick(SEEDS);
            bytes_changed(seed, &mut dice)
        }
        _ => change(&mut dice),
    }
}

/// Statements that reach what ordinary ones do not.
const SEEDS: &[&str] = &[
    "SELECT * FROM SERIES(1000000000000)",
    "SELECT a.id FROM orders a JOIN orders b ON TRUE JOIN items c ON TRUE JOIN items d ON TRUE JOIN items e ON TRUE",
    "SELECT COUNT(*) FROM items a, items b, items c, items d, items e, items f, items g, items h WHERE a.qty = 99",
    "SELECT 1e308 * 10, 1e-308 / 10, 0.1 + 0.2, 9223372036854775807 + 1, -9223372036854775808 - 1",
    "SELECT ABS(-9223372036854775808), -(-9223372036854775807 - 1), 9223372036854775807 * 9223372036854775807",
    "SELECT DATE '9999-12-31' + INTERVAL '9999 years', DATE '0001-01-01' - 4000000, INTERVAL 9223372036854775807 DAY",
    "SELECT id * INTERVAL '1 day' * 9223372036854775807 FROM orders",
    "SELECT placed + customer_id * INTERVAL '1 month' FROM orders",
    "SELECT CAST('99999999999999999999999999999' AS DECIMAL) * CAST('99999999999999999999999999999' AS DECIMAL)",
    "SELECT total * total * total * total * total * total * total * total * total FROM orders",
    "SELECT SUM(9223372036854775807) FROM orders",
    "SELECT SUM(CAST('79228162514264337593543950335' AS DECIMAL)) FROM orders",
    "WITH a AS (SELECT note || note AS n FROM items), b AS (SELECT n || n AS n FROM a), c AS (SELECT n || n AS n FROM b) SELECT n || n FROM c",
    "SELECT REPLACE(REPLACE(REPLACE(note, 'a', 'aaaaaaaaaa'), 'a', 'aaaaaaaaaa'), 'a', 'aaaaaaaaaa') FROM items",
    "SELECT LPAD(note, 1000, 'é') || LPAD(note, 999999999999, '') FROM items",
    "SELECT SUBSTR(note, 9223372036854775807, 9223372036854775807), LEFT(note, 0), RIGHT('', 99) FROM items",
    "SELECT STRFTIME('%Q%', placed), STRFTIME('%Y-%m-%d', '9999-99-99'), TO_CHAR(placed, 'YYYY MM') FROM orders",
    "SELECT DATETIME(id * 1000000000, 'unixepoch'), DATE(customer_id, 'unixepoch', '+1 day') FROM orders",
    "SELECT (SELECT id FROM orders) FROM items",
    "SELECT * FROM orders WHERE id IN (SELECT order_id FROM items WHERE qty > ALL (SELECT qty FROM items))",
    "SELECT name FROM customers UNION SELECT status FROM orders EXCEPT SELECT note FROM items ORDER BY 1 LIMIT 3",
    "SELECT x.n FROM (SELECT COUNT(*) AS n FROM orders GROUP BY status HAVING COUNT(*) > 0) AS x WHERE x.n LIKE '%'",
    "SELECT $1, $2, ?, :a, @b, \"id\", `id`, [id], 'a''b', E'\\\\', U&'d', X'00', $$x$$ FROM orders",
    "SELECT CASE WHEN id THEN 1 END, id AND TRUE, NOT name, name + 1, vip - 1 FROM customers",
    "SELECT 'a' LIKE 'a\\', name LIKE city, name ILIKE city || '%_\\', '%' LIKE '\\%' FROM customers",
    "SELECT MAX(name) LIKE '%a%', MIN(name) || MAX(name), SUBSTR(MAX(name), 1, 2) FROM customers",
    "SELECT * FROM GLUE_TABLES; DROP TABLE orders",
    "SELECT NOW(), RANDOM(), CURRENT_DATE, GENERATE_UUID(), TICK(), \"\u{0}n0\"('a')",
    "SELECT * FROM orders FULL JOIN items ON TRUE WINDOW w AS (ORDER BY id) FOR UPDATE",
    "SELECT o.id, o.ID, O.\"id\", orders.id, public.o.id FROM public.orders o NATURAL JOIN customers USING (id)",
];

/// What stands in statements.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "DISTINCT",
    "ALL",
    "ANY",
    "AS",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    "CROSS JOIN",
    "NATURAL JOIN",
    "ON",
    "USING",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "AND",
    "OR",
    "NOT",
    "IN",
    "EXISTS",
    "BETWEEN",
    "LIKE",
    "ILIKE",
    "ESCAPE",
    "IS",
    "NULL",
    "TRUE",
    "FALSE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "INTERVAL",
    "DATE",
    "TIMESTAMP",
    "EXTRACT",
    "OVER",
    "FILTER",
    "PARTITION BY",
    "WITH",
    "RECURSIVE",
    "VALUES",
    "SET",
    "COLLATE",
    "AT TIME ZONE",
    "ARRAY",
    "ROW",
    "LATERAL",
    "(",
    ")",
    "((",
    "))",
    ",",
    ";",
    ".",
    "*",
    "+",
    "-",
    "/",
    "%",
    "||",
    "=",
    "<>",
    "<",
    ">",
    "<=",
    ">=",
    "::",
    "~",
    "^",
    "&",
    "|",
    "#",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "--",
    "/*",
    "*/",
    "$1",
    "?",
    "0",
    "1",
    "-1",
    "1e400",
    "9223372036854775807",
    "0.000000000000000000000000000001",
    "''",
    "'é'",
    "'日本'",
    "'a%_\\'",
    "'\0'",
    "\u{202e}",
    "id",
    "orders",
    "items",
    "customers",
    "t1",
    "t1.id",
    "qty",
    "note",
    "total",
    "placed",
    "COUNT(*)",
    "SUM",
    "MAX",
];

/// Functions, ours and others.
const FUNCTIONS: &[&str] = &[
    "ABS",
    "ROUND",
    "TRUNC",
    "FLOOR",
    "CEIL",
    "MOD",
    "POWER",
    "SQRT",
    "LN",
    "LOG",
    "LOG2",
    "LOG10",
    "EXP",
    "SIGN",
    "PI",
    "UPPER",
    "LOWER",
    "REVERSE",
    "LENGTH",
    "SUBSTR",
    "SUBSTRING",
    "LEFT",
    "RIGHT",
    "TRIM",
    "LTRIM",
    "RTRIM",
    "REPLACE",
    "STRPOS",
    "INSTR",
    "LPAD",
    "RPAD",
    "CONCAT",
    "CONCAT_WS",
    "COALESCE",
    "NULLIF",
    "IFNULL",
    "IIF",
    "GREATEST",
    "LEAST",
    "DATE",
    "DATETIME",
    "STRFTIME",
    "TO_CHAR",
    "TO_DATE",
    "DATE_PART",
    "DATE_TRUNC",
    "JULIANDAY",
    "UNIXEPOCH",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "TOTAL",
    "STDDEV",
    "VARIANCE",
    "BOOL_OR",
    "BOOL_AND",
    "REPEAT",
    "FORMAT",
    "ASCII",
    "CHR",
    "MD5",
    "HEX",
    "FIND_IDX",
    "SPLICE",
    "SLICE",
    "SORT",
    "POINT",
    "ADD_MONTH",
    "LAST_DAY",
    "TO_TIMESTAMP",
    "TO_TIME",
    "GCD",
    "LCM",
    "DIV",
    "INITCAP",
    "ACOS",
    "RADIANS",
    "ENTRIES",
    "DEDUP",
    "UNWRAP",
    "APPEND",
    "CAST",
    "EXTRACT",
];

/// Arguments that functions cannot take, and those that they can.
const ARGUMENTS: &[&str] = &[
    "NULL",
    "''",
    "'é'",
    "'a'",
    "'日本語'",
    "0",
    "-1",
    "1",
    "2",
    "1000",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "1e308",
    "-1e308",
    "1e-300",
    "CAST('NaN' AS FLOAT)",
    "TRUE",
    "DATE '2024-02-29'",
    "TIMESTAMP '9999-12-31 23:59:59'",
    "'%'",
    "'%Q'",
    "'%Y-%m-%dT%H:%M:%S%.f'",
    "'year'",
    "'week'",
    "'now'",
    "'unixepoch'",
    "INTERVAL '1' DAY",
    "INTERVAL '99999999999 months'",
    "id",
    "customer_id",
    "placed",
    "shipped",
    "total",
    "fee",
    "discount",
    "paid",
    "status",
    "status || status",
    "*",
    "DISTINCT id",
    "(SELECT MAX(id) FROM items)",
    "(SELECT name FROM customers)",
    "orders",
    "orders.*",
    "ROW(1, 2)",
    "ARRAY[1]",
    "COUNT(*)",
    "SUM(total)",
    "LPAD(status, 1000, 'é')",
];

fn calls(dice: &mut Dice) -> String {
    let call = |dice: &mut Dice, inside: Option<&str>| {
        let mut arguments: Vec<&str> = (0..dice.below(4)).map(|_| *dice.pick(ARGUMENTS)).collect();
        arguments.extend(inside);
        format!("{}({})", dice.pick(FUNCTIONS), arguments.join(", "))
    };
    let mut text = call(dice, None);
    for _ in 0..dice.below(4) {
        text = call(dice, Some(&text));
    }
    let clause = *dice.pick(&["", " WHERE id > 2", " GROUP BY status", " ORDER BY 1", " HAVING COUNT(*) > 0"]);
    match dice.below(4) {
        0 => format!("SELECT {text}"),
        1 => format!("SELECT id FROM orders WHERE {text} = {}{}", dice.pick(ARGUMENTS), clause.replace("WHERE", "AND")),
        _ => format!("SELECT {text} FROM orders{clause}"),
    }
}

/// Chains and nests, from short to far beyond every cap.
fn chain(dice: &mut Dice) -> String {
    let count = *dice.pick(&[3, 20, 49, 50, 63, 64, 150, 190, 399, 400, 401, 1_200, 3_000]);
    let (left, middle, right) = *dice.pick(&[
        ("", "1 + ", "1"),
        ("", "id - ", "id"),
        ("", "status || ", "status"),
        ("", "id = 1 AND ", "TRUE"),
        ("", "id = 1 OR ", "TRUE"),
        ("", "NOT ", "TRUE"),
        ("", "- ", "id"),
        ("(", "", "id)"),
        ("CASE WHEN TRUE THEN ", "", "1 END"),
        ("COALESCE(id, ", "", "1)"),
        ("ROUND(", "", "total, 1)"),
        ("(SELECT MAX(", "", "id) FROM orders)"),
        ("EXISTS (SELECT 1 FROM orders WHERE ", "", "TRUE)"),
        ("LOWER(", "", "status)"),
        ("", "", "id"),
    ]);
    let body = format!("{}{}{}", left.repeat(count), middle.repeat(count), right);
    let closing = right.strip_prefix("id").or_else(|| right.strip_prefix("TRUE")).or_else(|| right.strip_prefix('1'));
    let body =
        format!("{body}{}", closing.unwrap_or("").repeat(if left.is_empty() { 0 } else { count.saturating_sub(1) }));
    let after = *dice.pick(&[
        "",
        "::TEXT",
        "::INTEGER",
        " IS NULL",
        " IS NOT TRUE",
        " COLLATE \"C\"",
        " AT TIME ZONE 'UTC'",
        " IN (1)",
        " BETWEEN 1 AND 2",
        " LIKE 'a'",
        ".id",
        "[1]",
        "->'a'",
    ]);
    let body = if dice.chance(40) { format!("id{}", after.repeat(count)) } else { body };
    match dice.below(8) {
        0 => format!("SELECT 1 FROM orders{}", " JOIN items ON TRUE".repeat(count)),
        1 => format!("SELECT 1 FROM orders{}", ", items".repeat(count)),
        2 => format!(
            "SELECT id FROM orders{}",
            dice.pick(&[" UNION SELECT id FROM orders", " EXCEPT SELECT 1"]).repeat(count)
        ),
        3 => format!("SELECT {} FROM orders", vec!["status"; count].join(", ")),
        4 => format!("SELECT id FROM orders WHERE id IN ({})", vec!["1"; count].join(", ")),
        5 => {
            let open = "SELECT * FROM (".repeat(count);
            format!("{open}SELECT 1{}", ") AS x".repeat(count))
        }
        _ => format!("SELECT {body} FROM orders"),
    }
}

fn change(dice: &mut Dice) -> String {
    let text = *dice.pick(&[
        "INSERT INTO orders (id, discount, paid) VALUES (1000, 0.5, TRUE)",
        "INSERT INTO items SELECT id, 1, 2, 3.5, NULL, TIMESTAMP '2024-01-01', status FROM orders",
        "UPDATE items SET note = note || note || note, qty = qty * 9223372036854775807 WHERE line > 0",
        "UPDATE orders SET id = id + 1, status = LPAD(status, 1000, 'x')",
        "UPDATE orders SET shipped = shipped + id WHERE total BETWEEN 1 AND 3",
        "DELETE FROM items WHERE order_id IN (SELECT id FROM orders UNION SELECT 3) AND note LIKE '%a_'",
        "DELETE FROM orders WHERE id = (SELECT MAX(id) FROM orders)",
        "DELETE FROM customers",
    ]);
    match dice.below(3) {
        0 => text.to_owned(),
        1 => bytes_changed(text, dice),
        _ => tokens_changed(text, dice),
    }
}

/// Some words dropped, doubled, exchanged or replaced.
fn tokens_changed(text: &str, dice: &mut Dice) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for _ in 0..dice.between(1, 4) {
        let at = dice.below(words.len());
        match dice.below(5) {
            0 if words.len() > 1 => drop(words.remove(at)),
            1 => words.insert(at, *dice.pick(WORDS)),
            2 => words.insert(at, words[at]),
            3 => {
                let other = dice.below(words.len());
                words.swap(at, other);
            }
            _ => words[at] = *dice.pick(WORDS),
        }
    }
    words.join(" ")
}

/// Some bytes dropped, doubled or replaced.
fn bytes_changed(text: &str, dice: &mut Dice) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..dice.between(1, 6) {
        if bytes.is_empty() {
            break;
        }
        let at = dice.below(bytes.len());
        let byte =
            if dice.chance(70) { *dice.pick(b" '\"()*,.%_\\0123456789aAzZ+-/=<>|:;$") } else { random_byte(dice) };
        match dice.below(4) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, byte),
            2 => bytes.truncate(at + 1),
            _ => bytes[at] = byte,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn random_byte(dice: &mut Dice) -> u8 {
    u8::try_from(dice.below(256)).unwrap_or(0)
}
