//! Components for tests, made of nothing but an interface.

use wit_component::{StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

/// A core module that says it implements a world, and traps wherever it is called.
pub(crate) fn module(wit: &str, world: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_source("fixture.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let mut bytes = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut bytes, &resolve, world, StringEncoding::UTF8, false).unwrap();
    bytes
}

/// A component of a world.
pub(crate) fn component(wit: &str, world: &str) -> Vec<u8> {
    crate::encode(&module(wit, world)).unwrap()
}
