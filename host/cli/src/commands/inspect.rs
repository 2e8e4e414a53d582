//! `tribunal inspect`: what a component is, before anything is granted to it.

use anyhow::Result;
use serde_json::json;
use tribunal_protocol::limits::Limits;
use tribunal_sandbox::Plugin;

use crate::args::InspectArguments;
use crate::{output, plugins};

/// Runs the command.
pub fn run(arguments: &InspectArguments) -> Result<bool> {
    let limits = Limits::default();
    let bytes = plugins::read(&arguments.file, &limits)?;
    let sandbox = plugins::sandbox(arguments.cache.as_deref(), &limits)?;
    let plugin = sandbox.load(&arguments.file.display().to_string(), &bytes)?;
    if arguments.json {
        json(&plugin)?
    } else {
        text(&plugin)
    }
    Ok(true)
}

fn json(plugin: &Plugin) -> Result<()> {
    let (shape, description) = (plugin.shape(), plugin.description());
    output::json(&json!({
        "name": description.name,
        "version": description.version,
        "kind": plugin.kind(),
        "digest": plugin.digest(),
        "shape": shape,
        "tools": description.tools,
        "contract": description.contract,
    }))
}

fn text(plugin: &Plugin) {
    let (shape, description) = (plugin.shape(), plugin.description());
    let list = |names: &[String]| names.join("\n          ");
    output::line(&format!("name      {} {}", description.name, description.version));
    output::line(&format!("kind      {}", plugin.kind()));
    output::line(&format!("digest    {}", plugin.digest()));
    output::line(&format!("size      {} bytes, {} functions", shape.bytes, shape.functions));
    output::line(&format!("imports   {}", list(&shape.imports)));
    output::line(&format!("exports   {}", list(&shape.exports)));
    for tool in &description.tools {
        output::line(&format!("tool      {}: {}", tool.name, tool.description));
        output::line(&format!("          {}", tool.arguments));
    }
    output::line("requests");
    for row in description.contract.lines() {
        output::line(&format!("          {row}"));
    }
}
