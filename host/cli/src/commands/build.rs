//! `tribunal build`: plugin crates into components.

use anyhow::Result;
use tribunal_component::event::Event;
use tribunal_component::{BuildPlan, Toolchain, ToolchainOptions, build_guests};

use crate::args::BuildArguments;
use crate::output;

/// Runs the command.
pub fn run(arguments: &BuildArguments) -> Result<bool> {
    let mut tell = |event: Event| match &event {
        Event::Cargo(line) if line.trim().is_empty() => {}
        _ => output::note(&event.to_string()),
    };
    let options = ToolchainOptions {
        folder: arguments.toolchain.clone(),
        directory: arguments.manifest.clone(),
        allow_rustup: may_install(),
    };
    let toolchain = Toolchain::find(&options, &mut tell)?;
    let plan = BuildPlan {
        manifest_dir: arguments.manifest.clone(),
        packages: arguments.packages.clone(),
        out_dir: arguments.out.clone(),
        target_dir: arguments.guests.clone(),
    };
    build_guests(&toolchain, &plan, &mut tell)?;
    Ok(true)
}

/// Whether rustup may fetch what is missing: unless the environment says no, as for rustup itself.
#[expect(clippy::disallowed_methods, reason = "the cli reads the environment")]
fn may_install() -> bool {
    std::env::var("RUSTUP_AUTO_INSTALL").map_or(true, |value| value != "0")
}
