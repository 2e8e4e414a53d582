//! What a build tells whoever waits for it.

use std::fmt;
use std::path::PathBuf;

use crate::toolchain::Way;

/// One step of a build, worth a line to a waiting person. `Display` gives that line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A way to a compiler is being tried; it may take minutes.
    Trying(Way),
    /// A way led nowhere, and why; the next one follows.
    Skipped {
        /// The way that was tried.
        way: Way,
        /// Why it gave no compiler.
        reason: String,
    },
    /// Packages of the distribution are being fetched or unpacked.
    Preparing(String),
    /// A line that cargo wrote while it works.
    Cargo(String),
    /// A core module became a component of the plugin interface.
    Built {
        /// The cargo package.
        package: String,
        /// Where the component lies.
        path: PathBuf,
        /// How large it is.
        bytes: usize,
        /// Whether the file differs from the one that lay there before.
        changed: bool,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trying(way) => write!(out, "looking for a compiler: {way}"),
            Self::Skipped { way, reason } => write!(out, "no compiler from {way}: {reason}"),
            Self::Preparing(what) => out.write_str(what),
            Self::Cargo(line) => out.write_str(line.trim()),
            Self::Built { package, path, bytes, changed } => {
                let state = if *changed { "written" } else { "unchanged" };
                write!(out, "{package}: {} ({bytes} bytes, {state})", path.display())
            }
        }
    }
}
