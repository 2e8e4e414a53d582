//! What the model promises to those who train and serve it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod fixture;
mod grpo;
mod model;
mod optimizer;
mod pretrained;
mod sampler;
mod sft;
