//! The audit has teeth: it finds every fault of verifiers that decide as published comparators do, finds
//! nothing wrong with ours, catches mutants of ours, and hacks score nothing. `docs/audit.md` says so.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use serde_json::json;
use tribunal_audit::CaseKind;
use tribunal_sandbox::Plugin;
use tribunal_tests::analytics::{Analytics, analytics};
use tribunal_tests::audit_page::{Caught, Column, page};
use tribunal_tests::hacks::{Fared, try_hacks};
use tribunal_tests::mutants;
use tribunal_tests::tool::root;
use tribunal_tests::trial::{Candidate, Trials, Tried, load, ours};

/// Tasks of the trial: one of nearly every family.
const TASKS: usize = 24;
/// Ours, in the order of the page.
const OURS: [&str; 3] = ["verifier-result", "verifier-state", "verifier-clarify"];

static WORLD: LazyLock<Analytics> = LazyLock::new(|| analytics(TASKS, |_| true).unwrap());
static TRIALS: LazyLock<Trials<'static>> = LazyLock::new(|| Trials::new(&WORLD, 1));
static GUESTS: LazyLock<BTreeMap<String, Arc<Plugin>>> = LazyLock::new(|| {
    let built = mutants::build().unwrap();
    built.into_iter().map(|(package, path)| (package, load(&path).unwrap())).collect()
});
static COMPARATORS: LazyLock<Vec<(&str, Tried)>> = LazyLock::new(|| {
    let tried = |comparator: &Comparator| {
        let settings = json!({"decides": comparator.name}).to_string();
        let plugin = Arc::clone(&GUESTS["verifier-published"]);
        let candidate = Candidate { plugin, in_place_of: "verifier-result".to_owned(), settings: Some(settings) };
        (comparator.name, TRIALS.audit(&candidate).unwrap())
    };
    PUBLISHED.iter().map(tried).collect()
});
static OWN: LazyLock<Vec<(&str, Tried)>> = LazyLock::new(|| {
    let tried = |name: &&'static str| {
        let candidate = Candidate { plugin: ours(name).unwrap(), in_place_of: (*name).to_owned(), settings: None };
        (*name, TRIALS.audit(&candidate).unwrap())
    };
    OURS.iter().map(tried).collect()
});

/// A published comparator and what is known of it.
struct Comparator {
    name: &'static str,
    /// Faults that it must be found to have.
    faults: &'static [CaseKind],
    /// Faults that it does not have, so that finding everything everywhere is no success.
    sound: &'static [CaseKind],
}

use CaseKind::{
    CellChanged, ColumnTwice, ColumnsPermuted, Constant, DuplicateLost, DuplicateRow, Empty, EmptyUnrelated,
    EveryAnswer, ExtraColumn, ExtraRow, Flattery, Gold, LastNumber, NoOp, Null, NullAsZero, NumbersOtherwise,
    OtherTask, OutsideTolerance, Reordered, Rounded, RowMissing, RowsShuffled, ScrambledRows, SwappedColumns,
    TiesOtherwise, UnitError, VisibleOnly, WithinTolerance, WrongSubmission,
};

const PUBLISHED: [Comparator; 8] = [
    Comparator {
        name: "set",
        faults: &[
            DuplicateRow,
            DuplicateLost,
            Reordered,
            EmptyUnrelated,
            ColumnsPermuted,
            WithinTolerance,
            TiesOtherwise,
        ],
        sound: &[Constant, CellChanged, NullAsZero, RowMissing, Empty],
    },
    Comparator {
        name: "permuted-bag",
        faults: &[EmptyUnrelated, SwappedColumns, NumbersOtherwise, WithinTolerance, TiesOtherwise],
        sound: &[DuplicateRow, DuplicateLost, Constant, NullAsZero, ScrambledRows],
    },
    Comparator {
        name: "vectors",
        faults: &[ScrambledRows, ExtraColumn, ColumnTwice, NullAsZero, Rounded, OutsideTolerance, WithinTolerance],
        sound: &[DuplicateRow, UnitError, RowMissing, Empty],
    },
    Comparator {
        name: "two-decimals",
        faults: &[Rounded, DuplicateRow, DuplicateLost, Gold, ColumnsPermuted],
        sound: &[UnitError, Constant, NullAsZero, RowMissing],
    },
    Comparator {
        name: "substring",
        faults: &[EveryAnswer, SwappedColumns, ScrambledRows, ExtraRow, ExtraColumn, Flattery],
        sound: &[Empty, Constant, NoOp],
    },
    Comparator {
        name: "exit-code",
        faults: &[Empty, Null, Constant, NoOp, CellChanged, OtherTask, VisibleOnly, WrongSubmission, Flattery],
        sound: &[Gold, RowsShuffled, ColumnsPermuted],
    },
    Comparator {
        name: "non-empty",
        faults: &[Null, Constant, CellChanged, OtherTask, VisibleOnly, UnitError, ExtraRow],
        sound: &[Empty, NoOp, RowsShuffled],
    },
    Comparator {
        name: "last-number",
        faults: &[LastNumber, EveryAnswer, ExtraRow, RowsShuffled],
        sound: &[Empty, NoOp, Null],
    },
];

fn found(tried: &Tried) -> BTreeSet<CaseKind> {
    tried.audit.findings.iter().map(|finding| finding.kind).collect()
}

