//! The pool: which tasks are learned from, and why.
//!
//! Every task is probed with the starting policy. Its band of success is the one that holds most of
//! the Jeffreys posterior of its rate; tasks of a band that teaches are drawn by priority, and as the
//! policy moves the latest attempts decide the band anew.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use tribunal_evaluate::jeffreys::{Band, Jeffreys};

use crate::random::Stream;
use crate::recipe::Selection;

/// How many of the latest attempts decide a task's band while it is learned from.
const LATEST: usize = 32;

/// A draw of a task that is not in a teaching band, now and then: so that it may come back.
const REVISIT: f64 = 0.05;

/// One task of the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The task's id.
    pub task: String,
    /// The latest attempts, oldest first: whether each passed.
    pub latest: VecDeque<bool>,
    /// Attempts that were void, and count for nothing.
    pub voids: u64,
    /// In which update it was last learned from; 0: never.
    pub visited: u64,
}

impl Entry {
    fn posterior(&self) -> Option<Jeffreys> {
        let passed = self.latest.iter().filter(|passed| **passed).count();
        Jeffreys::new(passed as u64, self.latest.len() as u64)
    }

    /// Its band, by its latest attempts.
    #[must_use]
    pub fn band(&self) -> Band {
        self.posterior().map_or(Band::TooHard, |posterior| posterior.band())
    }

    /// How likely it is drawn, beside the others.
    #[must_use]
    pub fn priority(&self) -> f64 {
        self.posterior().map_or(0.0, |posterior| posterior.priority())
    }
}

/// All tasks that may be learned from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// The tasks, in the order of the lessons.
    pub entries: Vec<Entry>,
}

/// One line of `pool.json`: why a task is in the pool, or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The task's id.
    pub task: String,
    /// Attempts that passed, and all that counted.
    pub passed: usize,
    /// Attempts that counted.
    pub attempts: usize,
    /// The band.
    pub band: &'static str,
    /// The posterior's mass in each band, easiest last.
    pub masses: Vec<f64>,
    /// Its priority.
    pub priority: f64,
    /// Whether it is learned from.
    pub teaches: bool,
}

impl Pool {
    /// A pool of tasks that nobody has tried.
    #[must_use]
    pub fn new(tasks: impl IntoIterator<Item = String>) -> Pool {
        let entry = |task| Entry { task, latest: VecDeque::new(), voids: 0, visited: 0 };
        Pool { entries: tasks.into_iter().map(entry).collect() }
    }

    /// Notes an attempt: none is a void.
    pub fn note(&mut self, task: usize, passed: Option<bool>) {
        let Some(entry) = self.entries.get_mut(task) else { return };
        match passed {
            None => entry.voids += 1,
            Some(passed) => {
                entry.latest.push_back(passed);
                if entry.latest.len() > LATEST {
                    entry.latest.pop_front();
                }
            }
        }
    }

