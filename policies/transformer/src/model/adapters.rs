//! Low-rank adapters (LoRA, Hu and others): a matrix `W` acts as `W + (alpha / rank) · B A`.
//!
//! The sum is formed before each pass, which costs as much as reading `rank` tokens; so the passes
//! know nothing of adapters, and what is trained is bit for bit what is served.

use std::borrow::Cow;
use std::ops::Range;

use candle_core::Var;
use serde::{Deserialize, Serialize};

use super::layout::{Entry, Places, Start};
use super::random::Normal;
use super::{Model, Parameter};
use crate::kernels::matmul::{Into, multiply};
use crate::kernels::panels::{Matrix, Packed as Panels};
use crate::kernels::pool::Pool;
use crate::{Error, Result};

/// Settings of low-rank adapters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lora {
    /// Rank of every adapter.
    pub rank: usize,
    /// The adapters' product is scaled by `alpha / rank`.
    pub alpha: f32,
}

/// One adapter: which rows of which matrix it changes, and where its factors stand in the list.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    pub(crate) base: usize,
    pub(crate) rows: Range<usize>,
    /// `A`, `rank × in`.
    pub(crate) a: usize,
    /// `B`, `rows × rank`.
    pub(crate) b: usize,
    pub(crate) scale: f32,
}

impl Model {
    /// Freezes all weights and puts adapters on the seven matrices of every block: query, key,
    /// value, output, gate, up and down. `A` begins random, `B` zero: nothing changes yet.
    ///
    /// # Errors
    /// [`Error::Shape`] for a rank of 0 or a model that has adapters already.
    pub fn add_adapters(&mut self, lora: Lora, seed: u64) -> Result<()> {
        if lora.rank == 0 || !lora.alpha.is_finite() || self.lora.is_some() {
            let problem = "adapters want a rank of at least 1, a finite alpha, and a model without adapters";
            return Err(Error::Shape(problem.to_owned()));
        }
        self.train_only(|_| false);
        self.lora = Some(lora);
        let mut random = Normal::new(seed);
        for layer in 0..self.shape.layers {
            for (name, base, rows, width) in self.adapted(layer) {
                let start = Start::Normal(1.0 / (width as f64).sqrt());
                let a = self.push(&mut random, format!("layers.{layer}.{name}.a"), [lora.rank, width], start)?;
                let shape = [rows.len(), lora.rank];
                let b = self.push(&mut random, format!("layers.{layer}.{name}.b"), shape, Start::Zeros)?;
                self.adapters.push(Adapter { base, rows, a, b, scale: lora.alpha / lora.rank as f32 });
            }
        }
        Ok(())
    }

    /// The settings of the adapters, if there are any.
    #[must_use]
    pub fn adapters(&self) -> Option<Lora> {
        self.lora
    }

    /// The matrices of a block that get an adapter: name, place, rows, width of the input.
    fn adapted(&self, layer: usize) -> [(&'static str, usize, Range<usize>, usize); 7] {
        let (shape, places) = (&self.shape, Places::of(&self.shape).block(layer));
        let (query, key, hidden) = (shape.query(), shape.key(), shape.hidden);
        [
            ("attention.query", places.qkv, 0..query, shape.dim),
            ("attention.key", places.qkv, query..query + key, shape.dim),
            ("attention.value", places.qkv, query + key..query + 2 * key, shape.dim),
            ("attention.output", places.output, 0..shape.dim, query),
            ("feed.gate", places.gate_up, 0..hidden, shape.dim),
            ("feed.up", places.gate_up, hidden..2 * hidden, shape.dim),
            ("feed.down", places.down, 0..shape.dim, hidden),
        ]
    }

    fn push(&mut self, random: &mut Normal, name: String, dims: [usize; 2], start: Start) -> Result<usize> {
        let entry = Entry { name: name.clone(), dims: dims.to_vec(), decays: true, start };
        let var = Var::from_vec(random.fill(&entry), dims.to_vec(), &self.device)?;
        self.parameters.push(Parameter { name, var, trainable: true, decays: true });
        Ok(self.parameters.len() - 1)
    }
}

/// A matrix with its adapters added; the matrix itself if it has none. `values` holds every parameter.
pub(crate) fn merge<'a>(adapters: &[Adapter], values: &[&'a [f32]], base: usize, width: usize) -> Cow<'a, [f32]> {
    let mut merged = Cow::Borrowed(values[base]);
    for adapter in adapters.iter().filter(|adapter| adapter.base == base) {
        let (a, b) = (values[adapter.a], values[adapter.b]);
        let (rank, rows) = (a.len() / width, adapter.rows.len());
        let mut right = Panels::default();
        right.fill(&Pool::alone(), Matrix::rows(a, rank, width, width));
        let scaled: Vec<f32> = b.iter().map(|value| value * adapter.scale).collect();
        let target = &mut merged.to_mut()[adapter.rows.start * width..adapter.rows.end * width];
        multiply(Matrix::rows(&scaled, rows, rank, rank), right.view(), target, width, Into::Add);
    }
    merged
}
