//! Forward and backward pass over a packed batch on the CPU.
//!
//! A pass alternates between two kinds of parallel work: pieces of rows, each of which goes through
//! several operations while it is in the cache, and pairs of a sequence and a key head. Pieces
//! depend on the batch alone, so the result does not depend on who computes which.

mod backward;
mod block;
mod collect;
mod earlier;
mod forward;
mod weights;

pub(crate) use backward::backward;
pub(crate) use block::{BlockPanels, Left, Setting, enter, leave, product, rows_of};
pub(crate) use earlier::Earlier;
pub(crate) use forward::{Tape, forward};
pub(crate) use weights::{BlockWeights, Guards, Weights};

use crate::{Packed, Shape};

/// Rows in a piece of work.
pub(crate) const PIECE: usize = 192;

/// Where a sequence lies among the packed rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// The sequences of a batch.
pub(crate) fn spans(batch: &Packed) -> Vec<Span> {
    let pairs = batch.starts.windows(2);
    pairs.map(|pair| Span { start: pair[0], len: pair[1] - pair[0] }).filter(|span| span.len > 0).collect()
}

/// Position of every row in its sequence.
pub(crate) fn positions(spans: &[Span]) -> Vec<usize> {
    spans.iter().flat_map(|span| 0..span.len).collect()
}

/// Attention works head by head, so what it writes lies so: for each sequence, for each key head,
/// for each token, the query heads that share the key head. This gathers one row's heads.
pub(crate) fn gather_heads(heads: &[f32], span: Span, token: usize, shape: &Shape, row: &mut [f32]) {
    let group = shape.query() / shape.kv_heads;
    for (key_head, part) in row.chunks_exact_mut(group).enumerate() {
        let from = span.start * shape.query() + (key_head * span.len + token) * group;
        part.copy_from_slice(&heads[from..from + group]);
    }
}

/// The sequence of every row, for [`gather_heads`].
pub(crate) fn owners(spans: &[Span]) -> Vec<Span> {
    spans.iter().flat_map(|span| std::iter::repeat_n(*span, span.len)).collect()
}

/// Cuts a buffer into pieces of these lengths.
pub(crate) fn cut(mut buffer: &mut [f32], lengths: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, rest) = std::mem::take(&mut buffer).split_at_mut(length);
        pieces.push(piece);
        buffer = rest;
    }
    pieces
}
