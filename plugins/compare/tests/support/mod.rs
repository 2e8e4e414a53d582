//! Short forms for contracts and tables.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "tests")]

use serde_json::{Value as Json, json};
use tribunal_compare::{Expectation, Reason, Table, Verdict};

/// A contract of columns given as `name: type`, where type is `integer`, `text`, `boolean`,
/// `date`, `timestamp`, `decimal` (two digits), `float` (exact), `cent` (a float within 0.01) or
/// `percent` (a float within 1%), with more parts merged in.
pub fn contract(columns: &str, more: Json) -> Json {
    let column = |text: &str| {
        let (name, kind) = text.split_once(':').unwrap();
        let kind = match kind.trim() {
            "text" => json!({"text": {}}),
            "decimal" => json!({"decimal": {"scale": 2}}),
            "float" => json!({"float": {}}),
            "cent" => json!({"float": {"abs": 0.01}}),
            "percent" => json!({"float": {"rel": 0.01}}),
            exact => json!(exact),
        };
        json!({"name": name.trim(), "type": kind})
    };
    let columns: Vec<Json> = columns.split(',').map(column).collect();
    let mut contract = json!({"version": 1, "columns": columns});
    for (key, value) in more.as_object().unwrap() {
        contract[key] = value.clone();
    }
    contract
}

/// The JSON of a table of columns given as `name: kind`.
pub fn table_json(columns: &str, rows: Json) -> Json {
    let column = |text: &str| {
        let (name, kind) = text.split_once(':').unwrap();
        json!({"name": name.trim(), "kind": kind.trim()})
    };
    let columns: Vec<Json> = columns.split(',').map(column).collect();
    json!({"columns": columns, "rows": rows})
}

pub fn table(columns: &str, rows: Json) -> Table {
    serde_json::from_value(table_json(columns, rows)).unwrap()
}

/// The kinds in which an engine would give gold of these columns.
pub fn kinds(columns: &str) -> String {
    columns.replace("percent", "float").replace("cent", "float")
}

pub fn expectation(contract: &Json, gold: &Json) -> Result<Expectation, String> {
    let text = json!({"version": 1, "contract": contract, "gold": gold}).to_string();
    Expectation::from_json(&text).map_err(|refusal| refusal.to_string())
}

/// Gold under a contract; kinds are those of the contract.
pub fn gold(columns: &str, more: Json, rows: Json) -> Expectation {
    expectation(&contract(columns, more), &table_json(&kinds(columns), rows)).unwrap()
}

pub fn judge(gold: &Expectation, columns: &str, rows: Json) -> Verdict {
    gold.check(&table(columns, rows))
}

/// Asserts the reason of a submission.
#[track_caller]
pub fn expect(gold: &Expectation, columns: &str, rows: Json, reason: Reason) -> Verdict {
    let verdict = judge(gold, columns, rows);
    assert_eq!(verdict.reason, reason, "{verdict:?}");
    assert_eq!(verdict.ok, reason == Reason::Match);
    assert_eq!(verdict.difference.is_none(), verdict.ok, "{verdict:?}");
    verdict
}

/// Asserts that a contract with its gold is refused with words of the message.
#[track_caller]
pub fn refused(contract: &Json, gold: &Json, words: &str) {
    match expectation(contract, gold) {
        Ok(_) => panic!("accepted; expected: {words}"),
        Err(message) => assert!(message.contains(words), "{message}"),
    }
}
