//! DSSE envelopes, version 1.

use ct_codecs::{Base64, Base64UrlSafe, Decoder, Encoder};
use serde::{Deserialize, Serialize};

use crate::error::SealError;
use crate::key::{PublicKey, SigningKey};

/// What an in-toto statement is called in an envelope.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Bytes of some type, with a signature over both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// The bytes, in base64.
    pub payload: String,
    /// Their type.
    pub payload_type: String,
    /// Who signed them.
    pub signatures: Vec<Signature>,
}

/// One signature of an envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The identity of the key ([`PublicKey::id`]).
    pub keyid: String,
    /// The signature over [`pae`], in base64.
    pub sig: String,
}

/// What is signed: the pre-authentication encoding of the DSSE specification, which no two pairs of
/// type and bytes share.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

impl Envelope {
    /// Signs the bytes of a statement.
    ///
    /// # Errors
    /// More bytes than base64 can count.
    pub fn sign(payload: &[u8], key: &SigningKey) -> Result<Envelope, SealError> {
        let signature = Signature { keyid: key.public().id(), sig: encode(&key.sign(&pae(PAYLOAD_TYPE, payload)))? };
        Ok(Envelope { payload: encode(payload)?, payload_type: PAYLOAD_TYPE.to_owned(), signatures: vec![signature] })
    }

    /// Reads an envelope, whoever wrote it. Fields that are not known are ignored, as the
    /// specification asks.
    ///
    /// # Errors
    /// Anything else.
    pub fn read(bytes: &[u8]) -> Result<Envelope, SealError> {
        serde_json::from_slice(bytes).map_err(|why| SealError::Envelope(why.to_string()))
    }

    /// The envelope as one line of JSON.
    ///
    /// # Errors
    /// None that is known: texts always have a JSON form.
    pub fn to_line(&self) -> Result<Vec<u8>, SealError> {
        let mut line = serde_json::to_vec(self).map_err(|why| SealError::Envelope(why.to_string()))?;
        line.push(b'\n');
        Ok(line)
    }

    /// The payload, before anybody has verified it: only for finding the key to verify it by.
    ///
    /// # Errors
    /// It is not base64.
    pub fn unverified(&self) -> Result<Vec<u8>, SealError> {
        decode(&self.payload)
    }

    /// The payload, which this key signed.
    ///
    /// # Errors
    /// Another type, another number of signatures than one, another key, or altered bytes.
    pub fn verify(&self, key: &PublicKey) -> Result<Vec<u8>, SealError> {
        if self.payload_type != PAYLOAD_TYPE {
            return Err(SealError::PayloadType(self.payload_type.clone()));
        }
        let [signature] = self.signatures.as_slice() else {
            return Err(SealError::Signatures(self.signatures.len()));
        };
        if signature.keyid != key.id() {
            return Err(SealError::KeyId { found: signature.keyid.clone(), expected: key.id() });
        }
        let payload = decode(&self.payload)?;
        match key.verifies(&pae(&self.payload_type, &payload), &decode(&signature.sig)?) {
            true => Ok(payload),
            false => Err(SealError::Forged(key.id())),
        }
    }
}

pub(crate) fn encode(bytes: &[u8]) -> Result<String, SealError> {
    Base64::encode_to_string(bytes).map_err(|why| SealError::Envelope(why.to_string()))
}

/// Either alphabet, as the specification asks of a reader.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, SealError> {
    let standard = Base64::decode_to_vec(text, None);
    let decoded = standard.or_else(|_| Base64UrlSafe::decode_to_vec(text, None));
    decoded.map_err(|_| SealError::Envelope("payload and sig are base64; one of them is not".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_seed([1; 32]).unwrap()
    }

    /// protocol.md of the DSSE specification: its example.
    #[test]
    fn the_encoding_is_that_of_the_specification() {
        let encoded = pae("http://example.com/HelloWorld", b"hello world");
        assert_eq!(encoded, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
        // Lengths are of bytes, not of letters; and no pair reads as another.
        assert_eq!(pae("é", "ü".as_bytes()), "DSSEv1 2 é 2 ü".as_bytes());
        assert_ne!(pae("a", b"b 1 c"), pae("a 1 b", b"c"));
        assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
    }

    /// The signature was made by `openssl pkeyutl -sign -rawin` over `DSSEv1 28 .. 2 {}`.
    #[test]
    fn an_envelope_has_the_bytes_of_the_golden_one() {
        let envelope = Envelope::sign(b"{}", &key()).unwrap();
        let golden = concat!(
            r#"{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"keyid":""#,
            "fd110d301d2f077de1414b8f99f441b1403fab207b2052fbd2c065e4ee8e7dc2",
            r#"","sig":""#,
            "veLg0e+f4poyS3YRJakfMGqcWCOKpK/odygGjhTkwZv0V+Om/OfLlEQ57kTgEM0N02igz2ne/YdGZ1SOWajECA==",
            "\"}]}\n"
        );
        assert_eq!(String::from_utf8(envelope.to_line().unwrap()).unwrap(), golden);
        assert_eq!(Envelope::read(golden.as_bytes()).unwrap().verify(&key().public()).unwrap(), b"{}");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let line = Envelope::sign(br#"{"a":"some statement"}"#, &key()).unwrap().to_line().unwrap();
        let verify = |bytes: &[u8]| Envelope::read(bytes).and_then(|envelope| envelope.verify(&key().public()));
        assert!(verify(&line).is_ok());
        for place in 0..line.len() {
            for bit in 0..8 {
                let mut altered = line.clone();
                altered[place] ^= 1 << bit;
                assert!(verify(&altered).is_err(), "byte {place}, bit {bit}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let envelope = Envelope::sign(b"{}", &key()).unwrap();
        let other = SigningKey::from_seed([2; 32]).unwrap();
        let refused = |change: &dyn Fn(&mut Envelope)| {
            let mut altered = envelope.clone();
            change(&mut altered);
            altered.verify(&key().public()).unwrap_err()
        };
        let id = key().public().id();
        assert_eq!(
            refused(&|e| e.payload = "e31=".to_owned()),
            SealError::Envelope("payload and sig are base64; one of them is not".to_owned())
        );
        assert_eq!(refused(&|e| e.payload = "W10=".to_owned()), SealError::Forged(id.clone()));
        assert_eq!(
            refused(&|e| e.payload_type = "text/plain".to_owned()),
            SealError::PayloadType("text/plain".to_owned())
        );
        assert_eq!(refused(&|e| e.signatures.clear()), SealError::Signatures(0));
        assert_eq!(refused(&|e| e.signatures.extend(envelope.signatures.clone())), SealError::Signatures(2));
        assert_eq!(refused(&|e| e.signatures[0].sig = "AAAA".to_owned()), SealError::Forged(id.clone()));
        let found = envelope.signatures[0].keyid.clone();
        let expected = other.public().id();
        assert_eq!(envelope.verify(&other.public()).unwrap_err(), SealError::KeyId { found, expected });
        assert!(matches!(Envelope::read(b"{}"), Err(SealError::Envelope(_))));
        // Both alphabets are read.
        let bytes = [0xfb, 0xff];
        assert_eq!((decode("+/8=").unwrap(), decode("-_8=").unwrap()), (bytes.to_vec(), bytes.to_vec()));
    }
}
