use super::*;

const MANY: Bootstrap = Bootstrap { replicates: 40_000, seed: 3 };

fn one(schemas: &[&str], values: &[f64]) -> Interval {
    let column: Vec<_> = values.iter().copied().map(Some).collect();
    means(&Clusters::by(schemas.iter().copied()), &[column], MANY)[0].unwrap()
}

/// Two schemas of one task, worth 0 and 1: a replicate is worth 0, 1/2 or 1 in the proportion
/// 1 : 2 : 1, so its variance is 1/8; the root for two units is the root of 2. Together 1/2,
/// which is what the sample's own standard error says.
#[test]
fn the_standard_error_of_two_tasks_is_found_by_hand() {
    let found = one(&["a", "b"], &[0.0, 1.0]);
    assert!((found.standard_error - 0.5).abs() < 5e-3, "{found:?}");
    assert_eq!((found.value, found.schemas), (0.5, 2));
    // One degree of freedom: 12.706 over 1.960 normal quantiles, from the ends 0 and 1 of the
    // replicates, whose own standard deviation is sqrt(1/8).
    let reach = 12.706_2 / 1.959_964 * 0.5 / 0.125_f64.sqrt() * 0.5;
    assert!((found.high - 0.5 - reach).abs() < 0.1 && (0.5 - found.low - reach).abs() < 0.1, "{found:?}");
    assert!((found.smallest_effect().unwrap() - 2.8 * found.standard_error).abs() < 1e-15);
}

/// The means of the schemas are all that counts where schemas differ: 1/4 and 3/4 have the
/// standard error (1/2 / sqrt 2) / sqrt 2 = 1/4. Where they agree by accident, three
/// quarters of what independent tasks have: 0, 1, 0, 1 have sqrt(1/3) / 2.
#[test]
fn both_levels_count() {
    let between = one(&["a", "a", "b", "b"], &[0.0, 0.5, 0.5, 1.0]);
    assert!((between.standard_error - 0.25).abs() < 3e-3, "{between:?}");
    let within = one(&["a", "a", "b", "b"], &[0.0, 1.0, 0.0, 1.0]);
    assert!((within.standard_error - 0.75 * (1.0_f64 / 12.0).sqrt()).abs() < 1e-12, "{within:?}");
    assert!(within.low < 0.0 && within.high > 1.0, "two schemas say next to nothing: {within:?}");
}

#[test]
fn the_same_seed_gives_the_same_interval_and_the_order_of_tasks_within_names_does_not_matter() {
    let schemas = ["b", "a", "b", "c"];
    let values = [0.1, 0.9, 0.4, 0.3];
    assert_eq!(one(&schemas, &values), one(&schemas, &values));
    let other = Bootstrap { seed: 4, ..MANY };
    let column: Vec<_> = values.iter().copied().map(Some).collect();
    let moved = means(&Clusters::by(schemas), &[column], other)[0].unwrap();
    assert_ne!(moved, one(&schemas, &values));
    assert!((moved.low - one(&schemas, &values).low).abs() < 0.05);
}

#[test]
fn columns_share_their_draws() {
    let clusters = Clusters::by(["a", "a", "b", "b", "c"]);
    let a = vec![Some(0.1), Some(0.7), Some(0.3), Some(0.2), Some(0.5)];
    let b: Vec<_> = a.iter().map(|value| value.map(|value| value + 0.25)).collect();
    let gain: Vec<_> = a.iter().zip(&b).map(|(a, b)| Some((*b)? - (*a)?)).collect();
    let found = means(&clusters, &[a, b, gain], MANY);
    let gain = found[2].unwrap();
    // A gain that is the same at every task has no spread, however much the tasks differ.
    assert!((gain.low - 0.25).abs() < 1e-9 && (gain.high - 0.25).abs() < 1e-9, "{gain:?}");
    assert_eq!((gain.standard_error, gain.smallest_effect()), (0.0, None));
    assert!(found[0].unwrap().standard_error > 0.05);
}

#[test]
fn tasks_that_cannot_say_are_left_out_and_counted_so() {
    let clusters = Clusters::by(["a", "a", "b", "c"]);
    let found = means(&clusters, &[vec![Some(1.0), None, Some(0.0), None], vec![None; 4]], MANY);
    let first = found[0].unwrap();
    assert_eq!((first.value, first.tasks, first.schemas), (0.5, 2, 2));
    assert_eq!(found[1], None);
    assert_eq!(means(&Clusters::by([]), &[vec![]], MANY), vec![None]);
}

#[test]
fn one_schema_is_said_to_be_one() {
    let found = one(&["a", "a", "a", "a"], &[0.0, 1.0, 0.0, 1.0]);
    // The tasks are the units: the sample's standard error is sqrt(1/3 / 4).
    assert!((found.standard_error - (1.0_f64 / 12.0).sqrt()).abs() < 1e-12, "{found:?}");
    assert_eq!(found.schemas, 1);
}
