//! Where the time of one episode goes: by phase, and the parts of a phase by themselves.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use cpu_time::ThreadTime;
use tribunal_contract::{Contract, Effective};
use tribunal_database::{DatabaseSession, Snapshot, State, changes};
use tribunal_episode::{Episode, Prepared};
use tribunal_protocol::evidence::{Evidence, Submission, ToolCall};
use tribunal_protocol::limits::Limits;
use tribunal_protocol::policy::Action;
use tribunal_protocol::session::Session as _;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Table, Value};
use tribunal_sandbox::{Plugin, ToolInput, VerifyInput};

use crate::call::Canned;
use crate::clock::{Timed, cpu, cpu_given};
use crate::data;
use crate::figure::{Figure, Section};
use crate::play::{Memory, SEEDS, passed, plugins, prepare, snapshot};
use crate::task::{Ending, GRANT, QUERY, actions, gold, task};

pub(crate) fn measure() -> Result<Vec<Section>> {
    let plugins = plugins()?;
    let mut sections = Vec::new();
    for (ending, memory, name) in [
        (Ending::Answer, Memory::Off, "answer, 1 instance, memo off"),
        (Ending::Answer, Memory::On, "answer, 1 instance, memo on"),
        (Ending::State, Memory::On, "state, 1 instance, memo on"),
    ] {
        let prepared = prepare(&plugins, ending, memory, 1)?;
        sections.push(Section {
            title: format!("Phases of an episode: {name}"),
            note: "Each phase timed within whole episodes; reading the clock is taken off.".to_owned(),
            figures: phases(&prepared, &actions(ending))?,
        });
    }
    sections.push(Section {
        title: "Parts of an episode by themselves".to_owned(),
        note: "A canned session gives its table at once: what remains is the sandbox and the guest.".to_owned(),
        figures: parts(&plugins)?,
    });
    Ok(sections)
}

/// The time of each phase, over many episodes.
struct Phases {
    names: Vec<String>,
    samples: Vec<Vec<f64>>,
    at: usize,
}

impl Phases {
    fn time<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = ThreadTime::now();
        let done = work();
        let took = start.elapsed().as_secs_f64();
        if self.at == self.names.len() {
            self.names.push(name.to_owned());
            self.samples.push(Vec::new());
        }
        if let Some(samples) = self.samples.get_mut(self.at) {
            samples.push(took);
        }
        self.at += 1;
        done
    }
}

fn phases(prepared: &Prepared, script: &[Action]) -> Result<Vec<Figure>> {
    const EPISODES: usize = 2_000;
    let mut phases = Phases { names: Vec::new(), samples: Vec::new(), at: 0 };
    for _ in 0..EPISODES {
        phases.at = 0;
        phases.time("reading the clock", || ());
        let mut episode = phases.time("start", || Episode::start(prepared, "oracle", 0, 0));
        for action in script {
            let action = action.clone();
            let name = format!("step {}", action.tool);
            phases.time(&name, || episode.step(action));
        }
        let events = phases.time("finish: the verdict", || episode.finish());
        passed(&events)?;
        let trace = phases.time("trace: JSON and hashes", || tribunal_trace::write(&events));
        black_box(trace?);
        phases.time("drop", || drop(events));
    }
    let medians = phases.samples.into_iter().map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        Timed { median: samples[samples.len() / 2], least: samples[0] }
    });
    let mut timed = phases.names.into_iter().zip(medians);
    let (_, clock) = timed.next().context("the clock's own time")?;
    let less = |timed: Timed| Timed {
        median: (timed.median - clock.median).max(0.0),
        least: (timed.least - clock.least).max(0.0),
    };
    let figures: Vec<_> = timed.map(|(name, timed)| Figure::micros(name, less(timed))).collect();
    let total: f64 = figures.iter().map(|figure| figure.value).sum();
    let sum = Figure::micros("all phases", Timed { median: total / 1e6, least: f64::NAN });
    Ok(figures.into_iter().chain([Figure { best: None, ..sum }]).collect())
}

fn plugin<'a>(plugins: &'a [Arc<Plugin>], name: &str) -> Result<&'a Plugin> {
    let found = plugins.iter().find(|plugin| plugin.name() == name);
    found.map(AsRef::as_ref).with_context(|| format!("no plugin {name}"))
}

fn effective(plugin: &Plugin, snapshot: &Snapshot) -> Result<Arc<Effective>> {
    let requested = Contract::parse(&plugin.description().contract)?;
    Ok(Arc::new(requested.intersect(&Contract::parse(GRANT)?).resolve(snapshot.schemas())?))
}

fn parts(plugins: &[Arc<Plugin>]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (memory, name) in [(Memory::Off, "memo off"), (Memory::On, "memo on")] {
        let snapshot = snapshot(SEEDS[0], memory)?;
        let contract = effective(plugin(plugins, "tool-query")?, &snapshot)?;
        let query = || {
            let mut session = DatabaseSession::open(snapshot.fork(), Arc::clone(&contract), Usage::default());
            session.query(QUERY, &[])
        };
        let table = query().map_err(|why| anyhow!("{why}"))?;
        let mut rows = table.to_rows();
        rows.sort_by_key(|row| row.first().map(Value::to_string));
        ensure!(rows == gold(&data::small(SEEDS[0]))?.to_rows(), "the grouped join gives the gold answer: {rows:?}");
        figures.push(Figure::micros(format!("the grouped join in a session, no sandbox, {name}"), cpu(query)));
    }
    figures.extend(tools(plugins)?);
    figures.push(verifier(plugins)?);
    figures.extend(states(plugins)?);
    Ok(figures)
}

