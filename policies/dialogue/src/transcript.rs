//! An episode as tokens. It only ever grows: tokens of an earlier turn never change, because
//! learning replays the exact ids that were sampled.

use std::sync::Arc;

use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Briefing, Observation, View};

use crate::codec::{Codec, CodecError};
use crate::parse::{self, ParseFailure};
use crate::render::{Call, Piece, Renderer};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Who wrote it.
    pub role: Role,
    /// The first token.
    pub start: usize,
    /// Behind the last token.
    pub end: usize,
}

/// What a policy's sampled tokens came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// What to do: the call, or an action that the episode refuses and that renders as the same
    /// bytes.
    pub action: Action,
    /// Why it was no call.
    pub failure: Option<ParseFailure>,
    /// Whether the action renders as the very bytes that were sampled. The grammar's calls do;
    /// without a mask a policy may write blanks, or arguments in another order, and then a
    /// transcript of the trace differs from this one.
    pub exact: bool,
}

/// The tokens of one episode so far.
#[derive(Clone, Debug)]
pub struct Transcript {
    codec: Arc<Codec>,
    renderer: Renderer,
    tools: Arc<[ToolSpec]>,
    tokens: Vec<u32>,
    segments: Vec<Segment>,
    turns: u32,
    /// The tool of the last action.
    tool: String,
    /// Whether the task wants an answer.
    answer: bool,
}

impl Transcript {
    /// An episode that begins.
    ///
    /// # Errors
    /// The renderer's style is not the codec's.
    pub fn start(codec: Arc<Codec>, renderer: Renderer, briefing: &Briefing) -> Result<Transcript, CodecError> {
        let tools = briefing.tools.as_slice().into();
        let (tokens, segments, tool) = (Vec::new(), Vec::new(), String::new());
        let answer = !briefing.answer.is_empty();
        let mut transcript = Transcript { codec, renderer, tools, tokens, segments, turns: 0, tool, answer };
        transcript.append(Role::Prompt, &renderer.opening(briefing))?;
        Ok(transcript)
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
        self.tool.clone_from(&action.tool);
        let pieces = self.renderer.call(&self.tools, action);
        self.append(Role::Action, &pieces)
    }

    /// Appends the exact tokens that a policy sampled, and reads them. A call that was cut off
    /// before its end token gets one, which does not count as the policy's.
    ///
    /// # Errors
    /// As [`Transcript::start`].
    pub fn sampled(&mut self, tokens: &[u32]) -> Result<Sampled, CodecError> {
        self.push(Role::Action, tokens);
        if tokens.last() != Some(&self.codec.end()) {
            self.push(Role::Observation, &[self.codec.end()]);
        }
        let style = self.renderer.style;
        let bytes = self.codec.decode(tokens);
        let (action, failure) = match parse::parse(style, &self.tools, &bytes) {
            Ok(action) => (action, None),
            Err(failure) => (parse::unreadable(style, &bytes, &failure), Some(failure)),
        };
        let rendered = crate::render::bytes(&self.renderer.call(&self.tools, &action));
        let ended = rendered.strip_suffix(style.end().text()).unwrap_or_default();
        let exact = bytes == rendered.as_bytes() || bytes == ended.as_bytes();
        self.tool.clone_from(&action.tool);
        Ok(Sampled { action, failure, exact })
    }

    /// Appends what came of the last action. Turns are counted from 1.
    ///
    /// # Errors
    /// As [`Transcript::start`].
    pub fn observe(&mut self, observation: &Observation) -> Result<(), CodecError> {
        self.turns += 1;
        let call = Call { number: self.turns, tool: &self.tool, answer: self.answer };
        let pieces = self.renderer.observation(call, observation);
        self.append(Role::Observation, &pieces)
    }

    fn append(&mut self, role: Role, pieces: &[Piece]) -> Result<(), CodecError> {
        let tokens = self.codec.encode(pieces)?;
        self.push(role, &tokens);
        Ok(())
    }

    /// Appends tokens, to the last segment where that is of the same writer.
    fn push(&mut self, role: Role, tokens: &[u32]) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(tokens);
        let end = self.tokens.len();
        match self.segments.last_mut() {
            Some(last) if last.role == role => last.end = end,
            _ => self.segments.push(Segment { role, start, end }),
        }
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

    /// How many turns were observed.
    #[must_use]
    pub fn turns(&self) -> u32 {
        self.turns
    }
}
