//! Losses: pure functions of the log-probabilities, one file each. Every one takes per-token
//! weights or advantages, so credit may be given token by token.

pub mod grpo;
pub mod sft;
