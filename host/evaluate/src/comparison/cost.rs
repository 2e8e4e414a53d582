//! What episodes cost: compared over tasks that both sides did right and compliantly, and told per
//! success over all judged episodes.

use serde::{Deserialize, Serialize};

use super::arm::{Record, TaskRecords};
use super::pairs::Pair;
use crate::estimate::ratio;
use crate::metrics::bootstrap::{Clusters, means};
use crate::metrics::{Bootstrap, Interval};
use crate::release::{CostItem, Prices};
use crate::summary::Outcome;

/// What right and compliant episodes cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostComparison {
    /// How many decisive tasks both sides did right and compliantly at least once: what the lines
    /// rest on.
    pub tasks: u64,
    /// One line an item; only what the episodes say something of.
    pub lines: Vec<CostLine>,
    /// What a success takes, failed attempts included.
    pub per_success: Vec<PerSuccess>,
    /// What a success is estimated to cost, where there are prices.
    pub estimated: Option<Estimated>,
}

/// One item, as the mean over tasks of the mean over right and compliant episodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostLine {
    /// What is counted.
    pub item: CostItem,
    /// The candidate's mean.
    pub candidate: Interval,
    /// The baseline's mean.
    pub baseline: Interval,
    /// The candidate's less the baseline's, task by task.
    pub difference: Interval,
    /// The candidate's mean over the baseline's; none where the baseline uses nothing.
    pub ratio: Option<f64>,
}

/// What all judged episodes used together, for every success among them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerSuccess {
    /// What is counted.
    pub item: CostItem,
    /// Of the candidate; none where nothing succeeded.
    pub candidate: Option<f64>,
    /// Of the baseline.
    pub baseline: Option<f64>,
}

/// Estimates from the protocol's prices: no invoice says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimated {
    /// The prices.
    pub prices: Prices,
    /// The cost of a success: of all judged episodes, over those that passed.
    pub success: [Option<f64>; 2],
    /// The cost of a reliable task: of all judged episodes, over the tasks passed every time.
    pub reliable_task: [Option<f64>; 2],
}

/// How much of an item one episode used; none where that was not recorded.
fn used(record: &Record, item: CostItem) -> Option<u64> {
    let spent = record.spent.as_ref();
    match item {
        CostItem::ToolCalls => Some(record.steps),
        CostItem::RowsScanned => Some(record.usage.rows_scanned),
        CostItem::Fuel => Some(record.usage.fuel),
        CostItem::TokensRead => spent.map(|spent| spent.tokens_read),
        CostItem::TokensCached => spent.map(|spent| spent.tokens_cached),
        CostItem::TokensWritten => spent.map(|spent| spent.tokens_written),
        CostItem::Milliseconds => spent.and_then(|spent| spent.milliseconds),
    }
}

/// The mean over the task's right and compliant episodes; none where there are none, or where one
/// of them does not say.
fn mean_cost(task: &TaskRecords, item: CostItem) -> Option<f64> {
    let records = task.records.values().filter(|record| record.compliant());
    let amounts: Vec<u64> = records.map(|record| used(record, item)).collect::<Option<_>>()?;
    (!amounts.is_empty()).then(|| ratio(amounts.iter().sum(), amounts.len() as u64))
}

