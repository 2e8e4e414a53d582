//! `tribunal evaluate`: a candidate against a baseline, and the release decision.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tribunal_evaluate::comparison::{Arm, ArmInfo, Comparison, compare};
use tribunal_evaluate::release::{DEFAULT_PROTOCOL, Protocol};
use tribunal_evaluate::{EpisodeId, RunInfo, Training, comparison_page};
use tribunal_protocol::event::Event;

use crate::args::EvaluateArguments;
use crate::folder::{self, RunFile, RunFolder};
use crate::output;

/// Runs the command; says whether the candidate ships.
pub fn run(arguments: &EvaluateArguments) -> Result<bool> {
    if arguments.print_protocol {
        output::line(DEFAULT_PROTOCOL.trim_end());
        return Ok(true);
    }
    let protocol = protocol(arguments.protocol.as_deref())?;
    let training = arguments.training.as_deref().map(training).transpose()?;
    let sides = Sides::open(arguments)?;
    let out = arguments.out.clone().unwrap_or_else(|| sides.candidate.folder.path().to_owned());
    std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let mut traces = BTreeMap::new();
    let candidate = sides.candidate.read(&out, &mut traces)?;
    let baseline = sides.baseline.read(&out, &mut traces)?;
    if arguments.no_links {
        traces.clear();
    }
    let recheck = sides.recheck.as_ref().map(|side| side.read(&out, &mut BTreeMap::new())).transpose()?;
    let comparison = compare(candidate, baseline, recheck, &protocol, arguments.plug_in)?;
    let shown = shown(&comparison, &sides)?;
    let run = RunInfo {
        name: format!("{} against {}", comparison.candidate.info.label, comparison.baseline.info.label),
        suite: sides.candidate.file.suite_version.clone(),
        seed: sides.candidate.file.seed,
        attempts: sides.candidate.file.attempts,
        traces,
    };
    let page = comparison_page(&run, &comparison, &shown, training.as_ref())?;
    folder::write(&out.join("evaluation.json"), &serde_json::to_vec_pretty(&comparison)?)?;
    folder::write(&out.join("evaluation.html"), page.as_bytes())?;
    show(arguments, &comparison, &out)?;
    Ok(comparison.decision.ship)
}

fn show(arguments: &EvaluateArguments, comparison: &Comparison, out: &Path) -> Result<()> {
    if arguments.json {
        return output::json(comparison);
    }
    if arguments.markdown {
        output::line(comparison.markdown().trim_end());
        return Ok(());
    }
    for warning in &comparison.warnings {
        output::line(&format!("warning: {warning}"));
    }
    // The decision comes last here: it is what stays on the screen.
    let grids = comparison.grids();
    for grid in grids.iter().skip(1).chain(grids.first()) {
        output::line(&format!("\n{}", grid.title));
        output::table(&grid.header, &grid.rows);
    }
    output::line(&comparison.headline());
    output::line(&format!("page: {}", out.join("evaluation.html").display()));
    Ok(())
}

fn protocol(path: Option<&Path>) -> Result<Protocol> {
    let Some(path) = path else { return Ok(Protocol::read(DEFAULT_PROTOCOL)?) };
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Protocol::read(&text).with_context(|| path.display().to_string())
}

/// Reads the updates of a training.
pub fn training(folder: &Path) -> Result<Training> {
    let path = folder.join("updates.jsonl");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}; `tribunal train` writes it", path.display()))?;
    let absolute = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Training::read(&name, &text).with_context(|| path.display().to_string())
}

/// One side, before its traces are read.
struct Source {
    folder: RunFolder,
    file: RunFile,
    info: ArmInfo,
}

struct Sides {
    candidate: Source,
    baseline: Source,
    recheck: Option<Source>,
}

impl Sides {
    fn open(arguments: &EvaluateArguments) -> Result<Sides> {
        let path = arguments.run.as_deref().context("a run folder expected")?;
        let mut candidate = Source::open(path, arguments.policy.as_deref(), "--policy", None)?;
        let against = arguments.against.as_deref().unwrap_or(path);
        let name = Some(candidate.info.policy.as_str());
        let mut baseline = Source::open(against, arguments.against_policy.as_deref(), "--against-policy", name)?;
        let asked = arguments.recheck_policy.as_deref();
        let recheck = arguments.recheck.as_deref();
        let recheck = recheck.map(|path| Source::open(path, asked, "--recheck-policy", name)).transpose()?;
        tell_apart(&mut candidate, &mut baseline)?;
        Ok(Sides { candidate, baseline, recheck })
    }
}