/// Tool calls whose session answers at once.
fn tools(plugins: &[Arc<Plugin>]) -> Result<Vec<Figure>> {
    let snapshot = snapshot(SEEDS[0], Memory::Off)?;
    let few = gold(&data::small(SEEDS[0]))?;
    let many = many()?;
    let query = Action::call("query", serde_json::json!({"sql": QUERY}));
    let [list, describe, ..] = <[Action; 4]>::try_from(actions(Ending::Answer)).map_err(|_| anyhow!("four actions"))?;
    let cases = [
        ("list_tables", "tool-catalog", list, Table::default()),
        ("describe_table", "tool-catalog", describe, Table::default()),
        ("query, the join's rows", "tool-query", query.clone(), few),
        ("query, 10 rows of 4 columns", "tool-query", query.clone(), first(&many, 10)?),
        ("query, 1,000 rows of 4 columns", "tool-query", query, many),
    ];
    let mut figures = Vec::new();
    for (name, of, action, table) in cases {
        let plugin = plugin(plugins, of)?;
        let tables = DatabaseSession::open(snapshot.fork(), effective(plugin, &snapshot)?, Usage::default()).tables();
        let canned = Canned { table: table.clone(), tables };
        let arguments = action.arguments.to_string();
        let input = ToolInput { tool: &action.tool, arguments: &arguments, settings: "{}" };
        let limits = Limits::default();
        let call = |canned: Canned| plugin.call(&input, canned, &limits);
        let output =
            call(canned.clone()).result.map_err(|fault| anyhow!("{fault}"))?.map_err(|why| anyhow!("{why}"))?;
        ensure!(table.columns.is_empty() || output.table == Some(table), "{name}: the table comes back as it went");
        figures.push(Figure::micros(format!("sandbox and guest: {name}"), cpu_given(|| canned.clone(), call)));
    }
    Ok(figures)
}

/// 1,000 rows of an integer, a text, a decimal and a date.
fn many() -> Result<Table> {
    let wide = data::wide(1_000);
    let table = wide.tables.first().context("a table")?;
    let picked = [0, 3, 2, 4];
    let columns = picked.map(|place| {
        let column = &table.schema.columns[place];
        (column.name.clone(), column.kind)
    });
    let rows: Vec<Vec<Value>> = table.rows.iter().map(|row| picked.map(|place| row[place].clone()).to_vec()).collect();
    Table::from_rows(&columns, &rows).map_err(|why| anyhow!(why))
}

fn first(table: &Table, rows: usize) -> Result<Table> {
    let columns: Vec<_> = table.columns.iter().map(|column| (column.name.clone(), column.kind())).collect();
    Table::from_rows(&columns, &table.to_rows()[..rows]).map_err(|why| anyhow!(why))
}

/// The comparator on the right answer.
fn verifier(plugins: &[Arc<Plugin>]) -> Result<Figure> {
    let plugin = plugin(plugins, "verifier-result")?;
    let task = task(Ending::Answer, &SEEDS[..1])?;
    let calls = actions(Ending::Answer).into_iter().take(3);
    let evidence = Evidence {
        instruction: task.instruction.clone(),
        submission: Submission::Answer(gold(&data::small(SEEDS[0]))?),
        questions: Vec::new(),
        calls: calls.map(|a| ToolCall { tool: a.tool, arguments: a.arguments, failure: None }).collect(),
        expectation: task.instances[0].expectation.clone(),
    };
    let limits = Limits::default();
    let input = VerifyInput { evidence: &evidence, settings: "{}" };
    let verify = || {
        let between = Box::new(|| Ok(Vec::new()));
        plugin.verify(&input, Canned::default(), Canned::default(), between, &limits).result
    };
    let score = verify().map_err(|fault| anyhow!("{fault}"))?;
    ensure!(score.reward >= 1.0, "the gold answer passes: {score:?}");
    Ok(Figure::micros("sandbox and guest: verifier-result", cpu(verify)))
}

/// What a changed state costs: its digest, and its difference from the first.
fn states(plugins: &[Arc<Plugin>]) -> Result<Vec<Figure>> {
    let snapshot = snapshot(SEEDS[0], Memory::Off)?;
    let first = snapshot.fork();
    let _ = first.digest();
    let contract = effective(plugin(plugins, "tool-ledger")?, &snapshot)?;
    let all = Contract::parse("[contract]\nname = \"all\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n")?;
    let all = all.resolve(snapshot.schemas())?;
    let change = || -> Result<State> {
        let mut session = DatabaseSession::open(first.clone(), Arc::clone(&contract), Usage::default());
        let sql = "INSERT INTO refunds (id, invoice_id, amount, reason, refunded_on) \
                   VALUES (51, 17, 0.50, 'duplicate charge', '2026-01-01')";
        session.change(sql, &[]).map_err(|why| anyhow!("{why}"))?;
        Ok(session.into_state())
    };
    let changed = change()?;
    ensure!(changes(&first, &changed, &all).len() == 1, "one table changes");
    let fresh = || change().unwrap_or_else(|_| first.clone());
    Ok(vec![
        Figure::micros("insert one row in a session, no sandbox", cpu(change)),
        Figure::micros("digest of the state after that insert", cpu_given(fresh, |state| state.digest())),
        Figure::micros("difference of the two states", cpu(|| changes(&first, &changed, &all))),
    ])
}
