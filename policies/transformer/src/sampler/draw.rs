//! The loop: ask each row's constraint, read what was chosen, choose again.

use super::choose::choose;
use super::{Allowed, Draw, Drawn, Row, Sampler, Sampling};
use crate::kernels::pool::Pool;
use crate::{Error, Mask, Result};

/// Tokens that a group of rows draws before rows are dealt out to the threads anew.
const ROUND: usize = 16;

/// A row at work.
struct Work<'a, 'b> {
    draw: &'a mut Draw<'b>,
    index: usize,
    drawn: Drawn,
    /// What the next token is drawn from.
    mask: Option<Mask>,
    done: bool,
    fault: Option<Error>,
}

impl Sampler {
    /// Draws until every row has ended, drawn its most, or filled the context. Rows of unequal
    /// length and rows that end early are fine: what is left goes on without them.
    ///
    /// # Errors
    /// [`Error::Constraint`] names the row whose constraint failed, [`Error::Context`] and
    /// [`Error::Batch`] are about what was to be read. The rows are then to be thrown away.
    pub fn draw(&self, draws: &mut [Draw<'_>], sampling: &Sampling) -> Result<Vec<Drawn>> {
        sampling.check()?;
        let mut works = Vec::new();
        for (index, draw) in draws.iter_mut().enumerate() {
            self.check(draw.row, draw.read)?;
            draw.row.pending.extend_from_slice(draw.read);
            if draw.row.pending.is_empty() {
                return Err(Error::Batch(format!("row {index} has read nothing; give it at least one token")));
            }
            works.push(Work { draw, index, drawn: Drawn::default(), mask: None, done: false, fault: None });
        }
        loop {
            let mut active: Vec<&mut Work<'_, '_>> = works.iter_mut().filter(|work| !work.done).collect();
            if active.is_empty() {
                break;
            }
            let threads = self.pool.threads();
            if active.len() < threads {
                // Too few rows to go round: all threads work on each step.
                self.round(&self.pool, active, sampling);
            } else {
                let size = active.len().div_ceil(threads);
                let mut groups = Vec::new();
                while !active.is_empty() {
                    let rest = active.split_off(size.min(active.len()));
                    groups.push(std::mem::replace(&mut active, rest));
                }
                self.pool.each(groups, |group| self.round(&Pool::alone(), group, sampling));
            }
            if let Some(fault) = works.iter_mut().find_map(|work| work.fault.take()) {
                return Err(fault);
            }
        }
        Ok(works.into_iter().map(|work| work.drawn).collect())
    }

    /// Some tokens for a group of rows.
    fn round(&self, pool: &Pool, mut group: Vec<&mut Work<'_, '_>>, sampling: &Sampling) {
        let vocab = self.model.shape().vocab;
        let mut scratch = Vec::new();
        for _ in 0..ROUND {
            for work in &mut group {
                work.prepare(self.model.shape().context, vocab);
            }
            group.retain(|work| !work.done);
            if group.is_empty() {
                return;
            }
            let chunks: Vec<Vec<u32>> =
                group.iter_mut().map(|work| std::mem::take(&mut work.draw.row.pending)).collect();
            let mut rows: Vec<(&mut Row, &[u32])> =
                (group.iter_mut().zip(&chunks)).map(|(work, chunk)| (&mut *work.draw.row, chunk.as_slice())).collect();
            let logits = self.outputs(pool, &mut rows);
            for (work, logits) in group.iter_mut().zip(logits.chunks_exact(vocab)) {
                if let Err(error) = work.take(logits, sampling, &mut scratch) {
                    work.fail(error);
                }
            }
            group.retain(|work| !work.done);
        }
    }
}

impl Work<'_, '_> {
    /// Asks the constraint until a token has to be drawn or the row is done.
    fn prepare(&mut self, context: usize, vocab: usize) {
        loop {
            self.drawn.ended = self.draw.constraint.ended();
            if self.drawn.ended || self.drawn.tokens.len() >= self.draw.most || self.draw.row.len() > context {
                self.done = true;
                return;
            }
            match self.draw.constraint.allowed() {
                Ok(Allowed::All) => self.mask = None,
                Ok(Allowed::Only(mask)) if mask.words().len() == vocab.div_ceil(32) => self.mask = Some(mask),
                Ok(Allowed::Only(mask)) => {
                    let bits = mask.words().len() * 32;
                    let problem = format!("its mask has room for {bits} tokens, the vocabulary has {vocab}");
                    return self.fail(Error::Constraint(problem));
                }
                Ok(Allowed::Forced(tokens)) if tokens.is_empty() => {
                    return self.fail(Error::Constraint("it forced no token; an empty list has no meaning".to_owned()));
                }
                Ok(Allowed::Forced(tokens)) => {
                    if let Err(error) = self.force(&tokens, vocab) {
                        return self.fail(error);
                    }
                    continue;
                }
                Err(problem) => return self.fail(Error::Constraint(problem)),
            }
            return;
        }
    }

    /// Takes tokens without drawing; no more than the row may still have.
    fn force(&mut self, tokens: &[u32], vocab: usize) -> Result<()> {
        for token in tokens {
            if self.drawn.tokens.len() >= self.draw.most {
                break;
            }
            if *token as usize >= vocab {
                return Err(Error::Constraint(format!("it forced token {token} of a vocabulary of {vocab}")));
            }
            self.draw.constraint.accept(*token).map_err(Error::Constraint)?;
            self.draw.row.pending.push(*token);
            self.drawn.push(*token, [0.0; 3], None, true);
        }
        Ok(())
    }

    /// Draws the next token.
    fn take(&mut self, logits: &[f32], sampling: &Sampling, scratch: &mut Vec<f32>) -> Result<()> {
        let mask = self.mask.take();
        let chosen = choose(logits, mask.as_ref(), sampling, &mut self.draw.row.random, scratch)?;
        self.draw.constraint.accept(chosen.token).map_err(Error::Constraint)?;
        self.draw.row.pending.push(chosen.token);
        self.drawn.push(chosen.token, [chosen.log_prob, chosen.drawn_log_prob, chosen.removed], mask, false);
        Ok(())
    }

    /// The row goes no further.
    fn fail(&mut self, error: Error) {
        self.done = true;
        self.fault = Some(match error {
            Error::Constraint(problem) => Error::Constraint(format!("row {}: {problem}", self.index)),
            error => error,
        });
    }
}

impl Drawn {
    fn push(&mut self, token: u32, [log_prob, drawn, removed]: [f32; 3], mask: Option<Mask>, forced: bool) {
        self.tokens.push(token);
        self.logprobs.push(log_prob);
        self.drawn_logprobs.push(drawn);
        self.removed.push(removed);
        self.masks.push(mask);
        self.forced.push(forced);
    }
}

impl Sampling {
    fn check(&self) -> Result<()> {
        let problem = if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            "temperature must be a number of at least 0"
        } else if self.top_p.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            "top_p must be above 0 and at most 1"
        } else if self.top_k == Some(0) {
            "top_k must be at least 1"
        } else {
            return Ok(());
        };
        Err(Error::Batch(problem.to_owned()))
    }
}
