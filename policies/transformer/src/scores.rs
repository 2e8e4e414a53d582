use candle_core::{Tensor, Var};

use crate::engine::{self, Tape};
use crate::{Error, Model, Result};

/// What [`crate::Model::forward`] found for each scored token, in the batch's order.
pub struct Scores {
    /// Natural log-probabilities under each token's mask, shape `[scored]`, differentiable.
    pub log_probs: Tensor,
    /// Entropy in nats of each masked distribution; no gradient.
    pub entropy: Vec<f32>,
    /// Probability that each mask took away; no gradient.
    pub removed: Vec<f32>,
    pub(crate) source: Source,
}

/// Where gradients come from.
pub(crate) enum Source {
    /// The pass that was written by hand: the log-probabilities are a leaf of the loss's graph.
    Tape { model: Box<Model>, tape: Box<Tape>, leaf: Var },
    /// One graph from the weights to the loss.
    Graph { model: Box<Model> },
}

impl Scores {
    /// Gradients of a scalar loss made from [`Scores::log_probs`] for every trainable weight. The
    /// weights must not have changed since the forward pass.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if the loss or its gradient is not finite.
    pub fn backward(self, loss: &Tensor) -> Result<Gradients> {
        let value = loss.to_dtype(candle_core::DType::F32)?.to_scalar::<f32>()?;
        if !value.is_finite() {
            return Err(Error::NotFinite(format!("the loss, {value},")));
        }
        let store = loss.backward()?;
        let (model, tape, leaf) = match self.source {
            Source::Tape { model, tape, leaf } => (model, tape, leaf),
            Source::Graph { model } => {
                let grad = |parameter: &crate::Parameter| store.get(parameter.var.as_tensor()).cloned();
                let entries = model.parameters.iter().map(|parameter| {
                    (parameter.name.clone(), if parameter.trainable { grad(parameter) } else { None })
                });
                return Ok(Gradients { entries: entries.collect() });
            }
        };
        // A loss that does not depend on the log-probabilities leaves every weight without gradient.
        let mut values = vec![None; model.parameters.len()];
        if let Some(grad) = store.get(leaf.as_tensor()) {
            let grad = grad.to_vec1::<f32>()?;
            if grad.iter().any(|value| !value.is_finite()) {
                return Err(Error::NotFinite("the gradient of a log-probability".to_owned()));
            }
            values = engine::backward(&model, *tape, &grad)?;
        }
        let mut entries = Vec::new();
        for (parameter, values) in model.parameters.iter().zip(values) {
            let tensor =
                values.map(|values| Tensor::from_vec(values, parameter.var.dims(), &model.device)).transpose()?;
            entries.push((parameter.name.clone(), tensor));
        }
        Ok(Gradients { entries })
    }
}

/// What [`crate::Model::measure`] found for each scored token, in the batch's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Natural log-probabilities under each token's mask.
    pub log_probs: Vec<f32>,
    /// Entropy in nats of each masked distribution.
    pub entropy: Vec<f32>,
    /// Probability that each mask took away.
    pub removed: Vec<f32>,
}

/// One gradient for each trainable weight that the loss reaches, in the model's order.
#[derive(Clone, Debug)]
pub struct Gradients {
    pub(crate) entries: Vec<(String, Option<Tensor>)>,
}

impl Gradients {
    /// Adds the gradients of another batch: one step over several smaller batches.
    ///
    /// # Errors
    /// [`Error::Shape`] if the other gradients are of another model.
    pub fn add(&mut self, other: &Gradients) -> Result<()> {
        if self.entries.len() != other.entries.len() {
            let (own, others) = (self.entries.len(), other.entries.len());
            return Err(Error::Shape(format!("gradients of {others} weights cannot be added to those of {own}")));
        }
        for ((_, own), (_, other)) in self.entries.iter_mut().zip(&other.entries) {
            *own = match (own.take(), other) {
                (Some(own), Some(other)) => Some((own + other)?),
                (own, other) => own.or_else(|| other.clone()),
            };
        }
        Ok(())
    }

    /// The gradient of a weight.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.entries.iter().find(|(known, _)| known == name).and_then(|(_, tensor)| tensor.as_ref())
    }

    /// Takes a weight's gradient away: what a broken forward pass would do. For tests.
    pub fn remove(&mut self, name: &str) {
        for (known, tensor) in &mut self.entries {
            if known == name {
                *tensor = None;
            }
        }
    }

    /// Root of the sum of all squares.
    ///
    /// # Errors
    /// [`Error::NotFinite`] names a weight whose gradient is not finite.
    pub fn norm(&self) -> Result<f64> {
        let mut total = 0.0;
        for (name, tensor) in &self.entries {
            let Some(tensor) = tensor else { continue };
            let squares = squares(tensor)?;
            if !squares.is_finite() {
                return Err(Error::NotFinite(format!("the gradient of `{name}`")));
            }
            total += squares;
        }
        Ok(total.sqrt())
    }
}

/// Sum of squares; in f64 where the values are at hand.
fn squares(tensor: &Tensor) -> Result<f64> {
    if !tensor.device().is_cpu() {
        return Ok(f64::from(tensor.sqr()?.sum_all()?.to_scalar::<f32>()?));
    }
    let tensor = tensor.contiguous()?;
    let storage = tensor.storage_and_layout().0;
    let values = values_of(&storage, &tensor)?;
    let piece = |values: &[f32]| f64::from(crate::kernels::squares(values));
    Ok(values.chunks(4096).map(piece).sum())
}

/// The values of a contiguous tensor on the CPU, of which one holds the storage.
pub(crate) fn values_of<'a>(storage: &'a candle_core::Storage, tensor: &Tensor) -> Result<&'a [f32]> {
    match (storage, tensor.layout().contiguous_offsets()) {
        (candle_core::Storage::Cpu(storage), Some((from, to))) => Ok(&storage.as_slice::<f32>()?[from..to]),
        _ => Err(Error::Shape("a gradient is not a contiguous tensor on the CPU".to_owned())),
    }
}
