//! Tests that look inside: the hand-written passes against the composed ones and against finite
//! differences.
#![allow(clippy::unwrap_used, reason = "tests")]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::{Device, Mask, Model, Packed, Shape};

mod gradients;

/// A model small enough for finite differences, with odd sizes, shared key heads and biases.
pub(crate) fn tiny(tied: bool) -> Shape {
    Shape {
        vocab: 37,
        dim: 24,
        layers: 2,
        heads: 4,
        kv_heads: 2,
        hidden: 20,
        context: 160,
        theta: 1000.0,
        eps: 1e-5,
        tied,
        bias: true,
        earlier: if tied { 2 } else { 0 },
        head_dim: Some(6),
    }
}

/// A model whose weights are large enough for every operation to matter.
pub(crate) fn lively(shape: Shape, seed: u64) -> Model {
    let model = Model::new(shape, seed, &Device::Cpu).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for parameter in model.parameters() {
        let mut next = || (random.next_u32() as f32 / u32::MAX as f32 - 0.5) * if parameter.decays { 0.6 } else { 0.4 };
        let values = parameter.var.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let ones = parameter.name.ends_with("norm");
        let values: Vec<f32> = values.iter().map(|_| next() + if ones { 1.0 } else { 0.0 }).collect();
        parameter.var.set(&crate::Tensor::from_vec(values, parameter.var.dims(), &Device::Cpu).unwrap()).unwrap();
    }
    model
}

/// Random sequences of these lengths; about two thirds of the tokens scored, half of them masked.
pub(crate) fn batch(vocab: usize, lengths: &[usize], seed: u64) -> Packed {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut batch = Packed::new();
    for length in lengths {
        let tokens: Vec<u32> = (0..*length).map(|_| random.next_u32() % vocab as u32).collect();
        let mut scored = Vec::new();
        for (index, token) in tokens.iter().enumerate().skip(1) {
            let mut allowed: Vec<u32> = (0..vocab as u32).filter(|_| random.next_u32() % 3 == 0).collect();
            allowed.push(*token);
            let mask = (random.next_u32() % 2 == 0).then(|| Mask::of(&allowed, vocab).unwrap());
            if random.next_u32() % 3 > 0 || index + 1 == *length {
                scored.push((index, mask));
            }
        }
        batch.push(&tokens, scored).unwrap();
    }
    batch
}
