//! What came of an audit: counts, rates with exact bounds, findings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tribunal_evaluate::metrics::exact::{Share, clopper_pearson};
use tribunal_protocol::digest::Digest;

use crate::agreement::{Agreement, Labels};
use crate::auditor::Decided;
use crate::kind::{CaseKind, Expected};
use crate::trial::{Behaviour, Example, LimitUse, TaskTrial};

/// The version of the file.
pub const FORMAT: u32 = 1;

/// Cases that are named for a broken check, at most.
const NAMED: usize = 5;

/// What was tried, and on what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The verifier's name, as it says itself.
    pub verifier: String,
    /// Its version, as it says itself.
    pub version: String,
    /// The digest of the component.
    pub digest: Digest,
    /// The verifier of the suite that it stood in for.
    pub in_place_of: String,
    /// The settings pinned for it, where some were given.
    pub settings: Option<String>,
    /// The suite, as `name@version`.
    pub suite: String,
    /// The digest of the suite's files.
    pub suite_digest: Digest,
    /// The seed of tasks and cases.
    pub seed: u64,
    /// The engines that ran, with their versions.
    pub tribunal: String,
}

/// How the cases of one kind were decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindScore {
    /// The kind.
    pub kind: CaseKind,
    /// What must become of its cases.
    pub expected: Expected,
    /// How many were accepted.
    pub accepted: u64,
    /// How many were rejected.
    pub rejected: u64,
    /// How many were void.
    pub void: u64,
    /// How many were decided rightly, with exact bounds. Of a fault this is the mutation score.
    pub right: Share,
}

/// Wrong decisions of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The kind.
    pub kind: CaseKind,
    /// What had to become of these cases.
    pub expected: Expected,
    /// How many came to something else.
    pub wrong: u64,
    /// Of how many.
    pub of: u64,
    /// In how many tasks.
    pub tasks: u64,
    /// The smallest case that shows it.
    pub example: Example,
}

/// One check of behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Which.
    pub check: Behaviour,
    /// Whether it holds.
    pub holds: bool,
    /// How often it does not.
    pub broken: u64,
    /// The first few cases that break it, with how.
    pub cases: Vec<String>,
}

/// An audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// [`FORMAT`].
    pub format: u32,
    /// What was tried.
    pub subject: Subject,
    /// Whether every case was decided rightly and every check holds.
    pub sound: bool,
    /// On how many tasks.
    pub tasks: u64,
    /// With how many cases.
    pub cases: u64,
    /// Cases that were made and left out: not what was meant, or not certain.
    pub left_out: u64,
    /// Of what must be rejected, how much was accepted.
    pub false_accepts: Share,
    /// Of what must be accepted, how much was rejected.
    pub false_rejects: Share,
    /// Of what can be judged, how much was void.
    pub voids: Share,
    /// Of what nobody can judge, how much was scored.
    pub false_scores: Share,
    /// How each kind of case was decided.
    pub kinds: Vec<KindScore>,
    /// Wrong decisions, kind by kind.
    pub findings: Vec<Finding>,
    /// How it behaved.
    pub checks: Vec<Check>,
    /// The most that was used of each limit.
    pub limits: Vec<LimitUse>,
    /// How far it agrees with labels, where there were some.
    pub agreement: Option<Agreement>,
}

fn share(count: usize, of: usize) -> Share {
    let (count, of) = (count as u64, of as u64);
    clopper_pearson(count, of).unwrap_or(Share { count, of, low: 0.0, high: 1.0 })
}

