//! Everything above the episodes: what ran, who scored what, and why not.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tribunal_protocol::Digest;
use tribunal_protocol::task::{Split, TaskKind};

use super::RunInfo;
use super::episode::Badge;
use crate::episode::EpisodeId;
use crate::glossary::meaning;
use crate::summary::{Group, Outcome, PolicySummary, Summary, Tally};
use crate::text::{count, grouped, mean, percent, shown};

/// The most rows of a list that may be as long as the run; the rest is in the JSON file.
const LIST: usize = 25;
/// The most characters of a name or a message.
const TEXT: usize = 400;

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
struct Fact {
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
struct HeatView {
    policy: String,
    total: HeatCell,
    rows: Vec<HeatRow>,
}

#[derive(Debug, Serialize)]
struct HeatRow {
    name: String,
    cells: Vec<HeatCell>,
}

/// A share as a coloured cell.
#[derive(Debug, Serialize)]
struct HeatCell {
    /// The share, in 0..=1, for the colour; empty where nothing was judged.
    heat: String,
    share: String,
    count: String,
    void: String,
}

/// Shares by some property (down) and policy (across).
#[derive(Debug, Serialize)]
struct Matrix {
    title: &'static str,
    rows: Vec<HeatRow>,
}

#[derive(Debug, Serialize)]
struct ReasonView {
    badge: Badge,
    code: String,
    meaning: &'static str,
    counts: Vec<String>,
    first: Link,
    example: String,
}

#[derive(Debug, Serialize)]
struct ViolationView {
    policy: String,
    tool: String,
    code: String,
    steps: String,
    message: String,
    first: Link,
}

#[derive(Debug, Serialize)]
struct VoidView {
    fault: String,
    meaning: &'static str,
    message: String,
    episodes: String,
    first: Link,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    reason: String,
}

/// An episode, with a link to its trace where there is one.
#[derive(Debug, Serialize)]
struct Link {
    name: String,
    href: String,
}

/// A list that may be cut off.
#[derive(Debug, Serialize)]
struct Long<T> {
    all: String,
    shown: Vec<T>,
    more: usize,
}

#[derive(Debug, Serialize)]
struct VersionView {
    name: String,
    values: Vec<String>,
}

impl Overview {
    pub(crate) fn of(run: &RunInfo, summary: &Summary) -> Overview {
        let policies = ranked(summary);
        let (kinds, ks) = (kinds(summary), ks(summary));
        let by = |pick: fn(&PolicySummary) -> &[Group], title| Matrix { title, rows: matrix(&policies, pick) };
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
            matrices: vec![by(|p| &p.families, "family"), by(|p| &p.schemas, "schema")],
            reasons: reasons(run, &policies),
            violations: violations(run, &policies),
            voids: voids(run, summary),
            refused: Long::of(summary.refused.iter().map(|r| named(&r.task, &r.reason)).collect()),
            left_out: Long::of(summary.left_out.iter().map(|l| named(&l.trace, &l.reason)).collect()),
            versions: versions(summary),
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

fn kinds(summary: &Summary) -> Vec<TaskKind> {
    let cells = || summary.policies.iter().flat_map(|policy| &policy.cells);
    let occurs = |kind: &TaskKind| cells().any(|cell| cell.kind == *kind);
    TaskKind::ALL.into_iter().filter(occurs).collect()
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

fn facts(run: &RunInfo, summary: &Summary) -> Vec<Fact> {
    let join = |texts: &BTreeSet<String>| {
        let texts: Vec<_> = texts.iter().map(|text| shown(text, TEXT)).collect();
        if texts.is_empty() { "–".to_owned() } else { texts.join(", ") }
    };
    let fact = |name, value| Fact { name, value };
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

fn of(part: u64, whole: u64) -> String {
    format!("{} of {}", grouped(part), grouped(whole))
}

impl HeatView {
    fn of(policy: &PolicySummary, kinds: &[TaskKind]) -> HeatView {
        let in_split = |split: &Split| policy.cells.iter().any(|cell| cell.split == *split);
        let row = |split: Split| HeatRow {
            name: split.name().to_owned(),
            cells: kinds.iter().map(|kind| HeatCell::of(policy.cell(split, *kind))).collect(),
        };
        HeatView {
            policy: shown(&policy.policy, TEXT),
            total: HeatCell::of(Some(policy.total)),
            rows: Split::ALL.into_iter().filter(in_split).map(row).collect(),
        }
    }
}

impl HeatCell {
    fn of(tally: Option<Tally>) -> HeatCell {
        let tally = tally.unwrap_or_default();
        let rate = tally.rate();
        HeatCell {
            heat: rate.map_or_else(String::new, |rate| format!("{rate:.3}")),
            share: rate.map_or_else(|| "–".to_owned(), percent),
            count: match tally.judged() {
                0 => String::new(),
                judged => of(tally.passed, judged),
            },
            void: match tally.void {
                0 => String::new(),
                void => format!("{} void", grouped(void)),
            },
        }
    }
}

fn matrix(policies: &[&PolicySummary], pick: fn(&PolicySummary) -> &[Group]) -> Vec<HeatRow> {
    let names = policies.iter().flat_map(|policy| pick(policy));
    let names: BTreeSet<&str> = names.map(|group| group.name.as_str()).collect();
    let tally = |policy: &PolicySummary, name: &str| {
        let group = pick(policy).iter().find(|group| group.name == name);
        group.map(|group| group.tally)
    };
    let row = |name: &str| HeatRow {
        name: shown(name, TEXT),
        cells: policies.iter().map(|policy| HeatCell::of(tally(policy, name))).collect(),
    };
    names.into_iter().map(row).collect()
}

fn link(run: &RunInfo, id: &EpisodeId) -> Link {
    Link { name: shown(&id.to_string(), TEXT), href: run.href(id) }
}

/// Every reason for not passing, the most frequent first in each outcome.
fn reasons(run: &RunInfo, policies: &[&PolicySummary]) -> Vec<ReasonView> {
    let mut all: BTreeMap<(Outcome, &str), Vec<(usize, &crate::Reason)>> = BTreeMap::new();
    for (place, policy) in policies.iter().enumerate() {
        for reason in &policy.reasons {
            let found = all.entry((reason.outcome, &reason.code)).or_default();
            found.push((place, reason));
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.retain(|((outcome, _), _)| *outcome != Outcome::Passed);
    let total = |found: &[(usize, &crate::Reason)]| found.iter().map(|(_, r)| r.episodes).sum::<u64>();
    all.sort_by_key(|((outcome, _), found)| (*outcome, std::cmp::Reverse(total(found))));
    let view = |((outcome, code), found): ((Outcome, &str), Vec<(usize, &crate::Reason)>)| {
        let count_of = |place| {
            let own = found.iter().find(|(at, _)| *at == place);
            own.map_or_else(|| "–".to_owned(), |(_, reason)| grouped(reason.episodes))
        };
        // The example with the most to say comes from the best policy that has one.
        let told = found.iter().find(|(_, reason)| !reason.example.is_empty());
        let example = told.or(found.first()).map(|(_, reason)| *reason);
        ReasonView {
            badge: Badge::of_outcome(outcome),
            code: shown(code, TEXT),
            meaning: meaning(code),
            counts: (0..policies.len()).map(count_of).collect(),
            first: example
                .map_or_else(|| Link { name: String::new(), href: String::new() }, |reason| link(run, &reason.first)),
            example: example.map_or_else(String::new, |reason| shown(&reason.example, TEXT)),
        }
    };
    all.into_iter().map(view).collect()
}

fn violations(run: &RunInfo, policies: &[&PolicySummary]) -> Vec<ViolationView> {
    let of_policy = |policy: &&PolicySummary| {
        let name = shown(&policy.policy, TEXT);
        let view = |found: &crate::Violation| ViolationView {
            policy: name.clone(),
            tool: shown(&found.tool, TEXT),
            code: found.code.clone(),
            steps: grouped(found.steps),
            message: shown(&found.message, TEXT),
            first: link(run, &found.first),
        };
        policy.violations.iter().map(view).collect::<Vec<_>>()
    };
    policies.iter().flat_map(of_policy).collect()
}

/// Void episodes by message, since one broken plugin voids many.
fn voids(run: &RunInfo, summary: &Summary) -> Long<VoidView> {
    let mut groups: BTreeMap<(&str, &str), Vec<&EpisodeId>> = BTreeMap::new();
    for void in &summary.voids {
        let group = groups.entry((&void.fault, &void.message)).or_default();
        group.push(&void.episode);
    }
    let view = |((fault, message), episodes): ((&str, &str), Vec<&EpisodeId>)| VoidView {
        fault: fault.to_owned(),
        meaning: meaning(fault),
        message: shown(message, TEXT),
        episodes: grouped(episodes.len() as u64),
        first: episodes.first().map_or_else(|| Link { name: String::new(), href: String::new() }, |id| link(run, id)),
    };
    Long { all: grouped(summary.voids.len() as u64), ..Long::of(groups.into_iter().map(view).collect()) }
}

fn named(name: &str, reason: &str) -> Named {
    Named { name: shown(name, TEXT), reason: shown(reason, TEXT) }
}

impl<T> Long<T> {
    fn of(mut shown: Vec<T>) -> Long<T> {
        let all = shown.len();
        shown.truncate(LIST);
        Long { all: grouped(all as u64), more: all - shown.len(), shown }
    }
}

fn versions(summary: &Summary) -> Vec<VersionView> {
    let versions = &summary.versions;
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
