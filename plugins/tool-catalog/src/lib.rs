//! What there is in the database, as far as the contract reaches: tables, columns, values.

use serde::Deserialize;
use tribunal_kit::{
    Column, Database, Description, Failure, Host, Output, Table, TableInfo, Tool, Verb, arguments, quoted,
};

/// The plugin.
#[derive(Debug)]
pub struct Catalog;

const CONTRACT: &str = r#"[contract]
name = "tool-catalog"

[[read]]
table = "*"
columns = ["*"]
"#;

const LIST_TABLES: &str = r#"{"type": "object", "additionalProperties": false, "properties": {}}"#;

const DESCRIBE_TABLE: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["table"],
  "properties": {
    "table": {"type": "string", "description": "The table's name, as list_tables gives it."}
  }
}"#;

const SAMPLE_VALUES: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["table", "column"],
  "properties": {
    "table": {"type": "string", "description": "The table's name, as list_tables gives it."},
    "column": {"type": "string", "description": "The column's name, as describe_table gives it."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "How many values at most; 10 by default."}
  }
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribeTable {
    table: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SampleValues {
    table: String,
    column: String,
    #[serde(default)]
    limit: Option<u32>,
}

impl Tool for Catalog {
    fn describe() -> Description {
        Description::new("tool-catalog", env!("CARGO_PKG_VERSION"))
            .tool(
                "list_tables",
                "Lists the tables: what one row is, and the columns by name.",
                LIST_TABLES,
            )
            .tool(
                "describe_table",
                "Describes a table: each column with its kind, its meaning, whether it may be NULL and whether it is part of the key.",
                DESCRIBE_TABLE,
            )
            .tool(
                "sample_values",
                "Gives the first distinct values of a column in order, NULL left out.",
                SAMPLE_VALUES,
            )
            .contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, name: &str, text: &str) -> Result<Output, Failure> {
        match name {
            "list_tables" => {
                let NoArguments {} = arguments::parse(text)?;
                Ok(list_tables(&host.open("agent")?.tables()))
            }
            "describe_table" => {
                let DescribeTable { table } = arguments::parse(text)?;
                Ok(describe_table(find(&host.open("agent")?.tables(), &table)?))
            }
            "sample_values" => sample_values(&host.open("agent")?, &arguments::parse(text)?),
            _ => Err(Failure::no_tool(name)),
        }
    }
}

tribunal_kit::tool!(Catalog);

fn list_tables(tables: &[TableInfo]) -> Output {
    let columns: Vec<String> = tables.iter().map(|table| names(table.columns.iter().map(|c| &c.name))).collect();
    let mut output = Output::table(Table::new(
        tables.len(),
        vec![
            Column::texts("table", tables.iter().map(|table| table.name.as_str())),
            Column::texts("description", tables.iter().map(|table| table.description.as_str())),
            Column::texts("columns", columns.iter().map(String::as_str)),
        ],
    ));
    output.text = format!("{} tables", tables.len());
    output
}

fn describe_table(table: &TableInfo) -> Output {
    let columns = &table.columns;
    let is_key = |name: &String| table.primary_key.contains(name);
    let verbs: Vec<String> = table.verbs.iter().map(|verb| verb_name(*verb).to_owned()).collect();
    let about = if table.description.is_empty() { String::new() } else { format!(": {}", table.description) };
    Output {
        text: format!("{}{about} (you may {})", table.name, names(&verbs)),
        table: Some(Table::new(
            columns.len(),
            vec![
                Column::texts("column", columns.iter().map(|column| column.name.as_str())),
                Column::texts("kind", columns.iter().map(|column| column.kind.name())),
                Column::booleans("nullable", columns.iter().map(|column| column.nullable)),
                Column::booleans("key", columns.iter().map(|column| is_key(&column.name))),
                Column::texts("description", columns.iter().map(|column| column.description.as_str())),
            ],
        )),
    }
}

fn sample_values(session: &impl Database, wanted: &SampleValues) -> Result<Output, Failure> {
    let tables = session.tables();
    let table = find(&tables, &wanted.table)?;
    let column = table.column(&wanted.column).ok_or_else(|| {
        let known = names(table.columns.iter().map(|column| &column.name));
        Failure::unknown(format!("no column {} in {}; it has {known}", wanted.column, table.name))
    })?;
    let limit = wanted.limit.unwrap_or(10).clamp(1, 20);
    let name = quoted(&column.name);
    let sql = format!(
        "SELECT DISTINCT {name} FROM {} WHERE {name} IS NOT NULL ORDER BY {name} LIMIT {}",
        quoted(&table.name),
        limit + 1
    );
    let mut values = session.query(&sql, &[])?;
    let more = values.rows > limit;
    values.truncate(limit as usize);
    let text = match (values.rows, more) {
        (0, _) => "no values but NULL".to_owned(),
        (rows, true) => format!("the first {rows} values; there are more"),
        (1, false) => "1 value, all there is".to_owned(),
        (rows, false) => format!("{rows} values, all there are"),
    };
    Ok(Output { text, table: Some(values) })
}

fn find<'t>(tables: &'t [TableInfo], name: &str) -> Result<&'t TableInfo, Failure> {
    let exact = tables.iter().find(|table| table.name == name);
    exact.or_else(|| tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))).ok_or_else(|| {
        let known = names(tables.iter().map(|table| &table.name));
        Failure::unknown(format!("no table {name}; there are {known}"))
    })
}

