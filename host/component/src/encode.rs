//! A core module into a component.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wit_component::ComponentEncoder;

/// Makes a component of a core module that carries its own world, as `wit-bindgen` leaves it.
/// The same module always gives the same bytes.
///
/// # Errors
/// Says what the module imports or lacks that no component can be made of.
pub fn encode(core: &[u8]) -> Result<Vec<u8>, String> {
    // The encoder reads metadata that stands in the module, and it may panic on odd ones.
    let outcome = catch_unwind(AssertUnwindSafe(|| ComponentEncoder::default().validate(true).module(core)?.encode()));
    match outcome {
        Ok(result) => result.map_err(|fault| format!("{fault:#}")),
        Err(_) => Err("its metadata is broken; use one version of wit-bindgen throughout".to_owned()),
    }
}
