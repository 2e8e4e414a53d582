//! Losses: pure functions of the log-probabilities, one file each. Every one takes per-token
//! weights or advantages, so credit may be given token by token.

use candle_core::{DType, Tensor};

use crate::{Error, Result};

pub mod grpo;
pub mod sft;

/// Numbers beside the log-probabilities, on their device and in their precision.
fn constant(values: Vec<f32>, like: &Tensor) -> Result<Tensor> {
    let count = values.len();
    Ok(Tensor::from_vec(values, count, like.device())?.to_dtype(like.dtype())?)
}

/// The log-probabilities' values.
fn values(log_probs: &Tensor) -> Result<Vec<f32>> {
    Ok(log_probs.detach().to_dtype(DType::F32)?.to_vec1()?)
}

/// Refuses lists that do not have one entry for each scored token.
fn check_len(name: &str, found: usize, wanted: usize) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::Batch(format!("{name} has {found} entries and must have {wanted}, one for each scored token")))
}

/// Whether a setting is a number above a bound.
fn above(value: f64, bound: f64) -> bool {
    value.is_finite() && value > bound
}
