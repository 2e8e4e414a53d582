//! Evaluations that both sides are blind in: `tribunal encrypt` and `tribunal evaluate-blind`.
//!
//! Tasks, components and policies are decrypted in memory alone; no trace is written. What leaves is
//! what the disclosure file allows, signed. Messages name tasks by their place, never by what is in them.

mod models;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use tribunal_episode::{Prepared, Stage, run as play};
use tribunal_protocol::Digest;
use tribunal_protocol::event::Event;
use tribunal_protocol::policy::Policies;
use tribunal_protocol::task::Task;
use tribunal_scripted::Scripted;
use tribunal_seal::{
    BlindEpisode, Count, DISCLOSED_TYPE, Disclosed, Disclosure, HostKey, RecipientKey, Statement, Subject, pass,
};
use tribunal_train::Served;
use tribunal_transformer::Device;

use super::run::policy_seed;
use super::seal::keys;
use crate::args::{EncryptArguments, EvaluateBlindArguments};
use crate::datasets::stage_with;
use crate::{folder, output, work};

/// What a blind evaluation says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlindPredicate {
    pub(super) public_key: String,
    tribunal: String,
    suite: String,
    attempts: u32,
    seed: u64,
    disclosure: Disclosure,
    policies: std::collections::BTreeMap<String, Disclosed>,
}

/// Runs `tribunal encrypt`.
pub fn encrypt(arguments: &EncryptArguments) -> Result<bool> {
    let to = RecipientKey::read(&text(&arguments.to)?).with_context(|| arguments.to.display().to_string())?;
    // A folder is a checkpoint; it becomes one file.
    let bytes = match arguments.file.is_dir() {
        true => Served::pack(&arguments.file)?,
        false => read(&arguments.file)?,
    };
    folder::write(&arguments.out, &tribunal_seal::encrypt(&bytes, &to)?)?;
    output::line(&format!("encrypted  {}", arguments.out.display()));
    output::line(&format!("to         {to}"));
    Ok(true)
}

/// Runs `tribunal evaluate-blind`.
pub fn evaluate(arguments: &EvaluateBlindArguments) -> Result<bool> {
    let named = |path: &Path| path.display().to_string();
    let disclosure = Disclosure::read(&text(&arguments.disclosure)?).with_context(|| named(&arguments.disclosure))?;
    let host = HostKey::read(&text(&arguments.host_key)?).with_context(|| named(&arguments.host_key))?;
    let key = keys::signing(arguments.key.as_deref())?;
    let policies = policies(&arguments.policy)?;
    let named_models = models::names(&arguments.model, &policies)?;
    work::watch_interrupts()?;
    let mut subject = vec![subject(&arguments.disclosure, &read(&arguments.disclosure)?)];
    let mut decrypt = |path: &Path| -> Result<Vec<u8>> {
        let bytes = read(path)?;
        subject.push(self::subject(path, &bytes));
        tribunal_seal::decrypt(&bytes, &host).with_context(|| named(path))
    };
    let tasks = tasks(&decrypt(&arguments.tasks)?).with_context(|| named(&arguments.tasks))?;
    let mut components = Vec::new();
    for path in &arguments.plugin {
        components.push((named(path), decrypt(path)?));
    }
    let mut models = Vec::new();
    for (name, path) in named_models {
        models.push((name, Served::unpack(&decrypt(path)?, &Device::Cpu).with_context(|| named(path))?));
    }
    let stage = stage_with(&arguments.suite, &arguments.machine, &components)?;
    let mut episodes = play_all(arguments, &stage, &tasks, &policies)?;
    for (name, served) in &models {
        episodes.extend(models::play(arguments, &stage, &tasks, name, served)?);
    }
    let predicate = BlindPredicate {
        public_key: key.public().to_pem(),
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        suite: arguments.suite.clone(),
        attempts: arguments.attempts,
        seed: arguments.seed,
        policies: disclosure.disclose(&episodes),
        disclosure,
    };
    let statement = Statement::new(subject, DISCLOSED_TYPE, predicate);
    folder::write(&arguments.out, &statement.seal(&key)?.to_line()?)?;
    if arguments.machine.json {
        output::json(&statement.predicate)?;
    } else {
        show(&statement.predicate);
        output::line(&format!("signed: {}", arguments.out.display()));
    }
    Ok(true)
}

