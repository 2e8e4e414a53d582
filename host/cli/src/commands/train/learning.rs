//! Supervised fine-tuning, then policy optimisation; a checkpoint now and then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use tribunal_dialogue::Codec;
use tribunal_episode::Prepared;
use tribunal_evaluate::jeffreys::Band;
use tribunal_protocol::task::Task;
use tribunal_train::credit::grpo::Grpo;
use tribunal_train::pool::Pool;
use tribunal_train::rollout::{self, Attempt};
use tribunal_train::trajectory::Sample;
use tribunal_train::{
    Checkpoint, Grader, GrpoRecipe, Lesson, Lessons as _, Make, Progress, Shelf, TrainError, Update, grpo, seed_of, sft,
};
use tribunal_transformer::{AdamW, Model, Sampler, Settings};

use super::samples::{Start, Watched};
use super::{Job, stopped};
use crate::datasets::Workshop;
use crate::folder::write;
use crate::output;

/// Steps of supervised fine-tuning between checkpoints.
const SFT_CHECKPOINT: u64 = 50;

/// Tasks that are ready at the same time while a pool is made and probed.
const AT_ONCE: usize = 64;

/// Steps of supervised fine-tuning between measurements of what is watched.
const WATCH: u64 = 250;

/// Learns; says whether it came to the end.
pub fn learn(job: &Job<'_>, start: Start) -> Result<bool> {
    let latest = job.folder.at("latest");
    let mut checkpoint = match job.arguments.resume && latest.join(tribunal_train::STATE).exists() {
        true => Checkpoint::load(&latest, &job.device)?,
        false => match &job.arguments.start {
            Some(path) => started(job, path)?,
            None => fresh(job, &start.codec)?,
        },
    };
    let done = checkpoint.progress.clone();
    job.folder.keep_updates(|update| match update.phase.as_str() {
        "sft" | "watch" => update.update <= done.sft_steps,
        _ => update.update <= done.grpo_updates,
    })?;
    if !checkpoint.progress.sft_done && !fine_tune(job, &mut checkpoint, &start)? {
        return Ok(false);
    }
    match &job.recipe.grpo {
        Some(grpo) => optimise(job, grpo, &mut checkpoint, &start.workshop),
        None => {
            Checkpoint { optimizer: None, ..checkpoint }.save(&job.folder.at("final"))?;
            Ok(true)
        }
    }
}

fn fresh(job: &Job<'_>, codec: &Arc<Codec>) -> Result<Checkpoint> {
    let recipe = job.recipe;
    let shape = recipe.shape(codec.vocabulary());
    let model = Model::new(shape, seed_of(recipe.seed, &["weights"]), &job.device)?;
    let sft = &recipe.sft;
    let settings =
        Settings { weight_decay: sft.weight_decay, clip: Some(sft.clip), muon: sft.muon, ..Settings::default() };
    let optimizer = AdamW::new(&model, settings)?;
    output::note(&format!("a model of {} parameters", model.shape().parameters()));
    let (codec, recipe) = (Arc::clone(codec), recipe.clone());
    Ok(Checkpoint { model, codec, recipe, optimizer: Some(optimizer), progress: Progress::default() })
}

