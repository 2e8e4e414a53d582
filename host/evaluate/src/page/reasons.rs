//! Why episodes did not pass: reasons, access violations, voids, refused tasks.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RunInfo;
use super::episode::Badge;
use super::overview::TEXT;
use crate::episode::EpisodeId;
use crate::glossary::meaning;
use crate::summary::{Outcome, PolicySummary, Reason, Violation, Void};
use crate::text::{grouped, shown};

/// The most rows of a list that may be as long as the run; the rest is in the JSON file.
const LIST: usize = 25;

#[derive(Debug, Serialize)]
pub(super) struct ReasonView {
    badge: Badge,
    code: String,
    meaning: &'static str,
    counts: Vec<String>,
    first: Link,
    example: String,
}

#[derive(Debug, Serialize)]
pub(super) struct ViolationView {
    policy: String,
    tool: String,
    code: String,
    steps: String,
    message: String,
    first: Link,
}

#[derive(Debug, Serialize)]
pub(super) struct VoidView {
    fault: String,
    meaning: &'static str,
    message: String,
    episodes: String,
    first: Link,
}

#[derive(Debug, Serialize)]
pub(super) struct Named {
    name: String,
    reason: String,
}

/// An episode, with a link to its trace where there is one.
#[derive(Debug, Serialize)]
pub(super) struct Link {
    name: String,
    href: String,
}

/// A list that may be cut off.
#[derive(Debug, Serialize)]
pub(super) struct Long<T> {
    all: String,
    shown: Vec<T>,
    more: usize,
}

fn link(run: &RunInfo, id: &EpisodeId) -> Link {
    Link { name: shown(&id.to_string(), TEXT), href: run.href(id) }
}

/// Every reason for not passing, the most frequent first in each outcome.
pub(super) fn reasons(run: &RunInfo, policies: &[&PolicySummary]) -> Vec<ReasonView> {
    let mut all: BTreeMap<(Outcome, &str), Vec<(usize, &Reason)>> = BTreeMap::new();
    for (place, policy) in policies.iter().enumerate() {
        for reason in &policy.reasons {
            let found = all.entry((reason.outcome, &reason.code)).or_default();
            found.push((place, reason));
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.retain(|((outcome, _), _)| *outcome != Outcome::Passed);
    let total = |found: &[(usize, &Reason)]| found.iter().map(|(_, r)| r.episodes).sum::<u64>();
    all.sort_by_key(|((outcome, _), found)| (*outcome, std::cmp::Reverse(total(found))));
    let view = |((outcome, code), found): ((Outcome, &str), Vec<(usize, &Reason)>)| {
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

pub(super) fn violations(run: &RunInfo, policies: &[&PolicySummary]) -> Vec<ViolationView> {
    let of_policy = |policy: &&PolicySummary| {
        let name = shown(&policy.policy, TEXT);
        let view = |found: &Violation| ViolationView {
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
pub(super) fn voids(run: &RunInfo, all: &[Void]) -> Long<VoidView> {
    let mut groups: BTreeMap<(&str, &str), Vec<&EpisodeId>> = BTreeMap::new();
    for void in all {
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
    Long { all: grouped(all.len() as u64), ..Long::of(groups.into_iter().map(view).collect()) }
}

pub(super) fn named(name: &str, reason: &str) -> Named {
    Named { name: shown(name, TEXT), reason: shown(reason, TEXT) }
}

impl<T> Long<T> {
    pub(super) fn of(mut shown: Vec<T>) -> Long<T> {
        let all = shown.len();
        shown.truncate(LIST);
        Long { all: grouped(all as u64), more: all - shown.len(), shown }
    }
}
