//! Compiling components. The time and the memory that a compiler takes are the input's to choose,
//! so foreign components are compiled in a child process with limits that the system enforces.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use rlimit::Resource;
use tribunal_protocol::limits::Limits;
use wasmtime::Engine;

use crate::engine;
use crate::log::shorten;

/// How much of a compiler's complaint is shown.
const MESSAGE_BYTES: usize = 500;
/// The signal of a process that used up its processor time, on every Unix that we know.
const SIGXCPU: i32 = 24;
/// The signal that nothing survives; the system sends it at the hard limit.
const SIGKILL: i32 = 9;

/// Where components are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// In a child process under the limits `compile_seconds` and `compile_memory`. The program is
    /// run with these arguments and two of ours after them; it must call [`compile_worker`].
    Child {
        /// The program, by its full path.
        program: PathBuf,
        /// Its arguments before ours, such as the name of a subcommand.
        arguments: Vec<OsString>,
    },
    /// In this process, without limits: for components of one's own.
    InProcess,
}

/// Why a component was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileFault {
    /// It took too much processor time.
    #[error(
        "compiling took more than {limit} seconds of processor time; make its largest functions smaller, or raise `compile_seconds` (under [plugins] of suite.toml, or --compile-seconds where one plugin is tried)"
    )]
    Seconds {
        /// The limit.
        limit: u64,
    },
    /// It took too much memory.
    #[error(
        "compiling took more than {limit} bytes of memory; make its largest functions smaller, or raise `compile_memory`"
    )]
    Memory {
        /// The limit.
        limit: u64,
    },
    /// The compiler refused the component.
    #[error("the compiler refused it: {message}")]
    Refused {
        /// What it said.
        message: String,
    },
    /// The compiling process ended in another way.
    #[error("the compiling process died ({status}): {message}")]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// What it said last.
        message: String,
    },
    /// The compiling process could not be run.
    #[error("`{}` could not be run to compile: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The worker was called wrongly.
    #[error("a compile worker takes two numbers, the limits in seconds and bytes, and not {0:?}")]
    Arguments(Vec<OsString>),
    /// The worker could not limit itself, read its input or write its output.
    #[error("{what}: {source}")]
    Worker {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Compiler {
    /// Compiles a component to native code for `engine`.
    pub(crate) fn compile(&self, engine: &Engine, component: &[u8], limits: &Limits) -> Result<Vec<u8>, CompileFault> {
        match self {
            Compiler::InProcess => precompile(engine, component),
            Compiler::Child { program, arguments } => {
                let limited = [limits.compile_seconds, limits.compile_memory].map(|limit| limit.to_string());
                let mut command = Command::new(program);
                // The compiler needs nothing of our environment, and its memory errors are told
                // apart by what Rust itself says of them.
                command.args(arguments).args(limited).env_clear().current_dir("/");
                // Address space counts as memory, and this allocator sets a gibibyte of it aside unless told.
                command.env("MIMALLOC_ARENA_RESERVE", ARENA_KIB);
                let start = |source| CompileFault::Start { program: program.clone(), source };
                let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
                let output = converse(child.map_err(start)?, component).map_err(start)?;
                if output.status.success() { Ok(output.stdout) } else { Err(verdict(&output, limits)) }
            }
        }
    }
}

/// Hands a component to a child and takes what it makes of it. The child reads all of its input
/// before it writes.
fn converse(mut child: Child, component: &[u8]) -> std::io::Result<Output> {
    let sent = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(component));
    let output = child.wait_with_output()?;
    match sent {
        // A child that died early says more by how it died.
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => Err(fault),
        _ => Ok(output),
    }
}

/// Says what a child that failed failed of.
fn verdict(output: &Output, limits: &Limits) -> CompileFault {
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.trim();
    // Rust's own words for an allocation that failed, the engine's, and the system's; the last
    // ones are those of an input that does not fit.
    if ["memory allocation of", "out of memory (failed", "Cannot allocate memory", "os error 12"]
        .iter()
        .any(|sign| message.contains(sign))
        || message.ends_with(": out of memory")
    {
        return CompileFault::Memory { limit: limits.compile_memory };
    }
    #[cfg(unix)]
    if let Some(SIGXCPU | SIGKILL) = std::os::unix::process::ExitStatusExt::signal(&output.status) {
        return CompileFault::Seconds { limit: limits.compile_seconds };
    }
    match message.strip_prefix(REFUSED) {
        Some(message) => CompileFault::Refused { message: shorten(message, MESSAGE_BYTES) },
        None => CompileFault::Died { status: output.status, message: shorten(message, MESSAGE_BYTES) },
    }
}

