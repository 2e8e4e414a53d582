//! The folder of a training.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tribunal_train::trajectory::Sample;
use tribunal_train::{Recipe, Update};

use crate::folder::{sweep, write};

/// The folder of a training.
#[derive(Debug)]
pub struct TrainingFolder {
    path: PathBuf,
}

impl TrainingFolder {
    /// A new folder with its recipe. One that holds a training is refused, unless it may be
    /// overwritten.
    pub fn create(path: &Path, recipe: &Recipe, overwrite: bool) -> Result<TrainingFolder> {
        let ours = path.join("recipe.toml").exists();
        let empty = !path.exists() || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if !ours && !empty {
            bail!("{}: not the folder of a training, and not empty; name another with --out", path.display());
        }
        if ours && !overwrite {
            bail!(
                "{}: holds a training already; --resume goes on with it, --overwrite starts anew, --out names another",
                path.display()
            );
        }
        if ours {
            std::fs::remove_dir_all(path).with_context(|| format!("cannot empty {}", path.display()))?;
        }
        std::fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        write(&path.join("recipe.toml"), recipe.to_toml()?.as_bytes())?;
        Ok(TrainingFolder { path: path.to_owned() })
    }

    /// The folder of a training to go on with; one that follows another recipe is refused.
    pub fn open(path: &Path, recipe: &Recipe) -> Result<TrainingFolder> {
        let file = path.join("recipe.toml");
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let there = Recipe::parse(&text).with_context(|| file.display().to_string())?;
        if there != *recipe {
            bail!("{}: a training by another recipe; give that one, or name another folder with --out", path.display());
        }
        sweep(path)?;
        Ok(TrainingFolder { path: path.to_owned() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Appends an update.
    pub fn add(&self, update: &Update) -> Result<()> {
        use std::io::Write as _;
        let path = self.at("updates.jsonl");
        let advice = || format!("cannot write {}; is the disk full?", path.display());
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).with_context(advice)?;
        writeln!(file, "{}", serde_json::to_string(update)?).with_context(advice)
    }

    /// Keeps the updates that the newest checkpoint has taken: those behind it are taken again.
    pub fn keep_updates(&self, keep: impl Fn(&Update) -> bool) -> Result<()> {
        let path = self.at("updates.jsonl");
        let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
        let mut kept = String::new();
        for line in text.lines() {
            // A line that was cut off by a kill is not kept either.
            if let Ok(update) = serde_json::from_str::<Update>(line)
                && keep(&update)
            {
                let _ = writeln!(kept, "{line}");
            }
        }
        write(&path, kept.as_bytes())
    }

    /// Writes the samples that are learned from first.
    pub fn write_samples(&self, samples: &[Sample]) -> Result<()> {
        let mut text = String::new();
        for sample in samples {
            let _ = writeln!(text, "{}", serde_json::to_string(&(&sample.tokens, &sample.learned))?);
        }
        write(&self.at("samples.jsonl"), text.as_bytes())
    }

    /// Reads them, where they were written.
    pub fn samples(&self) -> Result<Option<Vec<Sample>>> {
        let path = self.at("samples.jsonl");
        let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
        let read = |line: &str| {
            let (tokens, learned) = serde_json::from_str(line)?;
            Ok(Sample { tokens, learned })
        };
        let samples: Result<Vec<Sample>> = text.lines().map(read).collect();
        samples.map(Some).with_context(|| format!("{}: samples expected, as this program writes them", path.display()))
    }
}
