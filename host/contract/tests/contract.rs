//! Contracts, read and written, and every kind of mistake in them.
#![expect(clippy::unwrap_used, reason = "tests")]

use tribunal_contract::{Contract, ContractError, Wanted};
use tribunal_protocol::schema::{ColumnSchema, TableSchema};
use tribunal_protocol::session::Verb;
use tribunal_protocol::{Kind, Value};

const ANALYST: &str = r#"
    [contract]
    name = "billing-analyst"
    [[read]]
    table = "invoices"
    columns = ["total", "id", "account_id"]
    rows = "voided = FALSE and total >= 10.50"
    [[write]]
    table = "refunds"
    verbs = ["insert"]
    columns = ["invoice_id", "amount"]
    [budget]
    statements = 40
    bytes_returned = "1 MiB"
    memory = "64 MiB"
"#;

fn schemas() -> Vec<TableSchema> {
    let table = |name: &str, columns: &[(&str, Kind)]| {
        let columns = columns.iter().map(|(name, kind)| ColumnSchema::new(*name, *kind, true)).collect();
        TableSchema::new(name, columns, &["id"])
    };
    let invoices = [
        ("id", Kind::Integer),
        ("account_id", Kind::Integer),
        ("total", Kind::Decimal),
        ("voided", Kind::Boolean),
        ("issued_on", Kind::Date),
        ("note", Kind::Text),
    ];
    let refunds = [("id", Kind::Integer), ("invoice_id", Kind::Integer), ("amount", Kind::Decimal)];
    vec![table("invoices", &invoices), table("refunds", &refunds)]
}

fn error(text: &str) -> ContractError {
    Contract::parse(text).unwrap_err()
}

fn read(table: &str, columns: &str, rows: &str) -> Contract {
    let text = format!("[contract]\nname = \"c\"\n[[read]]\ntable = \"{table}\"\ncolumns = {columns}\nrows = {rows:?}");
    Contract::parse(&text).unwrap()
}

#[test]
fn the_canonical_text_is_this_one() {
    let contract = Contract::parse(ANALYST).unwrap();
    let expected = r#"[contract]
name = "billing-analyst"
version = 1

[[read]]
table = "invoices"
columns = ["account_id", "id", "total"]
rows = "total >= 10.5 AND voided = FALSE"

[[write]]
table = "refunds"
verbs = ["insert"]
columns = ["amount", "invoice_id"]

[budget]
statements = 40
bytes_returned = 1048576
memory = 67108864
"#;
    assert_eq!(contract.to_toml(), expected);
    assert_eq!(Contract::parse(expected).unwrap(), contract);
}

#[test]
fn unknown_keys_are_named_with_what_is_allowed() {
    let wrong = error("[contract]\nname = \"x\"\n[[read]]\ntable = \"t\"\ncolums = [\"a\"]");
    let text = wrong.to_string();
    assert!(text.starts_with("line 5: "), "{text}");
    assert!(text.contains("`colums`") && text.contains("`columns`"), "{text}");
    for wrong in [
        "[contract]\nname = \"x\"\n[budget]\nrows = 3",
        "[contract]\nname = \"x\"\n[[write]]\ntable = \"t\"\nverbs = [\"drop\"]\ncolumns = [\"a\"]",
        "[contract]\nname = \"x\"\n[budget]\nstatements = -1",
        "[contract]\nname = \"x\"\n[budget]\nmemory = \"64 MB\"",
        "[contract]\nname = 3",
        "name = \"x\"",
        "[[read]",
    ] {
        assert!(matches!(error(wrong), ContractError::Syntax { .. }), "{wrong}");
    }
}

#[test]
fn contradictions_are_refused() {
    let twice = "[contract]\nname = \"x\"\n[[read]]\ntable = \"t\"\ncolumns = [\"a\"]\n\
                 [[read]]\ntable = \"t\"\ncolumns = [\"b\"]";
    assert!(error(twice).to_string().contains("stands twice"));
    let star = "[contract]\nname = \"x\"\n[[read]]\ntable = \"t\"\ncolumns = [\"*\", \"a\"]";
    assert!(error(star).to_string().contains("`*` stands for all columns"));
    let verbs = "[contract]\nname = \"x\"\n[[write]]\ntable = \"t\"\nverbs = [\"read\"]\ncolumns = []";
    assert!(error(verbs).to_string().contains("use [[read]]"));
    let missing = "[contract]\nname = \"x\"\n[[write]]\ntable = \"t\"\nverbs = [\"insert\"]";
    assert!(error(missing).to_string().contains("`columns` is missing"));
    let newer = error("[contract]\nname = \"x\"\nversion = 2");
    assert_eq!(newer, ContractError::Newer { found: 2, known: 1 });
}

