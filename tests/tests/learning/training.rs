//! The binary trains, is killed, goes on, evaluates and serves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tribunal_dialogue::Codec;
use tribunal_episode::Prepared;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::event::Event;
use tribunal_protocol::task::Task;
use tribunal_tests::analytics::stage_under;
use tribunal_tests::tool::{said, tribunal};
use tribunal_train::rollout::{self, Attempt};
use tribunal_train::trajectory::Trajectory;
use tribunal_train::{Checkpoint, Lesson, Progress, Served};
use tribunal_transformer::{Device, Model, Sampler};

use crate::world::{RECIPE, Still, codec, kinds, lessons, recipe};

/// One training serves both checks: it is what takes time.
#[test]
fn a_tiny_training() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let recipe = RECIPE.replace("selection = \"none\"", "again = 1");
    std::fs::write(at.join("tiny.toml"), recipe).unwrap();
    let trained = said(at, &["train", "tiny.toml", "--out", "whole"]);
    assert_eq!(trained.code, 0, "{}", trained.err);
    // Between three updates, and not behind the last one.
    for (done, probed) in [(1, true), (2, true), (3, false)] {
        assert_eq!(trained.err.contains(&format!("after {done} updates ")), probed, "{}", trained.err);
    }
    killed_twice_it_ends_at_the_same_weights(at);
    all_four_read_and_write_the_same_bytes(at);
    other_weights_are_another_run(at);
    what_was_spent_is_compared(at);
    trainings_stand_side_by_side(at);
    a_policy_that_nobody_reads_is_evaluated(at);
}

/// Nothing is left out of a run because a model cannot read it.
#[test]
fn a_task_that_is_too_long_counts_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut shape = recipe().shape(codec().vocabulary());
    shape.context = 100;
    let model = Model::new(shape, 1, &Device::Cpu).unwrap();
    let progress = Progress::default();
    Checkpoint { model, codec: codec(), recipe: recipe(), optimizer: None, progress }.save(&at.join("short")).unwrap();
    assert!(lessons(&kinds().0, &codec()).iter().all(|lesson| lesson.readable(1024) && !lesson.readable(100)));
    let ran = said(at, &["run", "--suite", "primer", "--tasks", "5", "--policy", "short", "--out", "run", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(summary["policies"][0]["total"]["invalid"], 5, "{summary}");
    let replayed = said(at, &["replay", "run"]);
    assert!(replayed.out.contains("5 identical, 0 different"), "{}", replayed.out);
}

/// A trace on a variant of a schema is run again from the suite as it is embedded.
#[test]
fn traces_on_variants_replay() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let arguments =
        ["run", "--suite", "primer", "--variants", "3", "--tasks", "30", "--policy", "oracle", "--out", "run"];
    assert_eq!(said(at, &arguments).code, 0);
    let tasks = std::fs::read_to_string(at.join("run/tasks.jsonl")).unwrap();
    assert!(["sales~", "desk~"].iter().any(|name| tasks.contains(&format!("\"schema\":{{\"name\":\"{name}"))));
    let replayed = said(at, &["replay", "run"]);
    assert!(replayed.out.contains("30 identical, 0 different"), "{}{}", replayed.out, replayed.err);
    // A variant of nothing is no schema.
    std::fs::write(at.join("run/tasks.jsonl"), tasks.replace("\"sales~", "\"sails~").replace("\"desk~", "\"disk~"))
        .unwrap();
    assert_eq!(said(at, &["replay", "run"]).code, 1);
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("broken.gguf"), "no model").unwrap();
    std::fs::create_dir(at.join("training")).unwrap();
    std::fs::write(at.join("training/recipe.toml"), RECIPE).unwrap();
    for (more, parts) in [
        (&["--policy", "gueser"][..], "no such policy; there are oracle"),
        (&["--policy", "no.gguf"], "not there; a checkpoint folder"),
        (&["--policy", "broken.gguf"], "broken.gguf"),
        (&["--policy", "training"], "name one of its checkpoints, such as training/final"),
        (&["--policy", "../a=no.gguf"], "give one as NAME=PATH"),
        (&["--policy", "broken.gguf", "--device", "cuda"], "--features cuda"),
        (&["--policy", "broken.gguf", "--device", "gpu"], "cuda:N expected"),
    ] {
        let refused = said(at, &[&["run", "--suite", "primer", "--out", "run"], more].concat());
        assert_eq!(refused.code, 2, "{more:?}");
        assert!(refused.err.contains(parts) && refused.err.lines().count() == 1, "{more:?}: {}", refused.err);
        assert!(!at.join("run").exists(), "{more:?}: nothing is begun");
    }
}

