//! Models as policies: found by what the command line says, and played over tasks.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_episode::{Episode, Prepared};
use tribunal_evaluate::comparison::Spent;
use tribunal_protocol::event::Event;
use tribunal_protocol::task::Task;
use tribunal_train::rollout::{self, Attempt, Rollout};
use tribunal_train::{Lesson, RolloutRecipe, Served};
use tribunal_transformer::{Device, Sampler};

use crate::args::ServingArguments;
use crate::datasets::Workshop;
use crate::folder::{self, RunFolder};
use crate::{output, work};

/// Tasks that are made ready at a time: their data and the tokens that are read of them are large.
pub const AT_ONCE: usize = 8;

/// A model with the name that its traces carry.
pub struct Entrant {
    /// The name.
    pub name: String,
    /// The model.
    pub served: Served,
}

impl Entrant {
    /// Opens what `--policy` names: `PATH`, or `NAME=PATH`.
    pub fn open(named: &str, serving: &ServingArguments) -> Result<Entrant> {
        let (name, path) = match named.split_once('=') {
            Some((name, path)) => (name.to_owned(), Path::new(path)),
            None => (usual_name(Path::new(named)), Path::new(named)),
        };
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
            bail!("--policy {named}: `{name}` is no name of letters, digits, `-`, `_` and `.`; give one as NAME=PATH");
        }
        let mut served = Served::open(path, &device(&serving.device.device)?)
            .with_context(|| format!("--policy {named}: neither a scripted policy nor a model"))?;
        let rollout = &mut served.rollout;
        rollout.temperature = serving.temperature.unwrap_or(rollout.temperature);
        rollout.calls = serving.calls.unwrap_or(rollout.calls);
        rollout.call_tokens = serving.call_tokens.unwrap_or(rollout.call_tokens);
        if !(rollout.temperature >= 0.0 && rollout.temperature.is_finite()) {
            bail!("--temperature {}: a number of at least 0 expected", rollout.temperature);
        }
        if rollout.calls == 0 || rollout.call_tokens == 0 {
            bail!("--calls and --call-tokens: at least 1 expected");
        }
        Ok(Entrant { name, served })
    }
}

/// The name of the file or folder, without what says that it is a model.
fn usual_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.strip_suffix(".gguf").unwrap_or(&name).to_owned()
}

/// The device of a name, with a note where it is another.
pub fn device(name: &str) -> Result<Device> {
    let chosen = tribunal_transformer::device(name)?;
    if let Some(note) = &chosen.note {
        output::note(note);
    }
    Ok(chosen.device)
}

/// The episode of a task that is too long to be read: nothing is done, and it counts.
pub fn given_up(lesson: &Lesson, policy: &str, attempt: Attempt) -> Vec<Event> {
    Episode::start(&lesson.prepared, policy, attempt.number, attempt.seed).finish()
}

/// A model that is played over the tasks of a run.
pub struct Stint<'a> {
    /// The name in the traces.
    pub name: &'a str,
    /// The model.
    pub served: &'a Served,
    /// Where tasks are prepared.
    pub workshop: &'a Workshop,
    /// Where the traces go.
    pub run: &'a RunFolder,
    /// Attempts at each task.
    pub attempts: u32,
    /// The seed of an attempt at a task.
    pub seed: &'a dyn Fn(&str, u32) -> u64,
    /// Workers.
    pub jobs: usize,
}

impl Stint<'_> {
    /// Plays every attempt that has no trace yet; whether it came to the end.
    pub fn play(&self, tasks: &[Task]) -> Result<bool> {
        let traces = self.run.at("traces").join(self.name);
        std::fs::create_dir_all(&traces).with_context(|| format!("cannot make {}", traces.display()))?;
        let done: BTreeSet<_> = self.run.traces()?.into_iter().collect();
        let is_open = |task: &Task, number: &u32| !done.contains(&self.trace(task, *number));
        let open: Vec<(&Task, Vec<u32>)> = tasks
            .iter()
            .map(|task| (task, (0..self.attempts).filter(|number| is_open(task, number)).collect::<Vec<u32>>()))
            .filter(|(_, numbers)| !numbers.is_empty())
            .collect();
        let sampler = Sampler::new(&self.served.model)?;
        let bar = output::progress(self.name, open.iter().map(|(_, numbers)| numbers.len() as u64).sum());
        for part in open.chunks(AT_ONCE) {
            let Some(lessons) = self.lessons(part)? else { return Ok(false) };
            let mut attempts = Vec::new();
            for (place, (lesson, (task, numbers))) in lessons.iter().zip(part).enumerate() {
                for number in numbers {
                    let attempt = Attempt { lesson: place, number: *number, seed: (self.seed)(&task.id, *number) };
                    if lesson.readable(sampler.context()) {
                        attempts.push(attempt);
                    } else {
                        self.give_up(lesson, attempt)?;
                        bar.step();
                    }
                }
            }
            let watch = work::Stopwatch::start();
            let recipe: &RolloutRecipe = &self.served.rollout;
            let mut step = |_: &Rollout| bar.step();
            let (played, _) = rollout::play_as(self.name, &sampler, &lessons, &attempts, recipe, &watch, &mut step)?;
            self.write(&lessons, &played)?;
            if work::interrupted() {
                return Ok(false);
            }
        }
        bar.finish();
        Ok(true)
    }

    fn trace(&self, task: &Task, number: u32) -> std::path::PathBuf {
        self.run.at(&RunFolder::trace_name(self.name, &task.id, number))
    }

    fn lessons(&self, part: &[(&Task, Vec<u32>)]) -> Result<Option<Vec<Lesson>>> {
        let made = work::all(part, self.jobs, |(task, _)| {
            let prepared = Prepared::new(self.workshop.stage(), Arc::new((*task).clone()))?;
            Ok(Lesson::new(prepared, &self.served.codec, self.served.rollout.grammar)?)
        })?;
        Ok(made.into_iter().collect())
    }

    fn give_up(&self, lesson: &Lesson, attempt: Attempt) -> Result<()> {
        let events = given_up(lesson, self.name, attempt);
        folder::write(&self.trace(lesson.task(), attempt.number), &tribunal_trace::write(&events)?)
    }

    /// What was spent first: a trace without it would never get it.
    fn write(&self, lessons: &[Lesson], played: &[Rollout]) -> Result<()> {
        let spent = |rollout: &Rollout| Spent {
            policy: self.name.to_owned(),
            task: lessons[rollout.attempt.lesson].task().id.clone(),
            attempt: rollout.attempt.number,
            tokens_read: rollout.spent.read,
            tokens_cached: rollout.spent.cached,
            tokens_written: rollout.spent.written,
            milliseconds: Some((rollout.spent.seconds * 1e3).round() as u64),
        };
        self.run.add_spent(&played.iter().map(spent).collect::<Vec<_>>())?;
        for rollout in played {
            let path = self.trace(lessons[rollout.attempt.lesson].task(), rollout.attempt.number);
            folder::write(&path, &tribunal_trace::write(&rollout.events)?)?;
        }
        Ok(())
    }
}
