//! Policy optimisation in memory: what is gathered, what is learned from it, and that a checkpoint
//! between two updates changes nothing.

use std::sync::Arc;

use tribunal_protocol::limits::Limits;
use tribunal_protocol::verdict::{Score, Verdict};
use tribunal_tests::analytics::stage_under;
use tribunal_train::credit::grpo::Grpo;
use tribunal_train::grpo::{Gathered, Learner, gather};
use tribunal_train::pool::Pool;
use tribunal_train::rollout::Rollout;
use tribunal_train::{Advantage, Checkpoint, Lesson, Progress, Recipe, Update};
use tribunal_transformer::{AdamW, Device, Model, Packed, Sampler, Settings};

use crate::world::{Still, codec, kinds, lessons, model, recipe};

/// A recipe whose attempts differ, at all tasks.
fn lively(group: u32) -> Recipe {
    let mut recipe = recipe();
    recipe.rollout.temperature = 1.0;
    let grpo = recipe.grpo.as_mut().unwrap();
    (grpo.tasks, grpo.group) = (5, group);
    recipe
}

fn gathered(model: &Model, lessons: &Vec<Arc<Lesson>>, recipe: &Recipe, update: u64) -> Gathered {
    let sampler = Sampler::new(model).unwrap();
    let mut pool = Pool::new(lessons.iter().map(|lesson| lesson.task().id.clone()));
    gather(&sampler, lessons, &mut pool, recipe, recipe.grpo.as_ref().unwrap(), update, &Still).unwrap()
}

/// As if the first attempt at each task had passed, which a model that knows nothing never does.
fn with_a_success(mut gathered: Gathered) -> Gathered {
    for (_, rollouts) in &mut gathered.groups {
        let score = Score { reward: 1.0, reason: "match".to_owned(), difference: None, instance: 0 };
        rollouts[0].verdict = Verdict::Scored(score);
        rollouts[0].reward = Some(1.0);
    }
    gathered
}

fn learn(
    model: &mut Model,
    optimizer: &mut AdamW,
    lessons: &Vec<Arc<Lesson>>,
    gathered: &Gathered,
    number: u64,
) -> Update {
    let recipe = recipe().grpo.unwrap();
    let method = &Grpo { form: Advantage::MeanOnly, negative: 1.0 };
    let learner = Learner { reference: None, lessons, method, recipe: &recipe };
    learner.learn(model, optimizer, gathered, number, &Still).unwrap()
}

fn weights(model: &Model) -> Vec<Vec<u32>> {
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect();
    let values = model.parameters().iter().map(|parameter| parameter.var.flatten_all().unwrap().to_vec1().unwrap());
    values.map(bits).collect()
}

