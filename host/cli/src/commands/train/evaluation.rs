//! What the policy is worth, beside the one that it started from: a run of both over the suite.

use std::collections::BTreeSet;

use anyhow::Result;
use tribunal_protocol::task::Task;
use tribunal_train::rollout::{self, Attempt};
use tribunal_train::{Checkpoint, Lesson, seed_of};
use tribunal_transformer::{Device, Sampler};

use super::{Job, samples, stopped};
use crate::args::PlaceArguments;
use crate::commands::report;
use crate::datasets::Workshop;
use crate::folder::{self, LAYOUT, RefusedTask, RunFile, RunFolder};
use crate::output;

/// Evaluates; says whether it came to the end.
pub fn evaluate(job: &Job<'_>) -> Result<bool> {
    let recipe = job.recipe;
    let place = job.place(recipe.evaluate.seed, recipe.evaluate.tasks);
    let workshop = Workshop::open(&place)?;
    let Some(made) = workshop.make(job.jobs())? else { return Ok(false) };
    let policies: Vec<&str> = if recipe.grpo.is_some() { vec!["sft", "final"] } else { vec!["final"] };
    let run = open(job, &workshop, &policies, &place)?;
    run.write_tasks(&made.tasks)?;
    let refused = made.refused.iter();
    let refused = refused.map(|why| RefusedTask { task: why.task.clone(), reason: why.reason.clone() });
    run.write_refused(&refused.collect::<Vec<_>>())?;
    for policy in policies {
        let checkpoint = Checkpoint::load(&job.folder.at(policy), &Device::Cpu)?;
        let tasks: Vec<Task> = made.tasks.clone();
        let Some(lessons) = samples::lessons(job, &workshop, tasks, &checkpoint.codec)? else { return Ok(false) };
        if !play(job, policy, &checkpoint, &lessons, &run)? {
            return Ok(false);
        }
    }
    report::show(&run, job.arguments.machine.json)?;
    Ok(true)
}

fn open(job: &Job<'_>, workshop: &Workshop, policies: &[&str], place: &PlaceArguments) -> Result<RunFolder> {
    let file = RunFile {
        layout: LAYOUT,
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        suite: workshop.suite_name().to_owned(),
        suite_version: workshop.suite_version(),
        suite_digest: workshop.suite_digest(),
        seed: place.seed,
        policies: policies.iter().map(|policy| (*policy).to_owned()).collect(),
        attempts: job.recipe.evaluate.attempts,
        tasks: place.tasks,
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

/// Plays all attempts of one policy that have no trace yet.
fn play(job: &Job<'_>, policy: &str, checkpoint: &Checkpoint, lessons: &[Lesson], run: &RunFolder) -> Result<bool> {
    let recipe = job.recipe;
    std::fs::create_dir_all(run.at("traces").join(policy))?;
    let done: BTreeSet<_> = run.traces()?.into_iter().collect();
    let sampler = Sampler::new(&checkpoint.model)?;
    let bar = output::progress(policy, lessons.len() as u64 * u64::from(recipe.evaluate.attempts));
    for part in lessons.chunks(8) {
        let trace =
            |lesson: usize, number: u32| run.at(&RunFolder::trace_name(policy, &part[lesson].task().id, number));
        let mut attempts = Vec::new();
        for (lesson, ready) in part.iter().enumerate() {
            for number in 0..recipe.evaluate.attempts {
                if done.contains(&trace(lesson, number)) {
                    bar.step();
                    continue;
                }
                let seed = seed_of(recipe.seed, &["evaluate", &ready.task().id, &number.to_string()]);
                attempts.push(Attempt { lesson, number, seed });
            }
        }
        let (played, _) =
            rollout::play_as(policy, &sampler, part, &attempts, &recipe.rollout, &job.begun, &mut |_| bar.step())?;
        for rollout in played {
            let path = trace(rollout.attempt.lesson, rollout.attempt.number);
            folder::write(&path, &tribunal_trace::write(&rollout.events)?)?;
        }
        if stopped() {
            return Ok(false);
        }
    }
    bar.finish();
    Ok(true)
}
