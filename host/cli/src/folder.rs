//! Run folders: what is in them, and writing that never leaves half a file.
//!
//! ```text
//! RUN/run.json      what was run: suite, policies, seed, attempts, digests
//! RUN/tasks.jsonl   every task, hidden parts included: replay needs them
//! RUN/refused.json  tasks that were refused when made, each with its reason
//! RUN/traces/POLICY/TASK.ATTEMPT.jsonl
//! RUN/spent.jsonl   tokens and time by episode, where whoever ran the model wrote them
//! RUN/summary.json  RUN/report.html
//! RUN/evaluation.json  RUN/evaluation.html   where the run is the candidate
//! RUN/seal.json     who signed all of this, where somebody did
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tribunal_evaluate::EpisodeId;
use tribunal_evaluate::comparison::Spent;
use tribunal_protocol::digest::Digest;
use tribunal_protocol::task::Task;
use tribunal_train::{RolloutRecipe, Served};

/// The version of the folder's layout; a reader refuses a newer one.
pub const LAYOUT: u32 = 1;

/// The seal of a run folder: the one file in it that the seal does not bind.
pub const SEAL: &str = "seal.json";

/// What was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// The layout's version.
    pub layout: u32,
    /// The version of tribunal.
    pub tribunal: String,
    /// The suite as it was named: an embedded one, or a folder.
    pub suite: String,
    /// The suite, as `name@version`.
    pub suite_version: String,
    /// The digest of the suite.
    pub suite_digest: Digest,
    /// The seed.
    pub seed: u64,
    /// The policies.
    pub policies: Vec<String>,
    /// Attempts at each task.
    pub attempts: u32,
    /// How many tasks at most.
    pub tasks: Option<usize>,
    /// How many variants of each training schema there were beside it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub variants: u32,
    /// The policies that are models, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelFile>,
    /// The plugins.
    pub plugins: BTreeMap<String, Digest>,
}

/// A model that was run: what it was, and how it was played. Where it lay is not part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// The digest of its weights and tokenizer.
    pub digest: Digest,
    /// How its tokens were drawn.
    pub rollout: RolloutRecipe,
}

impl ModelFile {
    /// What a run folder keeps of a model.
    pub fn of(served: &Served) -> ModelFile {
        ModelFile { digest: served.digest, rollout: served.rollout.clone() }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// A task that was refused when made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusedTask {
    /// Its id.
    pub task: String,
    /// Why.
    pub reason: String,
}

/// A run folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes a new run folder with its `run.json`. One that exists is refused, unless it may be
    /// overwritten. Where `run.json` cannot be written, all is as it was before.
    pub fn create(path: &Path, file: &RunFile, overwrite: bool) -> Result<RunFolder> {
        let folder = RunFolder { path: path.to_owned() };
        let is_new = !path.exists();
        if !is_new {
            let empty = std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            let ours = path.join("run.json").exists();
            if !empty && !ours {
                bail!("{}: not a run folder, and not empty; name another with --out", path.display());
            }
            if ours && !overwrite {
                bail!(
                    "{}: holds a run already; --resume goes on with it, --overwrite starts anew, --out names another",
                    path.display()
                );
            }
        }
        std::fs::create_dir_all(path).with_context(|| cannot("make", path))?;
        if let Err(why) = folder.write_run_file(file) {
            if is_new {
                // A folder that is not empty stays; what is reported is why nothing was written.
                let _ = std::fs::remove_dir(path);
            }
            return Err(why);
        }
        folder.clear()?;
        let traces = folder.at("traces");
        std::fs::create_dir_all(&traces).with_context(|| cannot("make", &traces))?;
        Ok(folder)
    }

