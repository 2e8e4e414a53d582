//! The alphabet of byte-level tokenizers: every byte as a printable character.

use std::collections::BTreeMap;

/// The character of each byte: itself where it is printable in Latin-1, else the next one from
/// U+0100 on. (The mapping that GPT-2 began with; every byte-level tokenizer.json uses it.)
pub(crate) fn characters() -> [char; 256] {
    let mut next = 0x100;
    std::array::from_fn(|byte| {
        let printable = matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
        let code = if printable { u32::try_from(byte).unwrap_or_default() } else { next };
        next += u32::from(!printable);
        char::from_u32(code).unwrap_or_default()
    })
}

/// The bytes of a token as it stands in a vocabulary; none where a character is not of the alphabet.
pub(crate) fn bytes(token: &str, bytes_of: &BTreeMap<char, u8>) -> Option<Vec<u8>> {
    token.chars().map(|c| bytes_of.get(&c).copied()).collect()
}

/// The alphabet, reversed.
pub(crate) fn bytes_of() -> BTreeMap<char, u8> {
    (0..=255).zip(characters()).map(|(byte, c)| (c, byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alphabet_is_the_known_one() {
        let characters = characters();
        assert_eq!(characters[usize::from(b' ')], 'Ġ');
        assert_eq!(characters[usize::from(b'\n')], 'Ċ');
        assert_eq!(characters[usize::from(b'a')], 'a');
        assert_eq!(characters[0xad], 'Ń');
        assert_eq!(bytes_of().len(), 256);
        assert_eq!(bytes("Ġid", &bytes_of()), Some(b" id".to_vec()));
        assert_eq!(bytes("日", &bytes_of()), None);
    }
}