/// A grader that breaks now and then: its fuel is too little for whatever is handed in, and attempts
/// that hand in nothing are judged without it.
#[test]
fn voids_are_played_again_and_never_learned_from() {
    let recipe = lively(3);
    let (model, codec) = (model(), codec());
    let is_void = |rollout: &Rollout| matches!(rollout.verdict, Verdict::Void(_));
    let sound = gathered(&model, &lessons(&kinds().0, &codec), &recipe, 1);
    assert_eq!((sound.tally.voids, sound.tally.attempts, sound.groups.len()), (0, 15, 5));

    let flaky = stage_under("primer", Limits { fuel: 25_000, ..Limits::default() }).unwrap();
    let lessons = lessons(&flaky, &codec);
    let (mut voids, mut refilled) = (0, 0);
    for update in 1..=6 {
        let found = gathered(&model, &lessons, &recipe, update);
        voids += found.tally.voids;
        for (_, rollouts) in &found.groups {
            assert_eq!(rollouts.len(), 3, "a group is whole or left out");
            assert!(!rollouts.iter().any(is_void));
            refilled += rollouts.iter().filter(|rollout| rollout.attempt.number >= 3).count();
            let mut seeds: Vec<u64> = rollouts.iter().map(|rollout| rollout.attempt.seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            assert_eq!(seeds.len(), 3, "another attempt has random numbers of its own");
        }
        // Played: a group's three for each task, and one for each void that had a refill left.
        let unfilled = (5 - found.groups.len() as u64) * 3;
        assert!(found.tally.attempts - found.tally.voids <= 15 && found.tally.attempts >= 15);
        assert!(found.tally.attempts - found.tally.voids >= 15 - unfilled);
    }
    assert!(voids > 0 && refilled > 0, "{voids} voids, {refilled} refilled");
}

#[test]
fn without_any_advantage_no_step_is_taken() {
    let recipe = lively(3);
    let lessons = lessons(&kinds().0, &codec());
    let mut model = model();
    let found = gathered(&model, &lessons, &recipe, 1);
    assert_eq!(found.tally.passed, 0, "a model that knows nothing");
    let mut optimizer = AdamW::new(&model, Settings::default()).unwrap();
    let before = weights(&model);
    let update = learn(&mut model, &mut optimizer, &lessons, &found, 1);
    assert_eq!((update.get("steps"), update.get("advantage_size")), (Some(0.0), Some(0.0)));
    assert!(weights(&model) == before);
    // With momentum from a real step, the next update without advantages still moves nothing.
    let found = with_a_success(found);
    let update = learn(&mut model, &mut optimizer, &lessons, &found, 1);
    assert_eq!(update.get("steps"), Some(2.0));
    let moved = weights(&model);
    assert!(moved != before);
    let found = gathered(&model, &lessons, &recipe, 2);
    learn(&mut model, &mut optimizer, &lessons, &found, 2);
    assert!(weights(&model) == moved);
}

#[test]
fn the_trainer_replays_what_the_sampler_drew() {
    let recipe = lively(3);
    let lessons = lessons(&kinds().0, &codec());
    let mut model = model();
    let found = with_a_success(gathered(&model, &lessons, &recipe, 1));
    let measured = |rollout: &Rollout, masked: bool| {
        let mut packed = Packed::new();
        let scored = rollout.choices.iter().map(|choice| (choice.at, choice.mask.clone().filter(|_| masked)));
        packed.push(&rollout.tokens, scored).unwrap();
        let found = model.measure(&packed).unwrap().log_probs;
        let apart = found.iter().zip(&rollout.choices).map(|(found, choice)| (found - choice.behaviour).abs());
        apart.fold(0.0, f32::max)
    };
    let all = || found.groups.iter().flat_map(|(_, rollouts)| rollouts);
    assert!(all().map(|rollout| rollout.choices.len()).sum::<usize>() > 100);
    let largest = all().map(|rollout| measured(rollout, true)).fold(0.0, f32::max);
    assert!(largest < 1e-4, "{largest}");
    // Without the masks they were drawn under, they are other numbers.
    assert!(all().map(|rollout| measured(rollout, false)).fold(0.0, f32::max) > 0.1);
    // And so the trainer sees it: at its first step the ratio is one.
    let mut optimizer = AdamW::new(&model, Settings::default()).unwrap();
    let update = learn(&mut model, &mut optimizer, &lessons, &found, 1);
    assert!(update.get("replay_error").unwrap() < 1e-4, "{update:?}");
    // Tokens that another model drew do not pass for its own.
    let update = learn(&mut model, &mut optimizer, &lessons, &found, 2);
    assert!(update.get("replay_error").unwrap() > 1e-4, "{update:?}");
}

#[test]
fn a_checkpoint_between_updates_changes_nothing() {
    let recipe = lively(2);
    let lessons = lessons(&kinds().0, &codec());
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("latest");
    let step = |model: &mut Model, optimizer: &mut AdamW, number: u64| {
        let found = with_a_success(gathered(model, &lessons, &recipe, number));
        learn(model, optimizer, &lessons, &found, number);
    };
    let mut model = model();
    let mut optimizer = AdamW::new(&model, Settings::default()).unwrap();
    step(&mut model, &mut optimizer, 1);
    let (codec, progress) = (codec(), Progress { grpo_updates: 1, ..Progress::default() });
    let saved = Checkpoint { model, codec, recipe: recipe.clone(), optimizer: Some(optimizer), progress };
    saved.save(&at).unwrap();
    let mut loaded = Checkpoint::load(&at, &Device::Cpu).unwrap();
    assert_eq!(loaded.progress.grpo_updates, 1);
    let Checkpoint { mut model, optimizer, .. } = saved;
    let (mut optimizer, mut again) = (optimizer.unwrap(), loaded.optimizer.take().unwrap());
    for number in 2..=3 {
        step(&mut model, &mut optimizer, number);
        step(&mut loaded.model, &mut again, number);
        assert!(weights(&model) == weights(&loaded.model), "after update {number}");
    }
    // Moments that are lost are other weights.
    let mut forgetful = Checkpoint::load(&at, &Device::Cpu).unwrap().model;
    let mut fresh = AdamW::new(&forgetful, Settings::default()).unwrap();
    (2..=3).for_each(|number| step(&mut forgetful, &mut fresh, number));
    assert!(weights(&forgetful) != weights(&model));
}
