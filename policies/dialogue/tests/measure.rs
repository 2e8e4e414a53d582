//! Measurements over a whole run of the oracle; not a test, so ignored unless it is asked for:
//! `make run`, then `cargo test -p tribunal-dialogue --test measure -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use common::Episode;
use tribunal_dialogue::{Codec, Grammar, Lexicon, Renderer, Role, State, Style, Transcript};

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

/// Every action of every recorded oracle is lawful, in any run.
#[test]
#[ignore = "needs `make run`"]
fn lawful() {
    let mut episodes = common::folder(Path::new(TRACES));
    let mut lexicons: BTreeMap<String, Lexicon> = BTreeMap::new();
    for episode in &episodes {
        let id = format!("{} {}", episode.schema, episode.listing());
        common::add_listing(lexicons.entry(id).or_default(), &episode.turns);
    }
    let codec = codec(&episodes, 1024);
    episodes.sort_by_key(|episode| format!("{} {}", episode.schema, episode.listing()));
    let (mut calls, mut refused) = (0, 0);
    for episode in &episodes {
        let mut lexicon = lexicons[&format!("{} {}", episode.schema, episode.listing())].clone();
        episode.briefing.answer.iter().for_each(|column| lexicon.name(&column.name));
        let grammar = Grammar::new(&codec, &episode.briefing.tools, &lexicon).unwrap();
        for turn in &episode.turns {
            let call = Renderer::new(Style::Compact).call(&episode.briefing.tools, &turn.action);
            let mut state = grammar.start();
            let stopped = codec.encode(&call).unwrap().into_iter().find(|token| state.accept(*token).is_err());
            calls += 1;
            if let Some(token) = stopped {
                refused += 1;
                let (done, here) = (codec.decode(state.tokens()), codec.decode(&[token]));
                println!(
                    "{} {}: {} | {}",
                    episode.schema,
                    episode.family,
                    String::from_utf8_lossy(&done),
                    String::from_utf8_lossy(&here)
                );
            }
        }
    }
    println!("{calls} calls, {refused} refused");
    assert_eq!(refused, 0);
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

/// Processor time of this thread in nanoseconds; a clock would count the neighbours' work too.
fn processor() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// What masks cost over every call of the oracle, written token by token: the second of two rounds,
/// for what a lexer learns in the first serves all that come later.
#[test]
#[ignore = "a measurement"]
fn masks() {
    for vocabulary in [512, 1024, 2048] {
        let codec = common::codec(&common::episodes(), vocabulary);
        let tools = common::tools("state");
        let calls = common::oracle_calls();
        let names: Vec<String> = calls.iter().flat_map(|call| call.answer.clone()).collect();
        let started = processor();
        let schemas: BTreeMap<&str, Grammar> = calls
            .iter()
            .map(|call| call.schema.as_str())
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .map(|schema| (schema, Grammar::new(&codec, &tools, &common::lexicon(schema, &names)).unwrap()))
            .collect();
        let built = (processor() - started) / schemas.len() as u64;
        let round = |work: &mut dyn FnMut(&mut State)| {
            let (mut spent, mut steps) = (0, 0);
            for call in &calls {
                let mut state = schemas[call.schema.as_str()].start();
                for token in codec.encode(&Renderer::new(Style::Compact).call(&tools, &call.action)).unwrap() {
                    let now = processor();
                    work(&mut state);
                    spent += processor() - now;
                    steps += 1;
                    state.accept(token).unwrap();
                }
            }
            spent / steps
        };
        let overhead = round(&mut |_| {});
        let mut alone = 0;
        let mut mask = |state: &mut State| alone += u64::from(state.mask().unwrap().count() == 1);
        let (cold, warm) = (round(&mut mask), round(&mut mask));
        let clone = round(&mut |state| drop(state.clone()));
        let accept = round(&mut |state| {
            // The token that the walk takes next is not known here: any lawful one costs the same.
            let mut other = state.clone();
            let token = other.mask().unwrap().tokens().next().unwrap();
            other.accept(token).unwrap();
        });
        println!(
            "vocabulary {vocabulary}: mask {} ns ({} in the first round), clone {} ns, clone + mask + accept {} ns, \
             grammar {built} ns; {alone} masks of one token",
            warm - overhead,
            cold - overhead,
            clone - overhead,
            accept - overhead
        );
    }
}
