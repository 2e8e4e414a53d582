//! The second wall, as a property: change any data outside a contract, and every byte that its
//! holder sees stays the same.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use tribunal_protocol::schema::Engine;
use tribunal_tests::interference::{case, first_difference, seen};
use tribunal_tests::told::number;

/// Cases of `make test` on each engine; more with `CASES=..`.
const CASES: u64 = 20_000;

fn no_byte_changes(engine: Engine) {
    let (cases, first) = (number("CASES", CASES), number("SEED", 0));
    let half = cases / 2;
    let check = |range: std::ops::Range<u64>| {
        for seed in range {
            let case = case(seed);
            if let Some(difference) = first_difference(engine, &case, &case.contract) {
                panic!("SEED={seed} CASES=1\n{}\n{difference}", case.contract);
            }
        }
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| check(first..first + half));
        check(first + half..first + cases);
        other.join().unwrap();
    });
}

#[test]
fn what_a_contract_hides_changes_no_byte_that_its_holder_sees() {
    no_byte_changes(Engine::Gluesql);
}

#[test]
fn what_a_contract_hides_changes_no_byte_on_sqlite() {
    no_byte_changes(Engine::Sqlite);
}

/// The same cases under a contract that grants everything: the alterations can be seen, so a wall
/// that let them through would be noticed.
#[test]
fn a_contract_that_grants_all_shows_the_difference() {
    let all = "[contract]\nname = \"all\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n\
               [[write]]\ntable = \"*\"\nverbs = [\"insert\", \"update\", \"delete\"]\ncolumns = [\"*\"]\n";
    for engine in Engine::ALL {
        let differ = (0..400).filter(|seed| first_difference(engine, &case(*seed), all).is_some()).count();
        assert!(differ > 200, "{differ} of 400 on {engine:?}");
    }
}

/// Most statements do something: a holder to whom everything is refused sees no difference either.
#[test]
fn most_statements_are_carried_out() {
    let (mut done, mut all) = (0, 0);
    for seed in 0..400 {
        let case = case(seed);
        let answers = seen(Engine::Gluesql, &case.datasets[0], &case.contract, &case.operations);
        let refused = ["unknown: ", "denied: ", "unsupported: ", "invalid: ", "quota: ", "failed: "];
        done += answers.iter().filter(|answer| !refused.iter().any(|code| answer.starts_with(code))).count();
        all += answers.len();
    }
    assert!(done * 3 > all, "{done} of {all}");
}
