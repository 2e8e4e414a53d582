//! The one place where an episode becomes bytes and tokens, and where a model's bytes become an
//! action. Training, evaluation and serving all read and write through it, so they cannot differ.
//!
//! - [`mark`]: the special tokens that carry structure; [`render`]: an episode as marks and text.
//! - [`codec`]: a byte-level tokenizer: trained here, or a foreign one.
//! - [`transcript`]: an episode as tokens, with the mask of what the policy wrote.
//! - [`parse`]: what a model wrote, as an action or as a failure that an agent can read.
//! - [`grammar`]: what a model may write next, so that every call is well-formed; [`lexicon`]: the
//!   names that SQL may use.
//!
//! No IO here: a tokenizer is read from and written to text.

mod bytelevel;
mod call;
pub mod codec;
mod escape;
pub mod grammar;
pub mod lexicon;
pub mod mark;
pub mod parse;
pub mod render;
mod split;
mod tabular;
pub mod transcript;

pub use codec::{Codec, CodecError};
pub use grammar::{Grammar, GrammarError, Mask, State};
pub use lexicon::Lexicon;
pub use mark::{Mark, Style};
pub use parse::{ParseFailure, parse, unreadable};
pub use render::{Call, Caps, Piece, Renderer};
pub use transcript::{Role, Sampled, Segment, Transcript};
