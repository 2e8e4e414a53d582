//! Group-relative policy optimisation: the clipped policy-gradient loss over given advantages.

use std::collections::BTreeMap;

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use super::{above, check_len, constant, values};
use crate::{Error, Result};

/// How the tokens' losses become one number: `n` sequences, `T_i` scored tokens in sequence `i`. A
/// sequence without scored tokens counts in `n` and adds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// `Σ L / Σ T_i`: every token weighs the same (DAPO).
    TokenMean,
    /// `mean_i (Σ_t L / T_i)`: every sequence weighs the same (GRPO).
    SeqMeanTokenMean,
    /// `mean_i Σ_t L`.
    SeqMeanTokenSum,
    /// `Σ L / (n · constant)` with a constant that stays the same for the whole training (Dr. GRPO).
    SeqMeanTokenSumNorm(f64),
    /// `mean_r (Σ_{t in r} L / T_r)` over rollouts, which may span several sequences (ThinkingBox).
    RolloutMean,
}

/// The loss's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The ratio is clipped below at `1 - clip_low`.
    pub clip_low: f64,
    /// The ratio is clipped above at `1 + clip_high`.
    pub clip_high: f64,
    /// Dual clip: a negative advantage never costs more than `-A · dual_clip`; above 1.
    pub dual_clip: Option<f64>,
    /// Weight of the k3 estimate of KL(policy ‖ reference), averaged like the loss; 0 is none.
    pub kl: f64,
    /// How tokens become one number.
    pub aggregation: Aggregation,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { clip_low: 0.2, clip_high: 0.28, dual_clip: None, kl: 0.0, aggregation: Aggregation::TokenMean }
    }
}

/// What the loss knows of each scored token, in the batch's order.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Log-probabilities under the policy that drew the tokens, as the sampler recorded them.
    pub behaviour: &'a [f32],
    /// Advantages.
    pub advantages: &'a [f32],
    /// Log-probabilities under the reference policy; wanted if `kl` is not 0, counted if given.
    pub reference: Option<&'a [f32]>,
    /// Where each sequence's tokens begin; one more entry than sequences.
    pub offsets: &'a [usize],
    /// The rollout of each sequence, for [`Aggregation::RolloutMean`]; absent: one each. All
    /// sequences of a rollout must be in the same batch.
    pub rollouts: Option<&'a [usize]>,
    /// Counts to divide by where this batch is only a part: of a step that is computed in several
    /// batches, or of one whose sequences without advantage were left out. The parts add up.
    pub whole: Option<Whole>,
}

/// How much the whole step holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whole {
    /// Scored tokens.
    pub tokens: usize,
    /// Sequences.
    pub sequences: usize,
    /// Rollouts.
    pub rollouts: usize,
}

/// What to watch while training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Share of tokens whose loss the lower clip cut off.
    pub clipped_low: f64,
    /// Share of tokens whose loss the upper clip cut off.
    pub clipped_high: f64,
    /// Share of tokens that the dual clip cut off.
    pub clipped_dual: f64,
    /// Largest ratio of policy to behaviour.
    pub largest_ratio: f64,
    /// Mean of log behaviour - log policy: how far the policy has moved from the one that drew.
    pub behaviour_kl: f64,
    /// Mean k3 estimate of KL(policy ‖ reference), if a reference was given.
    pub reference_kl: Option<f64>,
    /// Number of tokens that the shares and means above are taken over.
    pub tokens: usize,
}

/// The loss, a scalar, and its counters. `log_probs` has shape `[scored]`.
///
/// Token `t` with ratio `ρ = exp(log p - behaviour)` and advantage `A` costs
/// `max(-A ρ, -A clip(ρ, 1 - clip_low, 1 + clip_high))`, with dual clip and `A < 0` at most `-A c`,
/// plus `kl · (exp(d) - d - 1)` with `d = reference - log p`.
///
/// # Errors
/// [`Error::Batch`] if lengths differ or a setting has no meaning, [`Error::NotFinite`] if a ratio is not.
pub fn loss(log_probs: &Tensor, batch: &Batch<'_>, settings: &Settings) -> Result<(Tensor, Counters)> {
    let policy = values(log_probs)?;
    check(batch, settings, policy.len())?;
    let shares = shares(batch, settings.aggregation)?;
    let mut counters = Counters { tokens: policy.len(), ..Counters::default() };
    // A token that is cut off costs a constant; the others cost `-A ρ`, which is where gradient flows.
    let (mut slopes, mut constants) = (Vec::with_capacity(policy.len()), 0.0);
    for (token, share) in shares.iter().enumerate() {
        let moved = f64::from(policy[token]) - f64::from(batch.behaviour[token]);
        let (ratio, advantage) = (moved.exp(), f64::from(batch.advantages[token]));
        if !ratio.is_finite() {
            return Err(Error::NotFinite(format!("the ratio of scored token {token}")));
        }
        let limit = counters.meet(settings, ratio, advantage);
        constants += limit.map_or(0.0, |limit| -advantage * limit * share);
        slopes.push(if limit.is_some() { 0.0 } else { (-advantage * share) as f32 });
        counters.largest_ratio = counters.largest_ratio.max(ratio);
        counters.behaviour_kl -= moved;
    }
    let ratio = (log_probs - constant(batch.behaviour.to_vec(), log_probs)?)?.exp()?;
    let mut loss = ((ratio * constant(slopes, log_probs)?)?.sum_all()? + constants)?;
    if let Some(reference) = batch.reference {
        let far = (constant(reference.to_vec(), log_probs)? - log_probs)?;
        let k3 = ((far.exp()? - &far)? - 1.0)?;
        counters.reference_kl = Some(values(&k3)?.iter().map(|value| f64::from(*value)).sum());
        if settings.kl > 0.0 {
            let shares = shares.iter().map(|share| (share * settings.kl) as f32).collect();
            loss = (loss + (k3 * constant(shares, log_probs)?)?.sum_all()?)?;
        }
    }
    counters.mean();
    Ok((loss, counters))
}

