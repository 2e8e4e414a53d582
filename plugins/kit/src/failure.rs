//! Failures, by code.

use std::fmt;

use crate::{Code, Failure};

impl Failure {
    /// A failure of `code`; the message is one line for the agent.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }

    /// The request itself is wrong: arguments, or a rule of the business.
    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(Code::Invalid, message)
    }

    /// No such table, column, tool or thing.
    pub fn unknown(message: impl Into<String>) -> Failure {
        Failure::new(Code::Unknown, message)
    }

    /// Well-formed, but not offered here.
    pub fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(Code::Unsupported, message)
    }

    /// It was tried and it failed; trying again may help.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure::new(Code::Failed, message)
    }

    /// The answer to a call of a tool that the plugin does not have.
    #[must_use]
    pub fn no_tool(name: &str) -> Failure {
        Failure::unknown(format!("no tool {name} here"))
    }
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
