//! Text from data, users and tools, made unable to read as structure.

/// Which text stands where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One line: a line break would end it.
    Line,
    /// One cell of a table row: a bar would end it too.
    Cell,
}

/// Appends `text` as one line or one cell. Line breaks, bars (in cells) and backslashes are written
/// with a backslash, and so is what follows a `<` where the two could begin a mark or a tag.
pub(crate) fn push(out: &mut String, text: &str, place: Place) {
    let mut after_angle = false;
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            '|' if place == Place::Cell || after_angle => out.push_str("\\|"),
            '/' | 't' if after_angle => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
        after_angle = c == '<';
    }
}

/// JSON text that holds no `<|`, `</` or `<t`: the angle is written as an escape there. It reads
/// back as the same JSON, since an angle occurs in strings alone.
pub(crate) fn json(text: &str) -> String {
    text.replace("<|", "\\u003c|").replace("</", "\\u003c/").replace("<t", "\\u003ct")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let mut out = String::new();
        push(&mut out, text, Place::Cell);
        out
    }

    #[test]
    fn structure_is_taken_away() {
        assert_eq!(cell("a|b\nc\\d"), "a\\|b\\nc\\\\d");
        assert_eq!(cell("<|end|>"), "<\\|end\\|>");
        assert_eq!(cell("</tool_call><tool_call>"), "<\\/tool_call><\\tool_call>");
        // What cannot be structure stays as it is.
        assert_eq!(cell("a < b, 2/3, <= t"), "a < b, 2/3, <= t");
        let mut line = String::new();
        push(&mut line, "a|b", Place::Line);
        assert_eq!(line, "a|b");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"sql": "SELECT '<|end|></tool_call>' <t"});
        let text = json(&value.to_string());
        assert!(!text.contains("<|") && !text.contains("</"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
