//! A disk that is full: one clear line, exit code 2, and nothing half-written.
//!
//! A limit on the size of files (`ulimit -f`) fails every write beyond it, for everybody and without
//! privileges; the signal that comes with it is ignored first, or it would end the program. It also
//! fails the memory that plugins are instantiated in, so runs fill a real disk instead: a tiny one
//! in a mount namespace of its own, where the machine lets us have one.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../tasks/tests/example/mod.rs"]
mod example;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use example::Folder;
use tribunal_tests::tool::{Said, binary, plugins, read, said, tribunal};

/// Files of more than so many bytes cannot be written.
fn limited(folder: &Path, bytes: u64, arguments: &[&str]) -> Said {
    // The unit is 512 bytes in a POSIX shell.
    let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", bytes / 512);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).arg(binary()).args(arguments);
    command.current_dir(folder).env("TRIBUNAL_PLUGINS", plugins()).env("TMPDIR", folder);
    read(&command.output().unwrap())
}

/// Every file and folder below `folder`, with the bytes of the files.
fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => {
                all.insert(path.clone(), Vec::new());
                all.append(&mut self::all(&path));
            }
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    all
}

#[track_caller]
fn refused(said: &Said, words: &[&str]) {
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    says(said, words);
}

/// Expects one line of complaint, with all of these words in it.
#[track_caller]
fn says(said: &Said, words: &[&str]) {
    let lines: Vec<&str> = said.err.lines().filter(|line| line.starts_with("tribunal: ")).collect();
    assert_eq!(lines.len(), 1, "{}", said.err);
    let line = lines[0];
    for word in words {
        assert!(line.contains(word), "`{word}` expected in: {line}");
    }
    assert!(!said.err.contains("panicked"), "{}", said.err);
}

/// A suite of twelve tasks that are made in no time.
fn suite() -> Folder {
    Folder::new().with("suite.toml", "train = 4", "train = 12")
}

#[test]
fn an_earlier_report_stays_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let suite = suite();
    let suite = suite.path("");
    let run = ["run", "--suite", suite.to_str().unwrap(), "--policy", "oracle", "--out", "run"];
    assert_eq!(said(at, &run).code, 0);
    let before = all(at);
    refused(&limited(at, 0, &["report", "run"]), &["run/summary.json", "disk full", "File too large"]);
    assert_eq!(all(at), before);
    // Room for the summary, none for the page.
    let page = before[&at.join("run/report.html")].len() as u64;
    let summary = before[&at.join("run/summary.json")].len() as u64;
    assert!(summary + 512 < page, "{summary} {page}");
    refused(&limited(at, page - 512, &["report", "run"]), &["run/report.html", "disk full", "File too large"]);
    assert_eq!(all(at), before);
    assert_eq!(limited(at, page + 512, &["report", "run"]).code, 0);
    assert_eq!(all(at), before);
}

#[test]
fn an_import_is_there_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("shop")).unwrap();
    let rows: Vec<String> = (0..200).map(|id| format!("({id}, 'item number {id}')")).collect();
    let schema = format!("CREATE TABLE item (id int, name text);\nINSERT INTO item VALUES {};\n", rows.join(", "));
    fs::write(at.join("shop/schema.sql"), schema).unwrap();
    fs::write(at.join("shop/questions.csv"), "query,question\nSELECT COUNT(*) AS n FROM item,How many?\n").unwrap();
    let before = all(at);
    let import = ["import", "shop", "--out", "suite"];
    refused(&limited(at, 0, &import), &["suite.toml", "File too large"]);
    assert_eq!(all(at), before);
    // Room for the first files, none for the rows (200 of some 20 bytes).
    refused(&limited(at, 3_072, &import), &["item.csv", "File too large"]);
    assert_eq!(all(at), before);
    let whole = said(at, &import);
    assert_eq!(whole.code, 0, "{}{}", whole.out, whole.err);
    let suite = all(&at.join("suite"));
    refused(&limited(at, 0, &[&import[..], &["--force"]].concat()), &["suite.toml", "File too large"]);
    assert_eq!(all(&at.join("suite")), suite);
}

#[test]
fn a_result_that_is_cut_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let plugin = plugins().join("tool-query.wasm");
    let inspect = ["inspect", plugin.to_str().unwrap()];
    let full = fs::File::create("/dev/full").unwrap();
    let output = tribunal(at, &inspect).stdout(Stdio::from(full)).output().unwrap();
    refused(&read(&output), &["standard output", "No space left on device"]);
    assert_eq!(said(at, &inspect).code, 0);
    // A reader that has seen enough closes the pipe; that is no fault.
    let mut child = tribunal(at, &inspect).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let closed = read(&child.wait_with_output().unwrap());
    assert_eq!(closed.code, 0, "{}", closed.err);
}

