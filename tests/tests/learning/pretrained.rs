//! A model that others trained, with its own tokenizer and chat marks, in the harness: zero-shot, one
//! task of each kind.

use std::path::Path;

use tribunal_protocol::event::Event;
use tribunal_protocol::policy::Observation;
use tribunal_tests::tool::{root, said};

const SMOLLM2: &str = "target/pretrained/SmolLM2-135M-Instruct.Q4_1.gguf";

/// It is not good at this, and need not be: every call is a call, and the run replays.
#[test]
fn a_pretrained_model_makes_calls_of_tools() {
    let path = root().join(SMOLLM2);
    if !path.exists() {
        println!("SKIPPED: {} is not there; `make pretrained` fetches it", path.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let policy = format!("smollm2={}", path.display());
    let arguments = ["run", "--suite", "primer", "--tasks", "5", "--temperature", "0", "--calls", "1", "--out", "run"];
    let ran = said(at, &[&arguments[..], &["--policy", &policy]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut kinds = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(at.join("run/traces/smollm2")).unwrap() {
        kinds.insert(every_call_is_one(&entry.unwrap().path()));
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    let replayed = said(at, &["replay", "run"]);
    assert!(replayed.out.contains("5 identical, 0 different"), "{}", replayed.out);
}

/// The kind of the trace's task. Every call names a tool of the briefing with arguments that its schema
/// takes: what the episode refuses for its form begins with the tool's name.
fn every_call_is_one(path: &Path) -> String {
    let events = tribunal_trace::read(&std::fs::read(path).unwrap()).unwrap();
    let header = tribunal_trace::header(&events).unwrap();
    let steps: Vec<_> =
        events.iter().filter_map(|event| if let Event::Step(step) = event { Some(step) } else { None }).collect();
    assert_eq!(steps.len(), 1, "{}", path.display());
    for step in steps {
        assert!(header.briefing.tools.iter().any(|tool| tool.name == step.action.tool), "{step:?}");
        if let Observation::Failure(failure) = &step.observation {
            assert!(!failure.message.starts_with(&format!("{}: ", step.action.tool)), "{failure:?}");
        }
    }
    format!("{:?}", header.kind)
}
