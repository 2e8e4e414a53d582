//! Models that others trained: GGUF files and Hugging Face folders of the Llama and Qwen2 kind.
//! Whatever their precision, they become f32 models that train and draw like our own.

use std::path::Path;

use candle_core::Device;

use crate::{Model, Result, Shape};

mod gguf;
mod hugging_face;
mod tokenizer;

pub use gguf::gguf;
pub use hugging_face::hugging_face;
pub use tokenizer::tokenizer_json;

/// Where another format keeps the weights.
struct Naming {
    embedding: &'static str,
    norm: &'static str,
    head: &'static str,
    /// What precedes a block's number.
    block: &'static str,
    attention_norm: &'static str,
    /// Query, key and value.
    qkv: [&'static str; 3],
    output: &'static str,
    feed_norm: &'static str,
    gate: &'static str,
    up: &'static str,
    down: &'static str,
}

/// A file's weights, by their names there.
trait Source {
    fn has(&self, name: &str) -> bool;

    /// Takes a weight of this size.
    fn take(&mut self, name: &str, dims: &[usize]) -> Result<Vec<f32>>;
}

/// Puts a model together. `reorder` mends the rows of a query or key projection of so many heads.
fn assemble(
    shape: Shape,
    naming: &Naming,
    source: &mut impl Source,
    reorder: impl Fn(Vec<f32>, usize) -> Vec<f32>,
    device: &Device,
) -> Result<Model> {
    let (dim, query, key, hidden) = (shape.dim, shape.query(), shape.key(), shape.hidden);
    let mut values = vec![source.take(naming.embedding, &[shape.vocab, dim])?];
    for layer in 0..shape.layers {
        let name = |part: &str, kind: &str| format!("{}.{layer}.{part}.{kind}", naming.block);
        values.push(source.take(&name(naming.attention_norm, "weight"), &[dim])?);
        let parts = naming.qkv.into_iter().zip([query, key, key]).zip([shape.heads, shape.kv_heads, 0]);
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for ((part, rows), heads) in parts {
            let mend = |values| if heads > 0 { reorder(values, heads) } else { values };
            weight.extend(mend(source.take(&name(part, "weight"), &[rows, dim])?));
            if shape.bias {
                bias.extend(mend(source.take(&name(part, "bias"), &[rows])?));
            }
        }
        values.push(weight);
        if shape.bias {
            values.push(bias);
        }
        values.push(source.take(&name(naming.output, "weight"), &[dim, query])?);
        values.push(source.take(&name(naming.feed_norm, "weight"), &[dim])?);
        let mut gate_up = source.take(&name(naming.gate, "weight"), &[hidden, dim])?;
        gate_up.extend(source.take(&name(naming.up, "weight"), &[hidden, dim])?);
        values.push(gate_up);
        values.push(source.take(&name(naming.down, "weight"), &[dim, hidden])?);
    }
    values.push(source.take(naming.norm, &[dim])?);
    if !shape.tied {
        values.push(source.take(naming.head, &[shape.vocab, dim])?);
    }
    Model::from_values(shape, values, device)
}

/// Whether a file says that it is of a kind that this crate's model is.
fn known(path: &Path, kind: &str, kinds: &[&str]) -> Result<()> {
    if kinds.contains(&kind) {
        return Ok(());
    }
    let problem = format!("the model is of kind `{kind}`; these can be read: {}", kinds.join(", "));
    Err(crate::Error::file(path, problem))
}
