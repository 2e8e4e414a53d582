//! What a plugin says of itself, read once and checked before anybody believes it.

use serde_json::Value as Json;
use tribunal_protocol::plugin::{Description, PluginKind, ToolSpec};

/// Bytes of a plugin's or a tool's name.
const NAME_BYTES: usize = 64;
/// Bytes of a version.
const VERSION_BYTES: usize = 64;
/// Tools of one plugin.
const TOOLS: usize = 64;
/// Bytes of a tool's description.
const DESCRIPTION_BYTES: usize = 4 << 10;
/// Bytes of a tool's schema, as JSON.
const SCHEMA_BYTES: usize = 64 << 10;
/// How deep a tool's schema may be nested. Readers of JSON end at 128, and a schema stands some
/// levels deep in every trace.
const SCHEMA_DEPTH: usize = 32;
/// Bytes of a pattern in a schema: what it compiles to grows faster than it does.
const PATTERN_BYTES: usize = 256;
/// Bytes of a requested contract.
const CONTRACT_BYTES: usize = 64 << 10;

/// The keywords by which a schema takes in another, or itself.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Checks a description of a plugin of `kind`.
///
/// # Errors
/// The first thing that is wrong with it, and what was expected.
pub(crate) fn check(description: &Description, kind: PluginKind) -> Result<(), String> {
    named("the plugin", &description.name)?;
    if !is_version(&description.version) {
        return Err(format!("version `{}`: three numbers such as `1.0.0` expected", start(&description.version)));
    }
    capped("the contract", description.contract.len(), CONTRACT_BYTES)?;
    let tools = &description.tools;
    match (kind, tools.len()) {
        (PluginKind::Tool, 0) => return Err("a tool plugin must describe at least one tool".to_owned()),
        (PluginKind::Tool, count) if count > TOOLS => {
            return Err(format!("{count} tools, and at most {TOOLS} are allowed; make several plugins"));
        }
        (PluginKind::Verifier | PluginKind::User, 1..) => {
            return Err(format!("a {kind} has no tools, and this one describes `{}`", start(&tools[0].name)));
        }
        _ => {}
    }
    for (place, tool) in tools.iter().enumerate() {
        check_tool(tool)?;
        if tools.iter().take(place).any(|other| other.name == tool.name) {
            return Err(format!("two tools are named `{}`; every tool needs a name of its own", tool.name));
        }
    }
    Ok(())
}

fn check_tool(tool: &ToolSpec) -> Result<(), String> {
    named("a tool", &tool.name)?;
    capped(&format!("the description of tool `{}`", tool.name), tool.description.len(), DESCRIPTION_BYTES)?;
    capped(&format!("the schema of tool `{}`", tool.name), tool.arguments.to_string().len(), SCHEMA_BYTES)?;
    check_schema(&tool.arguments, SCHEMA_DEPTH).map_err(|problem| format!("tool `{}`: {problem}", tool.name))?;
    let typed = tool.arguments.as_object().and_then(|schema| schema.get("type"));
    if typed.and_then(serde_json::Value::as_str) == Some("object") {
        return Ok(());
    }
    Err(format!("tool `{}`: the JSON Schema of its arguments must be an object with `\"type\": \"object\"`", tool.name))
}

/// Keeps out of a schema what makes checking it, or arguments by it, take long: the host does
/// that, and no fuel is counted there. Without references a schema is no larger than its text.
fn check_schema(schema: &Json, depth: usize) -> Result<(), String> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(format!("the schema of its arguments is nested more than {SCHEMA_DEPTH} levels deep; flatten it"));
    };
    match schema {
        Json::Object(fields) => fields.iter().try_for_each(|(key, value)| {
            if REFERENCES.contains(&key.as_str()) {
                return Err(format!("the schema of its arguments uses `{key}`; write out what it refers to"));
            }
            let patterns = value.as_object().filter(|_| key == "patternProperties");
            let mut patterns = patterns.into_iter().flat_map(|fields| fields.keys().map(String::len));
            let pattern = value.as_str().filter(|_| key == "pattern").map_or(0, str::len);
            if pattern > PATTERN_BYTES || patterns.any(|bytes| bytes > PATTERN_BYTES) {
                return Err(format!("the schema of its arguments has a pattern of more than {PATTERN_BYTES} bytes"));
            }
            check_schema(value, below)
        }),
        Json::Array(items) => items.iter().try_for_each(|item| check_schema(item, below)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
    }
}

