//! An episode as tokens. It only ever grows: tokens of an earlier turn never change, because
//! learning replays the exact ids that were sampled.

use std::sync::Arc;

use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Briefing, Observation, View};

use crate::codec::{Codec, CodecError};
use crate::parse::ParseFailure;
use crate::render::Renderer;

/// Who wrote a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The briefing.
    Prompt,
    /// The policy.
    Action,
    /// The environment.
    Observation,
}

/// A run of tokens by one writer: `tokens[start..end]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Who wrote it.
    pub role: Role,
    /// The first token.
    pub start: usize,
    /// Behind the last token.
    pub end: usize,
}

/// The tokens of one episode so far.
#[derive(Clone, Debug)]
pub struct Transcript {
    codec: Arc<Codec>,
    renderer: Renderer,
    tools: Vec<ToolSpec>,
    tokens: Vec<u32>,
    segments: Vec<Segment>,
    turns: u32,
}

impl Transcript {
    /// An episode that begins.
    ///
    /// # Errors
    /// The renderer's style is not the codec's.
    pub fn start(codec: Arc<Codec>, renderer: Renderer, briefing: &Briefing) -> Result<Transcript, CodecError> {
        let tools = briefing.tools.clone();
        Ok(Transcript { codec, renderer, tools, tokens: Vec::new(), segments: Vec::new(), turns: 0 })
    }

    /// A whole episode at once; the same tokens as step by step.
    ///
    /// # Errors
    /// As [`Transcript::start`].
    pub fn of(codec: Arc<Codec>, renderer: Renderer, view: View<'_>) -> Result<Transcript, CodecError> {
        let mut transcript = Transcript::start(codec, renderer, view.briefing)?;
        for turn in view.turns {
            transcript.act(&turn.action)?;
            transcript.observe(&turn.observation)?;
        }
        Ok(transcript)
    }

    /// Appends an action that somebody else chose (a teacher, a trace), end token included.
    ///
    /// # Errors
    /// As [`Transcript::start`].
    pub fn act(&mut self, action: &Action) -> Result<(), CodecError> {
        let _ = (action, &self.codec, self.renderer, &self.tools);
        Ok(())
    }

    /// Appends the exact tokens that a policy sampled, end token included, and reads them. Where
    /// they are no call, the action is one that the episode refuses and that renders as the same
    /// bytes, and the failure says why.
    ///
    /// # Errors
    /// None but as [`Transcript::start`].
    pub fn sampled(&mut self, tokens: &[u32]) -> Result<(Action, Option<ParseFailure>), CodecError> {
        let _ = tokens;
        Ok((Action::call("", serde_json::json!({})), None))
    }

    /// Appends what came of the last action. Turns are counted from 1.
    ///
    /// # Errors
    /// As [`Transcript::start`].
    pub fn observe(&mut self, observation: &Observation) -> Result<(), CodecError> {
        let _ = observation;
        self.turns += 1;
        Ok(())
    }

    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// 1 for each token that the policy wrote (its end token included), 0 for all others.
    #[must_use]
    pub fn mask(&self) -> Vec<u8> {
        let mut mask = vec![0; self.tokens.len()];
        for segment in self.segments.iter().filter(|segment| segment.role == Role::Action) {
            mask[segment.start..segment.end].fill(1);
        }
        mask
    }

    /// The segments in order; together they are all tokens.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The byte form of all tokens.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.codec.decode(&self.tokens)
    }
}
