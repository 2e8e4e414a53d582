//! Hugging Face folders: `config.json` beside one or several safetensors files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use serde::Deserialize;
use serde_json::Value;

use super::{Naming, Source, assemble, known};
use crate::model::read_tensors;
use crate::{Error, Model, Result, Shape};

const NAMING: Naming = Naming {
    embedding: "model.embed_tokens.weight",
    norm: "model.norm.weight",
    head: "lm_head.weight",
    block: "model.layers",
    attention_norm: "input_layernorm",
    qkv: ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
    output: "self_attn.o_proj",
    feed_norm: "post_attention_layernorm",
    gate: "mlp.gate_proj",
    up: "mlp.up_proj",
    down: "mlp.down_proj",
};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// What is read of `config.json`.
#[derive(Deserialize)]
struct Config {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "theta")]
    rope_theta: f32,
    rms_norm_eps: f32,
    #[serde(default)]
    tie_word_embeddings: bool,
    #[serde(default = "silu")]
    hidden_act: String,
    #[serde(default)]
    rope_scaling: Option<Value>,
    #[serde(default)]
    use_sliding_window: bool,
}

fn theta() -> f32 {
    10_000.0
}

fn silu() -> String {
    "silu".to_owned()
}

/// Reads a folder with a Llama or Qwen2 model.
///
/// # Errors
/// [`Error::File`] names what the folder lacks, or what this crate's model cannot do.
pub fn hugging_face(folder: &Path, device: &Device) -> Result<Model> {
    let path = folder.join("config.json");
    let text = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
    let config: Config = serde_json::from_str(&text).map_err(|error| Error::file(&path, error))?;
    known(&path, &config.model_type, &["llama", "qwen2"])?;
    let scaled = config.rope_scaling.as_ref().is_some_and(|scaling| {
        let kind = scaling.get("rope_type").or_else(|| scaling.get("type"));
        !scaling.is_null() && kind.and_then(Value::as_str) != Some("default")
    });
    for (refused, entry) in [
        (config.hidden_act != "silu", "hidden_act"),
        (scaled, "rope_scaling"),
        (config.use_sliding_window, "use_sliding_window"),
    ] {
        if refused {
            return Err(Error::file(
                path,
                format!("the model uses `{entry}` in a way that this crate's model cannot do"),
            ));
        }
    }
    let mut source = Folder::open(folder)?;
    let shape = Shape {
        vocab: config.vocab_size,
        dim: config.hidden_size,
        layers: config.num_hidden_layers,
        heads: config.num_attention_heads,
        kv_heads: config.num_key_value_heads.unwrap_or(config.num_attention_heads),
        hidden: config.intermediate_size,
        context: config.max_position_embeddings,
        theta: config.rope_theta,
        eps: config.rms_norm_eps,
        tied: config.tie_word_embeddings || !source.has(NAMING.head),
        bias: source.has("model.layers.0.self_attn.q_proj.bias"),
        earlier: 0,
        head_dim: config.head_dim,
    };
    shape.check().map_err(|error| Error::file(path, error))?;
    if let Some(unread) = ["self_attn.o_proj.bias", "mlp.gate_proj.bias", "self_attn.q_norm.weight"]
        .into_iter()
        .find(|part| source.has(&format!("model.layers.0.{part}")))
    {
        return Err(Error::file(folder, format!("the weights hold `{unread}`, which this crate's model cannot use")));
    }
    assemble(shape, &NAMING, &mut source, |rows, _| rows, device)
}

/// All weights of a folder.
struct Folder {
    path: PathBuf,
    tensors: BTreeMap<String, Tensor>,
}

impl Folder {
    fn open(folder: &Path) -> Result<Folder> {
        let index = folder.join(INDEX);
        let mut tensors = BTreeMap::new();
        let names = if index.exists() { shards(&index)? } else { vec![SINGLE.to_owned()] };
        for name in names {
            tensors.extend(read_tensors(&folder.join(name))?);
        }
        Ok(Folder { path: folder.to_owned(), tensors })
    }
}

/// The files that an index names, each once.
fn shards(index: &Path) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    let text = std::fs::read_to_string(index).map_err(|error| Error::file(index, error))?;
    let read: Index = serde_json::from_str(&text).map_err(|error| Error::file(index, error))?;
    let mut names: Vec<String> = read.weight_map.into_values().collect();
    names.sort();
    names.dedup();
    match names.iter().find(|name| name.contains(['/', '\\'])) {
        Some(name) => Err(Error::file(index, format!("`{name}` lies outside the folder"))),
        None => Ok(names),
    }
}

impl Source for Folder {
    fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    fn take(&mut self, name: &str, dims: &[usize]) -> Result<Vec<f32>> {
        let tensor = self.tensors.remove(name);
        let tensor = tensor.ok_or_else(|| Error::file(&self.path, format!("the weight `{name}` is missing")))?;
        if tensor.dims() != dims {
            let problem = format!("`{name}` has shape {:?}, the model wants {dims:?}", tensor.dims());
            return Err(Error::file(&self.path, problem));
        }
        Ok(tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?)
    }
}
