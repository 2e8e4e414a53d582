//! What a plugin in another language says of itself for the build: `[tool.tribunal]` of a
//! pyproject.toml, or `tribunal` of a package.json.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tribunal_protocol::plugin::PluginKind;

use super::ScriptFault;

/// A language other than Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python, through componentize-py.
    Python,
    /// JavaScript, through componentize-qjs.
    Javascript,
}

impl fmt::Display for Language {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Python => "Python",
            Self::Javascript => "JavaScript",
        })
    }
}

/// A plugin that can be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder.
    pub folder: PathBuf,
    /// Its language.
    pub language: Language,
    /// Its name, and that of its component.
    pub name: String,
    /// What it is.
    pub kind: PluginKind,
    /// Its own source file, from its folder.
    pub source: String,
}

/// The part that is ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Own {
    kind: PluginKind,
    source: String,
}

#[derive(Deserialize)]
struct Pyproject {
    project: Option<Named>,
    tool: Option<PyprojectTool>,
}

#[derive(Deserialize)]
struct PyprojectTool {
    tribunal: Option<Own>,
}

#[derive(Deserialize)]
struct Package {
    name: Option<String>,
    tribunal: Option<Own>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Project {
    /// The plugin of a folder; none where neither file speaks of one.
    ///
    /// # Errors
    /// A file speaks of one, and wrongly.
    pub fn find(folder: &Path) -> Result<Option<Project>, ScriptFault> {
        let python = folder.join("pyproject.toml");
        if let Ok(text) = std::fs::read_to_string(&python) {
            let read = toml::from_str::<Pyproject>(&text);
            let read = read.map_err(|fault| wrong(&python, fault.message()))?;
            if let Some(own) = read.tool.and_then(|tool| tool.tribunal) {
                let name = read.project.map(|project| project.name);
                return Project::checked(folder, &python, Language::Python, name, own).map(Some);
            }
        }
        let javascript = folder.join("package.json");
        if let Ok(text) = std::fs::read_to_string(&javascript) {
            let read = serde_json::from_str::<Package>(&text);
            let read = read.map_err(|fault| wrong(&javascript, &fault.to_string()))?;
            if let Some(own) = read.tribunal {
                return Project::checked(folder, &javascript, Language::Javascript, read.name, own).map(Some);
            }
        }
        Ok(None)
    }

    fn checked(
        folder: &Path,
        at: &Path,
        language: Language,
        name: Option<String>,
        own: Own,
    ) -> Result<Project, ScriptFault> {
        let name = name.ok_or_else(|| wrong(at, "it has no `name`; the component is named after it"))?;
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(wrong(at, &format!("name `{name}`: lower-case words joined by `-` expected")));
        }
        let ending = if language == Language::Python { ".py" } else { ".js" };
        let module = own.source.strip_suffix(ending).unwrap_or_default();
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if module.is_empty() || !module.bytes().all(is_word) {
            let what = format!("source `{}`: a file of this folder such as `plugin{ending}` expected", own.source);
            return Err(wrong(at, &what));
        }
        if !folder.join(&own.source).is_file() {
            return Err(wrong(at, &format!("source `{}`: no such file", own.source)));
        }
        if !folder.join("tribunal").is_dir() {
            return Err(wrong(at, "no folder `tribunal` with the kit beside it; `tribunal new` makes one to copy"));
        }
        Ok(Project { folder: folder.to_owned(), language, name, kind: own.kind, source: own.source })
    }
}

fn wrong(path: &Path, reason: &str) -> ScriptFault {
    ScriptFault::Project { path: path.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Result<Option<Project>, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tribunal")).unwrap();
        for file in ["plugin.py", "plugin.js"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        std::fs::write(folder.path().join(name), text).unwrap();
        Project::find(folder.path()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_plugin_is_found_by_what_its_own_ecosystem_reads() {
        let python = "[project]\nname = \"tool-a\"\n[tool.tribunal]\nkind = \"tool\"\nsource = \"plugin.py\"\n";
        let project = found("pyproject.toml", python).unwrap().unwrap();
        assert_eq!((project.name.as_str(), project.language), ("tool-a", Language::Python));
        let javascript = r#"{"name": "user-b", "tribunal": {"kind": "user", "source": "plugin.js"}}"#;
        let project = found("package.json", javascript).unwrap().unwrap();
        assert_eq!((project.kind, project.language), (PluginKind::User, Language::Javascript));
        // The twins: files that speak of something else.
        assert_eq!(found("pyproject.toml", "[project]\nname = \"x\"\n").unwrap(), None);
        assert_eq!(found("package.json", "{\"name\": \"x\"}").unwrap(), None);
        assert_eq!(found("README.md", "").unwrap(), None);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file() {
        let package =
            |own: &str| found("package.json", &format!("{{\"name\": \"a\", \"tribunal\": {own}}}")).unwrap_err();
        assert!(
            package(r#"{"kind": "judge", "source": "plugin.js"}"#).contains("package.json: unknown variant `judge`")
        );
        assert!(package(r#"{"kind": "tool", "source": "../plugin.js"}"#).contains("a file of this folder"));
        assert!(package(r#"{"kind": "tool", "source": "other.js"}"#).contains("source `other.js`: no such file"));
        assert!(package(r#"{"kind": "tool"}"#).contains("missing field `source`"));
        let unnamed = "[tool.tribunal]\nkind = \"tool\"\nsource = \"plugin.py\"\n";
        assert!(found("pyproject.toml", unnamed).unwrap_err().contains("no `name`"));
    }
}