fn named(what: &str, name: &str) -> Result<(), String> {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase());
    let rest = bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte));
    if first && rest && name.len() <= NAME_BYTES {
        return Ok(());
    }
    Err(format!(
        "{what} is named `{}`; a name has lower-case letters, digits, `-` and `_`, begins with a letter and has at most {NAME_BYTES} bytes",
        start(name)
    ))
}

fn capped(what: &str, bytes: usize, cap: usize) -> Result<(), String> {
    if bytes <= cap { Ok(()) } else { Err(format!("{what} has {bytes} bytes, and at most {cap} are allowed")) }
}

/// Three numbers, then perhaps a pre-release or build part of letters, digits, `.`, `-` and `+`.
fn is_version(version: &str) -> bool {
    let (core, rest) = version.find(['-', '+']).map_or((version, ""), |at| version.split_at(at));
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    version.len() <= VERSION_BYTES
        && core.split('.').count() == 3
        && core.split('.').all(number)
        && rest.len() != 1
        && rest.bytes().all(allowed)
}

fn start(text: &str) -> String {
    crate::log::shorten(text, NAME_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec { name: name.to_owned(), description: String::new(), arguments: json!({"type": "object"}) }
    }

    fn good() -> Description {
        Description {
            name: "tool-query".to_owned(),
            version: "1.0.0".to_owned(),
            tools: vec![tool("query"), tool("query_all")],
            contract: String::new(),
        }
    }

    fn wrong(kind: PluginKind, spoil: impl FnOnce(&mut Description)) -> String {
        let mut description = good();
        spoil(&mut description);
        check(&description, kind).unwrap_err()
    }

    #[test]
    fn a_good_description_passes_and_each_wrong_part_is_named() {
        use PluginKind::{Tool, User, Verifier};
        check(&good(), Tool).unwrap();
        for kind in [Verifier, User] {
            check(&Description { tools: Vec::new(), ..good() }, kind).unwrap();
            assert!(wrong(kind, |_| ()).contains("describes `query`"));
        }
        for name in ["", "Query", "1st", "a b", "é", &"a".repeat(65)] {
            assert!(wrong(Tool, |d| d.name = name.to_owned()).starts_with("the plugin is named"), "{name}");
            assert!(wrong(Tool, |d| d.tools[1].name = name.to_owned()).starts_with("a tool is named"), "{name}");
        }
        assert!(wrong(Tool, |d| d.tools.clear()).contains("at least one tool"));
        assert!(wrong(Tool, |d| d.tools[1].name = "query".to_owned()).contains("two tools are named `query`"));
        assert!(wrong(Tool, |d| d.tools = (0..65).map(|i| tool(&format!("t{i}"))).collect()).contains("at most 64"));
        assert!(wrong(Tool, |d| d.contract = "x".repeat(70_000)).contains("the contract has 70000 bytes"));
        for schema in [json!([]), json!("object"), json!({}), json!({"type": "array"}), json!({"type": ["object"]})] {
            assert!(wrong(Tool, |d| d.tools[0].arguments = schema.clone()).contains("JSON Schema"), "{schema}");
        }
    }

    #[test]
    fn schemas_hold_nothing_that_takes_long_to_check() {
        let schema = |inner: Json| wrong(PluginKind::Tool, |d| d.tools[0].arguments = inner);
        let with = |field: &str, value: Json| json!({"type": "object", "properties": {"a": {field: value}}});
        for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
            assert!(schema(with(key, json!("#"))).contains(&format!("uses `{key}`")), "{key}");
        }
        assert!(schema(with("pattern", json!("a".repeat(257)))).contains("256 bytes"));
        let many = json!({"a".repeat(257): {}});
        assert!(schema(json!({"type": "object", "patternProperties": many})).contains("256 bytes"));
        let deep = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"not": inner}));
        let object = |levels: usize| json!({"type": "object", "not": deep(levels - 1)});
        assert!(schema(object(33)).contains("more than 32 levels"));
        let fine = [object(32), with("pattern", json!("a".repeat(256))), with("enum", json!(["$ref"]))];
        for arguments in fine {
            check(&Description { tools: vec![ToolSpec { arguments, ..tool("a") }], ..good() }, PluginKind::Tool)
                .unwrap();
        }
    }

    #[test]
    fn versions_are_three_numbers() {
        for good in ["0.0.1", "1.22.333", "1.0.0-rc.1", "1.0.0+build-7"] {
            assert!(is_version(good), "{good}");
        }
        for wrong in ["", "1", "1.0", "1.0.0.0", "1.0.x", "v1.0.0", "1.0.0-", "1.0.0 ", "1..0", "-1.0.0"] {
            assert!(!is_version(wrong), "{wrong}");
        }
    }
}
