//! One attempt: start, step, finish.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tribunal_database::{State, changes};
use tribunal_protocol::event::{End, Event, Step};
use tribunal_protocol::evidence::{Question, Submission, ToolCall};
use tribunal_protocol::failure::Failure;
use tribunal_protocol::fault::Fault;
use tribunal_protocol::policy::{Action, Observation, Policy, Turn, View, names};
use tribunal_protocol::session::TableChanges;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::Verdict;

use crate::alone::first_problem;
use crate::judge;
use crate::prepare::Prepared;
use crate::submit;

/// How deep arguments may be nested: a trace is read again by readers that end at 128.
const ARGUMENTS_DEPTH: usize = 64;
/// Bytes of arguments, as JSON.
const ARGUMENTS_BYTES: usize = 1 << 20;
/// What is recorded in the place of arguments that no trace can hold, and what the agent reads.
/// A replay finds it in the trace and does the same.
const TOO_MUCH: &str = "arguments are at most 64 levels deep and 1 MiB of JSON";

/// What an attempt handed in: the submission, and which call made it where it was a call's result.
pub(crate) struct HandedIn {
    pub(crate) submission: Submission,
    pub(crate) call: Option<usize>,
}

/// One attempt at one task on its own fork.
pub struct Episode<'a> {
    pub(crate) prepared: &'a Prepared,
    pub(crate) state: State,
    pub(crate) turns: Vec<Turn>,
    pub(crate) questions: Vec<Question>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) spent: Vec<Usage>,
    called: BTreeMap<String, u32>,
    events: Vec<Event>,
    pub(crate) handed_in: Option<HandedIn>,
    fault: Option<Fault>,
    usage: Usage,
    violations: u32,
}

/// What one action led to, before it is recorded.
pub(crate) struct Effect {
    pub(crate) observation: Observation,
    pub(crate) usage: Usage,
    pub(crate) violations: u32,
    pub(crate) denials: Vec<String>,
    pub(crate) changed: bool,
}

impl Effect {
    /// An effect that used nothing and changed nothing.
    pub(crate) fn plain(observation: Observation) -> Effect {
        Effect { observation, usage: Usage::default(), violations: 0, denials: Vec::new(), changed: false }
    }
}

impl<'a> Episode<'a> {
    /// Starts an attempt on a fresh fork of the task's visible data.
    #[must_use]
    pub fn start(prepared: &'a Prepared, policy: &str, attempt: u32, seed: u64) -> Episode<'a> {
        let header = prepared.header(policy, attempt, seed);
        Episode {
            prepared,
            state: prepared.snapshots[0].fork(),
            turns: Vec::new(),
            questions: Vec::new(),
            calls: Vec::new(),
            spent: vec![Usage::default(); prepared.holders.len()],
            called: BTreeMap::new(),
            events: vec![Event::Header(Box::new(header))],
            handed_in: None,
            fault: None,
            usage: Usage::default(),
            violations: 0,
        }
    }

    /// What the policy sees now.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View { briefing: &self.prepared.briefing, turns: &self.turns }
    }

