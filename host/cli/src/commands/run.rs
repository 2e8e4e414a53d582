//! `tribunal run`: policies over tasks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tribunal_episode::{Prepared, run as play};
use tribunal_protocol::digest::Digest;
use tribunal_protocol::policy::Policies;
use tribunal_protocol::task::Task;
use tribunal_scripted::Scripted;

use crate::args::RunArguments;
use crate::commands::report;
use crate::datasets::{Made, Workshop};
use crate::folder::{self, LAYOUT, ModelFile, RefusedTask, RunFile, RunFolder, sweep};
use crate::models::{Entrant, Stint};
use crate::{output, work};

/// Runs the command.
pub fn run(arguments: &RunArguments) -> Result<bool> {
    let entrants = Entrants::open(arguments)?;
    let path = arguments.out.clone().unwrap_or_else(|| default_folder(&arguments.place.suite));
    work::watch_interrupts()?;
    let workshop = Workshop::open(&arguments.place)?;
    let file = run_file(arguments, &workshop, &entrants);
    let folder = match arguments.resume {
        true => resumed(&path, &file)?,
        false => RunFolder::create(&path, &file, arguments.overwrite)?,
    };
    let Some(made) = workshop.make(work::jobs(arguments.place.jobs))? else {
        bail!("interrupted while tasks were made; nothing was run");
    };
    if let (true, Some(first)) = (made.tasks.is_empty(), made.refused.first()) {
        bail!("no task of the suite passed its trial, so there is nothing to run; first, {first}; correct the suite");
    }
    let refused: Vec<RefusedTask> = made
        .refused
        .iter()
        .map(|refused| RefusedTask { task: refused.task.clone(), reason: refused.reason.clone() })
        .collect();
    folder.write_tasks(&made.tasks)?;
    folder.write_refused(&refused)?;
    play_all(arguments, &workshop, &made, &entrants.scripted, &folder)?;
    for model in entrants.models.iter().filter(|_| !work::interrupted()) {
        play_model(arguments, &workshop, &made, model, &folder)?;
    }
    if work::interrupted() {
        output::note(&format!("interrupted; the same command with --resume and --out {} goes on", path.display()));
        return Ok(false);
    }
    report::show(&folder, arguments.place.json)?;
    Ok(true)
}

fn default_folder(suite: &str) -> PathBuf {
    let name = PathBuf::from(suite);
    PathBuf::from("runs").join(name.file_name().unwrap_or(name.as_os_str()))
}

/// The policies of a run: scripted ones, and models.
#[derive(Default)]
struct Entrants {
    scripted: Vec<Scripted>,
    models: Vec<Entrant>,
}

impl Entrants {
    fn open(arguments: &RunArguments) -> Result<Entrants> {
        let mut entrants = Entrants::default();
        for name in &arguments.policy {
            match (name.as_str(), Scripted::named(name)) {
                ("all", _) => entrants.scripted.extend(Scripted::ALL),
                (_, Some(policy)) => entrants.scripted.push(policy),
                // A name, not a path: the message says which names there are.
                (_, None) if !name.contains(['/', '=', '.']) && !Path::new(name).exists() => {
                    let known: Vec<&str> = Scripted::ALL.iter().map(Policies::name).collect();
                    bail!("--policy {name}: no such policy; there are {}, all, and paths of models", known.join(", "));
                }
                (_, None) => entrants.models.push(Entrant::open(name, &arguments.serving)?),
            }
        }
        entrants.scripted.dedup();
        let mut names = BTreeSet::new();
        let taken = entrants.names().into_iter().find(|name| !names.insert(name.clone()));
        match taken {
            Some(name) => bail!("--policy: two are called {name}; give a model another name as NAME=PATH"),
            None => Ok(entrants),
        }
    }

    fn names(&self) -> Vec<String> {
        let scripted = self.scripted.iter().map(|policy| Policies::name(policy).to_owned());
        scripted.chain(self.models.iter().map(|model| model.name.clone())).collect()
    }
}

