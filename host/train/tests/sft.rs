//! Supervised fine-tuning: which samples are seen when, and that a loss falls on what is learned alone.
#![expect(clippy::unwrap_used, reason = "tests")]

use tribunal_train::trajectory::Sample;
use tribunal_train::{Clock, Recipe, SftRecipe, sft};
use tribunal_transformer::{AdamW, Device, Model, Settings};

struct Still;

impl Clock for Still {
    fn seconds(&self) -> f64 {
        0.0
    }
}

fn recipe(epochs: u32, batch_tokens: usize) -> SftRecipe {
    let quick = Recipe::parse(include_str!("../../../policies/recipes/quick.toml")).unwrap();
    SftRecipe { epochs, batch_tokens, warmup: 1, learning_rate: 1e-2, ..quick.sft }
}

fn samples(count: u32) -> Vec<Sample> {
    let sample =
        |index: u32| Sample { tokens: (0..20).map(|at| (index + at) % 40).collect(), learned: (10..20).collect() };
    (0..count).map(sample).collect()
}

#[test]
fn every_sample_is_seen_once_an_epoch_in_another_order() {
    let samples = samples(23);
    let steps = sft::steps(&samples, &recipe(3, 100), 7);
    assert!(steps.iter().all(|step| step.len() <= 5), "100 tokens are five samples of 20");
    let all: Vec<usize> = steps.into_iter().flatten().collect();
    let mut epochs: Vec<Vec<usize>> = all.chunks(23).map(<[usize]>::to_vec).collect();
    assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    for epoch in &mut epochs {
        epoch.sort_unstable();
        assert_eq!(*epoch, (0..23).collect::<Vec<_>>());
    }
    assert_eq!(sft::steps(&samples, &recipe(3, 100), 7).concat(), all, "the same seed, the same order");
    assert_ne!(sft::steps(&samples, &recipe(3, 100), 8).concat(), all);
}

#[test]
fn a_step_is_the_same_in_one_pass_or_in_several_and_the_loss_falls() {
    let quick = Recipe::parse(include_str!("../../../policies/recipes/quick.toml")).unwrap();
    let mut shape = quick.shape(40);
    (shape.dim, shape.layers, shape.hidden, shape.heads, shape.kv_heads) = (32, 2, 48, 4, 2);
    let learn = || {
        let mut model = Model::new(shape.clone(), 3, &Device::Cpu).unwrap();
        let mut optimizer = AdamW::new(&model, Settings::default()).unwrap();
        let samples = samples(12);
        let batch: Vec<&Sample> = samples.iter().collect();
        let losses: Vec<f64> = (1..=30)
            .map(|step| {
                let step = sft::Step { phase: "sft", number: step, rate: recipe(1, 1000).rate(step, 30) };
                let update = sft::step(&mut model, &mut optimizer, &batch, &step, &Still).unwrap();
                update.get("loss").unwrap()
            })
            .collect();
        losses
    };
    let losses = learn();
    assert!((losses[0] - 40f64.ln()).abs() < 0.5, "at first all 40 tokens are alike: {}", losses[0]);
    assert!(losses[29] < losses[0] / 3.0, "{losses:?}");
    assert_eq!(learn(), losses, "bit for bit");
}