impl Counters {
    /// Where a token's ratio is cut off, if it is; counts it.
    fn meet(&mut self, settings: &Settings, ratio: f64, advantage: f64) -> Option<f64> {
        let (low, high) = (1.0 - settings.clip_low, 1.0 + settings.clip_high);
        if advantage > 0.0 && ratio > high {
            self.clipped_high += 1.0;
            return Some(high);
        }
        if advantage < 0.0 && ratio < low {
            self.clipped_low += 1.0;
            return Some(low);
        }
        let dual = settings.dual_clip.filter(|limit| advantage < 0.0 && ratio > *limit);
        self.clipped_dual += f64::from(u8::from(dual.is_some()));
        dual
    }

    /// Sums become means.
    fn mean(&mut self) {
        let count = self.tokens.max(1) as f64;
        for sum in [&mut self.clipped_low, &mut self.clipped_high, &mut self.clipped_dual, &mut self.behaviour_kl] {
            *sum /= count;
        }
        self.reference_kl = self.reference_kl.map(|sum| sum / count);
    }
}

fn check(batch: &Batch<'_>, settings: &Settings, count: usize) -> Result<()> {
    check_len("behaviour", batch.behaviour.len(), count)?;
    check_len("advantages", batch.advantages.len(), count)?;
    if let Some(reference) = batch.reference {
        check_len("reference", reference.len(), count)?;
    }
    let problem =
        if batch.offsets.first() != Some(&0) || batch.offsets.last() != Some(&count) || !batch.offsets.is_sorted() {
            format!("offsets must ascend from 0 to {count}, the number of scored tokens")
        } else if batch.rollouts.is_some_and(|rollouts| rollouts.len() + 1 != batch.offsets.len()) {
            "rollouts must have one entry for each sequence".to_owned()
        } else if !(settings.clip_low >= 0.0 && settings.clip_low <= 1.0 && settings.clip_high >= 0.0) {
            "clip_low must be between 0 and 1, clip_high at least 0".to_owned()
        } else if settings.dual_clip.is_some_and(|limit| !above(limit, 1.0)) {
            "dual_clip must be above 1".to_owned()
        } else if settings.kl != 0.0 && (!above(settings.kl, 0.0) || batch.reference.is_none()) {
            "kl must be at least 0, and above 0 it wants reference log-probabilities".to_owned()
        } else if batch.advantages.iter().any(|advantage| !advantage.is_finite()) {
            "an advantage is not finite".to_owned()
        } else if matches!(settings.aggregation, Aggregation::SeqMeanTokenSumNorm(constant) if !above(constant, 0.0)) {
            "the constant of seq-mean-token-sum-norm must be above 0".to_owned()
        } else {
            return Ok(());
        };
    Err(Error::Batch(problem))
}

/// What each token's loss is multiplied with before all are summed.
fn shares(batch: &Batch<'_>, aggregation: Aggregation) -> Result<Vec<f64>> {
    let lengths: Vec<usize> = batch.offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rollouts: Vec<usize> = batch.rollouts.map_or_else(|| (0..lengths.len()).collect(), <[usize]>::to_vec);
    let mut rollout_lengths = BTreeMap::new();
    for (rollout, length) in rollouts.iter().zip(&lengths) {
        *rollout_lengths.entry(*rollout).or_insert(0) += length;
    }
    let own = Whole { tokens: lengths.iter().sum(), sequences: lengths.len(), rollouts: rollout_lengths.len() };
    let whole = batch.whole.unwrap_or(own);
    if whole.tokens < own.tokens || whole.sequences < own.sequences || whole.rollouts < own.rollouts {
        return Err(Error::Batch(format!("the whole step, {whole:?}, holds less than this batch, {own:?}")));
    }
    let share = |sequence: usize| match aggregation {
        Aggregation::TokenMean => 1.0 / whole.tokens as f64,
        Aggregation::SeqMeanTokenMean => 1.0 / (whole.sequences as f64 * lengths[sequence] as f64),
        Aggregation::SeqMeanTokenSum => 1.0 / whole.sequences as f64,
        Aggregation::SeqMeanTokenSumNorm(constant) => 1.0 / (whole.sequences as f64 * constant),
        Aggregation::RolloutMean => 1.0 / (whole.rollouts as f64 * rollout_lengths[&rollouts[sequence]] as f64),
    };
    Ok((0..lengths.len()).flat_map(|sequence| std::iter::repeat_n(share(sequence), lengths[sequence])).collect())
}
