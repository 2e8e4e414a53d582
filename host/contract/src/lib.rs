//! Contracts: what the holder of a session may touch, and how much of it. Pure: no IO.
//!
//! A [`Contract`] is written in TOML by the author of a plugin (a request) or of a task (a grant).
//! Two contracts are combined by [`Contract::intersect`], which only narrows. Against the tables
//! of a database, [`Contract::resolve`] turns the result into an [`Effective`] contract: names
//! become places, `*` becomes what there is, row filters become conditions that can be evaluated.
//!
//! ```
//! use tribunal_contract::Contract;
//!
//! let contract = Contract::parse(r#"
//!     [contract]
//!     name = "billing-analyst"
//!     [[read]]
//!     table = "invoices"
//!     columns = ["id", "total"]
//!     rows = "voided = FALSE"
//!     [budget]
//!     bytes_returned = "1 MiB"
//! "#)?;
//! assert_eq!(contract.intersect(&contract), contract);
//! # Ok::<(), tribunal_contract::ContractError>(())
//! ```

mod budget;
mod check;
mod contract;
mod effective;
mod error;
mod explain;
mod filter;
mod intersect;
mod names;
mod read;
mod resolve;
mod write;

pub use budget::{Allowance, Budget};
pub use check::{Access, Amount, Check, Holder, Open, Reach, Refusal, check};
pub use contract::{Columns, Contract, ReadGrant, WriteGrant};
pub use effective::{Effective, RowRule, TableGrant, WriteRule};
pub use error::ContractError;
pub use explain::{ExplainRow, Wanted};
pub use filter::{Condition, Filter};
pub use names::nearest;
