//! SHA-256 digests, and canonical bytes to take them of.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::value::Value;

/// A SHA-256 digest; its text form is 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first 12 hexadecimal digits, for tables and file names.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Digest, String> {
        let wrong = || format!("64 hexadecimal digits expected, `{text}` given");
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(index * 2..index * 2 + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Digest(bytes))
    }
}

/// Feeds a hash with framed, typed parts, so that no two different sequences of parts give the
/// same bytes.
#[derive(Clone, Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// An empty hash, separated from others by a label.
    #[must_use]
    pub fn new(label: &str) -> Hasher {
        let mut hasher = Hasher(Sha256::new());
        hasher.bytes(label.as_bytes());
        hasher
    }

    /// Adds bytes, framed by their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// Adds a value: a tag for its kind, then its content. Decimals are normalised, so 1.50 and
    /// 1.5 are the same; -0.0 is 0.0, and every NaN is the same.
    pub fn value(&mut self, value: &Value) {
        let tag = value.kind() as u8;
        self.0.update([tag]);
        match value {
            Value::Null => {}
            Value::Boolean(b) => self.0.update([u8::from(*b)]),
            Value::Integer(i) | Value::Timestamp(i) => self.0.update(i.to_le_bytes()),
            Value::Float(x) if x.is_nan() => self.0.update(f64::NAN.to_bits().to_le_bytes()),
            Value::Float(x) if *x == 0.0 => self.0.update(0_u64.to_le_bytes()),
            Value::Float(x) => self.0.update(x.to_bits().to_le_bytes()),
            Value::Decimal(d) => self.bytes(d.normalize().to_string().as_bytes()),
            Value::Text(t) => self.bytes(t.as_bytes()),
            Value::Date(d) => self.0.update(d.to_le_bytes()),
        }
    }

    /// The digest of all that was added.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_and_matches_the_standard() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), expected);
        assert_eq!(Digest::try_from(expected.to_owned()), Ok(Digest::of(b"abc")));
        assert!(Digest::try_from(expected.to_uppercase()).is_err());
        assert!(Digest::try_from("é".repeat(32)).is_err());
    }

    #[test]
    fn framing_tells_sequences_apart() {
        let digest = |parts: &[&str]| {
            let mut hasher = Hasher::new("t");
            parts.iter().for_each(|part| hasher.bytes(part.as_bytes()));
            hasher.finish()
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
    }
}
