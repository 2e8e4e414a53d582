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
mod tests {
    use super::*;

    fn posterior(k: u64, n: u64) -> Jeffreys {
        Jeffreys::new(k, n).unwrap()
    }

    /// The labels by number of passes that the method's authors get.
    #[test]
    fn bands_for_few_attempts_are_those_of_the_published_selection() {
        use Band::{Easy, Hard, Medium, TooEasy, TooHard};
        let table: [(u64, &[(u64, Band)]); 3] = [
            (4, &[(0, TooHard), (1, Hard), (2, Medium), (3, Easy), (4, TooEasy)]),
            (8, &[(0, TooHard), (3, Hard), (4, Medium), (7, Easy), (8, TooEasy)]),
            (16, &[(1, TooHard), (6, Hard), (9, Medium), (14, Easy), (16, TooEasy)]),
        ];
        for (n, last_of) in table {
            for k in 0..=n {
                let expected = last_of.iter().find(|(last, _)| k <= *last).unwrap().1;
                assert_eq!(band(k, n), Some(expected), "{k} of {n}");
            }
        }
    }

    /// What authors of tasks aim at: of 20 attempts, 4 to 16 pass.
    #[test]
    fn twenty_attempts_show_a_useful_task_when_four_to_sixteen_pass() {
        for k in 0..=20 {
            let sure = posterior(k, 20).mass(0.0625, 0.9375) >= 0.95;
            assert_eq!(sure, (4..=16).contains(&k), "{k}");
        }
        assert!((posterior(3, 20).mass(0.0625, 0.9375) - 0.933).abs() < 5e-4);
    }

    /// By Simpson's rule on the density after `p = sin²(t)`, which takes its poles away:
    /// `∫ 2 sin^(2k) cos^(2(n-k)) dt`, over the whole quarter turn for the norm.
    fn by_quadrature(k: u64, n: u64, p: f64) -> f64 {
        let (k, rest) = (i32::try_from(k).unwrap(), i32::try_from(n - k).unwrap());
        let density = |t: f64| t.sin().powi(2 * k) * t.cos().powi(2 * rest);
        let area = |to: f64| {
            let steps = 4_000;
            let h = to / f64::from(steps);
            let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            (0..=steps).map(|i| weight(i) * density(f64::from(i) * h)).sum::<f64>() * h / 3.0
        };
        area(p.sqrt().asin()) / area(std::f64::consts::FRAC_PI_2)
    }

    #[test]
    fn the_distribution_function_is_the_integral_of_the_density() {
        for (k, n) in [(0, 0), (0, 4), (1, 4), (3, 8), (8, 8), (10, 20), (57, 232), (400, 500)] {
            for p in [0.001, 0.08, 0.15, 0.4, 0.6, 0.9, 0.999] {
                let (found, expected) = (posterior(k, n).below(p), by_quadrature(k, n, p));
                assert!((found - expected).abs() < 1e-10, "{k} of {n} at {p}: {found}, {expected} expected");
            }
        }
    }

    #[test]
    fn quantiles_undo_the_distribution_function_and_bands_hold_all_of_the_mass() {
        for (k, n) in [(0, 1), (0, 20), (1, 3), (10, 20), (20, 20), (300, 900)] {
            let found = posterior(k, n);
            for share in [0.025, 0.5, 0.975] {
                assert!((found.below(found.quantile(share)) - share).abs() < 1e-10, "{k} of {n}");
            }
            assert!((found.masses().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        // Without attempts the prior is the arcsine distribution: its quantiles are sin²(π q / 2).
        let prior = posterior(0, 0);
        for share in [0.1_f64, 0.25, 0.5] {
            let expected = (std::f64::consts::FRAC_PI_2 * share).sin().powi(2);
            assert!((prior.quantile(share) - expected).abs() < 1e-12);
        }
    }

    /// The expected ends were computed with another library, mpmath, to thirty digits.
    #[test]
    fn intervals_agree_with_thirty_digits() {
        for (k, n, low, high) in [
            (10, 20, 0.293_376_484_733_2, 0.706_623_515_266_8),
            (0, 20, 2.424_647_845_924e-5, 0.116_638_982_904_9),
            (81, 263, 0.254_521_934_991, 0.365_647_499_174_1),
            (1, 4, 0.028_470_895_087_15, 0.716_248_320_436_6),
        ] {
            let found = posterior(k, n).interval();
            assert!((found.0 - low).abs() < 1e-11 && (found.1 - high).abs() < 1e-11, "{k} of {n}: {found:?}");
        }
    }

    #[test]
    fn priorities_follow_the_formula() {
        let width = |k, n| {
            let (low, high) = posterior(k, n).interval();
            ((high - low) / 0.5).min(1.0)
        };
        for (k, n, base) in [
            (1, 4, 1.0),
            (0, 4, 1.0),  // too hard by label, but not surely out of reach
            (0, 20, 0.2), // surely out of reach
            (1, 20, 1.0), // too hard, yet it passed once
            (4, 8, 0.85),
            (6, 8, 0.6),
            (8, 8, 0.25),
            (0, 1, 0.3),
        ] {
            let expected = base * (0.55 + 0.30 * (1.0 - ratio(k, n)) + 0.15 * width(k, n));
            assert!((priority(k, n).unwrap() - expected).abs() < 1e-12, "{k} of {n}");
        }
        assert!(priority(1, 4) > priority(3, 4), "hard before easy");
    }

    #[test]
    fn what_is_no_count_has_no_band() {
        assert_eq!((band(0, 0), band(2, 1), priority(0, 0), priority(2, 1)), (None, None, None, None));
        assert!(Jeffreys::new(2, 1).is_none());
        assert!(Band::Hard.teaches() && !Band::TooHard.teaches() && !Band::TooEasy.teaches());
    }
}
