//! A small run, made by hand: six tasks over all five kinds, four policies, two attempts each.

use std::collections::BTreeMap;

use serde_json::json;
use tribunal_evaluate::{EpisodeId, Refused, RunInfo};
use tribunal_protocol::event::{End, Event, Header, Judgement, Step};
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::Briefing;
use tribunal_protocol::task::{AnswerColumn, SchemaRef, Split, TaskKind};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Kind;
use tribunal_protocol::value::{decimal_of, parse_date};
use tribunal_protocol::verdict::{Difference, Score};
use tribunal_protocol::{Action, Code, Digest, Failure, Fault, Observation, Table, Value, Verdict};

/// What the run says of itself; every episode has a trace.
pub fn run() -> RunInfo {
    let traces = episodes().into_iter().filter_map(|events| {
        let Some(Event::Header(header)) = events.first() else {
            return None;
        };
        let id = EpisodeId::of(header);
        let file = format!("traces/{}/{}-{}.jsonl", id.policy, id.task, id.attempt);
        Some((id, file))
    });
    RunInfo {
        name: "autumn candidates".to_owned(),
        suite: "analytics@1".to_owned(),
        seed: 7,
        attempts: 2,
        traces: traces.collect(),
    }
}

/// Tasks that were refused when they were made.
pub fn refused() -> Vec<Refused> {
    vec![
        Refused {
            task: "weborders-v2-returns-0011".to_owned(),
            reason: "mutant `forgets-soft-deletes` scores 1: seeds 3, 9 and 14 have no deleted row".to_owned(),
        },
        Refused {
            task: "clinic-v1-no-shows-0006".to_owned(),
            reason: "oracle scores 0 on hidden seed 2: row-count".to_owned(),
        },
    ]
}

/// All episodes of the run.
pub fn episodes() -> Vec<Vec<Event>> {
    let mut all = Vec::new();
    for attempt in 0..2 {
        for make in [totals, refund, top, rate, no_shows, late] {
            all.push(make("oracle", attempt));
            all.push(make("small-model", attempt));
            all.push(make("guesser", attempt));
            all.push(nothing(&make("no-op", attempt)));
        }
    }
    all
}

/// The same task, left at once.
fn nothing(events: &[Event]) -> Vec<Event> {
    let end = End { verdict: invalid("no-submission"), usage: Usage::default(), violations: 0 };
    let header = events.iter().take(1).cloned();
    header.chain([Event::End(Box::new(end))]).collect()
}

struct Draft {
    header: Header,
    steps: Vec<Step>,
    judgements: Vec<Judgement>,
}

fn draft(policy: &str, attempt: u32, task: &str, kind: TaskKind, split: Split) -> Draft {
    let mut parts = task.splitn(3, '-');
    let schema = parts.next().unwrap_or_default().to_owned();
    let version = if task.contains("-v2-") { 2 } else { 1 };
    let family = parts.nth(1).unwrap_or_default().rsplit_once('-');
    let digest = |text: &str| Digest::of(text.as_bytes());
    let tool = |name: &str, description: &str| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        arguments: json!({"type": "object"}),
    };
    let verifier = match kind {
        TaskKind::State => "verifier-state",
        TaskKind::Clarify | TaskKind::Impossible => "verifier-clarify",
        TaskKind::Answer | TaskKind::Recover => "verifier-result",
    };
    let names = ["tool-catalog", "tool-query", "tool-metrics", "tool-ledger", verifier];
    let digests = || names.iter().map(|name| ((*name).to_owned(), digest(name)));
    Draft {
        header: Header {
            tribunal: "0.1.0".to_owned(),
            engines: vec!["gluesql-core 0.20.0".to_owned(), "wasmtime 48.0.8".to_owned()],
            interface: "1.0.0".to_owned(),
            suite: "analytics@1".to_owned(),
            task: task.to_owned(),
            task_digest: digest(task),
            family: family.map_or("", |(family, _)| family).to_owned(),
            kind,
            split,
            schema: SchemaRef { name: schema.clone(), version },
            fingerprint: digest(&format!("{schema}-v{version}")),
            states: (0..3).map(|i| digest(&format!("{task} {i}"))).collect(),
            seeds: vec![41, 1041, 2041],
            plugins: digests().collect(),
            contracts: digests().collect(),
            limits: Limits::default(),
            policy: policy.to_owned(),
            attempt,
            policy_seed: 7 + u64::from(attempt),
            briefing: Briefing {
                instruction: String::new(),
                answer: Vec::new(),
                tools: vec![tool("list_tables", "Lists the tables."), tool("query", "Runs a query.")],
                steps: 12,
            },
        },
        steps: Vec::new(),
        judgements: Vec::new(),
    }
}