/// Whether supervised fine-tuning came to its end.
fn fine_tune(job: &Job<'_>, checkpoint: &mut Checkpoint, start: &Start) -> Result<bool> {
    let recipe = &job.recipe.sft;
    let samples = &start.samples;
    let steps = sft::steps(samples, recipe, job.recipe.seed);
    let Some(mut optimizer) = checkpoint.optimizer.take() else {
        bail!("{}: no optimizer in it, so this training cannot go on", job.folder.at("latest").display());
    };
    let bar = output::progress("fine-tuning", steps.len() as u64);
    bar.start_at(checkpoint.progress.sft_steps);
    for (index, chosen) in steps.iter().enumerate().skip(usize::try_from(checkpoint.progress.sft_steps)?) {
        let number = index as u64 + 1;
        let chosen: Vec<&Sample> = chosen.iter().map(|sample| &samples[*sample]).collect();
        let step = sft::Step { phase: "sft", number, rate: recipe.rate(number, steps.len() as u64) };
        let update = sft::step(&mut checkpoint.model, &mut optimizer, &chosen, &step, &job.begun)?;
        job.folder.add(&update)?;
        bar.say(&line(&update, &["loss", "tokens_per_second"]));
        bar.step();
        checkpoint.progress.sft_steps = number;
        if number.is_multiple_of(WATCH) || index + 1 == steps.len() {
            watch(job, &checkpoint.model, &start.watched, number)?;
        }
        if number.is_multiple_of(SFT_CHECKPOINT) || stopped() {
            checkpoint.optimizer = Some(optimizer);
            checkpoint.save(&job.folder.at("latest"))?;
            if stopped() {
                return Ok(false);
            }
            optimizer = checkpoint.optimizer.take().ok_or_else(|| anyhow::anyhow!("the optimizer is gone"))?;
        }
    }
    bar.finish();
    before_optimising(job, checkpoint)?;
    Ok(true)
}

/// Keeps the policy that optimisation starts from.
fn before_optimising(job: &Job<'_>, checkpoint: &mut Checkpoint) -> Result<()> {
    checkpoint.progress.sft_done = true;
    checkpoint.save(&job.folder.at("sft"))?;
    // Policy optimisation starts with moments of its own.
    let (clip, muon) = job.recipe.grpo.as_ref().map_or((1.0, false), |grpo| (grpo.clip, grpo.muon));
    let settings = Settings { weight_decay: 0.0, clip: Some(clip), muon, ..Settings::default() };
    checkpoint.optimizer = Some(AdamW::new(&checkpoint.model, settings)?);
    checkpoint.save(&job.folder.at("latest"))?;
    Ok(())
}

/// Another training's checkpoint, to be optimised by this recipe.
fn started(job: &Job<'_>, path: &Path) -> Result<Checkpoint> {
    if job.recipe.grpo.is_none() {
        bail!("--start: the recipe has no [grpo], so there is nothing to do from a checkpoint");
    }
    let Checkpoint { model, codec, .. } = Checkpoint::load(path, &job.device)?;
    let recipe = job.recipe.clone();
    let mut checkpoint = Checkpoint { model, codec, recipe, optimizer: None, progress: Progress::default() };
    before_optimising(job, &mut checkpoint)?;
    Ok(checkpoint)
}

/// Measures the solutions that are watched: a line of counters by split, and every token's
/// log-probability in `watched.jsonl`.
fn watch(job: &Job<'_>, model: &Model, watched: &[Watched], number: u64) -> Result<()> {
    if watched.is_empty() {
        return Ok(());
    }
    let samples: Vec<&Sample> = watched.iter().map(|one| &one.sample).collect();
    let likelihoods = sft::likelihoods(model, &samples)?;
    let mut update = Update::new(number, "watch");
    let mut splits: BTreeMap<&str, Vec<Vec<f32>>> = BTreeMap::new();
    let mut lines = String::new();
    for (one, own) in watched.iter().zip(&likelihoods) {
        splits.entry(one.split).or_default().push(own.clone());
        let sample = &one.sample;
        let line = serde_json::json!({
            "task": one.task, "split": one.split, "tokens": sample.tokens, "learned": sample.learned, "log_probs": own,
        });
        lines.push_str(&format!("{line}\n"));
    }
    for (split, own) in &splits {
        let (loss, sure) = sft::summary(own);
        update.set(&format!("loss_{split}"), loss);
        update.set(&format!("sure_{split}"), sure);
    }
    let (loss, sure) = sft::summary(&likelihoods);
    update.set("loss", loss);
    update.set("sure", sure);
    job.folder.add(&update)?;
    write(&job.folder.at("watched.jsonl"), lines.as_bytes())
}

