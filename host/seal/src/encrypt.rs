//! Files for one reader: encrypted to the key of an evaluating host.
//!
//! HPKE in its base mode (RFC 9180): DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305. Whoever
//! reads the ciphertext learns its length and the host that it is for; whoever alters it is noticed.

use ed25519_compact::x25519;
use orion::hazardous::hpke::{DHKEM_X25519_SHA256_CHACHA20, ModeBase};
use orion::hazardous::kem::x25519_hkdf_sha256::{PrivateKey, PublicKey as KemKey};
use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;

use crate::envelope::{decode, encode};
use crate::error::SealError;

/// The name and version of the file's format; it is bound to the ciphertext.
const FORMAT: &str = "tribunal-encrypted@1";

/// The bytes of a Poly1305 tag.
const TAG_BYTES: usize = 16;

type Hpke = ModeBase<DHKEM_X25519_SHA256_CHACHA20>;

/// The secret key of a host. It is never shown.
pub struct HostKey(x25519::SecretKey);

/// The key that files are encrypted to.
#[derive(Clone, Debug)]
pub struct RecipientKey(x25519::PublicKey);

impl std::fmt::Debug for HostKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HostKey")
    }
}

impl HostKey {
    /// A new key, from secret bytes of the system.
    ///
    /// # Errors
    /// The system gives none.
    pub fn generate() -> Result<HostKey, SealError> {
        let mut secret = [0; 32];
        orion::util::secure_rand_bytes(&mut secret).map_err(|_| SealError::Entropy)?;
        Ok(HostKey(x25519::SecretKey::new(secret)))
    }

    /// Reads a key: PKCS#8 (RFC 8410) in PEM.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pem(text: &str) -> Result<HostKey, SealError> {
        x25519::SecretKey::from_pem(text.trim()).map(HostKey).map_err(|_| SealError::HostKey)
    }

    /// The key as [`HostKey::from_pem`] reads it.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.0.to_pem()
    }

    /// The key that files for this host are encrypted to.
    ///
    /// # Errors
    /// A secret that has none, which no generated one is.
    pub fn recipient(&self) -> Result<RecipientKey, SealError> {
        self.0.recover_public_key().map(RecipientKey).map_err(|_| SealError::HostKey)
    }
}

impl RecipientKey {
    /// Reads a key: SubjectPublicKeyInfo (RFC 8410) in PEM.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_pem(text: &str) -> Result<RecipientKey, SealError> {
        x25519::PublicKey::from_pem(text.trim()).map(RecipientKey).map_err(|_| SealError::RecipientKey)
    }

    /// The key as [`RecipientKey::from_pem`] reads it.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.0.to_pem()
    }

    /// Its identity: the SHA-256 digest of its SubjectPublicKeyInfo.
    #[must_use]
    pub fn id(&self) -> String {
        Digest::of(&self.0.to_der()).to_string()
    }
}

/// An encrypted file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encrypted {
    format: String,
    recipient: String,
    encapsulated: String,
    ciphertext: String,
}

impl Encrypted {
    /// Encrypts. Twice the same bytes are two different files.
    ///
    /// # Errors
    /// The system gives no secret bytes, or the key is a weak one.
    pub fn new(bytes: &[u8], to: &RecipientKey) -> Result<Encrypted, SealError> {
        let key = KemKey::from(*to.0);
        let mut ciphertext = vec![0; bytes.len() + TAG_BYTES];
        let sent = Hpke::base_seal(&key, FORMAT.as_bytes(), bytes, b"", &mut ciphertext);
        let encapsulated = sent.map_err(|_| SealError::RecipientKey)?;
        Ok(Encrypted {
            format: FORMAT.to_owned(),
            recipient: to.id(),
            encapsulated: encode(encapsulated.as_ref())?,
            ciphertext: encode(&ciphertext)?,
        })
    }

