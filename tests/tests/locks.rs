//! Plugins that change under a suite: what is locked stays in use until more is granted.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use serde_json::Value;
use tribunal_protocol::digest::Digest;
use tribunal_seal::LockFile;
use tribunal_tests::tool::{Said, plugins, said};

const NAME: &str = "tool-query";

/// The same component with a custom section more: another digest, the same behaviour.
fn marked(component: &[u8], mark: &str) -> Vec<u8> {
    let mut bytes = component.to_vec();
    let length = u8::try_from(mark.len()).unwrap();
    bytes.extend([0, length + 1, length]);
    bytes.extend(mark.as_bytes());
    bytes
}

fn lock(at: &Path, more: &[&str]) -> Said {
    said(at, &[&["lock", "--plugins", "plugins", "--cache", "cache"], more].concat())
}

/// A small run, and the digest of the plugin that it used.
fn used(at: &Path) -> (Digest, String) {
    let arguments = ["--plugins", "plugins", "--cache", "cache", "--policy", "oracle", "--tasks", "2", "--out", "a"];
    let ran = said(at, &[&["run", "--overwrite"], &arguments[..]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let run: Value = serde_json::from_slice(&std::fs::read(at.join("a/run.json")).unwrap()).unwrap();
    (Digest::try_from(run["plugins"][NAME].as_str().unwrap().to_owned()).unwrap(), ran.err)
}

#[test]
fn what_is_locked_stays_in_use_until_more_is_granted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::create_dir(at.join("plugins")).unwrap();
    for entry in std::fs::read_dir(plugins()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            std::fs::copy(&path, at.join("plugins").join(path.file_name().unwrap())).unwrap();
        }
    }
    let file = at.join("plugins/tool-query.wasm");
    let new = std::fs::read(&file).unwrap();
    let old = marked(&new, "old");
    let (new_digest, old_digest) = (Digest::of(&new), Digest::of(&old));
    std::fs::write(&file, &old).unwrap();

    let locked = lock(at, &[]);
    assert_eq!(locked.code, 0, "{}{}", locked.out, locked.err);
    assert!(locked.out.contains(NAME) && locked.out.contains(&old_digest.short()), "{}", locked.out);
    assert_eq!(used(at).0, old_digest);
    assert!(lock(at, &[]).out.contains("as locked"));

    // An upgrade that asks for nothing new is used.
    std::fs::write(&file, &new).unwrap();
    assert_eq!(used(at).0, new_digest);

    // A file that does not load leaves the old one; without a lock it ends everything.
    std::fs::write(&file, &new[..new.len() / 2]).unwrap();
    let (digest, told) = used(at);
    assert_eq!(digest, old_digest, "{told}");
    assert!(told.contains("stays in use") && told.contains("plugin tool-query: "), "{told}");
    let refused = lock(at, &[]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(refused.out.contains("refused, the old one stays"), "{}", refused.out);

    // One that asks for more is not used until that is granted.
    let path = at.join("plugins/tribunal.lock");
    let mut narrow = LockFile::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let powers = "[contract]\nname = \"tool-query\"\n[[read]]\ntable = \"invoices\"\ncolumns = [\"id\"]\n";
    narrow.plugin.get_mut(NAME).unwrap().contract = powers.to_owned();
    std::fs::write(&path, narrow.to_toml().unwrap()).unwrap();
    std::fs::write(&file, &new).unwrap();
    let (digest, told) = used(at);
    assert_eq!(digest, old_digest, "{told}");
    assert!(told.contains("asks for more than is locked: read of *: not locked"), "{told}");
    assert!(told.contains("tribunal lock --grant tool-query"), "{told}");
    let refused = lock(at, &[]);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    assert!(refused.out.contains("refused, not granted: read of *: not locked"), "{}", refused.out);
    assert_eq!(used(at).0, old_digest);
    let granted = lock(at, &["--grant", NAME]);
    assert_eq!(granted.code, 0, "{}{}", granted.out, granted.err);
    assert!(granted.out.contains("granted: read of *"), "{}", granted.out);
    let (digest, told) = used(at);
    assert_eq!(digest, new_digest);
    assert!(!told.contains("stays in use"), "{told}");

    // What is refused and not kept is named, and how to put it back.
    std::fs::remove_dir_all(at.join("cache/kept")).unwrap();
    std::fs::remove_file(&file).unwrap();
    let lost = said(at, &["tasks", "--tasks", "1", "--plugins", "plugins", "--cache", "cache"]);
    assert_eq!(lost.code, 2, "{}", lost.out);
    assert!(
        lost.err.contains("plugin tool-query") && lost.err.contains("put it back as tool-query.wasm"),
        "{}",
        lost.err
    );

    for (text, expected) in
        [("version = 2", "tribunal.lock: lock file of version 2"), ("plugins", "tribunal.lock: no lock file")]
    {
        std::fs::write(&path, text).unwrap();
        let told = lock(at, &[]);
        assert_eq!(told.code, 2, "{}", told.out);
        assert!(told.err.contains(expected), "{}", told.err);
    }
    std::fs::remove_file(&path).unwrap();
    assert!(lock(at, &["--grant", "nobody"]).err.contains("--grant nobody: no plugin of that name"));
    std::fs::write(&file, &new[..new.len() / 2]).unwrap();
    assert_eq!(lock(at, &[]).code, 2, "nothing old to fall back to");
}
