//! What it costs to call a tool in a fresh instance.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, ensure};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::usage::Usage;
use tribunal_protocol::{Table, Value};
use tribunal_sandbox::{Plugin, Sandbox, SandboxOptions, ToolInput};

use crate::bare::{Bare, Memory};
use crate::clock::cpu;
use crate::figure::{Figure, Section};
use crate::guest;

/// The real tool: with no settings, its tools answer at once that they have nothing to do.
const REAL: &str = "tool-ledger";
/// Arguments as an agent gives them, for its first tool.
const ARGUMENTS: &str = r#"{"source_id":17,"amount":"12.50","reason":"duplicate charge"}"#;

/// A session that gives the same table to every query, at once: what remains is the sandbox.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canned {
    pub(crate) table: Table,
    pub(crate) tables: Vec<TableInfo>,
}

impl Session for Canned {
    fn tables(&mut self) -> Vec<TableInfo> {
        std::mem::take(&mut self.tables)
    }

    fn query(&mut self, _sql: &str, _parameters: &[Value]) -> Result<Table, Failure> {
        Ok(std::mem::take(&mut self.table))
    }

    fn change(&mut self, _sql: &str, _parameters: &[Value]) -> Result<u64, Failure> {
        Ok(1)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn violations(&self) -> u32 {
        0
    }
}

/// The bytes of a built plugin.
pub(crate) fn bytes(name: &str) -> Result<Vec<u8>> {
    let path = tribunal_tests::tool::plugins().join(format!("{name}.wasm"));
    std::fs::read(&path).with_context(|| format!("`{}`; `make bench` builds it first", path.display()))
}

/// A built plugin, loaded.
pub(crate) fn load(sandbox: &Sandbox, name: &str) -> Result<Arc<Plugin>> {
    Ok(sandbox.load(name, &bytes(name)?)?)
}

pub(crate) fn measure() -> Result<Vec<Section>> {
    let sandbox = Sandbox::new(SandboxOptions::default())?;
    let minimal = guest::minimal()?;
    let real = bytes(REAL)?;
    let tool = sandbox.load(REAL, &real)?.description().tools.first().context("a tool")?.name.clone();
    let size = real.len() / 1024;
    let figures = vec![
        figure(&sandbox, "minimal tool", &minimal, guest::MINIMAL_TOOL, "{}", true)?.target(10.0),
        figure(&sandbox, &format!("real tool ({REAL}, {size} KiB)"), &real, &tool, ARGUMENTS, false)?.target(20.0),
    ];
    Ok(vec![Section {
        title: "Instantiate, call and drop a tool".to_owned(),
        note: "A fresh store and instance for every call, pooled, through the sandbox with all its limits.\n\
               The real tool reads its JSON arguments and its settings, and answers without a database."
            .to_owned(),
        figures,
    }])
}

fn figure(sandbox: &Sandbox, name: &str, bytes: &[u8], tool: &str, arguments: &str, good: bool) -> Result<Figure> {
    let plugin = sandbox.load(name, bytes)?;
    let limits = Limits::default();
    let input = ToolInput { tool, arguments, settings: "{}" };
    let call = || plugin.call(&input, Canned::default(), &limits);
    let ours = call().result.map_err(|fault| anyhow!("{fault}"))?;
    ensure!(ours.is_ok() == good, "{name} answers {ours:?}");
    let ours = ours.map(|output| output.text).map_err(|failure| failure.message);
    let mut bare = Vec::new();
    for (memory, label) in
        [(Memory::OnDemand, "wasmtime alone, not pooled"), (Memory::Pooled, "wasmtime alone, pooled, no limits")]
    {
        let tool_alone = Bare::load(bytes, memory)?;
        let answer = tool_alone.call(tool, arguments)?;
        ensure!(answer == ours, "{name}: {answer:?} outside the sandbox, {ours:?} inside");
        bare.push((label, cpu(|| tool_alone.call(tool, arguments))));
    }
    if good {
        ensure!(ours.as_deref() == Ok(guest::MINIMAL_SAYS), "{name} answers {ours:?}");
    }
    let figure = Figure::micros(name, cpu(call));
    Ok(bare.into_iter().fold(figure, |figure, (label, timed)| figure.beside_timed(label, timed)))
}