#[test]
fn filters_outside_the_grammar_are_refused_with_what_is_allowed() {
    for (filter, part) in [
        ("total + 1 > 3", "no number"),
        ("lower(note) = 'x'", "follows lower"),
        ("note LIKE 'a%'", "follows note"),
        ("voided", "voided = TRUE"),
        ("total = NULL", "IS NULL"),
        ("1 = 1", "compare a column"),
        ("total > 3 OR", "ends where a value belongs"),
        ("(total > 3", "`)` is missing"),
        ("note = 'x", "never closed"),
        ("total > 3; DROP TABLE x", "no meaning"),
        ("total IN ()", "where a value belongs"),
        ("id = (SELECT 1)", "where a value belongs"),
    ] {
        let text = format!("[contract]\nname = \"c\"\n[[read]]\ntable = \"invoices\"\ncolumns = []\nrows = {filter:?}");
        let found = error(&text).to_string();
        assert!(found.contains(part), "{filter}: {found}");
    }
    let deep = format!("{}id = 1{}", "(".repeat(40), ")".repeat(40));
    assert!(tribunal_contract::Filter::parse(&deep).is_err());
}

#[test]
fn resolving_names_what_is_missing_and_what_there_is() {
    let table = read("invoises", "[\"id\"]", "id = 1").resolve(&schemas()).unwrap_err();
    let expected = "[[read]] table \"invoises\": no such table; the database has invoices, refunds";
    assert_eq!(table.to_string(), expected);
    let column = read("invoices", "[\"totl\"]", "id = 1").resolve(&schemas()).unwrap_err();
    let text = column.to_string();
    assert!(text.contains("no column \"totl\"; the table has total, "), "{text}");
    for (filter, part) in [
        ("secret = 1", "no column \"secret\""),
        ("id = 'x'", "id is integer: 'x' is not"),
        ("id = 1.5", "id is integer: 1.5 is not"),
        ("issued_on > 'soon'", "issued_on is date"),
        ("id = total", "compare columns of one kind"),
        ("voided IN (1)", "voided is boolean: 1 is not"),
    ] {
        let wrong = read("invoices", "[\"id\"]", filter).resolve(&schemas()).unwrap_err();
        assert!(wrong.to_string().contains(part), "{filter}: {wrong}");
    }
    let blind = "[contract]\nname = \"x\"\n[[write]]\ntable = \"refunds\"\nverbs = [\"delete\"]";
    let wrong = Contract::parse(blind).unwrap().resolve(&schemas()).unwrap_err();
    assert!(wrong.to_string().contains("needs rows that can be seen"), "{wrong}");
}

/// Rows of `invoices`: id, account_id, total, voided, issued_on, note.
fn row(id: i64, voided: Option<bool>, note: Option<&str>) -> Vec<Value> {
    vec![
        Value::Integer(id),
        Value::Null,
        Value::Decimal(id.into()),
        voided.map_or(Value::Null, Value::Boolean),
        Value::Date(i32::try_from(id).unwrap()),
        note.map_or(Value::Null, |note| Value::Text(note.to_owned())),
    ]
}

fn holds(filter: &str, row: &[Value]) -> bool {
    let effective = read("invoices", "[\"id\"]", filter).resolve(&schemas()).unwrap();
    let rule = effective.table("invoices").unwrap().rows.clone().unwrap();
    let compare = |a: &Value, b: &Value| (!a.is_null() && !b.is_null()).then(|| a.total_cmp(b));
    rule.condition.holds(row, &compare, &Value::is_null)
}

