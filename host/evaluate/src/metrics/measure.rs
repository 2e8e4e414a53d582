//! Measures: what the attempts at one task say, as one number in 0..=1.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::estimate::{pass_at_k, pass_hat_k, plug_in_pass_hat_k, ratio};
use crate::summary::{Outcome, Tally};

/// How the attempts at one task ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempts {
    /// Attempts with a verdict that counts: the n of every estimator.
    pub judged: u64,
    /// Those that passed: its c.
    pub passed: u64,
    /// Void attempts: in neither.
    pub void: u64,
}

impl Attempts {
    /// Counts one attempt.
    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Void => self.void += 1,
            Outcome::Passed => {
                self.judged += 1;
                self.passed += 1;
            }
            Outcome::Partial | Outcome::Zero | Outcome::Invalid => self.judged += 1,
        }
    }

    /// All attempts, void ones too.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.judged + self.void
    }

    /// The share of judged attempts that passed; none where none was judged.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        (self.judged > 0).then(|| ratio(self.passed, self.judged))
    }
}

impl From<&Tally> for Attempts {
    fn from(tally: &Tally) -> Attempts {
        Attempts { judged: tally.judged(), passed: tally.passed, void: tally.void }
    }
}

/// A measure of a policy: a mean over tasks of one number a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// pass@k: at least one of k attempts passes, estimated without bias.
    PassAt(u64),
    /// pass^k: all of k attempts pass, estimated without bias.
    PassHat(u64),
    /// Whether every attempt at the task passed, and none was void: its sum is the count of tasks
    /// passed n of n.
    EveryTime,
    /// The biased `(c / n)^k`. Shown only where it is asked for, always by this name.
    PlugIn(u64),
}

impl Measure {
    /// The number of one task. None where the task cannot say: fewer than k judged attempts for the
    /// unbiased estimators, no judged attempt for the plug-in, no attempt at all for every-time.
    #[must_use]
    pub fn of(self, task: &Attempts) -> Option<f64> {
        match self {
            Measure::PassAt(k) => pass_at_k(task.judged, task.passed, k),
            Measure::PassHat(k) => pass_hat_k(task.judged, task.passed, k),
            Measure::EveryTime => (task.all() > 0).then(|| f64::from(u8::from(task.passed == task.all()))),
            Measure::PlugIn(k) => plug_in_pass_hat_k(task.judged, task.passed, k),
        }
    }

    /// How many judged attempts a task needs before the measure exists.
    #[must_use]
    pub fn attempts(self) -> u64 {
        match self {
            Measure::PassAt(k) | Measure::PassHat(k) => k,
            Measure::EveryTime | Measure::PlugIn(_) => 1,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::PassAt(k) => write!(f, "pass@{k}"),
            Measure::PassHat(k) => write!(f, "pass^{k}"),
            Measure::EveryTime => f.write_str("every-time"),
            Measure::PlugIn(k) => write!(f, "plug-in pass^{k}"),
        }
    }
}

/// A text that names no measure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no measure; there are pass@K and pass^K with K from 1, every-time, and plug-in pass^K")]
pub struct NoMeasure(String);

impl FromStr for Measure {
    type Err = NoMeasure;

    fn from_str(text: &str) -> Result<Measure, NoMeasure> {
        let k = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|k: &u64| plain && *k > 0)
        };
        let found = if text == "every-time" {
            Some(Measure::EveryTime)
        } else if let Some(rest) = text.strip_prefix("plug-in pass^") {
            k(rest).map(Measure::PlugIn)
        } else if let Some(rest) = text.strip_prefix("pass@") {
            k(rest).map(Measure::PassAt)
        } else if let Some(rest) = text.strip_prefix("pass^") {
            k(rest).map(Measure::PassHat)
        } else {
            None
        };
        found.ok_or_else(|| NoMeasure(text.to_owned()))
    }
}

impl Serialize for Measure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Measure, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(passed: u64, judged: u64, void: u64) -> Attempts {
        Attempts { judged, passed, void }
    }

    #[test]
    fn voids_are_in_no_estimate_and_deny_every_time() {
        // 3 of 4 judged, 2 void: the voids change nothing but every-time.
        assert_eq!(Measure::PassAt(1).of(&task(3, 4, 2)), Some(0.75));
        assert_eq!(Measure::PassHat(2).of(&task(3, 4, 2)), Some(0.5)); // C(3,2) / C(4,2) = 3/6
        assert_eq!(Measure::EveryTime.of(&task(4, 4, 0)), Some(1.0));
        assert_eq!(Measure::EveryTime.of(&task(4, 4, 1)), Some(0.0));
        assert_eq!(Measure::PassAt(1).of(&task(0, 0, 3)), None);
        assert_eq!(Measure::EveryTime.of(&task(0, 0, 0)), None);
    }

    #[test]
    fn too_few_attempts_give_no_unbiased_estimate_but_a_plug_in() {
        assert_eq!(Measure::PassHat(8).of(&task(4, 4, 0)), None);
        assert_eq!(Measure::PassAt(8).of(&task(4, 4, 0)), None);
        assert_eq!(Measure::PlugIn(2).of(&task(1, 2, 0)), Some(0.25));
        // The published example: 19 of 20. Unbiased pass^20 is 0, the plug-in 0.358.
        assert_eq!(Measure::PassHat(20).of(&task(19, 20, 0)), Some(0.0));
        assert!((Measure::PlugIn(20).of(&task(19, 20, 0)).unwrap() - 0.358).abs() < 1e-3);
    }

    #[test]
    fn measures_read_back_and_what_is_none_is_named() {
        for text in ["pass@1", "pass@20", "pass^8", "every-time", "plug-in pass^20"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        for text in ["pass@0", "pass@", "pass^-1", "pass@+1", "accuracy", "plug-in pass@2", ""] {
            let why = text.parse::<Measure>().unwrap_err().to_string();
            assert!(why.starts_with(&format!("`{text}` is no measure")), "{why}");
        }
    }

    #[test]
    fn attempts_are_counted_by_outcome() {
        let mut found = Attempts::default();
        for outcome in [Outcome::Passed, Outcome::Partial, Outcome::Zero, Outcome::Invalid, Outcome::Void] {
            found.add(outcome);
        }
        assert_eq!((found, found.all(), found.rate()), (task(1, 4, 1), 5, Some(0.25)));
    }
}
