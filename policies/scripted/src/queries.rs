//! Queries and arguments that scripted policies make up.

use serde_json::{Map, Value as Json, json};
use tribunal_protocol::Value;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Observation, Turn};
use tribunal_protocol::task::AnswerColumn;

/// A query whose result is one constant row with the wanted columns.
pub(crate) fn constant(columns: &[AnswerColumn], row: &[Value]) -> Action {
    let item = |(column, value): (&AnswerColumn, &Value)| format!("{} AS \"{}\"", literal(value), column.name);
    let items: Vec<String> = columns.iter().zip(row).map(item).collect();
    Action::call("query", json!({"sql": format!("SELECT {}", items.join(", "))}))
}

/// A query whose result is constant rows with the wanted columns.
pub(crate) fn constant_rows(columns: &[AnswerColumn], rows: &[Vec<Value>], first: &[Value]) -> Action {
    let one = |row: &[Value]| {
        let item = |(column, value): (&AnswerColumn, &Value)| format!("{} AS \"{}\"", literal(value), column.name);
        let items: Vec<String> = columns.iter().zip(row).map(item).collect();
        format!("SELECT {}", items.join(", "))
    };
    let rest: Vec<String> = rows.iter().skip(1).map(|row| one(row)).collect();
    let sql = [vec![one(first)], rest].concat().join(" UNION ALL ");
    Action::call("query", json!({ "sql": sql }))
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(b) => if *b { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Integer(_) => value.to_string(),
        Value::Float(_) => format!("CAST({value} AS FLOAT)"),
        Value::Decimal(_) => format!("CAST({value} AS DECIMAL)"),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Date(_) => format!("DATE '{value}'"),
        Value::Timestamp(_) => format!("TIMESTAMP '{}'", value.to_string().replace('T', " ")),
    }
}

/// Arguments for a tool: a table name seen so far for a table, a small number for a number.
pub(crate) fn spam_arguments(tool: &ToolSpec, turns: &[Turn]) -> Json {
    let table = seen_table(turns).unwrap_or_else(|| "accounts".to_owned());
    let fields = tool.arguments.get("properties").and_then(Json::as_object);
    let mut arguments = Map::new();
    for (name, schema) in fields.into_iter().flatten() {
        let value = match (name.as_str(), schema.get("type").and_then(Json::as_str)) {
            ("sql", _) => json!(format!("SELECT * FROM {table}")),
            ("table", _) => json!(table),
            (_, Some("integer" | "number")) => json!(1),
            (_, Some("boolean")) => json!(true),
            _ => json!("1"),
        };
        arguments.insert(name.clone(), value);
    }
    Json::Object(arguments)
}

/// The first table name that a listing showed.
fn seen_table(turns: &[Turn]) -> Option<String> {
    turns.iter().find_map(|turn| match &turn.observation {
        Observation::Result { table: Some(table), .. } if turn.action.tool == "list_tables" && table.rows > 0 => {
            table.columns.first().map(|column| column.value(0).to_string())
        }
        _ => None,
    })
}
