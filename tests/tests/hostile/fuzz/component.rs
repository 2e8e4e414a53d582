//! Bytes that were a component: refused by name, or loaded and within limits.

use tribunal_protocol::evidence::{Evidence, Submission};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::plugin::PluginKind;
use tribunal_protocol::session::{Session, TableInfo};
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::value::Value;
use tribunal_sandbox::{Plugin, ReplyInput, Sandbox, SandboxOptions, ToolInput, VerifyInput};
use tribunal_tests::mutate::mutated;

use super::{at_least, each};
use crate::folders;
use crate::guest::Case;

/// A session over nothing.
pub(crate) struct Nothing;

impl Session for Nothing {
    fn tables(&mut self) -> Vec<TableInfo> {
        Vec::new()
    }

    fn query(&mut self, _: &str, _: &[Value]) -> Result<Table, Failure> {
        Ok(Table::default())
    }

    fn change(&mut self, _: &str, _: &[Value]) -> Result<u64, Failure> {
        Ok(0)
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn violations(&self) -> u32 {
        0
    }
}

fn limits() -> Limits {
    Limits { fuel: 2_000_000, memory: 8 << 20, component_bytes: 1 << 20, ..Limits::default() }
}

/// The small ones of the hostile corpus, harmless ones of each world, and a real plugin.
fn corpus() -> Vec<Vec<u8>> {
    let harmless = ["tool", "verifier", "user"].map(|world| Case::harmless(world).component);
    let hostile =
        folders().into_iter().map(|folder| Case::read(&folder).component).filter(|bytes| bytes.len() < 20_000);
    harmless.into_iter().chain(hostile).collect()
}

fn call(plugin: &Plugin) -> Result<(), Fault> {
    let limits = limits();
    match plugin.kind() {
        PluginKind::Tool => {
            let input = ToolInput { tool: "act", arguments: "{}", settings: "{}" };
            plugin.call(&input, Nothing, &limits).result.map(|_| ())
        }
        PluginKind::Verifier => {
            let (submission, text) = (Submission::Done, String::new);
            let evidence = Evidence {
                instruction: text(),
                submission,
                questions: Vec::new(),
                calls: Vec::new(),
                expectation: text(),
            };
            let input = VerifyInput { evidence: &evidence, settings: "{}" };
            plugin.verify(&input, Nothing, Nothing, Box::new(|| Ok(Vec::new())), &limits).result.map(|_| ())
        }
        PluginKind::User => {
            let input = ReplyInput { secret: "{}", about: "", question: "", settings: "{}" };
            plugin.reply(&input, &limits).result.map(|_| ())
        }
    }
}

fn load_and_call(sandbox: &Sandbox, bytes: &[u8]) -> &'static str {
    match sandbox.load("mutant", bytes) {
        Err(fault) => {
            let text = fault.to_string();
            assert!(text.starts_with("mutant: ") && text.len() < 20_000, "{text}");
            assert!(!text.contains("host: ") && !text.contains("panicked"), "{text}");
            "refused"
        }
        Ok(plugin) => match call(&plugin) {
            Ok(()) => "ran",
            Err(fault) => {
                assert_ne!(fault.name(), "host", "{fault}");
                "void"
            }
        },
    }
}

#[test]
fn component() {
    let options = SandboxOptions { limits: limits(), concurrent_calls: 2, ..SandboxOptions::default() };
    let sandbox = Sandbox::new(options).unwrap();
    let corpus = corpus();
    let sections =
        [b"\0asm\x0d\0\x01\0".as_slice(), b"\0asm\x01\0\0\0", b"\x07\x01", b"\x0b\x01", b"\x01\x60", b"cabi_realloc"];
    let counts = each(1, 2_000, |dice| {
        let (good, other) = (dice.pick(&corpus), dice.pick(&corpus));
        load_and_call(&sandbox, &mutated(good, other, &sections, dice))
    });
    at_least(&counts, "refused", 5);
    at_least(&counts, "ran", 100);
    at_least(&counts, "void", 100);
}
