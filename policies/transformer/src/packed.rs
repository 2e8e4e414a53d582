use crate::{Error, Mask, Result, Shape};

/// A batch: sequences laid end to end, no padding, and the tokens whose log-probability is wanted.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    pub(crate) tokens: Vec<u32>,
    /// Where each sequence begins; one more entry than sequences.
    pub(crate) starts: Vec<usize>,
    pub(crate) targets: Vec<Target>,
    /// Where each sequence's targets begin; one more entry than sequences.
    pub(crate) offsets: Vec<usize>,
}

/// A token whose log-probability is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The row of the packed tokens whose output predicts it.
    pub(crate) row: usize,
    pub(crate) token: u32,
    pub(crate) mask: Option<Mask>,
}

impl Packed {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Packed {
        Packed { starts: vec![0], offsets: vec![0], ..Packed::default() }
    }

    /// Adds a sequence. `scored` names the tokens whose log-probability is wanted, by their index
    /// in `tokens`, ascending, each with the set that it was drawn from (`None`: all tokens).
    /// Token 0 has no predecessor and cannot be scored. What follows the last scored token is not
    /// read: nothing before it depends on it.
    ///
    /// # Errors
    /// [`Error::Batch`] for an index that is 0, out of range or out of order, and for a mask that
    /// forbids its own token.
    pub fn push(&mut self, tokens: &[u32], scored: impl IntoIterator<Item = (usize, Option<Mask>)>) -> Result<()> {
        let start = self.tokens.len();
        let mut last = 0;
        let before = self.targets.len();
        for (index, mask) in scored {
            let problem = target_problem(tokens, last, index, mask.as_ref());
            if let Some(problem) = problem {
                self.targets.truncate(before);
                return Err(Error::Batch(problem));
            }
            last = index;
            self.targets.push(Target { row: start + index - 1, token: tokens[index], mask });
        }
        self.tokens.extend_from_slice(&tokens[..last]);
        self.starts.push(self.tokens.len());
        self.offsets.push(self.targets.len());
        Ok(())
    }

    /// Number of sequences.
    #[must_use]
    pub fn sequences(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of tokens that the model reads.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }

    /// Number of tokens whose log-probability is wanted.
    #[must_use]
    pub fn scored(&self) -> usize {
        self.targets.len()
    }

    /// Where each sequence's scored tokens begin among all scored tokens; one more entry than
    /// sequences, the last one [`Packed::scored`].
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Refuses a batch that a model of this shape cannot read.
    pub(crate) fn check(&self, shape: &Shape) -> Result<()> {
        if self.targets.is_empty() {
            return Err(Error::Batch("no token is scored; push at least one sequence with a scored token".to_owned()));
        }
        let longest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        if longest > shape.context {
            return Err(Error::Context { tokens: longest, context: shape.context });
        }
        let targets = self.targets.iter().map(|target| target.token);
        match self.tokens.iter().copied().chain(targets).find(|token| *token as usize >= shape.vocab) {
            Some(token) => Err(Error::Batch(format!("token {token} is outside the vocabulary of {}", shape.vocab))),
            None => Ok(()),
        }
    }
}

fn target_problem(tokens: &[u32], last: usize, index: usize, mask: Option<&Mask>) -> Option<String> {
    if index == 0 {
        return Some("token 0 cannot be scored: nothing precedes it".to_owned());
    }
    if index >= tokens.len() {
        return Some(format!("token {index} is scored in a sequence of {}", tokens.len()));
    }
    if index <= last {
        return Some(format!("scored tokens must ascend; {index} follows {last}"));
    }
    let forbidden = mask.is_some_and(|mask| !mask.allows(tokens[index]));
    forbidden.then(|| format!("the mask of token {index} forbids that token itself"))
}
