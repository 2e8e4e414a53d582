//! What the policy is worth, beside the one that it started from: a run of both over the suite.

use anyhow::Result;
use tribunal_train::{Served, seed_of};

use super::Job;
use crate::args::{EvaluateArguments, PlaceArguments};
use crate::commands::report;
use crate::datasets::Workshop;
use crate::folder::{LAYOUT, ModelFile, RefusedTask, RunFile, RunFolder};
use crate::models::Stint;

/// Evaluates; says whether it came to the end.
pub fn evaluate(job: &Job<'_>) -> Result<bool> {
    let recipe = job.recipe;
    let place = job.place(recipe.evaluate.seed, recipe.evaluate.tasks);
    let workshop = Workshop::open(&place)?;
    let Some(made) = workshop.make(job.jobs())? else { return Ok(false) };
    let policies: Vec<&'static str> = if recipe.grpo.is_some() { vec!["sft", "final"] } else { vec!["final"] };
    let open_one = |policy: &&'static str| {
        let mut served = Served::open(&job.folder.at(policy), &job.device)?;
        served.rollout.temperature = recipe.evaluate.temperature.unwrap_or(served.rollout.temperature);
        Ok((*policy, served))
    };
    let models = policies.iter().map(open_one).collect::<Result<Vec<(&str, Served)>>>()?;
    let run = open(job, &workshop, &models, &place)?;
    run.write_tasks(&made.tasks)?;
    let refused = made.refused.iter();
    let refused = refused.map(|why| RefusedTask { task: why.task.clone(), reason: why.reason.clone() });
    run.write_refused(&refused.collect::<Vec<_>>())?;
    for (policy, served) in &models {
        let stint = Stint {
            name: policy,
            served,
            workshop: &workshop,
            run: &run,
            attempts: recipe.evaluate.attempts,
            seed: &|task, attempt| seed_of(recipe.seed, &["evaluate", task, &attempt.to_string()]),
            jobs: job.jobs(),
        };
        if !stint.play(&made.tasks)? {
            return Ok(false);
        }
    }
    report::show(&run, job.arguments.machine.json)?;
    if policies.len() > 1 {
        compare(job, &run)?;
    }
    Ok(true)
}

/// What policy optimisation was worth: the last policy against the one that it started from.
fn compare(job: &Job<'_>, run: &RunFolder) -> Result<()> {
    let folder = Some(run.path().to_owned());
    let arguments = EvaluateArguments {
        run: folder.clone(),
        against: folder,
        policy: Some("final".to_owned()),
        against_policy: Some("sft".to_owned()),
        recheck: None,
        recheck_policy: None,
        protocol: None,
        print_protocol: false,
        plug_in: false,
        no_links: false,
        training: Some(job.folder.path().to_owned()),
        out: None,
        json: job.arguments.machine.json,
        markdown: false,
    };
    // The decision is the report's; a training that gained too little has still come to its end.
    crate::commands::evaluate::run(&arguments).map(|_| ())
}

fn open(job: &Job<'_>, workshop: &Workshop, models: &[(&str, Served)], place: &PlaceArguments) -> Result<RunFolder> {
    let file = RunFile {
        layout: LAYOUT,
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        suite: workshop.suite_name().to_owned(),
        suite_version: workshop.suite_version(),
        suite_digest: workshop.suite_digest(),
        seed: place.seed,
        policies: models.iter().map(|(policy, _)| (*policy).to_owned()).collect(),
        attempts: job.recipe.evaluate.attempts,
        tasks: place.tasks,
        variants: place.variants,
        models: models.iter().map(|(policy, served)| ((*policy).to_owned(), ModelFile::of(served))).collect(),
        plugins: workshop.stage().plugins().iter().map(|(name, plugin)| (name.clone(), plugin.digest())).collect(),
    };
    let path = job.folder.at("evaluation");
    if job.arguments.resume
        && let Ok(run) = RunFolder::open(&path)
        && run.run_file()? == file
    {
        return Ok(run);
    }
    RunFolder::create(&path, &file, true)
}
