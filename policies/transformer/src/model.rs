use std::path::Path;

use candle_core::{Device, Var};

use crate::scores::Measured;
use crate::{Packed, Result, Scores, Shape};

/// A named weight.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, the same in every file.
    pub name: String,
    /// The values, f32.
    pub var: Var,
    /// Whether training changes it.
    pub trainable: bool,
    /// Whether weight decay shrinks it: matrices yes, norms and biases no.
    pub decays: bool,
}

/// A decoder-only transformer: RMSNorm, rotary embedding, grouped-query attention, SwiGLU.
#[derive(Clone, Debug)]
pub struct Model {
    shape: Shape,
    parameters: Vec<Parameter>,
}

impl Model {
    /// A model with seeded random weights.
    pub fn new(shape: Shape, seed: u64, device: &Device) -> Result<Model> {
        let _ = (seed, device);
        shape.check()?;
        Ok(Model { shape, parameters: Vec::new() })
    }

    /// The sizes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// All weights, in one fixed order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// How many threads a pass may use; 1 computes on the caller's thread.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        let _ = threads;
        Ok(())
    }

    /// An independent copy of all weights: a reference policy, or the best so far.
    pub fn copy(&self) -> Result<Model> {
        Ok(self.clone())
    }

    /// Writes `weights.safetensors` and `shape.json` into a folder, whole or not at all.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let _ = folder;
        Ok(())
    }

    /// Reads what [`Model::save`] wrote.
    pub fn load(folder: &Path, device: &Device) -> Result<Model> {
        Err(crate::Error::file(folder, "not yet"))
    }

    /// Log-probabilities of the scored tokens, with what the backward pass needs.
    pub fn forward(&self, batch: &Packed) -> Result<Scores> {
        batch.check(&self.shape)?;
        Err(crate::Error::Batch("not yet".to_owned()))
    }

    /// The same numbers without a backward pass, in little memory.
    pub fn measure(&self, batch: &Packed) -> Result<Measured> {
        batch.check(&self.shape)?;
        Err(crate::Error::Batch("not yet".to_owned()))
    }
}
