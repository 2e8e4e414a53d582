//! Drawing tokens: many rows at once, each with its own length, constraint and random numbers.
//!
//! A row's numbers are the same bits whatever else is in the batch, and the same as those of
//! [`Model::forward`] over the whole sequence: the trainer's ratio is exactly 1 before its first step.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::engine::{BlockPanels, Earlier, Guards, Weights, rows_of};
use crate::kernels::cache::Cache;
use crate::kernels::panels::Packed as Panels;
use crate::kernels::pool::Pool;
use crate::{Error, Mask, Model, Result};

mod choose;
mod decode;
mod draw;

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
    /// Keys and values: for each block, for each key head.
    caches: Vec<Cache>,
    /// How many tokens the caches hold.
    cached: usize,
    /// The last tokens that the caches hold: as many as are mixed into the next one.
    recent: Vec<u32>,
    /// Tokens that were read or drawn and that the model has not seen yet.
    pending: Vec<u32>,
    random: ChaCha8Rng,
}

impl Row {
    /// Number of tokens that were read or drawn.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cached + self.pending.len()
    }

    /// Whether nothing was read yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy that goes on with random numbers of its own: several attempts, one prompt.
    #[must_use]
    pub fn fork(&self, seed: u64) -> Row {
        Row { random: ChaCha8Rng::seed_from_u64(seed), ..self.clone() }
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
    /// The model's settings; its weights are not read.
    model: Model,
    pool: Pool,
    embedding: Vec<f32>,
    earlier: Earlier,
    blocks: Vec<Block>,
    norm: Vec<f32>,
    head: Panels,
}

/// One block's weights, laid out for drawing.
struct Block {
    attention_norm: Vec<f32>,
    bias: Option<Vec<f32>>,
    feed_norm: Vec<f32>,
    panels: BlockPanels,
}

impl Sampler {
    /// A sampler of the model's present weights, adapters added. It keeps a copy: make a new one
    /// after a step. Drawing is done on the CPU, wherever the model is.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the weights cannot be copied.
    pub fn new(model: &Model) -> Result<Sampler> {
        let model = if model.device.is_cpu() { model.clone() } else { model.to_device(&candle_core::Device::Cpu)? };
        let (shape, pool) = (&model.shape, model.pool.clone());
        let guards = Guards::new(&model);
        let weights = Weights::new(&model, &guards)?;
        let mut blocks = Vec::new();
        for layer in 0..shape.layers {
            let block = weights.block(layer);
            let mut panels = BlockPanels::default();
            panels.forward(&pool, shape, &block);
            blocks.push(Block {
                attention_norm: block.attention_norm.to_vec(),
                bias: block.bias.map(<[f32]>::to_vec),
                feed_norm: block.feed_norm.to_vec(),
                panels,
            });
        }
        let mut head = Panels::default();
        head.fill(&pool, rows_of(weights.head(), shape.dim).transposed());
        let (embedding, norm) = (weights.embedding().to_vec(), weights.norm().to_vec());
        let earlier = Earlier::new(&pool, &weights);
        drop(guards);
        Ok(Sampler { model, pool, embedding, earlier, blocks, norm, head })
    }

    /// Longest sequence in tokens.
    #[must_use]
    pub fn context(&self) -> usize {
        self.model.shape().context
    }

    /// An empty row with its own random numbers.
    #[must_use]
    pub fn row(&self, seed: u64) -> Row {
        let shape = self.model.shape();
        let caches = vec![Cache::new(shape.head()); shape.layers * shape.kv_heads];
        Row { caches, cached: 0, recent: Vec::new(), pending: Vec::new(), random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Reads tokens into a row without drawing: a prompt that several forks share.
    ///
    /// # Errors
    /// [`Error::Batch`] for a token outside the vocabulary, [`Error::Context`] for too many.
    pub fn read(&self, row: &mut Row, tokens: &[u32]) -> Result<()> {
        self.check(row, tokens)?;
        row.pending.extend_from_slice(tokens);
        // The last token stays unread: what is drawn next needs its output.
        let Some(last) = row.pending.pop() else { return Ok(()) };
        let chunk = std::mem::replace(&mut row.pending, vec![last]);
        self.absorb(row, &chunk);
        Ok(())
    }

    /// Natural log-probabilities of every token after what the row has read, without a mask.
    ///
    /// # Errors
    /// [`Error::Batch`] if nothing was read.
    pub fn next(&self, row: &mut Row) -> Result<Vec<f32>> {
        self.check(row, &[])?;
        if row.pending.is_empty() {
            return Err(Error::Batch("the row has read nothing; give it at least one token".to_owned()));
        }
        let mut row = row.clone();
        let chunk = std::mem::take(&mut row.pending);
        let mut logits = self.outputs(&self.pool, &mut [(&mut row, &chunk)]);
        let lse = crate::kernels::head::normalise(&logits, None, &mut Vec::new()).lse;
        logits.iter_mut().for_each(|logit| *logit -= lse);
        Ok(logits)
    }

    /// Refuses tokens that a row cannot read.
    fn check(&self, row: &Row, tokens: &[u32]) -> Result<()> {
        let shape = self.model.shape();
        if let Some(token) = tokens.iter().find(|token| **token as usize >= shape.vocab) {
            return Err(Error::Batch(format!("token {token} is outside the vocabulary of {}", shape.vocab)));
        }
        let total = row.len() + tokens.len();
        if total > shape.context {
            return Err(Error::Context { tokens: total, context: shape.context });
        }
        Ok(())
    }
}
