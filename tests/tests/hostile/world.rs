//! The honest side: a small database of three tables, a task over two instances of it, and the
//! real plugins that play and judge it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Value as Json, json};
use tribunal_database::Snapshot;
use tribunal_episode::{Datasets, Prepared, Stage, run};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::policy::{Action, names};
use tribunal_protocol::schema::{ColumnSchema, Dataset, Engine, TableData, TableSchema};
use tribunal_protocol::task::{AnswerColumn, AnswerForm, Instance, SchemaRef, Split, Task, TaskKind, UserSpec};
use tribunal_protocol::{Kind, Value};
use tribunal_sandbox::{Plugin, Sandbox, SandboxOptions};
use tribunal_scripted::Script;

/// What no agent may ever read stands in a table that is not granted, in the settings of another
/// plugin, in the user's secret and in the expectation.
pub(crate) const CANARY: &str = "CANARY";
pub(crate) const QUERY: &str = "SELECT region, SUM(amount) AS total FROM sales GROUP BY region ORDER BY region";
const GRANT: &str = r#"
    [contract]
    name = "task"
    [[read]]
    table = "sales"
    columns = ["*"]
    [[read]]
    table = "notes"
    columns = ["*"]
    [[write]]
    table = "notes"
    verbs = ["insert"]
    columns = ["*"]
    [budget]
    statements = 500
    rows_scanned = 100_000
    rows_returned = 10_000
    bytes_returned = "4 MiB"
    rows_written = 1_000
"#;
const VERIFIER_GRANT: &str = "[contract]\nname = \"task\"\n[[read]]\ntable = \"sales\"\ncolumns = [\"*\"]\n\
    [[write]]\ntable = \"sales\"\nverbs = [\"insert\", \"update\", \"delete\"]\ncolumns = [\"*\"]\n";

/// One for all tests: loading the real plugins takes most of a second.
pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| World::new(Engine::Gluesql));
/// The same where SQLite runs the statements.
pub(crate) static ON_SQLITE: LazyLock<World> = LazyLock::new(|| World::new(Engine::Sqlite));

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) plugins: Vec<Arc<Plugin>>,
    data: Arc<Data>,
    honest: Prepared,
}

/// The default limits, with less fuel: many guests burn all of it.
pub(crate) fn limits() -> Limits {
    Limits { fuel: 40_000_000, ..Limits::default() }
}

struct Data(BTreeMap<u64, Snapshot>);

impl Datasets for Data {
    fn snapshot(&self, _schema: &SchemaRef, seed: u64) -> Result<Snapshot, String> {
        self.0.get(&seed).cloned().ok_or_else(|| format!("no data of seed {seed}"))
    }
}

impl World {
    fn new(engine: Engine) -> World {
        let options = SandboxOptions { limits: limits(), concurrent_calls: 4, ..SandboxOptions::default() };
        let sandbox = Sandbox::new(options).unwrap();
        let load = |name: &str| {
            let file = tribunal_tests::tool::plugins().join(format!("{name}.wasm"));
            let bytes = std::fs::read(&file).unwrap_or_else(|why| panic!("{}: {why}; `make plugins`", file.display()));
            sandbox.load(name, &bytes).unwrap()
        };
        let plugins: Vec<_> = ["tool-query", "verifier-result"].map(load).into();
        let data = Arc::new(Data([1, 2].map(|seed| (seed, Snapshot::seal_on(&dataset(seed), engine).unwrap())).into()));
        let stage = Stage::new(plugins.iter().cloned(), Arc::clone(&data) as _, limits()).unwrap();
        let honest = Prepared::new(&stage, Arc::new(task())).unwrap();
        World { sandbox, plugins, data, honest }
    }

    /// A stage of the real plugins alone.
    pub(crate) fn honest_stage(&self) -> Stage {
        Stage::new(self.plugins.iter().cloned(), Arc::clone(&self.data) as _, Limits::default()).unwrap()
    }

    /// A stage with one more plugin.
    pub(crate) fn stage(&self, guest: Arc<Plugin>, limits: Limits) -> Result<Stage, String> {
        let plugins = self.plugins.iter().cloned().chain([guest]);
        Stage::new(plugins, Arc::clone(&self.data) as _, limits).map_err(|fault| fault.to_string())
    }

