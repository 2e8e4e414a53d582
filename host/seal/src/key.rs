//! Ed25519 keys, as files that `openssl` reads and writes too.

use std::fmt;

use ed25519_compact as ed25519;
use tribunal_protocol::Digest;

use crate::error::SealError;

/// The bytes of a secret key's seed (RFC 8032, section 5.1.5).
const SEED_BYTES: usize = ed25519::Seed::BYTES;

/// A key that signs. It is never shown.
#[derive(Clone)]
pub struct SigningKey(ed25519::KeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public().id())
    }
}

impl SigningKey {
    /// A new key, from secret bytes of the system. With the ephemeral keys of encryption, the only
    /// randomness in Tribunal that does not come from a seed.
    ///
    /// # Errors
    /// The system gives none.
    pub fn generate() -> Result<SigningKey, SealError> {
        let mut seed = [0; SEED_BYTES];
        orion::util::secure_rand_bytes(&mut seed).map_err(|_| SealError::Entropy)?;
        SigningKey::from_seed(seed)
    }

    /// The key of a seed.
    ///
    /// # Errors
    /// A seed of zeros, which is nobody's secret.
    pub fn from_seed(seed: [u8; SEED_BYTES]) -> Result<SigningKey, SealError> {
        let pair = ed25519::KeyPair::try_from_seed(ed25519::Seed::new(seed)).map_err(|_| SealError::SigningKey)?;
        Ok(SigningKey(pair))
    }

    /// Reads a key: PKCS#8 (RFC 8410) in PEM.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pem(text: &str) -> Result<SigningKey, SealError> {
        ed25519::KeyPair::from_pem(text.trim()).map(SigningKey).map_err(|_| SealError::SigningKey)
    }

    /// The key as [`SigningKey::from_pem`] reads it.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.0.sk.to_pem()
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.pk)
    }

    /// Signs. The same bytes have the same signature.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        *self.0.sk.sign(message, None)
    }
}

/// A key that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(ed25519::PublicKey);

impl PublicKey {
    /// Reads a key: SubjectPublicKeyInfo (RFC 8410) in PEM.
    ///
    /// # Errors
    /// Anything else, and keys under which more than one message could have one signature.
    pub fn from_pem(text: &str) -> Result<PublicKey, SealError> {
        let key = ed25519::PublicKey::from_pem(text.trim()).map_err(|_| SealError::PublicKey)?;
        key.validate().map_err(|_| SealError::PublicKey)?;
        Ok(PublicKey(key))
    }

    /// The key as [`PublicKey::from_pem`] reads it.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.0.to_pem()
    }

    /// Its identity (`keyid`): the SHA-256 digest of its SubjectPublicKeyInfo.
    #[must_use]
    pub fn id(&self) -> String {
        Digest::of(&self.0.to_der()).to_string()
    }

    /// Whether a signature over these bytes is this key's.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        ed25519::Signature::from_slice(signature).is_ok_and(|signature| self.0.verify(message, &signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    /// RFC 8032, section 7.1, tests 1 to 3: seed, public key, message, signature.
    const VECTORS: [[&str; 4]; 3] = [
        [
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ],
        [
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ],
        [
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ],
    ];

    #[test]
    fn signatures_are_those_of_rfc_8032() {
        for [seed, public, message, signature] in VECTORS {
            let key = SigningKey::from_seed(bytes(seed).try_into().unwrap()).unwrap();
            assert_eq!(key.public().0.to_vec(), bytes(public));
            assert_eq!(key.sign(&bytes(message)).to_vec(), bytes(signature));
            assert!(key.public().verifies(&bytes(message), &bytes(signature)));
            // The twins: another message, another signature, another key.
            assert!(!key.public().verifies(b"other", &bytes(signature)));
            let mut altered = bytes(signature);
            altered[63] ^= 1;
            assert!(!key.public().verifies(&bytes(message), &altered));
            assert!(!key.public().verifies(&bytes(message), &altered[..63]));
            let other = SigningKey::from_seed([7; 32]).unwrap();
            assert!(!other.public().verifies(&bytes(message), &bytes(signature)));
        }
    }

    /// Written by `openssl pkey -in KEY` and `openssl pkey -pubout -in KEY` for the seed of test 1.
    const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";

    #[test]
    fn keys_are_written_as_openssl_writes_them() {
        let key = SigningKey::from_seed(bytes(VECTORS[0][0]).try_into().unwrap()).unwrap();
        assert_eq!(key.to_pem(), PRIVATE);
        assert_eq!(key.public().to_pem(), PUBLIC);
        assert_eq!(SigningKey::from_pem(PRIVATE).unwrap().public(), key.public());
        assert_eq!(PublicKey::from_pem(PUBLIC).unwrap(), key.public());
        // `openssl pkey -pubout -outform DER | sha256sum`
        assert_eq!(key.public().id(), "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9");
        assert!(!format!("{key:?}").contains("nWGx"), "a secret is shown");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "key", PUBLIC, &PRIVATE.replace("MC4", "MC5"), &PRIVATE[..60]] {
            assert_eq!(SigningKey::from_pem(text).unwrap_err(), SealError::SigningKey, "{text}");
        }
        for text in ["", "key", PRIVATE, &PUBLIC.replace("MCo", "MCp")] {
            assert_eq!(PublicKey::from_pem(text).unwrap_err(), SealError::PublicKey, "{text}");
        }
        assert_eq!(SigningKey::from_seed([0; 32]).unwrap_err(), SealError::SigningKey);
    }

    #[test]
    fn generated_keys_differ_and_read_back() {
        let (one, two) = (SigningKey::generate().unwrap(), SigningKey::generate().unwrap());
        assert_ne!(one.public(), two.public());
        assert_eq!(SigningKey::from_pem(&one.to_pem()).unwrap().sign(b"x"), one.sign(b"x"));
    }
}
