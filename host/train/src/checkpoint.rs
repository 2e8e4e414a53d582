//! Checkpoints: folders that a policy is served from and a training goes on from.
//!
//! ```text
//! model.safetensors shape.json   the weights
//! tokenizer.json                 the codec
//! recipe.toml                    what was done
//! optimizer.safetensors ..       moments, where a training may go on from here
//! state.json                     where it stands
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tribunal_dialogue::Codec;
use tribunal_transformer::{AdamW, Device, Model};

use crate::error::TrainError;
use crate::health::Guard;
use crate::pool::Pool;
use crate::recipe::Recipe;

/// The file that says where a training stands.
pub const STATE: &str = "state.json";
const TOKENIZER: &str = "tokenizer.json";
pub(crate) const RECIPE: &str = "recipe.toml";
/// The version of the folder's layout.
const FORMAT: u32 = 1;

/// Where a training stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The version of this format: 1.
    pub format: u32,
    /// Steps of supervised fine-tuning that were taken.
    pub sft_steps: u64,
    /// Whether supervised fine-tuning is over.
    pub sft_done: bool,
    /// Updates of policy optimisation that were taken.
    pub grpo_updates: u64,
    /// The pool as it stands; empty before it was probed.
    pub pool: Pool,
    /// What the guards remember.
    pub guard: Guard,
}

/// A checkpoint in memory.
pub struct Checkpoint {
    /// The model.
    pub model: Model,
    /// How it reads and writes.
    pub codec: Arc<Codec>,
    /// What it was trained by.
    pub recipe: Recipe,
    /// The optimizer, where a training may go on.
    pub optimizer: Option<AdamW>,
    /// Where the training stands.
    pub progress: Progress,
}

impl Checkpoint {
    /// Writes the folder whole or not at all: beside its place first, then in its place.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] names what could not be written.
    pub fn save(&self, folder: &Path) -> Result<(), TrainError> {
        let beside = beside(folder, "new");
        remove(&beside)?;
        let failed = |why: std::io::Error| TrainError::checkpoint(&beside, why);
        std::fs::create_dir_all(&beside).map_err(failed)?;
        self.model.save(&beside)?;
        if let Some(optimizer) = &self.optimizer {
            optimizer.save(&beside)?;
        }
        let state = Progress { format: FORMAT, ..self.progress.clone() };
        let state = serde_json::to_string_pretty(&state).map_err(|why| TrainError::checkpoint(&beside, why))?;
        for (name, text) in [(TOKENIZER, self.codec.to_json()), (RECIPE, self.recipe.to_toml()?), (STATE, state)] {
            std::fs::write(beside.join(name), text).map_err(failed)?;
        }
        // Between these two renames the old one stands beside; `load` finds it there.
        let old = self::beside(folder, "old");
        remove(&old)?;
        let moved = |why: std::io::Error| TrainError::checkpoint(folder, why);
        if folder.exists() {
            std::fs::rename(folder, &old).map_err(moved)?;
        }
        std::fs::rename(&beside, folder).map_err(moved)?;
        remove(&old)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// What is missing or wrong in the folder, and what would mend it.
    pub fn load(folder: &Path, device: &Device) -> Result<Checkpoint, TrainError> {
        let old = beside(folder, "old");
        if !folder.exists() && old.exists() {
            std::fs::rename(&old, folder).map_err(|why| TrainError::checkpoint(folder, why))?;
        }
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|why| {
                TrainError::checkpoint(
                    &path,
                    format!("{why}; a folder that `tribunal train` wrote expected, such as TRAINING/final"),
                )
            })
        };
        let progress: Progress =
            serde_json::from_str(&text(STATE)?).map_err(|why| TrainError::checkpoint(folder.join(STATE), why))?;
        if progress.format != FORMAT {
            let why =
                format!("format {FORMAT} expected, {} found; another version of tribunal reads that", progress.format);
            return Err(TrainError::checkpoint(folder.join(STATE), why));
        }
        let recipe = Recipe::parse(&text(RECIPE)?)?;
        let codec = Arc::new(Codec::from_json(&text(TOKENIZER)?)?);
        let model = Model::load(folder, device)?;
        if model.shape().vocab < codec.vocabulary() {
            let why =
                format!("the tokenizer has {} tokens, the model only {}", codec.vocabulary(), model.shape().vocab);
            return Err(TrainError::checkpoint(folder, why));
        }
        let optimizer = match folder.join("optimizer.json").exists() {
            true => Some(AdamW::load(folder, &model)?),
            false => None,
        };
        Ok(Checkpoint { model, codec, recipe, optimizer, progress })
    }
}

fn beside(folder: &Path, what: &str) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".{name}.{what}"))
}

fn remove(folder: &Path) -> Result<(), TrainError> {
    match std::fs::remove_dir_all(folder) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(TrainError::checkpoint(folder, why)),
        _ => Ok(()),
    }
}
