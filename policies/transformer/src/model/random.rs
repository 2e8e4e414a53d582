//! First values from a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::layout::{Entry, Start};

/// Normal random numbers by the Box-Muller transform.
pub(crate) struct Normal {
    random: ChaCha8Rng,
}

impl Normal {
    pub(crate) fn new(seed: u64) -> Normal {
        Normal { random: ChaCha8Rng::seed_from_u64(seed) }
    }

    pub(crate) fn fill(&mut self, entry: &Entry) -> Vec<f32> {
        let count = entry.dims.iter().product();
        match entry.start {
            Start::Ones => vec![1.0; count],
            Start::Zeros => vec![0.0; count],
            Start::Normal(deviation) => (0..count).map(|_| (self.next() * deviation) as f32).collect(),
        }
    }

    /// The next number.
    pub(super) fn next(&mut self) -> f64 {
        // In (0, 1], so that the logarithm is finite.
        let radius = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let angle = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}
