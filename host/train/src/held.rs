//! The grammar of calls, as the sampler asks it.

use tribunal_dialogue::{Mask as Lawful, State};
use tribunal_transformer::{Allowed, Constraint, Mask};

use crate::lesson::Lesson;

/// A grammar's state, as the sampler asks it.
pub(crate) struct Held {
    state: State,
    vocabulary: usize,
}

impl Held {
    pub(crate) fn new(lesson: &Lesson) -> Held {
        Held { state: lesson.grammar.start(), vocabulary: lesson.vocabulary }
    }
}

impl Constraint for Held {
    fn allowed(&mut self) -> Result<Allowed, String> {
        let forced = self.state.forced();
        if !forced.is_empty() {
            return Ok(Allowed::Forced(forced));
        }
        let lawful = self.state.mask().map_err(|why| why.to_string())?;
        mask_of(&lawful, self.vocabulary).map(Allowed::Only)
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.state.accept(token).map_err(|why| why.to_string())
    }

    fn ended(&self) -> bool {
        self.state.ended()
    }
}

/// The same set in the model's words.
fn mask_of(lawful: &Lawful, vocabulary: usize) -> Result<Mask, String> {
    let halves = lawful.words().iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]);
    let halves: Vec<u32> = halves.collect();
    Mask::from_words(&halves, vocabulary).map_err(|why| why.to_string())
}
