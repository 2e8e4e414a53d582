//! Practice in copying: a passage of random tokens, then parts of it again. What is learned are the
//! tokens of each part but its first ones, which only chance could tell.

use crate::random::Stream;
use crate::trajectory::Sample;

/// Bounds of a passage's length in tokens.
const PASSAGE: (usize, usize) = (24, 160);
/// Bounds of a part's length in tokens.
const PART: (usize, usize) = (3, 12);

/// The samples of one step: passages of tokens from `first` to the vocabulary's end, the same for the
/// same seed and step.
#[must_use]
pub fn practice(seed: u64, step: u64, first: usize, vocabulary: usize, batch_tokens: usize) -> Vec<Sample> {
    let mut stream = Stream::new(seed, &["copying", &step.to_string()]);
    let mut samples = Vec::new();
    let mut tokens = 0;
    while tokens < batch_tokens {
        let sample = passage(&mut stream, first, vocabulary);
        tokens += sample.tokens.len();
        samples.push(sample);
    }
    samples
}

fn passage(stream: &mut Stream, first: usize, vocabulary: usize) -> Sample {
    let mut between = |(low, high): (usize, usize)| low + stream.below(high - low + 1);
    let length = between(PASSAGE);
    let parts: Vec<(usize, usize)> = (0..length / 6).map(|_| (between((0, length - 1)), between(PART))).collect();
    let kinds = vocabulary.saturating_sub(first).max(1);
    let mut tokens: Vec<u32> = (0..length).map(|_| (first + stream.below(kinds)) as u32).collect();
    let mut learned = Vec::new();
    for (start, part) in parts {
        let end = (start + part).min(length);
        for place in start..end {
            if place > start {
                learned.push(tokens.len());
            }
            tokens.push(tokens[place]);
        }
    }
    Sample { tokens, learned }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_stands_before() {
        let samples = practice(1, 2, 300, 700, 2_000);
        assert!(samples.iter().map(|sample| sample.tokens.len()).sum::<usize>() >= 2_000);
        for sample in &samples {
            assert!(sample.tokens.iter().all(|token| (300..700).contains(token)));
            for place in &sample.learned {
                // The pair of this token and the one before it stands somewhere before.
                let pair = &sample.tokens[place - 1..=*place];
                assert!(sample.tokens[..*place].windows(2).any(|earlier| earlier == pair));
            }
        }
        assert_eq!(practice(1, 2, 300, 700, 2_000), samples);
        assert_ne!(practice(1, 3, 300, 700, 2_000), samples);
    }
}
