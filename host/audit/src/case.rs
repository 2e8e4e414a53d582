//! A case: what is put to the verifier under trial, and what must become of it.

use std::sync::Arc;

use tribunal_episode::Exhibit;
use tribunal_protocol::evidence::Submission;

use crate::kind::CaseKind;
use crate::rules::Gold;

/// One case of a battery.
#[derive(Clone, Debug)]
pub struct Case {
    /// `TASK/KIND/NUMBER`: the same seed, suite and task give the same name to the same case.
    pub id: String,
    /// What it is about, and so what must become of it.
    pub kind: CaseKind,
    /// The instance of the data, 0 the visible one.
    pub instance: usize,
    /// The expectation that the verifier is given.
    pub expectation: Arc<str>,
    /// All else that it is given.
    pub exhibit: Exhibit,
    /// How the case was made, for people.
    pub how: String,
    /// The gold answer that the submission is held against, where the case is about a table: what
    /// such a case is shrunk by.
    pub(crate) gold: Option<Gold>,
}

impl Case {
    /// The answer handed in, if one was.
    #[must_use]
    pub fn answer(&self) -> Option<&tribunal_protocol::Table> {
        match &self.exhibit.submission {
            Submission::Answer(table) => Some(table),
            Submission::Done | Submission::Abstention { .. } => None,
        }
    }
}
