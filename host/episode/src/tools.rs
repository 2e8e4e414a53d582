//! Calls of plugins on behalf of the agent.

use std::sync::Arc;

use tribunal_database::{DatabaseSession, State};
use tribunal_protocol::Fault;
use tribunal_protocol::evidence::Question;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::policy::{Action, Observation};
use tribunal_protocol::session::Session;
use tribunal_protocol::table::Table;
use tribunal_protocol::usage::Usage;
use tribunal_sandbox::{ReplyInput, ToolInput};

use crate::prepare::Holder;
use crate::run::{Effect, Episode};

/// What the user says where a task has no simulated user.
const NO_USER: &str = "I have nothing to add to what I asked.";
/// What an agent sees of a fault; the rest is in the verdict.
const BROKEN: &str = "the tool broke";

/// What a tool call came to.
pub(crate) struct Called {
    pub(crate) result: Result<Result<(String, Option<Table>), Failure>, Fault>,
    /// The state after the call; only to be kept where the call succeeded.
    pub(crate) state: State,
    /// What this call used.
    pub(crate) usage: Usage,
    /// What this holder's sessions used so far, this call included.
    pub(crate) spent: Usage,
    pub(crate) violations: u32,
    /// What the contract stopped, for authors; never for the agent.
    pub(crate) denials: Vec<String>,
}

/// Calls a tool of a plugin on a fork of `state`.
pub(crate) fn call_tool(holder: &Holder, action: &Action, state: &State, spent: Usage) -> Called {
    let session = DatabaseSession::open(state.clone(), Arc::clone(&holder.contract), spent);
    let arguments = action.arguments.to_string();
    let input = ToolInput { tool: &action.tool, arguments: &arguments, settings: &holder.settings };
    let ran = holder.plugin.call(&input, session, &holder.limits);
    let session = ran.sessions;
    let total = session.usage();
    let violations = session.violations();
    let denials = session.denials().to_vec();
    let mut usage = since(&total, &spent);
    usage.fuel = ran.usage.fuel;
    usage.memory = ran.usage.memory;
    let result = ran.result.map(|result| result.map(|output| (output.text, output.table)));
    Called { result, state: session.into_state(), usage, spent: total, violations, denials }
}

/// What was used after `before`.
fn since(total: &Usage, before: &Usage) -> Usage {
    Usage {
        fuel: 0,
        memory: 0,
        statements: total.statements.saturating_sub(before.statements),
        rows_scanned: total.rows_scanned.saturating_sub(before.rows_scanned),
        rows_returned: total.rows_returned.saturating_sub(before.rows_returned),
        bytes_returned: total.bytes_returned.saturating_sub(before.bytes_returned),
        rows_written: total.rows_written.saturating_sub(before.rows_written),
    }
}

impl Episode<'_> {
    /// One tool call is all or nothing: it runs on a fork, and only a success is kept.
    pub(crate) fn call_plugin(&mut self, index: usize, action: &Action) -> Effect {
        let prepared = self.prepared;
        let called = call_tool(&prepared.holders[index], action, &self.state, self.spent[index]);
        self.spent[index] = called.spent;
        let (observation, changed) = match called.result {
            Err(fault) => {
                self.void(fault);
                (Observation::Failure(Failure::failed(BROKEN)), false)
            }
            Ok(Err(failure)) => {
                self.record(action, Some(failure.code));
                (Observation::Failure(failure), false)
            }
            Ok(Ok((text, table))) => {
                self.record(action, None);
                let changed = !called.state.is_unchanged_since(&self.state);
                self.state = called.state;
                (Observation::Result { text, table }, changed)
            }
        };
        Effect { observation, usage: called.usage, violations: called.violations, denials: called.denials, changed }
    }

    /// Puts a question to the simulated user.
    pub(crate) fn ask(&mut self, action: &Action) -> Effect {
        let field = |name: &str| action.arguments.get(name).and_then(|text| text.as_str()).unwrap_or_default();
        let (about, text) = (field("about"), field("question"));
        let (reply, usage) = match &self.prepared.user {
            None => (Ok(NO_USER.to_owned()), Usage::default()),
            Some((plugin, settings, secret)) => {
                let input = ReplyInput { secret, about, question: text, settings };
                let ran = plugin.reply(&input, &self.prepared.user_limits);
                match ran.result {
                    Ok(reply) => (reply, ran.usage),
                    Err(fault) => {
                        self.void(fault);
                        (Err(Failure::failed(BROKEN)), ran.usage)
                    }
                }
            }
        };
        let observation = match reply {
            Ok(reply) => {
                let question = Question { about: about.to_owned(), text: text.to_owned(), reply: reply.clone() };
                self.questions.push(question);
                Observation::Result { text: reply, table: None }
            }
            Err(failure) => Observation::Failure(failure),
        };
        Effect { usage, ..Effect::plain(observation) }
    }
}