impl Draft {
    fn asks(mut self, instruction: &str, answer: &[(&str, Kind)]) -> Draft {
        self.header.briefing.instruction = instruction.to_owned();
        self.header.briefing.answer =
            answer.iter().map(|(name, kind)| AnswerColumn { name: (*name).to_owned(), kind: *kind }).collect();
        self
    }

    fn step(mut self, tool: &str, arguments: serde_json::Value, observation: Observation) -> Draft {
        let number = u32::try_from(self.steps.len()).unwrap_or(0) + 1;
        let rows = match &observation {
            Observation::Result { table: Some(table), .. } => table.rows as u64,
            _ => 0,
        };
        let own = tribunal_protocol::policy::names::ALL.contains(&tool);
        let usage = Usage {
            fuel: if own { 0 } else { 18_000 + 911 * u64::from(number) },
            memory: 1 << 20,
            statements: u64::from(tool == "query"),
            rows_scanned: if tool == "query" { 1_840 } else { 0 },
            rows_returned: rows,
            bytes_returned: rows * 24,
            rows_written: 0,
        };
        self.steps.push(Step {
            number,
            action: Action::call(tool, arguments),
            observation,
            usage: if own { Usage::default() } else { usage },
            violation: false,
            denials: Vec::new(),
            state: None,
        });
        self
    }

    fn writes(mut self, rows: u64) -> Draft {
        if let Some(step) = self.steps.last_mut() {
            step.usage.rows_written = rows;
            let arguments = step.action.arguments.to_string();
            step.state = Some(Digest::of(arguments.as_bytes()));
        }
        self
    }

    fn stopped(mut self) -> Draft {
        self.steps.iter_mut().last().into_iter().for_each(|step| step.violation = true);
        self
    }

    fn judged(mut self, instance: u32, submission: Submission, verdict: Verdict) -> Draft {
        let usage = Usage { fuel: 40_000, ..Usage::default() };
        self.judgements.push(Judgement { instance, submission, verdict, usage, denials: Vec::new() });
        self
    }

    fn ends(self, verdict: Verdict) -> Vec<Event> {
        let mut usage = Usage::default();
        self.steps.iter().for_each(|step| usage.add(&step.usage));
        let stopped = self.steps.iter().filter(|step| step.violation).count();
        let end = End { verdict, usage, violations: u32::try_from(stopped).unwrap_or(u32::MAX) };
        let mut events = vec![Event::Header(Box::new(self.header))];
        events.extend(self.steps.into_iter().map(|step| Event::Step(Box::new(step))));
        let judgements = self.judgements.into_iter();
        events.extend(judgements.map(|judgement| Event::Judgement(Box::new(judgement))));
        events.push(Event::End(Box::new(end)));
        events
    }
}

fn words(text: &str) -> Observation {
    Observation::Result { text: text.to_owned(), table: None }
}

fn rows(table: &Table) -> Observation {
    Observation::Result { text: String::new(), table: Some(table.clone()) }
}

fn fails(code: Code, message: &str) -> Observation {
    Observation::Failure(Failure::new(code, message))
}

fn passed(instance: u32) -> Verdict {
    scored(1.0, "match", None, instance)
}

fn scored(reward: f64, reason: &str, difference: Option<Difference>, instance: u32) -> Verdict {
    Verdict::Scored(Score { reward, reason: reason.to_owned(), difference, instance })
}

fn invalid(reason: &str) -> Verdict {
    Verdict::Invalid { reason: reason.to_owned() }
}

fn differs(path: &str, row: u32, column: &str, expected: &str, found: &str) -> Option<Difference> {
    Some(Difference {
        path: path.to_owned(),
        row: Some(row),
        column: Some(column.to_owned()),
        expected: expected.to_owned(),
        found: found.to_owned(),
    })
}

