//! The two tasks that are played: an answer, and a change of state.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow};
use rust_decimal::Decimal;
use serde_json::json;
use tribunal_protocol::policy::{Action, names};
use tribunal_protocol::schema::Dataset;
use tribunal_protocol::task::{AnswerColumn, AnswerForm, Instance, SchemaRef, Split, Task, TaskKind};
use tribunal_protocol::{Kind, Table, Value};

use crate::data;

/// The grouped join: paid invoices by region.
pub(crate) const QUERY: &str = "SELECT a.region AS region, COUNT(*) AS invoices, SUM(i.total) AS total \
     FROM invoices AS i JOIN accounts AS a ON a.id = i.account_id \
     WHERE a.is_test = FALSE AND i.status = 'paid' GROUP BY a.region ORDER BY a.region";

/// The invoice that is refunded: in every data set it is paid and has no refund yet.
const INVOICE: i64 = 17;
const REASON: &str = "duplicate charge";

/// What the agent may touch.
pub(crate) const GRANT: &str = r#"
    [contract]
    name = "bench"
    [[read]]
    table = "*"
    columns = ["*"]
    [[write]]
    table = "refunds"
    verbs = ["insert"]
    columns = ["*"]
    [budget]
    statements = 120
    rows_scanned = 5_000_000
    rows_returned = 20_000
    bytes_returned = "2 MiB"
"#;

/// What a verifier of the final state may read.
const VERIFIER_GRANT: &str = "[contract]\nname = \"bench\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n";

/// The rule of the ledger's refund on this schema.
fn ledger() -> serde_json::Value {
    json!({"refund": {
        "source": {"table": "invoices", "id": "id", "amount": "total", "status": "status", "refundable": ["paid"]},
        "refunds": {
            "table": "refunds", "id": "id", "source": "invoice_id", "amount": "amount", "reason": "reason",
            "issued_on": "refunded_on",
        },
        "clock": "2026-01-01",
    }})
}

/// How the task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Answer,
    State,
}

/// Lists, describes, joins; then hands in the answer, or refunds and is done.
pub(crate) fn actions(ending: Ending) -> Vec<Action> {
    let mut actions = vec![
        Action::call("list_tables", json!({})),
        Action::call("describe_table", json!({"table": "invoices"})),
        Action::call("query", json!({"sql": QUERY})),
    ];
    match ending {
        Ending::Answer => actions.push(Action::call(names::SUBMIT, json!({"call": 3}))),
        Ending::State => {
            actions
                .push(Action::call("issue_refund", json!({"source_id": INVOICE, "amount": "0.50", "reason": REASON})));
            actions.push(Action::call(names::DONE, json!({})));
        }
    }
    actions
}

/// The schema that every instance has.
pub(crate) fn schema() -> SchemaRef {
    SchemaRef { name: "bench".to_owned(), version: 1 }
}

/// A task over these data seeds; the expectations of a state are filled in by whoever plays it.
pub(crate) fn task(ending: Ending, seeds: &[u64]) -> Result<Task> {
    let instance = |seed: &u64| {
        let expectation = match ending {
            Ending::Answer => answer(&data::small(*seed))?.to_string(),
            Ending::State => String::new(),
        };
        anyhow::Ok(Instance { seed: *seed, expectation })
    };
    let (kind, tools, verifier, columns) = match ending {
        Ending::Answer => (TaskKind::Answer, &["tool-catalog", "tool-query"][..], "verifier-result", &COLUMNS[..]),
        Ending::State => {
            (TaskKind::State, &["tool-catalog", "tool-query", "tool-ledger"][..], "verifier-state", &[][..])
        }
    };
    let column = |(name, kind): &(&str, Kind)| AnswerColumn { name: (*name).to_owned(), kind: *kind };
    Ok(Task {
        id: format!("bench-{kind}"),
        suite: "bench@1".to_owned(),
        family: "paid-by-region".to_owned(),
        schema: schema(),
        kind,
        split: Split::Train,
        fingerprint: data::small(*seeds.first().context("a seed")?).fingerprint(),
        instruction: "How much did accounts that are no test accounts pay on invoices, by region? Give region, \
                      invoices (their count) and total (in EUR)."
            .to_owned(),
        answer: columns.iter().map(column).collect(),
        answer_form: AnswerForm::Call,
        instances: seeds.iter().map(instance).collect::<Result<_>>()?,
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        grant: GRANT.to_owned(),
        settings: BTreeMap::from([("tool-ledger".to_owned(), ledger().to_string())]),
        verifier: verifier.to_owned(),
        verifier_grant: VERIFIER_GRANT.to_owned(),
        user: None,
        failures: Vec::new(),
        steps: 12,
        oracle: actions(ending),
        mutants: Vec::new(),
    })
}

const COLUMNS: [(&str, Kind); 3] = [("region", Kind::Text), ("invoices", Kind::Integer), ("total", Kind::Decimal)];

/// What `verifier-result` expects.
fn answer(data: &Dataset) -> Result<serde_json::Value> {
    let columns = json!([
        {"name": "region", "type": {"text": {}}},
        {"name": "invoices", "type": "integer", "nullable": false},
        {"name": "total", "type": {"decimal": {"scale": 2}}, "nullable": false},
    ]);
    let gold = gold(data)?;
    Ok(json!({"version": 1, "contract": {"version": 1, "columns": columns}, "gold": gold}))
}

/// The gold answer, worked out here row by row and by no engine.
pub(crate) fn gold(data: &Dataset) -> Result<Table> {
    let [accounts, invoices, _] = data.tables.as_slice() else { return Err(anyhow!("three tables expected")) };
    let mut regions = BTreeMap::new();
    for row in &accounts.rows {
        if let [Value::Integer(id), _, region, Value::Boolean(false), _] = row.as_slice() {
            regions.insert(*id, region);
        }
    }
    let mut totals: BTreeMap<String, (Value, i64, Decimal)> = BTreeMap::new();
    for row in &invoices.rows {
        let [_, Value::Integer(account), _, Value::Decimal(total), Value::Text(status)] = row.as_slice() else {
            continue;
        };
        let Some(region) = regions.get(account).filter(|_| status == "paid") else { continue };
        let entry = totals.entry(region.to_string()).or_insert_with(|| ((*region).clone(), 0, Decimal::ZERO));
        entry.1 += 1;
        entry.2 += *total;
    }
    let row = |(region, count, total): &(Value, i64, Decimal)| {
        vec![region.clone(), Value::Integer(*count), Value::Decimal(*total)]
    };
    let columns = COLUMNS.map(|(name, kind)| (name.to_owned(), kind));
    Table::from_rows(&columns, &totals.values().map(row).collect::<Vec<_>>()).map_err(|why| anyhow!(why))
}
