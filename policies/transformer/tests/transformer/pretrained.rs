use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use tokenizers::Tokenizer;
use tribunal_transformer::losses::sft;
use tribunal_transformer::pretrained::{gguf, hugging_face, tokenizer_json};
use tribunal_transformer::{
    AdamW, Device, Draw, Free, Lora, Model, Packed, Sampler, Sampling, Settings, Shape, Tensor,
};

use crate::fixture::{model, model_of, numbers, shape, weights};

const SMOLLM2: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";

/// The pretrained model, if somebody fetched it: `make pretrained`.
fn smollm2() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/pretrained");
    let path = target.join(SMOLLM2);
    if !path.exists() {
        println!("SKIPPED: {} is not there; `make pretrained` fetches it", path.display());
        return None;
    }
    Some(path)
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
    tokenizer.encode(text, false).unwrap().get_ids().to_vec()
}

#[test]
fn smollm2_knows_the_capital_of_france() {
    let Some(path) = smollm2() else { return };
    let tokenizer: Tokenizer = tokenizer_json(&path).unwrap().parse().unwrap();
    for text in ["Hello", " leading space", "SELECT a, b FROM t WHERE x = 12345;", "naïve 東京 🙂\n\ttab"] {
        let ids = encode(&tokenizer, text);
        assert_eq!(tokenizer.decode(&ids, true).unwrap(), text);
    }
    // Digits stand alone, special tokens are one token, and no space is put before the first word.
    assert_eq!(encode(&tokenizer, "12345").len(), 5);
    assert_eq!(encode(&tokenizer, "<|im_start|>user")[0], 1);
    assert_eq!(tokenizer.id_to_token(encode(&tokenizer, "Hello")[0]).unwrap(), "Hello");

    let model = gguf(&path, &Device::Cpu).unwrap();
    assert_eq!(model.shape().parameters(), 134_515_008);
    let prompt = "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n";
    let read = encode(&tokenizer, prompt);
    let sampler = Sampler::new(&model).unwrap();
    let (mut row, mut end) = (sampler.row(0), Free::until(tokenizer.token_to_id("<|im_end|>")));
    let mut draws = [Draw { row: &mut row, read: &read, constraint: &mut end, most: 24 }];
    let greedy = Sampling { temperature: 0.0, top_p: None, top_k: None };
    let drawn = sampler.draw(&mut draws, &greedy).unwrap().remove(0);
    let answer = tokenizer.decode(&drawn.tokens, true).unwrap();
    assert!(drawn.ended && answer.contains("Paris"), "{answer:?}");
    drop(sampler);

    // The same answer, scored by the trainer, bit for bit; and adapters learn another one.
    let tokens: Vec<u32> = read.iter().chain(&drawn.tokens).copied().collect();
    let mut batch = Packed::new();
    batch.push(&tokens, (read.len()..tokens.len()).map(|at| (at, None))).unwrap();
    assert_eq!(model.measure(&batch).unwrap().log_probs, drawn.logprobs);
    let mut adapted = model;
    adapted.add_adapters(Lora { rank: 4, alpha: 8.0 }, 1).unwrap();
    let wanted = encode(&tokenizer, "A fish.<|im_end|>");
    let tokens: Vec<u32> = read.iter().chain(&wanted).copied().collect();
    let mut batch = Packed::new();
    batch.push(&tokens, (read.len()..tokens.len()).map(|at| (at, None))).unwrap();
    let mut optimizer = AdamW::new(&adapted, Settings::default()).unwrap();
    let mut losses = Vec::new();
    for _ in 0..6 {
        let scores = adapted.forward(&batch).unwrap();
        let loss = sft::loss(&scores.log_probs, &vec![1.0; batch.scored()]).unwrap();
        losses.push(loss.to_scalar::<f32>().unwrap());
        let gradients = scores.backward(&loss).unwrap();
        optimizer.step(&mut adapted, &gradients, 3e-3).unwrap();
    }
    assert!(losses[5] < 0.5 * losses[0], "{losses:?}");
}

