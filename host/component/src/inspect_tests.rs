use super::*;
use crate::fixture::component;
use crate::world::{KINDS, check_world};
use crate::{WIT, check};
use tribunal_protocol::plugin::Wasi;

const CAP: usize = 1 << 20;

fn fault(bytes: &[u8]) -> String {
    check(bytes, CAP).unwrap_err().to_string()
}

/// The interface with one more import in the tool's world, from a package of its own.
fn tool_importing(import: &str, package: &str) -> Vec<u8> {
    let tool = "world tool {\n";
    component(&format!("{}\n{package}", WIT.replace(tool, &format!("{tool}  import {import};\n"))), "tool")
}

#[test]
fn a_component_of_each_world_is_known_and_passes() {
    for kind in KINDS {
        let bytes = component(WIT, &kind.to_string());
        let (shape, found) = check(&bytes, CAP).unwrap();
        assert_eq!((found, shape.kind), (kind, Some(kind)));
        assert_eq!(shape.bytes, bytes.len());
        assert_eq!(shape.digest, Some(Digest::of(&bytes)));
        assert!(shape.exports.contains(&"describe".to_owned()));
        assert!(shape.imports.contains(&"tribunal:plugin/log@1.0.0".to_owned()), "{shape:?}");
        assert!(shape.memories == 1 && shape.modules > 0 && shape.largest_function > 0, "{shape:?}");
    }
}

#[test]
fn wasi_is_refused_by_name_and_says_what_is_offered() {
    let wasi = "package wasi:cli@0.2.0 { interface environment { get: func() -> string; } }";
    let text = fault(&tool_importing("wasi:cli/environment@0.2.0", wasi));
    assert!(text.contains("`wasi:cli/environment@0.2.0`: Tribunal offers no WASI"), "{text}");
    assert!(text.contains("tribunal:plugin/database@1.0.0"), "{text}");
    assert!(!text.contains("changes"), "a tool is not offered what a verifier is: {text}");
}

#[test]
fn an_unknown_import_is_refused_by_name() {
    let other = "package evil:thing@3.1.0 { interface power { get: func() -> string; } }";
    let text = fault(&tool_importing("evil:thing/power@3.1.0", other));
    assert!(text.contains("`evil:thing/power@3.1.0`: no such import"), "{text}");
    let text = fault(&tool_importing("changes", ""));
    assert!(text.contains("only a verifier may import it, and this is a tool"), "{text}");
}

#[test]
fn another_version_of_the_interface_says_which_is_supported() {
    let next = WIT.replace("package tribunal:plugin@1.0.0", "package tribunal:plugin@2.0.0");
    let text = fault(&component(&next, "tool"));
    assert!(text.contains("`tribunal:plugin/database@2.0.0`: version 2.0.0 is not supported, only 1.0.0"), "{text}");
    // A patch release is another version too: the linker goes by exact names.
    let patch = WIT.replace("package tribunal:plugin@1.0.0", "package tribunal:plugin@1.0.1");
    assert!(fault(&component(&patch, "user")).contains("version 1.0.1 is not supported"));
}

#[test]
fn exports_of_no_world_or_of_two_are_refused() {
    let text = fault(&component("package a:b@1.0.0; world w { export run: func(); }", "w"));
    assert!(text.contains("exports `run`, which makes it no plugin"), "{text}");
    assert!(text.contains("`describe`, `verify` for a verifier"), "{text}");
    let text = fault(&component("package a:b@1.0.0; world w { export call: func(); export reply: func(); }", "w"));
    assert!(text.contains("a tool and a user at once"), "{text}");
    let text = fault(&component("package a:b@1.0.0; world w { export verify: func(); }", "w"));
    assert!(text.contains("lacks the export `describe`"), "{text}");
}

