//! The compiler among a Debian-like distribution's packages, unpacked and not installed.
//!
//! The folder is made under another name and renamed when it is whole and its compiler has
//! answered once, so a folder under its right name is always whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{self, CommandFault};
use crate::event::Event;

/// The release that is unpacked. Compiler and library source must be of one version.
const RELEASE: &str = "1.96";

/// The packages: compiler, its libraries for the host, the source of the standard library, LLVM,
/// and the linker. `*` stands for the distribution's own suffix.
const PACKAGES: [&str; 6] = [
    "rustc-web=1.96.*",
    "libstd-rust-web-1.96=1.96.*",
    "libstd-rust-web-dev=1.96.*",
    "rust-web-src=1.96.*",
    "libllvm22",
    "lld-22",
];

/// Why the packages gave no compiler.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackFault {
    #[error(transparent)]
    Command(#[from] CommandFault),
    #[error("{action} `{}`: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("the packages unpacked, but `{0}` is not among their files")]
    Incomplete(&'static str),
    #[error("the unpacked compiler does not say which release it is; expected `release: {RELEASE}`")]
    NoRelease,
}

/// A compiler in a folder.
#[derive(Debug, Clone)]
pub(super) struct Unpacked {
    root: PathBuf,
    /// Holds the compiler's and LLVM's shared libraries.
    libraries: PathBuf,
}

impl Unpacked {
    /// Opens a folder, if a whole compiler lies in it.
    fn open(root: &Path) -> Result<Self, UnpackFault> {
        let libraries =
            libraries(&root.join("usr/lib")).ok_or(UnpackFault::Incomplete("the compiler's shared library"))?;
        let found = Self { root: root.to_owned(), libraries };
        if !found.rustc().is_file() {
            return Err(UnpackFault::Incomplete("rustc"));
        }
        if !found.linker().is_file() {
            return Err(UnpackFault::Incomplete("wasm-ld"));
        }
        Ok(found)
    }

    /// The folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn rustc(&self) -> PathBuf {
        self.root.join("usr/bin/rustc")
    }

    fn linker(&self) -> PathBuf {
        self.root.join("usr/lib/llvm-22/bin/wasm-ld")
    }

    /// Where cargo looks for the source of the standard library.
    fn source(&self) -> PathBuf {
        self.root.join("usr/lib/rustlib/src/rust")
    }

    /// Makes a call of cargo use this compiler.
    pub(super) fn apply(&self, cargo: &mut Command) {
        cargo
            .env("RUSTC", self.rustc())
            .env("LD_LIBRARY_PATH", &self.libraries)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", self.linker())
            // Building the standard library from source asks for it on a stable compiler.
            .env("RUSTC_BOOTSTRAP", "1");
    }

    /// The release that the compiler says it is: it proves too that it runs here.
    fn release(&self) -> Result<String, UnpackFault> {
        let mut rustc = Command::new(self.rustc());
        rustc.arg("-vV").env("LD_LIBRARY_PATH", &self.libraries);
        let text = command::output(&mut rustc)?;
        let release = text.lines().find_map(|line| line.strip_prefix("release: "));
        release.map(str::to_owned).ok_or(UnpackFault::NoRelease)
    }
}

/// Whether a whole compiler lies in `folder`.
pub(super) fn is_unpacked(folder: &Path) -> bool {
    Unpacked::open(&root(folder)).is_ok()
}

fn root(folder: &Path) -> PathBuf {
    folder.join(format!("rust-{RELEASE}"))
}

/// Opens the compiler in `folder`, or fetches and unpacks it there.
pub(super) fn unpack(folder: &Path, on_event: &mut dyn FnMut(Event)) -> Result<Unpacked, UnpackFault> {
    fs::create_dir_all(folder).map_err(file("making", folder))?;
    // Cargo runs elsewhere, and the compiler names its own files by their true path.
    let folder = folder.canonicalize().map_err(file("resolving", folder))?;
    let root = root(&folder);
    if let Ok(found) = Unpacked::open(&root) {
        return Ok(found);
    }
    let staging = tempfile::Builder::new()
        .prefix(".unpacking-")
        .tempdir_in(&folder)
        .map_err(file("making a folder in", &folder))?;
    let fetched = staging.path().join("packages");
    let whole = staging.path().join("whole");
    fs::create_dir(&fetched).map_err(file("making", &fetched))?;
    on_event(Event::Preparing("fetching the compiler's packages (about 140 MB)".to_owned()));
    fetch(&fetched, on_event)?;
    on_event(Event::Preparing("unpacking the compiler's packages".to_owned()));
    extract(&fetched, &whole)?;
    complete(&whole)?;
    publish(&whole, &root)
}