/// Cells by kind: integers, decimals and dates are read, `NULL` is NULL.
fn table(columns: &[(&str, Kind)], cells: &[&[&str]]) -> Table {
    let read = |(text, (_, kind)): (&&str, &(&str, Kind))| match kind {
        _ if *text == "NULL" => Value::Null,
        Kind::Integer => text.parse().map_or(Value::Null, Value::Integer),
        Kind::Float => text.parse().map_or(Value::Null, Value::Float),
        Kind::Decimal => decimal_of(text).map_or(Value::Null, Value::Decimal),
        Kind::Date => parse_date(text).map_or(Value::Null, Value::Date),
        _ => Value::Text((*text).to_owned()),
    };
    let rows: Vec<Vec<Value>> = cells.iter().map(|row| row.iter().zip(columns).map(read).collect()).collect();
    let columns: Vec<_> = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    Table::from_rows(&columns, &rows).unwrap_or_default()
}

const TOTALS: &[(&str, Kind)] =
    &[("account", Kind::Text), ("month", Kind::Date), ("invoices", Kind::Integer), ("total", Kind::Decimal)];

fn totals(policy: &str, attempt: u32) -> Vec<Event> {
    let draft = draft(policy, attempt, "billing-v1-invoice-totals-0007", TaskKind::Answer, Split::NewData).asks(
        "For every account, how many invoices did it get in the first quarter of 2026, and what \
             do they add up to, month by month? Voided invoices and test accounts do not count.\n\
             Give account, month (its first day), invoices and total, ordered by account and month.",
        TOTALS,
    );
    let right: &[&[&str]] = &[
        &["Aster & Sons", "2026-01-01", "2", "1840.00"],
        &["Aster & Sons", "2026-02-01", "1", "920.00"],
        &["Bergström AB", "2026-01-01", "1", "99.90"],
        &["Bergström AB", "2026-03-01", "3", "412.35"],
        &["Çınar Lojistik", "2026-02-01", "1", "15000.00"],
    ];
    let inflated: &[&[&str]] = &[
        &["Aster & Sons", "2026-01-01", "2", "1840.00"],
        &["Aster & Sons", "2026-02-01", "1", "920.00"],
        &["Bergström AB", "2026-01-01", "1", "99.90"],
        &["Bergström AB", "2026-03-01", "3", "1237.05"],
        &["Çınar Lojistik", "2026-02-01", "1", "15000.00"],
    ];
    let tables = table(
        &[("table", Kind::Text), ("rows are", Kind::Text), ("columns", Kind::Integer)],
        &[
            &["accounts", "one customer account", "6"],
            &["invoice_lines", "one line of an invoice", "5"],
            &["invoices", "one invoice, voided ones too", "7"],
        ],
    );
    let metric = "invoice_total: the sum of `total` over invoices, each counted once.\nGrain: one \
                  invoice. Population: `voided = FALSE`, accounts with `is_test = FALSE`. Window: by \
                  `issued_on`. Unit: EUR.";
    let good = "SELECT a.name AS account, DATE_TRUNC('month', i.issued_on) AS month, COUNT(*) AS \
                invoices, SUM(i.total) AS total FROM invoices AS i JOIN accounts AS a ON a.id = \
                i.account_id WHERE i.voided = FALSE AND a.is_test = FALSE AND i.issued_on >= \
                DATE '2026-01-01' AND i.issued_on < DATE '2026-04-01' GROUP BY a.name, \
                DATE_TRUNC('month', i.issued_on) ORDER BY account, month";
    let bad = "SELECT a.name AS account, DATE_TRUNC('month', i.issued_on) AS month, \
               COUNT(DISTINCT i.id) AS invoices, SUM(i.total) AS total FROM invoices AS i JOIN \
               accounts AS a ON a.id = i.account_id JOIN invoice_lines AS l ON l.invoice_id = i.id \
               WHERE i.voided = FALSE AND a.is_test = FALSE AND i.issued_on >= DATE '2026-01-01' AND \
               i.issued_on < DATE '2026-04-01' GROUP BY a.name, DATE_TRUNC('month', i.issued_on) \
               ORDER BY account, month";
    match policy {
        "oracle" => {
            let answer = table(TOTALS, right);
            let draft = draft
                .step("list_tables", json!({}), rows(&tables))
                .step("describe_metric", json!({"name": "invoice_total"}), words(metric))
                .step("query", json!({"sql": good}), rows(&answer))
                .step("submit", json!({"call": 3}), words("handed in: 5 rows"));
            (0..3)
                .fold(draft, |draft, i| draft.judged(i, Submission::Answer(answer.clone()), passed(i)))
                .ends(passed(0))
        }
        "small-model" => {
            let answer = table(TOTALS, inflated);
            let found = scored(0.0, "row-mismatch", differs("answer", 3, "total", "412.35", "1237.05"), 0);
            let denied = "no table `payroll` here; `list_tables` names what there is";
            draft
                .step("list_tables", json!({}), rows(&tables))
                .step("query", json!({"sql": "SELECT * FROM payroll"}), fails(Code::Unknown, denied))
                .stopped()
                .step("query", json!({"sql": bad}), rows(&answer))
                .step("submit", json!({"call": 3}), words("handed in: 5 rows"))
                .judged(0, Submission::Answer(answer), found.clone())
                .ends(found)
        }
        _ => guess(draft, TOTALS, &["", "2026-01-01", "0", "0"]),
    }
}

