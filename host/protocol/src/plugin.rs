//! What a plugin is and what it says of itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// The three kinds of plugin, one for each world of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginKind {
    /// Gives an agent something to do with the database.
    Tool,
    /// Decides what the work was worth.
    Verifier,
    /// Answers the agent's questions.
    User,
}

impl fmt::Display for PluginKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PluginKind::Tool => "tool",
            PluginKind::Verifier => "verifier",
            PluginKind::User => "user",
        })
    }
}

/// What becomes of a plugin that imports WASI, as components of other languages do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wasi {
    /// It is not loaded.
    #[default]
    Refused,
    /// Each interface is met by a stand-in that grants nothing and gives the same every time.
    Inert,
}

/// How a suite has its plugins loaded: `[plugins]` of suite.toml.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Loading {
    /// What becomes of plugins that import WASI.
    pub wasi: Wasi,
    /// Another limit than the usual one: Python's interpreter takes longer to compile.
    pub compile_seconds: Option<u64>,
}

impl Loading {
    /// The limits, with those that are set here in their places.
    #[must_use]
    pub fn limits(&self, limits: Limits) -> Limits {
        Limits { compile_seconds: self.compile_seconds.unwrap_or(limits.compile_seconds), ..limits }
    }
}

/// One tool, as an agent sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Its name, unique among the tools of a task.
    pub name: String,
    /// What it does, for agents.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub arguments: serde_json::Value,
}

/// What a plugin says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// Its tools; empty for verifiers and users.
    pub tools: Vec<ToolSpec>,
    /// The contract that it requests, as TOML.
    pub contract: String,
}
