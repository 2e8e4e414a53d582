//! Supervised fine-tuning: the policy's own tokens of verified trajectories, and nothing else.

use tribunal_transformer::losses::sft;
use tribunal_transformer::{AdamW, Gradients, Model, Packed, cosine};

use crate::error::TrainError;
use crate::passes::passes;
use crate::random::Stream;
use crate::recipe::SftRecipe;
use crate::trajectory::Sample;
use crate::update::{Clock, Update};

/// Which samples each step of a whole training takes, in order: every epoch in another order, steps
/// filled up to their tokens.
#[must_use]
pub fn steps(samples: &[Sample], recipe: &SftRecipe, seed: u64) -> Vec<Vec<usize>> {
    let mut steps = Vec::new();
    for epoch in 0..recipe.epochs {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        Stream::new(seed, &["sft", &epoch.to_string()]).shuffle(&mut order);
        let mut step = Vec::new();
        let mut tokens = 0;
        for index in order {
            let more = samples[index].tokens.len();
            if tokens + more > recipe.batch_tokens && !step.is_empty() {
                steps.push(std::mem::take(&mut step));
                tokens = 0;
            }
            tokens += more;
            step.push(index);
        }
        if !step.is_empty() {
            steps.push(step);
        }
    }
    steps
}

/// Which step, and how far it goes.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The phase that it belongs to, for the report.
    pub phase: &'a str,
    /// Its number, from 1.
    pub number: u64,
    /// The learning rate.
    pub rate: f64,
}

impl SftRecipe {
    /// The learning rate of a step: warm-up, then a cosine down to a twentieth.
    #[must_use]
    pub fn rate(&self, step: u64, of: u64) -> f64 {
        cosine(step, self.warmup, of, self.learning_rate, self.learning_rate * 0.05)
    }
}

/// Takes one step; says what came of it.
///
/// # Errors
/// A loss or gradient that is not finite, a weight that the loss does not reach.
pub fn step(
    model: &mut Model,
    optimizer: &mut AdamW,
    samples: &[&Sample],
    step: &Step<'_>,
    clock: &dyn Clock,
) -> Result<Update, TrainError> {
    let begun = clock.seconds();
    let total: usize = samples.iter().map(|sample| sample.learned.len()).sum();
    let mut gradients: Option<Gradients> = None;
    let (mut loss, mut tokens) = (0.0, 0);
    for part in passes(samples, |sample| sample.tokens.len()) {
        let mut packed = Packed::new();
        for sample in part {
            packed.push(&sample.tokens, sample.learned.iter().map(|place| (*place, None)))?;
        }
        tokens += packed.tokens();
        let scores = model.forward(&packed)?;
        let part_loss = sft::part(&scores.log_probs, &vec![1.0; packed.scored()], total as f64)?;
        loss += f64::from(part_loss.to_scalar::<f32>().map_err(tribunal_transformer::Error::from)?);
        let part_gradients = scores.backward(&part_loss)?;
        match &mut gradients {
            Some(gradients) => gradients.add(&part_gradients)?,
            None => gradients = Some(part_gradients),
        }
    }
    let gradients = gradients.ok_or_else(|| TrainError::Nothing("a step without samples".to_owned()))?;
    let stepped = optimizer.step(model, &gradients, step.rate)?;
    let seconds = clock.seconds() - begun;
    let mut update = Update::new(step.number, step.phase);
    update.set("loss", loss);
    update.set("gradient_norm", stepped.norm);
    update.set("learning_rate", step.rate);
    update.set("tokens", tokens as f64);
    update.set("learned_tokens", total as f64);
    update.set("seconds", seconds);
    update.set("tokens_per_second", tokens as f64 / seconds);
    Ok(update)
}

/// The log-probabilities of every sample's learned tokens.
///
/// # Errors
/// A sample that the model cannot read.
pub fn likelihoods(model: &Model, samples: &[&Sample]) -> Result<Vec<Vec<f32>>, TrainError> {
    let mut all = Vec::with_capacity(samples.len());
    for part in passes(samples, |sample| sample.tokens.len()) {
        let mut packed = Packed::new();
        for sample in part {
            packed.push(&sample.tokens, sample.learned.iter().map(|place| (*place, None)))?;
        }
        let measured = model.measure(&packed)?;
        let ranges = packed.offsets().windows(2);
        all.extend(ranges.map(|range| measured.log_probs[range[0]..range[1]].to_vec()));
    }
    Ok(all)
}

/// What log-probabilities of solutions come to: the mean loss per token, and the share of samples
/// whose every token has more than half of the probability (what the likeliest words would write).
#[must_use]
pub fn summary(likelihoods: &[Vec<f32>]) -> (f64, f64) {
    let count = likelihoods.iter().map(Vec::len).sum::<usize>().max(1);
    let total: f64 = likelihoods.iter().flatten().map(|value| f64::from(*value)).sum();
    let sure = likelihoods.iter().filter(|own| own.iter().all(|value| *value > -std::f32::consts::LN_2)).count();
    (-total / count as f64, sure as f64 / likelihoods.len().max(1) as f64)
}