/// An input as it came: the digest of a ciphertext tells nothing of what is in it.
fn subject(path: &Path, bytes: &[u8]) -> Subject {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Subject::new(name, Digest::of(bytes))
}

fn policies(names: &[String]) -> Result<Vec<Scripted>> {
    let known = || Scripted::ALL.iter().map(Policies::name).collect::<Vec<_>>().join(", ");
    let policy = |name: &String| {
        Scripted::named(name).with_context(|| format!("--policy {name}: no scripted policy; there are {}", known()))
    };
    names.iter().map(policy).collect()
}

fn tasks(bytes: &[u8]) -> Result<Vec<Task>> {
    let text = std::str::from_utf8(bytes).map_err(|_| anyhow!("what was encrypted is no tasks.jsonl: not UTF-8"))?;
    let task = |(index, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|_| anyhow!("what was encrypted is no tasks.jsonl: line {} is no task", index + 1))
    };
    let tasks = text.lines().enumerate().map(task).collect::<Result<Vec<Task>>>()?;
    if tasks.is_empty() {
        bail!("what was encrypted holds no tasks");
    }
    Ok(tasks)
}

fn play_all(
    arguments: &EvaluateBlindArguments,
    stage: &Stage,
    tasks: &[Task],
    policies: &[Scripted],
) -> Result<Vec<BlindEpisode>> {
    let places: Vec<usize> = (0..tasks.len()).collect();
    let bar = output::progress("tasks", tasks.len() as u64);
    let episodes = work::all(&places, work::jobs(arguments.machine.jobs), |place| {
        let task = &tasks[*place];
        let prepared = prepared(stage, task, *place)?;
        let mut episodes = Vec::new();
        for policy in policies {
            for attempt in 0..arguments.attempts {
                let seed = policy_seed(arguments.seed, &task.id, attempt);
                let mut playing = policy.start(task, attempt, seed);
                let events = play(&prepared, Policies::name(policy), playing.as_mut(), attempt, seed);
                episodes.push(blind(Policies::name(policy), task, &events));
            }
        }
        bar.step();
        Ok(episodes)
    })?;
    bar.finish();
    Ok(whole(episodes)?.into_iter().flatten().collect())
}

/// What all workers gave, unless they were interrupted.
fn whole<T>(parts: Vec<Option<T>>) -> Result<Vec<T>> {
    parts.into_iter().collect::<Option<Vec<T>>>().context("interrupted; nothing left this host")
}

/// A task as the stage plays it; a message tells its place alone.
fn prepared(stage: &Stage, task: &Task, place: usize) -> Result<Prepared> {
    Prepared::new(stage, Arc::new(task.clone()))
        .map_err(|_| anyhow!("task {} of the file does not fit the suite or the plugins", place + 1))
}

fn blind(policy: &str, task: &Task, events: &[Event]) -> BlindEpisode {
    let passed = match events.last() {
        Some(Event::End(end)) => pass(&end.verdict),
        _ => None,
    };
    BlindEpisode { policy: policy.to_owned(), task: task.id.clone(), split: task.split, kind: task.kind, passed }
}

/// Prints what was disclosed.
pub(super) fn show(predicate: &BlindPredicate) {
    let line = |count: &Count| {
        format!("{} of {} passed, {} void, {} tasks", count.passed, count.judged, count.void, count.tasks)
    };
    for (policy, disclosed) in &predicate.policies {
        let all = disclosed.all.as_ref().map_or_else(|| "withheld".to_owned(), line);
        output::line(&format!("{policy:<10} {all}"));
        for (dimension, groups) in
            [("split", &disclosed.splits), ("kind", &disclosed.kinds), ("task", &disclosed.tasks)]
        {
            match groups {
                None => output::line(&format!("  by {dimension}: withheld")),
                Some(groups) => {
                    groups.iter().for_each(|(group, count)| output::line(&format!("  {group}: {}", line(count))));
                }
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
