//! What a guest of the corpus does not write itself: its memory, an allocator, an honest
//! description, a harmless main export, and four helpers that build results.

use serde::Deserialize;
use tribunal_protocol::plugin::PluginKind;

/// What a guest says of itself, where that is not the usual.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    name: Option<String>,
    tool: Option<String>,
    schema: Option<String>,
    contract: Option<String>,
}

impl Words {
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("hostile")
    }
}

/// Everything that the task grants, and more.
const CONTRACT: &str = "[contract]\nname = \"hostile\"\n[[read]]\ntable = \"*\"\ncolumns = [\"*\"]\n\
    [[write]]\ntable = \"*\"\nverbs = [\"insert\", \"update\", \"delete\"]\ncolumns = [\"*\"]\n";

/// Results are built at 4096; `ok` and `judged` lie at 16.
const HELPERS: &str = r#"
(data (i32.const 16) "okjudged")
(func $say (param i32 i32) (result i32)
  (i32.store (i32.const 4096) (i32.const 0))
  (i32.store (i32.const 4100) (local.get 0)) (i32.store (i32.const 4104) (local.get 1))
  (i32.store (i32.const 4108) (i32.const 0)) (i32.const 4096))
(func $fail (param i32 i32 i32) (result i32)
  (i32.store (i32.const 4096) (i32.const 1)) (i32.store (i32.const 4100) (local.get 0))
  (i32.store (i32.const 4104) (local.get 1)) (i32.store (i32.const 4108) (local.get 2)) (i32.const 4096))
(func $reply (param i32 i32) (result i32)
  (i32.store (i32.const 4096) (i32.const 0))
  (i32.store (i32.const 4100) (local.get 0)) (i32.store (i32.const 4104) (local.get 1)) (i32.const 4096))
(func $score (param f64) (result i32)
  (i32.store (i32.const 4096) (i32.const 0)) (f64.store (i32.const 4104) (local.get 0))
  (i32.store (i32.const 4112) (i32.const 18)) (i32.store (i32.const 4116) (i32.const 6))
  (i32.store (i32.const 4120) (i32.const 0)) (i32.const 4096))
"#;

const ALLOCATOR: &str = r#"
(global $top (mut i32) (i32.const 65536))
(func (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and
    (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
    (i32.sub (i32.const 0) (local.get $align))))
  (global.set $top (i32.add (local.get $at) (local.get $size)))
  (block $fits (loop $more
    (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
    (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then unreachable))
    (br $more)))
  (local.get $at))
"#;

/// The whole module: what the guest brings, and what it does not.
pub(crate) fn module(kind: PluginKind, fields: &str, words: &Words) -> String {
    let mut text = fields.to_owned();
    let mut lacking = |export: &str, standard: &dyn Fn() -> String| {
        if !fields.contains(&format!("(export \"{export}\")")) {
            text.push_str(&standard());
        }
    };
    lacking("memory", &|| "(memory (export \"memory\") 2)\n".to_owned());
    lacking("cabi_realloc", &|| ALLOCATOR.to_owned());
    lacking("describe", &|| describe(kind, words));
    match kind {
        PluginKind::Tool => lacking("call", &|| {
            format!("(func (export \"call\") (param{}) (result i32) {})\n", " i32".repeat(4), said("say"))
        }),
        PluginKind::Verifier => lacking("verify", &|| {
            format!("(func (export \"verify\") (param{}) (result i32) {SCORE})\n", " i32".repeat(13))
        }),
        PluginKind::User => lacking("reply", &|| {
            format!("(func (export \"reply\") (param{}) (result i32) {})\n", " i32".repeat(6), said("reply"))
        }),
    }
    format!("(module\n{text}{HELPERS})\n")
}

const SCORE: &str = "(call $score (f64.const 1))";

fn said(helper: &str) -> String {
    format!("(call ${helper} (i32.const 16) (i32.const 2))")
}

/// The description lies at 32768, and its texts behind it.
fn describe(kind: PluginKind, words: &Words) -> String {
    const AT: usize = 32_768;
    const TOOL: usize = AT + 64;
    let offers = kind == PluginKind::Tool || words.tool.is_some();
    let tool = words.tool.as_deref().unwrap_or("act");
    let schema = words.schema.as_deref().unwrap_or(r#"{"type":"object"}"#);
    let contract = words.contract.as_deref().unwrap_or(CONTRACT);
    let mut next = AT + 128;
    let mut segments = String::new();
    let mut place = |text: &str| {
        let bytes: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        segments.push_str(&format!("(data (i32.const {next}) \"{bytes}\")\n"));
        let at = next;
        next += text.len();
        (at, text.len())
    };
    let [name, version, contract, tool, schema] = [words.name(), "1.0.0", contract, tool, schema].map(&mut place);
    let store = |at: usize, (from, len): (usize, usize)| {
        let word = |at: usize, value: usize| format!("(i32.store (i32.const {at}) (i32.const {value}))");
        format!("  {} {}\n", word(at, from), word(at + 4, len))
    };
    let stores = [
        store(AT, name),
        store(AT + 8, version),
        store(AT + 16, (TOOL, usize::from(offers))),
        store(AT + 24, contract),
        store(TOOL, tool),
        store(TOOL + 8, tool),
        store(TOOL + 16, schema),
    ];
    format!("{segments}(func (export \"describe\") (result i32)\n{}  (i32.const {AT}))\n", stores.concat())
}
