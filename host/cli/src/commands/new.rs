//! `tribunal new`: a small plugin that works, as a place to begin.

use std::path::PathBuf;

use anyhow::Result;
use tribunal_protocol::plugin::PluginKind;

use crate::args::{Kind, NewArguments};
use crate::{output, scaffold};

/// Runs the command.
pub fn run(arguments: &NewArguments) -> Result<bool> {
    let kind = match arguments.kind {
        Kind::Tool => PluginKind::Tool,
        Kind::Verifier => PluginKind::Verifier,
        Kind::User => PluginKind::User,
    };
    let files = scaffold::files(arguments.language, kind, &arguments.name)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from(&arguments.name));
    scaffold::write(&folder, &files)?;
    let at = folder.display();
    output::line(&format!("{at}: a {kind} that works; README.md there says what to do with it"));
    output::line(&format!("next: cd {at} && tribunal build"));
    Ok(true)
}