#[test]
fn filters_have_three_truth_values() {
    // Truth worked out by hand from SQL's tables for AND, OR and NOT.
    let unknown = row(5, None, None);
    let known = row(5, Some(true), Some("né's"));
    for (filter, on_unknown, on_known) in [
        ("voided = TRUE", false, true),
        ("NOT voided = TRUE", false, false),
        ("NOT (voided = FALSE)", false, true),
        ("voided = TRUE OR id = 5", true, true),
        ("voided = TRUE OR id = 6", false, true),
        ("NOT (voided = TRUE AND id = 6)", true, true),
        ("NOT (voided = TRUE AND id = 5)", false, false),
        ("voided IS NULL", true, false),
        ("voided IS NOT NULL", false, true),
        ("note IN ('a', 'né''s')", false, true),
        ("note NOT IN ('a', 'b')", false, true),
        ("id BETWEEN 5 AND 6", true, true),
        ("id NOT BETWEEN 5 AND 6", false, false),
        ("total > 4.99 AND 5.01 > total", true, true),
        ("issued_on = '1970-01-06'", true, true),
        ("issued_on < DATE '1970-01-06'", false, false),
        ("id = account_id", false, false),
        ("\"id\" != 4", true, true),
    ] {
        assert_eq!(holds(filter, &unknown), on_unknown, "{filter} with NULLs");
        assert_eq!(holds(filter, &known), on_known, "{filter} without NULLs");
    }
}

#[test]
fn effective_shows_what_is_granted_and_nothing_else() {
    let effective = Contract::parse(ANALYST).unwrap().resolve(&schemas()).unwrap();
    let invoices = effective.table("invoices").unwrap();
    assert_eq!(invoices.readable, [0, 1, 2]);
    assert_eq!(invoices.info().primary_key, ["id"]);
    assert_eq!(invoices.verbs(), [Verb::Read]);
    let refunds = effective.find("REFUNDS").unwrap();
    assert_eq!(refunds.verbs(), [Verb::Insert]);
    assert!(refunds.readable.is_empty() && refunds.info().primary_key.is_empty());
    let lines: Vec<String> = effective.explain().iter().map(|row| row.to_line()).collect();
    let expected = ["read id, account_id, total where total >= 10.5 AND voided = FALSE", "insert invoice_id, amount"];
    assert_eq!(lines, expected);
    assert_eq!(effective.explain()[0].hidden, ["voided", "issued_on", "note"]);
    assert_eq!(effective.allowance().statements, 40);
    assert_eq!(effective.allowance().rows_written, 10_000);
}

#[test]
fn why_not_names_the_line_that_would_allow_it() {
    let effective = Contract::parse(ANALYST).unwrap().resolve(&schemas()).unwrap();
    let why = |table, column, verb| effective.why_not(Wanted { table, column, verb });
    let column = why("invoices", Some("note"), Verb::Read);
    assert!(column.starts_with("read of invoices.note was tried; "), "{column}");
    assert!(column.contains("grants read id, account_id, total where"), "{column}");
    let line = "add \"note\" to `columns` of [[read]] table = \"invoices\"";
    assert!(column.ends_with(line), "{column}");
    let delete = why("refunds", None, Verb::Delete);
    let line = "add [[write]] table = \"refunds\" verbs = [\"delete\"]";
    assert!(delete.ends_with(line), "{delete}");
}

#[test]
fn an_entry_of_its_own_replaces_the_star() {
    let text = r#"
        [contract]
        name = "x"
        [[read]]
        table = "*"
        columns = ["*"]
        [[read]]
        table = "invoices"
        columns = []
    "#;
    let effective = Contract::parse(text).unwrap().resolve(&schemas()).unwrap();
    assert!(effective.table("invoices").is_none());
    assert_eq!(effective.table("refunds").unwrap().readable, [0, 1, 2]);
}

#[test]
fn the_name_is_no_part_of_the_effective_digest() {
    let one = read("invoices", "[\"id\"]", "id = 1");
    let other = Contract::parse(&one.to_toml().replace("\"c\"", "\"d\"")).unwrap();
    assert_ne!(one.digest(), other.digest());
    let digest = |contract: &Contract| contract.resolve(&schemas()).unwrap().digest();
    assert_eq!(digest(&one), digest(&other));
    assert_ne!(digest(&one), digest(&read("invoices", "[\"id\"]", "id = 2")));
    assert_ne!(digest(&one), digest(&read("invoices", "[\"total\"]", "id = 1")));
}
