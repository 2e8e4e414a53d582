//! `tribunal report`: the page and the summary of a run, from its traces.

use anyhow::{Context, Result};
use tribunal_evaluate::{Choice, Collector, EpisodeId, Grid, Refused, RunInfo, Summary, page};
use tribunal_protocol::event::Event;

use crate::args::ReportArguments;
use crate::folder::{self, RunFile, RunFolder};
use crate::output;

/// Runs the command.
pub fn run(arguments: &ReportArguments) -> Result<bool> {
    show(&RunFolder::open(&arguments.run)?, arguments.json)?;
    Ok(true)
}

/// Writes summary and page, and prints the tables.
pub fn show(folder: &RunFolder, json: bool) -> Result<()> {
    let file = folder.run_file()?;
    let (summary, chosen, info) = collect(folder, &file)?;
    let mut shown: Vec<Vec<Event>> = Vec::new();
    for id in &chosen {
        let name = info.traces.get(id).cloned().unwrap_or_default();
        shown.push(read(folder, &name)?);
    }
    let html = page(&info, &summary, &shown)?;
    folder::write(&folder.at("summary.json"), &bytes(&summary)?)?;
    folder::write(&folder.at("report.html"), html.as_bytes())?;
    if json {
        return output::json(&summary);
    }
    print(&summary);
    output::line(&format!("page: {}", folder.at("report.html").display()));
    Ok(())
}

/// What `summary.json` holds where it is what the traces give.
pub fn summary(folder: &RunFolder) -> Result<Vec<u8>> {
    bytes(&collect(folder, &folder.run_file()?)?.0)
}

fn bytes(summary: &Summary) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(summary)?)
}

fn collect(folder: &RunFolder, file: &RunFile) -> Result<(Summary, Vec<EpisodeId>, RunInfo)> {
    let traces = folder.traces()?;
    let mut collector = Collector::default();
    let mut choice = Choice::default();
    let mut info = RunInfo {
        name: folder.name(),
        suite: file.suite_version.clone(),
        seed: file.seed,
        attempts: file.attempts,
        ..RunInfo::default()
    };
    let bar = output::progress("traces", traces.len() as u64);
    for path in traces {
        let name = path.strip_prefix(folder.path()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        match read(folder, &name) {
            Ok(events) => {
                collector.add(&events);
                choice.add(&events);
                if let Some(header) = tribunal_trace::header(&events) {
                    info.traces.insert(EpisodeId::of(header), name);
                }
            }
            Err(problem) => collector.leave_out(name, format!("{problem:#}")),
        }
        bar.step();
    }
    bar.finish();
    let refused = folder.refused()?.into_iter().map(|refused| Refused { task: refused.task, reason: refused.reason });
    Ok((collector.finish().with_refused(refused.collect()), choice.finish(), info))
}

fn read(folder: &RunFolder, name: &str) -> Result<Vec<Event>> {
    let path = folder.at(name);
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(tribunal_trace::read(&bytes)?)
}

fn print(summary: &Summary) {
    let grid = |grid: &Grid| {
        if grid.rows.is_empty() {
            return;
        }
        output::line(&format!("\n{}", grid.title));
        output::table(&grid.header, &grid.rows);
    };
    for split in summary.split_grids() {
        grid(&split);
    }
    grid(&summary.reason_grid());
    grid(&summary.policy_grid());
}
