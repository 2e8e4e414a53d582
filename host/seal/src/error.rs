//! Why something is no seal, or no key.

/// Why something is no seal, or no key. Callers add the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// A key that signs was expected.
    #[error(
        "no signing key: a PEM block `PRIVATE KEY` with an Ed25519 key (PKCS#8) expected; `tribunal keygen` makes one"
    )]
    SigningKey,
    /// A key that verifies was expected.
    #[error("no public key: a PEM block `PUBLIC KEY` with an Ed25519 key expected; `tribunal keygen` makes one")]
    PublicKey,
    /// A host's secret key was expected.
    #[error(
        "no host key: one line that begins with AGE-SECRET-KEY-1 expected; `tribunal keygen --host` or `age-keygen` \
         makes one"
    )]
    HostKey,
    /// A key to encrypt to was expected.
    #[error(
        "no key to encrypt to: one line that begins with age1 expected; `tribunal keygen --host` or `age-keygen` makes one"
    )]
    RecipientKey,
    /// The encrypted file cannot be read.
    #[error("no encrypted file: what `tribunal encrypt` or `age` writes expected: {0}")]
    Encrypted(String),
    /// It is for somebody else.
    #[error("not encrypted to this host, whose public key is {own}: have it encrypted to that one")]
    Recipient {
        /// Who wants to read it.
        own: String,
    },
    /// It is not what was encrypted.
    #[error("altered since it was encrypted; ask for it again")]
    Altered,
    /// The system gave no secret bytes.
    #[error("the system gives no secret bytes for a key; nothing was made")]
    Entropy,
    /// The envelope cannot be read.
    #[error("no seal: a DSSE envelope (JSON with payload, payloadType and signatures) expected: {0}")]
    Envelope(String),
    /// Something of another kind was signed.
    #[error("payloadType `{0}`: `application/vnd.in-toto+json` expected; this envelope holds no seal, or was altered")]
    PayloadType(String),
    /// Nobody, or more than one, signed it.
    #[error("{0} signatures: one expected")]
    Signatures(usize),
    /// Another key signed it, as the envelope says itself.
    #[error(
        "keyid {found}: the public key's is {expected}; another key signed it, or it was altered: use that key's file"
    )]
    KeyId {
        /// What the envelope says.
        found: String,
        /// The identity of the key that it was held against.
        expected: String,
    },
    /// The signature is not that of this key over these bytes.
    #[error(
        "the signature does not fit the seal's content under key {0}; the seal was altered, or another key signed it"
    )]
    Forged(String),
    /// The statement cannot be read.
    #[error("no statement: {0}")]
    Statement(String),
    /// A statement about something else, or of a newer version.
    #[error("{what} `{found}`: `{expected}` expected; a newer tribunal may read it")]
    Version {
        /// `_type` or `predicateType`.
        what: &'static str,
        /// What it says.
        found: String,
        /// What this build reads.
        expected: &'static str,
    },
}