/// How much address space the compiling process's allocator asks of the system at a time.
const ARENA_KIB: &str = "16384";

/// What the child says before the reason of a refusal.
const REFUSED: &str = "refused: ";

/// The child's side of [`Compiler::Child`]: limits itself to what `arguments` (the two that the
/// parent added) say, reads a component, and writes its native code.
///
/// On an error the caller writes [`worker_complaint`] to the standard error and exits with a
/// failure.
///
/// # Errors
/// The component is refused, or input, output or the limits themselves failed. Past its limits
/// the process is ended by the system.
pub fn compile_worker(
    arguments: impl IntoIterator<Item = OsString>,
    mut input: impl Read,
    mut output: impl Write,
) -> Result<(), CompileFault> {
    let arguments: Vec<_> = arguments.into_iter().collect();
    let numbers: Option<Vec<u64>> = arguments.iter().map(number).collect();
    let Some([seconds, memory]) = numbers.as_deref() else { return Err(CompileFault::Arguments(arguments)) };
    let worker = |what| move |source| CompileFault::Worker { what, source };
    limit(*seconds, *memory).map_err(worker("limiting the compiling process"))?;
    let mut component = Vec::new();
    input.read_to_end(&mut component).map_err(worker("reading the component"))?;
    let refused = |error: wasmtime::Error| CompileFault::Refused { message: format!("{error:#}") };
    let compiled = precompile(&engine::compiler().map_err(refused)?, &component)?;
    output.write_all(&compiled).and_then(|()| output.flush()).map_err(worker("writing the compiled component"))
}

/// What a worker tells its parent about an error.
#[must_use]
pub fn worker_complaint(fault: &CompileFault) -> String {
    match fault {
        CompileFault::Refused { message } => format!("{REFUSED}{message}"),
        fault => fault.to_string(),
    }
}

fn number(text: impl AsRef<OsStr>) -> Option<u64> {
    text.as_ref().to_str()?.parse().ok()
}

fn limit(seconds: u64, memory: u64) -> std::io::Result<()> {
    // The soft limit ends the process with a signal that says why; the hard one is a second later.
    Resource::CPU.set(seconds, seconds.saturating_add(1))?;
    Resource::DATA.set(memory, memory)?;
    // Nothing is written but the output, which is a pipe, and a crash leaves no image behind.
    Resource::FSIZE.set(0, 0)?;
    Resource::CORE.set(0, 0)
}

fn precompile(engine: &Engine, component: &[u8]) -> Result<Vec<u8>, CompileFault> {
    let refused =
        |error: wasmtime::Error| CompileFault::Refused { message: shorten(&format!("{error:#}"), MESSAGE_BYTES) };
    engine.precompile_component(component).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_not_there_is_named() {
        let compiler = Compiler::Child { program: "/nowhere/tribunal".into(), arguments: Vec::new() };
        let engine = engine::compiler().unwrap();
        let fault = compiler.compile(&engine, b"", &Limits::default()).unwrap_err().to_string();
        assert!(fault.starts_with("`/nowhere/tribunal` could not be run to compile: "), "{fault}");
    }

    #[test]
    fn how_a_child_ends_says_why() {
        let run = |script: &str| {
            let arguments = vec!["-c".into(), script.into()];
            let compiler = Compiler::Child { program: "/bin/sh".into(), arguments };
            let engine = engine::compiler().unwrap();
            compiler.compile(&engine, &vec![0; 1 << 20], &Limits::default())
        };
        assert_eq!(run("cat >/dev/null; printf native").unwrap(), b"native");
        let fault = |script| run(script).unwrap_err().to_string();
        assert!(fault("kill -XCPU $$").contains("more than 10 seconds"));
        assert!(fault("echo 'memory allocation of 9 bytes failed' >&2; exit 1").contains("1073741824 bytes of memory"));
        assert!(
            fault("echo 'reading the component: out of memory' >&2; exit 1").contains("1073741824 bytes of memory")
        );
        assert!(fault("echo 'refused: bad section' >&2; exit 1").ends_with("refused it: bad section"));
        assert!(fault("kill -SEGV $$").contains("died (signal: 11"));
        assert!(fault("exit 3").contains("died (exit status: 3)"));
    }

    #[test]
    fn a_worker_wants_its_limits() {
        for wrong in [vec![], vec!["1".into()], vec!["1".into(), "x".into()]] {
            let fault = compile_worker(wrong, &b""[..], Vec::new()).unwrap_err();
            assert!(matches!(fault, CompileFault::Arguments(_)), "{fault}");
        }
    }
}
