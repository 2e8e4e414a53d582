//! Running a trace again.

use tribunal_protocol::event::Event;
use tribunal_protocol::policy::{Action, Policy, View};
use tribunal_trace::{EventDifference, first_difference};

use crate::prepare::Prepared;
use crate::run::run;

/// What a replay found.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The events of this time.
    pub events: Vec<Event>,
    /// Where they part from the recorded ones; none: identical.
    pub difference: Option<EventDifference>,
}

/// The actions of a trace, as a policy.
struct Recorded {
    actions: std::vec::IntoIter<Action>,
    fault: Option<String>,
}

impl Policy for Recorded {
    fn act(&mut self, _view: View<'_>) -> Result<Option<Action>, String> {
        match (self.actions.next(), self.fault.take()) {
            (Some(action), fault) => {
                self.fault = fault;
                Ok(Some(action))
            }
            (None, Some(fault)) => Err(fault),
            (None, None) => Ok(None),
        }
    }
}

/// Re-executes every tool call and the verifier of a recorded episode on a prepared task.
#[must_use]
pub fn replay(prepared: &Prepared, recorded: &[Event]) -> Replayed {
    use tribunal_protocol::{Fault, Verdict};
    let mut actions = Vec::new();
    let mut fault = None;
    let (mut name, mut attempt, mut seed) = (String::new(), 0, 0);
    for event in recorded {
        match event {
            Event::Header(header) => {
                (name, attempt, seed) = (header.policy.clone(), header.attempt, header.policy_seed);
            }
            Event::Step(step) => actions.push(step.action.clone()),
            Event::Judgement(_) => {}
            Event::End(end) => {
                // A policy that broke is not run again; that it broke is part of the record.
                if let Verdict::Void(Fault::Policy { message, .. }) = &end.verdict {
                    fault = Some(message.clone());
                }
            }
        }
    }
    let mut policy = Recorded { actions: actions.into_iter(), fault };
    let events = run(prepared, &name, &mut policy, attempt, seed);
    let difference = first_difference(recorded, &events);
    Replayed { events, difference }
}
