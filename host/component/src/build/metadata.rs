//! What cargo knows of a workspace: its packages, and the folders that must not reach a guest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::BuildFault;
use crate::command;
use crate::toolchain::{TARGET, Toolchain};

/// A guest's stack: a quarter of what the linker would give, so that stack, data and first blocks
/// lie within few pages, and still far more than JSON nested as deep as its parser allows needs.
const STACK: &str = "-Clink-arg=-zstack-size=262144";

/// A workspace and all that it depends on.
#[derive(Debug, Deserialize)]
pub(super) struct Workspace {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    /// Where it was fetched from; none for a folder of this machine.
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

/// Asks cargo about the workspace of a folder.
pub(super) fn read(toolchain: &Toolchain, manifest_dir: &Path) -> Result<Workspace, BuildFault> {
    let mut cargo = toolchain.cargo(manifest_dir);
    cargo.args(["metadata", "--format-version", "1", "--filter-platform", TARGET]);
    let text = command::output(&mut cargo)?;
    let unreadable = |fault: serde_json::Error| BuildFault::Unreadable { what: "metadata", reason: fault.to_string() };
    serde_json::from_str(&text).map_err(unreadable)
}

impl Package {
    fn makes_module(&self) -> bool {
        self.targets.iter().any(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))
    }

    fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

impl Workspace {
    /// The packages to build: those asked for, or all that make a module.
    pub(super) fn choose(&self, asked: &[String]) -> Result<Vec<String>, BuildFault> {
        let modules: Vec<_> =
            self.members().filter(|package| package.makes_module()).map(|package| package.name.clone()).collect();
        if asked.is_empty() && modules.is_empty() {
            return Err(BuildFault::NoModule { package: "the workspace".to_owned() });
        }
        for name in asked {
            if !self.members().any(|package| package.name == *name) {
                return Err(BuildFault::NoPackage { package: name.clone(), known: modules });
            }
            if !modules.contains(name) {
                return Err(BuildFault::NoModule { package: format!("package `{name}`") });
            }
        }
        let mut chosen = if asked.is_empty() { modules } else { asked.to_vec() };
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    /// The name of the member with this manifest.
    pub(super) fn name_of(&self, manifest_path: &Path) -> Option<&str> {
        let mut members = self.members();
        members.find(|package| package.manifest_path == manifest_path).map(|package| &*package.name)
    }

    /// The compiler's flags, in cargo's own encoding: the size of the stack, and for every folder
    /// of this machine a name that is the same on every machine.
    pub(super) fn flags(&self, toolchain: &Path, target_dir: &Path) -> OsString {
        let mut folders = self.folders();
        folders.insert(self.workspace_root.clone(), "/plugin".to_owned());
        folders.insert(target_dir.to_owned(), "/target".to_owned());
        folders.insert(toolchain.to_owned(), "/rust".to_owned());
        let mut folders: Vec<_> = folders.into_iter().collect();
        // The last match wins, so an inner folder must follow the one that holds it.
        folders.sort_by_key(|(folder, _)| folder.as_os_str().len());
        let mut flags = OsString::from(STACK);
        for (folder, name) in folders {
            flags.push("\u{1f}--remap-path-prefix=");
            flags.push(folder);
            flags.push("=");
            flags.push(name);
        }
        flags
    }

    /// The folders of the dependencies: where fetched ones lie together, and each local one.
    fn folders(&self) -> BTreeMap<PathBuf, String> {
        let place = |package: &Package| {
            let folder = package.folder();
            match &package.source {
                Some(_) => folder.parent().map(|all| (all.to_owned(), "/dependency".to_owned())),
                None if folder.starts_with(&self.workspace_root) => None,
                None => Some((folder.to_owned(), format!("/dependency/{}", package.name))),
            }
        };
        self.packages.iter().filter_map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        let package = |name: &str, source: Option<&str>, folder: &str, kind: &str| {
            serde_json::json!({
                "id": name, "name": name, "source": source,
                "manifest_path": format!("{folder}/Cargo.toml"),
                "targets": [{ "crate_types": [kind] }],
            })
        };
        serde_json::from_value(serde_json::json!({
            "packages": [
                package("tool-a", None, "/home/w/a", "cdylib"),
                package("kit", None, "/home/w/kit", "lib"),
                package("shared", None, "/else/shared", "lib"),
                package("serde", Some("registry"), "/cargo/src/serde-1", "lib"),
            ],
            "workspace_members": ["tool-a", "kit"],
            "workspace_root": "/home/w",
        }))
        .unwrap()
    }

    #[test]
    fn packages_are_chosen_by_name_or_by_what_they_make() {
        let workspace = workspace();
        assert_eq!(workspace.choose(&[]).unwrap(), ["tool-a"]);
        let fault = |name: &str| workspace.choose(&[name.to_owned()]).unwrap_err().to_string();
        assert!(fault("tool-b").contains("no package `tool-b`; it has tool-a"));
        assert!(fault("kit").contains("crate-type = [\"cdylib\"]"));
        assert!(fault("serde").contains("no package"), "a dependency is not ours to build");
    }

    #[test]
    fn every_folder_gets_a_name_and_inner_ones_win() {
        let flags = workspace().flags(Path::new("/rust-1"), Path::new("/home/w/target"));
        let flags = flags.to_string_lossy();
        let flags: Vec<_> = flags.split('\u{1f}').map(|flag| flag.trim_start_matches("--remap-path-prefix=")).collect();
        for expected in [
            "/home/w=/plugin",
            "/home/w/target=/target",
            "/cargo/src=/dependency",
            "/else/shared=/dependency/shared",
            "/rust-1=/rust",
        ] {
            assert!(flags.contains(&expected), "{flags:?}");
        }
        let place = |flag| flags.iter().position(|other| *other == flag);
        assert!(place("/home/w=/plugin") < place("/home/w/target=/target"));
    }
}
