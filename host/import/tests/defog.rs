//! Five real schemas with 135 questions, where they lie beside the workspace.

use std::path::Path;

use tribunal_import::{Class, DEFAULT_CLOCK, ImportedSuite, import};

/// Questions whose alternatives contradict each other, found by hand: number 13 takes NULL and 0
/// for the ratio of a domain without keywords.
const GOLD_WRONG: [u32; 1] = [13];
/// How many are scored: all others.
const SCORED: u32 = 134;

#[test]
fn every_question_is_judged_and_none_is_silently_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/defog");
    if !folder.is_dir() {
        {
            eprintln!("skipped: no folder {}", folder.display());
        }
        return;
    }
    let made = import(&folder, DEFAULT_CLOCK).unwrap();
    let report = &made.report;
    assert_eq!((report.questions, report.results.len()), (135, 135));
    assert_eq!(report.problems, []);
    // Rows by schema, counted in the files by hand: lines that begin with `(`.
    let rows: Vec<(String, usize)> = made
        .suite
        .schemas
        .iter()
        .map(|(schema, data)| (schema.name.clone(), data.tables.iter().map(|table| table.rows.len()).sum()))
        .collect();
    let expected = [("academic", 70), ("advising", 73), ("atis", 215), ("geography", 74), ("restaurants", 27)];
    assert_eq!(rows, expected.map(|(name, rows)| (name.to_owned(), rows)));
    let of = |class| report.results.iter().filter(move |result| result.class == class);
    let disagree: Vec<String> =
        of(Class::Disagree).map(|result| format!("{}: {}", result.number, result.why)).collect();
    assert!(disagree.is_empty(), "{disagree:#?}");
    let wrong: Vec<u32> = of(Class::GoldWrong).map(|result| result.number).collect();
    assert_eq!(wrong, GOLD_WRONG);
    assert!(of(Class::Unsupported).all(|result| !result.why.is_empty()));
    let scored = report.count(Class::Scored);
    let unsupported: Vec<String> =
        of(Class::Unsupported).map(|result| format!("{}: {}", result.number, result.why)).collect();
    println!("{scored} of 135 scored, {} gold wrong, unsupported: {unsupported:#?}", wrong.len());
    assert!(scored >= SCORED, "{scored} scored; unsupported: {unsupported:#?}");
    assert_eq!(made.suite.tasks.len(), usize::try_from(scored).unwrap());
    // Every class is counted once: the totals add up by schema and by category.
    let sum = |counts: &std::collections::BTreeMap<Class, u32>| counts.values().sum::<u32>();
    assert_eq!(report.by_schema.values().map(sum).sum::<u32>(), 135);
    assert_eq!(report.by_category.values().map(sum).sum::<u32>(), 135);
    // On disk and back.
    let target = tempfile::TempDir::new().unwrap();
    let path = target.path().join("suite");
    made.suite.write(&path, report, made.licence_text.as_deref(), false).unwrap();
    assert_eq!(ImportedSuite::load(&path).unwrap(), made.suite);
    assert!(made.suite.licence.starts_with("Apache License"), "{}", made.suite.licence);
}

/// Golden answers worked out by hand from the files, for the clock 2025-06-30.
#[test]
fn golds_are_what_a_person_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/defog");
    if !folder.is_dir() {
        return;
    }
    let made = import(&folder, DEFAULT_CLOCK).unwrap();
    for (id, rows) in [
        // Predicted graduation: 2022-05-01 three times, 2014-06-30 and 2016-06-30: four since 2015-06-30.
        ("advising-q0028", "[[4]]"),
        // From 2019-01-01 to 2025-06-30: 6 years with one leap day (2020) and another (2024), then 180 days.
        ("advising-q0029", "[[2372]]"),
        // 5 publications, 5 authors.
        ("academic-q0011", "[[1.0]]"),
        ("restaurants-q0116", "[[\"Pine Ave\"]]"),
        ("atis-q0084", "[[23]]"),
    ] {
        let task = made.suite.tasks.iter().find(|task| task.id == id).unwrap();
        let expectation: serde_json::Value = serde_json::from_str(&task.instances[0].expectation).unwrap();
        assert_eq!(expectation["gold"]["rows"].to_string(), rows, "{id}");
    }
}

/// Question 130, how many restaurants there are in each region, has two golds: with and without
/// the region that has none. By the file: six in California (1 to 3 in Los Angeles, 7 to 9 in San
/// Francisco), three in New York (4 to 6), two in Florida (10 and 11), none in Illinois.
#[test]
fn a_question_with_two_golds_keeps_both() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/defog");
    if !folder.is_dir() {
        return;
    }
    let made = import(&folder, DEFAULT_CLOCK).unwrap();
    let task = made.suite.tasks.iter().find(|task| task.id == "restaurants-q0130").unwrap();
    let expectation = tribunal_compare::Expectation::from_json(&task.instances[0].expectation).unwrap();
    let reason = |rows: serde_json::Value| {
        let columns = serde_json::json!([{"name": "region", "kind": "text"}, {"name": "n", "kind": "integer"}]);
        let answer = serde_json::from_value(serde_json::json!({"columns": columns, "rows": rows})).unwrap();
        expectation.check(&answer).reason.to_string()
    };
    let some = serde_json::json!([["California", 6], ["New York", 3], ["Florida", 2]]);
    let all = serde_json::json!([["Illinois", 0], ["Florida", 2], ["California", 6], ["New York", 3]]);
    assert_eq!((reason(some).as_str(), reason(all).as_str()), ("match", "match"));
    let wrong = serde_json::json!([["Illinois", 1], ["Florida", 2], ["California", 6], ["New York", 3]]);
    assert_eq!(reason(wrong), "row-mismatch");
    let fewer = serde_json::json!([["California", 6], ["New York", 3]]);
    assert_eq!(reason(fewer), "row-count");
    let mixed = serde_json::json!([["California", 6], ["New York", 3], ["Illinois", 0]]);
    assert_eq!(reason(mixed), "row-mismatch");
    // What the agent is told of it is the question and the columns.
    assert!(!task.instruction.contains("Illinois"), "{}", task.instruction);
}
