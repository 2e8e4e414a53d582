//! A component's types against the plugin interface.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tribunal_protocol::plugin::{PluginKind, Wasi};
use wit_parser::{Resolve, WorldId};

use crate::inspect::{Shape, ShapeFault, inspect};
use crate::wasi::world;
use crate::world::{check_world, interface};

/// Reads a component of at most `cap` bytes and holds it against the plugin interface: valid,
/// no import but what is offered, the exports of one world, and every type as the interface has
/// it. Whatever passes can be linked.
///
/// # Errors
/// The first of these that does not hold, with what was expected.
pub fn check(bytes: &[u8], cap: usize) -> Result<(Shape, PluginKind), ShapeFault> {
    check_with(bytes, cap, Wasi::Refused)
}

/// As [`check`], where imports of WASI may be of those that have a stand-in.
///
/// # Errors
/// As [`check`].
pub fn check_with(bytes: &[u8], cap: usize, wasi: Wasi) -> Result<(Shape, PluginKind), ShapeFault> {
    let shape = inspect(bytes, cap)?;
    let kind = check_world(&shape, wasi)?;
    if shape.wasi().next().is_none() {
        let interface = interface();
        check_types(bytes, kind, &interface.resolve, interface.world(kind).id)?;
    } else {
        let made = world(kind, &shape.imports).map_err(|difference| ShapeFault::Types { kind, difference })?;
        check_types(bytes, kind, &made.0, made.1)?;
    }
    Ok((shape, kind))
}

fn check_types(bytes: &[u8], kind: PluginKind, resolve: &Resolve, world: WorldId) -> Result<(), ShapeFault> {
    // The bytes are foreign, and the checker has panicked on valid components before.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // Exact versions: one that is merely compatible would pass here and fail to link.
        wit_component::targets(resolve, world, bytes, false).map_err(|fault| difference(&format!("{fault:#}"), kind))
    }));
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(difference)) => Err(ShapeFault::Types { kind, difference }),
        Err(_) => Err(ShapeFault::Unchecked),
    }
}

/// Keeps of the checker's text what speaks of the types, not of how it looked at them: it wraps
/// the component as an import named after the world.
fn difference(text: &str, kind: PluginKind) -> String {
    let text = text.strip_prefix("failed to validate encoded bytes: ").unwrap_or(text);
    let text = text.split("(at offset").next().unwrap_or(text);
    let wrapper = format!("type mismatch for import `{kind}`");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != wrapper);
    let text = lines.collect::<Vec<_>>().join(": ");
    // Whoever calls expects: the component where it imports, the host where it exports.
    let sides = if text.starts_with("type mismatch for import") {
        "expected by the component, found in the interface"
    } else {
        "expected by the interface, found in the component"
    };
    format!("{text} ({sides})")
}
