//! Credit: verdicts become advantages, one for each token that was chosen. A method is one file
//! here, beside [`grpo`]; the trainer knows only [`Method`].

pub mod grpo;

use crate::rollout::Rollout;

/// The rollouts that are compared with each other: those of one task, of one role, from one turn on.
/// With a single role and whole episodes that is all attempts at a task, from turn 0.
#[derive(Debug)]
pub struct Group<'a> {
    /// The task's id.
    pub task: &'a str,
    /// Who acts; one role until there are more.
    pub role: &'a str,
    /// The first turn that is compared.
    pub turn: usize,
    /// The rollouts.
    pub rollouts: Vec<&'a Rollout>,
}

impl Group<'_> {
    /// The rewards; a void has none, and must not come this far.
    #[must_use]
    pub fn rewards(&self) -> Vec<f64> {
        self.rollouts.iter().map(|rollout| rollout.reward.unwrap_or(0.0)).collect()
    }

    /// Whether the rollouts differ in what they were worth: only then is there anything to learn.
    #[must_use]
    pub fn informative(&self) -> bool {
        let rewards = self.rewards();
        rewards.iter().any(|reward| (reward - rewards[0]).abs() > 1e-9)
    }
}

/// A way to give credit.
pub trait Method: Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &'static str;

    /// Advantages: for each rollout of the group one for each of its choices. Choices before the
    /// group's turn get 0.
    fn advantages(&self, group: &Group<'_>) -> Vec<Vec<f32>>;
}