    /// The bytes of the trace of a right answer, rightly judged.
    pub(crate) fn honest_trace(&self) -> Vec<u8> {
        let mut policy = Script::new(vec![
            Action::call("query", json!({"sql": QUERY})),
            Action::call(names::SUBMIT, json!({"call": 1})),
        ]);
        let events = run(&self.honest, "honest", &mut policy, 0, 0);
        let verdict = crate::attack::verdict(&events);
        assert_eq!(verdict.0, "passed", "the honest episode: {verdict:?}");
        tribunal_trace::write(&events).unwrap()
    }
}

fn column(name: &str, kind: Kind) -> ColumnSchema {
    ColumnSchema::new(name, kind, false)
}

/// Sales whose sums differ between seeds: `4 + seed` rows, east and west in turn.
fn dataset(seed: u64) -> Dataset {
    let id = || column("id", Kind::Integer);
    let sales =
        TableSchema::new("sales", vec![id(), column("region", Kind::Text), column("amount", Kind::Integer)], &["id"]);
    let row = |place: i64| {
        let region = if place % 2 == 0 { "east" } else { "west" };
        vec![Value::Integer(place), Value::Text(region.to_owned()), Value::Integer(10 * place + seed as i64)]
    };
    let notes = TableSchema::new("notes", vec![id(), column("body", Kind::Text)], &["id"]);
    let secrets = TableSchema::new("secrets", vec![id(), column("word", Kind::Text)], &["id"]);
    let secret = vec![Value::Integer(1), Value::Text(format!("{CANARY}-secret"))];
    Dataset {
        clock: 20_000,
        tables: vec![
            TableData { schema: notes, rows: Vec::new() },
            TableData { schema: sales, rows: (0..4 + seed as i64).map(row).collect() },
            TableData { schema: secrets, rows: vec![secret] },
        ],
    }
}

/// What `verifier-result` expects: sums worked out by hand.
fn expectation(east: i64, west: i64) -> String {
    let columns = json!([
        {"name": "region", "type": {"text": {}}},
        {"name": "total", "type": "integer"},
    ]);
    let gold = json!({
        "columns": [{"name": "region", "kind": "text"}, {"name": "total", "kind": "integer"}],
        "rows": [["east", east], ["west", west]],
    });
    let expectation: Json = json!({"version": 1, "contract": {"version": 1, "columns": columns}, "gold": gold});
    expectation.to_string()
}

pub(crate) fn task() -> Task {
    let column = |name: &str, kind| AnswerColumn { name: name.to_owned(), kind };
    Task {
        id: "hostile-1".to_owned(),
        suite: "hostile@1".to_owned(),
        family: "sums".to_owned(),
        schema: SchemaRef { name: "shop".to_owned(), version: 1 },
        kind: TaskKind::Answer,
        split: Split::Train,
        fingerprint: dataset(1).fingerprint(),
        instruction: "How much was sold, by region? Give region and total.".to_owned(),
        answer: vec![column("region", Kind::Text), column("total", Kind::Integer)],
        answer_form: AnswerForm::Call,
        // East: 1 + 21 + 41 and 2 + 22 + 42; west: 11 + 31 and 12 + 32 + 52.
        instances: vec![
            Instance { seed: 1, expectation: expectation(63, 42) },
            Instance { seed: 2, expectation: expectation(66, 96) },
        ],
        tools: vec!["tool-query".to_owned()],
        grant: GRANT.to_owned(),
        settings: BTreeMap::from([(
            "tool-query".to_owned(),
            json!({"word": format!("{CANARY}-settings")}).to_string(),
        )]),
        verifier: "verifier-result".to_owned(),
        verifier_grant: VERIFIER_GRANT.to_owned(),
        user: None,
        failures: Vec::new(),
        steps: 12,
        oracle: Vec::new(),
        mutants: Vec::new(),
    }
}

/// The secret of a simulated user.
pub(crate) fn user(plugin: &str) -> UserSpec {
    UserSpec { plugin: plugin.to_owned(), secret: json!({"word": format!("{CANARY}-user")}).to_string() }
}
