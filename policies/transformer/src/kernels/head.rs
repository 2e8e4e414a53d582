//! From a row of logits to the log-probability of a token, under the set of tokens that it may be.

use super::elementwise::exp;
use super::{LANES, sum2, vectorised};
use crate::Mask;

/// What normalises a row of logits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Normaliser {
    /// `ln Σ e^logit` over the allowed tokens.
    pub(crate) lse: f32,
    /// Entropy of the masked distribution, in nats.
    pub(crate) entropy: f32,
    /// Probability of the forbidden tokens in the unmasked distribution.
    pub(crate) removed: f32,
}

/// Normalises a row. `weights` is scratch; it is left holding `e^(logit - greatest)` of the allowed
/// tokens and 0 for the others.
pub(crate) fn normalise(logits: &[f32], mask: Option<&Mask>, weights: &mut Vec<f32>) -> Normaliser {
    weights.resize(logits.len(), 0.0);
    let greatest = match mask {
        None => greatest(logits),
        Some(mask) => allowed(mask).map(|token| logits[token]).fold(f32::NEG_INFINITY, f32::max),
    };
    let all = vectorised(
        #[inline(always)]
        || {
            weights.iter_mut().zip(logits).for_each(|(weight, logit)| *weight = exp(logit - greatest));
            total(weights)
        },
    );
    if let Some(mask) = mask {
        forbid(weights, mask);
    }
    let (sum, mean) = vectorised(
        #[inline(always)]
        || {
            // A forbidden logit may be infinite; its weight of 0 must stay 0.
            let mean = sum2(
                weights,
                logits,
                #[inline(always)]
                |weight, logit| if weight == 0.0 { 0.0 } else { weight * (logit - greatest) },
            );
            (total(weights), mean)
        },
    );
    let log_sum = f64::from(sum).ln() as f32;
    let removed = if mask.is_some() { ((all - sum) / all).clamp(0.0, 1.0) } else { 0.0 };
    let removed = if all.is_finite() { removed } else { 1.0 };
    Normaliser { lse: greatest + log_sum, entropy: (log_sum - mean / sum).max(0.0), removed }
}

/// Logits become their gradient: `scale · (1 at the token - probability)`.
pub(crate) fn backward(logits: &mut [f32], token: usize, lse: f32, mask: Option<&Mask>, scale: f32) {
    vectorised(
        #[inline(always)]
        || logits.iter_mut().for_each(|logit| *logit = -scale * exp(*logit - lse)),
    );
    if let Some(mask) = mask {
        forbid(logits, mask);
    }
    logits[token] += scale;
}

#[inline(always)]
fn total(weights: &[f32]) -> f32 {
    sum2(
        weights,
        weights,
        #[inline(always)]
        |weight, _| weight,
    )
}

fn greatest(logits: &[f32]) -> f32 {
    vectorised(
        #[inline(always)]
        || {
            let mut most = [f32::NEG_INFINITY; LANES];
            let (chunks, rest) = logits.as_chunks::<LANES>();
            for chunk in chunks {
                for lane in 0..LANES {
                    most[lane] = most[lane].max(chunk[lane]);
                }
            }
            most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
        },
    )
}

/// The tokens of a mask, ascending.
pub(crate) fn allowed(mask: &Mask) -> impl Iterator<Item = usize> {
    mask.words().iter().enumerate().flat_map(|(index, word)| {
        let mut word = *word;
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros())?;
            word &= word - 1;
            Some(index * 32 + bit as usize)
        })
    })
}

/// Zero for every forbidden token.
fn forbid(row: &mut [f32], mask: &Mask) {
    for (cells, word) in row.chunks_mut(32).zip(mask.words()) {
        match *word {
            0 => cells.fill(0.0),
            u32::MAX => {}
            word => {
                for (bit, cell) in cells.iter_mut().enumerate() {
                    *cell = if word >> bit & 1 == 1 { *cell } else { 0.0 };
                }
            }
        }
    }
}
