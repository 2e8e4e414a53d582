//! The protocol of a release decision: a TOML file that says when a candidate may take the place
//! of a baseline.

use serde::{Deserialize, Serialize};
use tribunal_protocol::task::Split;

use crate::metrics::{Bootstrap, Measure};

/// The newest version of the file that this build reads.
pub const PROTOCOL_FORMAT: u32 = 1;

/// The protocol that is used where none is given.
pub const DEFAULT_PROTOCOL: &str = include_str!("default.toml");

/// When a candidate may take the place of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Protocol {
    /// [`PROTOCOL_FORMAT`].
    pub format: u32,
    /// Its name, for reports.
    pub name: String,
    /// The splits whose tasks the clauses on correctness look at.
    pub splits: Vec<Split>,
    /// How intervals are made.
    pub bootstrap: Bootstrap,
    /// The clauses: the candidate ships if all of them pass.
    pub clauses: Vec<Clause>,
    /// What things cost, if anybody says so.
    pub prices: Option<Prices>,
}

/// One condition. Shares are in percent, gains in percentage points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Clause {
    /// At most so many episodes of the candidate in which the contract stopped something, over at
    /// least so many episodes.
    Violations(Violations),
    /// The same tasks on both sides, no trace left out, and enough of everything.
    Coverage(Coverage),
    /// Less than so many percent of either side's episodes void.
    Voids(Voids),
    /// A measure of the candidate against that of the baseline on the same tasks.
    Gain(Gain),
    /// A measure of the candidate alone.
    Level(Level),
    /// The candidate, run again as it will be served, scores about the same.
    Recheck(Recheck),
    /// The candidate's mean cost over the baseline's, on tasks that both did right.
    Cost(CostClause),
}

/// See [`Clause::Violations`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Violations {
    /// How many episodes with a violation are borne.
    pub at_most: u64,
    /// Over fewer episodes than this nothing is known.
    pub episodes: u64,
}

/// See [`Clause::Coverage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Judged attempts at every task, of either side.
    pub attempts: u64,
    /// Tasks in the splits that are looked at.
    pub tasks: u64,
    /// Schemas that these come from.
    pub schemas: u64,
}

/// See [`Clause::Voids`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voids {
    /// Percent.
    pub below: f64,
}

/// Which figure of an interval is held against the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The estimate itself.
    #[default]
    Estimate,
    /// The lower end of the 95 % interval.
    Lower,
}

/// Over what a clause is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Every split that is looked at.
    Split,
    /// Every kind in them.
    Kind,
    /// Every family in them.
    Family,
    /// Every schema in them.
    Schema,
}

impl Each {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Each::Split => "split",
            Each::Kind => "kind",
            Each::Family => "family",
            Each::Schema => "schema",
        }
    }
}

/// See [`Clause::Gain`]: exactly one of `above` and `at_least`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// What is measured.
    pub measure: Measure,
    /// Which figure counts.
    #[serde(default)]
    pub bound: Bound,
    /// The figure must be above so many points.
    pub above: Option<f64>,
    /// The figure must be at least so many points.
    pub at_least: Option<f64>,
    /// Once for each of these, instead of over all.
    pub each: Option<Each>,
}

/// See [`Clause::Level`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// What is measured.
    pub measure: Measure,
    /// Which figure counts.
    #[serde(default)]
    pub bound: Bound,
    /// Percent.
    pub at_least: f64,
    /// Once for each of these, instead of over all.
    pub each: Option<Each>,
}

/// See [`Clause::Recheck`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recheck {
    /// What is measured.
    pub measure: Measure,
    /// Points, in either direction.
    pub within: f64,
}

/// See [`Clause::Cost`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostClause {
    /// What is counted.
    pub item: CostItem,
    /// The candidate's mean over the baseline's.
    pub ratio_at_most: f64,
}

/// What an episode costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostItem {
    /// Steps: every action is a tool call.
    ToolCalls,
    /// Rows that the engine read from storage.
    RowsScanned,
    /// Fuel units of the tools.
    Fuel,
    /// Tokens that a model read anew.
    TokensRead,
    /// Tokens that a model read from its cache.
    TokensCached,
    /// Tokens that a model wrote.
    TokensWritten,
    /// Time, in milliseconds.
    Milliseconds,
}

impl CostItem {
    /// All items, in the order of tables.
    pub const ALL: [CostItem; 7] = [
        CostItem::ToolCalls,
        CostItem::RowsScanned,
        CostItem::Fuel,
        CostItem::TokensRead,
        CostItem::TokensCached,
        CostItem::TokensWritten,
        CostItem::Milliseconds,
    ];

    /// As tables show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CostItem::ToolCalls => "tool calls",
            CostItem::RowsScanned => "rows scanned",
            CostItem::Fuel => "fuel",
            CostItem::TokensRead => "tokens read",
            CostItem::TokensCached => "tokens cached",
            CostItem::TokensWritten => "tokens written",
            CostItem::Milliseconds => "milliseconds",
        }
    }
}

/// What things cost. What is not named is free.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// What the prices are in.
    pub currency: String,
    /// A million tokens read anew.
    #[serde(default)]
    pub million_tokens_read: f64,
    /// A million tokens read from a cache.
    #[serde(default)]
    pub million_tokens_cached: f64,
    /// A million tokens written.
    #[serde(default)]
    pub million_tokens_written: f64,
    /// A billion units of fuel.
    #[serde(default)]
    pub billion_fuel: f64,
    /// A million rows scanned.
    #[serde(default)]
    pub million_rows_scanned: f64,
    /// An hour of episodes, one after another.
    #[serde(default)]
    pub hour: f64,
}

impl Prices {
    /// What one unit of an item costs.
    #[must_use]
    pub fn of(&self, item: CostItem) -> f64 {
        match item {
            CostItem::ToolCalls => 0.0,
            CostItem::RowsScanned => self.million_rows_scanned / 1e6,
            CostItem::Fuel => self.billion_fuel / 1e9,
            CostItem::TokensRead => self.million_tokens_read / 1e6,
            CostItem::TokensCached => self.million_tokens_cached / 1e6,
            CostItem::TokensWritten => self.million_tokens_written / 1e6,
            CostItem::Milliseconds => self.hour / 3.6e6,
        }
    }
}
