//! Everything above the episodes: what ran, who scored what, and why not.

use std::collections::BTreeSet;

use serde::Serialize;
use tribunal_protocol::Digest;

use super::RunInfo;
use super::heat::{HeatView, Matrix, kinds};
use super::reasons::{Long, Named, ReasonView, ViolationView, VoidView, named, reasons, violations, voids};
use crate::summary::{PolicySummary, Summary, Versions};
use crate::text::{count, grouped, mean, of, percent, shown};

/// The most characters of a name or a message.
pub(super) const TEXT: usize = 400;

/// The page above the episodes.
#[derive(Debug, Serialize)]
pub(crate) struct Overview {
    name: String,
    lead: Vec<String>,
    facts: Vec<Fact>,
    warnings: Vec<String>,
    interval: String,
    policies: Vec<PolicyView>,
    /// The numbers of attempts beyond the first that reliability is told for.
    ks: Vec<u64>,
    any_partial: bool,
    kinds: Vec<&'static str>,
    heat: Vec<HeatView>,
    matrices: Vec<Matrix>,
    reasons: Vec<ReasonView>,
    violations: Vec<ViolationView>,
    voids: Long<VoidView>,
    refused: Long<Named>,
    left_out: Long<Named>,
    versions: Vec<VersionView>,
    tasks_digest: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Fact {
    name: &'static str,
    value: String,
}

#[derive(Debug, Serialize)]
struct PolicyView {
    name: String,
    /// In percent of the bar's width.
    value: String,
    low: String,
    high: String,
    share: String,
    interval: String,
    passed: String,
    partial: String,
    zero: String,
    invalid: String,
    void: String,
    episodes: String,
    every_time: String,
    hidden: String,
    stopped: String,
    cost_episodes: String,
    steps: String,
    fuel: String,
    rows: String,
    curve: Vec<PassView>,
}

#[derive(Debug, Serialize)]
struct PassView {
    any: String,
    all: String,
    /// `of 5 tasks`, where not all tasks had so many judged attempts.
    of: String,
}

#[derive(Debug, Serialize)]
pub(super) struct VersionView {
    name: String,
    values: Vec<String>,
}

impl Overview {
    pub(crate) fn of(run: &RunInfo, summary: &Summary) -> Overview {
        let policies = ranked(summary);
        let (kinds, ks) = (kinds(summary), ks(summary));
        Overview {
            name: shown(&run.name, TEXT),
            lead: lead(summary, &policies),
            facts: facts(run, summary),
            warnings: summary.warnings.iter().map(|text| shown(text, TEXT)).collect(),
            interval: summary.interval.clone(),
            policies: policies.iter().map(|policy| PolicyView::of(policy, &ks)).collect(),
            ks,
            any_partial: policies.iter().any(|policy| policy.total.partial > 0),
            heat: policies.iter().map(|policy| HeatView::of(policy, &kinds)).collect(),
            kinds: kinds.iter().map(|kind| kind.name()).collect(),
            matrices: vec![
                Matrix::of("family", &policies, |p| &p.families),
                Matrix::of("schema", &policies, |p| &p.schemas),
            ],
            reasons: reasons(run, &policies),
            violations: violations(run, &policies),
            voids: voids(run, &summary.voids),
            refused: Long::of(summary.refused.iter().map(|r| named(&r.task, &r.reason)).collect()),
            left_out: Long::of(summary.left_out.iter().map(|l| named(&l.trace, &l.reason)).collect()),
            versions: versions(&summary.versions),
            tasks_digest: summary.tasks_digest.to_string(),
        }
    }
}

/// The policies, best first; equals by name.
fn ranked(summary: &Summary) -> Vec<&PolicySummary> {
    let mut policies: Vec<_> = summary.policies.iter().collect();
    let value = |policy: &PolicySummary| policy.pass_at_1.map_or(-1.0, |found| found.value);
    policies.sort_by(|a, b| value(b).total_cmp(&value(a)));
    policies
}

fn ks(summary: &Summary) -> Vec<u64> {
    let all = summary.policies.iter().flat_map(|policy| &policy.pass);
    let ks: BTreeSet<u64> = all.map(|at| at.k).filter(|k| *k > 1).collect();
    ks.into_iter().collect()
}

/// The most policies that the first sentence names one by one.
const NAMED: usize = 6;

/// The run in a few sentences.
fn lead(summary: &Summary, policies: &[&PolicySummary]) -> Vec<String> {
    let mut sentences = Vec::new();
    let solved = |policy: &&PolicySummary| {
        let found = policy.pass_at_1?;
        Some(format!("{} passes {}", shown(&policy.policy, TEXT), percent(found.value)))
    };
    let named: Vec<_> = policies.iter().filter_map(solved).collect();
    match named.as_slice() {
        [] => sentences.push("No episode was judged.".to_owned()),
        [first, .., last] if named.len() > NAMED => {
            let others = named.len() - 2;
            sentences.push(format!("{first}, {last}, {others} others lie between."));
        }
        named => sentences.push(format!("{}.", named.join(", "))),
    }
    let void = summary.voids.len() as u64;
    sentences.push(match void {
        0 => "Nothing is void: every episode has a verdict.".to_owned(),
        1 => "1 episode is void and counts neither way.".to_owned(),
        _ => format!("{} are void and count neither way.", count(void, "episode")),
    });
    let stopped = summary.violations();
    sentences.push(match stopped {
        0 => "No contract had to stop anything.".to_owned(),
        _ => format!("Contracts stopped {}.", count(stopped, "step")),
    });
    if !summary.refused.is_empty() {
        let refused = count(summary.refused.len() as u64, "task");
        let were = if summary.refused.len() == 1 { "was" } else { "were" };
        sentences.push(format!("{refused} {were} refused when made."));
    }
    sentences
}

pub(super) fn fact(name: &'static str, value: String) -> Fact {
    Fact { name, value }
}

fn facts(run: &RunInfo, summary: &Summary) -> Vec<Fact> {
    let join = |texts: &BTreeSet<String>| {
        let texts: Vec<_> = texts.iter().map(|text| shown(text, TEXT)).collect();
        if texts.is_empty() { "–".to_owned() } else { texts.join(", ") }
    };
    vec![
        fact("Suite", shown(&run.suite, TEXT)),
        fact("Policies", grouped(summary.policies.len() as u64)),
        fact("Tasks", grouped(summary.tasks)),
        fact("Attempts each", grouped(run.attempts.into())),
        fact("Episodes", grouped(summary.episodes)),
        fact("Seed", run.seed.to_string()),
        fact("Tribunal", join(&summary.versions.tribunal)),
        fact("Engines", join(&summary.versions.engines)),
    ]
}

impl PolicyView {
    fn of(policy: &PolicySummary, ks: &[u64]) -> PolicyView {
        let (total, cost) = (&policy.total, &policy.cost);
        let estimate = policy.pass_at_1.as_ref();
        let width = |share: f64| format!("{:.2}", share * 100.0);
        let bar = |pick: fn(&crate::estimate::Estimate) -> f64| {
            estimate.map_or_else(|| "0".to_owned(), |found| width(pick(found)))
        };
        PolicyView {
            name: shown(&policy.policy, TEXT),
            value: bar(|found| found.value),
            low: bar(|found| found.low),
            high: bar(|found| found.high),
            share: estimate.map_or_else(|| "–".to_owned(), |found| percent(found.value)),
            interval: estimate
                .map_or_else(String::new, |found| format!("{} to {}", percent(found.low), percent(found.high))),
            passed: grouped(total.passed),
            partial: grouped(total.partial),
            zero: grouped(total.zero),
            invalid: grouped(total.invalid),
            void: grouped(total.void),
            episodes: grouped(total.episodes()),
            every_time: of(policy.tasks_passed_every_time, policy.tasks),
            hidden: grouped(policy.wrong_on_hidden_data),
            stopped: grouped(policy.violation_steps()),
            cost_episodes: grouped(cost.episodes),
            steps: mean(cost.steps, cost.episodes),
            fuel: mean(cost.usage.fuel, cost.episodes),
            rows: mean(cost.usage.rows_scanned, cost.episodes),
            curve: ks.iter().map(|k| PassView::of(policy, *k)).collect(),
        }
    }
}

impl PassView {
    fn of(policy: &PolicySummary, k: u64) -> PassView {
        let dash = || "–".to_owned();
        let found = policy.pass.iter().find(|at| at.k == k);
        let few = found.filter(|at| at.tasks < policy.tasks);
        PassView {
            any: found.map_or_else(dash, |at| percent(at.at_least_one)),
            all: found.map_or_else(dash, |at| percent(at.all)),
            of: few.map_or_else(String::new, |at| format!("of {}", count(at.tasks, "task"))),
        }
    }
}

pub(super) fn versions(versions: &Versions) -> Vec<VersionView> {
    let texts = |name: &str, texts: &BTreeSet<String>| VersionView {
        name: name.to_owned(),
        values: texts.iter().map(|text| shown(text, TEXT)).collect(),
    };
    let digests = |what: &str, (name, digests): (&String, &BTreeSet<Digest>)| VersionView {
        name: format!("{what} {}", shown(name, TEXT)),
        values: digests.iter().map(Digest::to_string).collect(),
    };
    let mut views = vec![
        texts("tribunal", &versions.tribunal),
        texts("interface", &versions.interface),
        texts("suite", &versions.suites),
        texts("engines", &versions.engines),
    ];
    views.extend(versions.plugins.iter().map(|entry| digests("plugin", entry)));
    views.extend(versions.schemas.iter().map(|entry| digests("schema", entry)));
    views
}
