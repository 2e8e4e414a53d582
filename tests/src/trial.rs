//! Verifiers on trial, for tests and for the page of docs: guests built, batteries made once, and any
//! number of verifiers and settings tried on them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tribunal_audit::{Audit, Auditor, Battery, CaseKind, Subject, Suite, TaskTrial, order};
use tribunal_episode::Stage;
use tribunal_protocol::Digest;
use tribunal_protocol::limits::Limits;
use tribunal_sandbox::{Plugin, Sandbox, SandboxOptions};

use crate::analytics::Analytics;
use crate::tool::{plugins, target};

/// Loads one component.
///
/// # Errors
/// It is not there, or no plugin.
pub fn load(path: &std::path::Path) -> Result<Arc<Plugin>> {
    let cache = Some(target().join("plugin-cache"));
    let sandbox = Sandbox::new(SandboxOptions { cache, ..SandboxOptions::default() })?;
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(sandbox.load(&path.display().to_string(), &bytes)?)
}

/// A built plugin of the product.
///
/// # Errors
/// As [`load`].
pub fn ours(name: &str) -> Result<Arc<Plugin>> {
    load(&plugins().join(format!("{name}.wasm")))
}

/// A verifier and the settings that it is tried with.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The verifier.
    pub plugin: Arc<Plugin>,
    /// Which of the suite's verifiers it stands in for.
    pub in_place_of: String,
    /// Its settings; none: those of the suite.
    pub settings: Option<String>,
}

/// What came of a trial.
pub struct Tried {
    /// The audit.
    pub audit: Audit,
    /// The parts of which it is made.
    pub trials: Vec<TaskTrial>,
}

/// Batteries of the tasks of one verifier, made once for all that stand in for it.
pub struct Trials<'w> {
    world: &'w Analytics,
    seed: u64,
    made: Mutex<BTreeMap<String, Arc<Vec<Battery>>>>,
}

impl<'w> Trials<'w> {
    /// No batteries yet.
    #[must_use]
    pub fn new(world: &'w Analytics, seed: u64) -> Trials<'w> {
        Trials { world, seed, made: Mutex::new(BTreeMap::new()) }
    }

    /// The batteries for a candidate.
    fn batteries(&self, candidate: &Candidate) -> Result<Vec<Battery>> {
        let (world, plugin) = (self.world, &candidate.plugin);
        let suite = Suite::new(&world.tasks, &candidate.in_place_of, plugin.name(), candidate.settings.as_deref())?;
        let others = world.stage.plugins().values().filter(|other| other.name() != plugin.name()).cloned();
        let stage = Stage::new(others.chain([Arc::clone(plugin)]), Arc::clone(&world.library) as _, Limits::default())?;
        let auditor = Auditor::new(&stage, &world.library, &suite, self.seed);
        let tasks = 0..suite.tasks().len();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = made.get(&candidate.in_place_of) {
            let mine = tasks.map(|index| Ok(auditor.shared(index, &shared[index])?));
            return Ok(mine.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
        }
        let all = tasks.map(|index| Ok(auditor.battery(index)?)).collect::<Result<Vec<_>>>()?;
        let all: Vec<Battery> = all.into_iter().flatten().collect();
        let shared = tasks_again(&auditor, &all)?;
        made.insert(candidate.in_place_of.clone(), Arc::new(all));
        Ok(shared)
    }

    /// Puts a candidate on trial.
    ///
    /// # Errors
    /// A task cannot be played with it.
    pub fn audit(&self, candidate: &Candidate) -> Result<Tried> {
        let (world, plugin) = (self.world, &candidate.plugin);
        let batteries = self.batteries(candidate)?;
        let trials: Vec<TaskTrial> = batteries.iter().map(Battery::try_all).collect();
        let again = order(&batteries, self.seed).into_iter();
        let again: Vec<String> = again.filter_map(|(task, case)| batteries[task].again(&trials[task], case)).collect();
        let subject = Subject {
            verifier: plugin.name().to_owned(),
            version: plugin.description().version.clone(),
            digest: plugin.digest(),
            in_place_of: candidate.in_place_of.clone(),
            settings: candidate.settings.clone(),
            suite: world.tasks.first().map_or_else(String::new, |task| task.suite.clone()),
            suite_digest: Digest::of(b""),
            seed: self.seed,
            tribunal: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok(Tried { audit: Audit::of(subject, &trials, &again, None), trials })
    }

    /// The kinds of case that a candidate decides wrongly: one pass, nothing shrunk.
    ///
    /// # Errors
    /// A task cannot be played with it.
    pub fn wrong(&self, candidate: &Candidate) -> Result<BTreeSet<CaseKind>> {
        let mut wrong = BTreeSet::new();
        for battery in self.batteries(candidate)? {
            for case in battery.cases.iter().filter(|case| case.kind != CaseKind::Largest) {
                if battery.put(case).is_none_or(|decision| !decision.decided.is(case.kind.expected())) {
                    wrong.insert(case.kind);
                }
            }
        }
        Ok(wrong)
    }
}

fn tasks_again(auditor: &Auditor<'_>, all: &[Battery]) -> Result<Vec<Battery>> {
    let mine = all.iter().enumerate().map(|(index, battery)| Ok(auditor.shared(index, battery)?));
    Ok(mine.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}
