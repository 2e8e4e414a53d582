//! Seeded choices: every case follows from the audit's seed, the task and what is made.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tribunal_protocol::digest::Digest;

/// A source of choices.
#[derive(Debug)]
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// Dice for a seed and what they are for.
    pub(crate) fn new(seed: u64, label: &str) -> Dice {
        let text = Digest::of(format!("{seed} {label}").as_bytes()).to_string();
        Dice(ChaCha8Rng::seed_from_u64(u64::from_str_radix(&text[..16], 16).unwrap_or(seed)))
    }

    /// A number below `bound`; 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from(self.0.next_u64() % bound).unwrap_or(0)
    }

    /// Puts things into a random order.
    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for place in (1..things.len()).rev() {
            things.swap(place, self.below(place + 1));
        }
    }
}
