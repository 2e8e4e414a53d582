use std::sync::Arc;

use crate::{Error, Result};

/// A set of tokens: those that may come next. One bit for each token, cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Arc<[u32]>,
}

impl Mask {
    /// The set whose bit `t % 32` of word `t / 32` stands for token `t`; bits past the vocabulary
    /// are dropped, missing words count as zero.
    ///
    /// # Errors
    /// [`Error::Constraint`] if no token of the vocabulary is left.
    pub fn from_words(words: &[u32], vocab: usize) -> Result<Mask> {
        let mut kept = vec![0; vocab.div_ceil(32)];
        for (kept, word) in kept.iter_mut().zip(words) {
            *kept = *word;
        }
        if let (Some(last), true) = (kept.last_mut(), !vocab.is_multiple_of(32)) {
            *last &= (1 << (vocab % 32)) - 1;
        }
        if kept.iter().all(|word| *word == 0) {
            return Err(Error::Constraint("no token is allowed; a constraint must end or leave one".to_owned()));
        }
        Ok(Mask { words: kept.into() })
    }

    /// The set of these tokens.
    ///
    /// # Errors
    /// [`Error::Constraint`] if the set is empty or a token lies outside the vocabulary.
    pub fn of(tokens: &[u32], vocab: usize) -> Result<Mask> {
        let mut words = vec![0; vocab.div_ceil(32)];
        for token in tokens {
            let index = *token as usize;
            if index >= vocab {
                return Err(Error::Constraint(format!("token {token} is outside a vocabulary of {vocab}")));
            }
            words[index / 32] |= 1 << (index % 32);
        }
        Mask::from_words(&words, vocab)
    }

    /// Whether a token is in the set.
    #[must_use]
    pub fn allows(&self, token: u32) -> bool {
        self.words.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
    }

    /// How many tokens are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The bits, 32 tokens to a word.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}
