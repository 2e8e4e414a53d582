//! A task made ready to be played by a model.

use std::sync::{Arc, OnceLock};

use tribunal_dialogue::{Codec, Grammar, Lexicon, Renderer, Transcript};
use tribunal_episode::Prepared;
use tribunal_protocol::event::Event;
use tribunal_protocol::task::Task;
use tribunal_protocol::verdict::Verdict;

use crate::error::TrainError;
use crate::naive::Naive;
use crate::recipe::Grader;
use crate::rollout::each;

/// A task that is ready to be played, with the grammar of its calls and the tokens of its opening.
pub struct Lesson {
    /// The task on its stage.
    pub prepared: Prepared,
    pub(crate) grammar: Grammar,
    pub(crate) opening: Transcript,
    pub(crate) vocabulary: usize,
    /// The naive grader's view of it, once it was asked for.
    naive: OnceLock<Naive>,
}

impl Lesson {
    /// Makes a task ready. With `held`, calls are held to the tools' schemas, and SQL to the names
    /// that the contract shows; else a call is whatever ends with the end token.
    ///
    /// # Errors
    /// A tool or a name that the grammar cannot express.
    pub fn new(prepared: Prepared, codec: &Arc<Codec>, held: bool) -> Result<Lesson, TrainError> {
        let renderer = Renderer::new(codec.style());
        let opening = Transcript::start(Arc::clone(codec), renderer, prepared.briefing())?;
        let grammar = if held { held_to(&prepared, codec)? } else { Grammar::free(codec) };
        Ok(Lesson { prepared, grammar, opening, vocabulary: codec.vocabulary(), naive: OnceLock::new() })
    }

    /// Its task.
    #[must_use]
    pub fn task(&self) -> &Task {
        self.prepared.task()
    }

    /// What an episode is worth to a grader; nothing where it is void.
    #[must_use]
    pub fn worth(&self, grader: Grader, verdict: &Verdict, events: &[Event]) -> Option<f64> {
        let reward = verdict.reward()?;
        match grader {
            Grader::Verifier => Some(reward),
            Grader::Naive => Some(self.naive.get_or_init(|| Naive::new(&self.prepared)).reward(events)),
        }
    }

    /// Whether its opening leaves room for a call in a context. A task that does not is given up at
    /// once by a policy that is served, since it counts all the same.
    #[must_use]
    pub fn readable(&self, context: usize) -> bool {
        self.opening.tokens().len() + crate::rollout::LEAST_ROOM <= context
    }

    /// Whether its opening leaves half of a context to work in.
    #[must_use]
    pub fn fits(&self, context: usize) -> bool {
        self.opening.tokens().len() * 2 <= context
    }
}

/// Tasks that are learned from, in a fixed order.
pub trait Lessons {
    /// The id of the task at a place.
    fn id(&self, place: usize) -> &str;

    /// The tasks at these places, ready to be played.
    ///
    /// # Errors
    /// A task that cannot be made ready.
    fn ready(&self, places: &[usize]) -> Result<Vec<Arc<Lesson>>, TrainError>;
}

impl Lessons for Vec<Arc<Lesson>> {
    fn id(&self, place: usize) -> &str {
        &self[place].task().id
    }

    fn ready(&self, places: &[usize]) -> Result<Vec<Arc<Lesson>>, TrainError> {
        Ok(places.iter().map(|place| Arc::clone(&self[*place])).collect())
    }
}

/// Tasks that are made ready when they are wanted, and let go after: a ready task holds the data of all
/// of its instances and a grammar, megabytes together, and a pool has thousands of tasks.
pub struct Shelf<'a> {
    tasks: Vec<Task>,
    make: &'a Make<'a>,
}

/// Makes a task ready.
pub type Make<'a> = dyn Fn(&Task) -> Result<Lesson, TrainError> + Sync + 'a;

impl<'a> Shelf<'a> {
    /// A shelf of these tasks.
    pub fn new(tasks: Vec<Task>, make: &'a Make<'a>) -> Shelf<'a> {
        Shelf { tasks, make }
    }

    /// Its tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

impl Lessons for Shelf<'_> {
    fn id(&self, place: usize) -> &str {
        &self.tasks[place].id
    }

    fn ready(&self, places: &[usize]) -> Result<Vec<Arc<Lesson>>, TrainError> {
        let mut made: Vec<(usize, Option<Result<Lesson, TrainError>>)> =
            places.iter().map(|place| (*place, None)).collect();
        each(&mut made, |(place, slot)| *slot = Some((self.make)(&self.tasks[*place])))?;
        made.into_iter().map(|(_, slot)| Ok(Arc::new(slot.unwrap_or(Err(TrainError::Worker))?))).collect()
    }
}

/// The grammar of a task's calls. What it names is what the briefing and the contract show: it
/// depends on nothing that is hidden from the agent.
fn held_to(prepared: &Prepared, codec: &Arc<Codec>) -> Result<Grammar, TrainError> {
    let mut lexicon = Lexicon::new();
    for (table, columns) in prepared.visible() {
        lexicon.add(&table, columns.iter().map(String::as_str));
    }
    let briefing = prepared.briefing();
    briefing.answer.iter().for_each(|column| lexicon.name(&column.name));
    Grammar::new(codec, &briefing.tools, &lexicon)
        .map_err(|source| TrainError::Grammar { task: prepared.task().id.clone(), source })
}
