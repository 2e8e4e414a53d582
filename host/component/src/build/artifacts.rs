//! What cargo says that it made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::BuildFault;
use super::metadata::Workspace;

/// The fields of cargo's messages that tell of modules; other messages have none of them.
#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// The module of each package of the workspace, from cargo's messages.
pub(super) fn modules(messages: &str, workspace: &Workspace) -> Result<BTreeMap<String, PathBuf>, BuildFault> {
    let mut modules = BTreeMap::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message = serde_json::from_str(line)
            .map_err(|fault| BuildFault::Unreadable { what: "message of what it made", reason: fault.to_string() })?;
        if message.reason != "compiler-artifact" {
            continue;
        }
        let package = message.manifest_path.and_then(|path| workspace.name_of(&path).map(str::to_owned));
        let is_module = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wasm");
        let module = message.filenames.into_iter().find(is_module);
        if let (Some(package), Some(module)) = (package, module) {
            modules.insert(package, module);
        }
    }
    Ok(modules)
}