/// Runs a script of a POSIX shell beside `disk`, a disk of 8 MiB that is gone afterwards. In it,
/// `fill` leaves no room on it, `free` makes room again, `t ..` is the binary (it prints its exit
/// code as `code N`), and `sums` prints names and checksums of all that is on the disk. None where
/// there can be no such disk.
fn on_a_small_disk(script: &str) -> Option<Said> {
    const BEFORE: &str = r#"
        mount -t tmpfs -o size=8m tmpfs disk || exit 99
        fill() { cat /dev/zero > disk/filler 2> cat.err; }
        free() { rm disk/filler; }
        t() { "$TRIBUNAL" "$@" > out.txt; echo "code $?"; }
        sums() { (cd disk && find . -mindepth 1 ! -name filler | LC_ALL=C sort | while read -r at; do
            if [ -f "$at" ]; then cksum "$at"; else echo "$at"; fi; done); }
        ALL="run --suite $SUITE --policy oracle --jobs 1 --out disk/all"
        RUN="run --suite $SUITE --policy oracle --jobs 1 --out disk/run"
    "#;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("disk")).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &format!("{BEFORE}\n{script}")]);
    command.current_dir(folder.path()).env("TRIBUNAL_PLUGINS", plugins()).env("TRIBUNAL", binary());
    let suite = suite();
    command.env("SUITE", suite.path(""));
    let said = command.output().map(|output| read(&output)).ok();
    let said = said.filter(|said| said.code != 99 && !said.err.starts_with("unshare: "));
    if said.is_none() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
        {
            eprintln!("skipped: no mount namespace with a disk of its own (unshare --map-root-user --mount)");
        }
    }
    said
}

/// The lines of a script's output, cut at its lines `code N`: each code with what came after it.
fn steps(said: &Said) -> Vec<(i32, Vec<&str>)> {
    let mut steps: Vec<(i32, Vec<&str>)> = Vec::new();
    for line in said.out.lines() {
        match (line.strip_prefix("code "), steps.last_mut()) {
            (Some(code), _) => steps.push((code.parse().unwrap(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => steps.push((-1, vec![line])),
        }
    }
    steps
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    let Some(said) = on_a_small_disk("fill; t $RUN --tasks 2; sums; free; t $RUN --tasks 2") else { return };
    says(&said, &["disk/run/run.json", "disk full", "No space left on device"]);
    // With room it runs, under the same name.
    assert_eq!(steps(&said), [(2, vec![]), (0, vec![])], "{}", said.err);
}

#[test]
fn an_earlier_run_stays_whole_unless_the_new_one_begins() {
    let script = "t $RUN --tasks 2; sums; fill; t $RUN --tasks 3 --overwrite; sums; t report disk/run; sums; \
                  free; t $RUN --tasks 3 --overwrite; t report disk/run";
    let Some(said) = on_a_small_disk(script) else { return };
    let steps = steps(&said);
    let codes: Vec<i32> = steps.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [0, 2, 2, 0, 0], "{}", said.err);
    let names = |lines: &[&str]| lines.iter().filter(|line| line.contains("/traces/oracle/")).count();
    assert_eq!(names(&steps[0].1), 2);
    assert_eq!(steps[1].1, steps[0].1);
    assert_eq!(steps[2].1, steps[0].1);
    for file in ["disk/run/run.json", "disk/run/summary.json"] {
        assert!(said.err.contains(&format!("cannot write {file}; is the disk full")), "{file}: {}", said.err);
    }
}

/// The disk fills up between two traces: what is written is whole, nothing else is there, and the
/// run goes on where it was cut.
#[test]
fn a_run_that_is_cut_short_goes_on_when_there_is_room() {
    // First the whole run, to see how much it takes: room is left for half of its traces. Files
    // take pages of 4 KiB; two more are for run.json and refused.json.
    let script = "t $ALL; mv disk/all .; \
                  room=$(($(du -k all/tasks.jsonl | cut -f1) + 8 + $(du -k -s all/traces | cut -f1) / 2)); \
                  head -c $(((8192 - room) * 1024)) /dev/zero > disk/filler; \
                  t $RUN; sums; free; t $RUN --resume; mv all disk/all; sums";
    let Some(said) = on_a_small_disk(script) else { return };
    let steps = steps(&said);
    let codes: Vec<i32> = steps.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, [0, 2, 0], "{}", said.err);
    says(&said, &["disk/run/traces/oracle/", "disk full", "No space left on device"]);
    // In full: `checksum size ./all/..` and `checksum size ./run/..`.
    let whole: Vec<String> = steps[2].1.iter().map(|line| line.replace("./all", "./run")).collect();
    let half: Vec<&str> = steps[1].1.clone();
    let traces = |lines: &[&str]| lines.iter().filter(|line| line.contains("/traces/oracle/")).count();
    assert!((1..12).contains(&traces(&half)), "{half:#?}");
    for line in &half {
        assert!(whole.iter().any(|other| other == line), "{line} is not as in a run with room: {whole:#?}");
    }
    // The run that went on and the one that never stopped: file by file the same, but for the page,
    // which says where the run lies.
    let of = |run: &str| -> Vec<String> {
        let lines = steps[2].1.iter().filter(|line| line.contains(run)).map(|line| line.replace(run, ""));
        lines.filter(|line| !line.ends_with("report.html")).collect()
    };
    assert_eq!(of("./run"), of("./all"));
}