#[test]
fn another_type_under_the_right_name_is_refused_with_the_difference() {
    let other = WIT.replace("call: func(name: string, arguments: string)", "call: func(name: string, arguments: u32)");
    let text = fault(&component(&other, "tool"));
    assert!(text.starts_with("the component is not a tool of tribunal:plugin@1.0.0: type mismatch"), "{text}");
    assert!(text.contains("arguments") && text.contains("(expected by the interface"), "{text}");
    let other = WIT.replace("text(string),\n    /// Days", "text(u8),\n    /// Days");
    assert_ne!(other, WIT);
    let text = fault(&component(&other, "tool"));
    assert!(text.contains("variant case `text`") && text.contains("(expected by the component"), "{text}");
}

#[test]
fn files_of_another_kind_are_told_in_plain_words() {
    let core = wat::parse_str("(module)").unwrap();
    assert_eq!(inspect(&core, CAP), Err(ShapeFault::CoreModule));
    assert!(fault(&core).contains("tribunal build"));
    assert!(fault(b"(component)").contains("text form"));
    assert!(fault(b"#!/bin/sh\nexit 1").contains("not a WebAssembly component"));
    for head in [&b""[..], b"\0a", b"\0asm\x0d\0"] {
        assert!(matches!(inspect(head, CAP), Err(ShapeFault::Truncated { .. })), "{head:?}");
    }
}

#[test]
fn size_is_refused_before_anything_is_read() {
    let bytes = component(WIT, "tool");
    assert!(inspect(&bytes, bytes.len()).is_ok());
    let cap = bytes.len() - 1;
    assert_eq!(inspect(&bytes, cap), Err(ShapeFault::TooLarge { bytes: bytes.len(), cap }));
}

#[test]
fn features_outside_the_engine_are_refused() {
    for (body, word) in [
        ("(memory i64 1)", "64-bit"),
        ("(memory 1 1 shared)", "threads"),
        ("(tag)", "exceptions"),
        ("(type (struct))", "gc"),
        ("(func (param v128) (result v128) local.get 0 local.get 0 local.get 0 i8x16.relaxed_laneselect)", "relaxed"),
        ("(memory 1) (memory 1)", "memories"),
        ("(func return_call 0)", "tail calls"),
    ] {
        let bytes = wat::parse_str(format!("(component (core module {body}))")).unwrap();
        let fault = inspect(&bytes, CAP).unwrap_err();
        let ShapeFault::Invalid { reason, .. } = &fault else { panic!("{body}: {fault}") };
        assert!(reason.contains(word), "{body}: {reason}");
    }
    let plain = wat::parse_str("(component (core module (memory 1) (table 1 funcref)))").unwrap();
    let shape = inspect(&plain, CAP).unwrap();
    assert_eq!((shape.memories, shape.memory_bytes, shape.tables), (1, 65_536, 1));
}

#[test]
fn inner_imports_are_the_components_own_affair() {
    let nested = wat::parse_str(r#"(component (component (import "wasi:io/x@0.2.0" (func))))"#).unwrap();
    let shape = inspect(&nested, CAP).unwrap();
    assert_eq!((shape.components, shape.imports.len()), (1, 0));
}

#[test]
fn a_prefix_never_passes_and_never_panics() {
    let bytes = component(WIT, "verifier");
    let whole = check(&bytes, CAP).unwrap().0;
    for end in 0..bytes.len() {
        // What ends at the end of a section is a component too, if one with fewer exports.
        match inspect(&bytes[..end], CAP) {
            Ok(shape) if shape.exports == whole.exports => {}
            Ok(shape) => assert!(check_world(&shape, Wasi::Refused).is_err(), "{end}"),
            Err(ShapeFault::Truncated { at, .. }) => assert!(at <= end as u64),
            Err(fault) => panic!("{end}: {fault}"),
        }
    }
}

#[test]
fn random_damage_never_panics() {
    let original = component(WIT, "tool");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let mut refused = 0;
    for _ in 0..4_000 {
        let mut bytes = original.clone();
        for _ in 0..=random(3) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => bytes.insert(at, u8::try_from(random(256)).unwrap()),
                _ => drop(bytes.remove(at)),
            }
        }
        match check(&bytes, CAP) {
            Ok(_) => {}
            Err(ShapeFault::Unchecked) => panic!("the checker failed on {bytes:?}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 2_000, "damage is noticed: {refused}");
}
