//! Tokens a second in training and in drawing, at 1 and 5 million weights, with 1 and 2 threads:
//! `cargo run -p tribunal-transformer --example speed`. Every figure is the best of several rounds:
//! other work on the machine only ever makes a round longer. With arguments (training or drawing,
//! millions of weights, threads, sequences, tokens in each) one case, its last line as JSON.
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
        earlier: 0,
        head_dim: None,
    }
}

fn tokens(count: usize, vocab: usize, salt: usize) -> Vec<u32> {
    (0..count).map(|i| ((i * 7919 + salt * 104_729) % vocab) as u32).collect()
}

/// Seconds of the best of some rounds, by the clock and of all processors together.
fn best(rounds: usize, mut round: impl FnMut() -> Result<()>) -> Result<[f64; 2]> {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..rounds {
        let (start, busy) = (Instant::now(), processors());
        round()?;
        let found = [start.elapsed().as_secs_f64(), processors() - busy];
        best = [best[0].min(found[0]), best[1].min(found[1])];
    }
    Ok(best)
}

/// Seconds that all threads of this process have computed; Linux counts them, elsewhere it is 0.
fn processors() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    nanoseconds.sum::<u64>() as f64 * 1e-9
}

fn training(million: usize, threads: usize, count: usize, length: usize) -> Result<[f64; 2]> {
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
    let rate = seconds.map(|seconds| (count * length) as f64 / seconds);
    let weights = model.shape().parameters();
    println!(
        "training {weights:>9} weights {threads} threads, {count} x {length}: {:>8.0} tokens/s, {:.0} a processor second \
         (forward {forward:.0} ms, backward {backward:.0} ms, step {step:.0} ms)",
        rate[0], rate[1]
    );
    Ok(rate)
}

fn drawing(million: usize, threads: usize, count: usize) -> Result<[f64; 2]> {
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
    let rate = seconds.map(|seconds| (count * most) as f64 / seconds);
    let weights = model.shape().parameters();
    println!(
        "drawing  {weights:>9} weights {threads} threads, {count} rows of {prompt} + {most}: {:>8.0} tokens/s, \
         {:.0} a processor second",
        rate[0], rate[1]
    );
    Ok(rate)
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [kind, numbers @ ..] = words.as_slice() {
        let numbers: Vec<usize> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
        let [million, threads, count, length] = numbers[..] else {
            println!("wanted: training|drawing, millions of weights, threads, sequences, tokens in each");
            return Ok(());
        };
        let rate = match kind.as_str() {
            "drawing" => drawing(million, threads, count)?,
            _ => training(million, threads, count, length)?,
        };
        println!("{rate:?}");
        return Ok(());
    }
    for million in [1, 5] {
        for threads in [1, 2] {
            training(million, threads, 8, 256)?;
            drawing(million, threads, 32)?;
        }
    }
    Ok(())
}
