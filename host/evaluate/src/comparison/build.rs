//! Makes a comparison of two sides.

use std::collections::{BTreeMap, BTreeSet};

use super::cost::CostComparison;
use super::pairs::{CompareError, Pair, Pairs};
use super::{Arm, ArmInfo, COMPARISON_FORMAT, Comparison, Rechecked, Shift, Side, TaskRecords};
use super::{scores, show, warnings};
use crate::metrics::bootstrap::{Clusters, means};
use crate::metrics::exact::{Share, clopper_pearson};
use crate::metrics::{Bootstrap, Interval, Measure};
use crate::release::{Clause, Decision, Protocol};
use crate::summary::{PolicySummary, Summary, Tally};

/// Compares a candidate with a baseline, and decides by a protocol. `recheck` is the candidate run
/// again in its serving configuration. `plug_in` adds the biased plug-in estimates, by that name.
///
/// # Errors
/// Sides that cannot be compared: one without episodes, a task that is not the same on both, no
/// task in common.
pub fn compare(
    candidate: Arm,
    baseline: Arm,
    recheck: Option<Arm>,
    protocol: &Protocol,
    plug_in: bool,
) -> Result<Comparison, CompareError> {
    for arm in [Some(&candidate), Some(&baseline), recheck.as_ref()].into_iter().flatten() {
        whole(arm)?;
    }
    let (candidate, baseline) = (candidate.finish(), baseline.finish());
    let labels = [candidate.0.label.clone(), baseline.0.label.clone()];
    let labels = [labels[0].as_str(), labels[1].as_str()];
    let pairs = Pairs::of(&candidate.2, &baseline.2, labels)?;
    let decisive = pairs.within(&protocol.splits);
    let paired = pairs.paired(&protocol.splits);
    let settings = protocol.bootstrap;
    let recheck = recheck.map(|arm| rechecked(arm, &decisive, protocol)).transpose()?;
    let measures = measures(protocol, paired.attempts, plug_in);
    let mut comparison = Comparison {
        format: COMPARISON_FORMAT.to_owned(),
        decision: Decision::default(),
        warnings: Vec::new(),
        groups: scores::groups(&pairs.pairs, &decisive, &measures, settings),
        curve: scores::curve(&decisive, paired.attempts),
        cost: CostComparison::of(&decisive, protocol.prices.as_ref(), settings),
        shown: show::choose(&decisive, labels),
        candidate: side(candidate.0.clone(), candidate.1.clone()),
        baseline: side(baseline.0.clone(), baseline.1.clone()),
        splits: protocol.splits.clone(),
        paired,
        recheck,
        bootstrap: settings,
        protocol: protocol.clone(),
    };
    comparison.warnings = warnings::of(&comparison, [&candidate.1, &baseline.1]);
    comparison.decision = Decision::of(protocol, &comparison);
    Ok(comparison)
}

fn whole(arm: &Arm) -> Result<(), CompareError> {
    let label = || arm.info.label.clone();
    if arm.tasks.is_empty() {
        return Err(CompareError::Empty { label: label() });
    }
    match arm.mixed.first() {
        Some(task) => Err(CompareError::Mixed { label: label(), task: task.clone() }),
        None => Ok(()),
    }
}

/// The measures: 1, 2, 4, .. attempts and all of them, and what the protocol asks for.
fn measures(protocol: &Protocol, attempts: u64, plug_in: bool) -> Vec<Measure> {
    let powers = (0..).map(|i| 1_u64 << i).take_while(|k| *k < attempts);
    let ks: Vec<u64> = powers.chain((attempts > 0).then_some(attempts)).collect();
    let mut found: BTreeSet<Measure> = BTreeSet::from([Measure::PassAt(1), Measure::EveryTime]);
    for k in ks.into_iter().filter(|k| *k > 1) {
        found.extend([Measure::PassAt(k), Measure::PassHat(k)]);
        found.extend(plug_in.then_some(Measure::PlugIn(k)));
    }
    found.extend(protocol.clauses.iter().filter_map(|clause| match clause {
        Clause::Gain(clause) => Some(clause.measure),
        Clause::Level(clause) => Some(clause.measure),
        Clause::Recheck(clause) => Some(clause.measure),
        Clause::Violations(_) | Clause::Coverage(_) | Clause::Voids(_) | Clause::Cost(_) => None,
    }));
    found.into_iter().collect()
}

fn side(info: ArmInfo, summary: Summary) -> Side {
    let policy = summary.policies.into_iter().next().unwrap_or_else(|| nothing(&info.label));
    let episodes = policy.total.episodes();
    Side {
        violations: share(policy.episodes_with_violations, episodes),
        void: share(policy.total.void, episodes),
        info,
        summary: policy,
        voids: summary.voids,
        left_out: summary.left_out,
        versions: summary.versions,
    }
}

fn share(count: u64, of: u64) -> Share {
    clopper_pearson(count, of).unwrap_or(Share { count, of, low: 0.0, high: 1.0 })
}

/// The summary of a policy without episodes.
fn nothing(label: &str) -> PolicySummary {
    PolicySummary {
        policy: label.to_owned(),
        tasks: 0,
        attempts: 0,
        total: Tally::default(),
        pass_at_1: None,
        pass: Vec::new(),
        tasks_passed_every_time: 0,
        wrong_on_hidden_data: 0,
        cells: Vec::new(),
        families: Vec::new(),
        schemas: Vec::new(),
        reasons: Vec::new(),
        episodes_with_violations: 0,
        violations: Vec::new(),
        cost: crate::summary::Cost::default(),
    }
}

fn rechecked(arm: Arm, decisive: &[Pair<'_>], protocol: &Protocol) -> Result<Rechecked, CompareError> {
    let (info, summary, tasks) = arm.finish();
    let ours: BTreeMap<String, TaskRecords> =
        decisive.iter().map(|pair| (pair.task.to_owned(), pair.candidate.clone())).collect();
    let pairs = match ours.is_empty() {
        true => Vec::new(),
        false => Pairs::of(&tasks, &ours, [&info.label, "the candidate"])?
            .pairs
            .iter()
            .map(|p| (p.task.to_owned(), p.candidate.schema.clone(), p.attempts))
            .collect(),
    };
    let asked = protocol.clauses.iter().filter_map(|clause| match clause {
        Clause::Recheck(clause) => Some(clause.measure),
        _ => None,
    });
    let side = side(info, summary);
    Ok(Rechecked {
        tasks: pairs.len() as u64,
        violations: side.violations,
        info: side.info,
        shifts: asked.map(|measure| Shift { measure, shift: shift(&pairs, measure, protocol.bootstrap) }).collect(),
    })
}

type Compared = (String, String, (crate::metrics::Attempts, crate::metrics::Attempts));

fn shift(pairs: &[Compared], measure: Measure, settings: Bootstrap) -> Option<Interval> {
    let clusters = Clusters::by(pairs.iter().map(|(_, schema, _)| schema.as_str()));
    let column = pairs.iter().map(|(_, _, (again, before))| Some(measure.of(again)? - measure.of(before)?)).collect();
    means(&clusters, &[column], settings).into_iter().next().flatten()
}
