//! A plugin in JavaScript into a component, through componentize-qjs.

use std::fs;
use std::path::Path;
use std::process::Command;

use tribunal_protocol::plugin::PluginKind;

use super::{Project, ScriptFault, file, filled, put};
use crate::build::BuildFault;
use crate::command;

/// The module that stands between the interface and the plugin, for each kind.
const TOOL: &str = include_str!("entry-tool.js");
const VERIFIER: &str = include_str!("entry-verifier.js");
const USER: &str = include_str!("entry-user.js");
/// Folders that hold no source of a plugin.
const FOREIGN: [&str; 2] = ["node_modules", "target"];

/// Makes the component.
pub(super) fn make(project: &Project, tool: &Path, staging: &Path, wit: &Path, out: &Path) -> Result<(), ScriptFault> {
    let entry = match project.kind {
        PluginKind::Tool => TOOL,
        PluginKind::Verifier => VERIFIER,
        PluginKind::User => USER,
    };
    let sources = staging.join("sources");
    copy(&project.folder, &sources)?;
    let at = sources.join("tribunal-entry.js");
    put(&at, &filled(entry, &[("source", &project.source)]))?;
    let mut node = Command::new("node");
    node.arg(tool.join("node_modules/componentize-qjs/cli.mjs")).arg("--sync");
    node.arg("--wit").arg(wit).arg("--js").arg(&at).arg("--output").arg(out);
    node.args(["--world", &project.kind.to_string()]).arg("--module-root").arg(&sources).current_dir(&sources);
    command::output(&mut node).map(drop).map_err(|fault| ScriptFault::Made { name: project.name.clone(), fault })?;
    if out.is_file() { Ok(()) } else { Err(nothing(project)) }
}

fn nothing(project: &Project) -> ScriptFault {
    let reason = "componentize-qjs wrote nothing and did not say why".to_owned();
    BuildFault::Encode { package: project.name.clone(), reason }.into()
}

/// Copies the modules of a folder, and of those in it.
fn copy(from: &Path, to: &Path) -> Result<(), BuildFault> {
    fs::create_dir_all(to).map_err(|source| file("making", to, source))?;
    for entry in fs::read_dir(from).map_err(|source| file("listing", from, source))? {
        let path = entry.map_err(|source| file("listing", from, source))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !FOREIGN.contains(&name.as_str()) && !name.starts_with('.') {
            copy(&path, &to.join(&name))?;
        } else if name.ends_with(".js") || name.ends_with(".mjs") || name == "package.json" {
            fs::copy(&path, to.join(&name)).map_err(|source| file("copying", &path, source))?;
        }
    }
    Ok(())
}
