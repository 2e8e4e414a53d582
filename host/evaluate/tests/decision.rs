//! Every clause of a protocol: passes, fails, and cannot be decided, each on traces that are laid
//! down for it.

#![expect(clippy::unwrap_used, reason = "tests")]
#![allow(dead_code, reason = "a test uses a part of the samples")]

mod graded;
mod sample;

use graded::{Place, Templates, arm, endings};
use tribunal_evaluate::comparison::{Arm, Comparison, compare};
use tribunal_evaluate::release::{DEFAULT_PROTOCOL, Finding, Protocol, Ruling};
use tribunal_protocol::event::Event;
use tribunal_protocol::task::Split;

const SPLITS: [Split; 4] = [Split::NewData, Split::NewSchema, Split::NewFamily, Split::NewSchemaAndFamily];

/// Eight tasks over four schemas, one schema a split; and one to train on.
fn places() -> Vec<Place> {
    let schemas = ["a-v1", "b-v1", "c-v1", "d-v1"].into_iter().zip(SPLITS);
    let held_out = schemas
        .flat_map(|(schema, split)| ["1", "2"].map(|number| Place::new(&format!("{schema}.{number}"), schema, split)));
    held_out.chain([Place::new("e-v1.1", "e-v1", Split::Train)]).collect()
}

/// Passed, failed and void attempts at every place, in order.
fn policy(name: &str, counts: &[(usize, usize, usize); 9]) -> Vec<Vec<Event>> {
    let templates = Templates::new();
    let of = |(place, counts): (&Place, &(usize, usize, usize))| {
        templates.attempts(name, place, &endings(counts.0, counts.1, counts.2))
    };
    places().iter().zip(counts).flat_map(of).collect()
}

const fn same(passed: usize, failed: usize, void: usize) -> [(usize, usize, usize); 9] {
    [(passed, failed, void); 9]
}

fn with(
    mut counts: [(usize, usize, usize); 9],
    place: usize,
    other: (usize, usize, usize),
) -> [(usize, usize, usize); 9] {
    counts[place] = other;
    counts
}

fn side(label: &str, counts: &[(usize, usize, usize); 9]) -> Arm {
    arm(label, &policy(label, counts))
}

fn protocol(clause: &str) -> Protocol {
    let splits = "splits = [\"new-data\", \"new-schema\", \"new-family\", \"new-schema-and-family\"]";
    let bootstrap = "[bootstrap]\nreplicates = 2000";
    Protocol::read(&format!("format = 1\nname = \"test\"\n{splits}\n{bootstrap}\n[[clause]]\n{clause}")).unwrap()
}

fn compared(clause: &str, candidate: Arm, baseline: Arm, recheck: Option<Arm>) -> Comparison {
    compare(candidate, baseline, recheck, &protocol(clause), false).unwrap()
}

fn ruled(clause: &str, candidate: &[(usize, usize, usize); 9], baseline: &[(usize, usize, usize); 9]) -> Ruling {
    let (candidate, baseline) = (side("new", candidate), side("old", baseline));
    let decision = compared(clause, candidate, baseline, None).decision;
    assert_eq!(decision.rulings.len(), 1);
    assert_eq!(decision.ship, decision.rulings[0].finding == Finding::Pass);
    decision.rulings[0].clone()
}

#[track_caller]
fn finds(ruling: &Ruling, finding: Finding, text: &str) {
    let all = format!("{} | {} | {} | {}", ruling.clause, ruling.figure, ruling.bound, ruling.why);
    assert_eq!(ruling.finding, finding, "{all}");
    assert!(all.contains(text), "{all}");
}

/// The failed attempts of the sample's answer tasks reach for a table that their contract hides.
#[test]
fn access_violations() {
    let clause = |episodes: u64| format!("kind = \"violations\"\nat_most = 0\nepisodes = {episodes}");
    finds(&ruled(&clause(36), &same(4, 0, 0), &same(2, 2, 0)), Finding::Pass, "0 of 36 episodes");
    // Even on a training task, and even where too few were run.
    let one = with(same(4, 0, 0), 8, (3, 1, 0));
    finds(&ruled(&clause(36), &one, &same(4, 0, 0)), Finding::Fail, "1 of 36 episodes");
    finds(&ruled(&clause(3_000), &one, &same(4, 0, 0)), Finding::Fail, "1 of 36 episodes");
    finds(&ruled(&clause(3_000), &same(4, 0, 0), &same(4, 0, 0)), Finding::Undecided, "2,964 episodes short of 3,000");
    // None of 36: the exact upper end is 1 - 0.025^(1/36), 9.7 %.
    finds(&ruled(&clause(37), &same(4, 0, 0), &same(4, 0, 0)), Finding::Undecided, "up to 9.7%");
}

