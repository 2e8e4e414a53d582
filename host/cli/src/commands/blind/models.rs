//! Policies that are models: a vendor's checkpoint, which nobody else reads.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use tribunal_episode::Stage;
use tribunal_protocol::policy::Policies;
use tribunal_protocol::task::Task;
use tribunal_scripted::Scripted;
use tribunal_seal::BlindEpisode;
use tribunal_train::rollout::{self, Attempt};
use tribunal_train::{Lesson, Served};
use tribunal_transformer::Sampler;

use super::{blind, prepared, whole};
use crate::args::EvaluateBlindArguments;
use crate::commands::run::policy_seed;
use crate::models::{AT_ONCE, given_up};
use crate::{output, work};

/// `NAME=FILE` of every model. A name that says nothing of the file, and is not taken.
pub fn names<'a>(models: &'a [String], scripted: &[Scripted]) -> Result<Vec<(String, &'a Path)>> {
    let mut taken: BTreeSet<String> = scripted.iter().map(|policy| Policies::name(policy).to_owned()).collect();
    let mut found = Vec::new();
    for named in models {
        let (name, path) = named
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .with_context(|| format!("--model {named}: NAME=FILE expected, where FILE was encrypted to this host"))?;
        if !taken.insert(name.to_owned()) {
            bail!("--model {named}: another policy is called {name}; give it another name");
        }
        found.push((name.to_owned(), Path::new(path)));
    }
    Ok(found)
}

/// Plays every attempt of a model; nothing of it is written.
pub fn play(
    arguments: &EvaluateBlindArguments,
    stage: &Stage,
    tasks: &[Task],
    name: &str,
    served: &Served,
) -> Result<Vec<BlindEpisode>> {
    let sampler = Sampler::new(&served.model)?;
    let jobs = work::jobs(arguments.machine.jobs);
    let bar = output::progress(name, tasks.len() as u64 * u64::from(arguments.attempts));
    let places: Vec<usize> = (0..tasks.len()).collect();
    let mut episodes = Vec::new();
    for part in places.chunks(AT_ONCE) {
        let lessons = whole(work::all(part, jobs, |place| {
            let prepared = prepared(stage, &tasks[*place], *place)?;
            Lesson::new(prepared, &served.codec, served.rollout.grammar)
                .map_err(|_| anyhow!("task {} of the file: its tools or names fit no grammar", place + 1))
        })?)?;
        let mut attempts = Vec::new();
        for (lesson, prepared) in lessons.iter().enumerate() {
            for number in 0..arguments.attempts {
                let seed = policy_seed(arguments.seed, &prepared.task().id, number);
                let attempt = Attempt { lesson, number, seed };
                if prepared.readable(sampler.context()) {
                    attempts.push(attempt);
                } else {
                    episodes.push(blind(name, prepared.task(), &given_up(prepared, name, attempt)));
                    bar.step();
                }
            }
        }
        let watch = work::Stopwatch::start();
        let played =
            rollout::play_as(name, &sampler, &lessons, &attempts, &served.rollout, &watch, &mut |_| bar.step());
        let (played, _) = played.map_err(|_| anyhow!("{name}: its model broke while it played"))?;
        episodes
            .extend(played.iter().map(|rollout| blind(name, lessons[rollout.attempt.lesson].task(), &rollout.events)));
        if work::interrupted() {
            bail!("interrupted; nothing left this host");
        }
    }
    bar.finish();
    Ok(episodes)
}
