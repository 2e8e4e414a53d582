//! Learning, held from end to end: the same bytes in training, evaluation and serving, an exact resume
//! after a kill, voids that nobody learns from, and a trainer that sees what the sampler drew.
#![expect(clippy::unwrap_used, reason = "tests")]

mod learner;
mod pretrained;
mod training;
mod world;