fn lines(updates: &Path, phase: &str) -> usize {
    let text = std::fs::read_to_string(updates).unwrap_or_default();
    text.lines().filter(|line| line.contains(&format!("\"phase\":\"{phase}\""))).count()
}

fn killed_twice_it_ends_at_the_same_weights(at: &Path) {
    let out = at.join("killed");
    // Behind the first checkpoint of fine-tuning, and within policy optimisation.
    for (phase, count, more) in [("sft", 70, &[][..]), ("grpo", 1, &["--resume"])] {
        let arguments: Vec<&str> = ["train", "tiny.toml", "--out", "killed"].iter().chain(more).copied().collect();
        let mut child = tribunal(at, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while lines(&out.join("updates.jsonl"), phase) < count && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        // The signal that nothing can catch.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!out.join("final").exists(), "{phase}: it was over before it could be killed");
    }
    assert!(out.join("latest/optimizer.safetensors").exists());
    let resumed = said(at, &["train", "tiny.toml", "--out", "killed", "--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    for file in ["sft/weights.safetensors", "final/weights.safetensors", "final/state.json", "pool.json"] {
        let read = |folder: &str| std::fs::read(at.join(folder).join(file)).unwrap();
        assert!(read("whole") == read("killed"), "{file}");
    }
    for phase in ["sft", "grpo"] {
        let count = |folder: &str| lines(&at.join(folder).join("updates.jsonl"), phase);
        assert_eq!(count("whole"), count("killed"), "no update twice, none missing");
    }
    // Another seed ends elsewhere.
    assert_eq!(said(at, &["train", "tiny.toml", "--seed", "2", "--out", "other"]).code, 0);
    let weights = |folder: &str| std::fs::read(at.join(folder).join("final/weights.safetensors")).unwrap();
    assert!(weights("other") != weights("whole"));
}

/// The digest of prompts, observations and calls of all tasks, up to the end of the last call: what
/// comes behind it nobody reads.
fn hash(texts: &BTreeMap<String, Vec<u8>>) -> Digest {
    const END: &[u8] = b"<|end|>";
    let mut all = Vec::new();
    for (task, text) in texts {
        let last = text.windows(END.len()).rposition(|window| window == END).unwrap();
        all.extend_from_slice(task.as_bytes());
        all.extend_from_slice(&text[..last + END.len()]);
    }
    Digest::of(&all)
}

/// As supervised fine-tuning would learn from the events.
fn sample(events: &[Event], codec: &Arc<Codec>) -> Vec<u8> {
    let steps = events.iter().filter(|event| matches!(event, Event::Step(_))).count();
    let trajectory = Trajectory { task: String::new(), events: events.to_vec(), learned: vec![true; steps] };
    codec.decode(&trajectory.sample(codec).unwrap().tokens)
}

fn traces(folder: PathBuf, codec: &Arc<Codec>) -> BTreeMap<String, Vec<u8>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let events = tribunal_trace::read(&std::fs::read(entry.unwrap().path()).unwrap()).unwrap();
        (tribunal_trace::header(&events).unwrap().task.clone(), sample(&events, codec))
    };
    std::fs::read_dir(folder).unwrap().map(read).collect()
}

