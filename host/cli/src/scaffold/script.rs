//! New plugins in Python and JavaScript from templates.

use anyhow::Result;
use tribunal_protocol::plugin::PluginKind;

use super::{filled, template};

/// Files by their path from the kit of a language.
macro_rules! kit {
    ($folder:literal, $($name:literal),+ $(,)?) => {
        &[$((concat!("tribunal/", $name),
            include_str!(concat!("../../../../plugins/kit/", $folder, "/tribunal/", $name)))),+]
    };
}

const PYTHON_KIT: &[(&str, &str)] = kit!("python", "__init__.py", "bridge.py");
const JAVASCRIPT_KIT: &[(&str, &str)] = kit!("javascript", "bridge.js", "console.js", "kit.js", "values.js");

/// What differs between the two languages, for one kind.
struct Script {
    language: &'static str,
    /// The plugin, its test, and what the language's own tools read.
    files: [(&'static str, &'static str); 3],
    kit: &'static [(&'static str, &'static str)],
    test: &'static str,
    ignored: &'static str,
    /// The processor seconds that compiling may take, where the usual ones are too few.
    seconds: Option<u64>,
}

/// A new plugin in Python.
pub fn python(kind: PluginKind, name: &str) -> Result<Vec<(String, String)>> {
    let (source, test) = match kind {
        PluginKind::Tool => {
            (include_str!("../../templates/python/tool.py"), include_str!("../../templates/python/test_tool.py"))
        }
        PluginKind::Verifier => (
            include_str!("../../templates/python/verifier.py"),
            include_str!("../../templates/python/test_verifier.py"),
        ),
        PluginKind::User => {
            (include_str!("../../templates/python/user.py"), include_str!("../../templates/python/test_user.py"))
        }
    };
    let manifest = include_str!("../../templates/python/pyproject.toml.txt");
    let script = Script {
        language: "Python",
        files: [("plugin.py", source), ("test_plugin.py", test), ("pyproject.toml", manifest)],
        kit: PYTHON_KIT,
        test: "python3 -m unittest                             # its logic, natively",
        ignored: "target/\n__pycache__/\n",
        seconds: Some(120),
    };
    Ok(files(kind, name, &script))
}

/// A new plugin in JavaScript.
pub fn javascript(kind: PluginKind, name: &str) -> Result<Vec<(String, String)>> {
    let (source, test) = match kind {
        PluginKind::Tool => (
            include_str!("../../templates/javascript/tool.js"),
            include_str!("../../templates/javascript/tool.test.js"),
        ),
        PluginKind::Verifier => (
            include_str!("../../templates/javascript/verifier.js"),
            include_str!("../../templates/javascript/verifier.test.js"),
        ),
        PluginKind::User => (
            include_str!("../../templates/javascript/user.js"),
            include_str!("../../templates/javascript/user.test.js"),
        ),
    };
    let manifest = include_str!("../../templates/javascript/package.json.txt");
    let script = Script {
        language: "JavaScript",
        files: [("plugin.js", source), ("plugin.test.js", test), ("package.json", manifest)],
        kit: JAVASCRIPT_KIT,
        test: "npm test                                        # its logic, natively",
        ignored: "target/\nnode_modules/\n",
        seconds: None,
    };
    Ok(files(kind, name, &script))
}

fn files(kind: PluginKind, name: &str, script: &Script) -> Vec<(String, String)> {
    let template = template(kind);
    let call = match kind {
        PluginKind::Verifier => include_str!("../../templates/call-script-verifier.json"),
        _ => template.call,
    };
    let kind_name = kind.to_string();
    let fill = |text: &str| filled(text, &[("name", name), ("kind", &kind_name)]);
    let mut files: Vec<(String, String)> =
        script.files.iter().map(|(path, text)| ((*path).to_owned(), fill(text))).collect();
    files.push(("README.md".to_owned(), readme(kind, name, script, template.grant.is_some())));
    files.push((".gitignore".to_owned(), script.ignored.to_owned()));
    files.push(("call.json".to_owned(), call.to_owned()));
    files.extend(template.grant.map(|grant| ("grant.toml".to_owned(), grant.to_owned())));
    files.extend(script.kit.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    files
}

fn readme(kind: PluginKind, name: &str, script: &Script, has_grant: bool) -> String {
    let mut values = super::readme_values(kind, name, has_grant);
    let seconds = script.seconds.map_or(String::new(), |seconds| format!(" TRIBUNAL_COMPILE_SECONDS={seconds}"));
    let suite = script.seconds.map_or(String::new(), |seconds| format!("\ncompile_seconds = {seconds}"));
    values.extend([
        ("language", script.language.to_owned()),
        ("source", script.files[0].0.to_owned()),
        ("test", script.test.to_owned()),
        ("seconds", seconds),
        ("suite", suite),
    ]);
    let values: Vec<(&str, &str)> = values.iter().map(|(key, value)| (*key, value.as_str())).collect();
    filled(include_str!("../../templates/script-README.md.txt"), &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_kits_are_carried_whole() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/kit");
        for (folder, kit) in [("python", PYTHON_KIT), ("javascript", JAVASCRIPT_KIT)] {
            let there = std::fs::read_dir(root.join(folder).join("tribunal")).unwrap();
            let there = there.map(|entry| format!("tribunal/{}", entry.unwrap().file_name().to_string_lossy()));
            let there: BTreeSet<String> = there.filter(|name| !name.contains("__pycache__")).collect();
            assert_eq!(there, kit.iter().map(|(path, _)| (*path).to_owned()).collect());
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for kind in [PluginKind::Tool, PluginKind::Verifier, PluginKind::User] {
            for files in [python(kind, "my-plugin").unwrap(), javascript(kind, "my-plugin").unwrap()] {
                for (path, text) in files.iter().filter(|(path, _)| !path.starts_with("tribunal/")) {
                    let left = ["{{name}}", "{{kind}}", "{{test}}", "{{data}}", "{{check}}", "{{grant}}", "{{suite}}"];
                    assert!(!left.iter().any(|word| text.contains(word)), "{path}: {text}");
                }
                assert_eq!(files.iter().any(|(path, _)| path == "grant.toml"), kind != PluginKind::User);
            }
        }
    }
}
