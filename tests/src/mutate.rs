//! Spoiling good input: what a fuzzer does, from a seed.

use crate::random_queries::Dice;

/// Numbers at the edges of what formats count with.
const EDGES: [&[u8]; 8] = [
    &[0x00],
    &[0xff],
    &[0x7f],
    &[0x80],
    &[0xff, 0xff, 0xff, 0xff],
    &[0xff, 0xff, 0xff, 0xff, 0x0f],
    &[0x80, 0x80, 0x80, 0x80, 0x08],
    &[0xff, 0xff, 0xff, 0x7f],
];

/// `good` with one to four changes: bits turned, bytes written over, parts left out, said twice,
/// moved, cut off, or taken from `other`; `words` are what the format itself is made of.
#[must_use]
pub fn mutated(good: &[u8], other: &[u8], words: &[&[u8]], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=dice.below(4) {
        change(&mut bytes, other, words, dice);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], words: &[&[u8]], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let part = at..(at + 1 + dice.below(24)).min(bytes.len());
    match dice.below(9) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = u8::try_from(dice.below(256)).unwrap_or(0);
            }
        }
        3 => {
            let edge: &[u8] = EDGES[dice.below(EDGES.len())];
            write_over(bytes, at, edge);
        }
        4 => drop(bytes.drain(part)),
        5 => {
            let twice = bytes[part].to_vec();
            let to = dice.below(bytes.len() + 1);
            drop(bytes.splice(to..to, twice));
        }
        6 => {
            let from = dice.below(other.len() + 1);
            let taken = &other[from..(from + dice.below(64)).min(other.len())];
            drop(bytes.splice(part, taken.iter().copied()));
        }
        7 if !words.is_empty() => {
            let word = *dice.pick(words);
            let room = if dice.chance(50) { part } else { at..at };
            drop(bytes.splice(room, word.iter().copied()));
        }
        _ => {
            if dice.chance(20) {
                bytes.truncate(at);
            }
        }
    }
}

fn write_over(bytes: &mut [u8], at: usize, edge: &[u8]) {
    for (byte, new) in bytes.iter_mut().skip(at).zip(edge) {
        *byte = *new;
    }
}
