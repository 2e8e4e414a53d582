//! The backward pass: from the gradient of each log-probability to that of each weight.

use super::block::{BlockPanels, product, query_scale, rows_of};
use super::forward::{BlockTape, Heads, Tape, columns, gathered};
use super::weights::Guards;
use super::{BlockWeights, PIECE, Span, Weights, cut, owners, positions, spans};
use crate::kernels::attention::{self, Grads, Queries, Saved};
use crate::kernels::buffer::Buffer;
use crate::kernels::elementwise::{add, sum_rows, swiglu, swiglu_backward};
use crate::kernels::matmul::Into;
use crate::kernels::panels::Packed as Panels;
use crate::kernels::{head, norm};
use crate::model::layout::{BlockPlaces, Places};
use crate::{Model, Result, Shape};

/// The gradient of every parameter; `None` for those that are frozen.
pub(crate) fn backward(model: &Model, tape: Tape, grad: &[f32]) -> Result<Vec<Option<Vec<f32>>>> {
    let guards = Guards::new(model);
    let weights = Weights::new(model, &guards)?;
    let mut pass = Pass::new(model, &weights, &tape);
    let Tape { batch, blocks, last, logits, lse } = tape;
    let last = pass.head(&last, logits, &lse, grad, &batch.targets);
    let dim = model.shape.dim;
    let mut stream = Buffer::zeros(batch.tokens.len() * dim);
    for (row, target) in last.chunks_exact(dim).zip(&batch.targets) {
        stream[target.row * dim..][..dim].copy_from_slice(row);
    }
    for (layer, block) in blocks.into_iter().enumerate().rev() {
        let block_weights = weights.block(layer);
        stream = pass.block(Places::of(&model.shape).block(layer), &block_weights, block, &stream);
    }
    pass.embedding(&batch.tokens, &stream);
    pass.earlier(&batch, &stream);
    Ok(pass.grads)
}

pub(super) struct Pass<'a> {
    pub(super) model: &'a Model,
    pub(super) weights: &'a Weights<'a>,
    spans: Vec<Span>,
    owners: Vec<Span>,
    positions: Vec<usize>,
    panels: BlockPanels,
    pub(super) grads: Vec<Option<Vec<f32>>>,
}

/// What the feed-forward half hands on, one row for each row of the batch.
struct Feed {
    /// Gradient of the residual stream between attention and feed-forward.
    middle: Buffer,
    active: Buffer,
    gate_up: Buffer,
    normed: Buffer,
    /// Gradient of attention's result.
    mixed: Buffer,
    norm: Buffer,
}

/// What the attention half hands on.
struct Attention {
    stream: Buffer,
    qkv: Buffer,
    normed: Buffer,
    norm: Buffer,
}

