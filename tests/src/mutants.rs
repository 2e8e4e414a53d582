//! Mutants of our own verifiers, all of them in one build: a copy of the sources in which every mutant
//! is a branch, taken where the settings name its number (mutant schemata: R. H. Untch, A. J. Offutt,
//! M. J. Harrold, "Mutation analysis using mutant schemata", ISSTA 1993).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tribunal_component::{BuildPlan, Toolchain, ToolchainOptions, build_guests};

use crate::tool::{root, target};

/// One mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Its number, from 1, as the settings name it.
    pub number: usize,
    /// What it does.
    pub name: String,
    /// The verifiers that it is tried in: `result`, `state`, `clarify`.
    pub of: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    mutant: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    names: Vec<String>,
    of: Vec<String>,
    edit: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    file: String,
    text: String,
    to: String,
}

/// Members of the copied workspace. The guests that are no mutants stand among them, so that one
/// target folder, with one standard library, serves all guests of trials.
const MEMBERS: [&str; 7] = [
    "plugins/kit",
    "plugins/compare",
    "plugins/verifier-result",
    "plugins/verifier-state",
    "plugins/verifier-clarify",
    "tests/guests/published",
    "tests/guests/published/replays",
];

/// What the copied comparator gets besides: the number that the settings name.
const SWITCH: &str = r#"
/// Which mutant is on.
pub mod mutant {
    use std::sync::atomic::{AtomicU32, Ordering};

    static ON: AtomicU32 = AtomicU32::new(0);

    /// Takes the number out of settings such as `{"mutant": 7}`.
    pub fn set(settings: &str) {
        let digits: String = settings.chars().filter(char::is_ascii_digit).collect();
        ON.store(digits.parse().unwrap_or(0), Ordering::Relaxed);
    }

    /// Whether a mutant is on.
    pub fn on(number: u32) -> bool {
        ON.load(Ordering::Relaxed) == number
    }
}
"#;

/// The list of mutants.
///
/// # Errors
/// The file is not there or not what it should be.
pub fn list() -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for entry in read()?.mutant {
        for name in entry.names {
            mutants.push(Mutant { number: mutants.len() + 1, name, of: entry.of.clone() });
        }
    }
    Ok(mutants)
}

fn read() -> Result<File> {
    let path = root().join("tests/guests/mutants.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    toml::from_str(&text).with_context(|| path.display().to_string())
}

/// The files of the copy, by path below its root.
type Files = BTreeMap<PathBuf, String>;

/// Builds the verifiers with all mutants in them, and the published comparators beside them; gives the
/// components by package.
///
/// # Errors
/// A text that a mutant changes does not stand exactly once in its file, or the copy does not build.
pub fn build() -> Result<BTreeMap<String, PathBuf>> {
    let mut files = Files::new();
    for member in MEMBERS {
        package(&mut files, Path::new(member))?;
    }
    folder(&mut files, Path::new("wit"))?;
    files.insert("Cargo.toml".into(), workspace()?);
    files.insert("Cargo.lock".into(), fs::read_to_string(root().join("Cargo.lock"))?);
    mutate(&mut files)?;
    let comparator = files.entry("plugins/compare/src/lib.rs".into()).or_default();
    comparator.push_str(SWITCH);
    for verifier in ["result", "state", "clarify"] {
        switch_on(files.entry(format!("plugins/verifier-{verifier}/src/lib.rs").into()).or_default())?;
    }
    let copy = target().join("trial");
    for (path, text) in files {
        write(&copy.join(path), &text)?;
    }
    built(copy)
}

fn built(manifest_dir: PathBuf) -> Result<BTreeMap<String, PathBuf>> {
    let options = ToolchainOptions { folder: target().join("guest-toolchain"), directory: root(), allow_rustup: true };
    let mut quiet = |_| ();
    let toolchain = Toolchain::find(&options, &mut quiet).context("a compiler for guests")?;
    let (out_dir, target_dir) = (target().join("trial-guests"), target().join("guest-trial"));
    let plan = BuildPlan { manifest_dir, packages: Vec::new(), out_dir, target_dir };
    let built = build_guests(&toolchain, &plan, &mut quiet)?;
    Ok(built.into_iter().map(|built| (built.package, built.path)).collect())
}

/// Puts every mutant into its place.
fn mutate(files: &mut Files) -> Result<()> {
    let mut number = 0;
    for entry in read()?.mutant {
        for edit in entry.edit {
            let path = Path::new("plugins").join(&edit.file);
            let source = files.entry(path).or_default();
            if source.matches(&edit.text).count() != 1 {
                bail!("mutant `{}`: its text must stand exactly once in {}", entry.names.join(", "), edit.file);
            }
            let of = if edit.file.starts_with("compare/") { "crate" } else { "tribunal_compare" };
            let mut to = edit.to.clone();
            for place in (1..=entry.names.len()).rev() {
                to = to.replace(&format!("ON{place}"), &format!("{of}::mutant::on({})", number + place));
            }
            *source = source.replacen(&edit.text, &to, 1);
        }
        number += entry.names.len();
    }
    Ok(())
}

/// Lets a verifier read its settings first.
fn switch_on(source: &mut String) -> Result<()> {
    let start = source.find("fn verify<H: Host>(").context("a verifier without `verify`")?;
    let rest = source.split_off(start).replacen("_host: &H", "host: &H", 1);
    let first = "-> Verdict {\n        tribunal_compare::mutant::set(&host.settings());";
    source.push_str(&rest.replacen("-> Verdict {", first, 1));
    Ok(())
}

/// The root's manifest with the copied members alone.
fn workspace() -> Result<String> {
    let text = fs::read_to_string(root().join("Cargo.toml"))?;
    let mut manifest: toml::Table = toml::from_str(&text)?;
    let members = MEMBERS.iter().map(|member| toml::Value::String((*member).to_owned())).collect();
    if let Some(workspace) = manifest.get_mut("workspace").and_then(toml::Value::as_table_mut) {
        workspace.insert("members".to_owned(), toml::Value::Array(members));
        for part in ["default-members", "exclude", "lints"] {
            workspace.remove(part);
        }
    }
    if let Some(profiles) = manifest.get_mut("profile").and_then(toml::Value::as_table_mut) {
        profiles.retain(|name, _| name == "guest");
    }
    Ok(toml::to_string(&manifest)?)
}

/// A package without its tests and what only they need.
fn package(files: &mut Files, below: &Path) -> Result<()> {
    let manifest = fs::read_to_string(root().join(below).join("Cargo.toml"))?;
    let mut manifest: toml::Table = toml::from_str(&manifest)?;
    for part in ["dev-dependencies", "lints", "workspace", "profile"] {
        manifest.remove(part);
    }
    files.insert(below.join("Cargo.toml"), toml::to_string(&manifest)?);
    folder(files, &below.join("src"))
}

fn folder(files: &mut Files, below: &Path) -> Result<()> {
    let path = root().join(below);
    for entry in fs::read_dir(&path).with_context(|| path.display().to_string())? {
        let entry = entry?;
        let inner = below.join(entry.file_name());
        if entry.path().is_dir() {
            folder(files, &inner)?;
        } else {
            files.insert(inner, fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Writes a file only where that changes it, so that cargo builds nothing twice.
fn write(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).ok().as_deref() == Some(text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}