impl Audit {
    /// Puts the trials of all tasks together. `again` are the differences of the second pass.
    #[must_use]
    pub fn of(subject: Subject, trials: &[TaskTrial], again: &[String], labels: Option<&Labels>) -> Audit {
        let records = || trials.iter().flat_map(|trial| &trial.records);
        let count = |expected: Expected, decided: Decided| {
            records().filter(|record| record.expected == expected && record.decided == decided).count()
        };
        let all = |expected: Expected| records().filter(|record| record.expected == expected).count();
        let judged = all(Expected::Accept) + all(Expected::Reject);
        let voids = count(Expected::Accept, Decided::Void) + count(Expected::Reject, Decided::Void);
        let scored = all(Expected::Ungradable) - count(Expected::Ungradable, Decided::Void);
        let kinds: Vec<KindScore> = CaseKind::ALL.iter().filter_map(|kind| kind_score(*kind, trials)).collect();
        let checks = checks(trials, again);
        let right = kinds.iter().all(|score| score.right.count == score.right.of);
        Audit {
            format: FORMAT,
            subject,
            sound: right && checks.iter().all(|check| check.holds),
            tasks: trials.len() as u64,
            cases: records().count() as u64,
            left_out: trials.iter().map(|trial| trial.left_out as u64).sum(),
            false_accepts: share(count(Expected::Reject, Decided::Accepted), all(Expected::Reject)),
            false_rejects: share(count(Expected::Accept, Decided::Rejected), all(Expected::Accept)),
            voids: share(voids, judged),
            false_scores: share(scored, all(Expected::Ungradable)),
            findings: kinds.iter().filter_map(|score| finding(score, trials)).collect(),
            kinds,
            checks,
            limits: limits(trials),
            agreement: labels.map(|labels| Agreement::of(labels, records())),
        }
    }
}

fn kind_score(kind: CaseKind, trials: &[TaskTrial]) -> Option<KindScore> {
    let of_kind = || trials.iter().flat_map(|trial| &trial.records).filter(|record| record.kind == kind);
    let count = |decided: Decided| of_kind().filter(|record| record.decided == decided).count() as u64;
    let right = of_kind().filter(|record| record.decided.is(record.expected)).count();
    let all = of_kind().count();
    (all > 0).then(|| KindScore {
        kind,
        expected: kind.expected(),
        accepted: count(Decided::Accepted),
        rejected: count(Decided::Rejected),
        void: count(Decided::Void),
        right: share(right, all),
    })
}

fn finding(score: &KindScore, trials: &[TaskTrial]) -> Option<Finding> {
    let wrong = |trial: &&TaskTrial| {
        trial.records.iter().any(|record| record.kind == score.kind && !record.decided.is(record.expected))
    };
    let examples = trials.iter().flat_map(|trial| &trial.examples).filter(|(kind, _)| *kind == score.kind);
    let smallest = examples.map(|(_, example)| example).min_by_key(|example| example.size)?;
    Some(Finding {
        kind: score.kind,
        expected: score.expected,
        wrong: score.right.of - score.right.count,
        of: score.right.of,
        tasks: trials.iter().filter(wrong).count() as u64,
        example: smallest.clone(),
    })
}

fn checks(trials: &[TaskTrial], again: &[String]) -> Vec<Check> {
    let check = |behaviour: Behaviour| {
        let mut broken: Vec<String> =
            trials.iter().flat_map(|trial| trial.broken.get(&behaviour)).flatten().cloned().collect();
        match behaviour {
            Behaviour::Order => broken.extend(again.iter().cloned()),
            Behaviour::Reason => broken.extend(shared_reasons(trials)),
            Behaviour::NoNeedlessReads => {
                let may = trials.iter().any(|trial| trial.may_look);
                if may && !trials.iter().any(|trial| trial.looked) {
                    broken.push("it requests reads, and never read anything nor asked what changed".to_owned());
                }
            }
            _ => {}
        }
        Check {
            check: behaviour,
            holds: broken.is_empty(),
            broken: broken.len() as u64,
            cases: broken.into_iter().take(NAMED).collect(),
        }
    };
    Behaviour::ALL.into_iter().map(check).collect()
}

/// Reasons under which something was accepted and something else rejected.
fn shared_reasons(trials: &[TaskTrial]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, BTreeSet<Decided>> = BTreeMap::new();
    for record in trials.iter().flat_map(|trial| &trial.records) {
        if record.decided != Decided::Void {
            reasons.entry(&record.reason).or_default().insert(record.decided);
        }
    }
    let both = reasons.into_iter().filter(|(_, decided)| decided.len() > 1);
    both.map(|(reason, _)| format!("`{reason}` both accepts and rejects")).collect()
}

fn limits(trials: &[TaskTrial]) -> Vec<LimitUse> {
    let mut most: BTreeMap<&str, &LimitUse> = BTreeMap::new();
    for (name, used) in trials.iter().flat_map(|trial| &trial.limits) {
        let best = most.entry(name).or_insert(used);
        if used.basis_points() > best.basis_points() {
            *best = used;
        }
    }
    most.into_values().cloned().collect()
}