#[test]
fn adapters_are_saved_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut adapted = model(1);
    assert!(adapted.save_adapters(folder.path()).is_err(), "there are none yet");
    adapted.add_adapters(Lora { rank: 2, alpha: 4.0 }, 3).unwrap();
    assert!(adapted.add_adapters(Lora { rank: 2, alpha: 4.0 }, 3).is_err(), "once is enough");
    let mut batch = Packed::new();
    let tokens: Vec<u32> = (0..30).map(|i| i * 7 % 61).collect();
    batch.push(&tokens, (1..30).map(|at| (at, None))).unwrap();
    let mut optimizer = AdamW::new(&adapted, Settings::default()).unwrap();
    for _ in 0..3 {
        let scores = adapted.forward(&batch).unwrap();
        let loss = sft::loss(&scores.log_probs, &vec![1.0; batch.scored()]).unwrap();
        let gradients = scores.backward(&loss).unwrap();
        assert!(gradients.get("embedding").is_none(), "the base is frozen");
        optimizer.step(&mut adapted, &gradients, 1e-2).unwrap();
    }
    adapted.save_adapters(folder.path()).unwrap();
    assert!(!folder.path().join("weights.safetensors").exists());
    let plain = model(1);
    let mut loaded = model(1);
    loaded.load_adapters(folder.path()).unwrap();
    assert!(weights(&loaded) == weights(&adapted));
    let found = loaded.measure(&batch).unwrap();
    assert_eq!(found, adapted.measure(&batch).unwrap());
    assert_ne!(found, plain.measure(&batch).unwrap());
    assert_eq!(weights(&plain)[..], weights(&adapted)[..weights(&plain).len()], "training left the base as it was");
    let mut other = Model::new(Shape { hidden: 44, ..plain.shape().clone() }, 1, &Device::Cpu).unwrap();
    assert!(other.load_adapters(folder.path()).unwrap_err().to_string().contains("feed.gate"));
}

/// Query, key, value out of the rows that hold all three; gate and up likewise.
fn rows(values: &[f32], from: usize, rows: usize, width: usize) -> Tensor {
    let part = &values[from * width..(from + rows) * width];
    let tensor = Tensor::new(part, &Device::Cpu).unwrap();
    if width == 1 { tensor } else { tensor.reshape((rows, width)).unwrap() }
}

/// The weights under the names of another format, `parts` in the order of the model's own.
fn renamed(model: &Model, block: &str, parts: [&str; 9], ends: [&str; 2]) -> Vec<(String, Tensor)> {
    let shape = model.shape();
    let (query, key, dim, hidden) = (shape.query(), shape.key(), shape.dim, shape.hidden);
    let mut all = Vec::new();
    for parameter in model.parameters() {
        let (tensor, values) = (parameter.var.as_detached_tensor(), numbers(parameter.var.as_tensor()));
        let Some(rest) = parameter.name.strip_prefix("layers.") else {
            let name = if parameter.name == "norm" { ends[1] } else { ends[0] };
            all.push((name.to_owned(), tensor));
            continue;
        };
        let (layer, part) = rest.split_once('.').unwrap();
        let mut push = |part: &str, kind: &str, tensor| all.push((format!("{block}.{layer}.{part}.{kind}"), tensor));
        match part {
            "attention.norm" => push(parts[0], "weight", tensor),
            "attention.qkv" | "attention.bias" => {
                let (kind, width) = if part == "attention.qkv" { ("weight", dim) } else { ("bias", 1) };
                push(parts[1], kind, rows(&values, 0, query, width));
                push(parts[2], kind, rows(&values, query, key, width));
                push(parts[3], kind, rows(&values, query + key, key, width));
            }
            "attention.output" => push(parts[4], "weight", tensor),
            "feed.norm" => push(parts[5], "weight", tensor),
            "feed.gate_up" => {
                push(parts[6], "weight", rows(&values, 0, hidden, dim));
                push(parts[7], "weight", rows(&values, hidden, hidden, dim));
            }
            _ => push(parts[8], "weight", tensor),
        }
    }
    all
}

const CONFIG: &str = r#"{ "model_type": "qwen2", "vocab_size": 61, "hidden_size": 36, "num_hidden_layers": 3,
    "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 50, "max_position_embeddings": 200,
    "rope_theta": 10000.0, "rms_norm_eps": 1e-5, "tie_word_embeddings": true, "hidden_act": "silu" }"#;

