//! The kit as it is written beside a new plugin: it is on no package registry, so this program
//! carries it.

/// Files by their path from the root of this workspace.
macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../", $path)))),+]
    };
}

/// Every file of the kit.
pub const FILES: &[(&str, &str)] = files![
    "plugins/compare/Cargo.toml",
    "plugins/compare/src/canon.rs",
    "plugins/compare/src/cells.rs",
    "plugins/compare/src/columns.rs",
    "plugins/compare/src/contract.rs",
    "plugins/compare/src/decimal.rs",
    "plugins/compare/src/decimal_tests.rs",
    "plugins/compare/src/expectation.rs",
    "plugins/compare/src/explain.rs",
    "plugins/compare/src/form.rs",
    "plugins/compare/src/json.rs",
    "plugins/compare/src/judge.rs",
    "plugins/compare/src/keys.rs",
    "plugins/compare/src/lib.rs",
    "plugins/compare/src/order.rs",
    "plugins/compare/src/pairing.rs",
    "plugins/compare/src/partial.rs",
    "plugins/compare/src/side.rs",
    "plugins/compare/src/table.rs",
    "plugins/compare/src/text.rs",
    "plugins/compare/src/time.rs",
    "plugins/compare/src/verdict.rs",
    "plugins/kit/Cargo.toml",
    "plugins/kit/src/arguments.rs",
    "plugins/kit/src/bindings.rs",
    "plugins/kit/src/compare.rs",
    "plugins/kit/src/describe.rs",
    "plugins/kit/src/export.rs",
    "plugins/kit/src/failure.rs",
    "plugins/kit/src/heap.rs",
    "plugins/kit/src/host.rs",
    "plugins/kit/src/lib.rs",
    "plugins/kit/src/table.rs",
    "plugins/kit/src/testing.rs",
    "wit/1.0.0/plugin.wit",
];

/// The workspace's own manifest, which pins what the kit depends on.
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// The line of the workspace's manifest that pins a dependency.
pub fn pinned(dependency: &str) -> Option<&'static str> {
    let begins = |line: &&str| line.strip_prefix(dependency).is_some_and(|rest| rest.starts_with(" = "));
    WORKSPACE.lines().find(begins)
}

/// A manifest without what only the kit's own tests need.
pub fn without_tests(manifest: &str) -> &str {
    manifest.split("[dev-dependencies]").next().unwrap_or(manifest).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// A file that is added to the kit and forgotten here would be missing from every new plugin.
    #[test]
    fn the_kit_is_carried_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut there = BTreeSet::new();
        for folder in ["plugins/compare/src", "plugins/kit/src", "wit/1.0.0"] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let entry = entry.unwrap();
                assert!(entry.path().is_file(), "{}: a folder; name its files here", entry.path().display());
                there.insert(format!("{folder}/{}", entry.file_name().to_string_lossy()));
            }
        }
        let carried: BTreeSet<String> = FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        let manifests = ["plugins/compare/Cargo.toml", "plugins/kit/Cargo.toml"].map(str::to_owned);
        assert_eq!(carried, there.into_iter().chain(manifests).collect());
    }

    #[test]
    fn dependencies_are_pinned_as_here() {
        assert_eq!(pinned("caseless"), Some("caseless = \"0.2\""));
        assert!(pinned("wit-bindgen").is_some_and(|line| line.contains("version = \"=")));
        assert_eq!(pinned("wit"), None);
    }
}
