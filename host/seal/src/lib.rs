//! Seals: who says that these files are what a run gave. Pure but for [`SigningKey::generate`], which
//! asks the system for a secret.
//!
//! A seal is an [in-toto Statement v1](https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md)
//! in a [DSSE envelope](https://github.com/secure-systems-lab/dsse/blob/master/protocol.md), signed with
//! Ed25519 (RFC 8032); other tools read all three. Its subject is every file of a run folder, and its
//! predicate what the run was ([`RunPredicate`]).
//!
//! - [`SigningKey`] and [`PublicKey`]: keys, as PKCS#8 and SubjectPublicKeyInfo in PEM.
//! - [`Envelope`]: bytes with a signature over them and their type.
//! - [`Statement`]: which files, by digest, and what is said of them.
//! - [`HostKey`] and [`RecipientKey`], [`encrypt()`] and [`decrypt()`]: files for one reader, as `age` writes them.

mod age_key;
mod disclose;
mod encrypt;
mod envelope;
mod error;
mod key;
mod lock;
mod statement;

pub use age_key::{HostKey, RecipientKey};
pub use disclose::{
    BlindEpisode, Count, DISCLOSED_TYPE, DISCLOSURE_FORMAT, Disclosed, Disclosure, DisclosureError, pass,
};
pub use encrypt::{decrypt, encrypt};
pub use envelope::{Envelope, PAYLOAD_TYPE, Signature, pae};
pub use error::SealError;
pub use key::{PublicKey, SigningKey};
pub use lock::{LOCK_FORMAT, LockError, LockFile, LockedPlugin};
pub use statement::{
    PREDICATE_TYPE, ProtocolFile, RunPredicate, STATEMENT_TYPE, Settings, Statement, Subject, SuiteRef,
};
