//! A byte-level tokenizer: text and marks to token ids and back, exactly.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer};

use crate::mark::{Mark, Style};
use crate::render::Piece;
use crate::{bytelevel, split};

/// The version of what we write beside the tokenizer into its file.
pub const FORMAT: u64 = 1;
/// The key of it.
const KEY: &str = "tribunal";
/// The smallest vocabulary: all bytes and the marks.
pub const VOCABULARY_MIN: usize = 256 + Mark::COMPACT.len();

/// Why a codec could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Training failed.
    #[error("tokenizer of {vocabulary} tokens: {problem}")]
    Train {
        /// How many were wanted.
        vocabulary: usize,
        /// What went wrong.
        problem: String,
    },
    /// The file is not a tokenizer that we can use.
    #[error("tokenizer.json: {0}")]
    Format(String),
    /// A newer version.
    #[error("tokenizer.json: format {found}; this build reads up to {FORMAT}, a newer Tribunal reads it")]
    Newer {
        /// Its version.
        found: u64,
    },
    /// The codec lacks a mark.
    #[error("the tokenizer has no token {0}, so it cannot write this style")]
    NoMark(&'static str),
    /// The text could not be cut into tokens.
    #[error("tokenizer: {0}")]
    Encode(String),
}

fn format_error(problem: impl std::fmt::Display) -> CodecError {
    CodecError::Format(problem.to_string())
}

/// A tokenizer with the marks of one style.
#[derive(Clone, Debug)]
pub struct Codec {
    style: Style,
    /// The file, without our key.
    json: Json,
    /// The tokenizer without its added tokens: whatever text holds, no mark comes of it.
    plain: Tokenizer,
    /// The bytes of every token; of an added token its text; empty where there is no such id.
    bytes: Vec<Vec<u8>>,
    /// Which ids are added tokens.
    added: Vec<bool>,
    marks: BTreeMap<Mark, u32>,
    end: u32,
    pad: u32,
    ours: bool,
}

impl Codec {
    /// Trains a byte-level BPE of at most `vocabulary` tokens ([`VOCABULARY_MIN`] or more; fewer
    /// come where the texts hold no more pairs). Same texts, same codec.
    ///
    /// # Errors
    /// Too small a vocabulary.
    pub fn train<'a>(
        texts: impl IntoIterator<Item = &'a str, IntoIter: Send>,
        vocabulary: usize,
    ) -> Result<Codec, CodecError> {
        let failed = |problem: String| CodecError::Train { vocabulary, problem };
        if vocabulary < VOCABULARY_MIN {
            return Err(failed(format!("{VOCABULARY_MIN} or more expected, for all bytes and the marks")));
        }
        let mut tokenizer = untrained().map_err(|fault| failed(fault.to_string()))?;
        let special = Mark::COMPACT.map(|mark| AddedToken::from(mark.text(), true));
        let mut trainer: TrainerWrapper = BpeTrainer::builder()
            .vocab_size(vocabulary)
            .min_frequency(2)
            .special_tokens(special.to_vec())
            .initial_alphabet(bytelevel::characters().into_iter().collect())
            .show_progress(false)
            .build()
            .into();
        tokenizer.train(&mut trainer, texts.into_iter()).map_err(|fault| failed(fault.to_string()))?;
        let json = tokenizer.to_string(false).map_err(|fault| failed(fault.to_string()))?;
        Codec::of(serde_json::from_str(&json).map_err(format_error)?, true)
    }

    /// Reads a tokenizer.json: one of ours (its version is checked), or a foreign byte-level one
    /// with ChatML marks.
    ///
    /// # Errors
    /// What the file lacks.
    pub fn from_json(json: &str) -> Result<Codec, CodecError> {
        let mut file: Json = serde_json::from_str(json).map_err(format_error)?;
        let ours = file.as_object_mut().ok_or_else(|| format_error("a JSON object expected"))?.shift_remove(KEY);
        if let Some(ours) = &ours {
            match ours.get("format").and_then(Json::as_u64) {
                Some(FORMAT) => {}
                Some(found) if found > FORMAT => return Err(CodecError::Newer { found }),
                _ => return Err(format_error(format!("`{KEY}.format` is {FORMAT} or none"))),
            }
        }
        Codec::of(file, ours.is_some())
    }

    /// The tokenizer.json; [`Codec::from_json`] reads it back as the same codec.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut file = self.json.clone();
        if let (true, Some(file)) = (self.ours, file.as_object_mut()) {
            file.insert(KEY.to_owned(), json!({"format": FORMAT}));
        }
        file.to_string()
    }

    fn of(json: Json, ours: bool) -> Result<Codec, CodecError> {
        let mut plain = json.clone();
        let added = plain.get_mut("added_tokens").map(Json::take).unwrap_or_default();
        plain["added_tokens"] = json!([]);
        let plain = Tokenizer::from_bytes(plain.to_string()).map_err(format_error)?;
        let added = added_tokens(&added)?;
        let (bytes, added) = token_bytes(&plain, &added)?;
        let found = |mark: &Mark| {
            let id = (0..added.len()).find(|id| added[*id] && bytes[*id] == mark.text().as_bytes())?;
            Some((*mark, u32::try_from(id).ok()?))
        };
        let marks: BTreeMap<Mark, u32> = Mark::ALL.iter().filter_map(found).collect();
        let style = if marks.contains_key(&Mark::Task) { Style::Compact } else { Style::Chat };
        let needed: &[Mark] = match style {
            Style::Compact => &Mark::COMPACT,
            Style::Chat => &[Mark::Open, Mark::Close],
        };
        if let Some(lacking) = needed.iter().find(|mark| !marks.contains_key(mark)) {
            return Err(CodecError::NoMark(lacking.text()));
        }
        let end = marks.get(&style.end()).copied().unwrap_or_default();
        let pad = marks.get(&Mark::Pad).copied().unwrap_or(end);
        Ok(Codec { style, json, plain, bytes, added, marks, end, pad, ours })
    }

    /// The style whose marks it has.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// How many token ids there are; every id is below.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.bytes.len()
    }

    /// The id of the token that ends what the policy writes.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The id that fills a batch; the end token where there is no padding token.
    #[must_use]
    pub fn pad(&self) -> u32 {
        self.pad
    }

    /// The id of a mark.
    #[must_use]
    pub fn mark(&self, mark: Mark) -> Option<u32> {
        self.marks.get(&mark).copied()
    }

    /// Whether an id is an added token: a mark, or what a foreign tokenizer adds. Text never
    /// becomes one.
    #[must_use]
    pub fn is_added(&self, token: u32) -> bool {
        self.added.get(token as usize).copied().unwrap_or(false)
    }

    /// The bytes of one token; of an added token its text; empty where there is no such id.
    #[must_use]
    pub fn bytes_of(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    /// Tokens of rendered pieces. Text never becomes an added token. Each piece is cut by itself, so
    /// that tokens do not depend on what comes later.
    ///
    /// # Errors
    /// A mark that this codec lacks.
    pub fn encode(&self, pieces: &[Piece]) -> Result<Vec<u32>, CodecError> {
        let mut tokens = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => tokens.extend(self.encode_text(text)?),
                Piece::Mark(mark) => match self.mark(*mark) {
                    Some(id) => tokens.push(id),
                    None if mark.has_text_form() => tokens.extend(self.encode_text(mark.text())?),
                    None => return Err(CodecError::NoMark(mark.text())),
                },
            }
        }
        Ok(tokens)
    }

    /// Tokens of plain text.
    ///
    /// # Errors
    /// The tokenizer's own, which a byte-level one does not have.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        let encoding = self.plain.encode_fast(text, false).map_err(|fault| CodecError::Encode(fault.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// The first tokens of `text`, as far as they stay the same whatever is appended to it: without
    /// the run of name-like characters at its end, and without the two pieces before that. (A piece
    /// is what merges cannot cross; how a piece ends can depend on the one behind it.)
    ///
    /// # Errors
    /// As [`Codec::encode_text`].
    pub(crate) fn settled(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        let open = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-\"{,:".contains(c);
        let firm = text.trim_end_matches(open).len();
        let encoding = self.plain.encode(text, false).map_err(|fault| CodecError::Encode(fault.to_string()))?;
        let pieces = encoding.get_word_ids();
        let ends = encoding.get_offsets().iter().map(|(_, end)| *end);
        let last = ends.zip(pieces).filter(|(end, _)| *end <= firm).filter_map(|(_, piece)| *piece).max();
        let kept = last.map_or(0, |last| last.saturating_sub(1));
        let count = pieces.iter().take_while(|piece| piece.is_some_and(|piece| piece < kept)).count();
        Ok(encoding.get_ids()[..count].to_vec())
    }

    /// The bytes of tokens, marks as their text. Unknown ids give nothing.
    #[must_use]
    pub fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        tokens.iter().flat_map(|token| self.bytes_of(*token)).copied().collect()
    }
}

