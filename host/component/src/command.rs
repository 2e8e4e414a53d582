//! Child processes: run, and turned into errors that can be read.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};
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
    /// The program ran, but what it wrote could not be read to its end.
    #[error("`{command}`: reading its {pipe}: {source}")]
    Read {
        /// The command as it would be typed.
        command: String,
        /// Standard or error output.
        pipe: &'static str,
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
    let stderr = read_lines(child.stderr.take(), on_line);
    let stdout = reader.join().unwrap_or_else(|_| Err(Error::other("its reader broke down")));
    // Waited for before any fault is reported: no child outlives its command.
    let status = child.wait().map_err(|source| start_fault(command, source))?;
    let fault = |pipe, source| CommandFault::Read { command: shown(command), pipe, source };
    let stdout = stdout.map_err(|source| fault("output", source))?;
    let mut stderr = stderr.map_err(|source| fault("error output", source))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    let start = stderr.len().saturating_sub(KEPT_LINES);
    let stderr = stderr.split_off(start).join("\n").trim().to_owned();
    Err(CommandFault::Failed { command: shown(command), status, stderr })
}

/// All that comes out of a pipe. A part of it must not pass for the whole: it would be read as a
/// shorter answer.
fn read_all(pipe: Option<impl Read>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// All lines that come out of a pipe, each handed over as it comes.
fn read_lines(pipe: Option<impl Read>, on_line: &mut dyn FnMut(&str)) -> Result<Vec<String>, Error> {
    let mut lines = Vec::new();
    for line in pipe.map(BufReader::new).into_iter().flat_map(|pipe| pipe.split(b'\n')) {
        let line = String::from_utf8_lossy(&line?).into_owned();
        on_line(&line);
        lines.push(line);
    }
    Ok(lines)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives some bytes, and then breaks.
    struct Broken(&'static [u8]);

    impl Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
            match self.0.read(buffer)? {
                0 => Err(Error::other("pulled out")),
                read => Ok(read),
            }
        }
    }

    #[test]
    fn a_part_of_an_output_is_a_fault_and_the_whole_is_not() {
        assert_eq!(read_all(Some(&b"half"[..])).unwrap(), b"half");
        assert_eq!(read_all(Some(Broken(b"half"))).unwrap_err().to_string(), "pulled out");
        assert_eq!(read_all(None::<Broken>).unwrap(), b"");
        let mut seen = Vec::new();
        let lines = read_lines(Some(&b"one\ntwo"[..]), &mut |line| seen.push(line.to_owned()));
        assert_eq!(
            (lines.unwrap(), seen),
            (vec!["one".to_owned(), "two".to_owned()], vec!["one".into(), "two".into()])
        );
        let mut seen = Vec::new();
        let broken = read_lines(Some(Broken(b"one\ntwo")), &mut |line| seen.push(line.to_owned()));
        assert_eq!((broken.unwrap_err().to_string(), seen), ("pulled out".to_owned(), vec!["one".to_owned()]));
    }

    #[test]
    fn a_child_that_fails_says_so_with_its_last_words() {
        let said = output(Command::new("sh").args(["-c", "echo out; echo err >&2"]));
        assert_eq!(said.unwrap(), "out\n");
        let failed = output(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"])).unwrap_err();
        assert!(failed.to_string().ends_with("failed (exit status: 3):\nerr"), "{failed}");
        let absent = output(&mut Command::new("no-such-program")).unwrap_err();
        assert_eq!(absent.to_string(), "`no-such-program` is not installed or not on the path");
    }
}
