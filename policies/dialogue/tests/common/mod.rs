//! Episodes to test with: one of the oracle for each family of the suite `analytics`.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tribunal_dialogue::{Call, Codec, Lexicon, Mark, Renderer, Style, render};
use tribunal_protocol::event::Event;
use tribunal_protocol::plugin::ToolSpec;
use tribunal_protocol::policy::{Action, Briefing, Observation, Turn, View};

/// One recorded episode.
#[derive(Clone, Debug, Deserialize)]
pub struct Episode {
    pub family: String,
    pub kind: String,
    pub schema: String,
    pub split: String,
    pub briefing: Briefing,
    pub turns: Vec<Turn>,
}

impl Episode {
    pub fn view(&self) -> View<'_> {
        View { briefing: &self.briefing, turns: &self.turns }
    }

    /// The tables that its first listing shows, by name.
    pub fn listing(&self) -> String {
        let mut lexicon = Lexicon::new();
        add_listing(&mut lexicon, &self.turns);
        lexicon.tables().collect::<Vec<_>>().join(" ")
    }

    /// The texts of the episode in a style.
    pub fn texts(&self, style: Style) -> Vec<String> {
        let renderer = Renderer::new(style);
        let answer = !self.briefing.answer.is_empty();
        let mut pieces = renderer.opening(&self.briefing);
        for (turn, number) in self.turns.iter().zip(1..) {
            pieces.extend(renderer.call(&self.briefing.tools, &turn.action));
            pieces.extend(renderer.observation(Call { number, tool: &turn.action.tool, answer }, &turn.observation));
        }
        render::texts(&pieces).map(str::to_owned).collect()
    }
}

/// One distinct call of the oracle.
#[derive(Clone, Debug, Deserialize)]
pub struct OracleCall {
    pub schema: String,
    pub answer: Vec<String>,
    pub action: Action,
}

fn data(name: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()))
}

fn lines<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    data(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The tools of state tasks (all that there are), or of the others.
pub fn tools(kind: &str) -> Vec<ToolSpec> {
    let mut all: BTreeMap<String, Vec<ToolSpec>> = serde_json::from_str(&data("tools.json")).unwrap();
    all.remove(if kind == "state" { "state" } else { "other" }).unwrap()
}

pub fn episodes() -> Vec<Episode> {
    let mut episodes: Vec<Episode> = lines("episodes.jsonl");
    for episode in &mut episodes {
        episode.briefing.tools = tools(&episode.kind);
    }
    episodes
}

/// Every distinct call of the oracle in the suite, `describe_table` aside.
pub fn oracle_calls() -> Vec<OracleCall> {
    lines("calls.jsonl")
}

/// What a schema's tables and columns are, as an agent sees them.
pub fn lexicon(schema: &str, answer: &[String]) -> Lexicon {
    let all: BTreeMap<String, BTreeMap<String, Vec<String>>> = serde_json::from_str(&data("lexicons.json")).unwrap();
    let mut lexicon = Lexicon::new();
    for (table, columns) in &all[schema] {
        lexicon.add(table, columns.iter().map(String::as_str));
    }
    answer.iter().for_each(|name| lexicon.name(name));
    lexicon
}

/// Adds what listings of tables show.
pub fn add_listing(lexicon: &mut Lexicon, turns: &[Turn]) {
    for turn in turns.iter().filter(|turn| turn.action.tool == "list_tables") {
        let Observation::Result { table: Some(table), .. } = &turn.observation else { continue };
        for row in table.to_rows() {
            lexicon.add(&row[0].to_string(), row[2].to_string().split(", "));
        }
    }
}

/// A codec trained on the episodes.
pub fn codec(episodes: &[Episode], vocabulary: usize) -> Arc<Codec> {
    let texts: Vec<String> = episodes.iter().flat_map(|episode| episode.texts(Style::Compact)).collect();
    Arc::new(Codec::train(texts.iter().map(String::as_str), vocabulary).unwrap())
}

/// A tokenizer as chat models have it: byte-level, its added tokens at the end, `<tool_call>` among
/// them or not.
pub fn foreign(episodes: &[Episode], tool_call: bool) -> Json {
    let texts: Vec<String> = episodes.iter().flat_map(|episode| episode.texts(Style::Chat)).collect();
    let codec = Codec::train(texts.iter().map(String::as_str), 700).unwrap();
    let mut file: Json = serde_json::from_str(&codec.to_json()).unwrap();
    file.as_object_mut().unwrap().remove("tribunal");
    let names = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"];
    let added = names.iter().zip(700..).take(if tool_call { 4 } else { 2 }).map(|(content, id)| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
               "normalized": false, "special": !content.contains("tool")})
    });
    file["added_tokens"] = added.collect();
    for mark in Mark::COMPACT {
        file["model"]["vocab"].as_object_mut().unwrap().remove(mark.text());
    }
    file
}

/// The episode of a trace: JSON Lines with the events as Tribunal writes them.
pub fn of_trace(trace: &str) -> Episode {
    let mut header = None;
    let mut turns = Vec::new();
    for line in trace.lines() {
        let mut line: Json = serde_json::from_str(line).unwrap();
        let Some(event) = line.get_mut("event").map(Json::take) else { continue };
        match serde_json::from_value(event).unwrap() {
            Event::Header(read) => header = Some(read),
            Event::Step(step) => turns.push(Turn { action: step.action, observation: step.observation }),
            Event::Judgement(_) | Event::End(_) => {}
        }
    }
    let header = header.unwrap();
    Episode {
        family: header.family.clone(),
        kind: header.kind.to_string(),
        schema: header.schema.to_string(),
        split: header.split.to_string(),
        briefing: header.briefing.clone(),
        turns,
    }
}

/// All episodes of a folder of traces, by name.
pub fn folder(path: &Path) -> Vec<Episode> {
    let mut names: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names.iter().map(|name| of_trace(&std::fs::read_to_string(name).unwrap())).collect()
}
