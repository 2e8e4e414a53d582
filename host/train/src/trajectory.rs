//! Verified trajectories: a solution, or a detour and its recovery, played in the real environment
//! and kept only where the verifier gave the full reward.

use serde_json::Value as Json;
use std::sync::Arc;
use tribunal_dialogue::{Codec, Renderer, Transcript};
use tribunal_episode::{Prepared, run};
use tribunal_protocol::event::Event;
use tribunal_protocol::policy::{Action, Observation, View, names};
use tribunal_scripted::Script;

use crate::error::TrainError;
use crate::random::Stream;

/// A trajectory as text-free steps: what was done and seen, and which steps are to be learned.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// The task's id.
    pub task: String,
    /// The events of the episode, its verdict among them.
    pub events: Vec<Event>,
    /// For each step whether it is learned: a detour's wrong turn is read, not imitated.
    pub learned: Vec<bool>,
}

/// A trajectory as tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// All tokens.
    pub tokens: Vec<u32>,
    /// The places of the tokens that are learned: the policy's own, wrong turns left out.
    pub learned: Vec<usize>,
}

/// Plays a task's own solution, or, with a stream that says so, a detour before it. None where the
/// verifier does not give the full reward, or the detour did not fail as it should.
#[must_use]
pub fn verified(prepared: &Prepared, seed: u64, detours: f64) -> Option<Trajectory> {
    let oracle = &prepared.task().oracle;
    let mut stream = Stream::new(seed, &["detour", &prepared.task().id]);
    let wanted = stream.unit() < detours;
    let detoured = wanted.then(|| detour(prepared, oracle, &mut stream)).flatten();
    let (actions, wrong) = match detoured {
        Some((actions, wrong)) => (actions, Some(wrong)),
        None => (oracle.clone(), None),
    };
    let events = run(prepared, "teacher", &mut Script::new(actions), 0, seed);
    let passed = matches!(events.last(), Some(Event::End(end)) if end.verdict.passed());
    let steps: Vec<&Observation> = events
        .iter()
        .filter_map(|event| match event {
            Event::Step(step) => Some(&step.observation),
            _ => None,
        })
        .collect();
    // A wrong turn that did not fail taught nothing: what came of it looks like an answer.
    let failed = wrong.is_none_or(|wrong| matches!(steps.get(wrong), Some(Observation::Failure(_))));
    let learned = (0..steps.len()).map(|step| wrong != Some(step)).collect();
    (passed && failed).then(|| Trajectory { task: prepared.task().id.clone(), events, learned })
}

/// A wrong query before the right one: another column, or the right one of another table: what a
/// policy that has read the names and not yet where they belong gets wrong. Gives all actions and the
/// place of the wrong one.
fn detour(prepared: &Prepared, oracle: &[Action], stream: &mut Stream) -> Option<(Vec<Action>, usize)> {
    let place = oracle.iter().rposition(|action| action.tool == "query")?;
    let sql = oracle[place].arguments.get("sql").and_then(Json::as_str)?;
    let visible = prepared.visible();
    let columns: Vec<&String> = visible.values().flatten().filter(|column| is_named(sql, column)).collect();
    let column = columns.get(stream.below(columns.len()))?;
    // Another table's column, or the same name with something behind it.
    let others: Vec<&String> = visible.values().flatten().filter(|other| other != column).collect();
    let other = others.get(stream.below(others.len()))?;
    let wrong = match stream.below(3) {
        0 => sql.replacen(&format!(".{column}"), &format!(".{other}"), 1),
        _ => of_another_table(sql, column)?,
    };
    if wrong == sql {
        return None;
    }
    let mut actions = oracle.to_vec();
    let mut first = oracle[place].clone();
    first.arguments["sql"] = wrong.into();
    actions.insert(place, first);
    for action in actions.iter_mut().skip(place + 1).filter(|action| action.tool == names::SUBMIT) {
        // Calls are counted from 1, and those behind the wrong one are one further now.
        if let Some(call) = action.arguments.get("call").and_then(Json::as_u64)
            && call > place as u64
        {
            action.arguments["call"] = (call + 1).into();
        }
    }
    Some((actions, place))
}

/// The query with a column taken from another of its two tables, wherever it stands.
fn of_another_table(sql: &str, column: &str) -> Option<String> {
    let [one, two] = [" d.", " o."];
    let joined = sql.contains(" JOIN ") && sql.contains(one) && sql.contains(two);
    let (from, to) = match (sql.contains(&format!("d.{column}")), sql.contains(&format!("o.{column}"))) {
        (true, false) => ("d", "o"),
        (false, true) => ("o", "d"),
        _ => return None,
    };
    joined.then(|| sql.replace(&format!("{from}.{column}"), &format!("{to}.{column}")))
}

fn is_named(sql: &str, column: &str) -> bool {
    let name = format!(".{column}");
    sql.match_indices(&name).any(|(start, _)| {
        let next = sql[start + name.len()..].chars().next();
        next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
    })
}

impl Trajectory {
    /// The trajectory as tokens: the very tokens that a rollout of the same calls would have.
    ///
    /// # Errors
    /// A mark that the codec lacks.
    pub fn sample(&self, codec: &Arc<Codec>) -> Result<Sample, TrainError> {
        let transcript = self.transcript(codec)?;
        let own = transcript.mask();
        let mut learned = Vec::new();
        let mut turn = 0;
        for (place, is_own) in own.iter().enumerate() {
            if *is_own == 1 && self.learned.get(turn).copied().unwrap_or(false) {
                learned.push(place);
            }
            // A turn ends with its end token.
            if *is_own == 1 && own.get(place + 1).is_none_or(|next| *next == 0) {
                turn += 1;
            }
        }
        Ok(Sample { tokens: transcript.tokens().to_vec(), learned })
    }

    /// The episode as it is read and written.
    ///
    /// # Errors
    /// As [`Trajectory::sample`].
    pub fn transcript(&self, codec: &Arc<Codec>) -> Result<Transcript, TrainError> {
        let mut turns = Vec::new();
        let mut briefing = None;
        for event in &self.events {
            match event {
                Event::Header(header) => briefing = Some(&header.briefing),
                Event::Step(step) => turns.push(tribunal_protocol::policy::Turn {
                    action: step.action.clone(),
                    observation: step.observation.clone(),
                }),
                _ => {}
            }
        }
        let briefing =
            briefing.ok_or_else(|| TrainError::Nothing(format!("{}: a trajectory without header", self.task)))?;
        let renderer = Renderer::new(codec.style());
        Ok(Transcript::of(Arc::clone(codec), renderer, View { briefing, turns: &turns })?)
    }

    /// All that is written in it, for training a tokenizer.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let renderer = Renderer::new(tribunal_dialogue::Style::Compact);
        let mut texts = Vec::new();
        let mut tools = Vec::new();
        let mut number = 0;
        let mut answer = false;
        for event in &self.events {
            match event {
                Event::Header(header) => {
                    tools.clone_from(&header.briefing.tools);
                    answer = !header.briefing.answer.is_empty();
                    texts.extend(own(&renderer.opening(&header.briefing)));
                }
                Event::Step(step) => {
                    number += 1;
                    texts.extend(own(&renderer.call(&tools, &step.action)));
                    let call = tribunal_dialogue::Call { number, tool: &step.action.tool, answer };
                    texts.extend(own(&renderer.observation(call, &step.observation)));
                }
                _ => {}
            }
        }
        texts
    }
}

fn own(pieces: &[tribunal_dialogue::Piece]) -> Vec<String> {
    tribunal_dialogue::render::texts(pieces).map(str::to_owned).collect()
}
