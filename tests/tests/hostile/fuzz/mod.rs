//! Fuzzers, each with a fixed budget in `make test`; more of one with
//! `make fuzz-component N=100000 SEED=7` (component, contract, suite, task, trace, values).
//!
//! Good input comes from the corpora of the repository; it is spoiled from a seed. Whatever comes
//! in, nothing panics, and what is refused is refused by name.

pub(crate) mod component;
mod text;
mod trace;
mod values;

use std::collections::BTreeMap;

use tribunal_tests::random_queries::Dice;
use tribunal_tests::told::number;

/// The seeds of a run: `default` of them, or as told from outside.
fn seeds(default: u64) -> std::ops::Range<u64> {
    let first = number("SEED", 0);
    first..first + number("CASES", default)
}

/// Runs every case and counts outcomes. A case that panics is named by its seed.
#[expect(clippy::print_stdout, reason = "what became of the cases, shown with --nocapture")]
fn each(label: u64, default: u64, mut case: impl FnMut(&mut Dice) -> &'static str) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for seed in seeds(default) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&mut Dice::new(seed, label))));
        match outcome {
            Ok(outcome) => *counts.entry(outcome).or_insert(0) += 1,
            Err(_) => panic!("SEED={seed} CASES=1 panicked"),
        }
    }
    println!("{counts:?}");
    counts
}

/// A fuzzer has teeth only where enough of its cases come through, and enough do not.
fn at_least(counts: &BTreeMap<&'static str, u64>, outcome: &str, one_in: u64) {
    let all: u64 = counts.values().sum();
    let count = counts.get(outcome).copied().unwrap_or(0);
    assert!(count * one_in >= all || all < 500, "{outcome}: {count} of {all}");
}