/// All that was found, for whoever reads of a test that failed.
fn shown(tried: &Tried) -> String {
    let finding = |finding: &tribunal_audit::Finding| {
        let example = serde_json::to_string(&finding.example).unwrap();
        format!("{}: {} of {}: {example}", finding.kind, finding.wrong, finding.of)
    };
    let broken = tried.audit.checks.iter().filter(|check| !check.holds);
    let broken = broken.map(|check| format!("{}: {:?}", check.check.says(), check.cases));
    let headline = std::iter::once(tried.audit.headline());
    headline.chain(tried.audit.findings.iter().map(finding)).chain(broken).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_wrong_with_ours() {
    for (name, tried) in OWN.iter() {
        println!("{}", tried.audit.headline());
        assert!(tried.audit.sound, "{name}: {}", shown(tried));
    }
}

#[test]
fn every_known_fault_of_a_published_comparator_is_found() {
    for (comparator, (name, tried)) in PUBLISHED.iter().zip(COMPARATORS.iter()) {
        let found = found(tried);
        println!("{}", tried.audit.headline());
        let missed: Vec<_> = comparator.faults.iter().filter(|kind| !found.contains(kind)).collect();
        assert!(missed.is_empty(), "{name}: not found: {missed:?}");
        let invented: Vec<_> = comparator.sound.iter().filter(|kind| found.contains(kind)).collect();
        assert!(
            invented.is_empty(),
            "{name}: found though not there: {invented:?}
{}",
            shown(tried)
        );
    }
}

/// What is shown of a wrong decision is small, and still shows it.
#[test]
fn wrong_decisions_are_shown_by_small_cases() {
    for (name, tried) in COMPARATORS.iter() {
        for finding in &tried.audit.findings {
            assert!(!finding.example.decided.is(finding.expected), "{name}: {finding:?}");
        }
    }
    let (_, set) = &COMPARATORS[0];
    let example = |kind: CaseKind| &set.audit.findings.iter().find(|finding| finding.kind == kind).unwrap().example;
    // A row that counts twice takes one column and three rows on both sides together.
    assert!(example(DuplicateLost).size <= 3, "{:?}", example(DuplicateLost));
    assert!(example(Reordered).size <= 4, "{:?}", example(Reordered));
}

#[test]
fn twice_the_same_bytes() {
    let candidate = Candidate {
        plugin: Arc::clone(&GUESTS["verifier-published"]),
        in_place_of: "verifier-result".to_owned(),
        settings: Some(json!({"decides": "vectors"}).to_string()),
    };
    let again = Trials::new(&WORLD, 1).audit(&candidate).unwrap();
    let (_, first) = COMPARATORS.iter().find(|(name, _)| *name == "vectors").unwrap();
    let bytes = |tried: &Tried| (serde_json::to_string(&tried.audit).unwrap(), tried.audit.page().unwrap());
    assert_eq!(bytes(&again), bytes(first));
    let other = Trials::new(&WORLD, 2).audit(&candidate).unwrap();
    assert_ne!(bytes(&other), bytes(first), "the seed decides nothing");
}

static MUTANTS: LazyLock<Vec<Caught>> = LazyLock::new(|| {
    let mut caught = Vec::new();
    for mutant in mutants::list().unwrap() {
        for of in &mutant.of {
            let package = format!("verifier-{of}");
            let candidate = Candidate {
                plugin: Arc::clone(&GUESTS[&package]),
                in_place_of: package.clone(),
                settings: Some(json!({"mutant": mutant.number}).to_string()),
            };
            let by = TRIALS.wrong(&candidate).unwrap().into_iter().map(|kind| kind.name().to_owned()).collect();
            caught.push(Caught { name: mutant.name.clone(), of: package, by });
        }
    }
    caught
});

#[test]
fn mutants_of_ours_are_caught() {
    let survived: Vec<&str> =
        MUTANTS.iter().filter(|mutant| mutant.by.is_empty()).map(|mutant| mutant.name.as_str()).collect();
    println!("{} mutants, survived: {survived:?}", MUTANTS.len());
    assert!(survived.len() * 20 <= MUTANTS.len(), "{} of {} survived: {survived:?}", survived.len(), MUTANTS.len());
}

static HACKS: LazyLock<Vec<Fared>> = LazyLock::new(|| try_hacks(&WORLD, &GUESTS).unwrap());

#[test]
fn hacks_score_nothing_here_and_a_lot_elsewhere() {
    for fared in HACKS.iter() {
        println!("{fared:?}");
    }
    for Fared { hack, tasks, ours, beaten, .. } in HACKS.iter() {
        assert!(*tasks > 0, "{hack:?}: no task that it could matter to");
        assert!(ours * 100 <= *tasks, "{hack:?}: {ours} of {tasks} under ours");
        assert!(beaten * 2 > *tasks, "{hack:?}: {beaten} of {tasks} under the naive one");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the page is written where the environment asks for it")]
fn the_page_is_what_is_written() {
    let columns = |tried: &[(&str, Tried)]| -> Vec<Column> {
        tried.iter().map(|(name, tried)| Column { name: (*name).to_owned(), audit: tried.audit.clone() }).collect()
    };
    let written = page(&columns(&COMPARATORS), &columns(&OWN), &MUTANTS, &HACKS, WORLD.tasks.len());
    let path = root().join("docs/audit.md");
    if std::env::var("WRITE").is_ok() {
        std::fs::write(&path, &written).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == written, "{} is not what is found now; `make audit-page` writes it", path.display());
}
