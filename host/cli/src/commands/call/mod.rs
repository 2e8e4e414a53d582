//! `tribunal call`: one call of a plugin, on data or on a recording of its host calls.

pub mod bench;
mod file;
mod ground;
mod input;
mod session;
mod show;
mod tape;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::Wasi;
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::Score;
use tribunal_sandbox::{Log, Plugin, ReplyInput, ToolInput, ToolOutput, VerifyInput};
use tribunal_train::Clock as _;

use crate::args::{CallArguments, SubjectArguments};
use crate::datasets::Opened;
use crate::work::Stopwatch;
use crate::{folder, output, plugins};
use ground::Ground;
use input::{Call, Input};
use tape::{FORMAT, Head, Tape};

/// More bytes than any recording has that is kept for a test.
const TAPE_BYTES: u64 = 256 << 20;

/// What a plugin gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A tool's output, or its failure as an agent reads it.
    Output(Result<ToolOutput, Failure>),
    /// A verifier's score.
    Score(Score),
    /// A user's reply, or its failure.
    Reply(Result<String, Failure>),
}

/// One call, once it is over.
#[derive(Debug)]
pub struct Called {
    /// What came of it.
    pub result: Result<Given, Fault>,
    /// What the guest used, and the largest of its sessions.
    pub usage: Usage,
    /// What it logged.
    pub log: Log,
    /// What the contract stopped.
    pub denials: Vec<String>,
    /// Its host calls.
    pub tape: Tape,
    /// How long it took, in seconds: for people.
    pub seconds: f64,
}

/// A plugin that is ready to be called.
struct Subject {
    plugin: Arc<Plugin>,
    input: Input,
    ground: Ground,
    limits: Limits,
}

impl Subject {
    fn open(arguments: &SubjectArguments) -> Result<Subject> {
        let (most, wasi) = loading(arguments)?;
        let bytes = plugins::read(&arguments.file, &most)?;
        let sandbox = plugins::sandbox(arguments.cache.as_deref(), &most, wasi)?;
        let plugin = sandbox.load(&arguments.file.display().to_string(), &bytes)?;
        let input = input::read(&arguments.input, &plugin)?;
        let (ground, mut limits) = match &arguments.replay {
            Some(path) => recorded(path, &plugin)?,
            None => {
                let work: &[String] = if let Call::Verify { work, .. } = &input.call { work } else { &[] };
                Ground::data(arguments, &plugin, work)?
            }
        };
        if let (Call::Verify { evidence, .. }, None) = (&input.call, &arguments.replay) {
            // As in an episode: a large answer takes longer to judge.
            limits.fuel = limits.fuel.saturating_add(tribunal_episode::fuel_for(&evidence.submission));
        }
        Ok(Subject { plugin, input, ground, limits })
    }

    fn call(&self) -> Called {
        once(&self.plugin, &self.input, &self.ground, &self.limits)
    }
}

/// The limits under which the plugin is loaded, and what becomes of its WASI imports.
fn loading(arguments: &SubjectArguments) -> Result<(Limits, Wasi)> {
    let loading = arguments.loading.over(Opened::open(&arguments.suite)?.loading());
    Ok((loading.limits(Limits::default()), loading.wasi))
}

/// Runs the command. The answer is no where the plugin gave no result, or asked its host for
/// something else than was recorded.
pub fn run(arguments: &CallArguments) -> Result<bool> {
    let subject = Subject::open(&arguments.subject)?;
    let first = subject.call();
    let more = (1..arguments.repeat).map(|_| subject.call().seconds);
    let seconds: Vec<f64> = std::iter::once(first.seconds).chain(more).collect();
    let Subject { plugin, limits, .. } = &subject;
    if let Some(path) = &arguments.record {
        record(path, plugin, limits, &first.tape)?;
    }
    let difference = arguments.subject.replay.as_ref().and_then(|_| first.tape.difference());
    let report = show::Report { plugin, called: &first, limits, seconds, difference };
    if arguments.subject.json {
        output::json(&report.json())?;
    } else {
        report.text();
    }
    let gave = matches!(&first.result, Ok(Given::Output(Ok(_)) | Given::Score(_) | Given::Reply(Ok(_))));
    Ok(gave && report.difference.is_none())
}

/// Calls the plugin once, in a fresh instance on fresh sessions.
fn once(plugin: &Plugin, input: &Input, ground: &Ground, limits: &Limits) -> Called {
    let tape = ground.tape();
    let watch = Stopwatch::start();
    let mut called = match &input.call {
        Call::Tool { tool, arguments } => {
            let arguments = arguments.to_string();
            let input = ToolInput { tool, arguments: &arguments, settings: &input.settings };
            let ran = plugin.call(&input, ground.session("agent", &tape), limits);
            let result = ran.result.map(Given::Output);
            ended(result, ran.usage, ran.log, &[&ran.sessions])
        }
        Call::Verify { evidence, .. } => {
            let input = VerifyInput { evidence, settings: &input.settings };
            let (first, last) = (ground.session("first", &tape), ground.session("last", &tape));
            let ran = plugin.verify(&input, first, last, ground.between(&tape), limits);
            let (first, last) = &ran.sessions;
            ended(ran.result.map(Given::Score), ran.usage, ran.log, &[first, last])
        }
        Call::Reply { secret, about, question } => {
            let input = ReplyInput { secret, about, question, settings: &input.settings };
            let ran = plugin.reply(&input, limits);
            ended(ran.result.map(Given::Reply), ran.usage, ran.log, &[])
        }
    };
    called.seconds = watch.seconds();
    called.tape = tape;
    called
}

fn ended(result: Result<Given, Fault>, usage: Usage, log: Log, sessions: &[&session::Taped]) -> Called {
    let denials = sessions.iter().flat_map(|session| session.denials()).collect();
    let usage = sessions.iter().fold(usage, |usage, session| larger(usage, session.usage()));
    Called { result, usage, log, denials, tape: Tape::default(), seconds: 0.0 }
}

/// The larger of both, part by part: a verifier's two sessions have a budget each.
fn larger(usage: Usage, other: Usage) -> Usage {
    Usage {
        fuel: usage.fuel.max(other.fuel),
        memory: usage.memory.max(other.memory),
        statements: usage.statements.max(other.statements),
        rows_scanned: usage.rows_scanned.max(other.rows_scanned),
        rows_returned: usage.rows_returned.max(other.rows_returned),
        bytes_returned: usage.bytes_returned.max(other.bytes_returned),
        rows_written: usage.rows_written.max(other.rows_written),
    }
}

/// A recording, for a plugin of the same kind. Another version of the plugin is welcome.
fn recorded(path: &Path, plugin: &Plugin) -> Result<(Ground, Limits)> {
    let at = || path.display().to_string();
    let size = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?.len();
    if size > TAPE_BYTES {
        bail!("{}: {size} bytes; a recording may have {TAPE_BYTES} at most", path.display());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (head, calls) = tape::read(&text).with_context(at)?;
    if head.kind != plugin.kind() {
        bail!("{}: recorded with the {} {}; {} is a {}", at(), head.kind, head.plugin, plugin.name(), plugin.kind());
    }
    Ok((Ground::Tape { calls, date: head.date }, head.limits))
}

fn record(path: &Path, plugin: &Plugin, limits: &Limits, tape: &Tape) -> Result<()> {
    let head = Head {
        tape: FORMAT,
        plugin: plugin.name().to_owned(),
        kind: plugin.kind(),
        limits: limits.clone(),
        date: tape.date(),
    };
    let text = tape::write(&head, &tape.calls())?;
    folder::write(path, text.as_bytes())
}
