use crate::{Mask, Model, Result};

/// Decides which tokens may come next, and when a row is complete.
pub trait Constraint: Send {
    /// What may come next.
    ///
    /// # Errors
    /// A text that says why nothing can.
    fn allowed(&mut self) -> std::result::Result<Allowed, String>;

    /// Hears of every token, drawn or forced.
    ///
    /// # Errors
    /// A text that says why the token does not fit.
    fn accept(&mut self, token: u32) -> std::result::Result<(), String>;

    /// Whether the row is complete.
    fn ended(&self) -> bool;
}

/// What may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Any token.
    All,
    /// These tokens.
    Only(Mask),
    /// Exactly these tokens, in this order; they have probability 1 under the constraint.
    Forced(Vec<u32>),
}

/// No constraint: any token until one that ends.
#[derive(Clone, Debug)]
pub struct Free {
    end: Option<u32>,
    ended: bool,
}

impl Free {
    /// Any token, until `end` was drawn.
    #[must_use]
    pub fn until(end: Option<u32>) -> Free {
        Free { end, ended: false }
    }
}

impl Constraint for Free {
    fn allowed(&mut self) -> std::result::Result<Allowed, String> {
        Ok(Allowed::All)
    }

    fn accept(&mut self, token: u32) -> std::result::Result<(), String> {
        self.ended |= self.end == Some(token);
        Ok(())
    }

    fn ended(&self) -> bool {
        self.ended
    }
}

/// How a token is chosen from the masked distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Divides the logits; 0 always takes the likeliest token.
    pub temperature: f32,
    /// Keeps the likeliest tokens whose probabilities together first reach this.
    pub top_p: Option<f32>,
    /// Keeps this many of the likeliest tokens.
    pub top_k: Option<usize>,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { temperature: 1.0, top_p: None, top_k: None }
    }
}

/// One sequence that is being drawn: what was read so far, and its own random numbers.
#[derive(Clone, Debug)]
pub struct Row {
    length: usize,
}

impl Row {
    /// Number of tokens that were read or drawn.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether nothing was read yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// A copy that goes on with random numbers of its own: several attempts, one prompt.
    #[must_use]
    pub fn fork(&self, seed: u64) -> Row {
        let _ = seed;
        self.clone()
    }
}

/// One row's part in a [`Sampler::draw`].
pub struct Draw<'a> {
    /// The row.
    pub row: &'a mut Row,
    /// Tokens to read before the first is drawn: a prompt, a tool's answer.
    pub read: &'a [u32],
    /// What may be drawn.
    pub constraint: &'a mut dyn Constraint,
    /// Draw at most this many tokens, forced ones counted.
    pub most: usize,
}

/// The tokens that a row drew.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The tokens, forced ones among them.
    pub tokens: Vec<u32>,
    /// Log-probability of each at temperature 1 under its mask: what the trainer computes.
    pub logprobs: Vec<f32>,
    /// Log-probability of each under the distribution that it was drawn from, with temperature,
    /// top-p and top-k; equal to `logprobs` where these do nothing.
    pub drawn_logprobs: Vec<f32>,
    /// The set each was drawn from; `None`: all tokens.
    pub masks: Vec<Option<Mask>>,
    /// Probability that each mask took away; 0 for a forced token, whose distribution is not computed.
    pub removed: Vec<f32>,
    /// Which tokens were forced: no choice was made, so none is to be trained.
    pub forced: Vec<bool>,
    /// Whether the constraint ended; otherwise `most` tokens or the context ran out.
    pub ended: bool,
}

/// Draws tokens from a model, many rows at once.
pub struct Sampler {
    vocab: usize,
}

impl Sampler {
    /// A sampler of the model's present weights. It keeps a copy: make a new one after a step.
    pub fn new(model: &Model) -> Result<Sampler> {
        Ok(Sampler { vocab: model.shape().vocab })
    }

    /// An empty row.
    #[must_use]
    pub fn row(&self, seed: u64) -> Row {
        let _ = (seed, self.vocab);
        Row { length: 0 }
    }

    /// Reads tokens into a row without drawing: a prompt that several forks share.
    pub fn read(&self, row: &mut Row, tokens: &[u32]) -> Result<()> {
        row.length += tokens.len();
        Ok(())
    }

    /// Draws until every row has ended. Rows of unequal length and rows that end early are fine.
    pub fn draw(&self, draws: &mut [Draw<'_>], sampling: &Sampling) -> Result<Vec<Drawn>> {
        let _ = sampling;
        Ok(draws.iter().map(|_| Drawn::default()).collect())
    }
}
