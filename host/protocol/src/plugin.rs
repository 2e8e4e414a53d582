//! What a plugin is and what it says of itself.

use std::fmt;

use serde::{Deserialize, Serialize};

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
