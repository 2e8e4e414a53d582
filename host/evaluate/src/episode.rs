//! One episode as its parts.

use std::fmt;

use serde::{Deserialize, Serialize};
use tribunal_protocol::event::{End, Event, Header, Judgement, Step};

/// Which episode: one attempt of one policy at one task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeId {
    /// The policy.
    pub policy: String,
    /// The task.
    pub task: String,
    /// Which attempt, from 0.
    pub attempt: u32,
}

impl EpisodeId {
    /// Of a header.
    #[must_use]
    pub fn of(header: &Header) -> EpisodeId {
        EpisodeId { policy: header.policy.clone(), task: header.task.clone(), attempt: header.attempt }
    }
}

/// For people: attempts are counted from 1 here.
impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempt = u64::from(self.attempt) + 1;
        write!(f, "{} {} attempt {attempt}", self.policy, self.task)
    }
}

/// The parts of a whole episode.
#[derive(Clone, Debug)]
pub(crate) struct Parts<'a> {
    pub header: &'a Header,
    pub steps: Vec<&'a Step>,
    pub judgements: Vec<&'a Judgement>,
    pub end: &'a End,
}

/// Why events are no whole episode. The text is shown in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotWhole {
    #[error("no header: not a trace of an episode")]
    Header,
    #[error("more than one header: two episodes in one trace")]
    Headers,
    #[error("no end: the run was cut off; `--resume` runs it again")]
    End,
}

impl<'a> Parts<'a> {
    /// Takes a whole episode apart: one header first, one end last.
    pub(crate) fn of(events: &'a [Event]) -> Result<Parts<'a>, NotWhole> {
        let (Some(Event::Header(header)), rest) = (events.first(), events.get(1..).unwrap_or(&[])) else {
            return Err(NotWhole::Header);
        };
        let Some(Event::End(end)) = rest.last() else {
            return Err(NotWhole::End);
        };
        let (mut steps, mut judgements) = (Vec::new(), Vec::new());
        for event in rest {
            match event {
                Event::Header(_) => return Err(NotWhole::Headers),
                Event::Step(step) => steps.push(&**step),
                Event::Judgement(judgement) => judgements.push(&**judgement),
                Event::End(_) => {}
            }
        }
        Ok(Parts { header, steps, judgements, end })
    }
}
