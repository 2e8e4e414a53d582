//! What a model wrote, as an action.

use serde_json::{Value as Json, json};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::Action;

use crate::call::{UNREADABLE, UNREADABLE_TEXT};
use crate::mark::{Mark, Style};

/// Why bytes are no action. Its text is for the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseFailure {
    /// Not UTF-8.
    #[error("a call is UTF-8 text")]
    NotText,
    /// No end mark: the policy was cut off.
    #[error("the call was cut off")]
    CutOff,
    /// Nothing that looks like a call.
    #[error("no call; {expected} expected")]
    NoCall {
        /// The shape of a call in this style.
        expected: &'static str,
    },
    /// The JSON does not read.
    #[error("arguments are no JSON: {problem}")]
    Json {
        /// What the reader said.
        problem: String,
    },
    /// The arguments are no object.
    #[error("arguments are a JSON object")]
    NotObject,
    /// No tool of this name.
    #[error("no tool `{name}`; there are {known}")]
    NoTool {
        /// The name, at most 60 characters of it.
        name: String,
        /// The tools that there are.
        known: String,
    },
}

impl From<&ParseFailure> for Failure {
    fn from(failure: &ParseFailure) -> Failure {
        match failure {
            ParseFailure::NoTool { .. } => Failure::unknown(failure.to_string()),
            _ => Failure::invalid(failure.to_string()),
        }
    }
}

const COMPACT_SHAPE: &str = "NAME{\"ARGUMENT\":..}";
const CHAT_SHAPE: &str = "<tool_call>{\"name\":..,\"arguments\":{..}}</tool_call>";

/// Reads one call: the bytes that a policy wrote, its end mark included. Arguments are not held
/// against the tool's schema here; the episode does that, with its own words for the agent.
///
/// # Errors
/// What is wrong with it, for the agent.
pub fn parse(style: Style, tools: &[ToolSpec], bytes: &[u8]) -> Result<Action, ParseFailure> {
    let text = std::str::from_utf8(bytes).map_err(|_| ParseFailure::NotText)?;
    let text = text.strip_suffix(style.end().text()).ok_or(ParseFailure::CutOff)?;
    let action = match style {
        Style::Compact => compact(text)?,
        Style::Chat => chat(text)?,
    };
    match tools.iter().any(|tool| tool.name == action.tool) {
        true => Ok(action),
        false => Err(no_tool(tools, &action.tool)),
    }
}

/// The action that stands for bytes which are no call: the episode refuses it as a tool that it
/// does not have, by a name that says why, and it renders as those bytes again (as far as they are
/// UTF-8), so that a trace and a live transcript stay the same.
#[must_use]
pub fn unreadable(style: Style, bytes: &[u8], failure: &ParseFailure) -> Action {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix(style.end().text()).unwrap_or(&text);
    Action::call(format!("{UNREADABLE}{failure}"), json!({ UNREADABLE_TEXT: text }))
}

fn compact(text: &str) -> Result<Action, ParseFailure> {
    let brace = text.find('{').ok_or(ParseFailure::NoCall { expected: COMPACT_SHAPE })?;
    let (name, arguments) = text.split_at(brace);
    Ok(Action { tool: name.trim().to_owned(), arguments: object(arguments)? })
}

fn chat(text: &str) -> Result<Action, ParseFailure> {
    let no_call = ParseFailure::NoCall { expected: CHAT_SHAPE };
    let (_, inner) = text.split_once(Mark::CallOpen.text()).ok_or_else(|| no_call.clone())?;
    let (inner, _) = inner.rsplit_once(Mark::CallClose.text()).ok_or_else(|| no_call.clone())?;
    let mut call = object(inner)?;
    let name = call.get("name").and_then(Json::as_str).ok_or(no_call)?.to_owned();
    let arguments = call.get_mut("arguments").map(Json::take).ok_or(ParseFailure::NotObject)?;
    if !arguments.is_object() {
        return Err(ParseFailure::NotObject);
    }
    Ok(Action { tool: name, arguments })
}

fn object(text: &str) -> Result<Json, ParseFailure> {
    let json: Json =
        serde_json::from_str(text.trim()).map_err(|problem| ParseFailure::Json { problem: problem.to_string() })?;
    if json.is_object() { Ok(json) } else { Err(ParseFailure::NotObject) }
}

fn no_tool(tools: &[ToolSpec], name: &str) -> ParseFailure {
    let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    ParseFailure::NoTool { name: name.chars().take(60).collect(), known: known.join(", ") }
}
