//! What is learned from first: solutions of tasks, played, judged and turned into tokens.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_dialogue::Codec;
use tribunal_episode::Prepared;
use tribunal_protocol::task::Task;
use tribunal_train::trajectory::{Sample, Trajectory, verified};
use tribunal_train::{Checkpoint, seed_of};

use super::Job;
use crate::args::PlaceArguments;
use crate::datasets::Workshop;
use crate::folder::write;
use crate::{output, work};

/// Tasks that are made, played and let go at a time: their data is large.
const AT_ONCE: usize = 128;

/// Trajectories whose text the tokenizer is trained on.
const TOKENIZER_FROM: usize = 600;

/// What a training starts from.
pub struct Start {
    /// How episodes become tokens.
    pub codec: Arc<Codec>,
    /// The verified trajectories.
    pub samples: Vec<Sample>,
    /// Solutions that are watched and never learned from, with the split of each.
    pub watched: Vec<Watched>,
    /// Where tasks are made.
    pub workshop: Workshop,
}

/// A solution that is watched.
pub struct Watched {
    /// The task's id.
    pub task: String,
    /// Its split.
    pub split: &'static str,
    /// The solution.
    pub sample: Sample,
}

/// Makes tasks, plays their solutions, keeps what the verifier passed; or reads what an earlier
/// start of this training kept. None when interrupted.
pub fn prepare(job: &Job<'_>) -> Result<Option<Start>> {
    let place = PlaceArguments { variants: job.recipe.variants, ..job.place(job.recipe.seed, None) };
    let workshop = Workshop::open(&place)?;
    let tokenizer = job.folder.at("tokenizer.json");
    if let Some(start) = &job.arguments.start {
        let codec = Checkpoint::load(start, &job.device)?.codec;
        return Ok(Some(Start { codec, samples: Vec::new(), watched: Vec::new(), workshop }));
    }
    if let (Ok(text), Some(samples)) = (std::fs::read_to_string(&tokenizer), job.folder.samples()?) {
        let codec = Arc::new(Codec::from_json(&text).with_context(|| tokenizer.display().to_string())?);
        let Some(watched) = watched(job, &codec)? else { return Ok(None) };
        return Ok(Some(Start { codec, samples, watched, workshop }));
    }
    let Some(trajectories) = trajectories(job, &workshop)? else { return Ok(None) };
    let texts: Vec<String> = trajectories.iter().take(TOKENIZER_FROM).flat_map(Trajectory::texts).collect();
    let codec = Codec::train(texts.iter().map(String::as_str).collect::<Vec<_>>(), job.recipe.model.vocabulary)?;
    let codec = Arc::new(codec);
    let all = work::all(&trajectories, job.jobs(), |trajectory| Ok(trajectory.sample(&codec)?))?;
    let context = job.recipe.model.context;
    let mut samples: Vec<Sample> = all.into_iter().flatten().collect();
    let before = samples.len();
    samples.retain(|sample| sample.tokens.len() <= context);
    let tokens: usize = samples.iter().map(|sample| sample.tokens.len()).sum();
    output::note(&format!(
        "{} verified trajectories of {before} fit {context} tokens: {} tokens each, {} of them learned; vocabulary {}",
        samples.len(),
        tokens / samples.len().max(1),
        samples.iter().map(|sample| sample.learned.len()).sum::<usize>() / samples.len().max(1),
        codec.vocabulary()
    ));
    if samples.is_empty() {
        bail!("no trajectory fits model.context = {context}; give the model a longer one");
    }
    write(&tokenizer, codec.to_json().as_bytes())?;
    job.folder.write_samples(&samples)?;
    let Some(watched) = watched(job, &codec)? else { return Ok(None) };
    Ok(Some(Start { codec, samples, watched, workshop }))
}

/// Solutions of tasks of every split of the suite itself.
fn watched(job: &Job<'_>, codec: &Arc<Codec>) -> Result<Option<Vec<Watched>>> {
    let recipe = job.recipe;
    if recipe.sft.watch == 0 {
        return Ok(Some(Vec::new()));
    }
    let workshop = Workshop::open(&job.place(recipe.evaluate.seed, Some(recipe.sft.watch)))?;
    let Some(made) = workshop.make(job.jobs())? else { return Ok(None) };
    let played = work::all(&made.tasks, job.jobs(), |task| {
        let Some(trajectory) = play(&workshop, task.clone(), recipe.seed, 0.0)? else { return Ok(None) };
        let (task, split) = (task.id.clone(), task.split.name());
        Ok(Some(Watched { task, split, sample: trajectory.sample(codec)? }))
    })?;
    let mut watched = Vec::new();
    for one in played {
        let Some(one) = one else { return Ok(None) };
        watched.extend(one.filter(|one| one.sample.tokens.len() <= recipe.model.context));
    }
    Ok(Some(watched))
}

fn trajectories(job: &Job<'_>, workshop: &Workshop) -> Result<Option<Vec<Trajectory>>> {
    let recipe = job.recipe;
    let bar = output::progress("trajectories", recipe.sft.tasks as u64);
    let mut kept = Vec::new();
    let mut refused = 0;
    let places = workshop.training_places(recipe.sft.tasks)?;
    for part in places.chunks(AT_ONCE) {
        let played = work::all(part, job.jobs(), |place| {
            let (task, why) = workshop.make_place(place);
            let played = match task {
                Some(task) => play(workshop, task, recipe.seed, recipe.sft.detours)?,
                None => None,
            };
            bar.step();
            Ok((played, why.len()))
        })?;
        workshop.forget();
        for played in played {
            let Some((trajectory, refusals)) = played else { return Ok(None) };
            kept.extend(trajectory);
            refused += refusals;
        }
    }
    bar.finish();
    output::note(&format!(
        "{} of {} solutions passed their verifier and are learned from; {refused} drafts were refused on trial",
        kept.len(),
        recipe.sft.tasks
    ));
    if kept.is_empty() {
        bail!("no solution passed; `tribunal tasks --suite {}` says what is wrong with the suite", recipe.suite);
    }
    Ok(Some(kept))
}

fn play(workshop: &Workshop, task: Task, seed: u64, detours: f64) -> Result<Option<Trajectory>> {
    let seed = seed_of(seed, &["trajectory", &task.id]);
    let prepared = Prepared::new(workshop.stage(), Arc::new(task))?;
    Ok(verified(&prepared, seed, detours).or_else(|| verified(&prepared, seed, 0.0)))
}
