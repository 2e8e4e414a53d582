//! One token out of one row of logits.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use super::Sampling;
use crate::kernels::elementwise::exp;
use crate::kernels::head::normalise;
use crate::kernels::vectorised;
use crate::{Error, Mask, Result};

/// What was chosen, and how likely it was.
pub(super) struct Chosen {
    pub(super) token: u32,
    /// At temperature 1 under the mask.
    pub(super) log_prob: f32,
    /// Under the distribution it was drawn from.
    pub(super) drawn_log_prob: f32,
    pub(super) removed: f32,
}

/// Draws a token. `weights` is scratch.
pub(super) fn choose(
    logits: &[f32],
    mask: Option<&Mask>,
    sampling: &Sampling,
    random: &mut ChaCha8Rng,
    weights: &mut Vec<f32>,
) -> Result<Chosen> {
    let normaliser = normalise(logits, mask, weights);
    if !normaliser.lse.is_finite() {
        return Err(Error::NotFinite("a logit".to_owned()));
    }
    let (token, drawn_log_prob) = if sampling.temperature == 0.0 {
        (likeliest(weights), 0.0)
    } else {
        warp(weights, sampling);
        pick(weights, random)
    };
    let log_prob = logits[token] - normaliser.lse;
    let plain = sampling.temperature == 1.0 && sampling.top_p.is_none() && sampling.top_k.is_none();
    let drawn_log_prob = if plain { log_prob } else { drawn_log_prob };
    Ok(Chosen { token: token as u32, log_prob, drawn_log_prob, removed: normaliser.removed })
}

/// The first of the greatest weights.
fn likeliest(weights: &[f32]) -> usize {
    let mut best = 0;
    for (token, weight) in weights.iter().enumerate() {
        if *weight > weights[best] {
            best = token;
        }
    }
    best
}

/// Applies temperature, top-k and top-p; what falls out gets weight 0. The greatest weight is 1.
fn warp(weights: &mut [f32], sampling: &Sampling) {
    if sampling.temperature != 1.0 {
        let power = 1.0 / sampling.temperature;
        vectorised(
            #[inline(always)]
            || {
                for weight in weights.iter_mut() {
                    // A weight of 0 has logarithm -inf and stays 0.
                    *weight = exp(weight.ln() * power);
                }
            },
        );
    }
    if sampling.top_k.is_none() && sampling.top_p.is_none() {
        return;
    }
    let mut order: Vec<usize> = (0..weights.len()).filter(|token| weights[*token] > 0.0).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
    let mut keep = sampling.top_k.unwrap_or(order.len()).clamp(1, order.len());
    if let Some(share) = sampling.top_p {
        let total: f64 = order[..keep].iter().map(|token| f64::from(weights[*token])).sum();
        let mut reached = 0.0;
        let enough = order[..keep].iter().position(|token| {
            reached += f64::from(weights[*token]);
            reached >= f64::from(share) * total
        });
        keep = enough.map_or(keep, |last| last + 1);
    }
    for token in &order[keep..] {
        weights[*token] = 0.0;
    }
}

/// Draws in proportion to the weights; gives the token and its log-probability.
fn pick(weights: &[f32], random: &mut ChaCha8Rng) -> (usize, f32) {
    let total: f64 = weights.iter().map(|weight| f64::from(*weight)).sum();
    let point = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 * total;
    let (mut reached, mut token) = (0.0, 0);
    for (candidate, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        token = candidate;
        reached += f64::from(*weight);
        if reached > point {
            break;
        }
    }
    (token, (f64::from(weights[token]) / total).ln() as f32)
}
