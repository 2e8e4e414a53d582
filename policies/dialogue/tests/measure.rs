//! Measurements over a whole run of the oracle; not a test, so ignored unless it is asked for:
//! `make run`, then `cargo test -p tribunal-dialogue --test measure -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use common::Episode;
use tribunal_dialogue::{Codec, Grammar, Renderer, Role, Style, Transcript};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runs/default/traces/oracle");

/// Mean and 95th percentile.
fn shape(values: &mut [usize]) -> String {
    values.sort_unstable();
    let mean = values.iter().sum::<usize>() / values.len().max(1);
    format!("{mean:>5} {:>5}", values.get(values.len() * 95 / 100).copied().unwrap_or(0))
}

fn codec(episodes: &[Episode], vocabulary: usize) -> Arc<Codec> {
    let train: Vec<Episode> = episodes.iter().filter(|episode| episode.split == "train").cloned().collect();
    common::codec(&train, vocabulary)
}

#[test]
#[ignore = "a measurement; needs `make run`"]
fn tokens() {
    let episodes = common::folder(Path::new(TRACES));
    for vocabulary in [512, 1024, 2048] {
        let codec = codec(&episodes, vocabulary);
        let mut parts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for episode in &episodes {
            let transcript = Transcript::of(Arc::clone(&codec), Renderer::new(Style::Compact), episode.view()).unwrap();
            let mut note = |name: String, count| parts.entry(name).or_default().push(count);
            note("episode".to_owned(), transcript.tokens().len());
            note(format!("episode {}", episode.kind), transcript.tokens().len());
            note(format!("episode {}", episode.split), transcript.tokens().len());
            let mut turn = 0;
            for segment in transcript.segments() {
                let count = segment.end - segment.start;
                match segment.role {
                    Role::Prompt => note("opening".to_owned(), count),
                    Role::Action => note(format!("action {}", episode.turns[turn].action.tool), count),
                    Role::Observation => {
                        note(format!("observation {}", episode.turns[turn].action.tool), count);
                        turn += 1;
                    }
                }
            }
        }
        println!("vocabulary {vocabulary} ({} tokens)", codec.vocabulary());
        for (name, mut values) in parts {
            println!("  {name:<32} {}", shape(&mut values));
        }
    }
}

#[test]
#[ignore = "a look; needs `make run`"]
fn show() {
    let episodes = common::folder(Path::new(TRACES));
    let codec = codec(&episodes, 1024);
    for episode in episodes.iter().step_by(60) {
        let transcript = Transcript::of(Arc::clone(&codec), Renderer::new(Style::Compact), episode.view()).unwrap();
        println!("=== {} {}: {} tokens", episode.schema, episode.family, transcript.tokens().len());
        let tokens = transcript.tokens().iter().map(|token| String::from_utf8_lossy(codec.bytes_of(*token)));
        println!("{}\n", tokens.collect::<Vec<_>>().join("·"));
    }
}

/// Mask times over every call of the oracle, as it is written token by token.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn masks() {
    for vocabulary in [512, 1024, 2048] {
        let codec = common::codec(&common::episodes(), vocabulary);
        let tools = common::tools("state");
        let (mut masks, mut accepts, mut clones, mut builds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut sampled, mut alone) = (0, 0);
        let mut grammars: BTreeMap<String, Grammar> = BTreeMap::new();
        for call in common::oracle_calls() {
            let grammar = grammars.entry(call.schema.clone()).or_insert_with(|| {
                let now = Instant::now();
                let names: Vec<String> = common::oracle_calls().into_iter().flat_map(|call| call.answer).collect();
                let grammar = Grammar::new(&codec, &tools, &common::lexicon(&call.schema, &names)).unwrap();
                builds.push(usize::try_from(now.elapsed().as_nanos()).unwrap());
                grammar
            });
            let mut state = grammar.start();
            for token in codec.encode(&Renderer::new(Style::Compact).call(&tools, &call.action)).unwrap() {
                let time = |work: &mut dyn FnMut(), into: &mut Vec<usize>| {
                    let now = Instant::now();
                    work();
                    into.push(usize::try_from(now.elapsed().as_nanos()).unwrap());
                };
                let mut count = 0;
                time(&mut || count = state.mask().unwrap().count(), &mut masks);
                time(&mut || drop(state.clone()), &mut clones);
                time(&mut || state.accept(token).unwrap(), &mut accepts);
                sampled += 1;
                alone += usize::from(count == 1);
            }
        }
        println!("vocabulary {vocabulary}: nanoseconds, mean, p95 and most; {alone} of {sampled} masks hold one token");
        for (name, mut values) in [("mask", masks), ("accept", accepts), ("clone", clones), ("build", builds)] {
            let shape = shape(&mut values);
            println!("  {name:<8} {shape} {:>9}", values.last().unwrap());
        }
    }
}
