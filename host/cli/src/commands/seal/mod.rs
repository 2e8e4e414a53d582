//! `tribunal seal`: signs what a run was and gave.

pub mod bind;
mod blind;
pub mod keys;
pub mod verify;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::args::SealArguments;
use crate::folder::{self, RunFolder, SEAL};
use crate::output;

#[derive(Serialize)]
struct Sealed {
    seal: PathBuf,
    keyid: String,
    files: usize,
    traces: u64,
}

/// Runs the command.
pub fn run(arguments: &SealArguments) -> Result<bool> {
    let folder = RunFolder::open(&arguments.run)?;
    let key = keys::signing(arguments.key.as_deref())?;
    let out = out(arguments.out.as_deref(), &folder)?;
    let statement = bind::statement(&folder, &key.public(), arguments.protocol.as_deref())?;
    folder::write(&out, &statement.seal(&key)?.to_line()?)?;
    let (files, traces) = (statement.subject.len(), statement.predicate.traces);
    let sealed = Sealed { seal: out, keyid: key.public().id(), files, traces };
    if arguments.json {
        output::json(&sealed)?;
    } else {
        output::line(&format!("sealed  {files} files, {traces} of them traces"));
        output::line(&format!("keyid   {}", sealed.keyid));
        output::line(&format!("seal    {}", sealed.seal.display()));
    }
    Ok(true)
}

/// Where the seal goes. Under another name in the run folder it would be one of the files that it binds.
fn out(asked: Option<&Path>, folder: &RunFolder) -> Result<PathBuf> {
    let usual = folder.at(SEAL);
    let Some(asked) = asked else { return Ok(usual) };
    let parent = asked.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let whole =
        |path: &Path| std::fs::canonicalize(path).with_context(|| format!("--out: cannot read {}", path.display()));
    let (parent, root) = (whole(parent)?, whole(folder.path())?);
    let name = asked.file_name().with_context(|| format!("--out {}: the name of a file expected", asked.display()))?;
    if parent.starts_with(&root) && parent.join(name) != root.join(SEAL) {
        bail!("--out {}: a seal lies in its run folder as {SEAL}, or outside of it", asked.display());
    }
    Ok(asked.to_owned())
}
