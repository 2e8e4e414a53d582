use std::str::FromStr as _;

use bigdecimal::BigDecimal;
use proptest::prelude::*;

use super::*;

#[test]
fn texts_of_one_value_have_one_number_of_units() {
    let units = |text: &str| Decimal::read(text).unwrap().units(3);
    for same in ["12.50", "12.5", "+012.500", "1.25e1", "125E-1", "0.125e2"] {
        assert_eq!(units(same), Some(12_500), "{same}");
    }
    for zero in ["0", "-0.00", "0e9", ".0", "0.0000"] {
        assert_eq!(units(zero), Some(0), "{zero}");
    }
    assert_eq!(units("-12.5"), Some(-12_500));
    assert_eq!(units("0.0001"), None);
    assert_eq!(units("9999999999999999999999999999.999"), Some(9_999_999_999_999_999_999_999_999_999_999));
    assert_eq!(units("1e36"), None);
    for wrong in ["", ".", "-", "1.2.3", "1,5", "12 ", "1e", "e5", "0x1", "NaN", "1e99999", "1e2147483648"] {
        assert_eq!(Decimal::read(wrong), None, "{wrong}");
    }
}

#[test]
fn integers_and_scales() {
    let read = |text: &str| Decimal::read(text).unwrap();
    assert_eq!(read("9223372036854775807").integer(), Some(i64::MAX));
    assert_eq!(read("-9223372036854775808").integer(), Some(i64::MIN));
    assert_eq!(read("9223372036854775808").integer(), None);
    assert_eq!(read("5.00").integer(), Some(5));
    assert_eq!(read("5.01").integer(), None);
    assert_eq!(read("1e30").integer(), None);
    assert!(read("12.50").fits_scale(1) && !read("12.50").fits_scale(0));
    assert!(!Decimal::of_float(33.333_333).unwrap().fits_scale(2));
    assert!(Decimal::of_float(1e300).unwrap().fits_scale(0));
}

#[test]
fn the_bound_itself_is_inside() {
    // Each of these fails or passes wrongly in double arithmetic: 0.3 - 0.2 < 0.1 < 1.1 - 1.0.
    let cents = Tolerance { abs: 0.01, rel: 0.0 };
    assert!(cents.covers(1.00, 1.01));
    assert!(cents.covers(100.0, 100.01));
    assert!(!cents.covers(100.0, 100.010_000_000_000_02));
    let tenth = Tolerance { abs: 0.1, rel: 0.0 };
    assert!(tenth.covers(1.0, 1.1) && tenth.covers(0.2, 0.3) && tenth.covers(-0.05, 0.05));
    let percent = Tolerance { abs: 0.0, rel: 0.01 };
    assert!(percent.covers(99.0, 100.0) && percent.covers(-99.0, -100.0));
    assert!(!percent.covers(98.999_999_999_999_99, 100.0));
    assert!(!percent.covers(-99.0, 100.0) && !percent.covers(0.0, 1e-320));
    let none = Tolerance::default();
    assert!(none.covers(0.1, 0.1) && !none.covers(0.1, 0.100_000_000_000_000_02));
}

#[test]
fn the_ends_of_the_range_are_exact() {
    let wide = Tolerance { abs: 1e308, rel: 0.0 };
    assert!(wide.covers(-5e307, 5e307) && !wide.covers(-1.7e308, 1.7e308));
    let tiny = Tolerance { abs: 5e-324, rel: 0.0 };
    assert!(tiny.covers(0.0, 5e-324) && !tiny.covers(0.0, 1e-323));
}

/// The same rule in somebody else's arithmetic.
fn covers_by_bigdecimal(a: f64, b: f64, abs: f64, rel: f64) -> bool {
    let exact = |x: f64| BigDecimal::from_str(&format!("{x:e}")).unwrap();
    let (a, b) = (exact(a), exact(b));
    let great = a.abs().max(b.abs());
    let bound = exact(abs).max(exact(rel) * great);
    (a - b).abs() <= bound
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-2_000_i32..2_000).prop_map(|cents| f64::from(cents) / 100.0),
        (-1e6..1e6_f64),
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        (-1000_i32..1000, -300_i32..290).prop_map(|(m, e)| f64::from(m) * 10_f64.powi(e)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn tolerance_agrees_with_another_arithmetic(
        a in number(),
        offset in prop_oneof![Just(0.0), (-20_i32..20).prop_map(|n| f64::from(n) / 100.0), number()],
        abs in prop_oneof![Just(0.0), Just(0.01), Just(0.1), 0.0..10.0_f64, 0.0..f64::MAX],
        rel in prop_oneof![Just(0.0), Just(0.01), Just(1e-9), 0.0..0.999_f64],
    ) {
        let b = a + offset;
        prop_assume!(b.is_finite());
        let tolerance = Tolerance { abs, rel };
        prop_assert_eq!(tolerance.covers(a, b), covers_by_bigdecimal(a, b, abs, rel));
        prop_assert_eq!(tolerance.covers(a, b), tolerance.covers(b, a));
    }

    #[test]
    fn sums_and_texts_agree_with_another_arithmetic(a in "-?[0-9]{1,20}(\\.[0-9]{1,9})?", b in "-?[0-9]{1,9}(\\.[0-9]{1,12})?") {
        let ours = |text: &str| Decimal::read(text).unwrap();
        let theirs = |text: &str| BigDecimal::from_str(text).unwrap();
        for (sum, wanted) in [
            (ours(&a).plus(&ours(&b)), theirs(&a) + theirs(&b)),
            (ours(&a).minus(&ours(&b)), theirs(&a) - theirs(&b)),
        ] {
            let text = sum.to_string();
            prop_assert_eq!(theirs(&text), wanted.clone(), "{}", text);
            prop_assert_eq!(sum.is_positive(), wanted > 0);
            prop_assert_eq!(text, wanted.normalized().to_plain_string());
        }
    }

    #[test]
    fn order_agrees_with_another_arithmetic(a in "-?[0-9]{1,12}(\\.[0-9]{1,9})?(e-?[0-9]{1,2})?", b in "-?[0-9]{1,12}(\\.[0-9]{1,9})?") {
        let ours = Decimal::read(&a).unwrap().compare(&Decimal::read(&b).unwrap());
        let theirs = BigDecimal::from_str(&a).unwrap().cmp(&BigDecimal::from_str(&b).unwrap());
        prop_assert_eq!(ours, theirs);
        prop_assert_eq!(Decimal::read(&a) == Decimal::read(&b), theirs.is_eq());
    }

    #[test]
    fn the_quick_way_is_the_long_way(text in "[-+]?[0-9]{0,18}(\\.[0-9]{0,10})?(e1)?", scale in 0_u32..10) {
        let long = Decimal::read(&text);
        prop_assert_eq!(is_decimal(&text), long.is_some());
        if let Some(quick) = quick_units(&text, scale) {
            prop_assert_eq!(Some(i128::from(quick)), long.and_then(|long| long.units(scale)));
        }
    }
}
