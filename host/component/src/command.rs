//! Child processes: run, and turned into errors that can be read.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

/// Lines of a child's error output that are kept for an error: enough for a compiler's complaint.
const KEPT_LINES: usize = 60;

/// A child process that did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandFault {
    /// The program does not exist here.
    #[error("`{program}` is not installed or not on the path")]
    Absent {
        /// The program.
        program: String,
    },
    /// The program exists, but could not be run.
    #[error("`{program}` could not be run: {source}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program ran and failed.
    #[error("`{command}` failed ({status}):\n{stderr}")]
    Failed {
        /// The command as it would be typed.
        command: String,
        /// Its exit status.
        status: ExitStatus,
        /// The end of what it wrote as errors.
        stderr: String,
    },
}

/// Runs a command to its end and gives what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<String, CommandFault> {
    output_with(command, &mut |_| {})
}

/// Runs a command to its end, hands over each line of its error output as it comes, and gives
/// what it wrote to its standard output.
pub(crate) fn output_with(command: &mut Command, on_line: &mut dyn FnMut(&str)) -> Result<String, CommandFault> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| start_fault(command, source))?;
    let stdout = child.stdout.take();
    // Both pipes are read at once: a child that fills the one nobody reads would wait for ever.
    let reader = thread::spawn(move || read_all(stdout));
    let mut stderr = Vec::new();
    if let Some(pipe) = child.stderr.take() {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            on_line(&line);
            stderr.push(line);
        }
    }
    let stdout = reader.join().unwrap_or_default();
    let status = child.wait().map_err(|source| start_fault(command, source))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let start = stderr.len().saturating_sub(KEPT_LINES);
    let stderr = stderr.split_off(start).join("\n").trim().to_owned();
    Err(CommandFault::Failed { command: shown(command), status, stderr })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before a broken pipe is still what the child said.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

fn start_fault(command: &Command, source: std::io::Error) -> CommandFault {
    let program = command.get_program().to_string_lossy().into_owned();
    if source.kind() == ErrorKind::NotFound {
        CommandFault::Absent { program }
    } else {
        CommandFault::Start { program, source }
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
