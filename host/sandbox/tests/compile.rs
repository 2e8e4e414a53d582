//! Compiling in a child process: this program is the child, too.

#[expect(dead_code, reason = "shared with the unit tests, which use all of it")]
#[path = "../src/fixture.rs"]
mod fixture;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use fixture::{DATA, Guest, said};
use tribunal_protocol::limits::Limits;
use tribunal_sandbox::{Compiler, LoadError, Origin, Plugin, Sandbox, SandboxOptions, compile_worker, worker_complaint};

const WORKER: &str = "compile-worker";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if let Ok(n) = env::var("BOMB") { let n: u32 = n.parse().unwrap(); if env::args().count() < 2 { let b = bomb(n); let t = std::time::Instant::now(); let r = load(Limits::default(), &b); println!("{} bytes {:?} {}", b.len(), t.elapsed(), r.err().map_or("ok".into(), |e| e.to_string())); return ExitCode::SUCCESS; } }
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
    let tests: [(&str, fn()); 5] = [
        ("a component compiled in a child runs", a_component_compiled_in_a_child_runs),
        ("a bomb is stopped by its processor time", a_bomb_is_stopped_by_its_processor_time),
        ("a bomb is stopped by its memory", a_bomb_is_stopped_by_its_memory),
        ("what the compiler refuses is told", what_the_compiler_refuses_is_told),
        ("loads at once share a cache", loads_at_once_share_a_cache),
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
    Sandbox::new(SandboxOptions { limits, compiler, cache, concurrent_calls: 4 }).unwrap()
}

fn good() -> Vec<u8> {
    Guest::tool(&said(DATA, 0)).build()
}

/// A tool with one more function: `size` statements, all of whose values are alive at once.
fn bomb(size: u32) -> Vec<u8> {
    let locals = (0..size).map(|place| format!("(local $v{place} i64)")).collect::<String>();
    let sets = (1..size).map(|place| {
        format!("(local.set $v{place} (i64.mul (i64.add (local.get $v{}) (local.get 0)) (local.get $v{})))", place - 1, place / 2)
    });
    let sum = (0..size).fold("(local.get 0)".to_owned(), |sum, place| format!("{sum} (local.get $v{place}) i64.xor"));
    let function = format!("(func (export \"x\") (param i64) (result i64) {locals} {} {sum})", sets.collect::<String>());
    Guest::tool(&said(DATA, 0)).fields(&function).build()
}

fn load(limits: Limits, bytes: &[u8]) -> Result<Arc<Plugin>, LoadError> {
    sandbox(limits, None).load("x.wasm", bytes)
}

fn a_component_compiled_in_a_child_runs() {
    let plugin = load(Limits::default(), &good()).unwrap();
    assert_eq!((plugin.name(), plugin.origin()), ("guest", &Origin::Compiled));
}

fn a_bomb_is_stopped_by_its_processor_time() {
    let limits = Limits { compile_seconds: 1, ..Limits::default() };
    let fault = load(limits.clone(), &bomb(20_000)).unwrap_err().to_string();
    assert!(fault.starts_with("x.wasm: compiling took more than 1 seconds"), "{fault}");
    assert!(load(limits, &good()).is_ok());
}

fn a_bomb_is_stopped_by_its_memory() {
    let limits = Limits { compile_memory: 48 << 20, ..Limits::default() };
    let fault = load(limits.clone(), &bomb(20_000)).unwrap_err().to_string();
    assert!(fault.starts_with("x.wasm: compiling took more than 50331648 bytes"), "{fault}");
    assert!(load(limits, &good()).is_ok());
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
    let began = std::time::SystemTime::now();
    let plugin = sandbox(Limits::default(), Some(&cache)).load("x", &bytes).unwrap();
    assert_eq!(plugin.origin(), &Origin::Cache);
    assert!(began.elapsed().unwrap() < Duration::from_secs(5));
}
