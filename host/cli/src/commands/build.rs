//! `tribunal build`: plugin crates into components.

use anyhow::{Result, bail};
use tribunal_component::event::Event;
use tribunal_component::{BuildPlan, Project, Toolchain, ToolchainOptions, build_guests, build_script};

use crate::args::BuildArguments;
use crate::output;

/// Runs the command.
pub fn run(arguments: &BuildArguments) -> Result<bool> {
    let mut tell = |event: Event| match &event {
        Event::Cargo(line) if line.trim().is_empty() => {}
        _ => output::note(&event.to_string()),
    };
    if let Some(project) = script(arguments)? {
        build_script(&project, &arguments.toolchains, &arguments.out, &mut tell)?;
        return Ok(true);
    }
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

/// The plugin in Python or JavaScript that lies in the folder, unless a crate does.
fn script(arguments: &BuildArguments) -> Result<Option<Project>> {
    if arguments.manifest.join("Cargo.toml").exists() {
        return Ok(None);
    }
    let project = Project::find(&arguments.manifest)?;
    let other = |project: &&Project| arguments.packages.iter().any(|asked| *asked != project.name);
    if let Some(project) = project.as_ref().filter(other) {
        bail!("{}: it holds the plugin {} and no other", arguments.manifest.display(), project.name);
    }
    Ok(project)
}

/// Whether rustup may fetch what is missing: unless the environment says no, as for rustup itself.
#[expect(clippy::disallowed_methods, reason = "the cli reads the environment")]
fn may_install() -> bool {
    std::env::var("RUSTUP_AUTO_INSTALL").map_or(true, |value| value != "0")
}
