//! The tool `query`: runs one read-only SQL query and gives its result as a table.

use serde::Deserialize;
use tribunal_kit::{Database as _, Description, Failure, Host, Output, Tool, arguments};

/// The plugin.
#[derive(Debug)]
pub struct Query;

const CONTRACT: &str = r#"[contract]
name = "tool-query"

[[read]]
table = "*"
columns = ["*"]
"#;

const ARGUMENTS: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["sql"],
  "properties": {
    "sql": {"type": "string", "minLength": 1, "description": "One SELECT statement. Give every computed column a name with AS."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100000, "description": "Keep only the first rows of the result. Leave it out for a result that you want to hand in."}
  }
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    sql: String,
    #[serde(default)]
    limit: Option<u32>,
}

impl Tool for Query {
    fn describe() -> Description {
        Description::new("tool-query", env!("CARGO_PKG_VERSION"))
            .tool("query", "Runs one read-only SQL query and gives its result as a table.", ARGUMENTS)
            .contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, name: &str, text: &str) -> Result<Output, Failure> {
        if name != "query" {
            return Err(Failure::no_tool(name));
        }
        let Arguments { sql, limit } = arguments::parse(text)?;
        let mut output = Output::table(host.open("agent")?.query(&sql, &[])?);
        let kept = limit.unwrap_or(u32::MAX);
        if let Some(table) = output.table.as_mut().filter(|table| table.rows > kept) {
            output.text = format!("{} rows; only the first {kept} are shown", table.rows);
            table.truncate(kept as usize);
        }
        Ok(output)
    }
}

tribunal_kit::tool!(Query);

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
        sqlite::host("CREATE TABLE t (id INTEGER, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, NULL), (3, 'c')")
    }

    #[test]
    fn the_result_is_a_table() {
        let output = Query::call(&host(), "query", r#"{"sql": "SELECT * FROM t WHERE id > 1 ORDER BY id"}"#).unwrap();
        assert_eq!(output.text, "2 rows");
        let table = output.table.unwrap();
        assert_eq!(table.row(0), [Value::Integer(2), Value::Null]);
        assert_eq!(table.row(1), [Value::Integer(3), Value::Text("c".into())]);
    }

    #[test]
    fn a_cut_result_says_so() {
        let output = Query::call(&host(), "query", r#"{"sql": "SELECT * FROM t ORDER BY id", "limit": 2}"#).unwrap();
        assert_eq!(output.text, "3 rows; only the first 2 are shown");
        let table = output.table.unwrap();
        assert_eq!((table.len(), table.row(1)), (2, vec![Value::Integer(2), Value::Null]));
        let whole = Query::call(&host(), "query", r#"{"sql": "SELECT id FROM t", "limit": 3}"#).unwrap();
        assert_eq!((whole.text.as_str(), whole.table.unwrap().len()), ("3 rows", 3));
    }

    #[test]
    fn faults_name_their_cause() {
        let code = |name, text| Query::call(&host(), name, text).unwrap_err().code;
        assert_eq!(code("query", r#"{"sql": "SELEC"}"#), Code::Invalid);
        assert_eq!(code("query", r#"{"statement": "SELECT 1"}"#), Code::Invalid);
        assert_eq!(code("drop", r#"{"sql": "SELECT 1"}"#), Code::Unknown);
        let failure = Query::call(&host(), "query", r#"{"sql": 1}"#).unwrap_err();
        assert!(failure.message.starts_with("argument sql: "), "{}", failure.message);
    }

    #[test]
    fn every_tool_is_closed() {
        let description = Query::describe();
        assert_eq!(description.tools.len(), 1);
        assert!(loose_tools(&description).is_empty());
    }
}
