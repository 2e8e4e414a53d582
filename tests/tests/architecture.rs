//! ARCHITECTURE.md, held: arrows point down, and each foreign library has one owner.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// From the bottom up. A crate may depend on crates that stand before it.
const ORDER: &[&str] = &[
    "tribunal-protocol",
    "tribunal-contract",
    "tribunal-sql",
    "tribunal-engine",
    "tribunal-sqlite",
    "tribunal-database",
    "tribunal-component",
    "tribunal-sandbox",
    "tribunal-trace",
    "tribunal-episode",
    "tribunal-scripted",
    "tribunal-transformer",
    "tribunal-dialogue",
    "tribunal-tasks",
    "tribunal-maker",
    "tribunal-import",
    "tribunal-evaluate",
    "tribunal-audit",
    "tribunal-seal",
    "tribunal-train",
    "tribunal",
];

/// Foreign libraries that shape the design, and who may name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("gluesql-core", &["tribunal-engine"]),
    ("wasmtime", &["tribunal-sandbox"]),
    ("sqlparser", &["tribunal-sql"]),
    ("rusqlite", &["tribunal-sqlite"]),
    ("wit-component", &["tribunal-component"]),
    ("wit-parser", &["tribunal-component"]),
    ("wasmparser", &["tribunal-component"]),
    ("wit-bindgen", &["tribunal-kit"]),
    ("jsonschema", &["tribunal-episode"]),
    ("candle-core", &["tribunal-transformer"]),
    ("safetensors", &["tribunal-transformer"]),
    ("pulp", &["tribunal-transformer"]),
    ("clap", &["tribunal"]),
    ("anyhow", &["tribunal"]),
    ("tokio", &["tribunal"]),
    ("indicatif", &["tribunal"]),
    ("comfy-table", &["tribunal"]),
    ("include_dir", &["tribunal-tasks"]),
    ("tokenizers", &["tribunal-dialogue"]),
    ("llguidance", &["tribunal-dialogue"]),
    ("toktrie", &["tribunal-dialogue"]),
    ("special", &["tribunal-evaluate"]),
    ("ed25519-compact", &["tribunal-seal"]),
    ("orion", &["tribunal-seal"]),
    ("ct-codecs", &["tribunal-seal"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The ordinary dependencies of every crate of ours.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ordinary = |dependency: &&Value| dependency["kind"].is_null();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let named = package["dependencies"].as_array().unwrap().iter().filter(ordinary);
            (text(&package["name"]), named.map(|dependency| text(&dependency["name"])).collect())
        })
        .collect()
}

#[test]
fn arrows_point_down() {
    let rank = |name: &str| ORDER.iter().position(|known| *known == name);
    for (name, needed) in dependencies() {
        for dependency in needed.iter().filter(|dependency| dependency.starts_with("tribunal")) {
            let (Some(above), Some(below)) = (rank(&name), rank(dependency)) else { continue };
            assert!(below < above, "{name} depends on {dependency}, which stands above it in ARCHITECTURE.md");
        }
    }
}

#[test]
fn every_host_crate_has_its_place() {
    let placed: BTreeSet<&str> = ORDER.iter().copied().collect();
    let guests = |name: &str| {
        name.starts_with("tool-")
            || name.starts_with("verifier-")
            || name.starts_with("user-")
            || ["tribunal-kit", "tribunal-compare", "tribunal-tests"].contains(&name)
    };
    let unplaced: Vec<String> =
        dependencies().into_keys().filter(|name| !placed.contains(name.as_str()) && !guests(name)).collect();
    assert!(unplaced.is_empty(), "give these a place in ARCHITECTURE.md and here: {unplaced:?}");
}

#[test]
fn each_foreign_library_has_one_owner() {
    let all = dependencies();
    for (library, owners) in OWNERS.iter().copied() {
        let users: Vec<&str> = all
            .iter()
            .filter(|(name, needed)| needed.contains(library) && *name != "tribunal-tests")
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(users, owners, "{library}");
    }
}

#[test]
fn guests_never_meet_the_host() {
    let allowed: BTreeSet<&str> = ["tribunal-kit", "tribunal-compare"].into();
    for (name, needed) in dependencies() {
        let guest = ["tool-", "verifier-", "user-"].iter().any(|kind| name.starts_with(kind))
            || allowed.contains(name.as_str());
        let ours = needed.iter().filter(|dependency| dependency.starts_with("tribunal"));
        for dependency in ours.filter(|_| guest) {
            assert!(allowed.contains(dependency.as_str()), "the guest {name} depends on {dependency}");
        }
    }
}

/// Source files that have outgrown what a reader holds in mind.
#[test]
fn files_stay_small() {
    const LINES: usize = 600;
    let mut large = Vec::new();
    let mut folders = vec![root().join("host"), root().join("plugins"), root().join("policies"), root().join("tasks")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let lines = std::fs::read_to_string(&path).unwrap().lines().count();
                if lines > LINES {
                    large.push(format!("{} ({lines})", path.display()));
                }
            }
        }
    }
    assert!(large.is_empty(), "split these along a real seam: {large:?}");
}
