//! Guarded changes of state: refunds, merged accounts, status transitions. Which tables and
//! columns carry them, the suite's settings say; each tool works only where they do:
//!
//! ```json
//! {
//!   "refund": {
//!     "source": {"table": "payments", "id": "id", "amount": "amount",
//!                "status": "status", "refundable": ["settled"], "account": "account_id"},
//!     "refunds": {"table": "refunds", "id": "id", "source": "payment_id", "amount": "amount",
//!                 "reason": "reason", "issued_on": "issued_on", "account": "account_id",
//!                 "constants": {"status": "issued"}, "void": {"status": "withdrawn"}},
//!     "clock": "2025-06-30"
//!   },
//!   "merge": {
//!     "accounts": {"table": "accounts", "id": "id", "status": "status",
//!                  "closed_value": "closed", "merged_into": "merged_into"},
//!     "children": [{"table": "payments", "column": "account_id"}]
//!   },
//!   "status": {
//!     "ticket": {"table": "tickets", "id": "id", "status": "status",
//!                "allowed": {"open": ["pending", "closed"], "pending": ["closed"]}}
//!   }
//! }
//! ```
//! `status` and `refundable` of a source go together and may be left out, as may `account`,
//! `issued_on`, `constants`, `void` and `merged_into`. A refund that `void` marks does not count as
//! given back. Identifiers come from the settings alone and are
//! quoted; values travel as parameters. If a call fails, the host undoes what it changed.

mod merge;
mod refund;
mod rows;
mod settings;
mod status;

use tribunal_kit::{Description, Failure, Host, Output, Tool, arguments};

use crate::settings::Settings;

/// The plugin.
#[derive(Debug)]
pub struct Ledger;

const CONTRACT: &str = r#"[contract]
name = "tool-ledger"

[[read]]
table = "*"
columns = ["*"]

[[write]]
table = "*"
verbs = ["insert", "update"]
columns = ["*"]
"#;

const ISSUE_REFUND: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["source_id", "amount", "reason"],
  "properties": {
    "source_id": {"type": ["integer", "string"], "description": "The id of what is refunded, such as a payment or an order."},
    "amount": {"type": ["number", "string"], "description": "The exact amount, such as \"12.50\" or 12.5: above 0, and not above what was charged and not yet refunded."},
    "reason": {"type": "string", "minLength": 1, "description": "Why the money is given back."}
  }
}"#;

const MERGE_ACCOUNTS: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["keep_id", "close_id"],
  "properties": {
    "keep_id": {"type": ["integer", "string"], "description": "The id of the account that stays."},
    "close_id": {"type": ["integer", "string"], "description": "The id of the account that is closed; all that belongs to it goes to the other one."}
  }
}"#;

const SET_STATUS: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["entity", "id", "status"],
  "properties": {
    "entity": {"type": "string", "description": "What kind of thing it is, such as ticket."},
    "id": {"type": ["integer", "string"], "description": "Its id."},
    "status": {"type": "string", "description": "The new status. Only some transitions are allowed."}
  }
}"#;

impl Tool for Ledger {
    fn describe() -> Description {
        Description::new("tool-ledger", env!("CARGO_PKG_VERSION"))
            .tool("issue_refund", "Gives money back: records one refund of a charge, all rules checked.", ISSUE_REFUND)
            .tool(
                "merge_accounts",
                "Merges two open accounts: moves all that belongs to one to the other, and closes it.",
                MERGE_ACCOUNTS,
            )
            .tool("set_status", "Sets the status of one thing, where the transition is allowed.", SET_STATUS)
            .contract(CONTRACT)
    }

    fn call<H: Host>(host: &H, name: &str, text: &str) -> Result<Output, Failure> {
        match name {
            "issue_refund" => {
                let wanted = arguments::parse(text)?;
                let rule = Settings::read(host)?.refund.ok_or_else(|| not_here("refunds"))?;
                refund::issue(&host.open("agent")?, &rule, &wanted)
            }
            "merge_accounts" => {
                let wanted = arguments::parse(text)?;
                let rule = Settings::read(host)?.merge.ok_or_else(|| not_here("merges"))?;
                merge::accounts(&host.open("agent")?, &rule, &wanted)
            }
            "set_status" => {
                let wanted = arguments::parse(text)?;
                let rules = Settings::read(host)?.status;
                if rules.is_empty() {
                    return Err(not_here("status changes"));
                }
                status::set(&host.open("agent")?, &rules, &wanted)
            }
            _ => Err(Failure::no_tool(name)),
        }
    }
}

fn not_here(what: &str) -> Failure {
    Failure::unsupported(format!("there are no {what} here"))
}

tribunal_kit::tool!(Ledger);

#[cfg(test)]
#[path = "../../kit/testing/sqlite.rs"]
mod sqlite;

#[cfg(test)]
mod tests;
