//! Randomness that comes from nowhere but what a call was given.

use tribunal_protocol::digest::{Digest, Hasher};

/// A stream of bytes.
#[derive(Debug)]
pub(super) struct Random {
    seed: Digest,
    block: u64,
    left: Vec<u8>,
}

impl Random {
    pub(super) fn new(seed: &Digest) -> Random {
        Random { seed: *seed, block: 0, left: Vec::new() }
    }

    /// The next bytes.
    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        while self.left.len() < count {
            let mut hasher = Hasher::new("tribunal stand-in randomness");
            hasher.bytes(self.seed.as_bytes());
            hasher.number(self.block);
            self.block += 1;
            self.left.extend_from_slice(hasher.finish().as_bytes());
        }
        let rest = self.left.split_off(count);
        std::mem::replace(&mut self.left, rest)
    }

    /// The next number.
    pub(super) fn number(&mut self) -> u64 {
        self.bytes(8).into_iter().fold(0, |number, byte| number << 8 | u64::from(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream_however_it_is_cut() {
        let of = |seed: &[u8]| Random::new(&Digest::of(seed));
        let whole = of(b"a").bytes(100);
        let mut cut = of(b"a");
        let pieces: Vec<u8> = [1, 31, 0, 40, 28].into_iter().flat_map(|count| cut.bytes(count)).collect();
        assert_eq!((pieces, whole.len()), (whole.clone(), 100));
        assert_ne!(of(b"b").bytes(100), whole);
        let first = u64::from_be_bytes(whole[..8].try_into().unwrap());
        assert_eq!(of(b"a").number(), first);
    }
}