fn names<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Read => "read",
        Verb::Insert => "insert",
        Verb::Update => "update",
        Verb::Delete => "delete",
    }
}

#[cfg(test)]
#[path = "../../kit/testing/sqlite.rs"]
mod sqlite;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{self, Sqlite};
    use tribunal_kit::testing::{TestHost, loose_tools};
    use tribunal_kit::{Code, Value};

    fn host() -> TestHost<Sqlite> {
        sqlite::host(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT NOT NULL, \"odd \"\" name\" DATE);
             CREATE TABLE accounts (id INTEGER PRIMARY KEY);
             INSERT INTO orders VALUES (1, 'paid', NULL), (2, 'open', NULL), (3, 'paid', NULL), (4, 'void', '2024-05-01')",
        )
    }

    fn call(name: &str, text: &str) -> Result<Output, Failure> {
        Catalog::call(&host(), name, text)
    }

    fn texts(output: &Output, column: &str) -> Vec<String> {
        let table = output.table.as_ref().unwrap();
        let column = table.column(column).unwrap();
        (0..table.len()).map(|row| column.text(row).unwrap().to_owned()).collect()
    }

    #[test]
    fn tables_are_listed_with_their_columns() {
        let output = call("list_tables", "{}").unwrap();
        assert_eq!(texts(&output, "table"), ["accounts", "orders"]);
        assert_eq!(texts(&output, "columns"), ["id", "id, state, odd \" name"]);
        assert_eq!(output.text, "2 tables");
    }

    #[test]
    fn columns_are_described() {
        let output = call("describe_table", r#"{"table": "ORDERS"}"#).unwrap();
        assert_eq!(texts(&output, "kind"), ["integer", "text", "date"]);
        let table = output.table.unwrap();
        let flags = |name: &str| table.column(name).unwrap().cells.clone();
        assert_eq!(flags("nullable"), tribunal_kit::Cells::Booleans(vec![true, false, true]));
        assert_eq!(flags("key"), tribunal_kit::Cells::Booleans(vec![true, false, false]));
        assert_eq!(output.text, "orders (you may read, insert, update, delete)");
    }

    #[test]
    fn values_come_once_in_order_and_bounded() {
        let all = call("sample_values", r#"{"table": "orders", "column": "state"}"#).unwrap();
        assert_eq!(texts(&all, "state"), ["open", "paid", "void"]);
        assert_eq!(all.text, "3 values, all there are");
        let some = call("sample_values", r#"{"table": "orders", "column": "state", "limit": 2}"#).unwrap();
        assert_eq!(texts(&some, "state"), ["open", "paid"]);
        assert_eq!(some.text, "the first 2 values; there are more");
        let dates = call("sample_values", r#"{"table": "orders", "column": "odd \" name"}"#).unwrap();
        assert_eq!(dates.text, "1 value, all there is");
        assert_eq!(dates.table.unwrap().row(0), [Value::Date(19_844)]);
        let none = call("sample_values", r#"{"table": "accounts", "column": "id"}"#).unwrap();
        assert_eq!(none.text, "no values but NULL");
    }

    #[test]
    fn names_that_are_not_there_are_unknown() {
        for (name, text, message) in [
            ("describe_table", r#"{"table": "order"}"#, "no table order; there are accounts, orders"),
            ("sample_values", r#"{"table": "x", "column": "id"}"#, "no table x; there are accounts, orders"),
            (
                "sample_values",
                r#"{"table": "accounts", "column": "id\" FROM x --"}"#,
                "no column id\" FROM x -- in accounts; it has id",
            ),
            ("drop_table", r#"{"table": "orders"}"#, "no tool drop_table here"),
        ] {
            let failure = call(name, text).unwrap_err();
            assert_eq!((failure.code, failure.message.as_str()), (Code::Unknown, message));
        }
        assert_eq!(call("list_tables", r#"{"all": true}"#).unwrap_err().code, Code::Invalid);
    }

    #[test]
    fn every_tool_is_closed() {
        let description = Catalog::describe();
        assert_eq!(description.tools.len(), 3);
        assert!(loose_tools(&description).is_empty());
    }
}
