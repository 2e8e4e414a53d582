//! Plugin crates into components: one call of cargo for all, then each module into a component
//! that is checked before it is written.
//!
//! A build is reproducible: the same sources and compiler give the same bytes wherever the
//! workspace lies, because no path of the machine reaches them.

mod artifacts;
mod metadata;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tribunal_protocol::plugin::{PluginKind, Wasi};

use crate::command::{self, CommandFault};
use crate::event::Event;
use crate::inspect::{Shape, ShapeFault};
use crate::toolchain::{TARGET, Toolchain};
use crate::{check_with, encode};
use metadata::Workspace;

/// The cargo profile of guests; the plugin's workspace defines it.
const PROFILE: &str = "guest";
/// What our own builds may weigh at most. A plugin's user sets a cap of their own.
const CAP: usize = 64 << 20;

/// What to build, and where.
#[derive(Debug, Clone)]
pub struct BuildPlan {
    /// The folder of a `Cargo.toml`: a plugin's own, or that of a workspace of plugins.
    pub manifest_dir: PathBuf,
    /// The packages to build; none stands for every package of the workspace that makes a
    /// `cdylib`.
    pub packages: Vec<String>,
    /// Where `<package>.wasm` is written.
    pub out_dir: PathBuf,
    /// Cargo's target folder for guests, apart from the host's: the two never wait for each other.
    pub target_dir: PathBuf,
}

/// A component that was built and passed every check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltComponent {
    /// The cargo package.
    pub package: String,
    /// Where the component lies.
    pub path: PathBuf,
    /// What kind of plugin it is.
    pub kind: PluginKind,
    /// What stands in it.
    pub shape: Shape,
    /// Whether the file differs from the one that lay there before.
    pub changed: bool,
}