impl<'a> Pass<'a> {
    fn new(model: &'a Model, weights: &'a Weights<'a>, tape: &Tape) -> Pass<'a> {
        let spans = spans(&tape.batch);
        let (owners, positions) = (owners(&spans), positions(&spans));
        let grads = vec![None; model.parameters.len()];
        Pass { model, weights, spans, owners, positions, panels: BlockPanels::default(), grads }
    }

    /// The output projection and the last norm; gives the gradient of the residual stream.
    fn head(
        &mut self,
        last: &[f32],
        mut logits: Buffer,
        lse: &[f32],
        grad: &[f32],
        targets: &[crate::packed::Target],
    ) -> Buffer {
        let (shape, places) = (&self.model.shape, Places::of(&self.model.shape));
        let (dim, vocab) = (shape.dim, shape.vocab);
        let mut right = Panels::default();
        right.fill(&self.model.pool, rows_of(self.weights.head(), dim));
        let (mut normed, mut out) = (Buffer::any(last.len()), Buffer::zeros(last.len()));
        let mut partial = Buffer::zeros(lse.len().div_ceil(PIECE) * dim);
        let inputs = last.chunks(PIECE * dim).zip(targets.chunks(PIECE).zip(lse.chunks(PIECE).zip(grad.chunks(PIECE))));
        let outputs = normed.chunks_mut(PIECE * dim).zip(out.chunks_mut(PIECE * dim).zip(partial.chunks_mut(dim)));
        let tasks = inputs.zip(outputs.zip(logits.chunks_mut(PIECE * vocab))).collect();
        let norm_weight = self.weights.norm();
        self.model.pool.each(tasks, |((last, (targets, (lse, grad))), ((normed, (out, partial)), logits))| {
            for ((row, target), (lse, grad)) in logits.chunks_exact_mut(vocab).zip(targets).zip(lse.iter().zip(grad)) {
                head::backward(row, target.token as usize, *lse, target.mask.as_ref(), *grad);
            }
            norm::forward(last, norm_weight, shape.eps, normed);
            let mut pulled = Buffer::any(last.len());
            product(logits, right.view(), &mut pulled, Into::Replace);
            norm::backward(last, norm_weight, shape.eps, &pulled, out, partial);
        });
        self.keep(places.norm(), |grad| sum_rows(&partial, grad));
        self.matrix(places.head(), (&logits, vocab), (&normed, dim));
        out
    }

    /// One block; gives the gradient of the residual stream before it.
    fn block(&mut self, places: BlockPlaces, weights: &BlockWeights<'_>, tape: BlockTape, stream: &[f32]) -> Buffer {
        let (pool, shape) = (&self.model.pool, &self.model.shape);
        let (dim, query, hidden) = (shape.dim, shape.query(), shape.hidden);
        self.panels.backward(pool, shape, weights);
        let feed = self.feed(weights, &tape, stream);
        self.keep(places.feed_norm, |grad| sum_rows(&feed.norm, grad));
        self.matrix(places.down, (stream, dim), (&feed.active, hidden));
        self.matrix(places.gate_up, (&feed.gate_up, 2 * hidden), (&feed.normed, dim));
        if self.wanted(places.output) {
            let mixed = gathered(&tape.mixed, &self.owners, &self.positions, shape);
            self.matrix(places.output, (&feed.middle, dim), (&mixed, query));
        }
        let heads = self.heads(&tape, &feed.mixed);
        let attention = self.attention(weights, &tape, &heads, feed.middle);
        self.keep(places.attention_norm, |grad| sum_rows(&attention.norm, grad));
        if let Some(bias) = places.bias {
            self.keep(bias, |grad| sum_rows(&attention.qkv, grad));
        }
        self.matrix(places.qkv, (&attention.qkv, query + 2 * shape.key()), (&attention.normed, dim));
        attention.stream
    }

    fn feed(&self, weights: &BlockWeights<'_>, tape: &BlockTape, stream: &[f32]) -> Feed {
        let (shape, rows) = (&self.model.shape, self.positions.len());
        let (dim, query, hidden) = (shape.dim, shape.query(), shape.hidden);
        let mut feed = Feed {
            middle: Buffer::copy(stream),
            active: Buffer::any(rows * hidden),
            gate_up: Buffer::any(rows * 2 * hidden),
            normed: Buffer::any(rows * dim),
            mixed: Buffer::any(rows * query),
            norm: Buffer::zeros(rows.div_ceil(PIECE) * dim),
        };
        let inputs = tape.middle.chunks(PIECE * dim).zip(tape.gate_up.chunks(PIECE * 2 * hidden));
        let outputs = feed.middle.chunks_mut(PIECE * dim).zip(feed.norm.chunks_mut(dim));
        let outputs = outputs.zip(feed.active.chunks_mut(PIECE * hidden).zip(feed.normed.chunks_mut(PIECE * dim)));
        let outputs =
            outputs.zip(feed.gate_up.chunks_mut(PIECE * 2 * hidden).zip(feed.mixed.chunks_mut(PIECE * query)));
        let panels = &self.panels;
        self.model.pool.each(inputs.zip(outputs).collect(), |((x, gate_up), (outputs, (d_gate_up, mixed)))| {
            let ((middle, norm), (active, normed)) = outputs;
            swiglu(gate_up, hidden, active);
            let mut pulled = Buffer::any(active.len());
            product(middle, panels.down.view(), &mut pulled, Into::Replace);
            swiglu_backward(gate_up, hidden, &pulled, d_gate_up);
            norm::forward(x, weights.feed_norm, shape.eps, normed);
            let mut pulled = Buffer::any(x.len());
            product(d_gate_up, panels.gate_up.view(), &mut pulled, Into::Replace);
            norm::backward(x, weights.feed_norm, shape.eps, &pulled, middle, norm);
            product(middle, panels.output.view(), mixed, Into::Replace);
        });
        feed
    }

    /// Attention itself: gradients of queries, keys and values, for each sequence and key head.
    fn heads(&self, tape: &BlockTape, grad: &[f32]) -> Buffer {
        let (shape, rows) = (&self.model.shape, self.positions.len());
        let (query, key, head) = (shape.query(), shape.key(), shape.head());
        let group = shape.heads / shape.kv_heads;
        let mut out = Buffer::any(rows * (query + 2 * key));
        let pairs: Vec<(Span, usize)> =
            self.spans.iter().flat_map(|span| (0..shape.kv_heads).map(|key_head| (*span, key_head))).collect();
        let pieces = cut(&mut out, pairs.iter().map(|(span, _)| span.len * (group + 2) * head));
        self.model.pool.each(pairs.iter().zip(pieces).collect(), |((span, key_head), out)| {
            let own = Heads::of(&tape.qkv, *span, *key_head, shape);
            let from = span.start * query + key_head * span.len * group * head;
            let lse = span.start * shape.heads + key_head * span.len * group;
            let rows = &grad[span.start * query..(span.start + span.len) * query];
            let picked = columns(rows, query, key_head * group * head, group * head);
            let saved = Saved {
                queries: Queries { rows: &own.queries, head, group, first: 0 },
                keys: &own.keys,
                values: &own.values,
                out: &tape.mixed[from..][..span.len * group * head],
                lse: &tape.lse[lse..][..span.len * group],
                grad: &picked,
            };
            let (queries, rest) = out.split_at_mut(span.len * group * head);
            let (keys, values) = rest.split_at_mut(span.len * head);
            attention::backward(&saved, &mut Grads { queries, keys, values });
        });
        out
    }

    fn attention(&self, weights: &BlockWeights<'_>, tape: &BlockTape, heads: &[f32], middle: Buffer) -> Attention {
        let (shape, rows) = (&self.model.shape, self.positions.len());
        let (dim, width) = (shape.dim, shape.query() + 2 * shape.key());
        let mut all = Attention {
            stream: middle,
            qkv: Buffer::any(rows * width),
            normed: Buffer::any(rows * dim),
            norm: Buffer::zeros(rows.div_ceil(PIECE) * dim),
        };
        let inputs = tape.x.chunks(PIECE * dim).zip(self.owners.chunks(PIECE).zip(self.positions.chunks(PIECE)));
        let outputs = all.stream.chunks_mut(PIECE * dim).zip(all.norm.chunks_mut(dim));
        let outputs = outputs.zip(all.qkv.chunks_mut(PIECE * width).zip(all.normed.chunks_mut(PIECE * dim)));
        let (rope, panels) = (&self.model.rope, &self.panels);
        self.model.pool.each(inputs.zip(outputs).collect(), |((x, (owners, positions)), (stream, (qkv, normed)))| {
            for ((row, span), position) in qkv.chunks_exact_mut(width).zip(owners).zip(positions) {
                gather_grads(heads, *span, *position, shape, row);
                rope.turn(&mut row[..shape.query() + shape.key()], *position, true);
            }
            norm::forward(x, weights.attention_norm, shape.eps, normed);
            let mut pulled = Buffer::any(x.len());
            product(qkv, panels.qkv.view(), &mut pulled, Into::Replace);
            norm::backward(x, weights.attention_norm, shape.eps, &pulled, stream.0, stream.1);
        });
        all
    }

    /// The token embedding; tied, it already holds the output projection's gradient.
    fn embedding(&mut self, tokens: &[u32], stream: &[f32]) {
        let (place, dim) = (Places::of(&self.model.shape).embedding(), self.model.shape.dim);
        let before = self.grads[place].take();
        self.keep(place, |grad| {
            if let Some(before) = before {
                grad.copy_from_slice(&before);
            }
            for (token, row) in tokens.iter().zip(stream.chunks_exact(dim)) {
                add(&mut grad[*token as usize * dim..][..dim], row);
            }
        });
    }
}

/// One row's gradients of (unscaled) queries, keys and values out of what [`Pass::heads`] wrote.
fn gather_grads(heads: &[f32], span: Span, token: usize, shape: &Shape, row: &mut [f32]) {
    let (query, key, head) = (shape.query(), shape.key(), shape.head());
    let group = query / shape.kv_heads;
    let scale = query_scale(shape);
    for key_head in 0..shape.kv_heads {
        let own = &heads[span.start * (query + 2 * key) + key_head * span.len * (group + 2 * head)..];
        let parts = [
            (key_head * group, group, token * group),
            (query + key_head * head, head, span.len * group + token * head),
            (query + key + key_head * head, head, span.len * (group + head) + token * head),
        ];
        for (to, len, from) in parts {
            row[to..to + len].copy_from_slice(&own[from..from + len]);
        }
    }
    row[..query].iter_mut().for_each(|value| *value *= scale);
}
