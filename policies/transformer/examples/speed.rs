//! Tokens a second in training and in drawing, at 1 and 5 million weights, with 1 and 2 threads:
//! `cargo run -p tribunal-transformer --example speed [training|drawing]`. Every figure is the best
//! of several rounds: other work on the machine only ever makes a round longer.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a stopwatch prints times")]

use std::time::Instant;

use tribunal_transformer::losses::sft;
use tribunal_transformer::{AdamW, Device, Draw, Free, Model, Packed, Result, Row, Sampler, Sampling, Settings, Shape};

fn shape(million: usize) -> Shape {
    let (vocab, dim, layers, heads, hidden) = match million {
        1 => (1024, 128, 4, 4, 344),
        5 => (2048, 256, 5, 8, 688),
        _ => (4096, 512, 8, 8, 1376),
    };
    let (theta, eps, context) = (10_000.0, 1e-5, 1024);
    Shape {
        vocab,
        dim,
        layers,
        heads,
        kv_heads: heads / 2,
        hidden,
        context,
        theta,
        eps,
        tied: true,
        bias: false,
        head_dim: None,
    }
}

fn tokens(count: usize, vocab: usize, salt: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * 7919 + salt * 104_729) % vocab) as u32).collect()
}

/// Seconds of the best of some rounds.
fn best(rounds: usize, mut round: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        round()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn training(million: usize, threads: usize, count: usize, length: usize) -> Result<()> {
    let mut model = Model::new(shape(million), 1, &Device::Cpu)?;
    model.set_threads(threads)?;
    let mut optimizer = AdamW::new(&model, Settings::default())?;
    let mut batch = Packed::new();
    for salt in 0..count {
        batch.push(&tokens(length + 1, model.shape().vocab, salt), (1..=length).map(|i| (i, None)))?;
    }
    let weights = vec![1.0; batch.scored()];
    let mut parts = [f64::INFINITY; 3];
    let seconds = best(4, || {
        let start = Instant::now();
        let scores = model.forward(&batch)?;
        let forward = start.elapsed().as_secs_f64();
        let loss = sft::loss(&scores.log_probs, &weights)?;
        let gradients = scores.backward(&loss)?;
        let backward = start.elapsed().as_secs_f64();
        optimizer.step(&mut model, &gradients, 1e-4)?;
        let step = start.elapsed().as_secs_f64();
        for (part, now) in parts.iter_mut().zip([forward, backward - forward, step - backward]) {
            *part = part.min(now);
        }
        Ok(())
    })?;
    let [forward, backward, step] = parts.map(|part| part * 1e3);
    let rate = (count * length) as f64 / seconds;
    let weights = model.shape().parameters();
    println!(
        "training {weights:>9} weights {threads} threads, {count} x {length}: {rate:>8.0} tokens/s \
         (forward {forward:.0} ms, backward {backward:.0} ms, step {step:.0} ms)"
    );
    Ok(())
}

fn drawing(million: usize, threads: usize, count: usize) -> Result<()> {
    let mut model = Model::new(shape(million), 1, &Device::Cpu)?;
    model.set_threads(threads)?;
    let (prompt, most) = (64, 128);
    let sampler = Sampler::new(&model)?;
    let seconds = best(3, || {
        let mut rows: Vec<Row> = (0..count as u64).map(|seed| sampler.row(seed)).collect();
        let prompts: Vec<Vec<u32>> = (0..count).map(|salt| tokens(prompt, model.shape().vocab, salt)).collect();
        let mut free = vec![Free::until(None); count];
        let rows = rows.iter_mut().zip(&prompts).zip(&mut free);
        let mut draws: Vec<Draw<'_>> =
            rows.map(|((row, read), constraint)| Draw { row, read, constraint, most }).collect();
        sampler.draw(&mut draws, &Sampling::default()).map(|_| ())
    })?;
    let rate = (count * most) as f64 / seconds;
    let weights = model.shape().parameters();
    println!("drawing  {weights:>9} weights {threads} threads, {count} rows, prompt {prompt}: {rate:>8.0} tokens/s");
    Ok(())
}

fn main() -> Result<()> {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    for million in [1, 5] {
        for threads in [1, 2] {
            if wanted("training") {
                training(million, threads, 8, 256)?;
            }
            if wanted("drawing") {
                drawing(million, threads, 32)?;
            }
        }
    }
    Ok(())
}
