//! Estimators: what the attempts say of a policy, with the source of every formula.

use serde::{Deserialize, Serialize};

/// The name of the interval of [`wilson`], as it is printed beside every interval.
pub const INTERVAL: &str = "Wilson score, 95 %, one unit per task";

/// The two-sided 95 % point of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The chance that at least one of `k` attempts passes, estimated without bias from `passed` of
/// `attempts`: `1 - C(n-c, k) / C(n, k)`.
///
/// Source: M. Chen et al., "Evaluating Large Language Models Trained on Code" (2021), equation 1.
///
/// None where no unbiased estimate exists: `k` is 0 or above `attempts`; or where `passed` is
/// above `attempts`.
#[must_use]
pub fn pass_at_k(attempts: u64, passed: u64, k: u64) -> Option<f64> {
    let failed = attempts.checked_sub(passed)?;
    drawn(attempts, failed, k).map(|all_failed| 1.0 - all_failed)
}

/// The chance that all of `k` attempts pass, estimated without bias from `passed` of `attempts`:
/// `C(c, k) / C(n, k)`. Written pass^k.
///
/// Source: S. Yao et al., "τ-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
/// Domains" (2024), section 3. The plug-in `(c / n)^k` is another, biased estimator; the two must
/// never be compared.
///
/// None as for [`pass_at_k`].
#[must_use]
pub fn pass_hat_k(attempts: u64, passed: u64, k: u64) -> Option<f64> {
    drawn(attempts, passed, k)
}

/// The plug-in estimate of the chance that all of `k` attempts pass, `(c / n)^k`. It is biased
/// upwards, and is no estimate that [`pass_hat_k`] may be compared to; some reports use it because
/// the unbiased one is 0 wherever fewer than `k` attempts passed.
///
/// None where there is no attempt, `k` is 0, or `passed` is above `attempts`.
#[must_use]
pub fn plug_in_pass_hat_k(attempts: u64, passed: u64, k: u64) -> Option<f64> {
    let usable = k > 0 && attempts > 0 && passed <= attempts;
    let power = i32::try_from(k).unwrap_or(i32::MAX);
    usable.then(|| ratio(passed, attempts).powi(power))
}

/// The chance that `k` things drawn from `all` without replacement are all among `marked`:
/// `C(marked, k) / C(all, k)`, as a product of `k` ratios so that nothing overflows.
fn drawn(all: u64, marked: u64, k: u64) -> Option<f64> {
    if k == 0 || k > all || marked > all {
        return None;
    }
    if k > marked {
        return Some(0.0);
    }
    Some((0..k).map(|i| ratio(marked - i, all - i)).product())
}

/// `part / whole`; counts of episodes are far below 2^53, where the conversion is exact.
#[expect(clippy::cast_precision_loss, reason = "counts of episodes are below 2^53")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The share, in 0..=1.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many tasks it rests on.
    pub tasks: u64,
}

