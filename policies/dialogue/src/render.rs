//! An episode as marks and text. Pure: the same episode, the same bytes.

use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Briefing, Observation};

use crate::mark::{Mark, Style};

/// A part of a rendered episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// A special token.
    Mark(Mark),
    /// Text; it never becomes a special token, whatever it holds.
    Text(String),
}

/// Writes the parts of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renderer {
    /// The style.
    pub style: Style,
    /// How many rows of a result table are shown.
    pub rows_max: usize,
    /// How many bytes of a result are shown.
    pub bytes_max: usize,
}

impl Renderer {
    /// A renderer with the usual caps: 12 rows and 600 bytes compact, 50 rows and 4,000 bytes chat.
    #[must_use]
    pub fn new(style: Style) -> Renderer {
        match style {
            Style::Compact => Renderer { style, rows_max: 12, bytes_max: 600 },
            Style::Chat => Renderer { style, rows_max: 50, bytes_max: 4_000 },
        }
    }

    /// What the policy reads before its first action, up to and with the mark of its turn.
    #[must_use]
    pub fn opening(&self, briefing: &Briefing) -> Vec<Piece> {
        vec![Piece::Mark(Mark::Task), Piece::Text(briefing.instruction.clone()), Piece::Mark(Mark::Call)]
    }

    /// The very bytes that a policy emits for `action`, its end mark included. Arguments stand in
    /// the order of the tool's schema.
    #[must_use]
    pub fn call(&self, tools: &[ToolSpec], action: &Action) -> Vec<Piece> {
        let _ = tools;
        vec![Piece::Text(format!("{}{}", action.tool, action.arguments)), Piece::Mark(self.style.end())]
    }

    /// What came of turn `number` (the number that `submit` names), up to and with the mark of the
    /// policy's next turn.
    #[must_use]
    pub fn observation(&self, number: u32, observation: &Observation) -> Vec<Piece> {
        vec![Piece::Text(format!("{number} {observation:?}")), Piece::Mark(Mark::Call)]
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
