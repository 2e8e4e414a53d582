//! Why something did not happen, as an agent may read it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The stable code of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// The contract forbids it, and its holder may know that.
    Denied,
    /// No such thing; what a contract hides is unknown too.
    Unknown,
    /// Well-formed, but outside what the engine runs.
    Unsupported,
    /// A budget is spent.
    Quota,
    /// The request itself is wrong.
    Invalid,
    /// It was tried and it failed; trying again may help.
    Failed,
}

impl Code {
    /// The name, as agents read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Code::Denied => "denied",
            Code::Unknown => "unknown",
            Code::Unsupported => "unsupported",
            Code::Quota => "quota",
            Code::Invalid => "invalid",
            Code::Failed => "failed",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure with its message. It never tells anything that the contract hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{code}: {message}")]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// One line for the agent.
    pub message: String,
}

impl Failure {
    /// A failure of `code`.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// [`Code::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(Code::Invalid, message)
    }

    /// [`Code::Unknown`].
    pub fn unknown(message: impl Into<String>) -> Failure {
        Failure::new(Code::Unknown, message)
    }

    /// [`Code::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(Code::Unsupported, message)
    }

    /// [`Code::Denied`].
    pub fn denied(message: impl Into<String>) -> Failure {
        Failure::new(Code::Denied, message)
    }

    /// [`Code::Quota`].
    pub fn quota(message: impl Into<String>) -> Failure {
        Failure::new(Code::Quota, message)
    }

    /// [`Code::Failed`].
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::new(Code::Failed, message)
    }
}
