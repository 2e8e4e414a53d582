//! Compiling in a child process: this program is the child, too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test without the harness, which would write between the child and its parent"
)]

#[expect(dead_code, reason = "shared with the unit tests, which use all of it")]
#[path = "../src/fixture.rs"]
mod fixture;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use fixture::{DATA, Guest, said};
use tribunal_protocol::limits::Limits;
use tribunal_sandbox::{
    Compiler, LoadError, Origin, Plugin, Sandbox, SandboxOptions, compile_worker, worker_complaint,
};

const WORKER: &str = "compile-worker";
const WITHOUT_FILES: &str = "call-without-files";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if env::args_os().nth(1).is_some_and(|first| first == WITHOUT_FILES) {
        return call_without_files();
    }
    if arguments.next().is_some_and(|first| first == WORKER) {
        let done = compile_worker(arguments, std::io::stdin().lock(), std::io::stdout().lock());
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(fault) => {
                eprint!("{}", worker_complaint(&fault));
                ExitCode::FAILURE
            }
        };
    }
    let tests: [(&str, fn()); 6] = [
        ("a component compiled in a child runs", a_component_compiled_in_a_child_runs),
        ("too much processor time is stopped", too_much_processor_time_is_stopped),
        ("too much memory is stopped", too_much_memory_is_stopped),
        ("what the compiler refuses is told", what_the_compiler_refuses_is_told),
        ("loads at once share a cache", loads_at_once_share_a_cache),
        ("what the system refuses is the host's fault", what_the_system_refuses_is_the_hosts_fault),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn sandbox(limits: Limits, cache: Option<&Path>) -> Sandbox {
    let compiler = Compiler::Child { program: env::current_exe().unwrap(), arguments: vec![WORKER.into()] };
    let cache = cache.map(Path::to_owned);
    Sandbox::new(SandboxOptions { limits, compiler, cache, concurrent_calls: 4, ..SandboxOptions::default() }).unwrap()
}

fn good() -> Vec<u8> {
    Guest::tool(&said(DATA, 0)).build()
}

/// A tool with `functions` more functions of 2,000 statements each, none of which can be left
/// out or computed beforehand.
fn heavy(functions: usize) -> Vec<u8> {
    let statement = |place: usize| {
        let (from, to) = (place * 5 % 8, place * 3 % 8);
        format!("local.get {from} local.get {to} i64.mul i64.const {place} i64.add local.set {to}\n")
    };
    let body = (0..2_000).map(statement).collect::<String>();
    let function = format!("(func (param i64 i64 i64 i64 i64 i64 i64 i64) (result i64) {body} local.get 0)\n");
    Guest::tool(&said(DATA, 0)).fields(&function.repeat(functions)).build()
}

fn load(limits: Limits, bytes: &[u8]) -> Result<Arc<Plugin>, LoadError> {
    sandbox(limits, None).load("x.wasm", bytes)
}

fn a_component_compiled_in_a_child_runs() {
    let plugin = load(Limits::default(), &good()).unwrap();
    assert_eq!((plugin.name(), plugin.origin()), ("guest", &Origin::Compiled));
}

fn too_much_processor_time_is_stopped() {
    let limits = Limits { compile_seconds: 1, ..Limits::default() };
    assert!(load(limits.clone(), &good()).is_ok());
    // How much work a second is depends on the machine: four times as much until it is too much.
    let faults = [16, 64, 256, 1_024].into_iter().filter_map(|functions| load(limits.clone(), &heavy(functions)).err());
    let fault = faults.map(|fault| fault.to_string()).next().unwrap();
    assert!(fault.starts_with("x.wasm: compiling took more than 1 seconds"), "{fault}");
}

fn too_much_memory_is_stopped() {
    // Far less than a component of some megabytes needs, and enough for a small one.
    let limits = Limits { compile_memory: 16 << 20, compile_seconds: 60, ..Limits::default() };
    assert!(load(limits.clone(), &good()).is_ok());
    let fault = load(limits, &heavy(256)).unwrap_err().to_string();
    assert!(fault.starts_with("x.wasm: compiling took more than 16777216 bytes"), "{fault}");
}

fn what_the_compiler_refuses_is_told() {
    // A check stands before every compiler, so what it refuses can only be given to it directly.
    let mut worker = Command::new(env::current_exe().unwrap());
    worker.args([WORKER, "10", "1073741824"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = worker.output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(output.stderr.starts_with(b"refused: "), "{}", String::from_utf8_lossy(&output.stderr));
}

fn loads_at_once_share_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let bytes = good();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| sandbox(Limits::default(), Some(&cache)).load("x", &bytes).unwrap());
        }
    });
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), 1);
    let plugin = sandbox(Limits::default(), Some(&cache)).load("x", &bytes).unwrap();
    assert_eq!(plugin.origin(), &Origin::Cache);
}

/// The child of the test below: it may write no file, and so can set up no memory with content.
fn call_without_files() -> ExitCode {
    use rlimit::Resource;
    let options = SandboxOptions { concurrent_calls: 2, ..SandboxOptions::default() };
    let sandbox = Sandbox::new(options).unwrap();
    Resource::FSIZE.set(0, 0).unwrap();
    // The system's answer is to be an error, as everywhere where a disk is full.
    let fault = sandbox.load("x", &good()).unwrap_err();
    println!("{fault}");
    ExitCode::SUCCESS
}

fn what_the_system_refuses_is_the_hosts_fault() {
    // The signal that comes with this limit is ignored by the shell, and by what it starts.
    let child = format!("trap '' XFSZ; exec '{}' {WITHOUT_FILES}", env::current_exe().unwrap().display());
    let output = Command::new("/bin/sh").args(["-c", &child]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("host: the system refused what a plugin call needs: "), "{said}");
    assert!(said.contains("File too large"), "{said}");
}