/// Why a plugin was not built.
#[derive(Debug, thiserror::Error)]
pub enum BuildFault {
    /// Cargo failed; its own words follow.
    #[error(transparent)]
    Cargo(#[from] CommandFault),
    /// The workspace has no profile for guests.
    #[error("the workspace of `{}` defines no profile `{PROFILE}`; add to its Cargo.toml:\n[profile.{PROFILE}]\ninherits = \"release\"\nopt-level = \"s\"\nlto = true\ncodegen-units = 1\npanic = \"abort\"\nstrip = true", manifest_dir.display())]
    NoProfile {
        /// The folder that was to be built.
        manifest_dir: PathBuf,
    },
    /// Cargo said something unexpected.
    #[error("cargo's {what} could not be read: {reason}")]
    Unreadable {
        /// What of it.
        what: &'static str,
        /// What was wrong with it.
        reason: String,
    },
    /// No package has this name.
    #[error("the workspace has no package `{package}`; it has {}", known.join(", "))]
    NoPackage {
        /// The name that was asked for.
        package: String,
        /// The packages that could be built.
        known: Vec<String>,
    },
    /// A package, or every package, makes no module.
    #[error("{package} makes no WebAssembly module; add to its Cargo.toml:\n[lib]\ncrate-type = [\"cdylib\"]")]
    NoModule {
        /// The package, or what stands for all.
        package: String,
    },
    /// No component can be made of the module.
    #[error("{package}: no component can be made of its module: {reason}")]
    Encode {
        /// The package.
        package: String,
        /// What the encoder says.
        reason: String,
    },
    /// The component is no plugin.
    #[error("{package}: {fault}")]
    Shape {
        /// The package.
        package: String,
        /// Why.
        fault: ShapeFault,
    },
    /// A file could not be read or written.
    #[error("{action} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Builds one plugin; see [`build_guests`].
///
/// # Errors
/// As [`build_guests`].
pub fn build_guest(
    toolchain: &Toolchain,
    manifest_dir: &Path,
    package: &str,
    out_dir: &Path,
    target_dir: &Path,
    on_event: &mut dyn FnMut(Event),
) -> Result<BuiltComponent, BuildFault> {
    let plan = BuildPlan {
        manifest_dir: manifest_dir.to_owned(),
        packages: vec![package.to_owned()],
        out_dir: out_dir.to_owned(),
        target_dir: target_dir.to_owned(),
    };
    let built = build_guests(toolchain, &plan, on_event)?;
    let none = || BuildFault::NoModule { package: format!("package `{package}`") };
    built.into_iter().next().ok_or_else(none)
}

/// Builds plugins: one call of cargo for all, then a checked component of each.
///
/// # Errors
/// Cargo failed, a package is unknown or makes no module, or a component is no plugin. What was
/// written before stays; a component is written whole or not at all.
pub fn build_guests(
    toolchain: &Toolchain,
    plan: &BuildPlan,
    on_event: &mut dyn FnMut(Event),
) -> Result<Vec<BuiltComponent>, BuildFault> {
    let out_dir = folder(&plan.out_dir)?;
    build_modules(toolchain, plan, on_event)?
        .iter()
        .map(|(package, module)| {
            let built = componentize(package, module, &out_dir)?;
            on_event(Event::Built {
                package: package.clone(),
                path: built.path.clone(),
                bytes: built.shape.bytes,
                changed: built.changed,
            });
            Ok(built)
        })
        .collect()
}

/// Builds only the core module of each package: for a guest with a world of its own, of which no
/// plugin can be made. The plan's `out_dir` stays untouched.
///
/// # Errors
/// Cargo failed, or a package is unknown or makes no module.
pub fn build_modules(
    toolchain: &Toolchain,
    plan: &BuildPlan,
    on_event: &mut dyn FnMut(Event),
) -> Result<BTreeMap<String, PathBuf>, BuildFault> {
    let target_dir = folder(&plan.target_dir)?;
    let workspace = metadata::read(toolchain, &plan.manifest_dir)?;
    let packages = workspace.choose(&plan.packages)?;
    let mut modules = compile(toolchain, plan, &workspace, &packages, &target_dir, on_event)?;
    let none = |package: &str| BuildFault::NoModule { package: format!("package `{package}`") };
    packages.into_iter().map(|name| modules.remove(&name).ok_or_else(|| none(&name)).map(|path| (name, path))).collect()
}

/// Runs cargo and gives the module of each package.
fn compile(
    toolchain: &Toolchain,
    plan: &BuildPlan,
    workspace: &Workspace,
    packages: &[String],
    target_dir: &Path,
    on_event: &mut dyn FnMut(Event),
) -> Result<BTreeMap<String, PathBuf>, BuildFault> {
    let mut cargo = toolchain.cargo(&plan.manifest_dir);
    cargo.args(["build", "--lib", "--profile", PROFILE, "--target", TARGET]);
    cargo.args(["--message-format", "json-render-diagnostics"]);
    cargo.arg("--target-dir").arg(target_dir);
    cargo.args(toolchain.build_arguments());
    for package in packages {
        cargo.args(["--package", package]);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", workspace.flags(toolchain.root(), target_dir));
    let messages = command::output_with(&mut cargo, &mut |line| {
        on_event(Event::Cargo(line.to_owned()));
    });
    match messages {
        Ok(messages) => artifacts::modules(&messages, workspace),
        Err(CommandFault::Failed { stderr, .. }) if stderr.contains(&format!("profile `{PROFILE}` is not defined")) => {
            Err(BuildFault::NoProfile { manifest_dir: plan.manifest_dir.clone() })
        }
        Err(fault) => Err(fault.into()),
    }
}

fn componentize(package: &str, module: &Path, out_dir: &Path) -> Result<BuiltComponent, BuildFault> {
    let core = fs::read(module).map_err(file("reading", module))?;
    let bytes = match encode(&core) {
        Ok(bytes) => bytes,
        Err(reason) => return Err(BuildFault::Encode { package: package.to_owned(), reason }),
    };
    finish(package, &bytes, out_dir, Wasi::Refused)
}

/// Checks a component and writes it.
pub(crate) fn finish(package: &str, bytes: &[u8], out_dir: &Path, wasi: Wasi) -> Result<BuiltComponent, BuildFault> {
    let package = package.to_owned();
    let (shape, kind) = match check_with(bytes, CAP, wasi) {
        Ok(checked) => checked,
        Err(fault) => return Err(BuildFault::Shape { package, fault }),
    };
    let path = out_dir.join(format!("{package}.wasm"));
    // An unchanged file keeps its time, so nothing that watches it wakes up.
    let changed = fs::read(&path).ok().as_deref() != Some(bytes);
    if changed {
        write(&path, bytes, out_dir).map_err(file("writing", &path))?;
    }
    Ok(BuiltComponent { package, path, kind, shape, changed })
}

/// Writes a file under another name and renames it: a reader sees the old or the new, never half.
fn write(path: &Path, bytes: &[u8], folder: &Path) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    #[cfg(unix)]
    builder.permissions(readable);
    let mut staged = builder.prefix(".component-").tempfile_in(folder)?;
    staged.write_all(bytes)?;
    staged.persist(path).map_err(|fault| fault.error)?;
    Ok(())
}

/// A folder that exists, by its one true name: cargo runs elsewhere, and the compiler replaces a
/// path only where it stands letter by letter.
pub(crate) fn folder(path: &Path) -> Result<PathBuf, BuildFault> {
    fs::create_dir_all(path).map_err(file("making", path))?;
    path.canonicalize().map_err(file("resolving", path))
}

/// Writes a file whole.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), BuildFault> {
    fs::write(path, text).map_err(file("writing", path))
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildFault {
    let path = path.to_owned();
    move |source| BuildFault::File { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_module_becomes_a_file_once_and_is_left_alone_after() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("module.wasm");
        fs::write(&module, fixture::module(crate::WIT, "tool")).unwrap();
        let first = componentize("tool-x", &module, folder.path()).unwrap();
        assert!(first.changed && first.path.ends_with("tool-x.wasm"));
        assert_eq!(first.kind, PluginKind::Tool);
        let again = componentize("tool-x", &module, folder.path()).unwrap();
        assert_eq!(again, BuiltComponent { changed: false, ..first });
        let names = folder.path().read_dir().unwrap().count();
        assert_eq!(names, 2, "nothing half-made stays behind");
    }

    #[test]
    fn a_module_that_is_no_plugin_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let module = folder.path().join("module.wasm");
        let wasi = wat::parse_str(r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#);
        for (bytes, expected) in
            [(wasi.unwrap(), "wasi_snapshot_preview1"), (wat::parse_str("(module)").unwrap(), "exports nothing")]
        {
            fs::write(&module, bytes).unwrap();
            let fault = componentize("tool-x", &module, folder.path()).unwrap_err().to_string();
            assert!(fault.starts_with("tool-x: ") && fault.contains(expected), "{fault}");
            assert!(!folder.path().join("tool-x.wasm").exists());
        }
    }
}