#[test]
fn a_hugging_face_folder_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let original = model_of(Shape { earlier: 0, ..shape() }, 2);
    let parts = [
        "input_layernorm",
        "self_attn.q_proj",
        "self_attn.k_proj",
        "self_attn.v_proj",
        "self_attn.o_proj",
        "post_attention_layernorm",
        "mlp.gate_proj",
        "mlp.up_proj",
        "mlp.down_proj",
    ];
    let all = renamed(&original, "model.layers", parts, ["model.embed_tokens.weight", "model.norm.weight"]);
    // In two files, with an index.
    let index = all.iter().enumerate().map(|(i, (name, _))| format!("\"{name}\": \"part-{}.safetensors\"", i % 2));
    let index = format!("{{\"weight_map\": {{{}}}}}", index.collect::<Vec<_>>().join(", "));
    for half in 0..2 {
        let tensors = all.iter().skip(half).step_by(2).cloned().collect();
        candle_core::safetensors::save(&tensors, folder.path().join(format!("part-{half}.safetensors"))).unwrap();
    }
    std::fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    let config = folder.path().join("config.json");
    std::fs::write(&config, CONFIG).unwrap();
    let read = hugging_face(folder.path(), &Device::Cpu).unwrap();
    assert_eq!(read.shape(), original.shape());
    assert!(weights(&read) == weights(&original));
    for (from, to, wanted) in [
        ("qwen2", "gemma", "`gemma`"),
        ("\"silu\"", "\"gelu\"", "hidden_act"),
        ("\"tie_w", "\"rope_scaling\": {\"rope_type\": \"yarn\"}, \"tie_w", "rope_scaling"),
        ("\"num_hidden_layers\": 3", "\"num_hidden_layers\": 4", "model.layers.3.input_layernorm.weight"),
        ("\"intermediate_size\": 50", "\"intermediate_size\": 51", "mlp.gate_proj"),
    ] {
        std::fs::write(&config, CONFIG.replacen(from, to, 1)).unwrap();
        let error = hugging_face(folder.path(), &Device::Cpu).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn a_gguf_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    let original = model_of(Shape { earlier: 0, ..shape() }, 2);
    let parts =
        ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"];
    let all = renamed(&original, "blk", parts, ["token_embd.weight", "output_norm.weight"]);
    let number = |name: &str, value: u32| (format!("qwen2.{name}"), Value::U32(value));
    let entries = vec![
        ("general.architecture".to_owned(), Value::String("qwen2".to_owned())),
        number("block_count", 3),
        number("embedding_length", 36),
        number("attention.head_count", 6),
        number("attention.head_count_kv", 2),
        number("feed_forward_length", 50),
        number("context_length", 200),
        ("qwen2.attention.layer_norm_rms_epsilon".to_owned(), Value::F32(1e-5)),
    ];
    let save = |skip: &str, entries: &[(String, Value)]| {
        let tensors: Vec<(String, QTensor)> = (all.iter().filter(|(name, _)| name != skip))
            .map(|(name, tensor)| (name.clone(), QTensor::quantize(tensor, GgmlDType::F32).unwrap()))
            .collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        let entries: Vec<(&str, &Value)> = entries.iter().map(|(name, value)| (name.as_str(), value)).collect();
        write(&mut std::fs::File::create(&path).unwrap(), &entries, &tensors).unwrap();
    };
    save("", &entries);
    let read = gguf(&path, &Device::Cpu).unwrap();
    assert_eq!(read.shape(), original.shape());
    assert!(weights(&read) == weights(&original));
    assert!(tokenizer_json(&path).unwrap_err().to_string().contains("tokenizer.ggml.model"));
    save("blk.1.ffn_up.weight", &entries);
    assert!(gguf(&path, &Device::Cpu).unwrap_err().to_string().contains("blk.1.ffn_up.weight"));
    save("", &entries[..7]);
    assert!(gguf(&path, &Device::Cpu).unwrap_err().to_string().contains("layer_norm_rms_epsilon"));
    std::fs::write(&path, "not a model").unwrap();
    assert!(gguf(&path, &Device::Cpu).is_err());
}
