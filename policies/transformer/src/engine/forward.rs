//! The forward pass, with or without a tape for the backward pass.

use super::block::{BlockPanels, Left, Setting, enter, leave, product, rows_of};
use super::earlier::{Earlier, before};
use super::weights::Guards;
use super::{BlockWeights, PIECE, Span, Weights, cut, gather_heads, owners, positions, spans};
use crate::kernels::attention::{self, Queries};
use crate::kernels::buffer::Buffer;
use crate::kernels::cache::Cache;
use crate::kernels::head::{Normaliser, normalise};
use crate::kernels::matmul::Into;
use crate::kernels::norm;
use crate::kernels::panels::Packed as Panels;
use crate::scores::Measured;
use crate::{Model, Packed, Result, Shape};

/// What the backward pass reads.
#[derive(Default)]
pub(crate) struct Tape {
    pub(crate) batch: Packed,
    pub(crate) blocks: Vec<BlockTape>,
    /// The residual stream at the rows that predict a scored token.
    pub(crate) last: Buffer,
    pub(crate) logits: Buffer,
    /// Logarithm of each scored token's normaliser.
    pub(crate) lse: Vec<f32>,
}

/// What one block leaves for the backward pass.
#[derive(Default)]
pub(crate) struct BlockTape {
    /// The residual stream before the block.
    pub(crate) x: Buffer,
    /// Scaled queries, keys, values, rotated.
    pub(crate) qkv: Buffer,
    /// Attention's result, head by head.
    pub(crate) mixed: Buffer,
    pub(crate) lse: Buffer,
    pub(crate) middle: Buffer,
    pub(crate) gate_up: Buffer,
}

/// Reads a batch that was checked. A given tape is filled.
pub(crate) fn forward(model: &Model, batch: &Packed, mut tape: Option<&mut Tape>) -> Result<Measured> {
    let guards = Guards::new(model);
    let weights = Weights::new(model, &guards)?;
    let shape = &model.shape;
    let spans = spans(batch);
    let dim = shape.dim;
    let mut x = Buffer::any(batch.tokens.len() * dim);
    for (row, token) in x.chunks_exact_mut(dim).zip(&batch.tokens) {
        row.copy_from_slice(&weights.embedding()[*token as usize * dim..][..dim]);
    }
    if shape.earlier > 0 {
        let earlier = Earlier::new(&model.pool, &weights);
        for range in batch.starts.windows(2) {
            for row in range[0]..range[1] {
                earlier.add(&mut x[row * dim..][..dim], before(batch, range[0], row));
            }
        }
    }
    let mut panels = BlockPanels::default();
    let mut spare = BlockTape::default();
    for layer in 0..shape.layers {
        let block = weights.block(layer);
        panels.forward(&model.pool, shape, &block);
        let next = run_block(model, &block, &panels, &spans, &x, &mut spare);
        if let Some(tape) = tape.as_deref_mut() {
            tape.blocks.push(BlockTape { x: std::mem::replace(&mut x, next), ..std::mem::take(&mut spare) });
        } else {
            x = next;
        }
    }
    let mut last = Buffer::any(batch.targets.len() * dim);
    for (row, target) in last.chunks_exact_mut(dim).zip(&batch.targets) {
        row.copy_from_slice(&x[target.row * dim..][..dim]);
    }
    drop(x);
    Ok(score(model, &weights, batch, last, tape))
}

/// One block over all rows; fills the tape but for `x`, which it reads.
fn run_block(
    model: &Model,
    block: &BlockWeights<'_>,
    panels: &BlockPanels,
    spans: &[Span],
    x: &[f32],
    tape: &mut BlockTape,
) -> Buffer {
    let (shape, rows) = (&model.shape, x.len() / model.shape.dim);
    let width = shape.query() + 2 * shape.key();
    tape.qkv = Buffer::any(rows * width);
    let setting = Setting { shape, rope: &model.rope };
    let positions = positions(spans);
    let tasks = x.chunks(PIECE * shape.dim).zip(positions.chunks(PIECE)).zip(tape.qkv.chunks_mut(PIECE * width));
    model.pool.each(tasks.collect(), |((x, positions), qkv)| {
        enter(setting, (block.attention_norm, block.bias), panels.qkv.view(), x, positions, qkv);
    });
    attend(model, spans, tape);
    tape.middle = Buffer::any(x.len());
    tape.gate_up = Buffer::any(rows * 2 * shape.hidden);
    let mut out = Buffer::any(x.len());
    let owners = owners(spans);
    let inputs = x.chunks(PIECE * shape.dim).zip(owners.chunks(PIECE).zip(positions.chunks(PIECE)));
    let outputs = tape.middle.chunks_mut(PIECE * shape.dim).zip(tape.gate_up.chunks_mut(PIECE * 2 * shape.hidden));
    let tasks = inputs.zip(outputs.zip(out.chunks_mut(PIECE * shape.dim)));
    let heads = &tape.mixed;
    model.pool.each(tasks.collect(), |((x, (owners, positions)), ((middle, gate_up), out))| {
        let mixed = gathered(heads, owners, positions, shape);
        leave(shape, block.feed_norm, panels, x, &mixed, Left { middle, gate_up, out });
    });
    out
}

