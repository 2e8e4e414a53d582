use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The sizes that decide a model's parameters and its arithmetic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Number of different tokens.
    pub vocab: usize,
    /// Width of the residual stream.
    pub dim: usize,
    /// Number of blocks.
    pub layers: usize,
    /// Number of query heads; `dim / heads` is a head's width unless `head_dim` says otherwise.
    pub heads: usize,
    /// Number of key and value heads; divides `heads` (grouped-query attention).
    pub kv_heads: usize,
    /// Inner width of the feed-forward part.
    pub hidden: usize,
    /// Longest sequence in tokens.
    pub context: usize,
    /// Base of the rotary embedding's wavelengths.
    pub theta: f32,
    /// What RMSNorm adds to the mean square.
    pub eps: f32,
    /// Whether the output projection is the token embedding itself.
    pub tied: bool,
    /// Whether query, key and value projections have a bias (Qwen2 does).
    pub bias: bool,
    /// How many of the tokens before are mixed into each token's embedding, each through a matrix of
    /// its own. A head can then find what followed the same tokens earlier in one step (induction)
    /// instead of two; and as the matrices serve all tokens alike, what is copied need not have been
    /// seen in training. Pretrained models have 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier: usize,
    /// Width of one head; absent means `dim / heads`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_dim: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Shape {
    /// Width of one head.
    #[must_use]
    pub fn head(&self) -> usize {
        self.head_dim.unwrap_or(self.dim / self.heads.max(1))
    }

    /// Width of all query heads together.
    #[must_use]
    pub fn query(&self) -> usize {
        self.heads * self.head()
    }

    /// Width of all key heads together; value heads have the same.
    #[must_use]
    pub fn key(&self) -> usize {
        self.kv_heads * self.head()
    }

    /// Number of weights in a model of this shape.
    #[must_use]
    pub fn parameters(&self) -> usize {
        let qkv = self.query() + 2 * self.key();
        let attention = qkv * self.dim + self.dim * self.query() + if self.bias { qkv } else { 0 };
        let block = attention + 3 * self.hidden * self.dim + 2 * self.dim;
        let tables = 1 + usize::from(!self.tied);
        let embeddings = tables * self.vocab * self.dim + self.earlier * self.dim * self.dim;
        embeddings + self.layers * block + self.dim
    }

    /// Says why no model can have this shape, if none can.
    ///
    /// # Errors
    /// [`Error::Shape`] names the field and what it must be.
    pub fn check(&self) -> Result<()> {
        let positive = [
            ("vocab", self.vocab),
            ("dim", self.dim),
            ("layers", self.layers),
            ("heads", self.heads),
            ("kv_heads", self.kv_heads),
            ("hidden", self.hidden),
            ("context", self.context),
        ];
        if let Some((name, _)) = positive.iter().find(|(_, size)| *size == 0) {
            return Err(Error::Shape(format!("{name} is 0 and must be at least 1")));
        }
        if u32::try_from(self.vocab).is_err() {
            return Err(Error::Shape(format!("vocab is {}; a token is a 32-bit number", self.vocab)));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            let (heads, kv_heads) = (self.heads, self.kv_heads);
            return Err(Error::Shape(format!("heads ({heads}) must be a multiple of kv_heads ({kv_heads})")));
        }
        if self.head_dim.is_none() && !self.dim.is_multiple_of(self.heads) {
            return Err(Error::Shape(format!("dim ({}) must be a multiple of heads ({})", self.dim, self.heads)));
        }
        if self.head() == 0 || !self.head().is_multiple_of(2) {
            return Err(Error::Shape(format!("a head is {} wide and must be even: rope turns pairs", self.head())));
        }
        for (name, value) in [("theta", self.theta), ("eps", self.eps)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::Shape(format!("{name} is {value} and must be a positive number")));
            }
        }
        Ok(())
    }
}
