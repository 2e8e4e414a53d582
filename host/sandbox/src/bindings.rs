//! The plugin interface as Rust types, made from its WIT text. The verifier's world comes first,
//! since it has the most; the other two share its types.

pub(crate) mod verifier {
    wasmtime::component::bindgen!({
        path: "../../wit/1.0.0/plugin.wit",
        world: "verifier",
        imports: { default: trappable },
        with: { "tribunal:plugin/database.session": crate::host::Pinned },
    });
}

pub(crate) mod tool {
    wasmtime::component::bindgen!({
        path: "../../wit/1.0.0/plugin.wit",
        world: "tool",
        imports: { default: trappable },
        with: {
            "tribunal:plugin/types": super::verifier::tribunal::plugin::types,
            "tribunal:plugin/database": super::verifier::tribunal::plugin::database,
            "tribunal:plugin/settings": super::verifier::tribunal::plugin::settings,
            "tribunal:plugin/log": super::verifier::tribunal::plugin::log,
            "tribunal:plugin/description": super::verifier::tribunal::plugin::description,
        },
    });
}

pub(crate) mod user {
    wasmtime::component::bindgen!({
        path: "../../wit/1.0.0/plugin.wit",
        world: "user",
        imports: { default: trappable },
        with: {
            "tribunal:plugin/types": super::verifier::tribunal::plugin::types,
            "tribunal:plugin/settings": super::verifier::tribunal::plugin::settings,
            "tribunal:plugin/log": super::verifier::tribunal::plugin::log,
            "tribunal:plugin/description": super::verifier::tribunal::plugin::description,
        },
    });
}

pub(crate) use tool::tribunal::plugin::output;
pub(crate) use verifier::tribunal::plugin::{changes, database, description, evidence, log, settings, types};
