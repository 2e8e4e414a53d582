//! The Jeffreys posterior of a success probability, and the bands by which tasks are chosen.
//!
//! After `k` passes of `n` judged attempts the posterior is Beta(k + 1/2, n - k + 1/2): the prior
//! that H. Jeffreys gives for a binomial probability ("An Invariant Form for the Prior Probability
//! in Estimation Problems", Proc. R. Soc. A 186 (1946), 453-461). Every figure here is a value or
//! an inverse of its distribution function, the regularised incomplete beta function.

use serde::{Deserialize, Serialize};
use special::Beta;

use crate::estimate::ratio;

/// Fewer judged attempts than this say too little about a hard task to rank it.
const ENOUGH: u64 = 3;
/// A task that is never passed counts as out of reach where its success probability is almost
/// surely below this.
const OUT_OF_REACH: f64 = 0.15;
/// How sure "almost surely" is.
const SURE: f64 = 0.9;

/// Half of what is left outside a 95 % interval.
pub(crate) const TAIL: f64 = 0.025;

/// The posterior after `passed` of `attempts`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jeffreys {
    passed: u64,
    attempts: u64,
}

/// How hard a task is for a policy: five intervals of the success probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Band {
    /// Below 0.08.
    TooHard,
    /// From 0.08 to 0.40.
    Hard,
    /// From 0.40 to 0.60.
    Medium,
    /// From 0.60 to 0.90.
    Easy,
    /// From 0.90.
    TooEasy,
}

impl Band {
    /// All bands, from hard to easy.
    pub const ALL: [Band; 5] = [Band::TooHard, Band::Hard, Band::Medium, Band::Easy, Band::TooEasy];

    /// The ends of the band.
    #[must_use]
    pub fn ends(self) -> (f64, f64) {
        match self {
            Band::TooHard => (0.0, 0.08),
            Band::Hard => (0.08, 0.40),
            Band::Medium => (0.40, 0.60),
            Band::Easy => (0.60, 0.90),
            Band::TooEasy => (0.90, 1.0),
        }
    }

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Band::TooHard => "too-hard",
            Band::Hard => "hard",
            Band::Medium => "medium",
            Band::Easy => "easy",
            Band::TooEasy => "too-easy",
        }
    }

    /// Whether a group of attempts at such a task can be expected to hold passes and failures
    /// both: what a policy learns from.
    #[must_use]
    pub fn teaches(self) -> bool {
        matches!(self, Band::Hard | Band::Medium | Band::Easy)
    }
}

impl Jeffreys {
    /// After `passed` of `attempts` judged attempts, which void ones are not.
    ///
    /// None where `passed` is above `attempts`.
    #[must_use]
    pub fn new(passed: u64, attempts: u64) -> Option<Jeffreys> {
        (passed <= attempts).then_some(Jeffreys { passed, attempts })
    }

    /// The two parameters of the beta distribution.
    #[must_use]
    pub fn parameters(&self) -> (f64, f64) {
        (ratio(self.passed, 1) + 0.5, ratio(self.attempts - self.passed, 1) + 0.5)
    }

