//! What the business means by its words: the table `metric_definitions`.

use serde::Deserialize;
use tribunal_kit::{Database as _, Description, Failure, Host, Output, Tool, Value, arguments};

/// The plugin.
#[derive(Debug)]
pub struct Metrics;

const CONTRACT: &str = r#"[contract]
name = "tool-metrics"

[[read]]
table = "metric_definitions"
columns = ["name", "meaning", "grain", "population", "time_window", "unit"]
"#;

const LIST_METRICS: &str = r#"{"type": "object", "additionalProperties": false, "properties": {}}"#;

const DESCRIBE_METRIC: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["name"],
  "properties": {
    "name": {"type": "string", "description": "The metric's name, as list_metrics gives it."}
  }
}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribeMetric {
    name: String,
}

impl Tool for Metrics {
    fn describe() -> Description {
        Description::new("tool-metrics", env!("CARGO_PKG_VERSION"))
            .tool("list_metrics", "Lists the defined metrics with their meaning.", LIST_METRICS)
            .tool(
                "describe_metric",
                "Describes a metric: meaning, grain, population (who counts), time window and unit.",
                DESCRIBE_METRIC,
            )
            .contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, name: &str, text: &str) -> Result<Output, Failure> {
        match name {
            "list_metrics" => {
                let NoArguments {} = arguments::parse(text)?;
                let sql = "SELECT name, meaning FROM metric_definitions ORDER BY name";
                Ok(Output::table(host.open("agent")?.query(sql, &[])?))
            }
            "describe_metric" => {
                let DescribeMetric { name } = arguments::parse(text)?;
                describe_metric(host, &name)
            }
            _ => Err(Failure::no_tool(name)),
        }
    }
}

tribunal_kit::tool!(Metrics);

fn describe_metric<H: Host>(host: &H, name: &str) -> Result<Output, Failure> {
    let session = host.open("agent")?;
    let sql = "SELECT name, meaning, grain, population, time_window, unit \
               FROM metric_definitions WHERE name = $1";
    let found = session.query(sql, &[Value::Text(name.to_owned())])?;
    if !found.is_empty() {
        return Ok(Output { text: String::new(), table: Some(found) });
    }
    let known = session.query("SELECT name FROM metric_definitions ORDER BY name", &[])?;
    let column = known.column("name")?;
    let known: Vec<&str> = (0..known.len()).filter_map(|row| column.text(row)).collect();
    Err(Failure::unknown(format!("no metric {name}; there are {}", known.join(", "))))
}

#[cfg(test)]
#[path = "../../kit/testing/sqlite.rs"]
mod sqlite;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{self, Sqlite};
    use tribunal_kit::Code;
    use tribunal_kit::testing::{TestHost, loose_tools};

    fn host() -> TestHost<Sqlite> {
        sqlite::host(
            "CREATE TABLE metric_definitions (name TEXT, meaning TEXT, grain TEXT, population TEXT, time_window TEXT, unit TEXT);
             INSERT INTO metric_definitions VALUES
               ('revenue', 'money invoiced', 'invoice', 'no test accounts', 'calendar month', 'EUR'),
               ('churn', 'accounts lost', 'account', 'paying', 'quarter', 'accounts')",
        )
    }

    fn text(value: &str) -> Value {
        Value::Text(value.to_owned())
    }

    #[test]
    fn metrics_are_listed_by_name() {
        let output = Metrics::call(&host(), "list_metrics", "{}").unwrap();
        let table = output.table.unwrap();
        assert_eq!(table.row(0), [text("churn"), text("accounts lost")]);
        assert_eq!(table.row(1), [text("revenue"), text("money invoiced")]);
    }

    #[test]
    fn a_metric_is_described_whole() {
        let output = Metrics::call(&host(), "describe_metric", r#"{"name": "revenue"}"#).unwrap();
        let row = ["revenue", "money invoiced", "invoice", "no test accounts", "calendar month", "EUR"];
        assert_eq!(output.table.unwrap().row(0), row.map(text));
    }

    #[test]
    fn an_unknown_metric_names_the_known_ones() {
        let failure = Metrics::call(&host(), "describe_metric", r#"{"name": "x' OR '1'='1"}"#).unwrap_err();
        assert_eq!(failure.code, Code::Unknown);
        assert_eq!(failure.message, "no metric x' OR '1'='1; there are churn, revenue");
    }

    #[test]
    fn every_tool_is_closed() {
        let description = Metrics::describe();
        assert_eq!(description.tools.len(), 2);
        assert!(loose_tools(&description).is_empty());
    }
}