/// Attention's result for some rows, row by row.
pub(super) fn gathered(heads: &[f32], owners: &[Span], positions: &[usize], shape: &Shape) -> Buffer {
    let mut mixed = Buffer::any(owners.len() * shape.query());
    for ((row, span), position) in mixed.chunks_exact_mut(shape.query()).zip(owners).zip(positions) {
        gather_heads(heads, *span, *position, shape, row);
    }
    mixed
}

/// Every sequence, every key head.
fn attend(model: &Model, spans: &[Span], tape: &mut BlockTape) {
    let shape = &model.shape;
    let rows: usize = spans.iter().map(|span| span.len).sum();
    let group = shape.heads / shape.kv_heads;
    tape.mixed = Buffer::any(rows * shape.query());
    tape.lse = Buffer::any(rows * shape.heads);
    let pairs: Vec<(Span, usize)> =
        spans.iter().flat_map(|span| (0..shape.kv_heads).map(|key_head| (*span, key_head))).collect();
    let mixed = cut(&mut tape.mixed, pairs.iter().map(|(span, _)| span.len * group * shape.head()));
    let lse = cut(&mut tape.lse, pairs.iter().map(|(span, _)| span.len * group));
    let qkv = &tape.qkv;
    let tasks = pairs.iter().zip(mixed.into_iter().zip(lse)).collect();
    model.pool.each(tasks, |((span, key_head), (mixed, lse))| {
        let heads = Heads::of(qkv, *span, *key_head, shape);
        let mut cache = Cache::with_room(shape.head(), span.len);
        for (key, value) in heads.keys.chunks_exact(shape.head()).zip(heads.values.chunks_exact(shape.head())) {
            cache.push(key, value);
        }
        let queries = Queries { rows: &heads.queries, head: shape.head(), group, first: 0 };
        attention::forward(queries, &cache, mixed, lse);
    });
}

/// One sequence's queries, keys and values that belong to one key head, copied out of all rows.
pub(super) struct Heads {
    pub(super) queries: Buffer,
    pub(super) keys: Buffer,
    pub(super) values: Buffer,
}

impl Heads {
    pub(super) fn of(qkv: &[f32], span: Span, key_head: usize, shape: &Shape) -> Heads {
        let (head, query, key) = (shape.head(), shape.query(), shape.key());
        let (width, group) = (query + 2 * key, query / shape.kv_heads);
        let rows = &qkv[span.start * width..(span.start + span.len) * width];
        let pick = |from: usize, len: usize| columns(rows, width, from, len);
        Heads {
            queries: pick(key_head * group, group),
            keys: pick(query + key_head * head, head),
            values: pick(query + key + key_head * head, head),
        }
    }
}

/// Some columns of rows this wide.
pub(super) fn columns(rows: &[f32], width: usize, from: usize, len: usize) -> Buffer {
    let mut picked = Buffer::any(rows.len() / width * len);
    for (to, row) in picked.chunks_exact_mut(len).zip(rows.chunks_exact(width)) {
        to.copy_from_slice(&row[from..from + len]);
    }
    picked
}

/// Projects the scored rows on the vocabulary.
fn score(model: &Model, weights: &Weights<'_>, batch: &Packed, last: Buffer, tape: Option<&mut Tape>) -> Measured {
    let shape = &model.shape;
    let (dim, vocab, count) = (shape.dim, shape.vocab, batch.targets.len());
    let mut right = Panels::default();
    right.fill(&model.pool, rows_of(weights.head(), dim).transposed());
    let mut logits = Buffer::any(if tape.is_some() { count * vocab } else { 0 });
    let empty = Normaliser { lse: 0.0, entropy: 0.0, removed: 0.0 };
    let mut found = vec![(empty, 0.0f32); count];
    // Without a tape each piece brings its own room for logits.
    let kept: Vec<Option<&mut [f32]>> = match tape {
        Some(_) => logits.chunks_mut(PIECE * vocab).map(Some).collect(),
        None => (0..count.div_ceil(PIECE)).map(|_| None).collect(),
    };
    let inputs = last.chunks(PIECE * dim).zip(batch.targets.chunks(PIECE));
    let tasks = inputs.zip(kept.into_iter().zip(found.chunks_mut(PIECE))).collect();
    model.pool.each(tasks, |((last, targets), (kept, found))| {
        let mut own = Buffer::default();
        let logits = kept.unwrap_or_else(|| {
            own = Buffer::any(targets.len() * vocab);
            &mut own
        });
        let mut normed = Buffer::any(last.len());
        norm::forward(last, weights.norm(), shape.eps, &mut normed);
        product(&normed, right.view(), logits, Into::Replace);
        let mut scratch = Vec::new();
        for ((row, target), found) in logits.chunks_exact(vocab).zip(targets).zip(found) {
            let normaliser = normalise(row, target.mask.as_ref(), &mut scratch);
            *found = (normaliser, row[target.token as usize] - normaliser.lse);
        }
    });
    if let Some(tape) = tape {
        tape.batch = batch.clone();
        tape.lse = found.iter().map(|(normaliser, _)| normaliser.lse).collect();
        (tape.last, tape.logits) = (last, logits);
    }
    Measured {
        log_probs: found.iter().map(|(_, log_prob)| *log_prob).collect(),
        entropy: found.iter().map(|(normaliser, _)| normaliser.entropy).collect(),
        removed: found.iter().map(|(normaliser, _)| normaliser.removed).collect(),
    }
}
