//! In-toto statements about runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tribunal_protocol::Digest;

use crate::envelope::Envelope;
use crate::error::SealError;
use crate::key::{PublicKey, SigningKey};

/// The type of every statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// The type of [`RunPredicate`]; its end is the version.
pub const PREDICATE_TYPE: &str = "urn:tribunal:attestation:run:v1";

/// A statement: which artifacts, and what is said of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement<P> {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// The artifacts, by name.
    pub subject: Vec<Subject>,
    /// What kind of predicate follows.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// What is said.
    pub predicate: P,
}

/// An artifact: a file by its name and digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// Its path in the run folder, with `/` between its parts.
    pub name: String,
    /// Digests by algorithm; ours is `sha256`.
    pub digest: BTreeMap<String, String>,
}

impl Subject {
    /// A file with the SHA-256 digest of its bytes.
    #[must_use]
    pub fn new(name: String, digest: Digest) -> Subject {
        Subject { name, digest: BTreeMap::from([("sha256".to_owned(), digest.to_string())]) }
    }

    /// The SHA-256 digest, if it is stated.
    #[must_use]
    pub fn sha256(&self) -> Option<Digest> {
        Digest::try_from(self.digest.get("sha256")?.clone()).ok()
    }
}

/// What a run was, as its own files say: all that decides its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunPredicate {
    /// The public key that the seal was signed by, in PEM: so that a seal can be checked for damage by
    /// whoever has no key yet. It says nothing of whose key it is.
    pub public_key: String,
    /// The versions of Tribunal that the traces name.
    pub tribunal: BTreeSet<String>,
    /// The versions of the plugin interface.
    pub interface: BTreeSet<String>,
    /// The engines with their versions.
    pub engines: BTreeSet<String>,
    /// The suite.
    pub suite: SuiteRef,
    /// The settings.
    pub settings: Settings,
    /// The digests of every plugin's component, by name: one, or the run is mixed.
    pub plugins: BTreeMap<String, BTreeSet<Digest>>,
    /// The digests of the effective contracts, by plugin: as many as the tasks grant.
    pub contracts: BTreeMap<String, BTreeSet<Digest>>,
    /// The digests of the limits of a guest call.
    pub limits: BTreeSet<Digest>,
    /// The protocol file that a release was decided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolFile>,
    /// How many traces there are.
    pub traces: u64,
    /// The digest of the results, `summary.json`.
    pub results: Digest,
}

/// The suite of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRef {
    /// `name@version`.
    pub name: String,
    /// The digest of its files.
    pub digest: Digest,
}

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The seed.
    pub seed: u64,
    /// The policies.
    pub policies: Vec<String>,
    /// Attempts at each task.
    pub attempts: u32,
    /// How many tasks at most.
    pub tasks: Option<u64>,
    /// How many variants of each training schema.
    pub variants: u32,
    /// The digests of the policies that are models, by name.
    pub models: BTreeMap<String, Digest>,
}

/// A protocol file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolFile {
    /// The name of the file.
    pub file: String,
    /// The digest of its bytes.
    pub digest: Digest,
}

impl<P: Serialize + for<'a> Deserialize<'a>> Statement<P> {
    /// A statement about some files, which are put in the order of their names.
    #[must_use]
    pub fn new(mut subject: Vec<Subject>, predicate_type: &str, predicate: P) -> Statement<P> {
        subject.sort();
        let (statement_type, predicate_type) = (STATEMENT_TYPE.to_owned(), predicate_type.to_owned());
        Statement { statement_type, subject, predicate_type, predicate }
    }

    /// Signs the statement.
    ///
    /// # Errors
    /// A predicate that JSON cannot hold.
    pub fn seal(&self, key: &SigningKey) -> Result<Envelope, SealError> {
        let payload = serde_json::to_vec(self).map_err(|why| SealError::Statement(why.to_string()))?;
        Envelope::sign(&payload, key)
    }

    /// The statement that this key signed.
    ///
    /// # Errors
    /// What [`Envelope::verify`] refuses, and statements of another type or version.
    pub fn open(envelope: &Envelope, key: &PublicKey, predicate_type: &'static str) -> Result<Statement<P>, SealError> {
        Statement::read(&envelope.verify(key)?, predicate_type)
    }

    /// Reads the bytes of a statement; who signed them is the caller's to know.
    ///
    /// # Errors
    /// No statement, or one of another type or version.
    pub fn read(bytes: &[u8], predicate_type: &'static str) -> Result<Statement<P>, SealError> {
        let bad = |why: serde_json::Error| SealError::Statement(why.to_string());
        let json: serde_json::Value = serde_json::from_slice(bytes).map_err(bad)?;
        for (what, expected) in [("_type", STATEMENT_TYPE), ("predicateType", predicate_type)] {
            let found = json.get(what).and_then(serde_json::Value::as_str).unwrap_or("none");
            if found != expected {
                return Err(SealError::Version { what, found: found.to_owned(), expected });
            }
        }
        serde_json::from_value(json).map_err(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::from_seed([1; 32]).unwrap()
    }

    fn statement() -> Statement<String> {
        let file = |name: &str| Subject::new(name.to_owned(), Digest::of(name.as_bytes()));
        Statement::new(vec![file("b"), file("abc")], "p/v1", "said".to_owned())
    }

    #[test]
    fn a_statement_is_written_as_in_toto_says_and_reads_back() {
        let envelope = statement().seal(&key()).unwrap();
        let text = String::from_utf8(envelope.unverified().unwrap()).unwrap();
        // FIPS 180-2, appendix B.1, for `abc`; `printf b | sha256sum`.
        let expected = concat!(
            r#"{"_type":"https://in-toto.io/Statement/v1","subject":["#,
            r#"{"name":"abc","digest":{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}},"#,
            r#"{"name":"b","digest":{"sha256":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"}}],"#,
            r#""predicateType":"p/v1","predicate":"said"}"#
        );
        assert_eq!(text, expected);
        assert_eq!(Statement::open(&envelope, &key().public(), "p/v1"), Ok(statement()));
        // Twins: another key, another version.
        let other = SigningKey::from_seed([2; 32]).unwrap().public();
        assert!(matches!(Statement::<String>::open(&envelope, &other, "p/v1"), Err(SealError::KeyId { .. })));
        let newer = Statement::<String>::open(&envelope, &key().public(), "p/v2").unwrap_err();
        assert_eq!(newer.to_string(), "predicateType `p/v1`: `p/v2` expected; a newer tribunal may read it");
    }

    #[test]
    fn what_is_no_statement_is_refused() {
        for bytes in ["", "[]", "{}", r#"{"_type":"https://in-toto.io/Statement/v0.1"}"#] {
            assert!(Statement::<String>::read(bytes.as_bytes(), "p/v1").is_err(), "{bytes}");
        }
        let mut subject = Subject::new("a".to_owned(), Digest::of(b""));
        assert_eq!(subject.sha256(), Some(Digest::of(b"")));
        subject.digest.insert("sha256".to_owned(), "AB".to_owned());
        assert_eq!(subject.sha256(), None);
    }
}