#[test]
fn coverage() {
    let clause = "kind = \"coverage\"\nattempts = 4\ntasks = 8\nschemas = 4";
    finds(&ruled(clause, &same(2, 2, 0), &same(2, 2, 0)), Finding::Pass, "8 tasks from 4 schemas, 4 attempts");
    let thin = with(same(2, 2, 0), 1, (2, 1, 1));
    finds(&ruled(clause, &thin, &same(2, 2, 0)), Finding::Undecided, "4 attempts expected");
    finds(
        &ruled(&clause.replace("tasks = 8", "tasks = 9"), &same(2, 2, 0), &same(2, 2, 0)),
        Finding::Undecided,
        "9 tasks",
    );
    finds(
        &ruled(&clause.replace("schemas = 4", "schemas = 5"), &same(2, 2, 0), &same(2, 2, 0)),
        Finding::Undecided,
        "5 schemas",
    );
    // A task that the candidate left out is not forgotten.
    let gone = with(same(4, 0, 0), 8, (0, 0, 0));
    finds(&ruled(clause, &gone, &same(2, 2, 0)), Finding::Undecided, "1 task only one side attempted");
    let mut damaged = side("new", &same(2, 2, 0));
    damaged.leave_out("traces/new/x.jsonl".to_owned(), "its hash does not fit its content".to_owned());
    let found = compared(clause, damaged, side("old", &same(2, 2, 0)), None);
    finds(&found.decision.rulings[0], Finding::Undecided, "1 trace left out");
    assert!(found.warnings.iter().any(|text| text.contains("traces/new/x.jsonl: its hash")), "{:?}", found.warnings);
}

#[test]
fn voids() {
    let clause = "kind = \"voids\"\nbelow = 3.0";
    finds(&ruled(clause, &with(same(4, 0, 0), 0, (3, 0, 1)), &same(4, 0, 0)), Finding::Pass, "new 1 of 36");
    finds(&ruled(clause, &same(4, 0, 0), &with(same(4, 0, 0), 0, (2, 0, 2))), Finding::Fail, "old 2 of 36");
}

#[test]
fn gains() {
    let lower = "kind = \"gain\"\nmeasure = \"pass@1\"\nbound = \"lower\"\nabove = 0.0";
    finds(&ruled(lower, &same(4, 0, 0), &same(2, 2, 0)), Finding::Pass, "lower bound +50.0 of +50.0 points");
    // The same on both sides is a gain of nothing, which is not above nothing.
    finds(&ruled(lower, &same(2, 2, 0), &same(2, 2, 0)), Finding::Fail, "lower bound 0.0 of 0.0");
    // One schema of four gains: an estimate above nothing, and a lower bound below it.
    let one = with(with(same(2, 2, 0), 0, (4, 0, 0)), 1, (4, 0, 0));
    finds(&ruled(lower, &one, &same(2, 2, 0)), Finding::Fail, "of +12.5 points");
    let estimate = "kind = \"gain\"\nmeasure = \"pass@1\"\nat_least = 12.5";
    finds(&ruled(estimate, &one, &same(2, 2, 0)), Finding::Pass, "+12.5 points");
    finds(&ruled(&estimate.replace("12.5", "12.6"), &one, &same(2, 2, 0)), Finding::Fail, "at least +12.6");
    // The training task is no part of it.
    let trained = with(same(2, 2, 0), 8, (4, 0, 0));
    finds(&ruled(lower, &trained, &same(2, 2, 0)), Finding::Fail, "of 0.0 points");
    // A bound from one schema says nothing of others, however large the gain.
    let gone = [(0, 0, 0); 9];
    let one = with(with(gone, 0, (4, 0, 0)), 1, (3, 1, 0));
    finds(&ruled(lower, &one, &same(1, 3, 0)), Finding::Undecided, "one schema");
    finds(&ruled(lower, &with(one, 2, (1, 3, 0)), &same(0, 4, 0)), Finding::Fail, "lower bound");
    let hat = "kind = \"gain\"\nmeasure = \"pass^8\"\nat_least = 0.0";
    let why = "pass^8 needs 8 judged attempts, 0 of 8 tasks have them";
    finds(&ruled(hat, &same(4, 0, 0), &same(2, 2, 0)), Finding::Undecided, why);
    finds(&ruled(hat, &same(8, 0, 0), &same(4, 4, 0)), Finding::Pass, "+100.0 points");
}

#[test]
fn gains_of_every_split() {
    let clause = "kind = \"gain\"\nmeasure = \"pass@1\"\neach = \"split\"\nat_least = -13.0";
    let better = same(3, 1, 0);
    finds(&ruled(clause, &with(better, 4, (2, 2, 0)), &same(3, 1, 0)), Finding::Pass, "new-family: −12.5 points");
    let worse = with(with(better, 4, (2, 2, 0)), 5, (2, 2, 0));
    finds(&ruled(clause, &worse, &same(3, 1, 0)), Finding::Fail, "new-family: −25.0 points");
    // The whole gains, the split still fails: a mean hides nothing.
    let mixed = [(4, 0, 0), (4, 0, 0), (4, 0, 0), (4, 0, 0), (2, 2, 0), (2, 2, 0), (4, 0, 0), (4, 0, 0), (4, 0, 0)];
    finds(&ruled(clause, &mixed, &same(3, 1, 0)), Finding::Fail, "new-family");
    // Only the training task got worse: no split that decides.
    finds(&ruled(clause, &with(better, 8, (0, 4, 0)), &same(3, 1, 0)), Finding::Pass, "0.0 points");
    let gone = with(with(better, 6, (0, 0, 0)), 7, (0, 0, 0));
    finds(&ruled(clause, &gone, &same(3, 1, 0)), Finding::Undecided, "no task in new-schema-and-family");
}

