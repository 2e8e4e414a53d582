//! Expectations that nobody can judge by: whoever scores by one fails or passes agents for nothing.

use serde_json::{Value as Json, json};
use tribunal_episode::Exhibit;
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::table::Table;

use super::{Form, Maker};
use crate::kind::CaseKind;

/// Makes cases whose expectation is broken.
pub(crate) fn make(maker: &mut Maker<'_>) {
    let ground = maker.ground;
    let Some(site) = ground.sites.first() else { return };
    if ground.form == Form::Opaque {
        return;
    }
    let mut newer = site.expectation.clone();
    newer["version"] = json!(99);
    let right = || site.exhibit.clone();
    let start = ground.prepared.snapshots().first().map_or_else(|| site.exhibit.last.clone(), |first| first.fork());
    let nothing = Exhibit { submission: Submission::Done, last: start, ..right() };
    let kind = CaseKind::BrokenExpectation;
    maker.with_expectation(kind, site, (&newer, right()), "an expectation of version 99; the right work");
    maker.with_expectation(kind, site, (&json!({}), right()), "an empty expectation; the right work");
    maker.with_expectation(kind, site, (&json!({"version": 1}), nothing), "an expectation that says nothing; no work");
    for (expectation, how) in hollow(ground.form, &site.expectation) {
        let exhibit = match ground.form {
            Form::Answer | Form::Clarify => Exhibit { submission: Submission::Answer(Table::default()), ..right() },
            _ => right(),
        };
        maker.with_expectation(kind, site, (&expectation, exhibit), how);
    }
}

/// Expectations of the right form that nothing can be held against.
fn hollow(form: Form, whole: &Json) -> Vec<(Json, &'static str)> {
    let with = |path: &str, value: Json| {
        let mut other = whole.clone();
        if let Some(place) = other.pointer_mut(path) {
            *place = value;
        }
        other
    };
    match form {
        Form::Answer => vec![(with("/gold/rows", json!([])), "gold without rows, where that cannot be right; no rows")],
        Form::Clarify => vec![
            (with("/answer/gold/rows", json!([])), "gold without rows, where that cannot be right; no rows"),
            (with("/slot/terms", json!([])), "nothing that must be asked about"),
        ],
        Form::Abstain => vec![(with("/missing", json!([])), "nothing that must be missing")],
        Form::State => vec![(with("/tables", json!([])), "no change expected")],
        Form::Opaque => Vec::new(),
    }
}