/// Downloads the packages; brings an index up to date if the system's own is absent or stale.
fn fetch(into: &Path, on_event: &mut dyn FnMut(Event)) -> Result<(), UnpackFault> {
    if command::output(apt(into).arg("download").args(PACKAGES)).is_ok() {
        return Ok(());
    }
    on_event(Event::Preparing("refreshing an index of packages".to_owned()));
    // A private index: it takes no rights, and leaves the system's own alone.
    let state = into.with_file_name("index");
    for part in ["lists/partial", "cache/archives/partial"] {
        let path = state.join(part);
        fs::create_dir_all(&path).map_err(file("making", &path))?;
    }
    let private = |apt: &mut Command| {
        apt.arg("-o").arg(format!("Dir::State::Lists={}", state.join("lists").display()));
        apt.arg("-o").arg(format!("Dir::Cache={}", state.join("cache").display()));
    };
    let mut update = apt(into);
    private(&mut update);
    command::output(update.arg("update"))?;
    let mut download = apt(into);
    private(&mut download);
    command::output(download.arg("download").args(PACKAGES))?;
    Ok(())
}

fn apt(directory: &Path) -> Command {
    let mut apt = Command::new("apt-get");
    // The sandbox's own user could not write into a private folder.
    apt.args(["-q", "-o", "APT::Sandbox::User=root"]).current_dir(directory);
    apt
}

fn extract(fetched: &Path, into: &Path) -> Result<(), UnpackFault> {
    for entry in fetched.read_dir().map_err(file("listing", fetched))?.flatten() {
        let package = entry.path();
        if package.extension().is_some_and(|extension| extension == "deb") {
            command::output(Command::new("dpkg").arg("-x").arg(&package).arg(into))?;
        }
    }
    Ok(())
}

/// Checks an unpacked tree, drops what no guest needs, and leads cargo to the library's source.
fn complete(whole: &Path) -> Result<(), UnpackFault> {
    let unpacked = Unpacked::open(whole)?;
    let name = format!("rustc-{}", unpacked.release()?);
    let source = whole.join("usr/src").join(&name);
    if !source.join("library/std/Cargo.toml").is_file() {
        return Err(UnpackFault::Incomplete("the standard library's source of the same release"));
    }
    for part in ["src", "compiler"] {
        let path = source.join(part);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(file("removing", &path))?;
        }
    }
    // A package may bring this as an absolute link, which leads nowhere once it is unpacked.
    let link = unpacked.source();
    if link.is_symlink() {
        fs::remove_file(&link).map_err(file("removing", &link))?;
    }
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent).map_err(file("making", parent))?;
    }
    relink(&Path::new("../../../src").join(&name), &link).map_err(file("linking", &link))
}

#[cfg(unix)]
fn relink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn relink(_target: &Path, _link: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "these packages are for Linux only"))
}

/// Gives a whole folder its right name. Whoever else was faster has made the same.
fn publish(whole: &Path, root: &Path) -> Result<Unpacked, UnpackFault> {
    if let Err(source) = fs::rename(whole, root) {
        if let Ok(found) = Unpacked::open(root) {
            return Ok(found);
        }
        // Not made here: somebody took files away. A folder that is not whole is of no use.
        fs::remove_dir_all(root).map_err(file("removing", root))?;
        fs::rename(whole, root).map_err(|_| file("naming", root)(source))?;
    }
    Unpacked::open(root)
}

/// The folder of shared libraries: its name carries the machine's kind.
fn libraries(lib: &Path) -> Option<PathBuf> {
    let folders = lib.read_dir().ok()?.flatten().map(|entry| entry.path());
    folders.filter(|path| path.to_string_lossy().ends_with("-linux-gnu")).find(|path| {
        let Ok(mut entries) = path.read_dir() else { return false };
        entries
            .any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("librustc_driver-")))
    })
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> UnpackFault {
    let path = path.to_owned();
    move |source| UnpackFault::File { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(root: &Path) {
        for path in ["usr/bin/rustc", "usr/lib/llvm-22/bin/wasm-ld", "usr/lib/x86_64-linux-gnu/librustc_driver-1.so"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn a_tree_without_its_linker_is_not_whole() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_unpacked(folder.path()));
        tree(folder.path());
        let found = Unpacked::open(folder.path()).unwrap();
        assert_eq!(found.libraries, folder.path().join("usr/lib/x86_64-linux-gnu"));
        fs::remove_file(found.linker()).unwrap();
        let fault = Unpacked::open(folder.path()).unwrap_err();
        assert!(fault.to_string().contains("wasm-ld"), "{fault}");
    }

    #[test]
    fn publishing_replaces_a_broken_folder_and_keeps_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, root) = (folder.path().join("whole"), folder.path().join("root"));
        tree(&whole);
        fs::create_dir_all(root.join("usr")).unwrap();
        publish(&whole, &root).unwrap();
        assert!(!whole.exists());

        fs::write(root.join("mark"), "").unwrap();
        tree(&whole);
        publish(&whole, &root).unwrap();
        assert!(root.join("mark").exists(), "a whole folder is left as it is");
    }
}