/// A constant answer of one row.
fn guess(draft: Draft, columns: &[(&str, Kind)], cells: &[&str]) -> Vec<Event> {
    let answer = table(columns, &[cells]);
    let found = scored(
        0.0,
        "row-count",
        Some(Difference {
            path: "answer".to_owned(),
            row: None,
            column: None,
            expected: "5 rows".to_owned(),
            found: "1 row".to_owned(),
        }),
        0,
    );
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let arguments = json!({"columns": names, "rows": [cells]});
    draft
        .step("submit", arguments, words("handed in: 1 row"))
        .judged(0, Submission::Answer(answer), found.clone())
        .ends(found)
}

fn refund(policy: &str, attempt: u32) -> Vec<Event> {
    let draft = draft(policy, attempt, "billing-v1-refund-right-account-0002", TaskKind::State, Split::Train).asks(
        "Bergström AB was charged twice for invoice 2041. Refund the second charge in full, and \
             nothing else.",
        &[],
    );
    let charges = table(
        &[
            ("id", Kind::Integer),
            ("account", Kind::Text),
            ("invoice", Kind::Integer),
            ("amount", Kind::Decimal),
            ("charged_on", Kind::Date),
        ],
        &[
            &["881", "Bergström AB", "2041", "149.00", "2026-03-02"],
            &["907", "Bergström AB", "2041", "149.00", "2026-03-05"],
            &["912", "Bergstrom A/S", "2044", "149.00", "2026-03-05"],
        ],
    );
    let sql = "SELECT c.id, a.name AS account, c.invoice_id AS invoice, c.amount, c.charged_on FROM \
               charges AS c JOIN accounts AS a ON a.id = c.account_id WHERE a.name LIKE 'Bergstr%' \
               ORDER BY c.id";
    let find = draft.step("query", json!({"sql": sql}), rows(&charges));
    let refund = |draft: Draft, id: u32| {
        draft
            .step(
                "issue_refund",
                json!({"charge": id, "amount": "149.00", "reason": "charged twice"}),
                words(&format!("refund of 149.00 for charge {id} booked")),
            )
            .writes(1)
            .step("done", json!({}), words("handed in"))
    };
    match policy {
        "oracle" => {
            let draft = refund(find, 907);
            (0..3).fold(draft, |draft, i| draft.judged(i, Submission::Done, passed(i))).ends(passed(0))
        }
        "small-model" if attempt == 1 => {
            let found = scored(0.0, "row-mismatch", differs("table refunds", 0, "charge_id", "907", "912"), 0);
            refund(find, 912).judged(0, Submission::Done, found.clone()).ends(found)
        }
        "small-model" => refund(find, 907).judged(0, Submission::Done, passed(0)).ends(passed(0)),
        _ => {
            let found = scored(
                0.0,
                "row-count",
                Some(Difference {
                    path: "table refunds".to_owned(),
                    row: Some(0),
                    column: None,
                    expected: "charge 907, 149.00".to_owned(),
                    found: String::new(),
                }),
                0,
            );
            let draft = find.step("done", json!({}), words("handed in"));
            draft.judged(0, Submission::Done, found.clone()).ends(found)
        }
    }
}