impl CostComparison {
    pub(crate) fn of(pairs: &[Pair<'_>], prices: Option<&Prices>, settings: Bootstrap) -> CostComparison {
        let right = |task: &TaskRecords| task.records.values().any(Record::compliant);
        let both: Vec<Pair<'_>> =
            pairs.iter().filter(|pair| right(pair.candidate) && right(pair.baseline)).copied().collect();
        let clusters = Clusters::by(both.iter().map(|pair| pair.candidate.schema.as_str()));
        let lines = CostItem::ALL.into_iter().filter_map(|item| line(&both, &clusters, item, settings));
        let per_success = CostItem::ALL.into_iter().filter_map(|item| per_success(pairs, item));
        CostComparison {
            tasks: both.len() as u64,
            lines: lines.collect(),
            per_success: per_success.collect(),
            estimated: prices.map(|prices| estimated(pairs, prices)),
        }
    }
}

fn line(both: &[Pair<'_>], clusters: &Clusters, item: CostItem, settings: Bootstrap) -> Option<CostLine> {
    let ours: Vec<_> = both.iter().map(|pair| mean_cost(pair.candidate, item)).collect();
    let theirs: Vec<_> = both.iter().map(|pair| mean_cost(pair.baseline, item)).collect();
    // An item that only one side records cannot be compared.
    let known = |(ours, theirs): (&Option<f64>, &Option<f64>)| Some((*ours)? - (*theirs)?);
    let difference: Vec<_> = ours.iter().zip(&theirs).map(known).collect();
    if difference.iter().any(Option::is_none) {
        return None;
    }
    let found = means(clusters, &[ours, theirs, difference], settings);
    let (candidate, baseline, difference) = (found[0]?, found[1]?, found[2]?);
    let nothing = candidate.value <= 0.0 && baseline.value <= 0.0;
    let at_least_none = |found: Interval| Interval { low: found.low.max(0.0), ..found };
    (!nothing).then(|| CostLine {
        item,
        candidate: at_least_none(candidate),
        baseline: at_least_none(baseline),
        difference,
        ratio: (baseline.value > 0.0).then(|| candidate.value / baseline.value),
    })
}

/// What all judged episodes of one side used, how many passed, and how many tasks passed every
/// time; none where an episode does not say.
fn total<'a>(tasks: impl Iterator<Item = &'a TaskRecords>, item: CostItem) -> Option<(u64, u64, u64)> {
    let (mut amount, mut passed, mut reliable) = (0, 0, 0);
    for task in tasks {
        let attempts = task.attempts();
        passed += attempts.passed;
        reliable += u64::from(attempts.all() > 0 && attempts.passed == attempts.all());
        for record in task.records.values().filter(|record| record.outcome != Outcome::Void) {
            amount += used(record, item)?;
        }
    }
    Some((amount, passed, reliable))
}

fn per_success(pairs: &[Pair<'_>], item: CostItem) -> Option<PerSuccess> {
    let ours = total(pairs.iter().map(|pair| pair.candidate), item);
    let theirs = total(pairs.iter().map(|pair| pair.baseline), item);
    let amount = |found: Option<(u64, u64, u64)>| found.map_or(0, |found| found.0);
    let each = |found: Option<(u64, u64, u64)>| {
        found.filter(|(_, passed, _)| *passed > 0).map(|(amount, passed, _)| ratio(amount, passed))
    };
    let found = PerSuccess { item, candidate: each(ours), baseline: each(theirs) };
    (amount(ours) + amount(theirs) > 0).then_some(found)
}

fn estimated(pairs: &[Pair<'_>], prices: &Prices) -> Estimated {
    let side = |pick: for<'p, 'a> fn(&'p Pair<'a>) -> &'a TaskRecords| {
        let mut sum = 0.0;
        let (mut passed, mut reliable) = (0, 0);
        for item in CostItem::ALL.into_iter().filter(|item| prices.of(*item) > 0.0) {
            // What has a price and is not recorded makes the sum unknown, not smaller.
            let found = total(pairs.iter().map(pick), item)?;
            sum += ratio(found.0, 1) * prices.of(item);
            (passed, reliable) = (found.1, found.2);
        }
        Some((sum, passed, reliable))
    };
    let sides = [side(|pair| pair.candidate), side(|pair| pair.baseline)];
    let over = |count: fn(&(f64, u64, u64)) -> u64| {
        sides.map(|found| found.filter(|found| count(found) > 0).map(|found| found.0 / ratio(count(&found), 1)))
    };
    Estimated { prices: prices.clone(), success: over(|found| found.1), reliable_task: over(|found| found.2) }
}
