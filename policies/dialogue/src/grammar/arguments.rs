//! The JSON of arguments, from a tool's schema. It is written in one way only: keys in the schema's
//! order, no blanks but the style's, and no escapes but those that are needed; so every call reads
//! back as the bytes it was.

use serde_json::{Map, Value as Json, json};

use crate::grammar::lark::{Rules, Separators, literal};

/// The argument that holds SQL.
const SQL: &str = "sql";
/// What such an argument is.
pub(super) const SQL_RULE: &str = r#""\"" sql "\"""#;
/// How long a text may be where its schema sets no bound.
const TEXT_MAX: u64 = 500;
/// How far from zero an integer lies where its schema sets no bound.
const INTEGER_MAX: i64 = 999_999_999;

/// The terminals that the rules of values use.
pub(super) fn terminals(rules: &mut Rules) {
    // A character of a JSON string. An angle bracket could begin a tag.
    rules.add("TEXT_CHAR", r#"/[^"\\<\x00-\x1f]|\\["\\n]/"#);
    // Numbers that a double holds exactly enough to be printed again as they were.
    rules.add("NUMBER", r"/-?[1-9][0-9]{0,8}(\.[0-9]{0,3}[1-9])?|0(\.[0-9]{0,3}[1-9])?/");
    rules.add("scalar", r#"text_any | NUMBER | "true" | "false" | "null""#);
    rules.add("text_any", &text_body(0, TEXT_MAX));
}

/// The rule of an object with the properties of `schema`. Gives the rule's name.
pub(super) fn object(rules: &mut Rules, separators: Separators, schema: &Json) -> Result<String, String> {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&none);
    let required: Vec<&str> =
        schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    if let Some(lacking) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(format!("property {lacking} is required but not described"));
    }
    // From the last property backwards: what may follow, at the start and behind another one.
    let (mut first, mut later) = (rules.fresh("\"\""), rules.fresh("\"\""));
    for (name, property) in properties.iter().rev() {
        let value =
            value(rules, separators, name, property).map_err(|problem| format!("property {name}: {problem}"))?;
        let key = literal(&format!("{}{}", Json::from(name.as_str()), separators.key));
        let with = format!("{key} {value} {later}");
        let behind = format!("{} {with}", literal(separators.item));
        let optional = !required.contains(&name.as_str());
        let or = |with: String, without: &str| if optional { format!("{with} | {without}") } else { with };
        (first, later) = (rules.fresh(&or(with, &first)), rules.fresh(&or(behind, &later)));
    }
    Ok(rules.fresh(&format!("\"{{\" {first} \"}}\"")))
}

/// The rule of one value. Gives the rule's name.
fn value(rules: &mut Rules, separators: Separators, name: &str, schema: &Json) -> Result<String, String> {
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let values: Vec<String> = values.iter().map(|value| literal(&value.to_string())).collect();
        return Ok(rules.fresh(&values.join(" | ")));
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Json::String(kind)) => vec![kind.as_str()],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => return Ok("scalar".to_owned()),
    };
    let kinds = kinds.into_iter().map(|kind| of_kind(rules, separators, name, kind, schema));
    let kinds = kinds.collect::<Result<Vec<String>, String>>()?;
    Ok(rules.fresh(&kinds.join(" | ")))
}

fn of_kind(rules: &mut Rules, separators: Separators, name: &str, kind: &str, schema: &Json) -> Result<String, String> {
    let size = |key: &str| schema.get(key).and_then(Json::as_u64);
    match kind {
        "string" if name == SQL => Ok(rules.fresh(SQL_RULE)),
        "string" => Ok(rules.fresh(&text_body(size("minLength").unwrap_or(0), size("maxLength").unwrap_or(TEXT_MAX)))),
        "integer" => Ok(rules.fresh(&integer(schema))),
        "number" => Ok("NUMBER".to_owned()),
        "boolean" => Ok(rules.fresh(r#""true" | "false""#)),
        "null" => Ok(rules.fresh("\"null\"")),
        "object" => object(rules, separators, schema),
        "array" => {
            let item = match schema.get("items") {
                Some(items) => value(rules, separators, "", items)?,
                None => "scalar".to_owned(),
            };
            let more = rules.fresh(&format!("{} {item}", literal(separators.item)));
            Ok(rules.fresh(&format!("\"[\" ({item} {more}{{0,99}})? \"]\"")))
        }
        other => Err(format!("type `{other}` has no grammar")),
    }
}

/// A JSON string of so many characters.
fn text_body(min: u64, max: u64) -> String {
    format!("\"\\\"\" TEXT_CHAR{{{min},{max}}} \"\\\"\"")
}

/// An integer within the schema's bounds; zero has one way to be written, and it has no sign.
fn integer(schema: &Json) -> String {
    let bound = |key: &str, usual: i64| schema.get(key).and_then(Json::as_i64).unwrap_or(usual);
    let (least, most) = (bound("minimum", -INTEGER_MAX), bound("maximum", INTEGER_MAX));
    let from_one = |least: i64, most: i64| {
        let range = json!({"type": "integer", "minimum": least.max(1), "maximum": most});
        (most >= 1).then(|| format!("%json {range}"))
    };
    let negative = from_one(most.saturating_neg(), least.saturating_neg()).map(|range| format!("\"-\" {range}"));
    let zero = (least <= 0 && most >= 0).then(|| "\"0\"".to_owned());
    [from_one(least, most), zero, negative].into_iter().flatten().collect::<Vec<_>>().join(" | ")
}
