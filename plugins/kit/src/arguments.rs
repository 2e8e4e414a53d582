//! JSON arguments as a struct.

use serde::de::DeserializeOwned;

use crate::Failure;

/// Reads a tool's arguments.
///
/// # Errors
/// `invalid`, naming the argument: `argument limit: invalid type: string "x", expected u32`.
pub fn parse<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|fault| {
        let text = fault.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        // An absent or unknown argument is named by the fault itself.
        let named = fault.is_data() && !what.contains(" field `");
        match key_at(json, fault.line(), fault.column()).filter(|_| named) {
            Some(key) => Failure::invalid(format!("argument {key}: {what}")),
            None => Failure::invalid(format!("arguments: {what}")),
        }
    })
}

/// The key of the outermost object whose value holds the given place.
fn key_at(json: &str, line: usize, column: usize) -> Option<&str> {
    let before: usize = json.split('\n').take(line.checked_sub(1)?).map(|l| l.len() + 1).sum();
    let end = (before + column).min(json.len());
    let (mut depth, mut key, mut start, mut escaped) = (0_u32, None, None, false);
    for (at, byte) in json.bytes().enumerate().take(end) {
        match (start, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(from), b'"') => {
                start = None;
                let is_key = json.get(at + 1..)?.trim_start().starts_with(':');
                if depth == 1 && is_key {
                    key = json.get(from..at);
                }
            }
            (None, b'"') => start = Some(at + 1),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        table: String,
        #[serde(default)]
        limit: Option<u32>,
        #[serde(default)]
        nested: Vec<u8>,
    }

    fn fault(json: &str) -> String {
        let failure = parse::<Arguments>(json).unwrap_err();
        assert_eq!(failure.code, Code::Invalid);
        failure.message
    }

    #[test]
    fn a_fitting_object_is_read() {
        let read: Arguments = parse(r#"{"table":"a\"b","limit":3}"#).unwrap();
        assert_eq!(read, Arguments { table: "a\"b".into(), limit: Some(3), nested: vec![] });
    }

    #[test]
    fn a_wrong_argument_is_named() {
        assert!(fault(r#"{"table":"t","limit":"x"}"#).starts_with("argument limit: invalid type"));
        assert!(fault(r#"{"limit": 1, "table": 5}"#).starts_with("argument table: invalid type"));
        assert!(fault("{\n\"table\":\"t\",\n\"nested\":[1,\n\"x\"]}").starts_with("argument nested: "));
        assert!(fault(r#"{"table":"t","limit":-1}"#).starts_with("argument limit: invalid value"));
        assert_eq!(fault("{}"), "arguments: missing field `table`");
        assert!(fault(r#"{"table":"t","size":1}"#).starts_with("arguments: unknown field `size`"));
        assert!(fault("{").starts_with("arguments: EOF"));
    }
}
