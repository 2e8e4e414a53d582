//! Where in a call we are.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use llguidance::Matcher;

use crate::codec::Codec;
use crate::grammar::{GrammarError, free_tokens};

/// Which tokens are lawful next: bit `id % 64` of word `id / 64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    words: Vec<u64>,
}

impl Mask {
    /// A mask of the given tokens.
    fn of(vocabulary: usize, tokens: impl IntoIterator<Item = u32>) -> Mask {
        let mut words = vec![0_u64; vocabulary.div_ceil(64)];
        for token in tokens {
            if let Some(word) = words.get_mut(token as usize / 64) {
                *word |= 1 << (token % 64);
            }
        }
        Mask { words }
    }

    /// A mask from words of 32 bits, as llguidance counts.
    fn of_halves(vocabulary: usize, halves: &[u32]) -> Mask {
        let half = |index: usize| u64::from(halves.get(index).copied().unwrap_or(0));
        Mask { words: (0..vocabulary.div_ceil(64)).map(|word| half(2 * word) | half(2 * word + 1) << 32).collect() }
    }

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

/// Where in a call we are. Cheap to clone: a beam or a group of attempts clones it at will.
#[derive(Clone)]
pub struct State {
    codec: Arc<Codec>,
    matcher: Option<Matcher>,
    tokens: Vec<u32>,
    /// The mask of this state, once it was asked for.
    mask: Option<Mask>,
    /// What must come next, once it was asked for: finding it cuts the whole call into tokens anew.
    forced: Option<VecDeque<u32>>,
    ended: bool,
}

fn spent(fault: impl fmt::Display) -> GrammarError {
    GrammarError::Spent(fault.to_string())
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("tokens", &self.tokens).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn new(codec: Arc<Codec>, matcher: Option<Matcher>) -> State {
        State { codec, matcher, tokens: Vec::new(), mask: None, forced: None, ended: false }
    }

    /// The lawful next tokens. Where there is but one way on and the codec has but one way to write
    /// it, that token alone; so the mask always agrees with [`State::forced`].
    ///
    /// # Errors
    /// The call has ended, or the parser gave up.
    pub fn mask(&mut self) -> Result<Mask, GrammarError> {
        if let Some(mask) = &self.mask {
            return Ok(mask.clone());
        }
        let mask = self.compute_mask()?;
        self.mask = Some(mask.clone());
        Ok(mask)
    }

    fn compute_mask(&mut self) -> Result<Mask, GrammarError> {
        self.alive()?;
        let vocabulary = self.codec.vocabulary();
        if let Some(token) = self.must().front() {
            return Ok(Mask::of(vocabulary, [*token]));
        }
        match &mut self.matcher {
            None => Ok(Mask::of(vocabulary, free_tokens(&self.codec))),
            Some(matcher) => {
                let set = matcher.compute_mask_or_eos().map_err(spent)?;
                Ok(Mask::of_halves(vocabulary, set.as_slice()))
            }
        }
    }

    /// The tokens that must come next, as far as there is but one way; they are not yet accepted.
    /// They are the tokens that the codec cuts from the whole call; where the tokens so far are not
    /// the codec's own cut (a policy may spell a word as it likes), there are none.
    #[must_use]
    pub fn forced(&mut self) -> Vec<u32> {
        self.must().iter().copied().collect()
    }

    /// [`State::forced`], found at most once in each state.
    fn must(&mut self) -> &VecDeque<u32> {
        if self.forced.is_none() {
            self.forced = Some(self.compute_forced().into());
        }
        self.forced.get_or_insert_default()
    }

    fn compute_forced(&mut self) -> Vec<u32> {
        let Some(matcher) = self.matcher.as_mut().filter(|_| !self.ended) else { return Vec::new() };
        if matcher.is_stopped() {
            return vec![self.codec.end()];
        }
        let ahead = matcher.compute_ff_bytes();
        if ahead.is_empty() { Vec::new() } else { self.settled(&ahead) }
    }

    /// The codec's tokens of `ahead`, as far as no continuation can change them.
    fn settled(&self, ahead: &[u8]) -> Vec<u32> {
        // An added token ends what is cut together.
        let start = self.tokens.iter().rposition(|token| self.codec.is_added(*token)).map_or(0, |index| index + 1);
        let written = &self.tokens[start..];
        let mut call = self.codec.decode(written);
        call.extend_from_slice(ahead);
        let cut = std::str::from_utf8(&call).ok().and_then(|text| self.codec.settled(text).ok());
        cut.and_then(|cut| cut.strip_prefix(written).map(<[u32]>::to_vec)).unwrap_or_default()
    }

    /// Takes a token.
    ///
    /// # Errors
    /// It is not lawful here; the state stays as it was. Or the call had ended.
    pub fn accept(&mut self, token: u32) -> Result<(), GrammarError> {
        self.alive()?;
        if !self.allows(token)? {
            return Err(GrammarError::Token { token });
        }
        if token == self.codec.end() {
            self.ended = true;
        } else if let Some(matcher) = &mut self.matcher {
            matcher.consume_token(token).map_err(spent)?;
        }
        self.tokens.push(token);
        self.mask = None;
        // What was forced behind this token still is: the same call, cut alike.
        self.forced = self.forced.take().filter(|forced| forced.len() > 1);
        if let Some(forced) = &mut self.forced {
            forced.pop_front();
        }
        Ok(())
    }

    /// As the mask says, without the cost of one where none was asked for.
    fn allows(&mut self, token: u32) -> Result<bool, GrammarError> {
        if let Some(mask) = &self.mask {
            return Ok(mask.allows(token));
        }
        if self.matcher.is_none() {
            return Ok(self.compute_mask()?.allows(token));
        }
        if let Some(forced) = self.must().front() {
            return Ok(*forced == token);
        }
        match &mut self.matcher {
            Some(matcher) if token == self.codec.end() => matcher.is_accepting().map_err(spent),
            Some(matcher) => Ok(matcher.validate_tokens(&[token]).map_err(spent)? == 1),
            None => Ok(false),
        }
    }

    fn alive(&self) -> Result<(), GrammarError> {
        if self.ended { Err(GrammarError::Spent("the call has ended".to_owned())) } else { Ok(()) }
    }

    /// Whether the end token was taken.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The tokens taken so far.
    #[must_use]
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use tribunal_protocol::plugin::ToolSpec;
    use tribunal_protocol::policy::Action;

    use crate::grammar::Grammar;
    use crate::{Codec, Lexicon, Renderer, render};

    /// What is kept of the forced tokens after one of them was taken is what would be found anew.
    #[test]
    fn what_was_forced_behind_a_token_still_is() {
        let arguments = serde_json::json!({
            "type": "object", "required": ["kind", "amount"], "additionalProperties": false,
            "properties": {"kind": {"enum": ["Total (EUR) of ALL Accounts"]}, "amount": {"type": "integer"}},
        });
        let tools = [ToolSpec { name: "book_entry".to_owned(), description: String::new(), arguments }];
        let action =
            Action::call("book_entry", serde_json::json!({"kind": "Total (EUR) of ALL Accounts", "amount": 12}));
        let train = Codec::train(["monthly book_entry kind amount"].repeat(3), 300).unwrap();
        let codec = std::sync::Arc::new(train);
        let pieces = Renderer::new(codec.style()).call(&tools, &action);
        let grammar = Grammar::new(&codec, &tools, &Lexicon::new()).unwrap();
        let (mut state, mut kept) = (grammar.start(), 0);
        for token in codec.encode(&pieces).unwrap() {
            kept += usize::from(state.forced.is_some());
            let anew = state.compute_forced();
            assert_eq!(state.forced(), anew, "behind `{}`", String::from_utf8_lossy(&codec.decode(state.tokens())));
            state.accept(token).unwrap();
        }
        assert!(state.ended() && kept > 3, "{kept} of {}", render::bytes(&pieces));
    }
}
