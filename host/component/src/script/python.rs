//! A plugin in Python into a component, through componentize-py.

use std::path::Path;
use std::process::Command;

use super::{Project, ScriptFault, file, filled, put};
use crate::command;
use crate::world::entry;

/// The module that stands between the interface and the plugin.
const ENTRY: &str = include_str!("entry.py");
/// What runs the tool where it was unpacked, instead of installed.
const RUN: &str = "import sys; from componentize_py import script; sys.argv[0] = 'componentize-py'; sys.exit(script())";

/// Makes the component.
pub(super) fn make(project: &Project, tool: &Path, staging: &Path, wit: &Path, out: &Path) -> Result<(), ScriptFault> {
    let module = project.source.trim_end_matches(".py");
    put(
        &staging.join("entry/tribunal_entry.py"),
        &filled(ENTRY, &[("module", module), ("entry", entry(project.kind))]),
    )?;
    // The tool runs elsewhere.
    let sources = project.folder.canonicalize().map_err(|source| file("resolving", &project.folder, source))?;
    let mut python = Command::new("python3");
    python.args(["-c", RUN, "--quiet", "-d"]).arg(wit).args(["-w", &project.kind.to_string()]);
    python.args(["componentize", "tribunal_entry", "-p"]).arg(sources);
    python.arg("-p").arg(staging.join("entry")).arg("-o").arg(out);
    // Nothing of the environment's own packages gets in, and no cache is left among the sources.
    python.env("PYTHONPATH", tool).env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONHASHSEED", "0");
    python.env_remove("VIRTUAL_ENV").env("RUST_BACKTRACE", "0").env("RUST_LIB_BACKTRACE", "0").current_dir(staging);
    command::output(&mut python).map(drop).map_err(|fault| ScriptFault::Made { name: project.name.clone(), fault })
}
