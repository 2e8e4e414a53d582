//! Guests for tests: core modules as text, made into components of the real interface.
//!
//! A guest says what its main export does, in WebAssembly text; the rest (memory, allocator,
//! description) is the same for all. Addresses below [`HEAP`] are the guest's own to use.

use std::collections::BTreeSet;

use tribunal_protocol::plugin::PluginKind;
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Where the allocator begins; below lie the description and what a guest puts there.
pub(crate) const HEAP: u32 = 65_536;
/// Where a guest may put its own data.
pub(crate) const DATA: u32 = 8_192;
/// Where a guest may build its result.
pub(crate) const RESULT: u32 = 4_096;

/// A guest under construction.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) kind: PluginKind,
    /// The body of `call`, `verify` or `reply`; it leaves the address of the result.
    pub(crate) body: String,
    /// More fields of the module: imports first, then whatever else.
    pub(crate) imports: String,
    pub(crate) fields: String,
    /// The body of `describe` instead of the usual one.
    pub(crate) describe: Option<String>,
    /// `(memory ..)` without its export.
    pub(crate) memory: String,
    /// Name, version, tool, schema and contract of the description.
    pub(crate) words: [String; 5],
}

impl Guest {
    pub(crate) fn new(kind: PluginKind, body: &str) -> Guest {
        Guest {
            kind,
            body: body.to_owned(),
            imports: String::new(),
            fields: String::new(),
            describe: None,
            memory: "2".to_owned(),
            words: ["guest", "1.0.0", "act", r#"{"type":"object"}"#, ""].map(str::to_owned),
        }
    }

    pub(crate) fn tool(body: &str) -> Guest {
        Guest::new(PluginKind::Tool, body)
    }

    pub(crate) fn verifier(body: &str) -> Guest {
        Guest::new(PluginKind::Verifier, body)
    }

    pub(crate) fn imports(mut self, imports: &str) -> Guest {
        self.imports.push_str(imports);
        self
    }

    pub(crate) fn fields(mut self, fields: &str) -> Guest {
        self.fields.push_str(fields);
        self
    }

    /// The component's bytes.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut module = wat::parse_str(self.text()).unwrap_or_else(|fault| panic!("{fault}\n{}", self.text()));
        let mut resolve = Resolve::default();
        resolve.push_source("plugin.wit", tribunal_component::WIT).unwrap();
        resolve.push_source("wasi.wit", tribunal_component::WASI).unwrap();
        let wasi = self.imports.split('"').filter(|word| word.starts_with("wasi:"));
        let wasi: BTreeSet<String> = wasi.map(|name| format!("import {name};")).collect();
        let wasi: String = wasi.into_iter().collect();
        let kind = self.kind;
        let own = format!("package test:guest; world {kind} {{ include tribunal:plugin/{kind}@1.0.0; {wasi} }}");
        let package = resolve.push_source("guest.wit", &own).unwrap();
        let world = resolve.select_world(&[package], Some(&self.kind.to_string())).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
        tribunal_component::encode(&module).unwrap()
    }

    fn text(&self) -> String {
        let export = match self.kind {
            PluginKind::Tool => {
                r#"(export "call") (param $name i32) (param $name-len i32) (param $args i32) (param $args-len i32)"#
                    .to_owned()
            }
            PluginKind::Verifier => format!(r#"(export "verify") (param{})"#, " i32".repeat(13)),
            PluginKind::User => format!(r#"(export "reply") (param{})"#, " i32".repeat(6)),
        };
        let tools = if self.kind == PluginKind::Tool { 1 } else { 0 };
        let [name, version, tool, schema, contract] = &self.words;
        let mut at = 256;
        let mut data = String::new();
        let mut text = |text: &str| {
            let place = (at, text.len());
            data.push_str(&format!("(data (i32.const {at}) \"{}\")\n", escape(text)));
            at += text.len();
            place
        };
        let words = [name, version, contract, tool, schema].map(|word| text(word));
        let [name, version, contract, tool, schema] = words;
        let store = |at: usize, (place, len): (usize, usize)| {
            format!(
                "(i32.store (i32.const {at}) (i32.const {place})) (i32.store (i32.const {}) (i32.const {len}))",
                at + 4
            )
        };
        // The description at 0: name, version, tools, contract; its one tool at 64.
        let describe = self.describe.clone().unwrap_or_else(|| {
            [
                store(0, name),
                store(8, version),
                store(16, (64, tools)),
                store(24, contract),
                store(64, tool),
                store(72, tool),
                store(80, schema),
                "(i32.const 0)".to_owned(),
            ]
            .join("\n")
        });
        format!(
            r#"(module
            {imports}
            (memory (export "memory") {memory})
            (global $top (mut i32) (i32.const {HEAP}))
            {data}
            {fields}
            (func $alloc (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
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
            (func (export "describe") (result i32) {describe})
            (func {export} (result i32) {body})
            )"#,
            imports = self.imports,
            memory = self.memory,
            fields = self.fields,
            body = self.body,
        )
    }
}

fn escape(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:02x}")).collect()
}

/// A data segment at [`DATA`].
pub(crate) fn data(text: &str) -> String {
    format!("(data (i32.const {DATA}) \"{}\")", escape(text))
}

/// Fields that store 32-bit words from [`RESULT`] on and leave its address.
pub(crate) fn result(words: &[i64]) -> String {
    let stores = words
        .iter()
        .enumerate()
        .map(|(place, word)| format!("(i32.store (i32.const {}) (i32.const {word}))\n", RESULT as usize + 4 * place));
    stores.collect::<String>() + &format!("(i32.const {RESULT})")
}

/// A tool's good result: `len` bytes of text at `at`, and no table.
pub(crate) fn said(at: u32, len: usize) -> String {
    result(&[0, i64::from(at), len as i64, 0])
}

/// A verdict of a reward, given as its text in WebAssembly, with a reason at [`DATA`].
pub(crate) fn scored(reward: &str, reason: usize) -> String {
    format!(
        "(i32.store8 (i32.const {RESULT}) (i32.const 0))
         (f64.store (i32.const {}) (f64.const {reward}))
         (i32.store (i32.const {}) (i32.const {DATA})) (i32.store (i32.const {}) (i32.const {reason}))
         (i32.store8 (i32.const {}) (i32.const 0)) (i32.const {RESULT})",
        RESULT + 8,
        RESULT + 16,
        RESULT + 20,
        RESULT + 24
    )
}

pub(crate) const LOG: &str = r#"(import "tribunal:plugin/log@1.0.0" "write" (func $log (param i32 i32)))"#;
pub(crate) const SETTINGS: &str = r#"(import "tribunal:plugin/settings@1.0.0" "get" (func $settings (param i32)))"#;
pub(crate) const OPEN: &str = r#"(import "tribunal:plugin/database@1.0.0" "open" (func $open (param i32 i32 i32)))"#;
pub(crate) const QUERY: &str = r#"(import "tribunal:plugin/database@1.0.0" "[method]session.query" (func $query (param i32 i32 i32 i32 i32 i32)))"#;
pub(crate) const CHANGE: &str = r#"(import "tribunal:plugin/database@1.0.0" "[method]session.change" (func $change (param i32 i32 i32 i32 i32 i32)))"#;
pub(crate) const BETWEEN: &str = r#"(import "tribunal:plugin/changes@1.0.0" "between" (func $between (param i32)))"#;
