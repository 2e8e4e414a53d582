//! A compiler for guests: found where there is one, made where there is none.
//!
//! Three ways, in this order: the target is installed beside the host's compiler; `rustup` adds
//! it; a Debian-like system has a newer compiler with its library's source among its packages,
//! which is unpacked into a folder of the build and never installed.

mod debian;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, CommandFault};
use crate::event::Event;
use debian::Unpacked;

/// The target of every guest: no clock, no randomness, no files, no WASI.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Variables that would make cargo build something else than what was checked and asked for.
const FOREIGN: [&str; 8] = [
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_TARGET_DIR",
];

/// Where a compiler may be looked for and made.
#[derive(Debug, Clone)]
pub struct ToolchainOptions {
    /// A folder of the build that may hold an unpacked compiler (about 600 MB). Best inside the
    /// workspace's target folder: then the path of the workspace cannot reach a guest's bytes.
    pub folder: PathBuf,
    /// The folder whose toolchain counts: `rust-toolchain.toml` is looked up from here.
    pub directory: PathBuf,
    /// Whether `rustup` may download the target.
    pub allow_rustup: bool,
}

/// A way to a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The target stands beside the host's compiler.
    Installed,
    /// `rustup` adds the target.
    Rustup,
    /// The distribution's packages, unpacked into a folder of the build.
    Unpacked,
}

impl fmt::Display for Way {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Installed => "the installed target",
            Self::Rustup => "rustup",
            Self::Unpacked => "the distribution's packages",
        })
    }
}

/// Why there is no compiler for guests.
#[derive(Debug, thiserror::Error)]
#[error(
    "no compiler for {TARGET}; install one with `rustup target add {TARGET}`. Tried:{}",
    shown(.tried)
)]
pub struct ToolchainFault {
    /// Every way with the reason why it led nowhere.
    pub tried: Vec<(Way, String)>,
}

fn shown(tried: &[(Way, String)]) -> String {
    tried.iter().map(|(way, reason)| format!("\n- {way}: {reason}")).collect()
}

/// A compiler that makes guests.
#[derive(Debug, Clone)]
pub struct Toolchain {
    way: Way,
    /// Holds the compiler and its library's source; no path below it may reach a guest's bytes.
    root: PathBuf,
    unpacked: Option<Unpacked>,
}

impl Toolchain {
    /// Finds a compiler, or makes one. Quick where it was done before.
    ///
    /// # Errors
    /// Names every way that was tried and why it led nowhere.
    pub fn find(options: &ToolchainOptions, on_event: &mut dyn FnMut(Event)) -> Result<Self, ToolchainFault> {
        let mut tried = Vec::new();
        for &way in ways(options) {
            on_event(Event::Trying(way));
            match Self::by(way, options, on_event) {
                Ok(found) => return Ok(found),
                Err(reason) => {
                    on_event(Event::Skipped { way, reason: reason.clone() });
                    tried.push((way, reason));
                }
            }
        }
        Err(ToolchainFault { tried })
    }

    fn by(way: Way, options: &ToolchainOptions, on_event: &mut dyn FnMut(Event)) -> Result<Self, String> {
        match way {
            Way::Installed => installed(&options.directory),
            Way::Rustup if !options.allow_rustup => Err("it may not download here (RUSTUP_AUTO_INSTALL=0)".to_owned()),
            Way::Rustup => by_rustup(&options.directory),
            Way::Unpacked => debian::unpack(&options.folder, on_event)
                .map(|unpacked| Self { way, root: unpacked.root().to_owned(), unpacked: Some(unpacked) })
                .map_err(|fault| fault.to_string()),
        }
    }

    /// How this compiler was come by.
    #[must_use]
    pub fn way(&self) -> Way {
        self.way
    }

    /// The folder that holds the compiler and its library's source.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A call of cargo in a folder, with this compiler and no setting of the caller's own that
    /// could change a guest's bytes.
    pub(crate) fn cargo(&self, directory: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(directory);
        for name in FOREIGN {
            cargo.env_remove(name);
        }
        cargo.env("CARGO_INCREMENTAL", "0");
        if let Some(unpacked) = &self.unpacked {
            unpacked.apply(&mut cargo);
        }
        cargo
    }

    /// Arguments that `cargo build` needs beyond the target.
    pub(crate) fn build_arguments(&self) -> &'static [&'static str] {
        match self.unpacked {
            // The packages hold the library for the host only: the guest's is built from source.
            Some(_) => &["-Zbuild-std=std,panic_abort"],
            None => &[],
        }
    }
}

/// The ways to try, in order. A compiler that this build has unpacked before is used again, and
/// `rustup` not asked anew: the next build shall neither wait for a network nor change compilers.
fn ways(options: &ToolchainOptions) -> &'static [Way] {
    if debian::is_unpacked(&options.folder) {
        &[Way::Installed, Way::Unpacked]
    } else {
        &[Way::Installed, Way::Rustup, Way::Unpacked]
    }
}

fn installed(directory: &Path) -> Result<Toolchain, String> {
    let libraries = target_libraries(directory).map_err(|fault| fault.to_string())?;
    if !holds_std(&libraries) {
        return Err(format!("`{}` holds no library of the target", libraries.display()));
    }
    // <root>/lib/rustlib/<target>/lib
    let root = libraries.ancestors().nth(4).unwrap_or(&libraries).to_owned();
    Ok(Toolchain { way: Way::Installed, root, unpacked: None })
}

fn by_rustup(directory: &Path) -> Result<Toolchain, String> {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", TARGET]).current_dir(directory);
    command::output(&mut rustup).map_err(|fault| fault.to_string())?;
    installed(directory).map(|found| Toolchain { way: Way::Rustup, ..found })
}

fn target_libraries(directory: &Path) -> Result<PathBuf, CommandFault> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]).current_dir(directory);
    command::output(&mut rustc).map(|text| PathBuf::from(text.trim()))
}

fn holds_std(libraries: &Path) -> bool {
    let Ok(entries) = libraries.read_dir() else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_folder_counts_only_with_its_standard_library() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!holds_std(&folder.path().join("absent")));
        std::fs::write(folder.path().join("libcore-1.rlib"), "").unwrap();
        assert!(!holds_std(folder.path()));
        std::fs::write(folder.path().join("libstd-1.rlib"), "").unwrap();
        assert!(holds_std(folder.path()));
    }

    #[test]
    fn rustup_is_tried_before_anything_is_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let options = ToolchainOptions {
            folder: folder.path().to_owned(),
            directory: folder.path().to_owned(),
            allow_rustup: true,
        };
        assert_eq!(ways(&options), [Way::Installed, Way::Rustup, Way::Unpacked]);
    }

    #[test]
    fn the_fault_names_every_way_and_the_fix() {
        let fault =
            ToolchainFault { tried: vec![(Way::Installed, "empty".into()), (Way::Rustup, "no network".into())] };
        let text = fault.to_string();
        assert!(text.contains("rustup target add wasm32-unknown-unknown"), "{text}");
        assert!(text.contains("the installed target: empty\n- rustup: no network"), "{text}");
    }
}
