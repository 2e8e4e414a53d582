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