    /// Whether the episode takes no further action.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.handed_in.is_some() || self.fault.is_some() || self.turns.len() >= self.prepared.task.steps as usize
    }

    /// Takes one action. After the end, actions are refused and leave no record.
    pub fn step(&mut self, action: Action) -> Observation {
        if self.ended() {
            return Observation::Failure(Failure::invalid("the episode has ended"));
        }
        let action = recordable(action);
        let effect = self.act(&action);
        self.usage.add(&effect.usage);
        self.violations += u32::from(effect.violations > 0);
        let step = Step {
            number: u32::try_from(self.turns.len() + 1).unwrap_or(u32::MAX),
            action: action.clone(),
            observation: effect.observation.clone(),
            usage: effect.usage,
            violation: effect.violations > 0,
            denials: effect.denials,
            state: effect.changed.then(|| self.state.digest()),
        };
        self.events.push(Event::Step(Box::new(step)));
        self.turns.push(Turn { action, observation: effect.observation.clone() });
        effect.observation
    }

    /// Voids the episode.
    pub fn void(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// What was changed so far, as far as the verifier's contract reaches.
    #[must_use]
    pub fn changes(&self) -> Vec<TableChanges> {
        changes(&self.prepared.snapshots[0].fork(), &self.state, &self.prepared.verifier.contract)
    }

    /// Ends the episode: the verifier decides, and all events are handed out.
    #[must_use]
    pub fn finish(mut self) -> Vec<Event> {
        let verdict = match (self.fault.take(), self.handed_in.take()) {
            (Some(fault), _) => Verdict::Void(fault),
            (None, None) => Verdict::Invalid { reason: self.why_nothing().to_owned() },
            (None, Some(handed_in)) => {
                let judgements = judge::judge(&self, &handed_in);
                let verdict = judge::together(&judgements);
                self.events.extend(judgements.into_iter().map(|judgement| Event::Judgement(Box::new(judgement))));
                verdict
            }
        };
        let end = End { verdict, usage: self.usage, violations: self.violations };
        self.events.push(Event::End(Box::new(end)));
        self.events
    }

    fn why_nothing(&self) -> &'static str {
        if self.turns.len() >= self.prepared.task.steps as usize { "step-limit" } else { "no-submission" }
    }

    fn act(&mut self, action: &Action) -> Effect {
        let refuse = |failure: Failure| Effect::plain(Observation::Failure(failure));
        if action.arguments == TOO_MUCH {
            return refuse(Failure::invalid(format!("{}: {TOO_MUCH}", action.tool)));
        }
        let Some(tool) = self.prepared.tools.get(&action.tool) else {
            return refuse(Failure::unknown(self.no_such_tool(&action.tool)));
        };
        if let Some(problem) = first_problem(&tool.validator, &action.tool, &action.arguments) {
            return refuse(problem);
        }
        let count = self.called.entry(action.tool.clone()).or_default();
        *count += 1;
        let nth = *count;
        let mut planned = self.prepared.task.failures.iter();
        if let Some(planned) = planned.find(|planned| planned.tool == action.tool && planned.nth == nth) {
            self.record(action, Some(planned.failure.code));
            return refuse(planned.failure.clone());
        }
        match tool.holder {
            Some(holder) => self.call_plugin(holder, action),
            None => self.call_episode(action),
        }
    }

    fn no_such_tool(&self, name: &str) -> String {
        let known: Vec<&str> = self.prepared.briefing.tools.iter().map(|tool| tool.name.as_str()).collect();
        let name: String = name.chars().take(60).collect();
        format!("no tool `{name}`; there are {}", known.join(", "))
    }

    /// Notes a plugin call for the verifier.
    pub(crate) fn record(&mut self, action: &Action, failure: Option<tribunal_protocol::Code>) {
        let call = ToolCall { tool: action.tool.clone(), arguments: action.arguments.clone(), failure };
        self.calls.push(call);
    }

    fn call_episode(&mut self, action: &Action) -> Effect {
        let handed_in = match action.tool.as_str() {
            names::ASK => return self.ask(action),
            names::DONE => Ok(HandedIn { submission: Submission::Done, call: None }),
            names::ABSTAIN => Ok(HandedIn { submission: submit::abstention(action), call: None }),
            _ => submit::answer(&self.prepared.task, &self.turns, action),
        };
        match handed_in {
            Ok(handed_in) => {
                self.handed_in = Some(handed_in);
                Effect::plain(Observation::Result { text: "handed in".to_owned(), table: None })
            }
            Err(failure) => Effect::plain(Observation::Failure(failure)),
        }
    }
}

/// The action as a trace can hold it.
fn recordable(action: Action) -> Action {
    let fits = shallow(&action.arguments, ARGUMENTS_DEPTH) && action.arguments.to_string().len() <= ARGUMENTS_BYTES;
    if fits { action } else { Action { arguments: TOO_MUCH.into(), ..action } }
}

fn shallow(value: &Json, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match value {
        Json::Array(items) => items.iter().all(|item| shallow(item, below)),
        Json::Object(fields) => fields.values().all(|item| shallow(item, below)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => true,
    }
}

/// Drives a policy through one attempt; gives all events.
pub fn run(prepared: &Prepared, name: &str, policy: &mut dyn Policy, attempt: u32, seed: u64) -> Vec<Event> {
    let mut episode = Episode::start(prepared, name, attempt, seed);
    while !episode.ended() {
        match policy.act(episode.view()) {
            Ok(Some(action)) => {
                episode.step(action);
            }
            Ok(None) => break,
            Err(message) => episode.void(Fault::Policy { policy: name.to_owned(), message }),
        }
    }
    episode.finish()
}
