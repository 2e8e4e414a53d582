//! What the model promises to those who train and serve it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod fixture;
mod grpo;
mod optimizer;
mod sampler;
mod sft;