const TOP: &[(&str, Kind)] = &[("product", Kind::Text), ("returned", Kind::Integer)];

fn top(policy: &str, attempt: u32) -> Vec<Event> {
    let draft = draft(policy, attempt, "weborders-v2-top-returns-0004", TaskKind::Answer, Split::NewSchema).asks(
        "Which three products came back most often? Where products tie for the last place, any \
             of them will do. Give product and returned (how many pieces).",
        TOP,
    );
    let sql = "SELECT p.title AS product, SUM(r.quantity) AS returned FROM return_items AS r JOIN \
               products AS p ON p.sku = r.sku GROUP BY p.title ORDER BY returned DESC LIMIT 3";
    let seen = table(TOP, &[&["Kettle, 1.7 l", "41"], &["Desk lamp “Łuna”", "38"], &["Mug", "35"]]);
    let hidden = table(TOP, &[&["Mug", "29"], &["Desk lamp “Łuna”", "28"], &["Kettle, 1.7 l", "28"]]);
    match policy {
        "oracle" => {
            let draft = draft.step("query", json!({"sql": sql}), rows(&seen)).step(
                "submit",
                json!({"call": 1}),
                words("handed in: 3 rows"),
            );
            (0..3).fold(draft, |draft, i| draft.judged(i, Submission::Answer(seen.clone()), passed(i))).ends(passed(0))
        }
        "small-model" => {
            let found = scored(0.0, "top-k", differs("answer", 2, "product", "Toaster", "Kettle, 1.7 l"), 1);
            draft
                .step("query", json!({"sql": sql.replace("SUM(r.quantity)", "COUNT(*)")}), rows(&seen))
                .step("submit", json!({"call": 1}), words("handed in: 3 rows"))
                .judged(0, Submission::Answer(seen), passed(0))
                .judged(1, Submission::Answer(hidden), found.clone())
                .ends(found)
        }
        _ => guess(draft, TOP, &["Mug", "1"]),
    }
}

fn rate(policy: &str, attempt: u32) -> Vec<Event> {
    const RATE: &[(&str, Kind)] = &[("rate", Kind::Decimal)];
    let draft = draft(policy, attempt, "support-v1-answer-rate-0001", TaskKind::Clarify, Split::NewFamily)
        .asks("What share of tickets did we answer in time last month? Give rate.", RATE);
    let sql = "SELECT CAST(SUM(CASE WHEN first_reply_minutes <= 240 THEN 1 ELSE 0 END) AS DECIMAL) / \
               COUNT(*) AS rate FROM tickets WHERE opened_on >= DATE '2026-03-01' AND opened_on < \
               DATE '2026-04-01' AND is_spam = FALSE";
    let answer = table(RATE, &[&["0.8125"]]);
    match policy {
        "oracle" | "small-model" if policy == "oracle" || attempt == 0 => {
            let draft = draft
                .step(
                    "ask",
                    json!({"about": "in time", "question": "Within how many minutes is an answer in time?"}),
                    words("Within four hours, for every plan."),
                )
                .step("query", json!({"sql": sql}), rows(&answer))
                .step("submit", json!({"call": 2}), words("handed in: 1 row"));
            (0..3)
                .fold(draft, |draft, i| draft.judged(i, Submission::Answer(answer.clone()), passed(i)))
                .ends(passed(0))
        }
        "small-model" => {
            let found = scored(0.0, "did-not-ask", None, 0);
            draft
                .step("query", json!({"sql": sql.replace("240", "60")}), rows(&answer))
                .step("submit", json!({"call": 1}), words("handed in: 1 row"))
                .judged(0, Submission::Answer(answer), found.clone())
                .ends(found)
        }
        _ => guess(draft, RATE, &["0.5"]),
    }
}