    /// Takes away what an earlier run left beside `run.json`: it would pass for this run's.
    fn clear(&self) -> Result<()> {
        let traces = self.at("traces");
        if traces.exists() {
            std::fs::remove_dir_all(&traces).with_context(|| cannot("empty", &traces))?;
        }
        let files = [
            "tasks.jsonl",
            "refused.json",
            "spent.jsonl",
            "summary.json",
            "report.html",
            "evaluation.json",
            "evaluation.html",
            SEAL,
        ];
        for path in files.map(|name| self.at(name)) {
            match std::fs::remove_file(&path) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(why).with_context(|| cannot("remove", &path));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Opens a run folder that is there.
    pub fn open(path: &Path) -> Result<RunFolder> {
        if !path.join("run.json").exists() {
            bail!(
                "{}: no run folder (it has no run.json); `tribunal run --out {}` makes one",
                path.display(),
                path.display()
            );
        }
        Ok(RunFolder { path: path.to_owned() })
    }

    /// The run folder that a trace lies in.
    pub fn of_trace(trace: &Path) -> Result<RunFolder> {
        let absolute = std::fs::canonicalize(trace).with_context(|| cannot("read", trace))?;
        let folder = absolute.ancestors().skip(1).find(|folder| folder.join("run.json").exists());
        match folder {
            Some(folder) => Ok(RunFolder { path: folder.to_owned() }),
            None => bail!(
                "{}: it lies in no run folder; replay needs the run.json and tasks.jsonl that were written with it",
                trace.display()
            ),
        }
    }

    /// A path in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the folder is called.
    pub fn name(&self) -> String {
        let absolute = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        absolute.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Where the trace of an attempt lies, relative to the folder.
    pub fn trace_name(policy: &str, task: &str, attempt: u32) -> String {
        format!("traces/{policy}/{task}.{attempt}.jsonl")
    }

    /// All traces, in the order of their names.
    pub fn traces(&self) -> Result<Vec<PathBuf>> {
        let mut traces = Vec::new();
        let root = self.at("traces");
        for policy in list(&root)? {
            traces.extend(list(&policy)?.into_iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")));
        }
        Ok(traces)
    }

    /// Every file by its name in the folder, with `/` between its parts, but for the seal.
    pub fn files(&self) -> Result<BTreeMap<String, PathBuf>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![(String::new(), self.path.clone())];
        while let Some((prefix, folder)) = folders.pop() {
            for path in list(&folder)? {
                let Some(part) = path.file_name().and_then(|name| name.to_str()) else {
                    bail!("{}: its name is not UTF-8; rename it, or take it out of the run folder", path.display());
                };
                let name = format!("{prefix}{part}");
                let kind = std::fs::symlink_metadata(&path).with_context(|| cannot("read", &path))?.file_type();
                if kind.is_dir() {
                    folders.push((name + "/", path));
                } else if !kind.is_file() {
                    bail!("{}: neither a file nor a folder; a run folder holds nothing else", path.display());
                } else if name != SEAL {
                    files.insert(name, path);
                }
            }
        }
        Ok(files)
    }

    /// The names of the policies that have traces, in order.
    pub fn policies(&self) -> Result<Vec<String>> {
        let folders = list(&self.at("traces"))?.into_iter().filter(|path| path.is_dir());
        Ok(folders.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect())
    }

    /// Reads what models spent, by episode; nothing where nobody wrote it down.
    pub fn spent(&self) -> Result<BTreeMap<EpisodeId, Spent>> {
        let path = self.at("spent.jsonl");
        if !path.exists() {
            return Ok(BTreeMap::new());
        }
        let text = std::fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        let read = |(index, line): (usize, &str)| {
            let place = || format!("{} line {}: what an episode spent expected", path.display(), index + 1);
            let spent: Spent = serde_json::from_str(line).with_context(place)?;
            Ok((spent.episode(), spent))
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Adds what models spent. An episode that was played twice, before and after an interrupt, has
    /// two lines; the later one counts.
    pub fn add_spent(&self, spent: &[Spent]) -> Result<()> {
        let path = self.at("spent.jsonl");
        let advice = || format!("cannot write {}; is the disk full?", path.display());
        let mut text = String::new();
        for spent in spent {
            text.push_str(&serde_json::to_string(spent)?);
            text.push('\n');
        }
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).with_context(advice)?;
        file.write_all(text.as_bytes()).with_context(advice)
    }

    /// Reads `run.json`.
    pub fn run_file(&self) -> Result<RunFile> {
        let path = self.at("run.json");
        let text = std::fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        let layout =
            serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|json| json.get("layout")?.as_u64());
        if layout.is_some_and(|layout| layout > u64::from(LAYOUT)) {
            bail!(
                "{}: layout {} is newer than {LAYOUT}, the newest that this build reads",
                path.display(),
                layout.unwrap_or(0)
            );
        }
        serde_json::from_str(&text).with_context(|| format!("{}: not a run file", path.display()))
    }

    /// Writes `run.json`.
    pub fn write_run_file(&self, file: &RunFile) -> Result<()> {
        write(&self.at("run.json"), &serde_json::to_vec_pretty(file)?)
    }

    /// Reads all tasks.
    pub fn tasks(&self) -> Result<Vec<Task>> {
        let path = self.at("tasks.jsonl");
        let text = std::fs::read_to_string(&path).with_context(|| cannot("read", &path))?;
        let read = |(index, line): (usize, &str)| {
            serde_json::from_str(line).with_context(|| format!("{} line {}: not a task", path.display(), index + 1))
        };
        text.lines().enumerate().map(read).collect()
    }

    /// Writes all tasks.
    pub fn write_tasks(&self, tasks: &[Task]) -> Result<()> {
        let mut text = Vec::new();
        for task in tasks {
            serde_json::to_writer(&mut text, task)?;
            text.push(b'\n');
        }
        write(&self.at("tasks.jsonl"), &text)
    }

    /// Reads the refused tasks.
    pub fn refused(&self) -> Result<Vec<RefusedTask>> {
        let path = self.at("refused.json");
        let text = std::fs::read(&path).with_context(|| cannot("read", &path))?;
        serde_json::from_slice(&text).with_context(|| format!("{}: not a list of refused tasks", path.display()))
    }

    /// Writes the refused tasks.
    pub fn write_refused(&self, refused: &[RefusedTask]) -> Result<()> {
        write(&self.at("refused.json"), &serde_json::to_vec_pretty(refused)?)
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| cannot("read", folder))? {
        paths.push(entry.with_context(|| cannot("read", folder))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn cannot(what: &str, path: &Path) -> String {
    format!("cannot {what} {}", path.display())
}

/// What the names of files begin with that are not whole yet.
const HALF: &str = ".half-";

/// Writes a file whole or not at all. A process that is killed meanwhile leaves a file beside it,
/// which [`sweep`] takes away.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let advice = || format!("cannot write {}; is the disk full, or the folder read-only?", path.display());
    let mut builder = tempfile::Builder::new();
    // As any file that a program writes: what a person may read of it is up to the umask.
    #[cfg(unix)]
    let usual = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    #[cfg(unix)]
    builder.permissions(usual);
    let mut file = builder.prefix(HALF).tempfile_in(folder).with_context(advice)?;
    file.write_all(bytes).with_context(advice)?;
    file.persist(path).with_context(advice)?;
    Ok(())
}

/// Takes away what a killed process left half written in a folder and the folders below: files of
/// [`write`], and the last line of `spent.jsonl` where its end is missing.
pub fn sweep(folder: &Path) -> Result<()> {
    for path in list(folder)? {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && !path.is_symlink() {
            sweep(&path)?;
        } else if name.to_string_lossy().starts_with(HALF) {
            std::fs::remove_file(&path).with_context(|| cannot("remove", &path))?;
        } else if name == "spent.jsonl" {
            let text = std::fs::read(&path).with_context(|| cannot("read", &path))?;
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            if whole < text.len() {
                write(&path, &text[..whole])?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("traces/oracle");
        std::fs::create_dir_all(&below).unwrap();
        write(&below.join("whole.jsonl"), b"{}\n").unwrap();
        std::fs::write(below.join(".half-a1b2c3"), "{").unwrap();
        std::fs::write(folder.path().join("spent.jsonl"), "{\"a\":1}\n{\"a\"").unwrap();
        sweep(folder.path()).unwrap();
        assert_eq!(list(&below).unwrap(), [below.join("whole.jsonl")]);
        assert_eq!(std::fs::read_to_string(folder.path().join("spent.jsonl")).unwrap(), "{\"a\":1}\n");
        assert_eq!(list(folder.path()).unwrap(), [folder.path().join("spent.jsonl"), folder.path().join("traces")]);
    }
}
