//! Keys of evaluating hosts, in the files of `age` (<https://age-encryption.org/v1>): what `age-keygen` writes
//! serves here, and the other way round.

use std::fmt;

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use orion::hazardous::ecc::x25519;

use crate::error::SealError;

/// What a secret key begins with, before the 1 of Bech32.
const SECRET: &str = "AGE-SECRET-KEY-";
/// What a public key begins with.
const PUBLIC: &str = "age";

/// The secret key of a host. It is shown to nobody but the file that keeps it.
pub struct HostKey(x25519::PrivateKey);

/// The key that files are encrypted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipientKey([u8; 32]);

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostKey")
    }
}

impl HostKey {
    /// A new key, from secret bytes of the system.
    ///
    /// # Errors
    /// The system gives none.
    pub fn generate() -> Result<HostKey, SealError> {
        Ok(HostKey(x25519::PrivateKey::from(secret_bytes::<32>()?)))
    }

    /// Reads a key: a line `AGE-SECRET-KEY-1..`; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Anything else, and more keys than one.
    pub fn read(text: &str) -> Result<HostKey, SealError> {
        let bytes = only_line(text).and_then(|line| number(line, SECRET)).ok_or(SealError::HostKey)?;
        Ok(HostKey(x25519::PrivateKey::from(bytes)))
    }

    /// The key as [`HostKey::read`] reads it, with its public key as a comment.
    ///
    /// # Errors
    /// A secret that has no public key, which no generated one is.
    pub fn to_text(&self) -> Result<String, SealError> {
        let secret = text(self.0.unprotected_as_ref(), SECRET).ok_or(SealError::HostKey)?.to_uppercase();
        Ok(format!("# public key: {}\n{secret}\n", self.recipient()?))
    }

    /// The key that files for this host are encrypted to.
    ///
    /// # Errors
    /// A secret that has none, which no generated one is.
    pub fn recipient(&self) -> Result<RecipientKey, SealError> {
        let public = x25519::PublicKey::try_from(&self.0).map_err(|_| SealError::HostKey)?;
        <[u8; 32]>::try_from(public.as_ref()).map(RecipientKey).map_err(|_| SealError::HostKey)
    }

    /// What both sides share: this secret with a public key.
    pub(crate) fn agree(&self, public: [u8; 32]) -> Option<x25519::SharedKey> {
        x25519::key_agreement(&self.0, &x25519::PublicKey::from(public)).ok()
    }
}

impl RecipientKey {
    /// Reads a key: a line `age1..`; lines that begin with `#` are comments.
    ///
    /// # Errors
    /// Anything else, and more keys than one.
    pub fn read(text: &str) -> Result<RecipientKey, SealError> {
        only_line(text).and_then(|line| number(line, PUBLIC)).map(RecipientKey).ok_or(SealError::RecipientKey)
    }

    /// Its 32 bytes.
    pub(crate) fn bytes(&self) -> [u8; 32] {
        self.0
    }
}

/// The key as [`RecipientKey::read`] reads it: `age1..`.
impl fmt::Display for RecipientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.0, PUBLIC).unwrap_or_default())
    }
}

/// Secret bytes of the system.
pub(crate) fn secret_bytes<const N: usize>() -> Result<[u8; N], SealError> {
    let mut bytes = [0; N];
    orion::util::secure_rand_bytes(&mut bytes).map_err(|_| SealError::Entropy)?;
    Ok(bytes)
}

/// The one line that is neither empty nor a comment.
fn only_line(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().filter(|_| lines.next().is_none())
}

fn number(line: &str, prefix: &str) -> Option<[u8; 32]> {
    let checked = CheckedHrpstring::new::<Bech32>(line).ok()?;
    // The specification wants secret keys in capitals, public keys without.
    let case = if prefix == SECRET { line.to_uppercase() } else { line.to_lowercase() };
    let fits = case == line && checked.hrp().to_lowercase() == prefix.to_lowercase();
    checked.byte_iter().collect::<Vec<u8>>().try_into().ok().filter(|_| fits)
}

fn text(bytes: &[u8], prefix: &str) -> Option<String> {
    bech32::encode::<Bech32>(Hrp::parse(&prefix.to_lowercase()).ok()?, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by another implementation (rage, by its Python module pyrage 1.4).
    const KEY: &str = "AGE-SECRET-KEY-1VN2U6U4YGYUSVKY60FR7XLFRMDG4DWRW0XU2JCUFUE74GFFAJ9RQZTWGQ4";
    const PUBLIC_KEY: &str = "age1h837tqhv00ulu645wqpa05mdcjl0kxgnqxp9k6skt5f6av9flcnq7fqua7";

    #[test]
    fn keys_are_those_of_age() {
        let file = format!("# created: 2026-12-01T12:00:00Z\n# public key: {PUBLIC_KEY}\n{KEY}\n");
        let key = HostKey::read(&file).unwrap();
        assert_eq!(key.recipient().unwrap().to_string(), PUBLIC_KEY);
        assert_eq!(key.to_text().unwrap(), format!("# public key: {PUBLIC_KEY}\n{KEY}\n"));
        assert_eq!(RecipientKey::read(&format!("{PUBLIC_KEY}\n")).unwrap(), key.recipient().unwrap());
        assert_eq!(format!("{key:?}"), "HostKey");
        assert_ne!(HostKey::generate().unwrap().to_text().unwrap(), HostKey::generate().unwrap().to_text().unwrap());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let two = format!("{KEY}\n{KEY}");
        for text in ["", "# a comment", PUBLIC_KEY, &KEY.replace("GQ4", "GQ5"), &KEY.to_lowercase(), &KEY[..60], &two] {
            assert_eq!(HostKey::read(text).unwrap_err(), SealError::HostKey, "{text}");
        }
        for text in ["", KEY, &PUBLIC_KEY.replace("ua7", "ua8"), &PUBLIC_KEY.to_uppercase()] {
            assert_eq!(RecipientKey::read(text).unwrap_err(), SealError::RecipientKey, "{text}");
        }
    }
}
