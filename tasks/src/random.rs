//! Random streams: one for each purpose, derived from the seed by the names of the purpose.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use tribunal_protocol::digest::Hasher;

/// One stream of random numbers. The bounded draws are our own, so that no other crate's choice
/// of algorithm can change a generated row.
#[derive(Clone, Debug)]
pub(crate) struct Stream(ChaCha12Rng);

impl Stream {
    /// The stream for a purpose, named by its parts.
    pub(crate) fn new(seed: u64, purpose: &[&str]) -> Stream {
        let mut hasher = Hasher::new("tribunal stream 1");
        hasher.number(seed);
        purpose.iter().for_each(|part| hasher.bytes(part.as_bytes()));
        let mut key = [0; 32];
        let digest = hasher.finish().to_string();
        for (byte, digits) in key.iter_mut().zip(digest.as_bytes().chunks(2)) {
            let text = std::str::from_utf8(digits).unwrap_or("00");
            *byte = u8::from_str_radix(text, 16).unwrap_or(0);
        }
        Stream(ChaCha12Rng::from_seed(key))
    }

    /// A number in `0..limit`; 0 where the limit is 0. Multiply and shift: the bias is below
    /// limit / 2^64.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(limit);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// An index in `0..len`; 0 where `len` is 0.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).unwrap_or(0)
    }

    /// A number in `low..=high`; `low` where the bounds are crossed.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(high.saturating_sub(low)).unwrap_or(0);
        low.saturating_add_unsigned(self.below(span.saturating_add(1)))
    }

    /// True with probability `share`.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
        let unit = (self.0.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0;
        unit < share
    }

    /// One of `items`.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.index(items.len());
        items.get(index)
    }

    /// An index drawn by weight; 0 where all weights are 0.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut rest = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if rest < *weight {
                return index;
            }
            rest -= weight;
        }
        0
    }

    /// Puts `items` into random order (Fisher-Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_apart() {
        let draw = |purpose: &[&str]| {
            let mut stream = Stream::new(7, purpose);
            [stream.below(1_000_000), stream.below(1_000_000)]
        };
        assert_eq!(draw(&["a", "b"]), draw(&["a", "b"]));
        assert_ne!(draw(&["a", "b"]), draw(&["ab"]));
        let other_seed = Stream::new(8, &["a", "b"]).below(1_000_000);
        assert_ne!(draw(&["a", "b"])[0], other_seed);
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut stream = Stream::new(1, &["bounds"]);
        let draws: Vec<i64> = (0..1_000).map(|_| stream.between(-2, 2)).collect();
        assert!((-2..=2).all(|wanted| draws.contains(&wanted)));
        assert!(draws.iter().all(|drawn| (-2..=2).contains(drawn)));
        assert_eq!(stream.between(3, 3), 3);
        assert_eq!(stream.below(0), 0);
        let heads = (0..10_000).filter(|_| stream.chance(0.25)).count();
        assert!((2_300..2_700).contains(&heads), "{heads}");
        let mut counts = [0; 3];
        (0..4_000).for_each(|_| counts[stream.weighted(&[1, 0, 3])] += 1);
        assert_eq!(counts[1], 0);
        assert!((850..1_150).contains(&counts[0]), "{counts:?}");
    }
}
