//! RMSNorm: `y = x / sqrt(mean(x²) + eps) · weight`.

use super::buffer::Buffer;
use super::{sum2, vectorised};

#[inline(always)]
fn inverse(row: &[f32], eps: f32) -> f32 {
    let squares = sum2(
        row,
        row,
        #[inline(always)]
        |a, b| a * b,
    );
    1.0 / (squares / row.len() as f32 + eps).sqrt()
}

/// The norm of each row.
pub(crate) fn forward(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let dim = weight.len();
    vectorised(
        #[inline(always)]
        || {
            for (x, out) in x.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
                let scale = inverse(x, eps);
                for ((x, weight), out) in x.iter().zip(weight).zip(out) {
                    *out = x * scale * weight;
                }
            }
        },
    );
}

/// Adds the gradient of each row of `x` to `d_x`, and that of the weight to `d_weight`. With
/// `s = 1 / rms` and `g = grad · weight`: `d_x = s g - s³ x Σ(g x) / dim`.
pub(crate) fn backward(x: &[f32], weight: &[f32], eps: f32, grad: &[f32], d_x: &mut [f32], d_weight: &mut [f32]) {
    let dim = weight.len();
    let mut weighted = Buffer::any(dim);
    vectorised(
        #[inline(always)]
        || {
            let rows = x.chunks_exact(dim).zip(grad.chunks_exact(dim));
            for ((x, grad), d_x) in rows.zip(d_x.chunks_exact_mut(dim)) {
                let scale = inverse(x, eps);
                for (((weighted, d_weight), grad), (x, weight)) in
                    weighted.iter_mut().zip(&mut *d_weight).zip(grad).zip(x.iter().zip(weight))
                {
                    *weighted = grad * weight;
                    *d_weight += grad * x * scale;
                }
                let dot = sum2(
                    &weighted,
                    x,
                    #[inline(always)]
                    |a, b| a * b,
                );
                let pull = scale * scale * scale * dot / dim as f32;
                for ((d_x, weighted), x) in d_x.iter_mut().zip(&*weighted).zip(x) {
                    *d_x += scale * weighted - pull * x;
                }
            }
        },
    );
}