fn all_four_read_and_write_the_same_bytes(at: &Path) {
    let policy = "served=whole/final";
    let arguments = ["run", "--suite", "primer", "--tasks", "5", "--policy", policy, "--out", "run"];
    let ran = said(at, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for folder in ["run", "whole/evaluation"] {
        let replayed = said(at, &["replay", folder]);
        assert!(replayed.code == 0 && replayed.out.contains(" identical, 0 different"), "{}", replayed.out);
    }
    let served = Served::open(&at.join("whole/final"), &Device::Cpu).unwrap();
    let stage = stage_under("primer", tribunal_protocol::limits::Limits::default()).unwrap();
    let text = std::fs::read_to_string(at.join("run/tasks.jsonl")).unwrap();
    let tasks: Vec<Task> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lesson =
        |task: &Task| Lesson::new(Prepared::new(&stage, Arc::new(task.clone())).unwrap(), &served.codec, true).unwrap();
    let lessons: Vec<Lesson> = tasks.iter().map(lesson).collect();
    let attempts: Vec<Attempt> = (0..lessons.len()).map(|lesson| Attempt { lesson, number: 0, seed: 99 }).collect();
    let sampler = Sampler::new(&served.model).unwrap();
    let mut settings = served.rollout.clone();
    let play = |settings: &_| rollout::play(&sampler, &lessons, &attempts, settings, &Still, &mut |_| {}).unwrap().0;
    let rollouts = play(&settings);
    let id = |rollout: &rollout::Rollout| lessons[rollout.attempt.lesson].task().id.clone();
    let drawn = rollouts.iter().map(|rollout| (id(rollout), served.codec.decode(&rollout.tokens))).collect();
    let samples = rollouts.iter().map(|rollout| (id(rollout), sample(&rollout.events, &served.codec))).collect();
    let wanted = hash(&drawn);
    assert_eq!(drawn.len(), 5);
    assert!(rollouts.iter().all(|rollout| rollout.calls > 0));
    for (what, texts) in [
        ("samples of fine-tuning", samples),
        ("evaluation", traces(at.join("whole/evaluation/traces/final"), &served.codec)),
        ("serving", traces(at.join("run/traces/served"), &served.codec)),
    ] {
        assert_eq!(hash(&texts), wanted, "{what}");
    }
    // At another temperature there are other calls, and the digest says so; and so does one byte.
    settings.temperature = 1.0;
    let other = play(&settings);
    assert_ne!(hash(&other.iter().map(|one| (id(one), served.codec.decode(&one.tokens))).collect()), wanted);
    let mut altered = drawn;
    altered.values_mut().next().unwrap()[20] ^= 1;
    assert_ne!(hash(&altered), wanted);
}

/// A run goes on with the weights that it began with, and with no others.
fn other_weights_are_another_run(at: &Path) {
    let run = |policy: &str| {
        let arguments = ["run", "--suite", "primer", "--tasks", "5", "--policy", policy, "--out", "run", "--resume"];
        said(at, &arguments)
    };
    assert_eq!(run("served=whole/final").code, 0);
    assert_eq!(run("served=killed/final").code, 0, "the same weights, wherever they lie");
    let refused = run("served=other/final");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("models was"), "{}", refused.err);
}

