//! Policies of any strength: traces whose verdicts are laid down, made from the sample's.

use std::collections::BTreeMap;

use tribunal_evaluate::EpisodeId;
use tribunal_evaluate::comparison::{Arm, ArmInfo};
use tribunal_protocol::event::{Event, Header};
use tribunal_protocol::task::{SchemaRef, Split, TaskKind};
use tribunal_protocol::{Digest, Fault, Verdict};

use super::sample;

/// How an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed,
    Void,
}

/// A task to attempt.
#[derive(Clone, Debug)]
pub struct Place {
    pub task: String,
    pub schema: &'static str,
    pub family: &'static str,
    pub kind: TaskKind,
    pub split: Split,
}

impl Place {
    pub fn new(task: &str, schema: &'static str, split: Split) -> Place {
        Place { task: task.to_owned(), schema, family: "invoice-totals", kind: TaskKind::Answer, split }
    }
}

/// The sample's episodes that others are made from.
pub struct Templates(BTreeMap<EpisodeId, Vec<Event>>);

impl Templates {
    pub fn new() -> Templates {
        Templates(sample::by_id())
    }

    fn of(&self, kind: TaskKind, ending: Ending) -> &[Event] {
        let task = match kind {
            TaskKind::Answer => "billing-v1-invoice-totals-0007",
            TaskKind::State => "billing-v1-refund-right-account-0002",
            TaskKind::Clarify => "support-v1-answer-rate-0001",
            TaskKind::Impossible => "clinic-v1-no-show-cost-0003",
            TaskKind::Recover => "logistics-v2-late-by-carrier-0005",
        };
        let (policy, attempt) = match (ending, kind) {
            (Ending::Passed | Ending::Void, _) => ("oracle", 0),
            (Ending::Failed, TaskKind::Answer) => ("small-model", 0),
            (Ending::Failed, TaskKind::State | TaskKind::Clarify | TaskKind::Impossible) => ("small-model", 1),
            (Ending::Failed, TaskKind::Recover) => ("guesser", 0),
        };
        let id = EpisodeId { policy: policy.to_owned(), task: task.to_owned(), attempt };
        self.0.get(&id).map_or(&[], Vec::as_slice)
    }

    /// One attempt.
    pub fn episode(&self, policy: &str, place: &Place, attempt: u32, ending: Ending) -> Vec<Event> {
        let mut events = self.of(place.kind, ending).to_vec();
        if let Some(Event::Header(header)) = events.first_mut() {
            place.write(header, policy, attempt);
        }
        if let (Ending::Void, Some(Event::End(end))) = (ending, events.last_mut()) {
            end.verdict = Verdict::Void(Fault::Fuel { plugin: "tool-query".to_owned(), limit: 200_000_000 });
        }
        events
    }

    /// As many attempts as there are endings.
    pub fn attempts(&self, policy: &str, place: &Place, endings: &[Ending]) -> Vec<Vec<Event>> {
        (0..).zip(endings).map(|(attempt, ending)| self.episode(policy, place, attempt, *ending)).collect()
    }
}

impl Place {
    fn write(&self, header: &mut Header, policy: &str, attempt: u32) {
        let (name, version) = self.schema.rsplit_once("-v").unwrap_or((self.schema, "1"));
        header.policy = policy.to_owned();
        header.attempt = attempt;
        header.task = self.task.clone();
        header.task_digest = Digest::of(self.task.as_bytes());
        header.family = self.family.to_owned();
        header.split = self.split;
        header.schema = SchemaRef { name: name.to_owned(), version: version.parse().unwrap_or(1) };
        header.fingerprint = Digest::of(self.schema.as_bytes());
    }
}

/// So many passed, then so many failed, then so many void attempts.
pub fn endings(passed: usize, failed: usize, void: usize) -> Vec<Ending> {
    let some = |ending: Ending, count: usize| std::iter::repeat_n(ending, count);
    some(Ending::Passed, passed).chain(some(Ending::Failed, failed)).chain(some(Ending::Void, void)).collect()
}

pub fn arm(label: &str, episodes: &[Vec<Event>]) -> Arm {
    let info = ArmInfo { label: label.to_owned(), policy: label.to_owned(), run: format!("run of {label}") };
    let mut arm = Arm::new(info);
    episodes.iter().for_each(|events| arm.add(events, None));
    arm
}

const SCHEMAS: [(&str, Split); 8] = [
    ("billing-v1", Split::Train),
    ("usage-v1", Split::NewData),
    ("support-v1", Split::NewFamily),
    ("billing-v2", Split::NewSchema),
    ("orders-v2", Split::NewSchema),
    ("logistics-v1", Split::NewSchema),
    ("clinical-v1", Split::NewSchemaAndFamily),
    ("clinical-v2", Split::NewSchemaAndFamily),
];

const FAMILIES: [(&str, TaskKind); 9] = [
    ("invoice-totals", TaskKind::Answer),
    ("top-k", TaskKind::Answer),
    ("cohort-retention", TaskKind::Answer),
    ("refund", TaskKind::State),
    ("set-status", TaskKind::State),
    ("ambiguous-period", TaskKind::Clarify),
    ("missing-attribute", TaskKind::Impossible),
    ("hidden-attribute", TaskKind::Impossible),
    ("flaky-totals", TaskKind::Recover),
];

/// 72 tasks over eight schemas and nine families.
pub fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for (schema, split) in SCHEMAS {
        for (family, kind) in FAMILIES {
            places.push(Place { task: format!("{schema}.{family}.0001"), schema, family, kind, split });
        }
    }
    places
}

/// A number in 0..1 that belongs to a text.
fn chance(text: &str) -> f64 {
    let digest = Digest::of(text.as_bytes()).to_string();
    let digits = digest.chars().filter(char::is_ascii_hexdigit).take(6).collect::<String>();
    f64::from(u32::from_str_radix(&digits, 16).unwrap_or(0)) / f64::from(0x0100_0000_u32)
}

/// A policy over all places, `attempts` times each. Its chance at a task is drawn once around
/// `level`, the same for every policy, and moved by `gain` of the family.
pub fn policy(
    templates: &Templates,
    name: &str,
    attempts: u32,
    level: f64,
    gain: impl Fn(&Place) -> f64,
) -> Vec<Vec<Event>> {
    let mut all = Vec::new();
    for place in places() {
        let hard = chance(&place.task) - 0.5 + 0.3 * (chance(place.schema) - 0.5);
        let passes = level + 0.9 * hard + gain(&place);
        for attempt in 0..attempts {
            let drawn = chance(&format!("{name} {} {attempt}", place.task));
            let void =
                place.kind == TaskKind::Recover && chance(&format!("void {name} {} {attempt}", place.task)) < 0.01;
            let ending = match (void, drawn < passes) {
                (true, _) => Ending::Void,
                (false, true) => Ending::Passed,
                (false, false) => Ending::Failed,
            };
            all.push(templates.episode(name, &place, attempt, ending));
        }
    }
    all
}
