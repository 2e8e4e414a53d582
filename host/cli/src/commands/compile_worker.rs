//! The hidden command that compiles one component in a process of its own: bytes in on standard
//! input, native code out on standard output, under the limits that its parent names.

use anyhow::Result;
use tribunal_sandbox::{compile_worker, worker_complaint};

use crate::args::CompileWorkerArguments;
use crate::output;

/// Runs the command. Its parent reads the complaint, so that stands alone on its line.
pub fn run(arguments: &CompileWorkerArguments) -> Result<bool> {
    let limits = arguments.limits.iter().cloned();
    let done = compile_worker(limits, std::io::stdin().lock(), std::io::stdout().lock());
    if let Err(fault) = &done {
        output::note(&worker_complaint(fault));
    }
    Ok(done.is_ok())
}
