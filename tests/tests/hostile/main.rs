//! Hostile plugins lose: every folder under `tests/guests/hostile` holds one plugin that tries
//! something, and says what must happen to it. Each is refused or voided alone, the run goes on,
//! and the next grade of an honest episode is the same, byte for byte, as before any of them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agent;
mod attack;
mod fuzz;
mod guest;
mod large;
mod limits;
mod prelude;
mod world;

use std::collections::BTreeSet;
use std::path::PathBuf;

use attack::Outcome;
use guest::Case;
use world::WORLD;

/// The folders, by name.
fn folders() -> Vec<PathBuf> {
    let corpus = tribunal_tests::tool::root().join("tests/guests/hostile");
    let mut folders: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

#[test]
fn every_hostile_plugin_is_stopped_alone() {
    let world = &*WORLD;
    let before = world.honest_trace();
    let mut wrong = Vec::new();
    for folder in folders() {
        let case = Case::read(&folder);
        let outcome = attack::run(world, &case);
        println!("{}: {}", case.name, outcome.shown());
        if let Err(problem) = case.holds(&outcome) {
            wrong.push(format!("{}: {problem}\n    {}\n    came: {}", case.name, case.about, outcome.shown()));
        }
        assert!(world.honest_trace() == before, "{}: the next grade was another one", case.name);
    }
    assert!(wrong.is_empty(), "{} guests:\n{}", wrong.len(), wrong.join("\n"));
}

/// The harness itself: a guest that does nothing passes, so what stops the others is what they do.
#[test]
fn a_harmless_guest_of_each_world_passes() {
    let world = &*WORLD;
    for kind in ["tool", "verifier", "user"] {
        let outcome = attack::run(world, &Case::harmless(kind));
        let Outcome::Played { verdict, .. } = outcome else { panic!("{kind}: {}", outcome.shown()) };
        assert_eq!(verdict, "passed", "{kind}");
    }
}

/// What the corpus must at least hold; a folder that is lost is missed here.
#[test]
fn the_corpus_is_whole() {
    let cases: Vec<_> = folders().iter().map(|folder| Case::read(folder)).collect();
    assert!(cases.len() >= 100, "{} guests", cases.len());
    let outcomes: BTreeSet<_> = cases.iter().map(|case| case.expect.outcome.as_str()).collect();
    for kind in ["refused", "void fuel", "void time", "void limit", "void trap", "void malformed", "void ungradable"] {
        assert!(outcomes.contains(kind), "no guest ends as `{kind}`");
    }
    let silent = cases.iter().find(|case| case.expect.says.is_empty() && case.expect.outcome == "refused");
    assert!(silent.is_none(), "a refusal must say something");
}
