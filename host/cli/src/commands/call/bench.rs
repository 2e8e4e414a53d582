//! `tribunal bench`: what a plugin costs, part by part, in one run on one machine.
//!
//! Every part is its own yardstick for the next: a fresh instance that is stopped at its first
//! instructions, the same call with its host calls answered from a recording (so the guest alone),
//! and the whole call on the data.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tribunal_protocol::limits::Limits;
use tribunal_protocol::usage::Usage;
use tribunal_train::Clock as _;

use super::ground::Ground;
use super::{Given, Subject, once};
use crate::args::BenchArguments;
use crate::work::Stopwatch;
use crate::{output, plugins};

/// How often loading from the cache is measured.
const LOADS: usize = 5;

/// So little that a guest is stopped at once, and what remains is making and dropping an instance.
const HARDLY_ANY_FUEL: u64 = 1;

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    plugin: String,
    digest: String,
    component_bytes: u64,
    /// From bytes to a plugin that was asked what it offers, nothing compiled before.
    compile_seconds: f64,
    /// The same with the compiled form in the cache.
    load: Times,
    /// A fresh instance that is stopped at its first instructions, and dropped.
    instance: Times,
    /// The call with its host calls answered from a recording.
    guest: Times,
    /// The call.
    call: Times,
    /// What one call uses: the same each time.
    usage: Usage,
}

/// Times of several runs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Times {
    runs: usize,
    least_ms: f64,
    median_ms: f64,
    /// Nine of ten are below.
    p90_ms: f64,
}

/// Runs the command.
pub fn run(arguments: &BenchArguments) -> Result<bool> {
    let subject = Subject::open(&arguments.subject)?;
    let first = subject.call();
    match &first.result {
        Ok(Given::Output(Ok(_)) | Given::Score(_) | Given::Reply(Ok(_))) => {}
        Ok(Given::Output(Err(failure)) | Given::Reply(Err(failure))) => {
            bail!("the call fails, so its cost says nothing: {failure}; `tribunal call` shows it")
        }
        Err(fault) => bail!("the call breaks, so its cost says nothing: {fault}; `tribunal call` shows it"),
    }
    let (compile_seconds, load) = loading(arguments)?;
    let calls = arguments.calls;
    let bar = output::progress("calls", 3 * u64::from(calls));
    let measure = |ground: &Ground, limits: &Limits| {
        let one = |_| {
            bar.step();
            once(&subject.plugin, &subject.input, ground, limits).seconds
        };
        Times::of((0..calls).map(one).collect())
    };
    let stopped = Limits { fuel: HARDLY_ANY_FUEL, ..subject.limits.clone() };
    let instance = measure(&subject.ground, &stopped);
    let guest = measure(&Ground::Tape { calls: first.tape.calls(), date: first.tape.date() }, &subject.limits);
    let call = measure(&subject.ground, &subject.limits);
    bar.finish();
    let measured = Measured {
        plugin: subject.plugin.name().to_owned(),
        digest: subject.plugin.digest().to_string(),
        component_bytes: std::fs::metadata(&arguments.subject.file)?.len(),
        compile_seconds,
        load,
        instance,
        guest,
        call,
        usage: first.usage,
    };
    if arguments.subject.json {
        output::json(&measured)?;
    } else {
        measured.text();
    }
    Ok(true)
}

/// Compiles with an empty cache, then loads from it.
fn loading(arguments: &BenchArguments) -> Result<(f64, Times)> {
    let cache = tempfile::tempdir().context("cannot make a folder for compiled plugins")?;
    let (most, wasi) = super::loading(&arguments.subject)?;
    let bytes = plugins::read(&arguments.subject.file, &most)?;
    let label = arguments.subject.file.display().to_string();
    let mut seconds = Vec::new();
    for _ in 0..=LOADS {
        let sandbox = plugins::sandbox(Some(cache.path()), &most, wasi)?;
        let watch = Stopwatch::start();
        sandbox.load(&label, &bytes)?;
        seconds.push(watch.seconds());
    }
    let loads = seconds.split_off(1);
    Ok((seconds[0], Times::of(loads)))
}

impl Times {
    fn of(mut seconds: Vec<f64>) -> Times {
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (seconds.len() as f64 * share) as usize;
            seconds.get(place.min(seconds.len().saturating_sub(1))).map_or(0.0, |seconds| seconds * 1e3)
        };
        Times { runs: seconds.len(), least_ms: at(0.0), median_ms: at(0.5), p90_ms: at(0.9) }
    }

    fn row(&self, name: &str, yardstick: &str, of: f64) -> Vec<String> {
        let ms = |ms: f64| format!("{ms:.3}");
        let ratio = if of > 0.0 { format!("{:.2} x {yardstick}", self.median_ms / of) } else { "–".to_owned() };
        vec![name.to_owned(), self.runs.to_string(), ms(self.least_ms), ms(self.median_ms), ms(self.p90_ms), ratio]
    }
}

impl Measured {
    fn text(&self) {
        output::line(&format!(
            "{}: {} bytes, compiled in {:.2} s; one call uses {} fuel, {} bytes of memory, {} statements",
            self.plugin,
            self.component_bytes,
            self.compile_seconds,
            self.usage.fuel,
            self.usage.memory,
            self.usage.statements
        ));
        let header = ["part", "runs", "least ms", "median ms", "90 % below", "beside"].map(str::to_owned);
        let rows = [
            self.load.row("load, compiled before", "an instance", self.instance.median_ms),
            self.instance.row("instance alone", "", 0.0),
            self.guest.row("call, host calls from a recording", "an instance", self.instance.median_ms),
            self.call.row("call", "the same without a database", self.guest.median_ms),
        ];
        output::table(&header, &rows);
        if self.call.median_ms > 0.0 {
            output::line(&format!("{:.0} calls a second on one core", 1e3 / self.call.median_ms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ordered_before_they_are_read() {
        let times = Times::of((1..=10).rev().map(|number| f64::from(number) / 1e3).collect());
        assert_eq!((times.runs, times.least_ms, times.median_ms, times.p90_ms), (10, 1.0, 6.0, 10.0));
    }
}