/// The mean of a share over tasks, with its Wilson interval. Each task is one unit, however many
/// attempts were made at it: attempts at one task are alike, and counting each as a unit would
/// make the interval too narrow. So it is exact in its kind for one attempt a task and on the
/// safe side for more.
///
/// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
/// JASA 22 (1927), 209-212: the ends are the solutions p of `|value - p| = z sqrt(p (1 - p) / n)`.
///
/// None where there are no tasks.
#[must_use]
pub fn wilson(shares: &[f64]) -> Option<Estimate> {
    let tasks = shares.len() as u64;
    if tasks == 0 {
        return None;
    }
    let n = ratio(tasks, 1);
    let value = (shares.iter().sum::<f64>() / n).clamp(0.0, 1.0);
    let z2 = Z * Z / n;
    let centre = (value + z2 / 2.0) / (1.0 + z2);
    let half = (value * (1.0 - value) * z2 + z2 * z2 / 4.0).sqrt() / (1.0 + z2);
    Some(Estimate { value, low: (centre - half).clamp(0.0, value), high: (centre + half).clamp(value, 1.0), tasks })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set of `k` of `n` attempts, the first `c` of which passed: how many sets hold a
    /// pass, hold nothing but passes, and are there at all.
    fn count_sets(n: u32, c: u32, k: u32) -> (u64, u64, u64) {
        let passes = (1_u32 << c) - 1;
        let sets = (0..1_u32 << n).filter(|set| set.count_ones() == k);
        sets.fold((0, 0, 0), |(any, all, total), set| {
            let some = u64::from(set & passes != 0);
            let only = u64::from(set & !passes == 0);
            (any + some, all + only, total + 1)
        })
    }

    #[test]
    fn both_estimators_equal_the_count_over_all_sets_of_attempts() {
        for n in 1..=10_u32 {
            for c in 0..=n {
                for k in 1..=n {
                    let (any, all, total) = count_sets(n, c, k);
                    let (n, c, k) = (n.into(), c.into(), k.into());
                    assert!((pass_at_k(n, c, k).unwrap() - ratio(any, total)).abs() < 1e-12);
                    assert!((pass_hat_k(n, c, k).unwrap() - ratio(all, total)).abs() < 1e-12);
                }
            }
        }
    }

    /// Unbiased: averaged over the binomial distribution of `c`, the estimate is the truth.
    #[test]
    fn both_estimators_are_unbiased() {
        let binomial = |n: u64, c: u64| (0..c).map(|i| ratio(n - i, c - i)).product::<f64>();
        for (n, k, p) in [(6_u64, 1_i32, 0.3_f64), (6, 4, 0.3), (9, 3, 0.85), (20, 8, 0.5)] {
            let mean = |estimator: fn(u64, u64, u64) -> Option<f64>| {
                (0..=n)
                    .map(|c| {
                        let weight = binomial(n, c)
                            * p.powi(i32::try_from(c).unwrap())
                            * (1.0 - p).powi(i32::try_from(n - c).unwrap());
                        weight * estimator(n, c, k.unsigned_abs().into()).unwrap()
                    })
                    .sum::<f64>()
            };
            assert!((mean(pass_at_k) - (1.0 - (1.0 - p).powi(k))).abs() < 1e-12);
            assert!((mean(pass_hat_k) - p.powi(k)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_published_example_of_reliability_holds() {
        // 19 of 20: pass^10 is 1/2 by hand (the failed attempt is among 10 of 20), pass^20 is 0.
        assert!((pass_hat_k(20, 19, 10).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(pass_hat_k(20, 19, 20), Some(0.0));
        assert_eq!(pass_at_k(20, 19, 2), Some(1.0));
    }

    #[test]
    fn where_no_unbiased_estimate_exists_there_is_none() {
        assert_eq!(pass_at_k(3, 1, 4), None);
        assert_eq!(pass_hat_k(3, 3, 4), None);
        assert_eq!(pass_at_k(3, 1, 0), None);
        assert_eq!(pass_at_k(3, 4, 1), None);
        assert_eq!(pass_hat_k(3, 4, 1), None);
    }

    fn shares(passed: usize, tasks: usize) -> Vec<f64> {
        (0..tasks).map(|i| f64::from(u8::from(i < passed))).collect()
    }

    /// R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
    /// Medicine 17 (1998), table I, method 3.
    #[test]
    fn the_interval_agrees_with_a_published_table() {
        for (passed, tasks, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let found = wilson(&shares(passed, tasks)).unwrap();
            assert!((found.low - low).abs() < 6e-5, "{passed}/{tasks}: {found:?}");
            assert!((found.high - high).abs() < 6e-5, "{passed}/{tasks}: {found:?}");
        }
    }

    #[test]
    fn the_ends_solve_the_equation_that_defines_them() {
        let parts = [0.0, 0.25, 1.0, 1.0, 0.5, 0.75, 1.0];
        let found = wilson(&parts).unwrap();
        assert!((found.value - 4.5 / 7.0).abs() < 1e-15);
        for p in [found.low, found.high] {
            let distance = Z * (p * (1.0 - p) / 7.0).sqrt();
            assert!(((found.value - p).abs() - distance).abs() < 1e-12);
        }
    }

    #[test]
    fn certainty_and_its_absence_stay_inside_the_unit_interval() {
        let all = wilson(&shares(50, 50)).unwrap();
        assert_eq!((all.value, all.high), (1.0, 1.0));
        // At a share of 1 the lower end is n / (n + z^2).
        assert!((all.low - 50.0 / (50.0 + Z * Z)).abs() < 1e-12);
        assert_eq!(wilson(&shares(0, 50)).unwrap().low, 0.0);
        assert_eq!(wilson(&[]), None);
    }
}
