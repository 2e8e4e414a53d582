//! The battery: cases made from one task, each with the decision that it must get.
//!
//! What must become of a case about a table is decided by the [reference](crate::reference); a case
//! that turns out to be something else than its generator meant is left out, and so is one of which
//! the reference is not sure.

mod answer;
mod broken;
mod declared;
mod derived;
mod query;
mod state;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use tribunal_episode::{Episode, Exhibit, Prepared};
use tribunal_maker::Library;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::policy::Action;
use tribunal_protocol::task::Task;

use crate::case::Case;
use crate::dice::Dice;
use crate::kind::{CaseKind, Expected};
use crate::reference::{Relation, relation};
use crate::rules::Gold;
use crate::sheet::Sheet;

/// What an expectation wants, as far as its form tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A table.
    Answer,
    /// A question, then a table.
    Clarify,
    /// An abstention.
    Abstain,
    /// A state.
    State,
    /// Something that the audit cannot read.
    Opaque,
}

impl Form {
    fn of(expectation: &Json) -> Form {
        let must = expectation.get("must").and_then(Json::as_str);
        match must {
            Some("clarify") => Form::Clarify,
            Some("abstain") => Form::Abstain,
            _ if expectation.get("contract").is_some() => Form::Answer,
            _ if expectation.get("tables").is_some() => Form::State,
            _ => Form::Opaque,
        }
    }
}

/// One instance of a task, and what its own solution hands in there.
pub(crate) struct Site {
    pub(crate) instance: usize,
    pub(crate) expectation: Json,
    pub(crate) gold: Option<Gold>,
    pub(crate) exhibit: Exhibit,
}

impl Site {
    /// The expectation with another gold answer in its place.
    fn expectation_with(&self, gold: &Gold) -> Json {
        match Form::of(&self.expectation) {
            Form::Clarify => {
                let mut whole = self.expectation.clone();
                whole["answer"] = gold.to_json();
                whole
            }
            _ => gold.to_json(),
        }
    }
}

/// All that generators work on.
pub(crate) struct Ground<'a> {
    pub(crate) task: &'a Task,
    pub(crate) prepared: &'a Prepared,
    pub(crate) library: &'a Library,
    pub(crate) form: Form,
    pub(crate) sites: Vec<Site>,
    /// Right answers of other tasks.
    pub(crate) others: &'a [OtherAnswer],
    /// Whether this task has its largest wrong answer made: one is enough for many tasks.
    pub(crate) largest: bool,
}

/// The right answer of some task, for the others.
#[derive(Clone, Debug)]
pub(crate) struct OtherAnswer {
    pub(crate) task: String,
    pub(crate) sheet: Sheet,
}

/// Collects cases.
pub(crate) struct Maker<'a> {
    pub(crate) ground: &'a Ground<'a>,
    pub(crate) dice: Dice,
    cases: Vec<Case>,
    counts: BTreeMap<CaseKind, usize>,
    left_out: usize,
}

/// The cases of one task.
pub(crate) struct Made {
    pub(crate) cases: Vec<Case>,
    /// Cases that were not what their generator meant, or of which the reference was not sure.
    pub(crate) left_out: usize,
}

/// Plays actions on a fresh fork; gives the episode where something was handed in.
pub(crate) fn played<'p>(prepared: &'p Prepared, actions: &[Action]) -> Option<Episode<'p>> {
    let mut episode = Episode::start(prepared, "audit", 0, 0);
    for action in actions {
        episode.step(action.clone());
    }
    episode.exhibit(0).is_ok().then_some(episode)
}

