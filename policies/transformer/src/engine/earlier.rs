//! Earlier tokens beside each token: matrices that mix the embeddings of the tokens before into a
//! token's own. What a token gets from one before it depends on that token alone, so it is computed
//! once for the whole vocabulary, and looked up.

use super::block::{product, rows_of};
use super::{PIECE, Weights};
use crate::Packed;
use crate::kernels::elementwise::add;
use crate::kernels::matmul::Into;
use crate::kernels::panels::Packed as Panels;
use crate::kernels::pool::Pool;
use crate::model::layout::Places;

/// For each distance, nearest first, what a token at that distance before adds: one row per token.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    tables: Vec<Vec<f32>>,
    dim: usize,
}

impl Earlier {
    /// The tables of the present weights: `embedding · matrixᵀ`.
    pub(crate) fn new(pool: &Pool, weights: &Weights<'_>) -> Earlier {
        let (shape, embedding) = (weights.shape, weights.embedding());
        let dim = shape.dim;
        let table = |place: usize| {
            let mut right = Panels::default();
            right.fill(pool, rows_of(weights.at(place), dim).transposed());
            times(pool, embedding, &right, dim)
        };
        let tables = Places::of(shape).earlier().map(table).collect();
        Earlier { tables, dim }
    }

    /// Adds to a row what the tokens before it give; `before` goes backwards from the nearest.
    pub(crate) fn add(&self, row: &mut [f32], before: impl Iterator<Item = u32>) {
        for (table, token) in self.tables.iter().zip(before) {
            add(row, &table[token as usize * self.dim..][..self.dim]);
        }
    }
}

/// Rows times a right-hand side, in pieces.
fn times(pool: &Pool, rows: &[f32], right: &Panels, dim: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.len()];
    let tasks = rows.chunks(PIECE * dim).zip(out.chunks_mut(PIECE * dim)).collect();
    pool.each(tasks, |(rows, out)| product(rows, right.view(), out, Into::Replace));
    out
}

/// The tokens before a row of a batch in its sequence, nearest first.
pub(super) fn before(batch: &Packed, start: usize, row: usize) -> impl Iterator<Item = u32> + '_ {
    batch.tokens[start..row].iter().rev().copied()
}

impl super::backward::Pass<'_> {
    /// The matrices of earlier tokens, and what they pass on to the embedding.
    pub(super) fn earlier(&mut self, batch: &Packed, stream: &[f32]) {
        let (shape, pool) = (&self.model.shape, &self.model.pool);
        let dim = shape.dim;
        for (distance, place) in Places::of(shape).earlier().enumerate() {
            let mut table = vec![0.0; shape.vocab * dim];
            for range in batch.starts.windows(2) {
                for row in range[0]..range[1] {
                    if let Some(token) = before(batch, range[0], row).nth(distance) {
                        add(&mut table[token as usize * dim..][..dim], &stream[row * dim..][..dim]);
                    }
                }
            }
            let mut right = Panels::default();
            right.fill(pool, rows_of(self.weights.at(place), dim));
            let passed_on = times(pool, &table, &right, dim);
            let embedding = Places::of(shape).embedding();
            let so_far = self.grads[embedding].take();
            self.keep(embedding, |grad| {
                if let Some(so_far) = so_far {
                    grad.copy_from_slice(&so_far);
                }
                add(grad, &passed_on);
            });
            self.matrix(place, (&table, dim), (self.weights.embedding(), dim));
        }
    }
}