/// Our tokenizer before training.
fn untrained() -> Result<Tokenizer, tokenizers::Error> {
    let mut tokenizer = Tokenizer::new(BPE::default());
    let cut = Split::new(SplitPattern::Regex(split::pattern()), SplitDelimiterBehavior::Isolated, false)?;
    let level = ByteLevel::new(false, false, false);
    tokenizer.with_pre_tokenizer(Some(Sequence::new(vec![cut.into(), level.into()])));
    tokenizer.with_decoder(Some(level));
    Ok(tokenizer)
}

/// The added tokens of a file, by id.
fn added_tokens(added: &Json) -> Result<BTreeMap<usize, String>, CodecError> {
    let tokens = added.as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |token: &Json| {
        let id = token.get("id")?.as_u64()?;
        Some((usize::try_from(id).ok()?, token.get("content")?.as_str()?.to_owned()))
    };
    let read = |token: &Json| read(token).ok_or_else(|| format_error(format!("added token {token}: id and content")));
    tokens.iter().map(read).collect()
}

/// The bytes of every id, and which ids are added tokens.
fn token_bytes(plain: &Tokenizer, added: &BTreeMap<usize, String>) -> Result<(Vec<Vec<u8>>, Vec<bool>), CodecError> {
    let vocabulary: BTreeMap<u32, String> = plain.get_vocab(false).into_iter().map(|(token, id)| (id, token)).collect();
    let last = vocabulary.keys().next_back().map_or(0, |id| *id as usize).max(added.keys().copied().max().unwrap_or(0));
    let alphabet = bytelevel::bytes_of();
    let mut bytes = vec![Vec::new(); last + 1];
    let mut is_added = vec![false; last + 1];
    for (id, token) in &vocabulary {
        let id = *id as usize;
        if added.contains_key(&id) {
            continue;
        }
        bytes[id] = bytelevel::bytes(token, &alphabet).ok_or_else(|| {
            format_error(format!("token `{token}` is not byte-level; such tokenizers are not supported"))
        })?;
    }
    for (id, text) in added {
        bytes[*id] = text.clone().into_bytes();
        is_added[*id] = true;
    }
    Ok((bytes, is_added))
}
