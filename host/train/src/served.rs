//! Models that are served: a checkpoint of ours, or a model that others trained with its own
//! tokenizer and chat marks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tribunal_dialogue::Codec;
use tribunal_protocol::digest::Digest;
use tribunal_transformer::{Device, Model, pretrained};

use crate::checkpoint::{Checkpoint, RECIPE, STATE};
use crate::error::TrainError;
use crate::recipe::{Recipe, RolloutRecipe};

/// The file that makes a folder a Hugging Face folder.
const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";

/// A model that can play.
pub struct Served {
    /// Its weights.
    pub model: Model,
    /// How it reads and writes.
    pub codec: Arc<Codec>,
    /// How it is played: a checkpoint's as its recipe says, a pretrained model's by our choice.
    pub rollout: RolloutRecipe,
    /// Of the files that it was read from.
    pub digest: Digest,
}

impl Served {
    /// Opens a checkpoint folder, a GGUF file, or a Hugging Face folder.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] where it is none of these, or what is wrong in it.
    pub fn open(path: &Path, device: &Device) -> Result<Served, TrainError> {
        let is_gguf = path.extension().is_some_and(|extension| extension == "gguf");
        let (model, codec, rollout) = if path.is_file() && is_gguf {
            let codec = Codec::from_json(&pretrained::tokenizer_json(path)?)?;
            (pretrained::gguf(path, device)?, Arc::new(codec), chat())
        } else if path.join(STATE).is_file() {
            let Checkpoint { model, codec, recipe, .. } = Checkpoint::load(path, device)?;
            (model, codec, recipe.rollout)
        } else if path.join(CONFIG).is_file() {
            let tokenizer = path.join(TOKENIZER);
            let text = std::fs::read_to_string(&tokenizer).map_err(|why| TrainError::checkpoint(&tokenizer, why))?;
            (pretrained::hugging_face(path, device)?, Arc::new(Codec::from_json(&text)?), chat())
        } else {
            return Err(TrainError::checkpoint(path, neither(path)));
        };
        fitting(&model, &codec, path)?;
        Ok(Served { model, codec, rollout, digest: digest(path)? })
    }

    /// A checkpoint folder as the bytes of one safetensors file: its weights, with the tokenizer and the
    /// recipe in the header. How it came about (optimizer, pool) stays behind.
    ///
    /// # Errors
    /// [`TrainError::Checkpoint`] where the folder is no checkpoint.
    pub fn pack(folder: &Path) -> Result<Vec<u8>, TrainError> {
        let Checkpoint { model, codec, recipe, .. } = Checkpoint::load(folder, &Device::Cpu)?;
        let texts = BTreeMap::from([(TOKENIZER.to_owned(), codec.to_json()), (RECIPE.to_owned(), recipe.to_toml()?)]);
        Ok(model.to_bytes(&texts)?)
    }

    /// Reads what [`Served::pack`] gave, all in memory.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn unpack(bytes: &[u8], device: &Device) -> Result<Served, TrainError> {
        let (model, texts) = Model::from_bytes(bytes, device)?;
        let text = |name: &str| {
            texts.get(name).ok_or_else(|| TrainError::checkpoint("a packed policy", format!("no {name} in it")))
        };
        let codec = Arc::new(Codec::from_json(text(TOKENIZER)?)?);
        let recipe = Recipe::parse(text(RECIPE)?)?;
        fitting(&model, &codec, Path::new("a packed policy"))?;
        Ok(Served { model, codec, rollout: recipe.rollout, digest: Digest::of(bytes) })
    }
}

/// A model has a place for every token of its tokenizer.
fn fitting(model: &Model, codec: &Codec, at: &Path) -> Result<(), TrainError> {
    let (tokens, vocab) = (codec.vocabulary(), model.shape().vocab);
    if vocab < tokens {
        return Err(TrainError::checkpoint(at, format!("the tokenizer has {tokens} tokens, the model {vocab}")));
    }
    Ok(())
}

/// How a pretrained model is played. Few at a time: its cache takes tens of kilobytes for a token.
fn chat() -> RolloutRecipe {
    RolloutRecipe { width: 4, ..RolloutRecipe::default() }
}

fn neither(path: &Path) -> String {
    let kinds = "a checkpoint folder of `tribunal train` (such as TRAINING/final), a .gguf file, or a folder with \
                 config.json, tokenizer.json and safetensors expected";
    match () {
        () if !path.exists() => format!("not there; {kinds}"),
        () if path.join("recipe.toml").is_file() => {
            format!("the folder of a training; name one of its checkpoints, such as {}", path.join("final").display())
        }
        () => format!("no model; {kinds}"),
    }
}

/// The digest of the files that decide what a model says, by name.
fn digest(path: &Path) -> Result<Digest, TrainError> {
    let failed = |path: &Path, why: std::io::Error| TrainError::checkpoint(path, why);
    let mut files: Vec<PathBuf> = Vec::new();
    if path.is_file() {
        files.push(path.to_owned());
    } else {
        for entry in std::fs::read_dir(path).map_err(|why| failed(path, why))? {
            files.push(entry.map_err(|why| failed(path, why))?.path());
        }
    }
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let counts = |path: &PathBuf| {
        let name = name(path);
        let weights = name.ends_with(".safetensors") && name != "optimizer.safetensors";
        path.is_file() && (weights || name.ends_with(".gguf") || [TOKENIZER, CONFIG, "shape.json"].contains(&&*name))
    };
    files.retain(counts);
    files.sort();
    let mut listed = String::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(|why| failed(&file, why))?;
        listed.push_str(&format!(
            "{} {}\n",
            Digest::of(&bytes),
            if path.is_file() { "model.gguf".to_owned() } else { name(&file) }
        ));
    }
    Ok(Digest::of(listed.as_bytes()))
}