    /// The tasks that were too hard when they were last tried.
    #[must_use]
    pub fn too_hard(&self) -> Vec<usize> {
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, entry)| entry.band() == Band::TooHard).map(|(task, _)| task).collect()
    }

    /// Forgets the attempts at a task: they were those of a policy that has changed since.
    pub fn forget(&mut self, task: usize) {
        if let Some(entry) = self.entries.get_mut(task) {
            entry.latest.clear();
        }
    }

    /// Draws `count` different tasks for an update; fewer where there are fewer. The tasks in
    /// `taken` are left out.
    #[must_use]
    pub fn draw(&self, count: usize, selection: Selection, seed: u64, parts: &[&str], taken: &[usize]) -> Vec<usize> {
        let mut stream = Stream::new(seed, parts);
        let weight = |(index, entry): (usize, &Entry)| match selection {
            _ if taken.contains(&index) => 0.0,
            Selection::None => 1.0,
            Selection::Bands if entry.band().teaches() => entry.priority(),
            Selection::Bands => REVISIT * entry.priority(),
        };
        let mut weights: Vec<f64> = self.entries.iter().enumerate().map(weight).collect();
        let mut drawn = Vec::new();
        while drawn.len() < count {
            let total: f64 = weights.iter().sum();
            if total <= 0.0 {
                break;
            }
            let mut rest = stream.unit() * total;
            let chosen = weights.iter().position(|weight| {
                rest -= weight;
                rest < 0.0 && *weight > 0.0
            });
            let Some(chosen) = chosen.or_else(|| weights.iter().rposition(|weight| *weight > 0.0)) else { break };
            weights[chosen] = 0.0;
            drawn.push(chosen);
        }
        drawn
    }

    /// How many tasks stand in each band, easiest last.
    #[must_use]
    pub fn bands(&self) -> BTreeMap<&'static str, usize> {
        let mut bands: BTreeMap<&'static str, usize> = Band::ALL.iter().map(|band| (band.name(), 0)).collect();
        for entry in &self.entries {
            *bands.entry(entry.band().name()).or_default() += 1;
        }
        bands
    }

    /// Why each task is in the pool, or not.
    #[must_use]
    pub fn why(&self, selection: Selection) -> Vec<Why> {
        let why = |entry: &Entry| Why {
            task: entry.task.clone(),
            passed: entry.latest.iter().filter(|passed| **passed).count(),
            attempts: entry.latest.len(),
            band: entry.band().name(),
            masses: entry.posterior().map_or_else(Vec::new, |posterior| posterior.masses().to_vec()),
            priority: entry.priority(),
            teaches: selection == Selection::None || entry.band().teaches(),
        };
        self.entries.iter().map(why).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(rates: &[(usize, usize)]) -> Pool {
        let mut pool = Pool::new((0..rates.len()).map(|index| format!("t{index}")));
        for (task, (passed, attempts)) in rates.iter().enumerate() {
            (0..*attempts).for_each(|attempt| pool.note(task, Some(attempt < *passed)));
        }
        pool
    }

    #[test]
    fn bands_are_those_of_the_published_table() {
        // n = 8: 0 too hard; 1 to 3 hard; 4 medium; 5 to 7 easy; 8 too easy.
        let pool = pool(&(0..=8).map(|passed| (passed, 8)).collect::<Vec<_>>());
        let bands: Vec<&str> = pool.entries.iter().map(|entry| entry.band().name()).collect();
        let wanted = ["too-hard", "hard", "hard", "hard", "medium", "easy", "easy", "easy", "too-easy"];
        assert_eq!(bands, wanted);
        assert_eq!(pool.bands()["hard"], 3);
    }

    #[test]
    fn tasks_that_teach_are_drawn_far_more_often() {
        let pool = pool(&[(0, 8), (8, 8), (4, 8), (2, 8)]);
        let mut counts = [0; 4];
        for update in 0..400 {
            for task in pool.draw(1, Selection::Bands, 1, &["draw", &update.to_string()], &[]) {
                counts[task] += 1;
            }
        }
        assert!(counts[2] + counts[3] > 360 && counts[0] + counts[1] > 0, "{counts:?}");
        // Without selection all alike, and none twice.
        let mut all = pool.draw(9, Selection::None, 1, &["x"], &[]);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert!(!pool.draw(3, Selection::None, 1, &["x"], &[2]).contains(&2));
    }

    #[test]
    fn what_was_too_hard_may_come_within_reach() {
        let mut pool = pool(&[(0, 4), (2, 4), (4, 4), (0, 4)]);
        assert_eq!(pool.too_hard(), [0, 3]);
        pool.forget(3);
        [true, false, true, false].into_iter().for_each(|passed| pool.note(3, Some(passed)));
        // Two of four are medium. With the four old failures they would be two of eight, which is hard.
        assert_eq!((pool.entries[3].band(), pool.too_hard()), (Band::Medium, vec![0]));
    }

    #[test]
    fn the_latest_attempts_decide() {
        let mut pool = pool(&[(0, 8)]);
        assert_eq!(pool.entries[0].band(), Band::TooHard);
        (0..LATEST).for_each(|_| pool.note(0, Some(true)));
        assert_eq!(pool.entries[0].band(), Band::TooEasy);
        // A void is no attempt.
        let before = pool.entries[0].latest.clone();
        pool.note(0, None);
        assert_eq!((pool.entries[0].latest.clone(), pool.entries[0].voids), (before, 1));
    }
}