fn no_shows(policy: &str, attempt: u32) -> Vec<Event> {
    const COST: &[(&str, Kind)] = &[("clinic", Kind::Text), ("cost", Kind::Decimal)];
    let draft = draft(policy, attempt, "clinic-v1-no-show-cost-0003", TaskKind::Impossible, Split::NewSchemaAndFamily)
        .asks("What did missed visits cost each clinic last year? Give clinic and cost.", COST);
    let tables = table(
        &[("table", Kind::Text), ("columns", Kind::Text)],
        &[&["clinics", "id, name, city"], &["visits", "id, clinic_id, planned_for, status, ended_at"]],
    );
    let draft = draft.step("list_tables", json!({}), rows(&tables));
    match policy {
        "oracle" => {
            let reason = "no table holds a price or a cost of a visit";
            let missing = "visit prices";
            let told = Submission::Abstention { reason: reason.to_owned(), missing: missing.to_owned() };
            let draft = draft.step("abstain", json!({"reason": reason, "missing": missing}), words("handed in"));
            (0..3).fold(draft, |draft, i| draft.judged(i, told.clone(), passed(i))).ends(passed(0))
        }
        "small-model" => {
            let mut draft = draft;
            for (day, column) in (1..).zip(["price", "cost", "fee", "amount", "tariff", "rate", "rates"]) {
                let sql = format!("SELECT {column} FROM visits WHERE planned_for = DATE '2025-01-0{day}'");
                let why = format!("no column `{column}` in visits");
                draft = draft.step("query", json!({"sql": sql}), fails(Code::Unknown, &why));
            }
            for day in 1..=4 {
                let sql = format!(
                    "SELECT COUNT(*) AS missed FROM visits WHERE status = 'missed' AND planned_for = DATE '2025-02-0{day}'"
                );
                let missed = table(&[("missed", Kind::Integer)], &[&["0"]]);
                draft = draft.step("query", json!({"sql": sql}), rows(&missed));
            }
            draft.ends(invalid("step-limit"))
        }
        _ => guess(draft, COST, &["", "0"]),
    }
}

fn late(policy: &str, attempt: u32) -> Vec<Event> {
    const LATE: &[(&str, Kind)] = &[("carrier", Kind::Text), ("late_share", Kind::Float), ("median_days", Kind::Float)];
    let draft = draft(policy, attempt, "logistics-v2-late-by-carrier-0005", TaskKind::Recover, Split::NewData).asks(
        "By carrier: which share of delivered parcels was late, and by how many days in the \
             median? Give carrier, late_share and median_days.",
        LATE,
    );
    let sql = "SELECT carrier, AVG(CASE WHEN delivered_on > due_on THEN 1.0 ELSE 0.0 END) AS \
               late_share, MEDIAN(delivered_on - due_on) AS median_days FROM parcels\nWHERE \
               delivered_on IS NOT NULL -- what never came is not late, it is lost\nGROUP BY carrier";
    let answer = table(LATE, &[&["Nordfrakt", "0.0625", "NULL"], &["Ozon Kargo", "0.25", "2.0"], &["", "0.5", "1.5"]]);
    let busy = "the warehouse is busy; try again";
    match policy {
        "oracle" => {
            let draft = draft
                .step("query", json!({"sql": sql}), fails(Code::Failed, busy))
                .step("query", json!({"sql": sql}), rows(&answer))
                .step("submit", json!({"call": 2}), words("handed in: 3 rows"));
            (0..3)
                .fold(draft, |draft, i| draft.judged(i, Submission::Answer(answer.clone()), passed(i)))
                .ends(passed(0))
        }
        "small-model" => draft
            .step("query", json!({"sql": sql}), fails(Code::Failed, busy))
            .step("query", json!({"sql": "SELECT carrier FROM parcels"}), rows(&many()))
            .ends(Verdict::Void(Fault::Fuel { plugin: "tool-query".to_owned(), limit: 200_000_000 })),
        _ => guess(draft, LATE, &["", "0", "0"]),
    }
}

fn many() -> Table {
    let rows: Vec<Vec<Value>> = (0_i64..40)
        .map(|i| vec![Value::Integer(i), Value::Text(["Nordfrakt", "Ozon Kargo"][usize::from(i % 3 == 0)].to_owned())])
        .collect();
    let columns = [("id".to_owned(), Kind::Integer), ("carrier".to_owned(), Kind::Text)];
    Table::from_rows(&columns, &rows).unwrap_or_default()
}

/// Every episode by its id.
pub fn by_id() -> BTreeMap<EpisodeId, Vec<Event>> {
    let id = |events: Vec<Event>| match events.first() {
        Some(Event::Header(header)) => Some((EpisodeId::of(header), events)),
        _ => None,
    };
    episodes().into_iter().filter_map(id).collect()
}
