//! GGUF, llama.cpp's format. Quantised weights are spread out to f32.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use candle_core::Device;
use candle_core::quantized::gguf_file::{Content, Value};

use super::{Naming, Source, assemble, known};
use crate::{Error, Model, Result, Shape};

const NAMING: Naming = Naming {
    embedding: "token_embd.weight",
    norm: "output_norm.weight",
    head: "output.weight",
    block: "blk",
    attention_norm: "attn_norm",
    qkv: ["attn_q", "attn_k", "attn_v"],
    output: "attn_output",
    feed_norm: "ffn_norm",
    gate: "ffn_gate",
    up: "ffn_up",
    down: "ffn_down",
};

/// Reads a GGUF file of a Llama or Qwen2 model.
///
/// # Errors
/// [`Error::File`] names what the file lacks, or what this crate's model cannot do.
pub fn gguf(path: &Path, device: &Device) -> Result<Model> {
    let mut file = Gguf::open(path)?;
    let kind = file.text("general.architecture")?.to_owned();
    known(path, &kind, &["llama", "qwen2"])?;
    let shape = file.shape(&kind)?;
    let head = shape.head();
    // llama.cpp rotates neighbours where this crate rotates halves; its converter reorders the rows
    // of Llama models to match, and leaves those of Qwen2 as they were.
    let reorder = |rows: Vec<f32>, heads: usize| if kind == "llama" { halves(&rows, heads, head) } else { rows };
    assemble(shape, &NAMING, &mut file, reorder, device)
}

/// Rows `2 j + c` of each head become rows `c · head / 2 + j` again.
fn halves(rows: &[f32], heads: usize, head: usize) -> Vec<f32> {
    let width = rows.len() / (heads * head);
    let mut out = Vec::with_capacity(rows.len());
    for (first, c, j) in (0..heads).flat_map(|h| (0..2).flat_map(move |c| (0..head / 2).map(move |j| (h * head, c, j))))
    {
        let row = first + 2 * j + c;
        out.extend_from_slice(&rows[row * width..][..width]);
    }
    out
}

/// An open file.
pub(super) struct Gguf {
    path: PathBuf,
    content: Content,
    reader: BufReader<File>,
}

impl Gguf {
    pub(super) fn open(path: &Path) -> Result<Gguf> {
        let file = File::open(path).map_err(|error| Error::file(path, error))?;
        let mut reader = BufReader::new(file);
        let content = Content::read(&mut reader).map_err(|error| Error::file(path, error))?;
        Ok(Gguf { path: path.to_owned(), content, reader })
    }

    /// A fault of this file.
    pub(super) fn fault(&self, problem: impl ToString) -> Error {
        Error::file(&self.path, problem)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.content.metadata.get(key)
    }

    fn wanted(&self, key: &str) -> Result<&Value> {
        self.get(key).ok_or_else(|| self.fault(format!("the entry `{key}` is missing")))
    }

    pub(super) fn text(&self, key: &str) -> Result<&str> {
        let value = self.wanted(key)?.to_string();
        value.map(String::as_str).map_err(|_| self.fault(format!("the entry `{key}` is no text")))
    }

    pub(super) fn list(&self, key: &str) -> Result<&[Value]> {
        let value = self.wanted(key)?.to_vec();
        value.map(Vec::as_slice).map_err(|_| self.fault(format!("the entry `{key}` is no list")))
    }

    fn size(&self, key: &str) -> Result<usize> {
        let size = whole(self.wanted(key)?);
        size.ok_or_else(|| self.fault(format!("the entry `{key}` is no whole number of at least 0")))
    }

    fn number(&self, key: &str) -> Result<f32> {
        let number = self.wanted(key)?.to_f32();
        number.map_err(|_| self.fault(format!("the entry `{key}` is no number")))
    }

    fn shape(&self, kind: &str) -> Result<Shape> {
        let key = |name: &str| format!("{kind}.{name}");
        for refused in ["rope.scaling.type", "expert_count", "attention.sliding_window"] {
            let off = match self.get(&key(refused)) {
                None => true,
                Some(Value::String(text)) => text == "none",
                Some(value) => whole(value) == Some(0),
            };
            if !off {
                return Err(
                    self.fault(format!("the model uses `{}`, which this crate's model cannot do", key(refused)))
                );
            }
        }
        let (dim, heads) = (self.size(&key("embedding_length"))?, self.size(&key("attention.head_count"))?);
        let kv_heads = key("attention.head_count_kv");
        let theta = key("rope.freq_base");
        let embedding = self.content.tensor_infos.get(NAMING.embedding);
        let embedding = embedding.ok_or_else(|| self.fault(format!("the weight `{}` is missing", NAMING.embedding)))?;
        let shape = Shape {
            vocab: embedding.shape.dims().first().copied().unwrap_or(0),
            dim,
            layers: self.size(&key("block_count"))?,
            heads,
            kv_heads: if self.get(&kv_heads).is_some() { self.size(&kv_heads)? } else { heads },
            hidden: self.size(&key("feed_forward_length"))?,
            context: self.size(&key("context_length"))?,
            theta: if self.get(&theta).is_some() { self.number(&theta)? } else { 10_000.0 },
            eps: self.number(&key("attention.layer_norm_rms_epsilon"))?,
            tied: !self.has(NAMING.head),
            bias: self.has("blk.0.attn_q.bias"),
            earlier: 0,
            head_dim: self.get(&key("attention.key_length")).and_then(whole),
        };
        shape.check().map_err(|error| self.fault(error))?;
        if let Some(turned) = self.get(&key("rope.dimension_count")).and_then(whole).filter(|n| *n != shape.head()) {
            return Err(self.fault(format!("only {turned} of a head's {} numbers are rotated", shape.head())));
        }
        Ok(shape)
    }
}

/// A whole number of any of the format's types.
pub(super) fn whole(value: &Value) -> Option<usize> {
    let number = match value {
        Value::U8(n) => u64::from(*n),
        Value::U16(n) => u64::from(*n),
        Value::U32(n) => u64::from(*n),
        Value::U64(n) => *n,
        Value::I8(n) => u64::try_from(*n).ok()?,
        Value::I16(n) => u64::try_from(*n).ok()?,
        Value::I32(n) => u64::try_from(*n).ok()?,
        Value::I64(n) => u64::try_from(*n).ok()?,
        _ => return None,
    };
    usize::try_from(number).ok()
}

impl Source for Gguf {
    fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    fn take(&mut self, name: &str, dims: &[usize]) -> Result<Vec<f32>> {
        if !self.has(name) {
            return Err(self.fault(format!("the weight `{name}` is missing")));
        }
        let tensor = self.content.tensor(&mut self.reader, name, &Device::Cpu);
        let tensor = tensor.and_then(|tensor| tensor.dequantize(&Device::Cpu)).map_err(|error| self.fault(error))?;
        if tensor.dims() != dims {
            return Err(self.fault(format!("`{name}` has shape {:?}, the model wants {dims:?}", tensor.dims())));
        }
        Ok(tensor.flatten_all()?.to_vec1()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_in_halves() {
        // Two heads of six rows, two numbers each: the converter put row c·3 + j at 2 j + c.
        let rows: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let mut moved = vec![0.0; 24];
        for row in 0..12 {
            let (head, c, j) = (row / 6, row % 6 / 3, row % 3);
            let to = head * 6 + 2 * j + c;
            moved[2 * to..2 * to + 2].copy_from_slice(&rows[2 * row..2 * row + 2]);
        }
        assert_ne!(moved, rows);
        assert_eq!(halves(&moved, 2, 6), rows);
    }
}