fn what_was_spent_is_compared(at: &Path) {
    let arguments = ["run", "--suite", "primer", "--tasks", "5", "--policy", "before=whole/sft,after=whole/final"];
    let ran = said(at, &[&arguments[..], &["--attempts", "2", "--out", "spending"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(at.join("spending/spent.jsonl")).unwrap();
    let spent: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(spent.len(), 20);
    for one in &spent {
        let count = |name: &str| one[name].as_u64().unwrap();
        assert!(count("tokens_written") > 0 && one["milliseconds"].is_u64(), "{one}");
        // The first attempt reads the opening, the second finds it read.
        let (read, cached) = (count("tokens_read"), count("tokens_cached"));
        let first = one["attempt"] == 0;
        let twin = spent.iter().find(|twin| {
            twin["policy"] == one["policy"] && twin["task"] == one["task"] && twin["attempt"] != one["attempt"]
        });
        let twin = twin.unwrap();
        assert_eq!(first, read > twin["tokens_read"].as_u64().unwrap(), "{one} {twin}");
        // The same calls, so the same tokens altogether.
        let both =
            |one: &serde_json::Value| one["tokens_read"].as_u64().unwrap() + one["tokens_cached"].as_u64().unwrap();
        assert_eq!(read + cached, both(twin));
    }
    let compared = ["evaluate", "spending", "--policy", "after", "--against-policy", "before", "--json"];
    let compared = said(at, &compared);
    let json: serde_json::Value = serde_json::from_str(&compared.out).unwrap();
    assert!(json["decision"].is_object(), "{}", compared.err);
}

/// The seeds of one recipe have a mean; what differs from the first recipe is named; other tasks are
/// refused.
fn trainings_stand_side_by_side(at: &Path) {
    let start = ["train", "tiny.toml", "--start", "whole/sft", "--out"];
    for (out, set) in [("steeper", "grpo.learning_rate=0.02"), ("elsewhere", "evaluate.tasks=4")] {
        let trained = said(at, &[&start[..], &[out, "--set", set]].concat());
        assert_eq!(trained.code, 0, "{}", trained.err);
    }
    // So few tasks are of splits that decide nothing.
    let table = ["trainings", "whole", "other", "steeper", "--group", "all tasks"];
    let found = said(at, &[&table[..], &["--json", "--page", "side.html"]].concat());
    assert_eq!(found.code, 0, "{}", found.err);
    let found: serde_json::Value = serde_json::from_str(&found.out).unwrap();
    let recipes = found["recipes"].as_array().unwrap();
    assert_eq!(recipes.len(), 2, "two seeds of one recipe, and another");
    assert_eq!((&recipes[0]["gain"]["seeds"], &recipes[0]["differs"]), (&2.into(), &serde_json::json!([])));
    assert_eq!(recipes[1]["differs"], serde_json::json!(["grpo.learning_rate = 0.02"]));
    assert_eq!(recipes[1]["gain"], serde_json::Value::Null);
    // Policy optimisation alone was trained there: its tokens are those of its updates.
    let updates = std::fs::read_to_string(at.join("steeper/updates.jsonl")).unwrap();
    let updates: Vec<serde_json::Value> = updates.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(updates.iter().all(|update| update["phase"] == "grpo"));
    let tokens: f64 = updates.iter().map(|update| update["tokens"].as_f64().unwrap()).sum();
    assert_eq!(recipes[1]["trainings"][0]["trained_tokens"], tokens);
    let page = std::fs::read_to_string(at.join("side.html")).unwrap();
    assert!(page.contains("steeper") && page.contains("<svg class=\"plot\""));
    let again = said(at, &[&table[..], &["--page", "again.html", "--markdown"]].concat());
    assert!(again.out.starts_with("## ") && again.out.contains("| mean of 2 seeds |"), "{}", again.out);
    assert_eq!(std::fs::read_to_string(at.join("again.html")).unwrap(), page);
    for (arguments, why) in [
        (&["trainings", "whole", "elsewhere"][..], "elsewhere: evaluated on other tasks than whole"),
        (&["trainings", "whole", "--group", "nowhere"], "no group of tasks is called nowhere; there are decisive"),
        (&["trainings", "run"], "the folder of a training expected"),
        (&["train", "tiny.toml", "--out", "new", "--set", "grpo.rates=1"], "rates"),
    ] {
        let refused = said(at, arguments);
        assert_eq!(refused.code, 2, "{arguments:?}");
        assert!(refused.err.contains(why), "{arguments:?}: {}", refused.err);
    }
}

/// A vendor's checkpoint and an organiser's tasks meet on a host; what leaves are the passes that a run
/// in the open has.
fn a_policy_that_nobody_reads_is_evaluated(at: &Path) {
    let done = |arguments: &[&str]| {
        let said = said(at, arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {}", said.err);
        said
    };
    done(&["run", "--suite", "primer", "--tasks", "12", "--policy", "oracle,m=whole/final", "--out", "open"]);
    done(&["keygen", "host", "--host"]);
    done(&["keygen", "key"]);
    for (file, out) in [("open/tasks.jsonl", "tasks.encrypted"), ("whole/final", "model.encrypted")] {
        done(&["encrypt", file, "--to", "host.pub", "--out", out]);
    }
    std::fs::write(at.join("disclosure.toml"), "format = 1\nshow = \"per-task\"\n").unwrap();
    let blind = ["evaluate-blind", "tasks.encrypted", "--suite", "primer", "--host-key", "host", "--key", "key"];
    let blind = [&blind[..], &["--disclosure", "disclosure.toml", "--policy", "oracle", "--out", "out.json"]].concat();
    let told = done(&[&blind[..], &["--model", "m=model.encrypted", "--json"]].concat());
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    for policy in ["oracle", "m"] {
        let mut open = BTreeMap::new();
        for path in std::fs::read_dir(at.join("open/traces").join(policy)).unwrap() {
            let events = tribunal_trace::read(&std::fs::read(path.unwrap().path()).unwrap()).unwrap();
            let Some(Event::End(end)) = events.last() else { unreachable!() };
            let passed = u64::from(end.verdict.passed());
            open.insert(tribunal_trace::header(&events).unwrap().task.clone(), serde_json::json!(passed));
        }
        assert_eq!(open.len(), 12);
        let tasks = told["policies"][policy]["tasks"].as_object().unwrap();
        let blind: BTreeMap<_, _> = tasks.iter().map(|(task, count)| (task.clone(), count["passed"].clone())).collect();
        assert_eq!(blind, open, "{policy}");
    }
    for (model, why) in [
        ("model.encrypted", "NAME=FILE expected"),
        ("oracle=model.encrypted", "another policy is called oracle"),
        ("m=tasks.encrypted", "tasks.encrypted: "),
    ] {
        let refused = said(at, &[&blind[..], &["--model", model]].concat());
        assert!(refused.code == 2 && refused.err.contains(why), "{model}: {}", refused.err);
    }
}
