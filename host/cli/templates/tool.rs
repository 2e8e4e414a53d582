//! The tool `count_rows`: how many rows a table has.

use serde::Deserialize;
use tribunal_kit::{Database as _, Description, Failure, Host, Output, Tool, arguments, quoted};

/// The plugin.
#[derive(Debug)]
pub struct Plugin;

/// What this plugin asks for. A task grants as much of it as it wants to, and never more.
const CONTRACT: &str = concat!(
    "[contract]\nname = \"",
    env!("CARGO_PKG_NAME"),
    r#""

[[read]]
table = "*"
columns = ["*"]
"#
);

/// The JSON Schema of the arguments; an agent's call that does not fit never comes here.
const ARGUMENTS: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["table"],
  "properties": {
    "table": {"type": "string", "description": "The table's name."}
  }
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    table: String,
}

impl Tool for Plugin {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .tool("count_rows", "Counts the rows of a table.", ARGUMENTS)
            .contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, name: &str, text: &str) -> Result<Output, Failure> {
        if name != "count_rows" {
            return Err(Failure::no_tool(name));
        }
        let Arguments { table } = arguments::parse(text)?;
        let session = host.open("agent")?;
        host.log(&format!("{} tables are granted", session.tables().len()));
        let sql = format!("SELECT COUNT(*) AS row_count FROM {}", quoted(&table));
        Ok(Output::table(session.query(&sql, &[])?))
    }
}

tribunal_kit::tool!(Plugin);

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_kit::testing::{NoDatabase, TestHost, loose_tools};
    use tribunal_kit::{Cells, Code, Column, Database, Table, TableInfo, Value};

    /// A database that knows one answer to one question.
    #[derive(Clone)]
    struct Paper;

    impl Database for Paper {
        fn tables(&self) -> Vec<TableInfo> {
            Vec::new()
        }

        fn query(&self, sql: &str, _parameters: &[Value]) -> Result<Table, Failure> {
            assert_eq!(sql, "SELECT COUNT(*) AS row_count FROM \"invoices\"");
            let count = Column { name: "row_count".to_owned(), nulls: Vec::new(), cells: Cells::Integers(vec![7]) };
            Ok(Table::new(1, vec![count]))
        }

        fn change(&self, _sql: &str, _parameters: &[Value]) -> Result<u64, Failure> {
            unreachable!("this tool only reads")
        }
    }

    #[test]
    fn rows_are_counted() {
        let output = Plugin::call(&TestHost::new(Paper), "count_rows", r#"{"table": "invoices"}"#).unwrap();
        assert_eq!(output.table.unwrap().value(0, 0), Value::Integer(7));
    }

    #[test]
    fn what_is_not_granted_is_unknown() {
        let host = TestHost::new(NoDatabase);
        let failure = Plugin::call(&host, "count_rows", r#"{"table": "invoices"}"#).unwrap_err();
        assert_eq!(failure.code, Code::Unknown);
        assert_eq!(Plugin::call(&host, "drop_table", "{}").unwrap_err().code, Code::Unknown);
    }

    #[test]
    fn every_tool_is_closed() {
        assert!(loose_tools(&Plugin::describe()).is_empty());
    }
}
