//! Seeds: one for each purpose, derived by name, so that nothing that is added changes another's.

use tribunal_protocol::digest::Digest;

/// A seed for a purpose: 60 bits of a digest of the recipe's seed and the purpose's parts.
#[must_use]
pub fn seed_of(seed: u64, parts: &[&str]) -> u64 {
    let text = Digest::of(format!("train {seed} {}", parts.join("\u{1f}")).as_bytes()).to_string();
    u64::from_str_radix(&text[..15], 16).unwrap_or(0)
}

/// Random numbers of one purpose (SplitMix64: Steele, Lea, Flood 2014), for shuffling and drawing
/// where no distribution has to be exact.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

impl Stream {
    pub(crate) fn new(seed: u64, parts: &[&str]) -> Stream {
        Stream(seed_of(seed, parts))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..limit`; 0 where the limit is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let wide = u128::from(self.next()) * limit as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number in `0..1`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Random order (Fisher-Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_their_purposes() {
        let first = |parts: &[&str]| Stream::new(1, parts).next();
        assert_eq!(first(&["a"]), first(&["a"]));
        assert_ne!(first(&["a"]), first(&["b"]));
        // The parts are kept apart.
        assert_ne!(first(&["a", "b"]), first(&["ab"]));
        // Published first value of SplitMix64 from state 0.
        assert_eq!(Stream(0).next(), 0xE220_A839_7B1D_CDAF);
        let mut stream = Stream::new(2, &["shuffle"]);
        let mut items: Vec<usize> = (0..50).collect();
        stream.shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
        assert!((0..1000).all(|_| stream.below(7) < 7 && stream.unit() < 1.0));
    }
}
