//! Exact intervals for a count that stands alone, and the quantile that other intervals need.

use serde::{Deserialize, Serialize};

use crate::estimate::ratio;
use crate::jeffreys::{TAIL, quantile};

/// A share of independent episodes with its exact 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// The share itself; none where it is a share of nothing.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.of > 0).then(|| ratio(self.count, self.of))
    }
}

/// The interval of Clopper and Pearson for `count` of `of`: it never covers less than 95 %, and is
/// wide for that. None where `count` is above `of`; everything is possible where `of` is 0.
///
/// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated
/// in the case of the binomial", Biometrika 26 (1934): the ends are quantiles of
/// Beta(c, n - c + 1) and Beta(c + 1, n - c).
#[must_use]
pub fn clopper_pearson(count: u64, of: u64) -> Option<Share> {
    let failed = of.checked_sub(count)?;
    let (c, f) = (ratio(count, 1), ratio(failed, 1));
    let low = if count == 0 { 0.0 } else { quantile(TAIL, c, f + 1.0) };
    let high = if failed == 0 { 1.0 } else { quantile(1.0 - TAIL, c + 1.0, f) };
    Some(Share { count, of, low, high })
}

/// The `t` that Student's distribution with `freedom` degrees of freedom exceeds in size with
/// probability `outside`: `I_{v / (v + t²)}(v / 2, 1 / 2) = outside`.
pub(crate) fn student(outside: f64, freedom: f64) -> f64 {
    let x = quantile(outside, freedom / 2.0, 0.5).max(f64::MIN_POSITIVE);
    (freedom * (1.0 - x) / x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
    /// Medicine 17 (1998), table I, method 5.
    #[test]
    fn the_interval_agrees_with_a_published_table() {
        for (count, of, low, high) in
            [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)]
        {
            let found = clopper_pearson(count, of).unwrap();
            assert!((found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5, "{count}/{of}: {found:?}");
        }
        assert_eq!(clopper_pearson(2, 1), None);
        let nothing = clopper_pearson(0, 0).unwrap();
        assert_eq!((nothing.low, nothing.high, nothing.value()), (0.0, 1.0, None));
    }

    /// None of n: the upper end solves `(1 - p)^n = 0.025`.
    #[test]
    fn none_of_many_is_bounded_by_hand() {
        for of in [1_i32, 70, 3_000] {
            let found = clopper_pearson(0, of.unsigned_abs().into()).unwrap();
            assert!(((1.0 - found.high).powi(of) - 0.025).abs() < 1e-9);
        }
    }

    #[test]
    fn the_quantile_agrees_with_tables() {
        for (freedom, t) in [(1.0, 12.706_205), (5.0, 2.570_582), (11.0, 2.200_985), (30.0, 2.042_272)] {
            assert!((student(0.05, freedom) - t).abs() < 1e-6, "{freedom}");
        }
    }
}