    /// Reads an encrypted file.
    ///
    /// # Errors
    /// Anything else, and newer formats.
    pub fn read(bytes: &[u8]) -> Result<Encrypted, SealError> {
        let file: Encrypted = serde_json::from_slice(bytes).map_err(|why| SealError::Encrypted(why.to_string()))?;
        match file.format == FORMAT {
            true => Ok(file),
            false => Err(SealError::Encrypted(format!("format `{}`", file.format))),
        }
    }

    /// The file as one line of JSON.
    ///
    /// # Errors
    /// None that is known: texts always have a JSON form.
    pub fn to_line(&self) -> Result<Vec<u8>, SealError> {
        let mut line = serde_json::to_vec(self).map_err(|why| SealError::Encrypted(why.to_string()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// What was encrypted.
    ///
    /// # Errors
    /// It is for another host, or was altered.
    pub fn decrypt(&self, key: &HostKey) -> Result<Vec<u8>, SealError> {
        let own = key.recipient()?.id();
        if self.recipient != own {
            return Err(SealError::Recipient { found: self.recipient.clone(), own });
        }
        let ciphertext = decode(&self.ciphertext)?;
        let encapsulated = KemKey::try_from(decode(&self.encapsulated)?.as_slice()).map_err(|_| SealError::Altered)?;
        let mut bytes = vec![0; ciphertext.len().checked_sub(TAG_BYTES).ok_or(SealError::Altered)?];
        let secret = PrivateKey::from(*key.0);
        let opened = Hpke::base_open(&encapsulated, &secret, FORMAT.as_bytes(), &ciphertext, b"", &mut bytes);
        opened.map(|()| bytes).map_err(|_| SealError::Altered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    /// RFC 9180, appendix A.2.1 (base mode), sequence number 0.
    #[test]
    fn the_ciphersuite_is_that_of_rfc_9180() {
        let secret: [u8; 32] =
            bytes("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb").try_into().unwrap();
        let public = bytes("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a");
        let encapsulated = bytes("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a");
        let ciphertext =
            bytes("1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28");
        assert_eq!(x25519::SecretKey::new(secret).recover_public_key().unwrap().to_vec(), public);
        let mut opened = vec![0; ciphertext.len() - TAG_BYTES];
        let enc = KemKey::try_from(encapsulated.as_slice()).unwrap();
        let info = b"Ode on a Grecian Urn";
        Hpke::base_open(&enc, &PrivateKey::from(secret), info, &ciphertext, b"Count-0", &mut opened).unwrap();
        assert_eq!(opened, b"Beauty is truth, truth beauty");
        let twin = Hpke::base_open(&enc, &PrivateKey::from(secret), info, &ciphertext, b"Count-1", &mut opened);
        assert!(twin.is_err());
    }

    #[test]
    fn only_the_host_reads_it_and_every_change_is_noticed() {
        let (host, other) = (HostKey::generate().unwrap(), HostKey::generate().unwrap());
        let to = RecipientKey::from_pem(&host.recipient().unwrap().to_pem()).unwrap();
        let file = Encrypted::new(b"expected: 42", &to).unwrap();
        let line = file.to_line().unwrap();
        assert!(!String::from_utf8(line.clone()).unwrap().contains("42\""));
        let host = HostKey::from_pem(&host.to_pem()).unwrap();
        let read = |line: &[u8], key: &HostKey| Encrypted::read(line).and_then(|file| file.decrypt(key));
        assert_eq!(read(&line, &host).unwrap(), b"expected: 42");
        assert!(matches!(read(&line, &other), Err(SealError::Recipient { .. })));
        assert_ne!(
            Encrypted::new(b"expected: 42", &to).unwrap(),
            file,
            "twice the same file tells that it is the same"
        );
        for place in 0..line.len() - 1 {
            let mut altered = line.clone();
            altered[place] ^= 1;
            assert!(read(&altered, &host).is_err(), "byte {place}");
        }
        assert!(HostKey::from_pem(&to.to_pem()).is_err());
        assert!(RecipientKey::from_pem(&host.to_pem()).is_err());
        assert_eq!(read(&Encrypted::new(b"", &to).unwrap().to_line().unwrap(), &host).unwrap(), b"");
    }
}
