use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::model::{read_json, read_tensors, write_json, write_tensors};
use crate::{Error, Gradients, Model, Parameter, Result};

mod moments;
mod muon;

use moments::{Moments, Rule};

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
    /// Whether the matrices of hidden layers step as in Muon, along the orthogonal matrix nearest to their
    /// momentum; all other weights step as in AdamW.
    #[serde(default)]
    pub muon: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weight_decay: 0.01, clip: Some(1.0), muon: false }
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

/// AdamW (Loshchilov and Hutter): moments `m = β₁m + (1-β₁)g` and `v = β₂v + (1-β₂)g²`, then
/// `w = w (1 - η λ) - η (m / (1-β₁ᵗ)) / (√(v / (1-β₂ᵗ)) + ε)` at step `t`.
///
/// Its state is saved whole: a run that was interrupted goes on with the same bits.
#[derive(Clone, Debug)]
pub struct AdamW {
    settings: Settings,
    steps: u64,
    /// For each parameter that was ever stepped.
    moments: BTreeMap<String, Moments>,
}

/// A matrix that steps as in Muon.
struct Turn<'a> {
    parameter: &'a Parameter,
    gradient: &'a Tensor,
    moments: Moments,
    rule: Rule,
    done: Result<()>,
}

impl Turn<'_> {
    fn take(&mut self, learning_rate: f64) {
        self.done = self.moments.step_orthogonally(self.parameter, self.gradient, self.rule, learning_rate);
    }
}

/// What is written beside the moments.
#[derive(Serialize, Deserialize)]
struct Progress {
    settings: Settings,
    steps: u64,
}

const MOMENTS: &str = "optimizer.safetensors";
const PROGRESS: &str = "optimizer.json";

impl AdamW {
    /// An optimizer that has not stepped yet.
    ///
    /// # Errors
    /// [`Error::Shape`] names a setting out of range.
    pub fn new(model: &Model, settings: Settings) -> Result<AdamW> {
        settings.check()?;
        let mut moments = BTreeMap::new();
        for parameter in model.parameters().iter().filter(|parameter| parameter.trainable) {
            moments.insert(parameter.name.clone(), Moments::zero(parameter)?);
        }
        Ok(AdamW { settings, steps: 0, moments })
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

    /// Changes the model's trainable weights in place. Either all are changed or none.
    ///
    /// # Errors
    /// [`Error::NoGradient`] names a trainable weight that the loss does not reach,
    /// [`Error::NotFinite`] one whose gradient is not finite.
    pub fn step(&mut self, model: &mut Model, gradients: &Gradients, learning_rate: f64) -> Result<Step> {
        if !(learning_rate.is_finite() && learning_rate >= 0.0) {
            return Err(Error::NotFinite(format!("the learning rate, {learning_rate},")));
        }
        let mut pairs = Vec::new();
        for parameter in model.parameters.iter().filter(|parameter| parameter.trainable) {
            let gradient = gradients.get(&parameter.name);
            pairs.push((parameter, gradient.ok_or_else(|| Error::NoGradient(parameter.name.clone()))?));
        }
        let norm = gradients.norm()?;
        let longest = self.settings.clip.filter(|longest| norm > *longest);
        let shrink = longest.map_or(1.0, |longest| longest / norm);
        self.steps += 1;
        let mut turns = Vec::new();
        for (parameter, gradient) in pairs {
            if self.settings.muon && muon::is_hidden(parameter) {
                let known = self.moments.remove(&parameter.name);
                let moments = known.map_or_else(|| Moments::zero(parameter), Ok)?;
                let rule = Rule::new(&self.settings, self.steps, learning_rate, shrink, parameter.decays);
                turns.push(Turn { parameter, gradient, moments, rule, done: Ok(()) });
                continue;
            }
            let moments = match self.moments.entry(parameter.name.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Moments::zero(parameter)?),
            };
            let rule = Rule::new(&self.settings, self.steps, learning_rate, shrink, parameter.decays);
            moments.step(&model.pool, parameter, gradient, rule)?;
        }
        // Each is a chain of small products: a thread for each keeps all of them busy.
        model.pool.each(turns.iter_mut().collect(), |turn: &mut Turn<'_>| turn.take(learning_rate));
        for Turn { parameter, moments, done, .. } in turns {
            self.moments.insert(parameter.name.clone(), moments);
            done?;
        }
        Ok(Step { norm, clipped: longest.is_some() })
    }

    /// Writes `optimizer.safetensors` and `optimizer.json` into a folder, each whole or not at all.
    ///
    /// # Errors
    /// [`Error::File`] if a file cannot be written.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let mut tensors = BTreeMap::new();
        for (name, moments) in &self.moments {
            let (first, second) = match moments {
                Moments::Device { first, second } => (first.clone(), second.clone()),
                Moments::Host { dims, first, second } => {
                    let tensor = |values: &[f32]| Tensor::from_slice(values, dims.as_slice(), &Device::Cpu);
                    (tensor(first)?, tensor(second)?)
                }
            };
            tensors.insert(format!("first.{name}"), first);
            tensors.insert(format!("second.{name}"), second);
        }
        write_tensors(folder, MOMENTS, tensors)?;
        write_json(folder, PROGRESS, &Progress { settings: self.settings, steps: self.steps })
    }

    /// Reads what [`AdamW::save`] wrote; the model must have the shape of the one that it stepped.
    ///
    /// # Errors
    /// [`Error::File`] names a missing file, a missing moment, or one of the wrong size.
    pub fn load(folder: &Path, model: &Model) -> Result<AdamW> {
        let Progress { settings, steps } = read_json(folder, PROGRESS)?;
        settings.check()?;
        let path = folder.join(MOMENTS);
        let tensors = read_tensors(&path)?;
        let mut moments = BTreeMap::new();
        for parameter in model.parameters() {
            let (first, second) = (format!("first.{}", parameter.name), format!("second.{}", parameter.name));
            let (Some(first), Some(second)) = (tensors.get(&first), tensors.get(&second)) else {
                if parameter.trainable {
                    return Err(Error::file(path, format!("the moments of `{}` are missing", parameter.name)));
                }
                continue;
            };
            if first.dims() != parameter.var.dims() || second.dims() != parameter.var.dims() {
                return Err(Error::file(path, format!("the moments of `{}` have another size", parameter.name)));
            }
            moments.insert(parameter.name.clone(), Moments::of(parameter, first, second)?);
        }
        Ok(AdamW { settings, steps, moments })
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        let share = |value: f64| (0.0..1.0).contains(&value);
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let wrong = match self {
            Settings { beta1, .. } if !share(*beta1) => "beta1 must be at least 0 and below 1",
            Settings { beta2, .. } if !share(*beta2) => "beta2 must be at least 0 and below 1",
            Settings { epsilon, .. } if !positive(*epsilon) => "epsilon must be above 0",
            Settings { weight_decay, .. } if *weight_decay != 0.0 && !positive(*weight_decay) => {
                "weight_decay must be at least 0"
            }
            Settings { clip: Some(clip), .. } if !positive(*clip) => "clip must be above 0",
            _ => return Ok(()),
        };
        Err(Error::Shape(wrong.to_owned()))
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
