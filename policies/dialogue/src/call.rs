//! The bytes of a call: what a policy emits, and what [`parse`](crate::parse::parse) reads.

use std::io;

use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value as Json};
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::Action;

use crate::escape;
use crate::mark::{Mark, Style};
use crate::render::Piece;

/// How the tool of an action begins that stands for bytes that were no call.
pub(crate) const UNREADABLE: &str = "unreadable: ";
/// The argument of such an action that holds the bytes.
pub(crate) const UNREADABLE_TEXT: &str = "text";

/// The pieces of a call without its end mark.
pub(crate) fn pieces(style: Style, tools: &[ToolSpec], action: &Action) -> Vec<Piece> {
    if let Some(text) = unreadable(action) {
        return vec![Piece::Text(text.to_owned())];
    }
    let arguments = escape::json(&written(style, &ordered(tools, action)));
    match style {
        Style::Compact => vec![Piece::Text(format!("{}{arguments}", action.tool))],
        Style::Chat => {
            let name = escape::json(&Json::from(action.tool.as_str()).to_string());
            let body = format!("\n{{\"name\": {name}, \"arguments\": {arguments}}}\n");
            vec![Piece::Mark(Mark::CallOpen), Piece::Text(body), Piece::Mark(Mark::CallClose)]
        }
    }
}

/// JSON as the style has it: without blanks, or with one behind each comma and colon, as chat models
/// learned it.
fn written(style: Style, json: &Json) -> String {
    let mut out = Vec::new();
    let wrote = match style {
        Style::Compact => json.serialize(&mut Serializer::new(&mut out)),
        Style::Chat => json.serialize(&mut Serializer::with_formatter(&mut out, Spaced)),
    };
    // Writing JSON into memory has no way to fail.
    wrote.map_or_else(|_| json.to_string(), |()| String::from_utf8_lossy(&out).into_owned())
}

/// One blank behind each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_object_key<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn begin_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }
}

/// The bytes that a model wrote, where the action stands for such.
fn unreadable(action: &Action) -> Option<&str> {
    action.tool.strip_prefix(UNREADABLE)?;
    action.arguments.get(UNREADABLE_TEXT)?.as_str()
}

/// The arguments in the order of the tool's schema; what the schema does not name comes last.
fn ordered(tools: &[ToolSpec], action: &Action) -> Json {
    let Json::Object(given) = &action.arguments else { return action.arguments.clone() };
    let tool = tools.iter().find(|tool| tool.name == action.tool);
    let named = tool.and_then(|tool| tool.arguments.get("properties")).and_then(Json::as_object);
    let known = named.into_iter().flat_map(Map::keys).filter_map(|name| given.get_key_value(name));
    let rest = given.iter().filter(|(name, _)| named.is_none_or(|named| !named.contains_key(*name)));
    Json::Object(known.chain(rest).map(|(name, value)| (name.clone(), value.clone())).collect())
}
