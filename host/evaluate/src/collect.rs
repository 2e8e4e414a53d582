//! Reads episodes one by one and counts them. What comes out does not depend on their order.

use std::collections::{BTreeMap, BTreeSet};

use tribunal_protocol::Digest;
use tribunal_protocol::digest::Hasher;
use tribunal_protocol::event::{Event, Header};
use tribunal_protocol::verdict::Verdict;

use crate::episode::{EpisodeId, Parts};
use crate::estimate;
use crate::policy::PolicyCount;
use crate::summary::{FORMAT, LeftOut, Outcome, Summary, Versions, Void};

/// Collects episodes into a [`Summary`]. It keeps counts and names, never the events, so a run of
/// any length fits.
#[derive(Debug, Default)]
pub struct Collector {
    label: Option<String>,
    policies: BTreeMap<String, PolicyCount>,
    seen: BTreeSet<EpisodeId>,
    tasks: BTreeMap<String, BTreeSet<Digest>>,
    versions: Versions,
    voids: Vec<Void>,
    left_out: Vec<LeftOut>,
}

impl Collector {
    /// A collector that calls every policy by this name: two runs of one policy are two policies
    /// where they are compared.
    #[must_use]
    pub(crate) fn labelled(label: &str) -> Collector {
        Collector { label: Some(label.to_owned()), ..Collector::default() }
    }

    fn id(&self, header: &Header) -> EpisodeId {
        let policy = self.label.as_ref().unwrap_or(&header.policy);
        EpisodeId { policy: policy.clone(), ..EpisodeId::of(header) }
    }

    /// Counts one episode. Events that are no whole episode, or are a second record of the same
    /// attempt, are left out and listed with the reason.
    pub fn add(&mut self, events: &[Event]) {
        self.adds(events);
    }

    /// As [`Collector::add`]; says whether the episode was counted.
    pub(crate) fn adds(&mut self, events: &[Event]) -> bool {
        let trace = match events.first() {
            Some(Event::Header(header)) => self.id(header).to_string(),
            _ => format!("a trace of {} events", events.len()),
        };
        match Parts::of(events) {
            Err(why) => self.leave_out(trace, why.to_string()),
            Ok(parts) => {
                let id = self.id(parts.header);
                if self.seen.insert(id.clone()) {
                    self.count(id, &parts);
                    return true;
                }
                let why = "a second record of the same attempt: only the first is counted";
                self.leave_out(trace, why.to_owned());
            }
        }
        false
    }

    /// Lists a trace that could not even be read, with the reason.
    pub fn leave_out(&mut self, trace: String, reason: String) {
        self.left_out.push(LeftOut { trace, reason });
    }

    fn count(&mut self, id: EpisodeId, parts: &Parts<'_>) {
        let header = parts.header;
        let digests = self.tasks.entry(header.task.clone()).or_default();
        digests.insert(header.task_digest);
        note_versions(&mut self.versions, header);
        if let Verdict::Void(fault) = &parts.end.verdict {
            self.voids.push(Void { episode: id.clone(), fault: fault.name().to_owned(), message: fault.to_string() });
        }
        let outcome = Outcome::of(&parts.end.verdict);
        let policy = self.policies.entry(id.policy.clone()).or_default();
        policy.add(&id, parts, outcome);
    }

    /// The summary of all that was added.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.voids.sort();
        self.left_out.sort();
        Summary {
            format: FORMAT.to_owned(),
            episodes: self.seen.len() as u64,
            tasks: self.tasks.len() as u64,
            tasks_digest: digest_of(&self.tasks),
            interval: estimate::INTERVAL.to_owned(),
            warnings: self.warnings(),
            policies: self.policies.into_iter().map(|(name, count)| count.finish(name)).collect(),
            voids: self.voids,
            refused: Vec::new(),
            left_out: self.left_out,
            versions: self.versions,
        }
    }

    fn warnings(&self) -> Vec<String> {
        let versions = &self.versions;
        let mut found = Vec::new();
        let mut one = |what: &str, names: Vec<String>| {
            if names.len() > 1 {
                let names = names.join(", ");
                found.push(format!("{what}: one expected, found {names}; the episodes do not belong together"));
            }
        };
        let texts = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        let shorts = |set: &BTreeSet<Digest>| set.iter().map(Digest::short).collect::<Vec<_>>();
        one("version of tribunal", texts(&versions.tribunal));
        one("version of the plugin interface", texts(&versions.interface));
        one("suite", texts(&versions.suites));
        for (name, digests) in &versions.plugins {
            one(&format!("digest of plugin {name}"), shorts(digests));
        }
        for (name, digests) in &versions.schemas {
            one(&format!("fingerprint of schema {name}"), shorts(digests));
        }
        for (name, digests) in &self.tasks {
            one(&format!("digest of task {name}"), shorts(digests));
        }
        found
    }
}

fn note_versions(versions: &mut Versions, header: &Header) {
    versions.tribunal.insert(header.tribunal.clone());
    versions.interface.insert(header.interface.clone());
    versions.suites.insert(header.suite.clone());
    versions.engines.extend(header.engines.iter().cloned());
    for (name, digest) in &header.plugins {
        let digests = versions.plugins.entry(name.clone()).or_default();
        digests.insert(*digest);
    }
    let schema = versions.schemas.entry(header.schema.to_string());
    schema.or_default().insert(header.fingerprint);
}

fn digest_of(tasks: &BTreeMap<String, BTreeSet<Digest>>) -> Digest {
    let mut hasher = Hasher::new("tasks of a run 1");
    for (task, digests) in tasks {
        hasher.bytes(task.as_bytes());
        hasher.number(digests.len() as u64);
        for digest in digests {
            hasher.bytes(digest.to_string().as_bytes());
        }
    }
    hasher.finish()
}
