//! Keys: `tribunal keygen`, and where signing and public keys come from.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tribunal_seal::{HostKey, PublicKey, SigningKey};

use crate::args::KeygenArguments;
use crate::output;

/// The variable that holds a signing key, for machines that have no place for a secret file.
const VARIABLE: &str = "TRIBUNAL_SIGNING_KEY";

#[derive(Serialize)]
struct Made {
    key: PathBuf,
    public_key: PathBuf,
    keyid: String,
}

/// Runs `tribunal keygen`.
pub fn run(arguments: &KeygenArguments) -> Result<bool> {
    let path = &arguments.file;
    let mut name = path.clone().into_os_string();
    name.push(".pub");
    let public_path = PathBuf::from(name);
    for path in [path, &public_path] {
        // A link to nowhere counts: it would be followed.
        if std::fs::symlink_metadata(path).is_ok() {
            bail!("{}: there already, and a key is never overwritten; name another file", path.display());
        }
    }
    let (secret, public, keyid) = pair(arguments.host)?;
    write_new(path, secret.as_bytes(), 0o600)?;
    write_new(&public_path, public.as_bytes(), 0o644)?;
    let made = Made { key: path.clone(), public_key: public_path, keyid };
    if arguments.json {
        output::json(&made)?;
    } else {
        let whose = if arguments.host { "encrypts for this host" } else { "checks your seals" };
        output::line(&format!("secret key  {} (keep it to yourself)", made.key.display()));
        output::line(&format!("public key  {} (give it to whoever {whose})", made.public_key.display()));
        output::line(&format!("keyid       {}", made.keyid));
    }
    Ok(true)
}

/// A new secret key, its public key, and their identity.
fn pair(host: bool) -> Result<(String, String, String)> {
    if host {
        let key = HostKey::generate()?;
        let recipient = key.recipient()?.to_string();
        return Ok((key.to_text()?, format!("{recipient}\n"), recipient));
    }
    let key = SigningKey::generate()?;
    Ok((key.to_pem(), key.public().to_pem(), key.public().id()))
}

/// Writes a file that is not there yet; one that could not be written whole is taken away.
fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let advice = || format!("cannot write {}; does its folder exist, and may you write there?", path.display());
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path).with_context(advice)?;
    if let Err(why) = file.write_all(bytes).and_then(|()| file.sync_all()) {
        let _ = std::fs::remove_file(path);
        return Err(why).with_context(advice);
    }
    Ok(())
}

/// The signing key: of the file, or else of the environment.
pub fn signing(file: Option<&Path>) -> Result<SigningKey> {
    if let Some(path) = file {
        return SigningKey::from_pem(&read(path)?).with_context(|| path.display().to_string());
    }
    #[expect(clippy::disallowed_methods, reason = "the cli reads the environment")]
    match std::env::var(VARIABLE) {
        Ok(text) => SigningKey::from_pem(&text).with_context(|| format!("the variable {VARIABLE}")),
        Err(_) => bail!(
            "no signing key: name its file with --key, or put the key itself into the variable {VARIABLE}; \
             `tribunal keygen FILE` makes one"
        ),
    }
}

/// The public key of a file.
pub fn public(path: &Path) -> Result<PublicKey> {
    PublicKey::from_pem(&read(path)?).with_context(|| path.display().to_string())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
