//! Which tables and columns carry the tools.

use std::collections::BTreeMap;

use serde::Deserialize;
use tribunal_kit::{Failure, Host};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default)]
    pub(crate) refund: Option<Refund>,
    #[serde(default)]
    pub(crate) merge: Option<Merge>,
    /// By entity.
    #[serde(default)]
    pub(crate) status: BTreeMap<String, Transitions>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refund {
    pub(crate) source: Source,
    pub(crate) refunds: Refunds,
    /// Today, as ISO text.
    pub(crate) clock: String,
}

/// What is refunded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) amount: String,
    #[serde(default)]
    pub(crate) status: Option<String>,
    /// In which states it can be refunded.
    #[serde(default)]
    pub(crate) refundable: Vec<String>,
    #[serde(default)]
    pub(crate) account: Option<String>,
}

/// Where refunds are recorded.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refunds {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) amount: String,
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) issued_on: Option<String>,
    /// Takes the source's account.
    #[serde(default)]
    pub(crate) account: Option<String>,
    /// Further columns with what they always take.
    #[serde(default)]
    pub(crate) constants: BTreeMap<String, String>,
    /// Columns with what marks a refund that does not count: withdrawn, deleted.
    #[serde(default)]
    pub(crate) void: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Merge {
    pub(crate) accounts: Accounts,
    #[serde(default)]
    pub(crate) children: Vec<Child>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accounts {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) status: String,
    /// The status of a closed account.
    pub(crate) closed_value: String,
    #[serde(default)]
    pub(crate) merged_into: Option<String>,
}

/// A column that refers to accounts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Child {
    pub(crate) table: String,
    pub(crate) column: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transitions {
    pub(crate) table: String,
    pub(crate) id: String,
    pub(crate) status: String,
    /// From each status to those that may follow it.
    pub(crate) allowed: BTreeMap<String, Vec<String>>,
}

impl Settings {
    pub(crate) fn read(host: &impl Host) -> Result<Settings, Failure> {
        serde_json::from_str(&host.settings()).map_err(|fault| {
            // For the suite's author; the agent learns only that it does not work.
            host.log(&format!("settings of tool-ledger: {fault}"));
            Failure::unsupported("the ledger is not set up here")
        })
    }
}
