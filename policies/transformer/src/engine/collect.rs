//! Gradients of the weights themselves, as the backward pass comes by.

use super::backward::Pass;
use super::block::{product, rows_of};
use crate::kernels::matmul::{Into, multiply};
use crate::kernels::panels::{Matrix, Packed as Panels};
use crate::model::Adapter;

impl Pass<'_> {
    /// Whether anything wants this matrix's gradient.
    pub(super) fn wanted(&self, place: usize) -> bool {
        self.model.parameters[place].trainable || self.model.adapters.iter().any(|adapter| adapter.base == place)
    }

    /// Writes the gradient of a parameter, if it is trained.
    pub(super) fn keep(&mut self, place: usize, write: impl FnOnce(&mut [f32])) {
        if self.model.parameters[place].trainable {
            let mut grad = vec![0.0; self.weights.at(place).len()];
            write(&mut grad);
            self.grads[place] = Some(grad);
        }
    }

    /// The gradient of a matrix, `outᵀ · input` over all rows, and that of its adapters.
    pub(super) fn matrix(&mut self, place: usize, (out, height): (&[f32], usize), (input, width): (&[f32], usize)) {
        if !self.wanted(place) {
            return;
        }
        let mut right = Panels::default();
        right.fill(&self.model.pool, rows_of(input, width));
        let mut grad = vec![0.0; height * width];
        let left = rows_of(out, height).transposed();
        // Wide pieces: the left-hand side is read across its rows.
        let piece = height.div_ceil(self.model.pool.threads()).clamp(64, 384).next_multiple_of(8);
        let tasks = grad.chunks_mut(piece * width).enumerate().collect();
        self.model.pool.each(tasks, |(index, grad)| {
            let rows = grad.len() / width;
            multiply(left.slice_rows(index * piece, rows), right.view(), grad, width, Into::Replace);
        });
        let model = self.model;
        for adapter in model.adapters.iter().filter(|adapter| adapter.base == place) {
            self.adapter(adapter, &grad[adapter.rows.start * width..adapter.rows.end * width], width);
        }
        if self.model.parameters[place].trainable {
            self.grads[place] = Some(grad);
        }
    }

    /// `W = s B A`: the gradient of `A` is `s Bᵀ dW`, that of `B` is `s dW Aᵀ`.
    fn adapter(&mut self, adapter: &Adapter, grad: &[f32], width: usize) {
        let (a, b) = (self.weights.at(adapter.a), self.weights.at(adapter.b));
        let rank = a.len() / width;
        let scaled: Vec<f32> = grad.iter().map(|value| value * adapter.scale).collect();
        let mut right = Panels::default();
        right.fill(&self.model.pool, rows_of(&scaled, width));
        self.keep(adapter.a, |grad| {
            multiply(rows_of(b, rank).transposed(), right.view(), grad, width, Into::Replace);
        });
        right.fill(&self.model.pool, Matrix::rows(a, rank, width, width).transposed());
        self.keep(adapter.b, |grad| product(&scaled, right.view(), grad, Into::Replace));
    }
}
