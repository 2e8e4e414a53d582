//! Intervals by bootstrap, clustered on schema and then task.
//!
//! Tasks of one schema are alike, and attempts at one task are alike: neither are independent
//! units. So a replicate draws schemas with replacement, then as many tasks with replacement from
//! each schema drawn, and keeps the attempts at a task together. What is wanted is what the
//! policy would score on schemas that were not in the sample.
//!
//! Drawing twice counts what differs between the tasks of one schema twice: in the schema's mean,
//! and in the second draw (A. C. Davison and D. V. Hinkley, "Bootstrap Methods and their
//! Application" (1997), section 3.8). And with few schemas any bootstrap is too narrow
//! (T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician
//! 69 (2015)). So the two draws give the shape of the interval, and its size is set right:
//!
//! - the standard error is that of schemas drawn whole, times `sqrt(S / (S - 1))` for S schemas;
//!   and not less than three quarters of what it would be if all tasks were independent, because
//!   few schemas may agree by accident;
//! - replicates are moved from the mean by the factor that gives them this standard error, and by
//!   Student's quantile with S - 1 degrees of freedom over the normal one.
//!
//! `tests/coverage.rs` holds how often such intervals cover the truth.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::exact::student;
use crate::estimate::ratio;
use crate::jeffreys::TAIL;

/// How to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// How many replicates; at least [`Bootstrap::FEWEST`].
    #[serde(default = "replicates")]
    pub replicates: u32,
    /// The seed: the same seed gives the same interval.
    #[serde(default = "seed")]
    pub seed: u64,
}

fn replicates() -> u32 {
    Bootstrap::default().replicates
}

fn seed() -> u64 {
    Bootstrap::default().seed
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { replicates: 10_000, seed: 1 }
    }
}

impl Bootstrap {
    /// With fewer replicates the ends of an interval are noise.
    pub const FEWEST: u32 = 200;
    /// With more, a report takes minutes and says nothing new.
    pub const MOST: u32 = 1_000_000;
}

/// A mean over tasks with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The mean.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The standard error.
    pub standard_error: f64,
    /// How many tasks it rests on.
    pub tasks: u64,
    /// How many schemas they come from. Where there is one, only its tasks are units, and the
    /// interval says nothing of other schemas.
    pub schemas: u64,
}

/// An effect of so many standard errors is found in 80 % of samples by a two-sided test at 5 %:
/// the sum of the normal quantiles of 0.975 and 0.8.
const POWER: f64 = 2.8;

/// The least that a standard error may be of the one that independent tasks would have. A whole
/// would be on the safe side where schemas do not matter: 97.5 % covered instead of 95.6 %.
const FLOOR: f64 = 0.75;

/// The two-sided 95 % point of the standard normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

impl Interval {
    /// The smallest effect that a sample like this would have shown: in 80 % of such samples an
    /// effect of this size has an interval without zero. None where no spread was seen at all.
    #[must_use]
    pub fn smallest_effect(&self) -> Option<f64> {
        (self.standard_error > 0.0).then_some(POWER * self.standard_error)
    }
}

/// Tasks as the bootstrap draws them.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// The places of the tasks of every schema.
    members: Vec<Vec<usize>>,
    tasks: usize,
}

impl Clusters {
    /// Of tasks that are given by their schemas: the task at each place belongs to the schema
    /// named there. The order of schemas follows their names, so that it is no accident.
    #[must_use]
    pub fn by<'a>(schemas: impl IntoIterator<Item = &'a str>) -> Clusters {
        let mut found = std::collections::BTreeMap::<&str, Vec<usize>>::new();
        let mut tasks = 0;
        for (place, schema) in schemas.into_iter().enumerate() {
            found.entry(schema).or_default().push(place);
            tasks += 1;
        }
        Clusters { members: found.into_values().collect(), tasks }
    }

    /// How many schemas.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Draws as many schemas as there are; how often every task is in the replicate, with schemas
    /// whole and with tasks drawn from them.
    fn draw(&self, random: &mut ChaCha8Rng, whole: &mut [f64], tasks: &mut [f64]) {
        whole.fill(0.0);
        tasks.fill(0.0);
        for _ in 0..self.members.len() {
            let cluster = &self.members[below(random, self.members.len())];
            for place in cluster {
                whole[*place] += 1.0;
                tasks[cluster[below(random, cluster.len())]] += 1.0;
            }
        }
    }
}

