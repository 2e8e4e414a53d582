//! The binary under test, and folders to run it in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The target folder that this test was built in.
#[must_use]
pub fn target() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let target = test.ancestors().find(|folder| folder.join("plugins").is_dir());
    target.map_or_else(|| root().join("target"), Path::to_owned)
}

/// The folder of built plugins.
#[must_use]
pub fn plugins() -> PathBuf {
    target().join("plugins")
}

/// The `tribunal` binary; `make test` builds it before the tests.
#[must_use]
pub fn binary() -> PathBuf {
    target().join("debug").join("tribunal")
}

/// A run of the binary in `folder`.
#[must_use]
pub fn tribunal(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(folder).env("TRIBUNAL_PLUGINS", plugins());
    command
}

/// What a finished run said.
#[derive(Debug)]
pub struct Said {
    /// The exit code; -1 where a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs the binary to its end.
///
/// # Panics
/// Where the binary is missing: `make test` builds it.
#[must_use]
#[expect(clippy::panic, reason = "a test without its binary cannot go on")]
pub fn said(folder: &Path, arguments: &[&str]) -> Said {
    match tribunal(folder, arguments).output() {
        Ok(output) => read(&output),
        Err(why) => panic!("{}: {why}; `make test` builds it before the tests", binary().display()),
    }
}

/// What the output of a finished run said.
#[must_use]
pub fn read(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
