//! One block, the two parts of it that treat each row by itself. Training, measuring and drawing
//! all go through these, so a row's bits are the same in all three.

use crate::Shape;
use crate::kernels::buffer::Buffer;
use crate::kernels::elementwise::{add_row, swiglu};
use crate::kernels::matmul::{Into, multiply};
use crate::kernels::norm;
use crate::kernels::panels::{Matrix, Packed, Panels};
use crate::kernels::pool::Pool;
use crate::kernels::rope::Rope;

use super::BlockWeights;

/// A block's weights as right-hand sides.
#[derive(Debug, Default)]
pub(crate) struct BlockPanels {
    pub(crate) qkv: Packed,
    pub(crate) output: Packed,
    pub(crate) gate_up: Packed,
    pub(crate) down: Packed,
}

impl BlockPanels {
    /// Lays the weights out for the forward pass: `rows · weightᵀ`.
    pub(crate) fn forward(&mut self, pool: &Pool, shape: &Shape, weights: &BlockWeights<'_>) {
        self.qkv.fill(pool, rows_of(&weights.qkv, shape.dim).transposed());
        self.output.fill(pool, rows_of(&weights.output, shape.query()).transposed());
        self.gate_up.fill(pool, rows_of(&weights.gate_up, shape.dim).transposed());
        self.down.fill(pool, rows_of(&weights.down, shape.hidden).transposed());
    }

    /// Lays the weights out for the backward pass: `rows · weight`.
    pub(crate) fn backward(&mut self, pool: &Pool, shape: &Shape, weights: &BlockWeights<'_>) {
        self.qkv.fill(pool, rows_of(&weights.qkv, shape.dim));
        self.output.fill(pool, rows_of(&weights.output, shape.query()));
        self.gate_up.fill(pool, rows_of(&weights.gate_up, shape.dim));
        self.down.fill(pool, rows_of(&weights.down, shape.hidden));
    }
}

/// A contiguous matrix of rows this wide.
pub(crate) fn rows_of(data: &[f32], width: usize) -> Matrix<'_> {
    Matrix::rows(data, data.len() / width.max(1), width, width)
}

/// All rows times a right-hand side.
pub(crate) fn product(rows: &[f32], right: Panels<'_>, out: &mut [f32], into: Into) {
    multiply(rows_of(rows, right.k), right, out, right.n, into);
}

/// What both parts need besides weights.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) rope: &'a Rope,
}

/// Into attention: norm, projections, bias, rotation. `qkv` gets queries (divided by the root of
/// the head's width), keys and values of each row.
pub(crate) fn enter(
    setting: Setting<'_>,
    (norm_weight, bias): (&[f32], Option<&[f32]>),
    right: Panels<'_>,
    x: &[f32],
    positions: &[usize],
    qkv: &mut [f32],
) {
    let Setting { shape, rope } = setting;
    let mut normed = Buffer::any(x.len());
    norm::forward(x, norm_weight, shape.eps, &mut normed);
    product(&normed, right, qkv, Into::Replace);
    if let Some(bias) = bias {
        add_row(qkv, bias);
    }
    let scale = query_scale(shape);
    for (row, position) in qkv.chunks_exact_mut(right.n).zip(positions) {
        rope.turn(&mut row[..shape.query() + shape.key()], *position, false);
        row[..shape.query()].iter_mut().for_each(|value| *value *= scale);
    }
}

/// One over the root of the head's width.
pub(crate) fn query_scale(shape: &Shape) -> f32 {
    1.0 / (shape.head() as f32).sqrt()
}

/// What [`leave`] writes.
pub(crate) struct Left<'a> {
    /// The residual stream between attention and feed-forward.
    pub(crate) middle: &'a mut [f32],
    pub(crate) gate_up: &'a mut [f32],
    /// The residual stream after the block.
    pub(crate) out: &'a mut [f32],
}

/// Out of attention: output projection, norm, feed-forward, both added to the residual stream.
pub(crate) fn leave(shape: &Shape, feed_norm: &[f32], right: &BlockPanels, x: &[f32], mixed: &[f32], left: Left<'_>) {
    let Left { middle, gate_up, out } = left;
    middle.copy_from_slice(x);
    product(mixed, right.output.view(), middle, Into::Add);
    let mut normed = Buffer::any(x.len());
    norm::forward(middle, feed_norm, shape.eps, &mut normed);
    product(&normed, right.gate_up.view(), gate_up, Into::Replace);
    let mut active = Buffer::any(gate_up.len() / 2);
    swiglu(gate_up, shape.hidden, &mut active);
    out.copy_from_slice(middle);
    product(&active, right.down.view(), out, Into::Add);
}
