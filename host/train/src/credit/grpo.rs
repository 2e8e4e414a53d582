//! Group-relative advantages: a rollout's reward against those of the others at the same task, the
//! same for every token of it.
//!
//! Standardised: `A = (r - mean) / (std + 1e-6)` with the unbiased deviation, as GRPO has it.
//! Mean-only: `A = r - mean`, as Dr. GRPO has it: a group that nearly always passes weighs no more
//! than one that passes half of the time.
//!
//! What speaks against a rollout may weigh less than what speaks for one: a failed attempt is mostly made of
//! the same tokens as a good one, and is longer, so that a policy unlearns with it what it can do (likelihood
//! displacement).

use super::{Group, Method};
use crate::recipe::Advantage;

/// Group-relative advantages.
#[derive(Clone, Copy, Debug)]
pub struct Grpo {
    /// How rewards become advantages.
    pub form: Advantage,
    /// What advantages below zero are multiplied with: 1 leaves them as they are, 0 learns from successes
    /// alone.
    pub negative: f64,
}

/// What keeps a deviation of 0 from dividing.
const SMALL: f64 = 1e-6;

impl Method for Grpo {
    fn name(&self) -> &'static str {
        match self.form {
            Advantage::MeanOnly => "mean-only",
            Advantage::Standardised => "standardised",
        }
    }

    fn advantages(&self, group: &Group<'_>) -> Vec<Vec<f32>> {
        let of_rollouts = self.weighed(&group.rewards()).into_iter();
        let choices = group.rollouts.iter().map(|rollout| &rollout.choices);
        let spread = |(advantage, choices): (f64, &Vec<crate::rollout::Choice>)| {
            let one = |choice: &crate::rollout::Choice| if choice.turn < group.turn { 0.0 } else { advantage as f32 };
            choices.iter().map(one).collect()
        };
        of_rollouts.zip(choices).map(spread).collect()
    }
}

impl Grpo {
    /// The advantages of a group's rewards, those below zero at their weight.
    #[must_use]
    pub fn weighed(&self, rewards: &[f64]) -> Vec<f64> {
        let weigh = |advantage: f64| if advantage < 0.0 { advantage * self.negative } else { advantage };
        relative(rewards, self.form).into_iter().map(weigh).collect()
    }
}

/// The advantages of a group's rewards.
#[must_use]
pub fn relative(rewards: &[f64], form: Advantage) -> Vec<f64> {
    let count = rewards.len() as f64;
    let mean = rewards.iter().sum::<f64>() / count;
    let less: Vec<f64> = rewards.iter().map(|reward| reward - mean).collect();
    match form {
        Advantage::MeanOnly => less,
        Advantage::Standardised if rewards.len() < 2 => less,
        Advantage::Standardised => {
            let deviation = (less.iter().map(|value| value * value).sum::<f64>() / (count - 1.0)).sqrt();
            less.iter().map(|value| value / (deviation + SMALL)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advantages_are_those_of_the_formulas() {
        // By hand: mean 1/4, differences 3/4 and -1/4; variance (9/16 + 3/16) / 3 = 1/4, deviation 1/2.
        let rewards = [1.0, 0.0, 0.0, 0.0];
        assert_eq!(relative(&rewards, Advantage::MeanOnly), [0.75, -0.25, -0.25, -0.25]);
        let standardised = relative(&rewards, Advantage::Standardised);
        for (found, wanted) in standardised.iter().zip([1.5, -0.5, -0.5, -0.5]) {
            assert!((found - wanted).abs() < 1e-5, "{found} {wanted}");
        }
        // What speaks against weighs a fifth, what speaks for as before.
        let lenient = Grpo { form: Advantage::MeanOnly, negative: 0.2 };
        for (found, wanted) in lenient.weighed(&rewards).iter().zip([0.75, -0.05, -0.05, -0.05]) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
        // All alike: nothing, not a division by nothing.
        for form in [Advantage::MeanOnly, Advantage::Standardised] {
            assert_eq!(relative(&[1.0, 1.0, 1.0], form), [0.0; 3]);
        }
        assert_eq!(relative(&[1.0], Advantage::Standardised), [0.0]);
    }
}
