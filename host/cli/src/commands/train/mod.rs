//! `tribunal train`: from a recipe to a policy, and to what it is worth beside its start.
//!
//! ```text
//! TRAINING/recipe.toml     what is done
//! TRAINING/tokenizer.json  samples.jsonl  refused.json    what is learned from first
//! TRAINING/latest/         the newest checkpoint, optimizer included: what --resume goes on from
//! TRAINING/sft/ final/     the policy before and after policy optimisation
//! TRAINING/updates.jsonl   one line for every update
//! TRAINING/pool.json       which tasks were chosen, and why
//! TRAINING/evaluation/     a run of both policies: traces, tables, a page
//! ```

mod evaluation;
mod folder;
mod learning;
mod samples;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use tribunal_train::{Clock as _, Recipe};
use tribunal_transformer::Device;

use crate::args::{MachineArguments, PlaceArguments, TrainArguments};
use crate::{models, output, work};
use folder::TrainingFolder;

/// The recipes that come with the program.
const EMBEDDED: [(&str, &str); 3] = [
    ("quick", include_str!("../../../../../policies/recipes/quick.toml")),
    ("full", include_str!("../../../../../policies/recipes/full.toml")),
    ("taught", include_str!("../../../../../policies/recipes/taught.toml")),
];

/// Runs the command.
pub fn run(arguments: &TrainArguments) -> Result<bool> {
    let recipe = recipe(arguments)?;
    let path = arguments.out.clone().unwrap_or_else(|| PathBuf::from("runs").join(format!("train-{}", recipe.name)));
    let device = models::device(&arguments.device.device)?;
    work::watch_interrupts()?;
    let folder = match arguments.resume {
        true => TrainingFolder::open(&path, &recipe)?,
        false => TrainingFolder::create(&path, &recipe, arguments.overwrite)?,
    };
    let begun = work::Stopwatch::start();
    let job = Job { recipe: &recipe, folder: &folder, arguments, device, begun };
    let prepared = samples::prepare(&job)?;
    let Some(prepared) = prepared else { return interrupted(&path) };
    if !learning::learn(&job, prepared)? {
        return interrupted(&path);
    }
    if !evaluation::evaluate(&job)? {
        return interrupted(&path);
    }
    output::note(&format!("trained and evaluated in {:.0} s", job.begun.seconds()));
    Ok(true)
}

/// What every part of a training needs.
struct Job<'a> {
    recipe: &'a Recipe,
    folder: &'a TrainingFolder,
    arguments: &'a TrainArguments,
    device: Device,
    begun: work::Stopwatch,
}

impl Job<'_> {
    /// Where tasks are made, from a seed.
    fn place(&self, seed: u64, tasks: Option<usize>) -> PlaceArguments {
        let MachineArguments { plugins, cache, jobs, json } = &self.arguments.machine;
        let (suite, plugins, cache) = (self.recipe.suite.clone(), plugins.clone(), cache.clone());
        PlaceArguments { suite, plugins, cache, seed, jobs: *jobs, tasks, variants: 0, json: *json }
    }

    fn jobs(&self) -> usize {
        work::jobs(self.arguments.machine.jobs)
    }
}

fn interrupted(path: &Path) -> Result<bool> {
    output::note(&format!("interrupted; the same command with --resume and --out {} goes on", path.display()));
    Ok(false)
}

fn stopped() -> bool {
    work::INTERRUPTED.load(Ordering::SeqCst)
}

/// An embedded recipe by its name, or a file; with the seed of the command line, if there is one.
fn recipe(arguments: &TrainArguments) -> Result<Recipe> {
    let named = &arguments.recipe;
    let embedded = EMBEDDED.iter().find(|(name, _)| Path::new(name) == named.as_path());
    let text = match embedded {
        Some((_, text)) => (*text).to_owned(),
        None => std::fs::read_to_string(named).with_context(|| {
            let known: Vec<&str> = EMBEDDED.iter().map(|(name, _)| *name).collect();
            format!("cannot read {}; a recipe file expected, or one of: {}", named.display(), known.join(", "))
        })?,
    };
    // Lines are those of the file, unless values were set.
    let told = || match arguments.set.is_empty() {
        true => named.display().to_string(),
        false => format!("{} with {}", named.display(), arguments.set.join(", ")),
    };
    let text = tribunal_train::with_values(&text, &arguments.set).with_context(told)?;
    let mut recipe = Recipe::parse(&text).with_context(told)?;
    if let Some(seed) = arguments.seed {
        recipe.seed = seed;
    }
    if recipe.variants == 0 && recipe.sft.tasks > 5_000 {
        bail!("{}: variants: at least 1 expected for so many tasks", named.display());
    }
    Ok(recipe)
}