/// Gives both sides labels that differ: the policies' names, or else those of their runs too.
fn tell_apart(candidate: &mut Source, baseline: &mut Source) -> Result<()> {
    let same_policy = candidate.info.policy == baseline.info.policy;
    let path = |source: &Source| std::fs::canonicalize(source.folder.path()).unwrap_or_default();
    if same_policy && path(candidate) == path(baseline) {
        bail!(
            "{} of {} would be compared with itself; name another with --against or --against-policy",
            candidate.info.policy,
            candidate.folder.path().display()
        );
    }
    if same_policy {
        let same_run = candidate.info.run == baseline.info.run;
        for (source, role) in [(candidate, "candidate"), (baseline, "baseline")] {
            let run = if same_run { role } else { &source.info.run };
            source.info.label = format!("{} ({run})", source.info.policy);
        }
    }
    Ok(())
}

impl Source {
    /// The policy is the one that was asked for, else the only one, else the one that is usual.
    fn open(path: &Path, asked: Option<&str>, flag: &str, usual: Option<&str>) -> Result<Source> {
        let folder = RunFolder::open(path)?;
        let there = folder.policies()?;
        let listed = || there.join(", ");
        let policy = match (asked, there.as_slice()) {
            (Some(name), _) if there.iter().any(|policy| policy == name) => name.to_owned(),
            (Some(name), _) => bail!("{flag} {name}: no traces of it in {}; there are {}", path.display(), listed()),
            (None, [only]) => only.clone(),
            (None, []) => bail!("{}: no traces; `tribunal run --resume` makes them", path.display()),
            (None, _) => match usual.filter(|usual| flag == "--recheck-policy" && there.iter().any(|p| p == usual)) {
                Some(usual) => usual.to_owned(),
                None => bail!("{}: several policies, {}; name one with {flag}", path.display(), listed()),
            },
        };
        let info = ArmInfo { label: policy.clone(), policy, run: folder.name() };
        Ok(Source { file: folder.run_file()?, folder, info })
    }

    /// Reads all traces of the policy, and notes where they lie as seen from the page.
    fn read(&self, out: &Path, traces: &mut BTreeMap<EpisodeId, String>) -> Result<Arm> {
        let spent = self.folder.spent()?;
        let own = self.folder.at("traces").join(&self.info.policy);
        let paths: Vec<PathBuf> = self.folder.traces()?.into_iter().filter(|path| path.starts_with(&own)).collect();
        let mut arm = Arm::new(self.info.clone());
        let bar = output::progress(&self.info.label, paths.len() as u64);
        let base = relative(out, self.folder.path());
        for path in paths {
            let name = path.strip_prefix(self.folder.path()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            match read(&path) {
                Ok(events) => {
                    if let Some(header) = tribunal_trace::header(&events) {
                        let id = EpisodeId::of(header);
                        arm.add(&events, spent.get(&id).cloned());
                        traces.insert(self.labelled(id), format!("{base}{name}"));
                    }
                }
                Err(problem) => arm.leave_out(name, format!("{problem:#}")),
            }
            bar.step();
        }
        bar.finish();
        Ok(arm)
    }

    fn labelled(&self, id: EpisodeId) -> EpisodeId {
        EpisodeId { policy: self.info.label.clone(), ..id }
    }
}

fn read(path: &Path) -> Result<Vec<Event>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(tribunal_trace::read(&bytes)?)
}

/// Where `to` lies as seen from `from`: empty, or steps that end in `/`.
fn relative(from: &Path, to: &Path) -> String {
    let whole = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (from, to) = (whole(from), whole(to));
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).map(|step| step + "/").collect()
}

/// The episodes to show: of each pair the baseline's, then the candidate's.
fn shown(comparison: &Comparison, sides: &Sides) -> Result<Vec<Vec<Event>>> {
    let mut shown = Vec::new();
    for pair in &comparison.shown {
        for (source, id) in [(&sides.baseline, &pair.baseline), (&sides.candidate, &pair.candidate)] {
            let name = RunFolder::trace_name(&source.info.policy, &id.task, id.attempt);
            shown.push(read(&source.folder.at(&name))?);
        }
    }
    Ok(shown)
}
