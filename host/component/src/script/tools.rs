//! The tools that make components, fetched once into a folder of the build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Language, ScriptFault, file, put};
use crate::command::{self, CommandFault};
use crate::event::Event;

/// What is fetched, by version and digest.
const REQUIREMENTS: &str = include_str!("requirements.txt");
const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");

/// The name of a folder says what is in it: another version is another folder.
fn name(language: Language) -> &'static str {
    match language {
        Language::Python => "componentize-py-0.25.1",
        Language::Javascript => "componentize-qjs-0.4.5",
    }
}

/// The folder of the tools for a language, which is made if it is not there.
pub(super) fn ready(
    language: Language,
    toolchains: &Path,
    on_event: &mut dyn FnMut(Event),
) -> Result<PathBuf, ScriptFault> {
    let whole = toolchains.join(name(language));
    // The program of the machine is needed for every build, not only for fetching.
    present(language)?;
    if whole.is_dir() {
        return Ok(whole);
    }
    on_event(Event::Preparing(format!("fetching {} from its package registry", name(language))));
    let staging = tempfile::Builder::new().prefix(".fetching-").tempdir_in(toolchains);
    let staging = staging.map_err(|source| file("making a folder in", toolchains, source))?;
    let made = staging.path().join("whole");
    fs::create_dir(&made).map_err(|source| file("making", &made, source))?;
    let fetched = match language {
        Language::Python => pip(&made, staging.path()),
        Language::Javascript => npm(&made),
    };
    fetched?;
    if let Err(source) = fs::rename(&made, &whole) {
        // Whoever else was faster has made the same.
        if !whole.is_dir() {
            return Err(file("naming", &whole, source).into());
        }
    }
    Ok(whole)
}

/// Looks for the program that runs the tools.
fn present(language: Language) -> Result<(), ScriptFault> {
    let (program, version, fix) = match language {
        Language::Python => ("python3", "--version", "install Python 3.9 or newer with pip"),
        Language::Javascript => ("node", "--version", "install Node.js 18 or newer with npm"),
    };
    match command::output(Command::new(program).arg(version)) {
        Ok(_) => Ok(()),
        Err(_) => Err(ScriptFault::Absent { language, program, fix }),
    }
}

fn pip(made: &Path, staging: &Path) -> Result<(), ScriptFault> {
    let requirements = staging.join("requirements.txt");
    put(&requirements, REQUIREMENTS)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]);
    pip.args(["--only-binary", ":all:", "--no-compile", "--target"]).arg(made).arg("--requirement").arg(&requirements);
    fetched(Language::Python, &mut pip)
}

fn npm(made: &Path) -> Result<(), ScriptFault> {
    put(&made.join("package.json"), PACKAGE)?;
    put(&made.join("package-lock.json"), LOCK)?;
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(made);
    fetched(Language::Javascript, &mut npm)
}

fn fetched(language: Language, command: &mut Command) -> Result<(), ScriptFault> {
    match command::output(command) {
        Ok(_) => Ok(()),
        Err(CommandFault::Absent { .. }) => {
            Err(ScriptFault::Absent { language, program: "npm", fix: "install npm beside Node.js" })
        }
        Err(CommandFault::Failed { stderr, .. }) if stderr.contains("No module named pip") => {
            Err(ScriptFault::Absent { language, program: "pip", fix: "install pip for this python3" })
        }
        Err(fault) => {
            let fix = "it takes a network and the registry once; nothing half-made stays";
            Err(ScriptFault::Fetch { language, fix, fault })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_is_what_the_folders_say() {
        assert!(REQUIREMENTS.starts_with(&name(Language::Python).replace("py-0", "py==0")));
        let version = name(Language::Javascript).rsplit('-').next().unwrap();
        assert!(PACKAGE.contains(&format!("\"componentize-qjs\": \"{version}\"")));
        assert!(LOCK.contains("\"integrity\": \"sha512-") && REQUIREMENTS.contains("--hash=sha256:"));
    }

    #[test]
    fn a_folder_that_is_there_is_taken_and_nothing_is_fetched() {
        let toolchains = tempfile::tempdir().unwrap();
        fs::create_dir(toolchains.path().join(name(Language::Python))).unwrap();
        let mut said = Vec::new();
        let found = ready(Language::Python, toolchains.path(), &mut |event| said.push(event.to_string()));
        match found {
            Ok(found) => assert_eq!((found.ends_with("componentize-py-0.25.1"), said.len()), (true, 0)),
            Err(fault) => assert!(fault.to_string().contains("`python3`, which is not there: install"), "{fault}"),
        }
    }
}
