//! The transformer policy's model: a decoder-only transformer that trains, draws tokens and is
//! saved, with nothing known of tasks, tools or text. Tokens in, tokens and log-probabilities out.
//!
//! On the CPU forward and backward are written by hand over slices ([`Model::forward`],
//! [`Scores::backward`]); on a GPU the same mathematics is composed of candle's differentiable
//! operations. Tests hold the two against each other and against finite differences.
//!
//! The only crate that names candle.

mod composed;
mod device;
mod engine;
mod error;
mod kernels;
pub mod losses;
mod mask;
mod model;
mod optimizer;
mod packed;
pub mod pretrained;
mod sampler;
mod scores;
mod shape;

pub use candle_core::{Device, Tensor};
pub use device::{Chosen, device};
pub use error::{Error, Result};
pub use mask::Mask;
pub use model::{Lora, Model, Parameter};
pub use optimizer::{AdamW, Settings, Step, cosine};
pub use packed::Packed;
pub use sampler::{Allowed, Constraint, Draw, Drawn, Free, Row, Sampler, Sampling};
pub use scores::{Gradients, Measured, Scores};
pub use shape::Shape;

#[cfg(test)]
mod tests;
