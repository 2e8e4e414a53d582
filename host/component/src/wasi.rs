//! WASI, as components of other languages import it: which interfaces have an inert stand-in, and
//! their types. What the stand-ins do is the sandbox's affair; nothing here grants anything.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tribunal_protocol::plugin::PluginKind;
use wit_parser::{Resolve, WorldId};

use crate::WIT;

/// The interfaces, at [`VERSION`].
pub const WASI: &str = include_str!("../../../wit/wasi/wasi.wit");
/// The version that the text names. Every 0.2 has the same types, and at most fewer functions.
const VERSION: &str = "0.2.12";
/// How the name of every WASI import begins.
const PREFIX: &str = "wasi:";
/// How every version begins whose types are these.
const MINOR: &str = "0.2.";

/// Where the flag stands that lets stand-ins take the place of WASI.
pub(crate) const HINT: &str = "For WASI, an inert stand-in that grants nothing can take each place where the suite says so, \
     with `wasi = \"inert\"` under [plugins] of suite.toml (or `--wasi inert` where one plugin is tried); \
     a plugin in Rust needs none: build it for `wasm32-unknown-unknown`";

/// The interfaces, such as `wasi:io/streams`.
static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let mut names = BTreeSet::new();
    let mut package = "";
    for line in WASI.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("package ") {
            package = rest.split('@').next().unwrap_or_default();
        } else if let Some(rest) = line.strip_prefix("interface ") {
            names.insert(format!("{package}/{}", rest.trim_end_matches([' ', '{'])));
        }
    }
    names
});

/// Whether an import is one of WASI, with a stand-in or without.
#[must_use]
pub fn is_wasi(import: &str) -> bool {
    import.starts_with(PREFIX)
}

/// The interface of an import without its version, if it has a stand-in.
#[must_use]
pub fn stand_in(import: &str) -> Option<&str> {
    let (name, version) = import.split_once('@')?;
    let patch = version.strip_prefix(MINOR)?;
    let known = patch.len() < 4 && patch.bytes().all(|byte| byte.is_ascii_digit()) && !patch.is_empty();
    (known && NAMES.contains(name)).then_some(name)
}

/// A plugin's world with the WASI imports of a component in it.
///
/// # Errors
/// The imports are of several versions, which no one component of one toolchain is.
pub(crate) fn world(kind: PluginKind, imports: &[String]) -> Result<(Resolve, WorldId), String> {
    let wasi: Vec<&String> = imports.iter().filter(|import| is_wasi(import)).collect();
    let versions: BTreeSet<&str> =
        wasi.iter().filter_map(|import| import.split_once('@').map(|(_, version)| version)).collect();
    if versions.len() > 1 {
        let versions: Vec<_> = versions.into_iter().collect();
        return Err(format!(
            "it imports WASI in several versions ({}); build it with one toolchain",
            versions.join(", ")
        ));
    }
    let version = versions.first().copied().unwrap_or(VERSION);
    let text = WASI.replace(&format!("@{VERSION}"), &format!("@{version}"));
    let lines: String = wasi.iter().map(|import| format!("  import {import};\n")).collect();
    let own = format!(
        "package tribunal:checked;\nworld {kind} {{\n  include tribunal:plugin/{kind}@{};\n{lines}}}\n",
        crate::WIT_VERSION
    );
    let shown = |fault| format!("{fault:#}");
    let mut resolve = Resolve::default();
    resolve.push_source("plugin.wit", WIT).map_err(shown)?;
    resolve.push_source("wasi.wit", &text).map_err(shown)?;
    let package = resolve.push_source("checked.wit", &own).map_err(shown)?;
    let world = resolve.select_world(&[package], Some(&kind.to_string())).map_err(shown)?;
    Ok((resolve, world))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_parses_and_its_names_are_known() {
        assert_eq!(NAMES.len(), 27, "{NAMES:?}");
        let imports: Vec<String> = NAMES.iter().map(|name| format!("{name}@0.2.9")).collect();
        for kind in crate::world::KINDS {
            let (resolve, world) = self::world(kind, &imports).unwrap();
            let named: BTreeSet<String> =
                resolve.worlds[world].imports.keys().map(|key| resolve.name_world_key(key)).collect();
            assert!(imports.iter().all(|import| named.contains(import)), "{named:?}");
        }
        let mixed = ["wasi:io/poll@0.2.9", "wasi:io/error@0.2.12"].map(str::to_owned);
        assert!(self::world(PluginKind::Tool, &mixed).unwrap_err().contains("0.2.12, 0.2.9"));
    }

    #[test]
    fn an_interface_has_a_stand_in_by_name_and_version() {
        assert_eq!(stand_in("wasi:io/streams@0.2.0"), Some("wasi:io/streams"));
        for none in [
            "wasi:io/streams",
            "wasi:io/streams@0.3.0",
            "wasi:io/streams@0.2.",
            "wasi:io/streams@0.2.0-rc",
            "wasi:http/types@0.2.0",
            "wasi:cli/run@0.2.0",
            "wasi:io/streams@0.2.0000",
        ] {
            assert_eq!(stand_in(none), None, "{none}");
        }
    }
}