    /// The posterior mean, `(k + 1/2) / (n + 1)`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let (alpha, beta) = self.parameters();
        alpha / (alpha + beta)
    }

    /// The probability that the success probability is below `p`, which is cut to 0..=1.
    #[must_use]
    pub fn below(&self, p: f64) -> f64 {
        let (alpha, beta) = self.parameters();
        regularised(p, alpha, beta)
    }

    /// The probability that the success probability lies between `low` and `high`.
    #[must_use]
    pub fn mass(&self, low: f64, high: f64) -> f64 {
        (self.below(high) - self.below(low)).max(0.0)
    }

    /// The `p` below which the posterior holds `share` of its mass.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        let (alpha, beta) = self.parameters();
        quantile(share, alpha, beta)
    }

    /// The central 95 % credible interval.
    #[must_use]
    pub fn interval(&self) -> (f64, f64) {
        (self.quantile(TAIL), self.quantile(1.0 - TAIL))
    }

    /// The mass of every band, in the order of [`Band::ALL`]; together 1.
    #[must_use]
    pub fn masses(&self) -> [f64; 5] {
        Band::ALL.map(|band| {
            let (low, high) = band.ends();
            self.mass(low, high)
        })
    }

    /// The band with the most mass; of equals, the harder.
    #[must_use]
    pub fn band(&self) -> Band {
        let masses = Band::ALL.into_iter().zip(self.masses());
        let (best, _) = masses.fold((Band::TooHard, -1.0), |best, next| if next.1 > best.1 { next } else { best });
        best
    }

    /// How much another round of attempts at this task is worth: higher comes first.
    ///
    /// `base * (0.55 + 0.30 (1 - k/n) + 0.15 min(w / 0.5, 1))`, where `w` is the width of the 95 %
    /// interval, and `base` is 1 for a hard task, 0.85 for a medium one, 0.6 for an easy one, 0.25
    /// for one that is too easy, 0.3 where fewer than 3 attempts say that it is hard, and 0.2
    /// where it is never passed and almost surely out of reach. Source: the task selection of
    /// microsoft/thinkingbox-training.
    ///
    /// Without attempts `k/n` is taken as the posterior mean.
    #[must_use]
    pub fn priority(&self) -> f64 {
        let rate = if self.attempts == 0 { self.mean() } else { ratio(self.passed, self.attempts) };
        let (low, high) = self.interval();
        self.base(high) * (0.55 + 0.30 * (1.0 - rate) + 0.15 * ((high - low) / 0.5).min(1.0))
    }

    fn base(&self, high: f64) -> f64 {
        let enough = self.attempts >= ENOUGH;
        let out_of_reach = || high <= OUT_OF_REACH || self.below(OUT_OF_REACH) >= SURE;
        match self.band() {
            Band::Hard | Band::TooHard if !enough => 0.3,
            Band::Hard | Band::TooHard if self.passed == 0 && out_of_reach() => 0.2,
            Band::Hard | Band::TooHard => 1.0,
            Band::Medium => 0.85,
            Band::Easy => 0.6,
            Band::TooEasy => 0.25,
        }
    }
}

/// The number that Student's t with so many degrees of freedom exceeds on either side with
/// probability 0.05 in all. For |T| > t the beta variable nu / (nu + T^2), of parameters nu/2 and 1/2,
/// is below nu / (nu + t^2).
pub(crate) fn student(freedom: u64) -> f64 {
    let freedom = ratio(freedom, 1);
    let cut = quantile(2.0 * TAIL, freedom / 2.0, 0.5);
    (freedom * (1.0 / cut - 1.0)).sqrt()
}

/// The band of a task that passed `k` of `n` judged attempts. None where there are none, or where
/// `k` is above `n`.
#[must_use]
pub fn band(k: u64, n: u64) -> Option<Band> {
    Jeffreys::new(k, n).filter(|_| n > 0).map(|posterior| posterior.band())
}

/// The priority of a task that passed `k` of `n` judged attempts; see [`Jeffreys::priority`].
/// None where there are none, or where `k` is above `n`.
#[must_use]
pub fn priority(k: u64, n: u64) -> Option<f64> {
    Jeffreys::new(k, n).filter(|_| n > 0).map(|posterior| posterior.priority())
}

/// The regularised incomplete beta function `I_p(alpha, beta)`, for positive parameters; `p` is
/// cut to 0..=1.
pub(crate) fn regularised(p: f64, alpha: f64, beta: f64) -> f64 {
    p.clamp(0.0, 1.0).inc_beta(alpha, beta, alpha.ln_beta(beta)).clamp(0.0, 1.0)
}

/// The inverse of [`regularised`] in `p`, by bisection: the function only grows, so sixty halvings
/// leave less than 1e-18, and no starting point can go wrong.
pub(crate) fn quantile(share: f64, alpha: f64, beta: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let ln_beta = alpha.ln_beta(beta);
    for _ in 0..60 {
        let middle: f64 = f64::midpoint(low, high);
        if middle.inc_beta(alpha, beta, ln_beta) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests;
