//! A core module into a component.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

/// How the name of every section begins in which `wit-bindgen` leaves a world.
const WORLD: &str = "component-type:";
/// How the name of a section ends that its export macro left: the world of the plugin itself.
const OWN: &str = ":imports and exports";

/// Makes a component of a core module that carries its own world, as `wit-bindgen` leaves it.
/// The same module always gives the same bytes.
///
/// # Errors
/// Says what the module imports or lacks that no component can be made of.
pub fn encode(core: &[u8]) -> Result<Vec<u8>, String> {
    let core = only_its_own_world(core).map_err(|fault| fault.to_string())?;
    // The encoder reads metadata that stands in the module, and it may panic on odd ones.
    let outcome = catch_unwind(AssertUnwindSafe(|| ComponentEncoder::default().validate(true).module(&core)?.encode()));
    match outcome {
        Ok(result) => result.map_err(|fault| format!("{fault:#}")),
        Err(_) => Err("its metadata is broken; use one version of wit-bindgen throughout".to_owned()),
    }
}

/// A library that serves several worlds leaves the imports of each in every module that is linked
/// with it. Where the module's own export macro says which world it is of, that alone counts.
fn only_its_own_world(core: &[u8]) -> wasmparser::Result<Vec<u8>> {
    let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    let mut worlds: Vec<(bool, Range<usize>)> = Vec::new();
    let mut end_before = 8;
    for payload in Parser::new(0).parse_all(core) {
        let payload = payload?;
        let section = payload.as_section();
        if let Payload::CustomSection(custom) = &payload
            && custom.name().starts_with(WORLD)
        {
            worlds.push((custom.name().ends_with(OWN), end_before..place(custom.range().end)));
        }
        if let Some((_, range)) = section {
            end_before = place(range.end);
        }
    }
    if !worlds.iter().any(|(own, _)| *own) {
        return Ok(core.to_vec());
    }
    let mut kept = Vec::with_capacity(core.len());
    let mut copied = 0;
    for (_, range) in worlds.iter().filter(|(own, _)| !own) {
        kept.extend_from_slice(&core[copied..range.start]);
        copied = range.end;
    }
    kept.extend_from_slice(&core[copied..]);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(sections: &[&str]) -> Vec<u8> {
        let custom: String = sections.iter().map(|name| format!("(@custom \"{name}\" \"payload\")")).collect();
        wat::parse_str(format!("(module (func (export \"f\")) {custom})")).unwrap()
    }

    fn names(core: &[u8]) -> Vec<String> {
        let customs = Parser::new(0).parse_all(core).filter_map(|payload| match payload.unwrap() {
            Payload::CustomSection(custom) => Some(custom.name().to_owned()),
            _ => None,
        });
        customs.collect()
    }

    #[test]
    fn the_worlds_of_a_shared_library_are_left_out() {
        let own = "component-type:x:tool:imports and exports";
        let all =
            module(&["component-type:x:user:encoded world", own, "producers", "component-type:x:shared:encoded world"]);
        assert_eq!(names(&only_its_own_world(&all).unwrap()), [own, "producers"]);
        let single = module(&["component-type:x:tool:encoded world", "producers"]);
        assert_eq!(only_its_own_world(&single).unwrap(), single);
        assert!(only_its_own_world(&all[..all.len() - 3]).is_err());
    }
}