/// Whether policy optimisation came to its end.
fn optimise(job: &Job<'_>, recipe: &GrpoRecipe, checkpoint: &mut Checkpoint, workshop: &Workshop) -> Result<bool> {
    if checkpoint.progress.grpo_updates >= recipe.updates && job.folder.at("final").exists() {
        return Ok(true);
    }
    let codec = Arc::clone(&checkpoint.codec);
    let make = |task: &Task| {
        let prepared = Prepared::new(workshop.stage(), Arc::new(task.clone()))?;
        Lesson::new(prepared, &codec, job.recipe.rollout.grammar)
    };
    let Some(tasks) = pool_tasks(job, workshop, &make)? else { return Ok(false) };
    let lessons = Shelf::new(tasks, &make);
    if checkpoint.progress.pool.entries.is_empty() {
        let mut pool = Pool::new(lessons.tasks().iter().map(|task| task.id.clone()));
        let places: Vec<usize> = (0..lessons.tasks().len()).collect();
        if !probe(job, &checkpoint.model, &lessons, workshop, (&mut pool, &places, &["probe"]))? {
            return Ok(false);
        }
        let why = pool.why(job.recipe.pool.selection);
        write(&job.folder.at("pool.json"), &serde_json::to_vec_pretty(&why)?)?;
        let bands: Vec<String> = pool.bands().iter().map(|(band, count)| format!("{band} {count}")).collect();
        output::note(&format!("the pool, by the starting policy: {}", bands.join(", ")));
        checkpoint.progress.pool = pool;
        checkpoint.save(&job.folder.at("latest"))?;
    }
    let reference = match recipe.kl > 0.0 {
        true => Some(Checkpoint::load(&job.folder.at("sft"), &job.device)?.model),
        false => None,
    };
    let method = Grpo { form: recipe.advantage, negative: recipe.negative };
    let bar = output::progress("optimising", recipe.updates);
    bar.start_at(checkpoint.progress.grpo_updates);
    while checkpoint.progress.grpo_updates < recipe.updates {
        let number = checkpoint.progress.grpo_updates + 1;
        if !probe_again(job, checkpoint, &lessons, workshop)? {
            return Ok(false);
        }
        let sampler = Sampler::new(&checkpoint.model)?;
        let pool = &mut checkpoint.progress.pool;
        let gathered = grpo::gather(&sampler, &lessons, pool, job.recipe, recipe, number, &job.begun)?;
        drop(sampler);
        workshop.forget();
        let Some(optimizer) = checkpoint.optimizer.as_mut() else { bail!("the checkpoint has no optimizer") };
        let learner = grpo::Learner { reference: reference.as_ref(), lessons: &lessons, method: &method, recipe };
        let mut update = learner.learn(&mut checkpoint.model, optimizer, &gathered, number, &job.begun)?;
        for (band, count) in checkpoint.progress.pool.bands() {
            update.set(&format!("pool_{band}"), count as f64);
        }
        job.folder.add(&update)?;
        bar.say(&line(&update, &["pass_rate", "entropy", "groups_informative", "seconds"]));
        bar.step();
        checkpoint.progress.grpo_updates = number;
        checkpoint.progress.guard.look(&update)?;
        if number.is_multiple_of(recipe.checkpoint_every) || number == recipe.updates || stopped() {
            checkpoint.save(&job.folder.at("latest"))?;
        }
        if stopped() {
            return Ok(false);
        }
    }
    bar.finish();
    checkpoint.optimizer = None;
    checkpoint.save(&job.folder.at("final"))?;
    Ok(true)
}

