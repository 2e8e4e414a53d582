//! Databases, forks and sessions: what is shared, what is walled off, what is counted. Every case
//! runs on both engines; what is meant to differ stands in [`gluesql::fixture::Meant`].
#![expect(clippy::unwrap_used, clippy::panic, clippy::duplicate_mod, reason = "tests")]

/// The cases, on one engine.
macro_rules! on {
    ($name:ident, $engine:ident) => {
        #[path = "."]
        mod $name {
            pub const ENGINE: tribunal_protocol::schema::Engine = tribunal_protocol::schema::Engine::$engine;
            mod budget;
            mod change;
            mod denial;
            mod digest;
            pub mod fixture;
            mod fork;
            mod memo;
            mod robust;
            mod walls;
        }
    };
}

on!(gluesql, Gluesql);
on!(sqlite, Sqlite);

mod second;
mod work;
