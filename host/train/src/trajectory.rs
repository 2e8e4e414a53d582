//! Verified trajectories: a solution, or a detour and its recovery, played in the real environment
//! and kept only where the verifier gave the full reward.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;
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

/// A wrong query before the right one, as a policy gets it wrong that has read the names and not yet where
/// they belong. Gives all actions and the place of the wrong one.
fn detour(prepared: &Prepared, oracle: &[Action], stream: &mut Stream) -> Option<(Vec<Action>, usize)> {
    let place = oracle.iter().rposition(|action| action.tool == "query")?;
    let sql = oracle[place].arguments.get("sql").and_then(Json::as_str)?;
    let visible = prepared.visible();
    let wrong = match stream.below(3) {
        0 => misjoined(sql, &visible, stream),
        1 => flattened(sql),
        _ => None,
    };
    let wrong = wrong.or_else(|| misread(sql, &visible, stream))?;
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

/// The query with one of its columns called by another table's name for a column, in its first place.
fn misread(sql: &str, visible: &BTreeMap<String, BTreeSet<String>>, stream: &mut Stream) -> Option<String> {
    let (read, unread): (Vec<_>, Vec<_>) = visible.iter().partition(|(table, _)| word(sql, table).is_some());
    let columns =
        |of: &[(&String, &BTreeSet<String>)]| -> Vec<String> { of.iter().flat_map(|(_, all)| *all).cloned().collect() };
    let known = columns(&read);
    let named: Vec<&String> = known.iter().filter(|column| word(sql, column).is_some()).collect();
    let others: Vec<String> = columns(&unread).into_iter().filter(|column| !known.contains(column)).collect();
    let (column, other) = (named.get(stream.below(named.len()))?, others.get(stream.below(others.len()))?);
    let place = word(sql, column)?;
    Some(format!("{}{other}{}", &sql[..place], &sql[place + column.len()..]))
}

/// The query with another table joined than the one that is meant.
fn misjoined(sql: &str, visible: &BTreeMap<String, BTreeSet<String>>, stream: &mut Stream) -> Option<String> {
    let (before, after) = sql.split_once(" JOIN ")?;
    let (joined, rest) = after.split_once(' ')?;
    let others: Vec<&String> = visible.keys().filter(|table| *table != joined).collect();
    let other = others.get(stream.below(others.len()))?;
    let rest = rest.replacen(&format!("{joined}.id"), &format!("{other}.id"), 1);
    Some(format!("{before} JOIN {other} {rest}"))
}

/// The query with what is asked of rows that belong to a row asked of the row itself.
fn flattened(sql: &str) -> Option<String> {
    let (before, inner) = sql.split_once(".id IN (SELECT ")?;
    let key = before.rfind(' ')?;
    let (inner, after) = inner.split_once(')')?;
    let (_, condition) = inner.split_once(" WHERE ")?;
    Some(format!("{} {condition}{after}", &before[..key]))
}

/// Where a name stands in a query as a whole word, first.
fn word(sql: &str, name: &str) -> Option<usize> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let apart =
        |start: usize| !sql[..start].ends_with(part_of_word) && !sql[start + name.len()..].starts_with(part_of_word);
    sql.match_indices(name).map(|(start, _)| start).find(|start| apart(*start))
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

#[cfg(test)]
mod tests {
    use super::*;

    const SQL: &str = "SELECT shift AS shift, COUNT(*) AS n FROM tickets JOIN helpers ON helpers.id = tickets.helper_id \
                       WHERE tickets.id IN (SELECT ticket_id FROM replies WHERE via = 'chat') GROUP BY shift";

    fn visible(tables: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        tables.iter().map(|(table, names)| ((*table).to_owned(), columns(names))).collect()
    }

    #[test]
    fn every_wrong_turn_is_the_one_that_it_says() {
        assert_eq!(
            flattened(SQL).unwrap(),
            "SELECT shift AS shift, COUNT(*) AS n FROM tickets JOIN helpers ON helpers.id = tickets.helper_id WHERE via = 'chat' GROUP BY shift"
        );
        assert_eq!(flattened("SELECT id FROM tickets WHERE state = 'new'"), None);

        let tables = visible(&[("helpers", &["id"]), ("topics", &["code"])]);
        let joined = misjoined(SQL, &tables, &mut Stream::new(1, &[])).unwrap();
        assert!(joined.contains("FROM tickets JOIN topics ON topics.id = tickets.helper_id WHERE"), "{joined}");
        assert_eq!(misjoined("SELECT id FROM tickets", &tables, &mut Stream::new(1, &[])), None);

        // One column of the query's tables, whole, in its first place; the other is of no table in it.
        let tables = visible(&[("tickets", &["state"]), ("topics", &["code"])]);
        let misread = misread("SELECT estate, state FROM tickets WHERE state = 1", &tables, &mut Stream::new(1, &[]));
        assert_eq!(misread.unwrap(), "SELECT estate, code FROM tickets WHERE state = 1");
    }
}