/// The tasks of the pool: none that supervised fine-tuning has seen, and none that is too long for the
/// model.
fn pool_tasks(job: &Job<'_>, workshop: &Workshop, make: &Make<'_>) -> Result<Option<Vec<Task>>> {
    let recipe = job.recipe;
    let places = workshop.training_places(recipe.sft.tasks + recipe.pool.tasks)?;
    let bar = output::progress("tasks to learn", recipe.pool.tasks as u64);
    let mut tasks = Vec::new();
    let mut long = 0;
    for part in places[recipe.sft.tasks.min(places.len())..].chunks(AT_ONCE) {
        let made = crate::work::all(part, job.jobs(), |place| {
            let made = workshop.make_place(place).0;
            let fits = made.as_ref().map(|task| Ok::<_, TrainError>(make(task)?.fits(recipe.model.context)));
            bar.step();
            Ok((made, fits.transpose()?))
        })?;
        workshop.forget();
        for one in made {
            let Some((task, fits)) = one else { return Ok(None) };
            long += usize::from(fits == Some(false));
            tasks.extend(task.filter(|_| fits == Some(true)));
        }
    }
    bar.finish();
    if long > 0 {
        output::note(&format!("{long} tasks have openings too long for {} tokens", recipe.model.context));
    }
    Ok(Some(tasks))
}

/// Probes what was too hard, where the recipe says so after the updates that were done. False when
/// interrupted: the checkpoint is then kept as it was before, so that going on begins with it anew.
fn probe_again(job: &Job<'_>, checkpoint: &mut Checkpoint, shelf: &Shelf<'_>, workshop: &Workshop) -> Result<bool> {
    let (done, again) = (checkpoint.progress.grpo_updates, job.recipe.pool.again);
    if again == 0 || done == 0 || !done.is_multiple_of(again) {
        return Ok(true);
    }
    let mut pool = checkpoint.progress.pool.clone();
    let places = pool.too_hard();
    places.iter().for_each(|place| pool.forget(*place));
    let parts = ["probe-again", &done.to_string()];
    if !probe(job, &checkpoint.model, shelf, workshop, (&mut pool, &places, &parts))? {
        checkpoint.save(&job.folder.at("latest"))?;
        return Ok(false);
    }
    let within = places.len() - places.iter().filter(|place| pool.entries[**place].band() == Band::TooHard).count();
    output::note(&format!("after {done} updates {within} of {} tasks are no longer too hard", places.len()));
    checkpoint.progress.pool = pool;
    Ok(true)
}

/// Tries tasks of the pool with a policy; `parts` tell its random numbers from others. False when
/// interrupted.
fn probe(
    job: &Job<'_>,
    model: &Model,
    shelf: &Shelf<'_>,
    workshop: &Workshop,
    (pool, places, parts): (&mut Pool, &[usize], &[&str]),
) -> Result<bool> {
    let recipe = job.recipe;
    let sampler = Sampler::new(model)?;
    // Who learns from a grader knows no better one to choose tasks by.
    let grader = recipe.grpo.as_ref().map_or(Grader::Verifier, |grpo| grpo.grader);
    let bar = output::progress("probing", places.len() as u64 * u64::from(recipe.pool.probes));
    for part in places.chunks(AT_ONCE) {
        let attempt = |lesson: usize, number: u32| {
            let number_text = number.to_string();
            let parts = [parts, &[shelf.id(part[lesson]), &number_text]].concat();
            Attempt { lesson, number, seed: seed_of(recipe.seed, &parts) }
        };
        let attempts: Vec<Attempt> = (0..part.len())
            .flat_map(|lesson| (0..recipe.pool.probes).map(move |number| (lesson, number)))
            .map(|(lesson, number)| attempt(lesson, number))
            .collect();
        let ready = shelf.ready(part)?;
        let (played, _) = rollout::play(&sampler, &ready, &attempts, &recipe.rollout, &job.begun, &mut |_| bar.step())?;
        for rollout in played {
            let lesson = rollout.attempt.lesson;
            let reward = ready[lesson].worth(grader, &rollout.verdict, &rollout.events);
            pool.note(part[lesson], reward.map(|reward| reward >= 1.0));
        }
        drop(ready);
        workshop.forget();
        if stopped() {
            return Ok(false);
        }
    }
    bar.finish();
    Ok(true)
}

/// A few counters as a line.
fn line(update: &Update, names: &[&str]) -> String {
    let one = |name: &&str| Some(format!("{} {:.3}", name.replace('_', " "), update.get(name)?));
    names.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}
