//! What `wit-bindgen` makes of the interface. Plugins use the rest of this crate instead.
//!
//! Every interface is generated once, in [`shared`]; the three worlds refer to it, so that a
//! table is the same type in all of them. The section that tells the component encoder which
//! world a module is stands in the export macro: a plugin is of the world that it exports.

#![allow(
    missing_docs,
    clippy::all,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "generated; the interface is documented in wit/1.0.0/plugin.wit"
)]

pub mod shared {
    wit_bindgen::generate!({
        inline: "
            package tribunal:kit;
            world shared {
                import tribunal:plugin/types@1.0.0;
                import tribunal:plugin/database@1.0.0;
                import tribunal:plugin/changes@1.0.0;
                import tribunal:plugin/settings@1.0.0;
                import tribunal:plugin/log@1.0.0;
                import tribunal:plugin/description@1.0.0;
                import tribunal:plugin/evidence@1.0.0;
                import tribunal:plugin/output@1.0.0;
            }
        ",
        path: "../../wit/1.0.0",
        generate_all,
        generate_unused_types: true,
        pub_export_macro: true,
        additional_derives: [PartialEq],
        additional_derives_ignore: ["session"],
        runtime_path: "wit_bindgen::rt",
    });
}

macro_rules! world {
    ($module:ident, $world:literal, $default:literal, { $($interface:literal: $path:ident),+ $(,)? }) => {
        pub mod $module {
            wit_bindgen::generate!({
                world: $world,
                path: "../../wit/1.0.0",
                with: { $($interface: crate::bindings::shared::tribunal::plugin::$path),+ },
                pub_export_macro: true,
                default_bindings_module: $default,
            });
        }
    };
}

world!(tool, "tool", "tribunal_kit::bindings::tool", {
    "tribunal:plugin/types@1.0.0": types,
    "tribunal:plugin/database@1.0.0": database,
    "tribunal:plugin/settings@1.0.0": settings,
    "tribunal:plugin/log@1.0.0": log,
    "tribunal:plugin/description@1.0.0": description,
    "tribunal:plugin/output@1.0.0": output,
});

world!(verifier, "verifier", "tribunal_kit::bindings::verifier", {
    "tribunal:plugin/types@1.0.0": types,
    "tribunal:plugin/database@1.0.0": database,
    "tribunal:plugin/changes@1.0.0": changes,
    "tribunal:plugin/settings@1.0.0": settings,
    "tribunal:plugin/log@1.0.0": log,
    "tribunal:plugin/description@1.0.0": description,
    "tribunal:plugin/evidence@1.0.0": evidence,
});

world!(user, "user", "tribunal_kit::bindings::user", {
    "tribunal:plugin/types@1.0.0": types,
    "tribunal:plugin/settings@1.0.0": settings,
    "tribunal:plugin/log@1.0.0": log,
    "tribunal:plugin/description@1.0.0": description,
});
