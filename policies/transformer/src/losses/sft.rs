//! Supervised fine-tuning: weighted negative log-likelihood.

use candle_core::Tensor;

use super::{check_len, constant};
use crate::{Error, Result};

/// `-Σ w_t log p_t / Σ w_t`, a scalar. `log_probs` has shape `[scored]`, `weights` as many entries.
///
/// # Errors
/// [`Error::Batch`] if the lengths differ or the weights are negative or sum to nothing.
pub fn loss(log_probs: &Tensor, weights: &[f32]) -> Result<Tensor> {
    part(log_probs, weights, weights.iter().map(|weight| f64::from(*weight)).sum())
}

/// `-Σ w_t log p_t / total`: the part of a step that is computed in several batches, `total` being
/// the sum of all their weights. The parts' losses, and their gradients, add up to the whole.
///
/// # Errors
/// As [`loss`], and if `total` is not a positive number.
pub fn part(log_probs: &Tensor, weights: &[f32], total: f64) -> Result<Tensor> {
    check_len("weights", weights.len(), log_probs.elem_count())?;
    if weights.iter().any(|weight| !(weight.is_finite() && *weight >= 0.0)) {
        return Err(Error::Batch("a weight is negative or not finite".to_owned()));
    }
    if !(total.is_finite() && total > 0.0) {
        return Err(Error::Batch(format!("the weights sum to {total}; give at least one token a weight above 0")));
    }
    let weights = weights.iter().map(|weight| (-f64::from(*weight) / total) as f32).collect();
    Ok((log_probs * constant(weights, log_probs)?)?.sum_all()?)
}
