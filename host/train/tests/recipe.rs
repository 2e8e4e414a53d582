//! Recipes: what is read, and what is refused by name.

use tribunal_train::{Advantage, Recipe, Selection};

const QUICK: &str = include_str!("../../../policies/recipes/quick.toml");

#[test]
fn the_embedded_recipe_is_read_and_written_back() {
    let recipe = Recipe::parse(QUICK).unwrap();
    let grpo = recipe.grpo.as_ref().unwrap();
    assert_eq!((grpo.advantage, recipe.pool.selection), (Advantage::MeanOnly, Selection::Bands));
    assert_eq!((grpo.clip_low, grpo.clip_high, grpo.steps), (0.2, 0.28, 2));
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
}

#[test]
fn every_recipe_that_comes_along_is_read() {
    let full = Recipe::parse(include_str!("../../../policies/recipes/full.toml")).unwrap();
    assert_eq!((full.name.as_str(), full.evaluate.attempts), ("full", 20));
    let taught = Recipe::parse(include_str!("../../../policies/recipes/taught.toml")).unwrap();
    assert!(taught.name == "taught" && taught.grpo.is_none() && taught.sft.muon);
}

#[test]
fn what_is_wrong_is_named() {
    for (from, to, parts) in [
        ("seed = 1", "sead = 1", "line 4"),
        ("format = 1", "format = 2", "format: format 1 expected, 2 given"),
        ("heads = 2", "heads = 5", "model"),
        ("group = 8", "group = 1", "grpo.group: at least 2 expected"),
        ("detours = 0.3", "detours = 1.5", "sft.detours: a share"),
        ("batch_tokens = 2048", "batch_tokens = 100", "sft.batch_tokens"),
        ("negative = 0.1", "negative = -0.1", "grpo.negative: a share"),
        ("probes = 4", "probes = 3", "pool.probes: at least 4"),
        ("call_tokens = 160", "call_tokens = 0", "rollout"),
    ] {
        assert!(QUICK.contains(from), "{from}");
        let fault = Recipe::parse(&QUICK.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(fault.contains(parts), "{to}: {fault}");
    }
}

/// By hand: two updates of warm-up, then 34/35, 33/35, .. of the rate, 1/35 at the last of 36.
#[test]
fn the_rate_rises_and_falls_in_lines() {
    let mut grpo = Recipe::parse(QUICK).unwrap().grpo.unwrap();
    (grpo.learning_rate, grpo.warmup, grpo.updates) = (1.0, 2, 36);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    for (decay, number, expected) in [
        (false, 1, 0.5),
        (false, 2, 1.0),
        (false, 36, 1.0),
        (true, 1, 0.5),
        (true, 2, 1.0),
        (true, 3, 34.0 / 35.0),
        (true, 36, 1.0 / 35.0),
    ] {
        grpo.decay = decay;
        close(grpo.rate(number), expected);
    }
}