fn run_file(arguments: &RunArguments, workshop: &Workshop, entrants: &Entrants) -> RunFile {
    let plugins = workshop.stage().plugins();
    RunFile {
        layout: LAYOUT,
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        suite: workshop.suite_name().to_owned(),
        suite_version: workshop.suite_version(),
        suite_digest: workshop.suite_digest(),
        seed: arguments.place.seed,
        policies: entrants.names(),
        attempts: arguments.attempts,
        tasks: arguments.place.tasks,
        variants: arguments.place.variants,
        models: entrants.models.iter().map(|model| (model.name.clone(), ModelFile::of(&model.served))).collect(),
        plugins: plugins.iter().map(|(name, plugin)| (name.clone(), plugin.digest())).collect(),
    }
}

/// Opens a run to go on with; one that was something else is refused, by what differs.
fn resumed(path: &Path, file: &RunFile) -> Result<RunFolder> {
    let folder = RunFolder::open(path)?;
    let there = serde_json::to_value(folder.run_file()?)?;
    let now = serde_json::to_value(file)?;
    let fields = now.as_object().into_iter().flatten();
    let differing: Vec<String> = fields
        .filter(|(name, value)| there.get(name.as_str()) != Some(value))
        .map(|(name, value)| format!("{name} was {}, is {value}", there.get(name).unwrap_or(&serde_json::Value::Null)))
        .collect();
    if !differing.is_empty() {
        bail!("{}: another run: {}; use --out for a new one", path.display(), differing.join("; "));
    }
    std::fs::create_dir_all(folder.at("traces")).with_context(|| format!("cannot make {}/traces", path.display()))?;
    sweep(path)?;
    Ok(folder)
}

/// One attempt of one policy at one task.
struct Item {
    policy: Scripted,
    task: usize,
    attempt: u32,
}

fn play_all(
    arguments: &RunArguments,
    workshop: &Workshop,
    made: &Made,
    policies: &[Scripted],
    folder: &RunFolder,
) -> Result<()> {
    let done: BTreeSet<PathBuf> = folder.traces()?.into_iter().collect();
    for policy in policies {
        let path = folder.at("traces").join(Policies::name(policy));
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
    }
    let mut items = Vec::new();
    for (task, _) in made.tasks.iter().enumerate() {
        for policy in policies {
            items.extend((0..arguments.attempts).map(|attempt| Item { policy: *policy, task, attempt }));
        }
    }
    items.retain(|item| !done.contains(&folder.at(&trace_name(item, &made.tasks))));
    let prepared: Vec<std::sync::OnceLock<Prepared>> = made.tasks.iter().map(|_| std::sync::OnceLock::new()).collect();
    let bar = output::progress("episodes", items.len() as u64);
    work::all(&items, work::jobs(arguments.place.jobs), |item| {
        let task = &made.tasks[item.task];
        let ready = match prepared[item.task].get() {
            Some(ready) => ready,
            None => {
                let fresh = Prepared::new(workshop.stage(), Arc::new(task.clone()))?;
                prepared[item.task].get_or_init(|| fresh)
            }
        };
        let seed = policy_seed(arguments.place.seed, &task.id, item.attempt);
        let mut policy = item.policy.start(task, item.attempt, seed);
        let events = play(ready, Policies::name(&item.policy), policy.as_mut(), item.attempt, seed);
        folder::write(&folder.at(&trace_name(item, &made.tasks)), &tribunal_trace::write(&events)?)?;
        bar.step();
        Ok(())
    })?;
    bar.finish();
    Ok(())
}

fn play_model(
    arguments: &RunArguments,
    workshop: &Workshop,
    made: &Made,
    model: &Entrant,
    folder: &RunFolder,
) -> Result<()> {
    let stint = Stint {
        name: &model.name,
        served: &model.served,
        workshop,
        run: folder,
        attempts: arguments.attempts,
        seed: &|task, attempt| policy_seed(arguments.place.seed, task, attempt),
        jobs: work::jobs(arguments.place.jobs),
    };
    // An interrupt is seen by the caller.
    stint.play(&made.tasks).map(|_| ())
}

fn trace_name(item: &Item, tasks: &[Task]) -> String {
    RunFolder::trace_name(Policies::name(&item.policy), &tasks[item.task].id, item.attempt)
}

/// Every attempt has a seed of its own, whatever else is run.
pub(super) fn policy_seed(seed: u64, task: &str, attempt: u32) -> u64 {
    let text = Digest::of(format!("{seed} {task} {attempt}").as_bytes()).to_string();
    u64::from_str_radix(&text[..15], 16).unwrap_or(0)
}
