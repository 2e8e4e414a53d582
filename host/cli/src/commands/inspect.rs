//! `tribunal inspect`: what a component is, before anything is granted to it.

use anyhow::Result;
use serde_json::json;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::{Loading, Wasi};
use tribunal_sandbox::Plugin;

use crate::args::InspectArguments;
use crate::{output, plugins};

/// Between names that stand below each other, behind the first column.
const BELOW: &str = "\n          ";

/// Runs the command.
pub fn run(arguments: &InspectArguments) -> Result<bool> {
    // Stand-ins grant nothing, and this shows which there are.
    let inert = Loading { wasi: Wasi::Inert, ..Loading::default() };
    let loading = arguments.loading.over(inert);
    let limits = loading.limits(Limits::default());
    let bytes = plugins::read(&arguments.file, &limits)?;
    let sandbox = plugins::sandbox(arguments.cache.as_deref(), &limits, loading.wasi)?;
    let plugin = sandbox.load(&arguments.file.display().to_string(), &bytes)?;
    if arguments.json {
        json(&plugin, &limits)?
    } else {
        text(&plugin, &limits)
    }
    Ok(true)
}

fn json(plugin: &Plugin, limits: &Limits) -> Result<()> {
    let (shape, description) = (plugin.shape(), plugin.description());
    output::json(&json!({
        "name": description.name,
        "version": description.version,
        "kind": plugin.kind(),
        "digest": plugin.digest(),
        "shape": shape,
        "stand_ins": shape.wasi().collect::<Vec<_>>(),
        "compile_seconds": limits.compile_seconds,
        "tools": description.tools,
        "contract": description.contract,
    }))
}

fn text(plugin: &Plugin, limits: &Limits) {
    let (shape, description) = (plugin.shape(), plugin.description());
    output::line(&format!("name      {} {}", description.name, description.version));
    output::line(&format!("kind      {}", plugin.kind()));
    output::line(&format!("digest    {}", plugin.digest()));
    output::line(&format!("size      {} bytes, {} functions", shape.bytes, shape.functions));
    let wasi: Vec<&str> = shape.wasi().collect();
    let own: Vec<&str> = shape.imports.iter().map(String::as_str).filter(|import| !wasi.contains(import)).collect();
    output::line(&format!("imports   {}", own.join(BELOW)));
    if !wasi.is_empty() {
        output::line(&format!("stand-ins {}", wasi.join(BELOW)));
        output::line("          each is inert and grants nothing; a suite allows them with `wasi = \"inert\"`");
    }
    if limits.compile_seconds > Limits::default().compile_seconds {
        let seconds = limits.compile_seconds;
        output::line(&format!(
            "compiling may take {seconds} s; a suite allows that with `compile_seconds = {seconds}`"
        ));
        output::line("          both stand under [plugins] of suite.toml");
    }
    output::line(&format!("exports   {}", shape.exports.join(BELOW)));
    for tool in &description.tools {
        output::line(&format!("tool      {}: {}", tool.name, tool.description));
        output::line(&format!("          {}", tool.arguments));
    }
    output::line("requests");
    for row in description.contract.lines() {
        output::line(&format!("          {row}"));
    }
}