/// A uniform index below `most`, by the high half of a product; what it is off from uniform is
/// below 2^-32 times the number of tasks.
fn below(random: &mut ChaCha8Rng, most: usize) -> usize {
    usize::try_from((u64::from(random.next_u32()) * most as u64) >> 32).unwrap_or(0)
}

/// The mean of every column over its tasks, with its interval. A column has a number for every
/// task of `clusters`, or none where the task cannot say; none comes out where no task says
/// anything. All columns share the draws, so that what is a difference of two columns in the sample
/// is one in every replicate.
#[must_use]
pub fn means(clusters: &Clusters, columns: &[Vec<Option<f64>>], settings: Bootstrap) -> Vec<Option<Interval>> {
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    let columns: Vec<Column> = columns.iter().map(|values| Column::of(values)).collect();
    let mut drawn: Vec<Drawn> = columns.iter().map(|_| Drawn::default()).collect();
    let (mut whole, mut tasks) = (vec![0.0; clusters.tasks], vec![0.0; clusters.tasks]);
    for _ in 0..settings.replicates {
        clusters.draw(&mut random, &mut whole, &mut tasks);
        for (column, drawn) in columns.iter().zip(&mut drawn) {
            drawn.whole.extend(column.mean(&whole));
            drawn.tasks.extend(column.mean(&tasks));
        }
    }
    columns.iter().zip(drawn).map(|(column, drawn)| drawn.interval(column, column.schemas(clusters))).collect()
}

/// A column without its gaps.
struct Column {
    places: Vec<usize>,
    values: Vec<f64>,
}

impl Column {
    fn of(values: &[Option<f64>]) -> Column {
        let found = values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)));
        let (places, values) = found.unzip();
        Column { places, values }
    }

    /// The mean of the tasks that are there so many times; none where none is.
    fn mean(&self, times: &[f64]) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for (place, value) in self.places.iter().zip(&self.values) {
            let times = times[*place];
            sum += times * value;
            count += times;
        }
        (count > 0.0).then(|| sum / count)
    }

    /// How many schemas its tasks come from.
    fn schemas(&self, clusters: &Clusters) -> u64 {
        let holds = |cluster: &&Vec<usize>| cluster.iter().any(|place| self.places.binary_search(place).is_ok());
        clusters.members.iter().filter(holds).count() as u64
    }
}

/// The replicates of one column.
#[derive(Default)]
struct Drawn {
    whole: Vec<f64>,
    tasks: Vec<f64>,
}

impl Drawn {
    /// Of a column whose tasks come from so many schemas.
    fn interval(mut self, column: &Column, schemas: u64) -> Option<Interval> {
        let tasks = column.values.len() as u64;
        let value = (tasks > 0).then(|| column.values.iter().sum::<f64>() / ratio(tasks, 1))?;
        let root = |units: u64| (ratio(units, 1) / ratio(units - 1, 1)).sqrt();
        let independent = if tasks > 1 { spread(&column.values) / ratio(tasks, 1).sqrt() } else { 0.0 };
        // With one schema the tasks are the units that were drawn.
        let (standard_error, units) = match schemas {
            0 | 1 => (independent, tasks),
            _ => ((spread(&self.whole) * root(schemas)).max(FLOOR * independent), schemas),
        };
        self.tasks.sort_by(f64::total_cmp);
        let shape = spread(&self.tasks);
        let factor = if units > 1 && shape > 0.0 {
            student(2.0 * TAIL, ratio(units - 1, 1)) / NORMAL * standard_error / shape
        } else {
            0.0
        };
        let end = |share: f64| value + factor * (percentile(&self.tasks, share).unwrap_or(value) - value);
        Some(Interval {
            value,
            low: end(TAIL).min(value),
            high: end(1.0 - TAIL).max(value),
            standard_error,
            tasks,
            schemas,
        })
    }
}

/// The value below which `share` of sorted values lie, interpolated.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * ratio(last as u64, 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= place <= last")]
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let part = place - ratio(below as u64, 1);
    Some(sorted[below] + part * (sorted[above] - sorted[below]))
}

/// The standard deviation; 0 for fewer than two values, and where they differ by rounding alone.
fn spread(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let n = ratio(values.len() as u64, 1);
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let found = (squares / (n - 1.0)).sqrt();
    if found < 1e-12 { 0.0 } else { found }
}

#[cfg(test)]
mod tests;
