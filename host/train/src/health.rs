//! Guards: a training that has died is stopped, with the reason, instead of going on quietly.

use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::update::Update;

/// So many updates without one success, from the first on: the harness or the start is broken.
const FIRST_ZERO: u32 = 5;
/// So many without one success, after there were some: the policy has collapsed.
const LATER_ZERO: u32 = 3;
/// Below this entropy (nats per token) nothing new is tried.
const ENTROPY_FLOOR: f64 = 1e-4;
/// A ratio above this says that the tokens were not those that were sampled.
const REPLAY_ERROR: f64 = 1e-3;
/// More voids than this share: the environment is broken, not the policy.
const VOID_SHARE: f64 = 0.25;

/// What the guards remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    zeros: u32,
    ever: bool,
}

impl Guard {
    /// Looks at an update.
    ///
    /// # Errors
    /// [`TrainError::Unhealthy`] says what is wrong.
    pub fn look(&mut self, update: &Update) -> Result<(), TrainError> {
        let dead = |why: String| Err(TrainError::Unhealthy { update: update.update, why });
        let get = |name: &str| update.get(name);
        if let Some(error) = get("replay_error").filter(|error| *error > REPLAY_ERROR) {
            return dead(format!(
                "the trainer's log-probabilities differ from the sampler's by {error:.2e} before any step; at most \
                 {REPLAY_ERROR:.0e} expected"
            ));
        }
        if let Some(share) = get("void_share").filter(|share| *share > VOID_SHARE) {
            return dead(format!("{:.0}% of all episodes were void; mend the environment first", share * 100.0));
        }
        if let Some(entropy) = get("entropy").filter(|entropy| *entropy < ENTROPY_FLOOR) {
            return dead(format!(
                "the policy tries nothing any more (entropy {entropy:.1e} nats a token); lower the learning rate"
            ));
        }
        match get("pass_rate") {
            Some(rate) if rate > 0.0 => *self = Guard { zeros: 0, ever: true },
            Some(_) => self.zeros += 1,
            None => {}
        }
        let limit = if self.ever { LATER_ZERO } else { FIRST_ZERO };
        if self.zeros >= limit {
            let since = if self.ever { "after there had been some" } else { "from the first on" };
            return dead(format!("{} updates without one success, {since}", self.zeros));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(counters: &[(&str, f64)]) -> Update {
        let mut update = Update::new(7, "grpo");
        counters.iter().for_each(|(name, value)| update.set(name, *value));
        update
    }

    #[test]
    fn a_dead_training_is_stopped_and_a_live_one_is_not() {
        let mut guard = Guard::default();
        let good = update(&[("pass_rate", 0.4), ("entropy", 0.3), ("replay_error", 1e-6), ("void_share", 0.0)]);
        (0..20).for_each(|_| guard.look(&good).unwrap());
        let zero = update(&[("pass_rate", 0.0), ("entropy", 0.3)]);
        assert!(guard.look(&zero).is_ok() && guard.look(&zero).is_ok());
        let why = guard.look(&zero).unwrap_err().to_string();
        assert_eq!(why, "stopped at update 7: 3 updates without one success, after there had been some");
        // At the start a little more patience.
        let mut guard = Guard::default();
        (0..4).for_each(|_| guard.look(&zero).unwrap());
        assert!(guard.look(&zero).unwrap_err().to_string().contains("from the first on"));
        for (counters, part) in [
            ([("replay_error", 0.01)], "differ from the sampler's"),
            ([("void_share", 0.3)], "30% of all episodes were void"),
            ([("entropy", 0.0)], "tries nothing any more"),
        ] {
            let why = Guard::default().look(&update(&counters)).unwrap_err().to_string();
            assert!(why.contains(part), "{why}");
        }
    }
}
