//! One guest of the corpus in its role: a tool that an honest agent calls, the verifier of an
//! honest answer, or the user whom it asks.

use std::sync::Arc;

use serde_json::json;
use tribunal_episode::{Prepared, replay};
use tribunal_protocol::event::Event;
use tribunal_protocol::plugin::PluginKind;
use tribunal_protocol::policy::{Action, Observation, names};
use tribunal_protocol::task::Task;
use tribunal_protocol::verdict::Verdict;
use tribunal_sandbox::{Compiler, Plugin, Sandbox, SandboxOptions};
use tribunal_scripted::Script;

use crate::guest::Case;
use crate::world::{CANARY, QUERY, World, limits, task, user};

/// What became of a guest.
pub(crate) enum Outcome {
    /// It was not let in.
    Refused(String),
    /// It took part.
    Played {
        /// As in `expect.toml`.
        verdict: String,
        /// Which instance of the data decided.
        instance: u32,
        /// What broke.
        fault: Option<String>,
        /// What the agent read from it.
        answers: Vec<String>,
    },
}

impl Outcome {
    /// One line.
    pub(crate) fn shown(&self) -> String {
        let text = match self {
            Outcome::Refused(text) => format!("refused: {text}"),
            Outcome::Played { verdict, fault: Some(fault), .. } => format!("{verdict}: {fault}"),
            Outcome::Played { verdict, answers, .. } => format!("{verdict}: {}", answers.join(" | ")),
        };
        text.replace('\n', " ").chars().take(300).collect()
    }
}

/// Lets a guest do what it came for.
pub(crate) fn run(world: &World, case: &Case) -> Outcome {
    let plugin = match load(world, case) {
        Ok(plugin) => plugin,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let limits = case.limits.clone().unwrap_or_else(limits);
    let prepared = world
        .stage(Arc::clone(&plugin), limits)
        .and_then(|stage| Prepared::new(&stage, Arc::new(task_with(case))).map_err(|fault| fault.to_string()));
    match prepared {
        Ok(prepared) => play(&prepared, case),
        Err(refusal) => Outcome::Refused(refusal),
    }
}

fn load(world: &World, case: &Case) -> Result<Arc<Plugin>, String> {
    let sandbox = case.limits.clone().map(|limits| {
        // Limits of compiling hold in a child of the real program.
        let program = tribunal_tests::tool::binary();
        let compiler = Compiler::Child { program, arguments: vec!["compile-worker".into()] };
        Sandbox::new(SandboxOptions { limits, compiler, cache: None, concurrent_calls: 2, ..SandboxOptions::default() })
            .unwrap()
    });
    let sandbox = sandbox.as_ref().unwrap_or(&world.sandbox);
    sandbox.load(&case.name, &case.component).map_err(|fault| fault.to_string())
}

fn task_with(case: &Case) -> Task {
    let mut task = task();
    let name = case.says_name();
    match case.world {
        PluginKind::Tool => task.tools.push(name.to_owned()),
        PluginKind::Verifier => task.verifier = name.to_owned(),
        PluginKind::User => task.user = Some(user(name)),
    }
    task
}

fn play(prepared: &Prepared, case: &Case) -> Outcome {
    let guest = match case.world {
        PluginKind::Tool => Some(Action::call("act", case.given())),
        PluginKind::User => Some(Action::call(names::ASK, json!({"about": "regions", "question": "which ones?"}))),
        PluginKind::Verifier => None,
    };
    let mut actions: Vec<Action> = guest.into_iter().flat_map(|action| vec![action; case.acts]).collect();
    actions.push(Action::call("query", json!({"sql": QUERY})));
    let honest = actions.len();
    actions.push(Action::call(names::SUBMIT, json!({"call": case.submit.unwrap_or(honest)})));
    let events = run_script(prepared, actions);
    checked(prepared, &events, case);
    let (verdict, instance, fault) = verdict(&events);
    Outcome::Played { verdict, instance, fault, answers: answers(&events) }
}

fn run_script(prepared: &Prepared, actions: Vec<Action>) -> Vec<Event> {
    tribunal_episode::run(prepared, "honest", &mut Script::new(actions), 0, 0)
}

/// What holds of every episode, whoever takes part: no secret is read, the trace can be read
/// again, and a second run of it gives the same bytes (but where the wall clock ended it).
fn checked(prepared: &Prepared, events: &[Event], case: &Case) {
    let name = &case.name;
    for event in events {
        if let Event::Step(step) = event {
            let shown = serde_json::to_string(&step.observation).unwrap();
            assert!(!shown.contains(CANARY), "{name}: the agent read {shown}");
        }
    }
    let bytes = tribunal_trace::write(events).unwrap();
    let read = tribunal_trace::read(&bytes).unwrap_or_else(|fault| panic!("{name}: its trace: {fault}"));
    let again = replay(prepared, &read);
    assert_eq!(again.difference, None, "{name}: another run was another one");
}

fn answers(events: &[Event]) -> Vec<String> {
    let answer = |event: &Event| match event {
        Event::Step(step) if step.action.tool == "act" || step.action.tool == names::ASK => {
            Some(match &step.observation {
                Observation::Result { text, .. } => text.clone(),
                Observation::Failure(failure) => failure.to_string(),
            })
        }
        _ => None,
    };
    events.iter().filter_map(answer).collect()
}

/// The verdict in words, the instance that decided, and the fault.
pub(crate) fn verdict(events: &[Event]) -> (String, u32, Option<String>) {
    let Some(Event::End(end)) = events.last() else { panic!("an episode without an end") };
    match &end.verdict {
        verdict if verdict.passed() => ("passed".to_owned(), 0, None),
        Verdict::Scored(score) => (format!("scored {} {}", score.reward, score.reason), score.instance, None),
        Verdict::Invalid { reason } => (format!("invalid {reason}"), 0, None),
        Verdict::Void(fault) => (format!("void {}", fault.name()), 0, Some(fault.to_string())),
    }
}
