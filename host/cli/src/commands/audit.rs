//! `tribunal audit`: a verifier on trial.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tribunal_audit::{Audit, Auditor, Battery, Labels, Subject, Suite, TaskTrial, order};
use tribunal_protocol::plugin::PluginKind;
use tribunal_sandbox::Plugin;

use crate::args::AuditArguments;
use crate::datasets::Workshop;
use crate::{folder, output, plugins, work};

/// Runs the command. The answer is no where something wrong was found.
pub fn run(arguments: &AuditArguments) -> Result<bool> {
    let labels = arguments.labels.as_deref().map(labels).transpose()?;
    settings(arguments.settings.as_deref())?;
    work::watch_interrupts()?;
    let workshop = Workshop::open(&arguments.place)?;
    let limits = workshop.stage().limits().clone();
    let bytes = plugins::read(&arguments.file, &limits)?;
    let folder = plugins::folder(arguments.place.plugins.as_deref())?;
    let cache = plugins::cache(arguments.place.cache.as_deref(), &folder);
    let plugin = plugins::sandbox(Some(&cache), &limits, workshop.loading().wasi)?
        .load(&arguments.file.display().to_string(), &bytes)?;
    if plugin.kind() != PluginKind::Verifier {
        bail!("{}: a verifier expected, this is a {}", arguments.file.display(), plugin.kind());
    }
    let jobs = work::jobs(arguments.place.jobs);
    let Some(made) = workshop.make(jobs)? else { bail!("interrupted while tasks were made; nothing was tried") };
    let in_place_of = arguments.in_place_of.clone().unwrap_or_else(|| plugin.name().to_owned());
    let suite = Suite::new(&made.tasks, &in_place_of, plugin.name(), arguments.settings.as_deref())?;
    let stage = workshop.stage_with(plugin.clone())?;
    let auditor = Auditor::new(&stage, workshop.library(), &suite, arguments.place.seed);
    let Some((trials, again)) = try_all(&auditor, &suite, arguments.place.seed, jobs)? else {
        bail!("interrupted while cases were tried; nothing was written");
    };
    let audit = Audit::of(subject(arguments, &workshop, &plugin, in_place_of), &trials, &again, labels.as_ref());
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/audit-{}", plugin.name())));
    write(&out, &audit, &trials)?;
    show(arguments, &audit, &out)?;
    Ok(audit.sound)
}

/// Both passes: task by task, then all cases in another order, beside each other.
fn try_all(
    auditor: &Auditor<'_>,
    suite: &Suite,
    seed: u64,
    jobs: usize,
) -> Result<Option<(Vec<TaskTrial>, Vec<String>)>> {
    let tasks: Vec<usize> = (0..suite.tasks().len()).collect();
    let bar = output::progress("cases of tasks", tasks.len() as u64);
    let tried = work::all(&tasks, jobs, |index| {
        let battery = auditor.battery(*index)?;
        let tried = battery.map(|battery| (battery.try_all(), battery));
        bar.step();
        Ok(tried)
    })?;
    bar.finish();
    let Some(tried) = tried.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let (trials, batteries): (Vec<TaskTrial>, Vec<Battery>) = tried.into_iter().flatten().unzip();
    let items = order(&batteries, seed);
    let bar = output::progress("in another order", items.len() as u64);
    let again = work::all(&items, jobs, |(task, case)| {
        let differs = batteries[*task].again(&trials[*task], *case);
        bar.step();
        Ok(differs)
    })?;
    bar.finish();
    let Some(again) = again.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut again: Vec<String> = again.into_iter().flatten().collect();
    again.sort();
    Ok(Some((trials, again)))
}

fn subject(arguments: &AuditArguments, workshop: &Workshop, plugin: &Plugin, in_place_of: String) -> Subject {
    Subject {
        verifier: plugin.name().to_owned(),
        version: plugin.description().version.clone(),
        digest: plugin.digest(),
        in_place_of,
        settings: arguments.settings.clone(),
        suite: workshop.suite_version(),
        suite_digest: workshop.suite_digest(),
        seed: arguments.place.seed,
        tribunal: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn labels(path: &Path) -> Result<Labels> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Labels::read(&text).with_context(|| path.display().to_string())
}

fn settings(text: Option<&str>) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) => Ok(()),
        _ => bail!("--settings {text}: a JSON object expected, such as {{\"strict\": true}}"),
    }
}

fn write(out: &Path, audit: &Audit, trials: &[TaskTrial]) -> Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let mut lines = Vec::new();
    for record in trials.iter().flat_map(|trial| &trial.records) {
        serde_json::to_writer(&mut lines, record)?;
        lines.push(b'\n');
    }
    folder::write(&out.join("cases.jsonl"), &lines)?;
    folder::write(&out.join("audit.json"), &serde_json::to_vec_pretty(audit)?)?;
    folder::write(&out.join("audit.html"), audit.page()?.as_bytes())
}

fn show(arguments: &AuditArguments, audit: &Audit, out: &Path) -> Result<()> {
    if arguments.place.json {
        return output::json(audit);
    }
    for grid in audit.grids() {
        output::line(&format!("\n{}", grid.title));
        output::table(&grid.header, &grid.rows);
    }
    output::line(&audit.headline());
    output::line(&format!("page: {}", out.join("audit.html").display()));
    Ok(())
}
