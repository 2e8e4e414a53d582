//! The smallest tool there can be, as WebAssembly text.

use anyhow::{Result, anyhow};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Says `hello` whatever it is asked. It has no imports, and an allocator that never frees.
const MODULE: &str = r#"(module
    (memory (export "memory") 1)
    (global $top (mut i32) (i32.const 4096))
    (data (i32.const 512) "minimal1.0.0hello{\"type\":\"object\"}")
    (func (export "cabi_realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and
            (i32.add (global.get $top) (i32.sub (local.get $align) (i32.const 1)))
            (i32.sub (i32.const 0) (local.get $align))))
        (global.set $top (i32.add (local.get $at) (local.get $size)))
        (local.get $at))
    ;; The description at 0: name, version, one tool, contract (empty); the tool at 64.
    (func (export "describe") (result i32)
        (i32.store (i32.const 0) (i32.const 512)) (i32.store (i32.const 4) (i32.const 7))
        (i32.store (i32.const 8) (i32.const 519)) (i32.store (i32.const 12) (i32.const 5))
        (i32.store (i32.const 16) (i32.const 64)) (i32.store (i32.const 20) (i32.const 1))
        (i32.store (i32.const 24) (i32.const 512)) (i32.store (i32.const 28) (i32.const 0))
        (i32.store (i32.const 64) (i32.const 524)) (i32.store (i32.const 68) (i32.const 5))
        (i32.store (i32.const 72) (i32.const 524)) (i32.store (i32.const 76) (i32.const 5))
        (i32.store (i32.const 80) (i32.const 529)) (i32.store (i32.const 84) (i32.const 17))
        (i32.const 0))
    ;; A good result: the text `hello`, and no table.
    (func (export "call") (param i32 i32 i32 i32) (result i32)
        (i32.store (i32.const 128) (i32.const 0))
        (i32.store (i32.const 132) (i32.const 524)) (i32.store (i32.const 136) (i32.const 5))
        (i32.store (i32.const 140) (i32.const 0))
        (i32.const 128))
)"#;

/// What the smallest tool answers.
pub(crate) const MINIMAL_SAYS: &str = "hello";
/// Its only tool.
pub(crate) const MINIMAL_TOOL: &str = "hello";

/// The smallest tool, as a component.
pub(crate) fn minimal() -> Result<Vec<u8>> {
    let mut module = wat::parse_str(MODULE)?;
    let mut resolve = Resolve::default();
    let package = resolve.push_source("plugin.wit", tribunal_component::WIT).map_err(|why| anyhow!("{why:#}"))?;
    let world = resolve.select_world(&[package], Some("tool")).map_err(|why| anyhow!("{why:#}"))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
        .map_err(|why| anyhow!("{why:#}"))?;
    tribunal_component::encode(&module).map_err(|why| anyhow!(why))
}
