//! The weights, and what is done with all of them at once.

use std::sync::Arc;

use candle_core::{DType, Device, Var};

use crate::engine::{self, Tape};
use crate::kernels::pool::Pool;
use crate::kernels::rope::Rope;
use crate::scores::{Measured, Source};
use crate::{Packed, Result, Scores, Shape, composed};

mod adapters;
mod bytes;
mod copying;
mod files;
pub(crate) mod layout;
mod random;

pub use adapters::Lora;
pub(crate) use adapters::{Adapter, merge};
pub(crate) use files::{read_json, read_tensors, write_json, write_tensors};

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
///
/// A clone shares its weights; [`Model::copy`] does not.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) shape: Shape,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) adapters: Vec<Adapter>,
    pub(crate) lora: Option<Lora>,
    pub(crate) pool: Pool,
    pub(crate) rope: Arc<Rope>,
    pub(crate) device: Device,
}

impl Model {
    /// A model with seeded random weights: the same seed gives the same bits on every device.
    ///
    /// # Errors
    /// [`Error::Shape`] for an impossible shape.
    pub fn new(shape: Shape, seed: u64, device: &Device) -> Result<Model> {
        shape.check()?;
        let mut random = random::Normal::new(seed);
        let mut values: Vec<_> = layout::entries(&shape).into_iter().map(|entry| random.fill(&entry)).collect();
        copying::ready(&shape, &mut values, &mut random);
        Model::from_values(shape, values, device)
    }

    /// A model of these values, one list for each parameter of the layout.
    pub(crate) fn from_values(shape: Shape, values: Vec<Vec<f32>>, device: &Device) -> Result<Model> {
        shape.check()?;
        let mut parameters = Vec::new();
        for (entry, values) in layout::entries(&shape).into_iter().zip(values) {
            let var = Var::from_vec(values, entry.dims, device)?;
            parameters.push(Parameter { name: entry.name, var, trainable: true, decays: entry.decays });
        }
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let rope = Arc::new(Rope::new(shape.context, shape.head(), shape.theta));
        let (pool, device) = (Pool::new(threads)?, device.clone());
        Ok(Model { shape, parameters, adapters: Vec::new(), lora: None, pool, rope, device })
    }

    /// The sizes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Where the weights are.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// All weights, in one fixed order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The weights with this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Decides which weights training changes.
    pub fn train_only(&mut self, trainable: impl Fn(&str) -> bool) {
        for parameter in &mut self.parameters {
            parameter.trainable = trainable(&parameter.name);
        }
    }

    /// How many threads a pass on the CPU may use; 1 computes on the caller's thread. The results
    /// are the same bits with any number. A new model uses as many as the machine has.
    ///
    /// # Errors
    /// [`Error::Shape`] if the threads cannot be started.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        self.pool = Pool::new(threads)?;
        Ok(())
    }

    /// An independent copy of all weights: a reference policy, or the best so far.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the device is out of memory.
    pub fn copy(&self) -> Result<Model> {
        let mut copy = self.clone();
        for parameter in &mut copy.parameters {
            parameter.var = Var::from_tensor(&parameter.var.as_detached_tensor().copy()?)?;
        }
        Ok(copy)
    }

    /// A copy on another device.
    ///
    /// # Errors
    /// [`Error::Tensor`] if the device is out of memory.
    pub fn to_device(&self, device: &Device) -> Result<Model> {
        let mut copy = self.clone();
        for parameter in &mut copy.parameters {
            parameter.var = Var::from_tensor(&parameter.var.as_detached_tensor().copy()?.to_device(device)?)?;
        }
        copy.device = device.clone();
        Ok(copy)
    }

    /// Log-probabilities of the scored tokens, with what the backward pass needs.
    ///
    /// # Errors
    /// [`Error::Batch`] and [`Error::Context`] for a batch that the model cannot read.
    pub fn forward(&self, batch: &Packed) -> Result<Scores> {
        batch.check(&self.shape)?;
        if !self.device.is_cpu() {
            return composed::forward(self, batch, DType::F32);
        }
        let mut tape = Tape::default();
        let found = engine::forward(self, batch, Some(&mut tape))?;
        let leaf = Var::from_vec(found.log_probs, batch.scored(), &Device::Cpu)?;
        let log_probs = leaf.as_tensor().clone();
        let source = Source::Tape { model: Box::new(self.clone()), tape: Box::new(tape), leaf };
        Ok(Scores { log_probs, entropy: found.entropy, removed: found.removed, source })
    }

    /// The same numbers without a backward pass, in little memory.
    ///
    /// # Errors
    /// As [`Model::forward`].
    pub fn measure(&self, batch: &Packed) -> Result<Measured> {
        batch.check(&self.shape)?;
        if self.device.is_cpu() {
            return engine::forward(self, batch, None);
        }
        let scores = composed::forward(self, batch, DType::F32)?;
        let log_probs = scores.log_probs.to_vec1()?;
        Ok(Measured { log_probs, entropy: scores.entropy, removed: scores.removed })
    }
}
