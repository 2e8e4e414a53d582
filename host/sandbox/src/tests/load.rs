//! What loads, and what is said where something does not.

use super::*;
use crate::fixture::*;
use std::fs;
use tribunal_protocol::plugin::PluginKind;

fn refused(bytes: &[u8]) -> String {
    let fault = SANDBOX.load("x.wasm", bytes).unwrap_err().to_string();
    assert!(fault.starts_with("x.wasm: "), "{fault}");
    fault
}

fn described(change: impl FnOnce(&mut Guest)) -> Result<Arc<Plugin>, LoadError> {
    let mut guest = Guest::tool(&said(DATA, 0));
    change(&mut guest);
    SANDBOX.load("x.wasm", &guest.build())
}

#[test]
fn a_plugin_says_who_it_is() {
    for kind in [PluginKind::Tool, PluginKind::Verifier, PluginKind::User] {
        let bytes = Guest::new(kind, "unreachable").build();
        let plugin = SANDBOX.load("x", &bytes).unwrap();
        assert_eq!((plugin.kind(), plugin.name()), (kind, "guest"));
        assert_eq!(plugin.digest(), tribunal_protocol::digest::Digest::of(&bytes));
        assert_eq!(plugin.description().tools.len(), usize::from(kind == PluginKind::Tool));
    }
}

#[test]
fn bytes_that_are_no_plugin_are_refused_in_plain_words() {
    let whole = Guest::tool(&said(DATA, 0)).build();
    assert!(refused(b"hello").contains("not a WebAssembly component"));
    assert!(refused(&whole[..whole.len() / 2]).contains("cut off"));
    assert!(refused(&wat::parse_str("(module)").unwrap()).contains("core WebAssembly module"));
    let wasi = wat::parse_str(r#"(component (import "wasi:clocks/wall-clock@0.2.0" (instance)))"#).unwrap();
    assert!(refused(&wasi).contains("wasi:clocks/wall-clock@0.2.0"));
    assert!(refused(&wat::parse_str("(component)").unwrap()).contains("exports nothing"));
}

#[test]
fn a_component_past_its_size_is_not_read() {
    let limits = Limits { component_bytes: 1_000, ..Limits::default() };
    let small = Sandbox::new(SandboxOptions { limits, concurrent_calls: 2, ..SandboxOptions::default() }).unwrap();
    let fault = small.load("x.wasm", &Guest::tool(&said(DATA, 0)).build()).unwrap_err().to_string();
    assert!(fault.contains("the limit is 1000"), "{fault}");
}

#[test]
fn descriptions_are_checked() {
    assert!(described(|_| ()).is_ok());
    let wrong = |place: usize, word: &str| {
        let fault = described(|guest| guest.words[place] = word.to_owned()).unwrap_err().to_string();
        assert!(fault.starts_with("x.wasm: its description is wrong: "), "{fault}");
        fault
    };
    assert!(wrong(0, "My Tool").contains("`My Tool`"));
    assert!(wrong(1, "1").contains("version `1`"));
    assert!(wrong(3, "{").contains("no JSON"));
    assert!(wrong(3, "[]").contains("JSON Schema"));
}

#[test]
fn a_description_has_limits_too() {
    let fault = |body: &str| described(|guest| guest.describe = Some(body.to_owned())).unwrap_err().to_string();
    assert!(fault("unreachable").starts_with("x.wasm: trap: "));
    assert!(fault("(loop $l (br $l)) unreachable").contains("out of fuel"));
    assert!(fault("(drop (memory.grow (i32.const 60000))) (i32.const 0)").contains("memory past its limit"));
}

#[test]
fn compiled_code_is_kept_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = || SandboxOptions {
        cache: Some(folder.path().join("cache")),
        concurrent_calls: 2,
        ..SandboxOptions::default()
    };
    let bytes = Guest::tool(&said(DATA, 2)).fields(&data("ok")).build();
    let load = || {
        let plugin = Sandbox::new(options()).unwrap().load("x", &bytes).unwrap();
        let said = plugin.call(&INPUT, Paper::default(), &Limits::default()).result.unwrap().unwrap();
        assert_eq!(said.text, "ok");
        plugin.origin().clone()
    };
    assert_eq!(load(), Origin::Compiled);
    assert_eq!(load(), Origin::Cache);
    let entry = fs::read_dir(folder.path().join("cache")).unwrap().next().unwrap().unwrap().path();
    let mut damaged = fs::read(&entry).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    fs::write(&entry, damaged).unwrap();
    assert_eq!(load(), Origin::Compiled);
    assert_eq!(load(), Origin::Cache);
    // Another component is another entry.
    let other = Guest::tool(&said(DATA, 1)).fields(&data("ok")).build();
    assert_eq!(*Sandbox::new(options()).unwrap().load("x", &other).unwrap().origin(), Origin::Compiled);
}

#[test]
fn a_cache_that_cannot_be_written_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let sandbox =
        Sandbox::new(SandboxOptions { cache: Some(cache.clone()), concurrent_calls: 2, ..SandboxOptions::default() })
            .unwrap();
    fs::remove_dir(&cache).unwrap();
    let plugin = sandbox.load("x", &Guest::tool(&said(DATA, 0)).build()).unwrap();
    assert!(matches!(plugin.origin(), Origin::Unsaved(_)));
}

#[test]
fn many_threads_share_one_plugin() {
    let plugin = load(&Guest::tool(&said(DATA, 2)).fields(&data("ok")));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let ran = plugin.call(&INPUT, Paper::default(), &Limits::default());
                    assert_eq!(ran.result.unwrap().unwrap().text, "ok");
                }
            });
        }
    });
}