#[test]
fn levels() {
    let clause = "kind = \"level\"\nmeasure = \"pass@1\"\nat_least = 75.0";
    finds(&ruled(clause, &same(3, 1, 0), &same(0, 4, 0)), Finding::Pass, "75.0%");
    finds(&ruled(clause, &with(same(3, 1, 0), 0, (2, 2, 0)), &same(0, 4, 0)), Finding::Fail, "71.9%");
    let each = format!("{clause}\neach = \"schema\"");
    finds(&ruled(&each, &with(same(4, 0, 0), 0, (1, 3, 0)), &same(0, 4, 0)), Finding::Fail, "a-v1: 62.5%");
}

#[test]
fn rechecks() {
    let clause = "kind = \"recheck\"\nmeasure = \"pass@1\"\nwithin = 13.0";
    let rechecked = |counts: &[(usize, usize, usize); 9]| {
        let recheck = Some(side("new", counts));
        compared(clause, side("new", &same(3, 1, 0)), side("old", &same(1, 3, 0)), recheck).decision.rulings[0].clone()
    };
    finds(&rechecked(&same(3, 1, 0)), Finding::Pass, "0.0 points");
    // Half of the tasks lost one attempt of four: 12.5 points.
    let less = [(2, 2, 0), (3, 1, 0), (2, 2, 0), (3, 1, 0), (2, 2, 0), (3, 1, 0), (2, 2, 0), (3, 1, 0), (3, 1, 0)];
    finds(&rechecked(&less), Finding::Pass, "−12.5 points");
    finds(&rechecked(&same(2, 2, 0)), Finding::Fail, "−25.0 points");
    finds(&rechecked(&same(4, 0, 0)), Finding::Fail, "+25.0 points");
    let part = with(with(same(3, 1, 0), 0, (0, 0, 0)), 1, (0, 0, 0));
    finds(&rechecked(&part), Finding::Undecided, "only 6 of 8 decisive tasks were rechecked");
    finds(&ruled(clause, &same(3, 1, 0), &same(1, 3, 0)), Finding::Undecided, "name the run with --recheck");
}

#[test]
fn costs() {
    let clause = |most: f64| format!("kind = \"cost\"\nitem = \"tool-calls\"\nratio_at_most = {most:?}");
    finds(&ruled(&clause(1.0), &same(2, 2, 0), &same(1, 3, 0)), Finding::Pass, "1 times, over 8 tasks");
    finds(&ruled(&clause(0.9), &same(2, 2, 0), &same(1, 3, 0)), Finding::Fail, "at most 0.9 times");
    finds(&ruled(&clause(1.0), &same(2, 2, 0), &same(0, 4, 0)), Finding::Undecided, "no task that both did right");
}

#[test]
fn clauses_are_ruled_in_order_and_all_must_pass() {
    let text = DEFAULT_PROTOCOL.replace("episodes = 3000", "episodes = 100").replace("tasks = 50", "tasks = 8");
    // The recheck comes first in the file, and still after access and correctness.
    let recheck = "[[clause]]\nkind = \"recheck\"\nmeasure = \"pass@1\"\nwithin = 2.0\n";
    let text = text.replace("# First of all", &format!("{recheck}\n# First of all"));
    let protocol = Protocol::read(&text).unwrap();
    let decide = |again: Option<Arm>| {
        compare(side("new", &same(20, 0, 0)), side("old", &same(10, 10, 0)), again, &protocol, false).unwrap()
    };
    let found = decide(Some(side("new", &same(20, 0, 0))));
    assert!(found.decision.ship, "{:#?}", found.decision);
    assert!(found.headline().starts_with("Ship: new passes all 9 clauses against old."), "{}", found.headline());
    let order: Vec<_> = found.decision.rulings.iter().map(|ruling| ruling.clause.as_str()).collect();
    assert_eq!((order[0], order[8]), ("access violations", "pass@1 of the recheck less that of the candidate"));
    // The same without its recheck does not ship.
    let found = decide(None);
    assert!(!found.decision.ship);
    assert_eq!(found.decision.against().count(), 2);
    assert!(
        found.headline().contains("of 9 clauses, 2 cannot be decided (pass@1 of the recheck"),
        "{}",
        found.headline()
    );
}
