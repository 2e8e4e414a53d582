//! Medians of processor time.

use std::hint::black_box;
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};

/// A sample lasts at least this long, so that reading the clock costs it nothing.
const SAMPLE: Duration = Duration::from_millis(2);
/// All samples of one figure together, at least.
const TOTAL: Duration = Duration::from_millis(400);
/// All samples of one figure together, at most; then [`FEWEST`] suffice.
const CAP: Duration = Duration::from_secs(4);
const FEWEST: usize = 7;
const MOST: usize = 101;

/// Seconds of processor time that one call took: the median of the samples, and the least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timed {
    pub(crate) median: f64,
    pub(crate) least: f64,
}

impl Timed {
    fn of(mut samples: Vec<f64>) -> Timed {
        samples.sort_by(f64::total_cmp);
        let at = |place: usize| samples.get(place).copied().unwrap_or(f64::NAN);
        Timed { median: at(samples.len() / 2), least: at(0) }
    }
}

/// What one call of `work` takes of this thread's processor time.
pub(crate) fn cpu<T>(mut work: impl FnMut() -> T) -> Timed {
    cpu_given(|| (), |()| work())
}

/// As [`cpu`], with the result; work that takes longer than half a second runs once.
pub(crate) fn cpu_if_short<T>(mut work: impl FnMut() -> T) -> (Timed, T) {
    const SHORT: Duration = Duration::from_millis(500);
    let start = ThreadTime::now();
    let done = work();
    let took = start.elapsed();
    let once = Timed { median: took.as_secs_f64(), least: took.as_secs_f64() };
    (if took > SHORT { once } else { cpu(work) }, done)
}

/// The same for work that uses up something, which is made beforehand and not timed.
pub(crate) fn cpu_given<I, T>(mut make: impl FnMut() -> I, mut work: impl FnMut(I) -> T) -> Timed {
    let mut sample = |calls: usize| {
        let inputs: Vec<I> = (0..calls).map(|_| make()).collect();
        let start = ThreadTime::now();
        for input in inputs {
            black_box(work(input));
        }
        start.elapsed()
    };
    let mut calls = 1;
    while sample(calls) < SAMPLE && calls < 1 << 20 {
        calls *= 2;
    }
    let mut samples = Vec::new();
    let mut spent = Duration::ZERO;
    while samples.len() < FEWEST || (spent < TOTAL && samples.len() < MOST) {
        let took = sample(calls);
        spent += took;
        samples.push(took.as_secs_f64() / calls as f64);
        if spent > CAP && samples.len() >= FEWEST {
            break;
        }
    }
    Timed::of(samples)
}

/// What one call of `work` takes of the whole process: all of its threads count.
pub(crate) fn process<T>(mut work: impl FnMut() -> Result<T, anyhow::Error>) -> Result<Timed, anyhow::Error> {
    /// Long enough that the process's clock is exact, and that caches are as full as they will be.
    const LONG: Duration = Duration::from_millis(60);
    const ROUNDS: usize = 15;
    let mut sample = |calls: usize| {
        let start = ProcessTime::now();
        for _ in 0..calls {
            black_box(work()?);
        }
        anyhow::Ok(start.elapsed())
    };
    let mut calls = 1;
    while sample(calls)? < LONG {
        calls *= 2;
    }
    let round = |_| anyhow::Ok(sample(calls)?.as_secs_f64() / calls as f64);
    Ok(Timed::of((0..ROUNDS).map(round).collect::<Result<_, _>>()?))
}
