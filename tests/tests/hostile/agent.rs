//! A hostile agent with honest tools. An episode that it loses must count as lost: whatever it
//! asks for, it cannot make a tool break, and so cannot void what it would fail.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tribunal_episode::{Prepared, run};
use tribunal_protocol::event::Event;
use tribunal_protocol::policy::{Action, Observation, names};
use tribunal_scripted::Script;

use crate::attack::verdict;
use crate::world::{WORLD, task};

/// Each with what the agent reads of it: the code of a failure, or nothing where it gets a result.
fn asks() -> Vec<(&'static str, Json, &'static str)> {
    let sql = |sql: &str| json!({"sql": sql});
    // 3,125 rows; 15,625.
    let five = "sales a, sales b, sales c, sales d, sales e";
    let six = "sales a, sales b, sales c, sales d, sales e, sales f";
    // A control character is one byte in a table and six in JSON.
    let control = |bytes: usize| format!("SELECT LPAD('', {bytes}, '\u{1}') AS c FROM {five}");
    let repeated = |column: &str, times: usize| {
        vec![column; times]
            .iter()
            .enumerate()
            .map(|(n, column)| format!("{column} AS c{n}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let seven = "sales a, sales b, sales c, sales d, sales e, sales f, sales g";
    vec![
        ("ten million bytes", sql(&format!("SELECT {} FROM {five}", repeated("LPAD('', 1000, 'x')", 3))), "quota"),
        (
            "three thousand thousand bytes of numbers",
            sql(&format!("SELECT {} FROM {seven} LIMIT 78000", repeated("a.id", 5))),
            "quota",
        ),
        ("most rows", sql(&format!("SELECT a.id AS n FROM {five}")), ""),
        ("too many rows", sql(&format!("SELECT a.id AS n FROM {six}")), "quota"),
        ("wide rows", sql(&format!("SELECT LPAD('', 600, 'x') AS c, LPAD('', 600, 'y') AS d FROM {five}")), ""),
        (
            "too wide rows",
            sql(&format!("SELECT LPAD('', 1000, 'x') AS c, LPAD('', 1000, 'y') AS d FROM {five}")),
            "quota",
        ),
        ("what grows as JSON", sql(&control(200)), ""),
        ("what grows too much as JSON", sql(&control(1_000)), "quota"),
        ("text beyond ASCII", sql(&format!("SELECT LPAD('', 300, '\u{1F642}') AS c FROM {five}")), ""),
        (
            "many columns",
            sql(&format!(
                "SELECT {} FROM sales",
                (0..200).map(|n| format!("id AS c{n}")).collect::<Vec<_>>().join(", ")
            )),
            "",
        ),
        ("a name of a column that is long", sql(&format!("SELECT id AS \"{}\" FROM sales", "n".repeat(10_000))), ""),
        (
            "numbers at their edges",
            sql("SELECT 9223372036854775807 AS a, -9223372036854775807 AS b, 0.1 AS c, 1e300 AS d FROM sales"),
            "",
        ),
        ("a number that overflows", sql("SELECT 9223372036854775807 + id AS a FROM sales"), "invalid"),
        ("division by nothing", sql("SELECT 1 / (id - id) AS a FROM sales"), ""),
        ("no statement", sql(";;"), "invalid"),
        ("no text", json!({"sql": 7}), "invalid"),
        ("no argument", json!([]), "invalid"),
        ("an argument too many", json!({"sql": "SELECT 1 AS a", "\u{0}": 1}), "invalid"),
        ("a limit out of reach", json!({"sql": "SELECT id AS n FROM sales", "limit": 1e300}), "invalid"),
        ("a zero byte", sql("SELECT '\u{0}' AS a FROM sales"), ""),
    ]
}

#[test]
fn no_question_of_an_agent_voids_its_episode() {
    let mut wrong = Vec::new();
    for budget in ["", "the default"] {
        let mut task = task();
        if !budget.is_empty() {
            task.grant.truncate(task.grant.find("[budget]").unwrap());
        }
        let stage = WORLD.honest_stage();
        let prepared = Prepared::new(&stage, Arc::new(task)).unwrap();
        for (what, arguments, expected) in asks() {
            let actions = vec![Action::call("query", arguments), Action::call(names::DONE, json!({}))];
            let events = run(&prepared, "hostile", &mut Script::new(actions), 0, 0);
            let code = events.iter().find_map(|event| match event {
                Event::Step(step) => match &step.observation {
                    Observation::Failure(failure) => Some(failure.to_string()),
                    Observation::Result { .. } => None,
                },
                Event::Header(_) | Event::Judgement(_) | Event::End(_) => None,
            });
            let (verdict, _, fault) = verdict(&events);
            println!("{what} ({budget}): {verdict}, {code:?}, {fault:?}");
            let code = code.unwrap_or_default();
            let as_expected = if expected.is_empty() { code.is_empty() } else { code.starts_with(expected) };
            // Under the default budget more is allowed; there, all that counts is the verdict.
            if verdict != "scored 0 no-answer" || budget.is_empty() && !as_expected {
                wrong.push(format!("{what} ({budget}): `{expected}` expected, {verdict} `{code}` {fault:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Answers that are made to be more work than the verifier can do.
#[test]
fn no_answer_of_an_agent_voids_its_episode() {
    let seven = "sales a, sales b, sales c, sales d, sales e, sales f, sales g";
    let five = "sales a, sales b, sales c, sales d, sales e";
    let answers = [
        ("the right one, once", crate::world::QUERY.to_owned()),
        ("many equal rows", format!("SELECT a.region AS region, 42 AS total FROM {seven}")),
        (
            "many different rows",
            format!(
                "SELECT a.region AS region, a.id + 10 * b.id + 100 * c.id + 1000 * d.id + 10000 * e.id + 100000 * f.id + 1000000 * g.id AS total FROM {seven}"
            ),
        ),
        ("long texts", format!("SELECT LPAD('', 1000, 'x') AS region, a.id AS total FROM {five}")),
        (
            "long texts that must be composed",
            format!("SELECT LPAD('', 600, 'e\u{301}') AS region, a.id AS total FROM {five}"),
        ),
        ("numbers as floats", format!("SELECT a.region AS region, 0.5 * a.id + b.id AS total FROM {seven}")),
        ("texts just below the most", format!("SELECT LPAD('', 90, 'e\u{301}') AS region, a.id AS total FROM {five}")),
        ("letters just below the most", format!("SELECT LPAD('', 135, 'x') AS region, a.id AS total FROM {five}")),
        (
            "short rows just below the most",
            "SELECT '' AS region, a.id AS total FROM sales a, sales b, sales c, sales d, sales e, sales f LIMIT 15000"
                .to_owned(),
        ),
        (
            "right, and far too much on other data",
            format!(
                "{} UNION ALL SELECT LPAD('', 200, 'x') AS region, a.id AS total FROM {five} WHERE (SELECT COUNT(*) FROM sales) > 5",
                crate::world::QUERY.trim_end_matches(" ORDER BY region")
            ),
        ),
        (
            "names by the hundred",
            format!(
                "SELECT {}, a.region AS region, a.id AS total FROM {five}",
                (0..200).map(|n| format!("a.id AS c{n}")).collect::<Vec<_>>().join(", ")
            ),
        ),
    ];
    let mut task = task();
    task.grant.truncate(task.grant.find("[budget]").unwrap());
    let prepared = Prepared::new(&WORLD.honest_stage(), Arc::new(task)).unwrap();
    let mut wrong = Vec::new();
    for (what, sql) in answers {
        let actions = vec![Action::call("query", json!({"sql": sql})), Action::call(names::SUBMIT, json!({"call": 1}))];
        let events = run(&prepared, "hostile", &mut Script::new(actions), 0, 0);
        let (verdict, instance, fault) = verdict(&events);
        let fuel = events.iter().find_map(|event| match event {
            Event::Judgement(judgement) => Some(judgement.usage.fuel),
            Event::Header(_) | Event::Step(_) | Event::End(_) => None,
        });
        println!("{what}: {verdict} on {instance}, {fuel:?}, {fault:?}");
        // Some are not even taken, and end without a submission; none is void, and one is right.
        let expected = match what {
            "the right one, once" => verdict == "passed",
            "right, and far too much on other data" => verdict == "scored 0 failed-on-hidden-data" && instance == 1,
            what if what.contains("just below") => verdict == "scored 0 row-count",
            _ => verdict.starts_with("scored 0 ") || verdict == "invalid no-submission",
        };
        if !expected {
            wrong.push(format!("{what}: {verdict} {fault:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