impl<'a> Ground<'a> {
    /// Reads a task's expectations and plays its solution. None where that hands nothing in.
    pub(crate) fn new(
        prepared: &'a Prepared,
        library: &'a Library,
        others: &'a [OtherAnswer],
        largest: bool,
    ) -> Option<Ground<'a>> {
        let task: &Task = prepared.task();
        let episode = played(prepared, &task.oracle)?;
        let mut sites = Vec::new();
        for (instance, of) in task.instances.iter().enumerate() {
            let expectation: Json = serde_json::from_str(&of.expectation).unwrap_or_default();
            let gold = match Form::of(&expectation) {
                Form::Answer => Gold::read(&expectation),
                Form::Clarify => expectation.get("answer").and_then(Gold::read),
                Form::Abstain | Form::State | Form::Opaque => None,
            };
            let exhibit = episode.exhibit(instance).ok()?;
            sites.push(Site { instance, expectation, gold, exhibit });
        }
        let form = Form::of(&sites.first()?.expectation);
        Some(Ground { task, prepared, library, form, sites, others, largest })
    }

    /// All cases of the task.
    pub(crate) fn cases(&self, seed: u64) -> Made {
        let dice = Dice::new(seed, &self.task.id);
        let mut maker = Maker { ground: self, dice, cases: Vec::new(), counts: BTreeMap::new(), left_out: 0 };
        solution(&mut maker);
        match self.form {
            Form::Answer | Form::Clarify => {
                answer::make(&mut maker);
                derived::make(&mut maker);
                query::make(&mut maker);
            }
            Form::Abstain | Form::State | Form::Opaque => {}
        }
        if self.form == Form::State {
            state::make(&mut maker);
        }
        words::make(&mut maker);
        declared::make(&mut maker);
        broken::make(&mut maker);
        Made { cases: maker.cases, left_out: maker.left_out }
    }
}

/// What the task's own solution hands in, on every instance.
fn solution(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    for site in &ground.sites {
        let how = "the task's own solution";
        match (&site.gold, &site.exhibit.submission) {
            (Some(gold), Submission::Answer(table)) => {
                maker.answer(CaseKind::Gold, site, gold, &Sheet::of(table), how);
            }
            _ => maker.exhibit(CaseKind::Gold, site, site.exhibit.clone(), how),
        }
    }
}

impl<'a> Maker<'a> {
    /// A site, another one for each thing that is made.
    pub(crate) fn site(&mut self) -> &'a Site {
        let ground = self.ground;
        &ground.sites[self.dice.below(ground.sites.len())]
    }

    /// A case about a table, if the reference finds it to be what its kind says.
    pub(crate) fn answer(&mut self, kind: CaseKind, site: &Site, gold: &Gold, found: &Sheet, how: &str) {
        let table = found.to_table();
        let wanted = match kind.expected() {
            Expected::Accept => Relation::Same,
            Expected::Reject | Expected::Ungradable => Relation::Different,
        };
        if relation(gold, &Sheet::of(&table)) != wanted {
            self.left_out += 1;
            return;
        }
        let expectation = site.expectation_with(gold);
        let exhibit = Exhibit { submission: Submission::Answer(table), ..site.exhibit.clone() };
        self.push(kind, site.instance, &expectation, exhibit, how, Some(gold.clone()));
    }

    /// A case about something else than a table. What its kind says must hold by how it is made.
    pub(crate) fn exhibit(&mut self, kind: CaseKind, site: &Site, exhibit: Exhibit, how: &str) {
        self.push(kind, site.instance, &site.expectation, exhibit, how, None);
    }

    /// A case about something else than a table, with an expectation of its own.
    pub(crate) fn with_expectation(&mut self, kind: CaseKind, site: &Site, to: (&Json, Exhibit), how: &str) {
        self.push(kind, site.instance, to.0, to.1, how, None);
    }

    /// Counts a case that was not made.
    pub(crate) fn leave_out(&mut self) {
        self.left_out += 1;
    }

    fn push(
        &mut self,
        kind: CaseKind,
        instance: usize,
        expectation: &Json,
        exhibit: Exhibit,
        how: &str,
        gold: Option<Gold>,
    ) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let id = format!("{}/{kind}/{count}", self.ground.task.id);
        let expectation: Arc<str> = expectation.to_string().into();
        self.cases.push(Case { id, kind, instance, expectation, exhibit, how: how.to_owned(), gold });
    }
}

/// What a submission that is right holds of gold: all of it, or its first `k` rows.
pub(crate) fn right(gold: &Gold) -> Sheet {
    let mut sheet = gold.sheet.clone();
    if let Some(top) = &gold.rules.top {
        sheet.rows.truncate(top.k);
    }
    sheet
}
