//! An episode as marks and text. Pure: the same episode, the same bytes.
//!
//! Compact, an episode reads like this (`⏎` ends a line, marks stand in `<|..|>`):
//! ```text
//! <|task|>query(sql,limit?) submit(call?,columns?,rows?) ..⏎
//! How many invoices ..⏎
//! = region|invoices integer<|call|>
//! query{"sql":"SELECT .."}<|end|>
//! #1 12 rows⏎
//! region|invoices integer⏎
//! north|12⏎
//! ..
//! +4 rows<|call|>
//! submit{"call":1}<|end|>
//! ```
//! The number behind `#` is what `submit` names; `#2! unknown: no table x` is a failure.

use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Briefing, Observation};
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::value::Kind;

use crate::escape::{self, Place};
use crate::mark::{Mark, Style};
use crate::{call, tabular};

/// A part of a rendered episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A special token.
    Mark(Mark),
    /// Text; it never becomes a special token, whatever it holds.
    Text(String),
}

/// How much of a result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Rows of a result of the tool `query` where the task wants an answer: it is handed in by number
    /// and need not be read whole.
    pub answer_rows: usize,
    /// Rows of a result of `query` in any other task.
    pub query_rows: usize,
    /// Rows of any other result.
    pub rows: usize,
    /// Bytes of all rows together.
    pub bytes: usize,
    /// Bytes of a result's words, or of a failure's message.
    pub words: usize,
}

/// Which call an observation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// The turn, from 1: what `submit` names.
    pub number: u32,
    /// The tool that was called.
    pub tool: &'a str,
    /// Whether the task wants an answer (its briefing names columns).
    pub answer: bool,
}

/// Writes the parts of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renderer {
    /// The style.
    pub style: Style,
    /// How much of a result is shown.
    pub caps: Caps,
}

impl Renderer {
    /// A renderer with the usual caps of its style.
    #[must_use]
    pub fn new(style: Style) -> Renderer {
        let caps = match style {
            Style::Compact => Caps { answer_rows: 3, query_rows: 8, rows: 24, bytes: 2_400, words: 400 },
            Style::Chat => Caps { answer_rows: 20, query_rows: 50, rows: 100, bytes: 12_000, words: 4_000 },
        };
        Renderer { style, caps }
    }

    /// What the policy reads before its first action, up to and with the mark of its turn. What
    /// differs from task to task stands last, so that tasks with the same tools share a prefix.
    ///
    /// The number of steps is left out: a suite may derive it from the oracle's length.
    #[must_use]
    pub fn opening(&self, briefing: &Briefing) -> Vec<Piece> {
        match self.style {
            Style::Compact => {
                let signatures: Vec<String> = briefing.tools.iter().map(signature).collect();
                let mut text = signatures.join(" ");
                text.push('\n');
                text.push_str(&question(briefing));
                vec![Piece::Mark(Mark::Task), Piece::Text(text), Piece::Mark(Mark::Call)]
            }
            Style::Chat => {
                let mut pieces = message("system", system(&briefing.tools));
                pieces.push(Piece::Text("\n".to_owned()));
                pieces.extend(message("user", question(briefing)));
                pieces.extend(turn());
                pieces
            }
        }
    }

    /// The very bytes that a policy emits for `action`, its end mark included. Arguments stand in
    /// the order of the tool's schema.
    #[must_use]
    pub fn call(&self, tools: &[ToolSpec], action: &Action) -> Vec<Piece> {
        let mut pieces = call::pieces(self.style, tools, action);
        pieces.push(Piece::Mark(self.style.end()));
        pieces
    }

    /// What came of a call, up to and with the mark of the policy's next turn.
    #[must_use]
    pub fn observation(&self, call: Call<'_>, observation: &Observation) -> Vec<Piece> {
        let text = self.result(call, observation);
        match self.style {
            Style::Compact => vec![Piece::Text(text), Piece::Mark(Mark::Call)],
            Style::Chat => {
                let mut pieces = vec![
                    Piece::Text("\n".to_owned()),
                    Piece::Mark(Mark::Open),
                    Piece::Text("user\n".to_owned()),
                    Piece::Mark(Mark::ResultOpen),
                    Piece::Text(format!("\n{text}\n")),
                    Piece::Mark(Mark::ResultClose),
                    Piece::Mark(Mark::Close),
                ];
                pieces.extend(turn());
                pieces
            }
        }
    }

