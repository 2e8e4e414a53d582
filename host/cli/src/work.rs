//! Work on all cores, in order, interruptible.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// Enough stack for the deepest query that the caps of the SQL pipeline let through.
const STACK_BYTES: usize = 64 << 20;

/// How many workers: as asked, or one for each core.
pub fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1)
}

/// Set when the user interrupts; work that is under way is finished, no more is begun.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the user has interrupted.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Notices Ctrl-C once; a second one ends the program as usual.
#[expect(clippy::disallowed_methods, reason = "the cli exits")]
pub fn watch_interrupts() -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("start the signal watch")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                if tokio::signal::ctrl_c().await.is_ok() {
                    INTERRUPTED.store(true, Ordering::SeqCst);
                    crate::output::note("interrupted: finishing what is under way; again to stop at once");
                }
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(130);
                }
            });
        })
        .context("start the signal watch")?;
    Ok(())
}

/// How long something takes, for people; nothing is decided by it.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// A watch that runs from now on.
    #[expect(clippy::disallowed_methods, reason = "for reports alone")]
    pub fn start() -> Stopwatch {
        Stopwatch(std::time::Instant::now())
    }
}

impl tribunal_train::Clock for Stopwatch {
    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Does `work` for every item on `jobs` threads; results come in the order of the items. The
/// first error stops the rest, and so does an interrupt: what was not begun is then none.
pub fn all<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<Option<R>>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<R>)>> = Mutex::new(Vec::new());
    let worker = || {
        while !failed.load(Ordering::SeqCst) && !INTERRUPTED.load(Ordering::SeqCst) {
            let index = next.fetch_add(1, Ordering::SeqCst);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::SeqCst);
            if let Ok(mut results) = results.lock() {
                results.push((index, result));
            }
        }
    };
    std::thread::scope(|scope| -> Result<()> {
        let mut threads = Vec::new();
        for _ in 0..jobs.min(items.len()) {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker);
            threads.push(thread.context("start a worker")?);
        }
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a worker panicked; this is a fault of tribunal"))?;
        }
        Ok(())
    })?;
    let results =
        results.into_inner().map_err(|_| anyhow::anyhow!("a worker panicked; this is a fault of tribunal"))?;
    let mut ordered: Vec<Option<R>> = items.iter().map(|_| None).collect();
    for (index, result) in results {
        ordered[index] = Some(result?);
    }
    Ok(ordered)
}
