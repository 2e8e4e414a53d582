//! New plugin crates from templates: the text of every file, and writing them all or none.

mod kit;
mod script;

use std::path::Path;

use anyhow::{Context, Result, bail};
use tribunal_protocol::plugin::PluginKind;

use crate::args::Language;

/// What the kit and its comparator depend on.
const KIT_DEPENDENCIES: [&str; 5] = ["caseless", "serde", "serde_json", "unicode-normalization", "wit-bindgen"];
/// The longest name of a plugin.
const NAME_BYTES: usize = 64;
/// Words that cargo takes for something else, or that would make a file of this name confusing.
const TAKEN: [&str; 6] = ["core", "kit", "std", "test", "tribunal", "tribunal-kit"];

/// The parts of a template that differ from kind to kind.
struct Template {
    source: &'static str,
    call: &'static str,
    grant: Option<&'static str>,
    /// Lines of `[dependencies]`.
    own: &'static str,
    /// Other dependencies, pinned as in the kit.
    pinned: &'static [&'static str],
}

fn template(kind: PluginKind) -> Template {
    match kind {
        PluginKind::Tool => Template {
            source: include_str!("../../templates/tool.rs"),
            call: include_str!("../../templates/call-tool.json"),
            grant: Some(include_str!("../../templates/grant-tool.toml")),
            own: "tribunal-kit = { path = \"tribunal/plugins/kit\" }\n",
            pinned: &["serde"],
        },
        PluginKind::Verifier => Template {
            source: include_str!("../../templates/verifier.rs"),
            call: include_str!("../../templates/call-verifier.json"),
            grant: Some(include_str!("../../templates/grant-verifier.toml")),
            own: "tribunal-kit = { path = \"tribunal/plugins/kit\", features = [\"compare\"] }\n\
                  tribunal-compare = { path = \"tribunal/plugins/compare\" }\n",
            pinned: &[],
        },
        PluginKind::User => Template {
            source: include_str!("../../templates/user.rs"),
            call: include_str!("../../templates/call-user.json"),
            grant: None,
            own: "tribunal-kit = { path = \"tribunal/plugins/kit\" }\n",
            pinned: &["serde", "serde_json"],
        },
    }
}

/// Every file of a new plugin, by its path in the plugin's folder.
///
/// # Errors
/// The name is none that a cargo package can have.
pub fn files(language: Language, kind: PluginKind, name: &str) -> Result<Vec<(String, String)>> {
    check_name(name)?;
    match language {
        Language::Rust => rust_files(kind, name),
        Language::Python => script::python(kind, name),
        Language::Javascript => script::javascript(kind, name),
    }
}

fn rust_files(kind: PluginKind, name: &str) -> Result<Vec<(String, String)>> {
    let Template { source, call, grant, own, pinned } = template(kind);
    let dependencies = format!("{own}{}", pins(pinned)?);
    let manifest =
        filled(include_str!("../../templates/Cargo.toml.txt"), &[("name", name), ("dependencies", &dependencies)]);
    let kit = filled(
        include_str!("../../templates/kit.toml.txt"),
        &[("version", env!("CARGO_PKG_VERSION")), ("dependencies", &pins(&KIT_DEPENDENCIES)?)],
    );
    let mut files: Vec<(String, String)> = vec![
        ("Cargo.toml".to_owned(), manifest),
        ("README.md".to_owned(), readme(kind, name, grant.is_some())),
        (".gitignore".to_owned(), "target/\n".to_owned()),
        ("src/lib.rs".to_owned(), source.to_owned()),
        ("call.json".to_owned(), call.to_owned()),
        ("tribunal/Cargo.toml".to_owned(), kit),
    ];
    files.extend(grant.map(|grant| ("grant.toml".to_owned(), grant.to_owned())));
    files.extend(kit::FILES.iter().map(|(path, text)| {
        let text =
            if path.ends_with("Cargo.toml") { format!("{}\n", kit::without_tests(text)) } else { (*text).to_owned() };
        (format!("tribunal/{path}"), text)
    }));
    Ok(files)
}

fn readme(kind: PluginKind, name: &str, has_grant: bool) -> String {
    let values = readme_values(kind, name, has_grant);
    let values: Vec<(&str, &str)> = values.iter().map(|(key, value)| (*key, value.as_str())).collect();
    filled(include_str!("../../templates/README.md.txt"), &values)
}

/// What a README has for its places, whatever the language.
fn readme_values(kind: PluginKind, name: &str, has_grant: bool) -> Vec<(&'static str, String)> {
    let with = if has_grant { " --contract grant.toml" } else { "" };
    let schema = if kind == PluginKind::User { String::new() } else { " --schema billing-v1".to_owned() };
    let check = match kind {
        PluginKind::User => String::new(),
        _ => format!("tribunal check target/plugins/{name}.wasm{with}{schema}\n"),
    };
    let data = if kind == PluginKind::Tool { format!("{with}{schema}") } else { String::new() };
    let grant = if has_grant { ", `grant.toml` what a task might grant" } else { "" };
    vec![
        ("name", name.to_owned()),
        ("kind", kind.to_string()),
        ("check", check),
        ("data", data),
        ("grant", grant.to_owned()),
    ]
}

