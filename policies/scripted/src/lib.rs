//! Scripted policies: floors and ceilings. The oracle shows that every task can be done; the
//! others show that nothing scores without doing it.
//!
//! These policies are the only ones that look into a task; a policy that is judged sees its
//! [`View`] alone.

use serde_json::json;
use tribunal_protocol::Value;
use tribunal_protocol::policy::{Action, Observation, Policies, Policy, View, names};
use tribunal_protocol::task::{AnswerColumn, Task};
use tribunal_protocol::value::Kind;

mod hack;
mod queries;

pub use hack::Hack;

/// The scripted policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scripted {
    /// Does what the task's own solution says; the ceiling.
    Oracle,
    /// Does nothing at all.
    NoOp,
    /// Hands the instruction back: as a table where an answer is wanted, in words elsewhere.
    Echo,
    /// Hands in one constant row of plausible values.
    Guesser,
    /// Calls every tool over and over, then hands in the last table that it saw.
    Spammer,
}

impl Scripted {
    /// All of them, ceiling first.
    pub const ALL: [Scripted; 5] =
        [Scripted::Oracle, Scripted::NoOp, Scripted::Echo, Scripted::Guesser, Scripted::Spammer];

    /// The policy of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Scripted> {
        Scripted::ALL.into_iter().find(|policy| Policies::name(policy) == name)
    }
}

impl Policies for Scripted {
    fn name(&self) -> &'static str {
        match self {
            Scripted::Oracle => "oracle",
            Scripted::NoOp => "no-op",
            Scripted::Echo => "echo",
            Scripted::Guesser => "guesser",
            Scripted::Spammer => "spammer",
        }
    }

    fn start(&self, task: &Task, _attempt: u32, seed: u64) -> Box<dyn Policy> {
        match self {
            Scripted::Oracle => Box::new(Script::new(task.oracle.clone())),
            Scripted::NoOp => Box::new(Script::new(Vec::new())),
            Scripted::Echo => Box::new(Script::new(echo(task))),
            Scripted::Guesser => Box::new(Script::new(guess(task, seed))),
            Scripted::Spammer => Box::new(Spammer { calls: 0 }),
        }
    }
}

/// Plays a fixed list of actions, then gives up.
#[derive(Clone, Debug)]
pub struct Script {
    actions: std::vec::IntoIter<Action>,
}

impl Script {
    /// A policy that plays `actions` in order.
    #[must_use]
    pub fn new(actions: Vec<Action>) -> Script {
        Script { actions: actions.into_iter() }
    }
}

impl Policy for Script {
    fn act(&mut self, _view: View<'_>) -> Result<Option<Action>, String> {
        Ok(self.actions.next())
    }
}

/// Hands in one row that repeats the instruction in every column that takes text.
fn echo(task: &Task) -> Vec<Action> {
    let value = |column: &AnswerColumn| match column.kind {
        Kind::Text | Kind::Unknown => Value::Text(task.instruction.clone()),
        _ => Value::Null,
    };
    let row: Vec<Value> = task.answer.iter().map(value).collect();
    if task.answer.is_empty() {
        // An abstention that repeats the whole instruction names everything, so nothing.
        let words = json!({"reason": task.instruction, "missing": task.instruction});
        return vec![Action::call(names::ABSTAIN, words)];
    }
    vec![queries::constant(&task.answer, &row), submit(1)]
}

/// Hands in one row of constants: the values that answers of that kind most often have.
fn guess(task: &Task, seed: u64) -> Vec<Action> {
    let pick = |choices: &[Value]| choices.get(usize::try_from(seed).unwrap_or(0) % choices.len()).cloned();
    let value = |column: &AnswerColumn| {
        let choices = match column.kind {
            Kind::Boolean => vec![Value::Boolean(true), Value::Boolean(false)],
            Kind::Integer => [1, 0, 2, 10, 100].map(Value::Integer).to_vec(),
            Kind::Float => [0.5, 0.0, 1.0, 0.25].map(Value::Float).to_vec(),
            Kind::Decimal => [100, 0, 10].map(|d| Value::Decimal(d.into())).to_vec(),
            Kind::Text | Kind::Unknown => ["active", "Acme", "2025-Q1"].map(|t| Value::Text(t.to_owned())).to_vec(),
            Kind::Date => vec![Value::Date(20_089)],
            Kind::Timestamp => vec![Value::Timestamp(1_735_689_600_000_000)],
        };
        pick(&choices).unwrap_or(Value::Null)
    };
    if task.answer.is_empty() {
        return vec![Action::call(names::DONE, json!({}))];
    }
    if seed % 4 == 3 {
        let words = json!({"reason": "not in the database", "missing": "the data"});
        return vec![Action::call(names::ABSTAIN, words)];
    }
    let row: Vec<Value> = task.answer.iter().map(value).collect();
    vec![queries::constant(&task.answer, &row), submit(1)]
}

fn submit(call: usize) -> Action {
    Action::call(names::SUBMIT, json!({ "call": call }))
}

/// Calls each tool in turn with arguments it can see, up to its step limit.
struct Spammer {
    calls: usize,
}

impl Policy for Spammer {
    fn act(&mut self, view: View<'_>) -> Result<Option<Action>, String> {
        let left = (view.briefing.steps as usize).saturating_sub(view.turns.len());
        if left <= 1 {
            let seen = |observation: &Observation| matches!(observation, Observation::Result { table: Some(_), .. });
            let last = view.turns.iter().rposition(|turn| seen(&turn.observation));
            return Ok(Some(last.map_or_else(|| Action::call(names::DONE, json!({})), |turn| submit(turn + 1))));
        }
        let tools: Vec<_> =
            view.briefing.tools.iter().filter(|tool| !names::ALL.contains(&tool.name.as_str())).collect();
        let Some(tool) = tools.get(self.calls % tools.len().max(1)) else {
            return Ok(None);
        };
        self.calls += 1;
        Ok(Some(Action::call(&tool.name, queries::spam_arguments(tool, view.turns))))
    }
}
