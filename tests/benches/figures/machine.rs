//! What the machine is, and how busy it was beside the bench.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// The start of a run.
pub(crate) struct Load {
    average: String,
    busy: Option<Duration>,
    own: ProcessTime,
    wall: Instant,
}

/// What the machine was and did during a run.
#[derive(Debug, serde::Serialize)]
pub(crate) struct During {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    /// Processors that others kept busy, on average; none where the system does not say.
    pub(crate) others: Option<f64>,
    /// Load averages over 1, 5 and 15 minutes, before and after.
    pub(crate) averages: [String; 2],
    pub(crate) wall_seconds: f64,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn averages() -> String {
    read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Processor time that anybody used since the start of the machine.
fn busy() -> Option<Duration> {
    /// What Linux counts in, whatever its own clock does.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = read("/proc/stat");
    let fields: Option<Vec<f64>> = stat.lines().next()?.split_whitespace().skip(1).map(|n| n.parse().ok()).collect();
    let fields = fields?;
    // user, nice, system, [idle, iowait,] irq, softirq, steal
    let used: f64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|place| fields.get(*place)).sum();
    Some(Duration::from_secs_f64(used / TICKS_PER_SECOND))
}

fn processor() -> String {
    let info = read("/proc/cpuinfo");
    let name = info.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(": ").nth(1));
    name.unwrap_or("an unknown processor").to_owned()
}

impl Load {
    pub(crate) fn now() -> Load {
        Load { average: averages(), busy: busy(), own: ProcessTime::now(), wall: Instant::now() }
    }

    pub(crate) fn until_now(self) -> During {
        let wall = self.wall.elapsed().as_secs_f64();
        let own = self.own.elapsed().as_secs_f64();
        let used = self.busy.zip(busy()).map(|(before, after)| after.saturating_sub(before).as_secs_f64());
        During {
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            others: used.map(|used| ((used - own) / wall).max(0.0)),
            averages: [self.average, averages()],
            wall_seconds: wall,
        }
    }
}
