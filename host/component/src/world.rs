//! The plugin interface as a set of names: what each world imports and exports.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use tribunal_protocol::plugin::{PluginKind, Wasi};
use wit_parser::{Resolve, WorldId, WorldItem};

use crate::inspect::{Shape, ShapeFault};
use crate::wasi::{is_wasi, stand_in};
use crate::{WIT, WIT_VERSION};

/// Every kind of plugin, in the order of the interface.
pub const KINDS: [PluginKind; 3] = [PluginKind::Tool, PluginKind::Verifier, PluginKind::User];

/// The package of the plugin interface.
const PACKAGE: &str = "tribunal:plugin/";

/// The interface, parsed once.
pub(crate) struct Interface {
    pub(crate) resolve: Resolve,
    worlds: [World; 3],
}

/// One world of the interface.
pub(crate) struct World {
    pub(crate) id: WorldId,
    imports: BTreeSet<String>,
    exports: Vec<String>,
}

static INTERFACE: LazyLock<Interface> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the text is part of this program, and a test parses it")]
    parse(WIT).expect("the embedded interface parses")
});

fn parse(text: &str) -> Result<Interface, String> {
    let mut resolve = Resolve::default();
    let package = resolve.push_source("plugin.wit", text).map_err(|fault| format!("{fault:#}"))?;
    let world = |kind: PluginKind| {
        let id = resolve.select_world(&[package], Some(&kind.to_string()));
        id.map(|id| World::of(&resolve, id)).map_err(|fault| format!("{fault:#}"))
    };
    let [tool, verifier, user] = KINDS;
    let worlds = [world(tool)?, world(verifier)?, world(user)?];
    Ok(Interface { resolve, worlds })
}

impl World {
    fn of(resolve: &Resolve, id: WorldId) -> Self {
        let world = &resolve.worlds[id];
        let imports = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
        let functions = |(key, item): (_, &WorldItem)| match item {
            WorldItem::Function(_) => Some(resolve.name_world_key(key)),
            WorldItem::Interface { .. } | WorldItem::Type { .. } => None,
        };
        let exports = world.exports.iter().filter_map(functions).collect();
        Self { id, imports, exports }
    }
}

pub(crate) fn interface() -> &'static Interface {
    &INTERFACE
}

impl Interface {
    pub(crate) fn world(&self, kind: PluginKind) -> &World {
        let [tool, verifier, user] = &self.worlds;
        match kind {
            PluginKind::Tool => tool,
            PluginKind::Verifier => verifier,
            PluginKind::User => user,
        }
    }
}

/// The export by which a world is known; the others of its exports are common to all.
#[must_use]
pub fn entry(kind: PluginKind) -> &'static str {
    match kind {
        PluginKind::Tool => "call",
        PluginKind::Verifier => "verify",
        PluginKind::User => "reply",
    }
}

/// What a plugin of a kind must export.
#[must_use]
pub fn exports(kind: PluginKind) -> Vec<String> {
    interface().world(kind).exports.clone()
}

/// What a plugin of a kind may import.
#[must_use]
pub fn imports(kind: PluginKind) -> Vec<String> {
    interface().world(kind).imports.iter().cloned().collect()
}

/// The kinds whose main export is among some exports.
pub(crate) fn kinds(exports: &[String]) -> Vec<PluginKind> {
    let has = |kind: &PluginKind| exports.iter().any(|name| name == entry(*kind));
    KINDS.into_iter().filter(has).collect()
}

/// An import that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The import, by its full name.
    pub import: String,
    /// Why it is not offered.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`: {}", self.import, self.reason)
    }
}

/// Holds a shape against the plugin interface, by names: every import must be offered, or be of
/// WASI where stand-ins may take its place, and the exports must be those of one world. [`check`](crate::check) compares the types too.
///
/// # Errors
/// Names every import that is not offered, or what is missing or too much among the exports.
pub fn check_world(shape: &Shape, wasi: Wasi) -> Result<PluginKind, ShapeFault> {
    let kinds = kinds(&shape.exports);
    // Imports first: whoever built for another system should hear of that, not of exports.
    refuse(shape, &kinds, wasi)?;
    let [kind] = kinds[..] else {
        return Err(ShapeFault::Kind { exports: shape.exports.clone(), kinds });
    };
    let missing = exports(kind).into_iter().filter(|name| !shape.exports.contains(name));
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() { Ok(kind) } else { Err(ShapeFault::Missing { kind, missing }) }
}

fn refuse(shape: &Shape, kinds: &[PluginKind], wasi: Wasi) -> Result<(), ShapeFault> {
    // As long as the kind is open, an import counts as offered if any kind may have it.
    let open = if kinds.is_empty() { &KINDS } else { kinds };
    let offered: BTreeSet<_> = open.iter().flat_map(|kind| imports(*kind)).collect();
    let met = |import: &String| wasi == Wasi::Inert && stand_in(import).is_some();
    let refused: Vec<_> = shape
        .imports
        .iter()
        .filter(|import| !offered.contains(*import) && !met(import))
        .map(|import| Refusal { import: import.clone(), reason: reason(import, kinds) })
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    // Types that come along with an interface are no powers and would only blur the list.
    let powers = offered.into_iter().filter(|name| name.contains('/')).collect();
    Err(ShapeFault::Refused { refused, offered: powers })
}

fn reason(import: &str, kinds: &[PluginKind]) -> String {
    if is_wasi(import) && stand_in(import).is_none() {
        return "no stand-in exists for this interface of WASI in this version".to_owned();
    }
    if import.starts_with("wasi:") {
        return "Tribunal offers no WASI: no clock, randomness, files, environment or network".to_owned();
    }
    let Some(known) = import.strip_prefix(PACKAGE) else {
        return "no such import exists for a plugin".to_owned();
    };
    let owners: Vec<_> = KINDS.into_iter().filter(|kind| imports(*kind).iter().any(|name| name == import)).collect();
    if let ([kind], [owner, ..]) = (kinds, &owners[..]) {
        return format!("only a {owner} may import it, and this is a {kind}");
    }
    match known.split_once('@') {
        Some((_, version)) if version != WIT_VERSION => format!(
            "version {version} is not supported, only {WIT_VERSION}; build against {WIT_VERSION}, \
             or use a Tribunal that speaks {version}"
        ),
        Some(_) => format!("tribunal:plugin@{WIT_VERSION} has no such interface"),
        None => format!("its version is missing; expected `{import}@{WIT_VERSION}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_world_is_told_by_its_entry_and_offers_its_own_powers() {
        let named = |kind, name: &str| imports(kind).contains(&format!("{PACKAGE}{name}@{WIT_VERSION}"));
        for kind in KINDS {
            assert_eq!(exports(kind), ["describe", entry(kind)], "{kind}");
            assert!(named(kind, "log") && named(kind, "settings"), "{kind}");
        }
        assert!(named(PluginKind::Tool, "database") && named(PluginKind::Verifier, "database"));
        assert!(named(PluginKind::Verifier, "changes"));
        assert!(!named(PluginKind::Tool, "changes") && !named(PluginKind::User, "database"));
    }

    #[test]
    fn the_version_is_that_of_the_text() {
        assert!(WIT.contains(&format!("package tribunal:plugin@{WIT_VERSION};")));
    }
}
