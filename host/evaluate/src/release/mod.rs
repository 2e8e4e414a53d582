//! The release decision: a protocol, and what it says of a comparison.

mod clauses;
mod protocol;
mod read;

use serde::{Deserialize, Serialize};

pub use protocol::{
    Bound, Clause, CostClause, CostItem, Coverage, DEFAULT_PROTOCOL, Each, Gain, Level, PROTOCOL_FORMAT, Prices,
    Protocol, Recheck, Violations, Voids,
};
pub use read::ProtocolError;

use crate::comparison::Comparison;

/// Whether a candidate may take the place of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Whether every clause passes.
    pub ship: bool,
    /// Every clause: access first, then correctness, then cost.
    pub rulings: Vec<Ruling>,
}

/// What became of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// Too little is known to say; the candidate does not ship on that.
    Undecided,
}

impl Finding {
    /// As reports say it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Finding::Pass => "pass",
            Finding::Fail => "fail",
            Finding::Undecided => "cannot be decided",
        }
    }
}

/// One clause and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruling {
    /// What is demanded, of what.
    pub clause: String,
    /// What was found, in words.
    pub figure: String,
    /// What was demanded, in words.
    pub bound: String,
    /// What became of it.
    pub finding: Finding,
    /// Why it cannot be decided, or what to know of the figure; empty where there is nothing.
    pub why: String,
}

impl Decision {
    /// Rules on every clause of a protocol. Clauses are put in order: access, coverage,
    /// correctness, recheck, cost; within these they stay as they are.
    #[must_use]
    pub fn of(protocol: &Protocol, comparison: &Comparison) -> Decision {
        let mut clauses: Vec<&Clause> = protocol.clauses.iter().collect();
        clauses.sort_by_key(|clause| order(clause));
        let rulings: Vec<Ruling> = clauses.into_iter().map(|clause| clauses::rule(clause, comparison)).collect();
        let ship = !rulings.is_empty() && rulings.iter().all(|ruling| ruling.finding == Finding::Pass);
        Decision { ship, rulings }
    }

    /// The decision in one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        if self.ship { "ship" } else { "no ship" }
    }

    /// The clauses that stand in the way.
    pub fn against(&self) -> impl Iterator<Item = &Ruling> {
        self.rulings.iter().filter(|ruling| ruling.finding != Finding::Pass)
    }
}

fn order(clause: &Clause) -> u8 {
    match clause {
        Clause::Violations(_) => 0,
        Clause::Coverage(_) | Clause::Voids(_) => 1,
        Clause::Gain(_) | Clause::Level(_) => 2,
        Clause::Recheck(_) => 3,
        Clause::Cost(_) => 4,
    }
}
