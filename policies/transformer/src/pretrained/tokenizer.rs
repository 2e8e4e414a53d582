//! A GGUF file carries its tokenizer in pieces; this puts the pieces together as the text of a
//! `tokenizer.json`, which tokenizer libraries read.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::gguf::{Gguf, whole};
use crate::Result;

/// How text is cut before byte pairs are merged, and what was merged beforehand.
struct Cut {
    normalizer: Value,
    pre_tokenizer: Value,
    /// Whether a piece that is itself a token is taken whole.
    ignore_merges: bool,
}

/// Types of token, as llama.cpp numbers them.
const CONTROL: usize = 3;
const USER_DEFINED: usize = 4;

/// The `tokenizer.json` of a GGUF file with a byte-level BPE tokenizer.
///
/// # Errors
/// [`crate::Error::File`] for another kind of tokenizer, or one whose way to cut text is not known.
pub fn tokenizer_json(path: &Path) -> Result<String> {
    let file = Gguf::open(path)?;
    let kind = file.text("tokenizer.ggml.model")?;
    if kind != "gpt2" {
        return Err(
            file.fault(format!("its tokenizer is of kind `{kind}`; only byte-level BPE (`gpt2`) can be rebuilt"))
        );
    }
    let pre = if file.get("tokenizer.ggml.pre").is_some() { file.text("tokenizer.ggml.pre")? } else { "default" };
    let cut = cut(pre).ok_or_else(|| file.fault(format!("how `{pre}` cuts text before merging is not known")))?;
    let tokens = texts(&file, "tokenizer.ggml.tokens")?;
    let types = file.list("tokenizer.ggml.token_type")?;
    let mut added = Vec::new();
    for (id, (token, kind)) in tokens.iter().zip(types).enumerate() {
        let kind = whole(kind).unwrap_or(0);
        if kind == CONTROL || kind == USER_DEFINED {
            added.push(json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": kind == CONTROL,
            }));
        }
    }
    let vocab: Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| ((*token).to_owned(), json!(id))).collect();
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": cut.normalizer,
        "pre_tokenizer": cut.pre_tokenizer,
        "post_processor": null,
        "decoder": byte_level(false),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": cut.ignore_merges, "vocab": vocab, "merges": texts(&file, "tokenizer.ggml.merges")?,
        },
    });
    Ok(tokenizer.to_string())
}

fn texts<'a>(file: &'a Gguf, key: &str) -> Result<Vec<&'a str>> {
    let text = |value: &'a candle_core::quantized::gguf_file::Value| {
        value.to_string().map(String::as_str).map_err(|_| file.fault(format!("an entry of `{key}` is no text")))
    };
    file.list(key)?.iter().map(text).collect()
}

fn byte_level(use_regex: bool) -> Value {
    json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": use_regex })
}

/// Cut by a pattern, the pieces then as bytes.
fn split(pattern: &str) -> Value {
    let split = json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false });
    json!({ "type": "Sequence", "pretokenizers": [split, byte_level(false)] })
}

/// The pattern of the GPT-4 family with at most this many digits to a piece.
fn pattern(digits: &str) -> String {
    format!(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
}

/// By the name that llama.cpp gives to a way of cutting.
fn cut(pre: &str) -> Option<Cut> {
    let plain = |pre_tokenizer| Cut { normalizer: Value::Null, pre_tokenizer, ignore_merges: false };
    Some(match pre {
        "default" | "gpt-2" => plain(byte_level(true)),
        // Each digit by itself, and no space put before the first word.
        "smollm" => {
            let digits = json!({ "type": "Digits", "individual_digits": true });
            plain(json!({ "type": "Sequence", "pretokenizers": [digits, byte_level(true)] }))
        }
        "qwen2" => Cut { normalizer: json!({ "type": "NFC" }), ..plain(split(&pattern(""))) },
        "llama-bpe" | "llama3" | "llama-v3" => Cut { ignore_merges: true, ..plain(split(&pattern("{1,3}"))) },
        _ => return None,
    })
}