    fn result(&self, call: Call<'_>, observation: &Observation) -> String {
        let mut out = format!("#{}", call.number);
        match observation {
            Observation::Failure(failure) => {
                out.push_str("! ");
                out.push_str(failure.code.name());
                out.push_str(": ");
                self.words(&mut out, &failure.message);
            }
            Observation::Result { text, table } => {
                if !text.is_empty() {
                    out.push(' ');
                    self.words(&mut out, text);
                }
                if let Some(table) = table {
                    let rows = match (call.tool, call.answer) {
                        ("query", true) => self.caps.answer_rows,
                        ("query", false) => self.caps.query_rows,
                        _ => self.caps.rows,
                    };
                    tabular::push(&mut out, table, rows, self.caps.bytes);
                }
            }
        }
        out
    }

    /// Appends words as one line, cut at the cap.
    fn words(&self, out: &mut String, text: &str) {
        let cut = floor_boundary(text, self.caps.words);
        escape::push(out, &text[..cut], Place::Line);
        if cut < text.len() {
            out.push_str("..");
        }
    }
}

/// The byte form: marks as their text.
#[must_use]
pub fn bytes(pieces: &[Piece]) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Mark(mark) => mark.text().to_owned(),
        Piece::Text(text) => text.clone(),
    };
    pieces.iter().map(text).collect()
}

/// The texts alone, which is what [`Codec::train`](crate::codec::Codec::train) learns from.
pub fn texts(pieces: &[Piece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Mark(_) => None,
        Piece::Text(text) => Some(text.as_str()),
    })
}

/// The last character boundary at or before `limit` bytes.
pub(crate) fn floor_boundary(text: &str, limit: usize) -> usize {
    if text.len() <= limit {
        return text.len();
    }
    (0..=limit).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// `query(sql,limit?)`: what may be left out carries a question mark.
fn signature(tool: &ToolSpec) -> String {
    let required = tool.arguments.get("required").and_then(|names| names.as_array());
    let needed = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
    let properties = tool.arguments.get("properties").and_then(|properties| properties.as_object());
    let names = properties.into_iter().flat_map(|properties| properties.keys());
    let named: Vec<String> = names.map(|name| if needed(name) { name.clone() } else { format!("{name}?") }).collect();
    let mut out = String::new();
    escape::push(&mut out, &format!("{}({})", tool.name, named.join(",")), Place::Line);
    out
}

/// The instruction as one line, and the columns of the answer as another, where there are any.
fn question(briefing: &Briefing) -> String {
    let mut out = String::new();
    escape::push(&mut out, &briefing.instruction, Place::Line);
    if !briefing.answer.is_empty() {
        out.push_str("\n= ");
        let column = |AnswerColumn { name, kind }: &AnswerColumn| titled(name, *kind);
        out.push_str(&briefing.answer.iter().map(column).collect::<Vec<_>>().join("|"));
    }
    out
}

/// `name kind` of a column; the kind of texts is left out.
pub(crate) fn titled(name: &str, kind: Kind) -> String {
    let mut out = String::new();
    escape::push(&mut out, name, Place::Cell);
    if kind != Kind::Text {
        out.push(' ');
        out.push_str(kind.name());
    }
    out
}

const SYSTEM: &str = "You are a data analyst with tools. Answer by calls of tools alone, one in each turn. \
Every result carries its number, such as #3; `submit` names the number of the call whose result is the answer.";

/// The system message: what to do, and the tools with their schemas.
fn system(tools: &[ToolSpec]) -> String {
    let mut out =
        format!("{SYSTEM}\n\n# Tools\n\nThe tools, one a line, as JSON Schema within <tools></tools>:\n<tools>");
    for tool in tools {
        let described = serde_json::json!({
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.arguments},
        });
        out.push('\n');
        out.push_str(&escape::json(&described.to_string()));
    }
    out.push_str("\n</tools>\n\nWrite a call as a JSON object within <tool_call></tool_call>:\n");
    out.push_str("<tool_call>\n{\"name\":..,\"arguments\":{..}}\n</tool_call>");
    out
}

fn message(role: &str, text: String) -> Vec<Piece> {
    let head = Piece::Text(format!("{role}\n"));
    vec![Piece::Mark(Mark::Open), head, Piece::Text(text), Piece::Mark(Mark::Close)]
}

/// Chat: where the policy's turn begins.
fn turn() -> [Piece; 3] {
    [Piece::Text("\n".to_owned()), Piece::Mark(Mark::Open), Piece::Text("assistant\n".to_owned())]
}
