//! One task's part of an audit: every case put to the verifier, twice, in two orders.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::Verdict;

use crate::auditor::{Battery, Decided, Decision};
use crate::case::Case;
use crate::kind::{CaseKind, Expected};
use crate::shrink::shrink;

/// Wrong decisions of one kind and task that are shrunk: one shows it.
const SHRUNK: usize = 1;

/// One case as it is written down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// `TASK/KIND/NUMBER`.
    pub id: String,
    /// What it is about.
    pub kind: CaseKind,
    /// What must become of it.
    pub expected: Expected,
    /// What became of it.
    pub decided: Decided,
    /// The verifier's reason, or the name of what broke.
    pub reason: String,
    /// The reward; none for a void.
    pub reward: Option<f64>,
    /// Fuel of the call.
    pub fuel: u64,
    /// The instance of the data, 0 the visible one.
    pub instance: usize,
    /// How it was made.
    pub how: String,
}

/// A wrong decision with the smallest case that was found to show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The case that it was shrunk from.
    pub id: String,
    /// How that was made.
    pub how: String,
    /// What became of it.
    pub decided: Decided,
    /// With which reason.
    pub reason: String,
    /// What was handed in: a table, or words.
    pub submission: Json,
    /// The expectation that it was held against.
    pub expectation: Json,
    /// How many cells both hold together.
    pub size: usize,
}

/// How a verifier behaves beside what it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// The same verdict and fuel at once again.
    Repeat,
    /// The same verdict and fuel in another order, beside others.
    Order,
    /// The reward lies in its range, and a text is a text.
    Range,
    /// What is rejected has another reason than what is accepted.
    Reason,
    /// What can be judged is judged: a wrong answer is never void.
    NeverVoid,
    /// No limit is hit.
    Limits,
    /// No write is attempted.
    NoWrites,
    /// Nothing is read, or tried, that the contract does not grant.
    NothingDenied,
    /// What its contract requests is of use to it.
    NoNeedlessReads,
}

impl Behaviour {
    /// All checks, in the order of tables.
    pub const ALL: [Behaviour; 9] = [
        Behaviour::Repeat,
        Behaviour::Order,
        Behaviour::Range,
        Behaviour::Reason,
        Behaviour::NeverVoid,
        Behaviour::Limits,
        Behaviour::NoWrites,
        Behaviour::NothingDenied,
        Behaviour::NoNeedlessReads,
    ];

    /// What must hold.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Behaviour::Repeat => "the same verdict and fuel at once again",
            Behaviour::Order => "the same verdict and fuel in another order, beside others",
            Behaviour::Range => "every reward in 0..=1, every verdict well formed",
            Behaviour::Reason => "no reason both accepts and rejects",
            Behaviour::NeverVoid => "whatever can be judged is judged",
            Behaviour::Limits => "no limit is hit",
            Behaviour::NoWrites => "no write is attempted",
            Behaviour::NothingDenied => "nothing is tried that its contract does not grant",
            Behaviour::NoNeedlessReads => "no power is requested and never used",
        }
    }
}

/// How much of a limit the most demanding case used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitUse {
    /// The limit: `fuel`, `memory`, ..
    pub limit: String,
    /// The most that was used.
    pub used: u64,
    /// Of how much.
    pub of: u64,
    /// In which case.
    pub case: String,
}

impl LimitUse {
    /// In hundredths of a percent, rounded up.
    #[must_use]
    pub fn basis_points(&self) -> u64 {
        (u128::from(self.used) * 10_000).div_ceil(u128::from(self.of.max(1))).try_into().unwrap_or(u64::MAX)
    }
}

/// One task's part of an audit.
#[derive(Clone, Debug, Default)]
pub struct TaskTrial {
    /// The task.
    pub task: String,
    /// Every case, in the order of the battery.
    pub records: Vec<CaseRecord>,
    /// The decisions, in the same order: what a second pass is compared with.
    pub(crate) decisions: Vec<Option<Decision>>,
    /// Wrong decisions, shrunk.
    pub(crate) examples: Vec<(CaseKind, Example)>,
    /// For each check the cases that break it, with how.
    pub(crate) broken: BTreeMap<Behaviour, Vec<String>>,
    /// The most that was used of each limit.
    pub(crate) limits: BTreeMap<&'static str, LimitUse>,
    /// Cases that were made and left out.
    pub(crate) left_out: usize,
    /// Whether something was read, or changes were asked for.
    pub(crate) looked: bool,
    /// Whether its contract grants reads at all.
    pub(crate) may_look: bool,
}

