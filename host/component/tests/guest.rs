//! The whole way from a crate to a checked component, with a real compiler. It may fetch a
//! compiler and builds the standard library twice, so it takes minutes and is asked for by name.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as the test does")]

use std::fs;
use std::path::Path;

use tribunal_component::toolchain::{Toolchain, ToolchainOptions};
use tribunal_component::{BuildPlan, BuiltComponent, WIT, build_guests};

const WORKSPACE: &str = r#"
[workspace]
resolver = "3"
members = ["tool-one", "verifier-two"]
[profile.guest]
inherits = "release"
opt-level = "s"
lto = true
codegen-units = 1
panic = "abort"
strip = true
"#;

const TOOL: &str = r#"
wit_bindgen::generate!({ path: "../wit", world: "tool" });
use tribunal::plugin::{database, log, output};
struct Plugin;
impl Guest for Plugin {
    fn describe() -> Description {
        Description { name: "one".into(), version: "1.0.0".into(), tools: vec![], contract: String::new() }
    }
    fn call(name: String, arguments: String) -> Result<output::Output, Failure> {
        // A panic with its place: the way by which a machine's paths reach a module.
        std::panic::set_hook(Box::new(|info| log::write(&info.to_string())));
        let at: usize = arguments.parse().expect("a number");
        log::write(&name[at..]);
        let table = database::open("agent")?.query("SELECT 1", &[])?;
        Ok(output::Output { text: name, table: Some(table) })
    }
}
export!(Plugin);
"#;

const VERIFIER: &str = r#"
wit_bindgen::generate!({ path: "../wit", world: "verifier" });
struct Plugin;
impl Guest for Plugin {
    fn describe() -> Description {
        Description { name: "two".into(), version: "1.0.0".into(), tools: vec![], contract: String::new() }
    }
    fn verify(evidence: Evidence) -> Verdict {
        Verdict::Ungradable(evidence.instruction)
    }
}
export!(Plugin);
"#;

fn workspace(root: &Path) {
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("Cargo.toml", WORKSPACE);
    put("wit/plugin.wit", WIT);
    for (name, source) in [("tool-one", TOOL), ("verifier-two", VERIFIER)] {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\
             [lib]\ncrate-type = [\"cdylib\"]\n[dependencies.wit-bindgen]\nversion = \"=0.63.0\"\n\
             default-features = false\nfeatures = [\"macros\", \"realloc\", \"std\"]\n"
        );
        put(&format!("{name}/Cargo.toml"), &manifest);
        put(&format!("{name}/src/lib.rs"), source);
    }
}

fn build(root: &Path, toolchain: &Toolchain) -> Vec<BuiltComponent> {
    workspace(root);
    let plan = BuildPlan {
        manifest_dir: root.to_owned(),
        packages: Vec::new(),
        out_dir: root.join("out"),
        target_dir: root.join("target"),
    };
    let mut seen = Vec::new();
    let built = build_guests(toolchain, &plan, &mut |event| seen.push(event.to_string()));
    built.unwrap_or_else(|fault| panic!("{fault}\nafter {seen:#?}"))
}

#[test]
#[ignore = "builds the standard library twice: `make reproducible`"]
fn guests_are_built_alike_wherever_they_lie_and_import_only_what_is_offered() {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    fs::create_dir_all(&target).unwrap();
    let target = target.canonicalize().unwrap();
    let options =
        ToolchainOptions { folder: target.join("guest-toolchain"), directory: target.join(".."), allow_rustup: false };
    let toolchain = Toolchain::find(&options, &mut |_| {}).unwrap();
    let here = tempfile::tempdir().unwrap();
    let there = tempfile::tempdir().unwrap();
    let elsewhere = there.path().join("a/longer/way");
    let first = build(here.path(), &toolchain);
    let second = build(&elsewhere, &toolchain);

    let shapes = |built: &[BuiltComponent]| built.iter().map(|one| one.shape.clone()).collect::<Vec<_>>();
    assert_eq!(shapes(&first), shapes(&second), "the same sources give the same bytes");
    for one in &first {
        let bytes = fs::read(&one.path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for path in [here.path(), target.as_path(), Path::new("/home/"), Path::new(".cargo/")] {
            let path = path.display().to_string();
            assert!(!text.contains(&path), "{}: `{path}` leaked", one.package);
        }
        let own = |name: &String| name.starts_with("tribunal:plugin/") || !name.contains(':');
        assert!(one.shape.imports.iter().all(own), "{:?}", one.shape.imports);
    }
    let names: Vec<_> = first.iter().map(|one| (&*one.package, one.kind.to_string())).collect();
    assert_eq!(names, [("tool-one", "tool".to_owned()), ("verifier-two", "verifier".to_owned())]);
}
