//! Plugins in Python and JavaScript into components.
//!
//! The tools that do it come from the registries of their languages, pinned by version and digest,
//! into a folder of the build; a folder under its right name is always whole.

mod javascript;
mod project;
mod python;
mod tools;

use std::path::{Path, PathBuf};

use tribunal_protocol::plugin::Wasi;

use crate::WIT;
use crate::build::{BuildFault, BuiltComponent, finish, folder, write_file};
use crate::command::CommandFault;
use crate::event::Event;

pub use project::{Language, Project};

/// Why a plugin in another language was not built.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFault {
    /// What the plugin says of itself for the build cannot be used.
    #[error("{}: {reason}", path.display())]
    Project {
        /// The file that says it.
        path: PathBuf,
        /// What is wrong, and what was expected.
        reason: String,
    },
    /// A program that this machine must have is missing.
    #[error("{language} plugins need `{program}`, which is not there: {fix}")]
    Absent {
        /// The language.
        language: Language,
        /// The program.
        program: &'static str,
        /// What to do.
        fix: &'static str,
    },
    /// The tools could not be fetched.
    #[error("the tools for {language} plugins could not be fetched ({fix}): {fault}")]
    Fetch {
        /// The language.
        language: Language,
        /// What to do.
        fix: &'static str,
        /// What failed.
        fault: CommandFault,
    },
    /// The tool refused the plugin; its own words follow.
    #[error("{name}: no component can be made of it: {fault}")]
    Made {
        /// The plugin.
        name: String,
        /// What failed.
        fault: CommandFault,
    },
    /// What was made is no plugin, or a file could not be read or written.
    #[error(transparent)]
    Build(#[from] BuildFault),
}

/// Builds a plugin: fetches the tools if they are not in `toolchains`, and writes `<name>.wasm`
/// into `out_dir`, checked.
///
/// # Errors
/// Something that it needs is missing, the plugin has a fault, or what was made is no plugin.
pub fn build_script(
    project: &Project,
    toolchains: &Path,
    out_dir: &Path,
    on_event: &mut dyn FnMut(Event),
) -> Result<BuiltComponent, ScriptFault> {
    let (out_dir, toolchains) = (folder(out_dir)?, folder(toolchains)?);
    let tool = tools::ready(project.language, &toolchains, on_event)?;
    let staging = tempfile::Builder::new().prefix(".making-").tempdir_in(&toolchains);
    let staging = staging.map_err(|source| file("making a folder in", &toolchains, source))?;
    let wit = staging.path().join("wit");
    put(&wit.join("plugin.wit"), WIT)?;
    on_event(Event::Preparing(format!("{}: making a component of {}", project.name, project.source)));
    let made = staging.path().join("made.wasm");
    match project.language {
        Language::Python => python::make(project, &tool, staging.path(), &wit, &made)?,
        Language::Javascript => javascript::make(project, &tool, staging.path(), &wit, &made)?,
    }
    let bytes = std::fs::read(&made).map_err(|source| file("reading", &made, source))?;
    let built = finish(&project.name, &bytes, &out_dir, Wasi::Inert)?;
    on_event(Event::Built {
        package: built.package.clone(),
        path: built.path.clone(),
        bytes: built.shape.bytes,
        changed: built.changed,
    });
    Ok(built)
}

fn file(action: &'static str, path: &Path, source: std::io::Error) -> BuildFault {
    BuildFault::File { action, path: path.to_owned(), source }
}

/// Writes a file and the folders above it.
fn put(path: &Path, text: &str) -> Result<(), BuildFault> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    write_file(path, text)
}

/// Fills in a template.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let fill = |text: String, (key, value): &(&str, &str)| text.replace(&format!("{{{{{key}}}}}"), value);
    values.iter().fold(template.to_owned(), fill)
}
