//! What a model may write next.

mod arguments;
mod lark;
mod sql;
mod state;

use std::fmt;
use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};
use tribunal_protocol::plugin::ToolSpec;

use crate::codec::Codec;
use crate::lexicon::Lexicon;
use crate::mark::{Mark, Style};

pub use state::{Mask, State};

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
    /// The call had ended, or its parser gave up.
    #[error("the grammar's state is spent: {0}")]
    Spent(String),
}

/// What one call may look like, for one set of tools and one lexicon. Shared by many states; what
/// its lexer learned in one state serves the others.
#[derive(Clone)]
pub struct Grammar {
    codec: Arc<Codec>,
    /// None: anything goes.
    matcher: Option<Matcher>,
    lark: Arc<str>,
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("lark", &self.lark).finish_non_exhaustive()
    }
}

impl Grammar {
    /// Calls that fit the tools' schemas, whose SQL uses the lexicon's names alone.
    ///
    /// # Errors
    /// A schema or a name that cannot be expressed.
    pub fn new(codec: &Arc<Codec>, tools: &[ToolSpec], lexicon: &Lexicon) -> Result<Grammar, GrammarError> {
        let lark = lark::text(codec, tools, lexicon)?;
        let built = |fault: &dyn fmt::Display| GrammarError::Build(fault.to_string());
        let env: TokEnv = Arc::new(Env { trie: trie(codec) });
        let mut factory =
            ParserFactory::new(&env, InferenceCapabilities::default(), &[]).map_err(|fault| built(&fault))?;
        factory.quiet().limits_mut().verbose_errors = false;
        let parser = factory.create_parser(TopLevelGrammar::from_lark(lark.clone())).map_err(|fault| built(&fault))?;
        let matcher = Matcher::new(Ok(parser));
        match matcher.get_error() {
            Some(fault) => Err(built(&fault)),
            None => Ok(Grammar { codec: Arc::clone(codec), matcher: Some(matcher), lark: lark.into() }),
        }
    }

    /// Anything, up to the end token.
    #[must_use]
    pub fn free(codec: &Arc<Codec>) -> Grammar {
        Grammar { codec: Arc::clone(codec), matcher: None, lark: "".into() }
    }

    /// The state before the first token of a call.
    #[must_use]
    pub fn start(&self) -> State {
        State::new(Arc::clone(&self.codec), self.matcher.clone())
    }

    /// The grammar as Lark text, for a person who wonders why a token is refused; empty for
    /// [`Grammar::free`].
    #[must_use]
    pub fn text(&self) -> &str {
        &self.lark
    }
}

/// The vocabulary as llguidance sees it.
struct Env {
    trie: TokTrie,
}

impl TokenizerEnv for Env {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.greedy_tokenize(bytes)
    }

    /// No: forced tokens are our own work ([`State::forced`]), by the codec's own cuts.
    fn tokenize_is_canonical(&self) -> bool {
        false
    }
}

/// All tokens by their bytes; added tokens behind the byte that says so.
fn trie(codec: &Codec) -> TokTrie {
    let size = u32::try_from(codec.vocabulary()).unwrap_or(u32::MAX);
    let word = |token: u32| {
        let bytes = codec.bytes_of(token);
        if codec.is_added(token) { [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat() } else { bytes.to_vec() }
    };
    let words: Vec<Vec<u8>> = (0..size).map(word).collect();
    TokTrie::from(&TokRxInfo::new(size, codec.end()), &words)
}

/// What may stand in a call without a grammar: all text, the end, and the tags of a call.
fn free_tokens(codec: &Codec) -> Vec<u32> {
    let tags = [Mark::CallOpen, Mark::CallClose].map(|mark| codec.mark(mark));
    let allowed = |token: &u32| {
        let text = !codec.is_added(*token) && !codec.bytes_of(*token).is_empty();
        text || *token == codec.end() || (codec.style() == Style::Chat && tags.contains(&Some(*token)))
    };
    (0..u32::try_from(codec.vocabulary()).unwrap_or(u32::MAX)).filter(allowed).collect()
}
