//! The wall-clock backstop: one thread per sandbox that counts ticks while calls are live, and
//! sleeps without a timer while none is.
//!
//! Fuel decides what a guest may compute; the clock only stops what fuel cannot see, such as a
//! host call that takes long. A run that it stops is void and never scored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How often the clock ticks; also how late it may stop a guest.
const TICK: Duration = Duration::from_millis(10);
/// Ticks without a live call after which the thread goes to sleep. Waking it costs a system call,
/// so it stays up across the short gaps between the calls of an episode.
const IDLE_TICKS: u32 = 20;

/// The ticking thread of one engine. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Clock {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    ticks: AtomicU64,
    live: AtomicUsize,
    asleep: AtomicBool,
    stop: AtomicBool,
}

/// The deadline of one call. While it lives, the clock ticks.
#[derive(Debug)]
pub(crate) struct Deadline {
    shared: Arc<Shared>,
    at: u64,
    ticks: u64,
}

impl Clock {
    /// Starts the thread. It advances the engine's epoch, which compiled guest code checks.
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Clock> {
        let shared = Arc::new(Shared::default());
        let (engine, ticking) = (engine.clone(), Arc::clone(&shared));
        let thread = thread::Builder::new().name("tribunal-clock".to_owned()).spawn(move || ticking.run(&engine))?;
        Ok(Clock { shared, thread: Some(thread) })
    }

    /// The deadline of a call that starts now and may take `wall_ms`.
    pub(crate) fn deadline(&self, wall_ms: u64) -> Deadline {
        // Both sides write their own flag before they read the other's, so that a call is never
        // live beside a thread that sleeps.
        self.shared.live.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
        // One tick more, for the one that is under way.
        let ticks = wall_ms.div_ceil(TICK.as_millis() as u64).saturating_add(1);
        let now = self.shared.ticks.load(Ordering::Relaxed);
        Deadline { shared: Arc::clone(&self.shared), at: now.saturating_add(ticks), ticks }
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread cannot panic, and there is nobody left to tell.
            drop(thread.join());
        }
    }
}

impl Deadline {
    /// Whether it has passed.
    pub(crate) fn passed(&self) -> bool {
        self.shared.ticks.load(Ordering::Relaxed) >= self.at
    }

    /// How many ticks of the engine's epoch the call may take.
    pub(crate) fn ticks(&self) -> u64 {
        self.ticks
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.shared.live.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn run(&self, engine: &Engine) {
        let mut idle = 0;
        while !self.stop.load(Ordering::SeqCst) {
            if idle >= IDLE_TICKS {
                self.sleep();
                idle = 0;
            }
            let began = now();
            thread::park_timeout(TICK);
            // A thread that was kept waiting makes up for the ticks that it missed.
            let ticks = (began.elapsed().as_micros() / TICK.as_micros()).max(1);
            for _ in 0..ticks {
                engine.increment_epoch();
                self.ticks.fetch_add(1, Ordering::Relaxed);
            }
            idle = if self.live.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        }
    }

    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        while self.live.load(Ordering::SeqCst) == 0 && !self.stop.load(Ordering::SeqCst) {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}

#[expect(clippy::disallowed_methods, reason = "the wall-clock backstop reads the clock; it voids and never scores")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_passes_after_its_time_and_not_before() {
        let clock = Clock::start(&Engine::default()).unwrap();
        let (short, long) = (clock.deadline(30), clock.deadline(60_000));
        assert!(!short.passed());
        thread::sleep(Duration::from_millis(150));
        assert!(short.passed() && !long.passed());
    }

    #[test]
    fn an_idle_clock_stands_still_and_a_call_wakes_it() {
        let clock = Clock::start(&Engine::default()).unwrap();
        while !clock.shared.asleep.load(Ordering::SeqCst) {
            thread::sleep(TICK);
        }
        let before = clock.shared.ticks.load(Ordering::SeqCst);
        thread::sleep(TICK * 10);
        assert_eq!(clock.shared.ticks.load(Ordering::SeqCst), before);
        let deadline = clock.deadline(20);
        thread::sleep(TICK * 20);
        assert!(deadline.passed());
    }
}