/// Lines that pin dependencies as this program's own workspace does.
fn pins(dependencies: &[&str]) -> Result<String> {
    let line = |name: &&str| {
        let line = kit::pinned(name).with_context(|| format!("{name}: no version is known; a fault of tribunal"))?;
        Ok(format!("{line}\n"))
    };
    dependencies.iter().map(line).collect()
}

fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let fill = |text: String, (key, value): &(&str, &str)| text.replace(&format!("{{{{{key}}}}}"), value);
    values.iter().fold(template.to_owned(), fill)
}

/// A name serves as a cargo package, a file and the name that the plugin gives itself.
fn check_name(name: &str) -> Result<()> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let fits = name.len() <= NAME_BYTES
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('-').all(is_word);
    if !fits {
        bail!("{name:?}: a name is lower-case words joined by `-`, at most {NAME_BYTES} bytes: verifier-totals");
    }
    if TAKEN.contains(&name) || name.starts_with("tribunal-") {
        bail!("{name:?}: that name is taken; give the plugin one of its own, such as verifier-totals");
    }
    Ok(())
}

/// Writes files into a folder that does not exist yet, or is empty: all of them, or nothing.
///
/// # Errors
/// The folder holds something, or cannot be written.
pub fn write(folder: &Path, files: &[(String, String)]) -> Result<()> {
    let is_empty = |folder: &Path| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.symlink_metadata().is_ok() && !is_empty(folder) {
        bail!("{}: is there already and is left as it is; name another folder with --out", folder.display());
    }
    let cannot = |path: &Path| format!("cannot write {}", path.display());
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).with_context(|| cannot(parent))?;
    // Written aside and moved into place: nobody finds half a plugin.
    let staged = tempfile::Builder::new().prefix(".new-plugin-").tempdir_in(parent).with_context(|| cannot(parent))?;
    let root = staged.path().join("plugin");
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&root)).with_context(|| cannot(&path))?;
        std::fs::write(&path, text).with_context(|| cannot(&path))?;
    }
    std::fs::rename(&root, folder).with_context(|| cannot(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [PluginKind; 3] = [PluginKind::Tool, PluginKind::Verifier, PluginKind::User];

    #[test]
    fn nothing_is_left_to_fill_in() {
        for kind in KINDS {
            let files = files(Language::Rust, kind, "my-plugin").unwrap();
            for (path, text) in files.iter().filter(|(path, _)| !path.starts_with("tribunal/")) {
                assert!(!text.contains("{{name}}") && !text.contains("{{dep"), "{path}: {text}");
            }
            let readme = &files.iter().find(|(path, _)| path == "README.md").unwrap().1;
            assert!(readme.lines().count() <= 12 && readme.contains("my-plugin"), "{readme}");
            let own: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
            for path in ["Cargo.toml", "src/lib.rs", "call.json", "tribunal/wit/1.0.0/plugin.wit"] {
                assert!(own.contains(&path), "{path}");
            }
            assert_eq!(own.contains(&"grant.toml"), kind != PluginKind::User, "a user has no session");
        }
    }

    #[test]
    fn a_name_must_serve_as_a_package() {
        for good in ["a", "verifier-totals", "tool-v2"] {
            check_name(good).unwrap();
        }
        let long = "x".repeat(65);
        for bad in
            ["", "-a", "a-", "a--b", "Tool", "my_tool", "2nd", "a b", "../a", "é", &long, "tribunal", "tribunal-x"]
        {
            let why = check_name(bad).unwrap_err().to_string();
            assert!(why.contains("verifier-totals"), "{bad}: {why}");
        }
    }

    #[test]
    fn what_is_there_is_never_touched() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("a/b.txt".to_owned(), "new".to_owned())];
        let at = folder.path().join("deep/plugin");
        write(&at, &files).unwrap();
        assert_eq!(std::fs::read_to_string(at.join("a/b.txt")).unwrap(), "new");
        let again = write(&at, &[("a/b.txt".to_owned(), "newer".to_owned())]).unwrap_err().to_string();
        assert!(again.contains("is left as it is"), "{again}");
        assert_eq!(std::fs::read_to_string(at.join("a/b.txt")).unwrap(), "new");
        let file = folder.path().join("file");
        std::fs::write(&file, "mine").unwrap();
        assert!(write(&file, &files).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        // An empty folder is free, and nothing half-made stays beside it.
        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        write(&empty, &files).unwrap();
        let names = folder.path().read_dir().unwrap().count();
        assert_eq!(names, 3, "deep, file and empty");
    }
}
