//! The grammar of a call as Lark text.

use std::fmt::Write as _;

use serde_json::Value as Json;
use tribunal_protocol::plugin::ToolSpec;

use crate::codec::Codec;
use crate::grammar::{GrammarError, arguments, sql};
use crate::lexicon::Lexicon;
use crate::mark::{Mark, Style};

/// Collects rules.
#[derive(Debug, Default)]
pub(super) struct Rules {
    text: String,
    count: usize,
}

impl Rules {
    /// Adds the rule (or, in capitals, the terminal) `name`.
    pub(super) fn add(&mut self, name: &str, body: &str) {
        let _ = writeln!(self.text, "{name}: {body}");
    }

    /// Adds a rule under a name of its own and gives the name.
    pub(super) fn fresh(&mut self, body: &str) -> String {
        self.count += 1;
        let name = format!("r{}", self.count);
        self.add(&name, body);
        name
    }
}

/// `text` as a Lark string: JSON's escapes are Lark's.
pub(super) fn literal(text: &str) -> String {
    Json::from(text).to_string()
}

/// The separators of JSON in a style, between items and behind a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separators {
    pub(super) item: &'static str,
    pub(super) key: &'static str,
}

impl Separators {
    pub(super) fn of(style: Style) -> Separators {
        match style {
            Style::Compact => Separators { item: ",", key: ":" },
            Style::Chat => Separators { item: ", ", key: ": " },
        }
    }
}

/// The whole grammar.
pub(super) fn text(codec: &Codec, tools: &[ToolSpec], lexicon: &Lexicon) -> Result<String, GrammarError> {
    let style = codec.style();
    let mut rules = Rules::default();
    let mut calls = Vec::new();
    for tool in tools {
        let arguments = arguments::object(&mut rules, Separators::of(style), &tool.arguments)
            .map_err(|problem| GrammarError::Build(format!("tool {}: {problem}", tool.name)))?;
        calls.push(call(codec, &tool.name, &arguments));
    }
    if calls.is_empty() {
        return Err(GrammarError::Build("there are no tools".to_owned()));
    }
    rules.add("start", &calls.join(" | "));
    arguments::terminals(&mut rules);
    if rules.text.contains(arguments::SQL_RULE) {
        sql::rules(&mut rules, lexicon)?;
    }
    Ok(rules.text)
}

/// One call around the rule of its arguments.
fn call(codec: &Codec, tool: &str, arguments: &str) -> String {
    match codec.style() {
        Style::Compact => format!("{} {arguments}", literal(tool)),
        Style::Chat => {
            let name = crate::escape::json(&Json::from(tool).to_string());
            let head = literal(&format!("\n{{\"name\": {name}, \"arguments\": "));
            let (open, close) = (tag(codec, Mark::CallOpen), tag(codec, Mark::CallClose));
            format!("{open} {head} {arguments} {} {close}", literal("}\n"))
        }
    }
}

/// A tag: the token where the codec has one, else its text.
fn tag(codec: &Codec, mark: Mark) -> String {
    codec.mark(mark).map_or_else(|| literal(mark.text()), |id| format!("<[{id}]>"))
}