impl Battery {
    /// Puts every case to the verifier, in order; the first of each kind twice.
    #[must_use]
    pub fn try_all(&self) -> TaskTrial {
        let mut trial = TaskTrial { task: self.task.clone(), left_out: self.left_out, ..TaskTrial::default() };
        trial.may_look = self.prepared().verifier_contract().tables().next().is_some();
        let mut seen: BTreeMap<CaseKind, usize> = BTreeMap::new();
        for case in self.cases.iter() {
            let decision = self.put(case);
            if let Some(decision) = &decision {
                let count = seen.entry(case.kind).or_default();
                *count += 1;
                if *count == 1 && self.put(case).as_ref() != Some(decision) {
                    trial.breaks(Behaviour::Repeat, case, "another verdict, fuel or use at once again");
                }
                self.note(&mut trial, case, decision);
            }
            trial.decisions.push(decision);
        }
        trial
    }

    /// Puts one case to the verifier once more; says where that differs from the first time.
    #[must_use]
    pub fn again(&self, trial: &TaskTrial, index: usize) -> Option<String> {
        let case = self.cases.get(index)?;
        let before = trial.decisions.get(index)?;
        (self.put(case) != *before).then(|| format!("{}: another verdict, fuel or use", case.id))
    }

    fn note(&self, trial: &mut TaskTrial, case: &Case, decision: &Decision) {
        let (expected, heard) = (case.kind.expected(), &decision.heard);
        trial.records.push(CaseRecord {
            id: case.id.clone(),
            kind: case.kind,
            expected,
            decided: decision.decided,
            reason: heard.verdict.reason().to_owned(),
            reward: heard.verdict.reward(),
            fuel: heard.usage.fuel,
            instance: case.instance,
            how: case.how.clone(),
        });
        trial.looked |= heard.usage.statements > 0 || heard.asked_for_changes;
        let limits = self.prepared().verifier_limits(&case.exhibit.submission);
        trial.used(&case.id, &heard.usage, &limits);
        if let Verdict::Void(fault) = &heard.verdict {
            let broke = match fault.name() {
                "malformed" => Some(Behaviour::Range),
                "ungradable" => None,
                _ => Some(Behaviour::Limits),
            };
            if let Some(behaviour) = broke {
                trial.breaks(behaviour, case, &fault.to_string());
            }
            if expected != Expected::Ungradable {
                trial.breaks(Behaviour::NeverVoid, case, &fault.to_string());
            }
        }
        if heard.writes_tried > 0 {
            trial.breaks(Behaviour::NoWrites, case, &format!("{} writes attempted", heard.writes_tried));
        }
        if heard.violations > heard.writes_tried {
            let first = heard.denials.first().map_or("something was denied", String::as_str);
            trial.breaks(Behaviour::NothingDenied, case, first);
        }
        if !decision.decided.is(expected) {
            self.wrong(trial, case, decision);
        }
    }

    /// A wrong decision, shrunk where it is the first of its kind here.
    fn wrong(&self, trial: &mut TaskTrial, case: &Case, decision: &Decision) {
        if trial.examples.iter().filter(|(kind, _)| *kind == case.kind).count() >= SHRUNK {
            return;
        }
        let small = shrink(self, case, decision.decided);
        let reason = self.put(&small).map_or_else(String::new, |one| one.heard.verdict.reason().to_owned());
        let example = Example {
            id: case.id.clone(),
            how: case.how.clone(),
            decided: decision.decided,
            reason,
            submission: shown(&small.exhibit.submission),
            expectation: serde_json::from_str(&small.expectation).unwrap_or_default(),
            size: size(&small),
        };
        trial.examples.push((case.kind, example));
    }
}

fn size(case: &Case) -> usize {
    let gold = case.gold.as_ref().map_or(0, |gold| gold.sheet.cells());
    gold + case.answer().map_or(0, |table| table.rows * table.columns.len())
}

fn shown(submission: &Submission) -> Json {
    serde_json::to_value(submission).unwrap_or_default()
}

impl TaskTrial {
    fn breaks(&mut self, behaviour: Behaviour, case: &Case, how: &str) {
        self.broken.entry(behaviour).or_default().push(format!("{}: {how}", case.id));
    }

    fn used(&mut self, case: &str, usage: &Usage, limits: &Limits) {
        for (limit, used, of) in [
            ("fuel", usage.fuel, limits.fuel),
            ("memory", usage.memory, limits.memory),
            ("statements", usage.statements, limits.statements),
            ("rows scanned", usage.rows_scanned, limits.rows_scanned),
            ("rows returned", usage.rows_returned, limits.rows_returned),
            ("bytes returned", usage.bytes_returned, limits.bytes_returned),
        ] {
            let new = LimitUse { limit: limit.to_owned(), used, of, case: case.to_owned() };
            let most = self.limits.entry(limit).or_insert_with(|| new.clone());
            if new.basis_points() > most.basis_points() {
                *most = new;
            }
        }
    }
}
