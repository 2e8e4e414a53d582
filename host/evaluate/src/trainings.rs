//! Trainings side by side: what differs between their recipes, and what each gained over its start.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::comparison::{Comparison, GroupScores};
use crate::estimate::ratio;
use crate::grid::{Grid, strings};
use crate::jeffreys::student;
use crate::metrics::{Interval, Measure};
use crate::page::{Chart, Document, ReportError, Section};
use crate::text::{brief, count, percent};
use crate::training::Training;

/// What a recipe says of itself, and of chance: no difference between methods.
const NO_METHOD: [&str; 3] = ["name", "summary", "seed"];

/// One training, as read from its folder.
#[derive(Clone, Debug)]
pub struct Trained {
    /// What its folder is called.
    pub name: String,
    /// Its recipe.
    pub recipe: Value,
    /// The last policy against the one that it is compared with.
    pub comparison: Comparison,
    /// Its updates.
    pub training: Training,
}

/// Trainings side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trainings {
    /// The group of tasks that all figures are of.
    pub group: String,
    /// Trainings by recipe, in the order in which they were named.
    pub recipes: Vec<RecipeRow>,
}

/// All trainings by one recipe, which differ by their seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecipeRow {
    /// What differs from the recipe of the first training, as `key = value`.
    pub differs: Vec<String>,
    /// The trainings.
    pub trainings: Vec<TrainingRow>,
    /// The mean gain over seeds, where there are several: its interval is Student's, over seeds.
    pub gain: Option<SeedMean>,
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedMean {
    /// How many seeds.
    pub seeds: u64,
    /// The mean.
    pub value: f64,
    /// The ends of the 95 % interval.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

/// One training in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainingRow {
    /// What its folder is called.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// How many tasks the figures rest on.
    pub tasks: u64,
    /// Most attempts at a task: the k of pass@k.
    pub attempts: u64,
    /// pass@1 of what it is compared with, as a share.
    pub start: Option<f64>,
    /// pass@1 of its last policy.
    pub end: Option<f64>,
    /// The paired gain in pass@1.
    pub gain: Option<Interval>,
    /// Tasks passed in every attempt, before and after.
    pub every_time: [u64; 2],
    /// pass@k, before and after.
    pub any: [Option<f64>; 2],
    /// Tokens that steps were taken on, contexts included.
    pub trained_tokens: f64,
    /// Tokens that were drawn in order to learn.
    pub drawn_tokens: f64,
    /// Seconds of updates: neither probing nor evaluation.
    pub seconds: f64,
}

/// What is wrong with trainings that were to be set side by side.
#[derive(Debug, thiserror::Error)]
pub enum TrainingsError {
    /// There is none.
    #[error("no training: the folder of at least one expected")]
    None,
    /// A group that the comparison does not have.
    #[error("{training}: no group of tasks is called {group}; there are {known}")]
    Group {
        /// Which training.
        training: String,
        /// The group.
        group: String,
        /// Those that there are.
        known: String,
    },
    /// Other tasks than the first training's: no figure could be set beside another.
    #[error(
        "{training}: evaluated on other tasks than {first}; the same suite, evaluate.seed and evaluate.tasks expected"
    )]
    Tasks {
        /// Which training.
        training: String,
        /// The first one.
        first: String,
    },
}

impl Trainings {
    /// Sets trainings side by side over one group of tasks; none: those that decide.
    ///
    /// # Errors
    /// Trainings that were not evaluated on the same tasks, and a group that there is not.
    pub fn new(trained: &[Trained], group: Option<&str>) -> Result<Trainings, TrainingsError> {
        let first = trained.first().ok_or(TrainingsError::None)?;
        let other = |one: &&Trained| one.comparison.paired.digest != first.comparison.paired.digest;
        if let Some(one) = trained.iter().find(other) {
            return Err(TrainingsError::Tasks { training: one.name.clone(), first: first.name.clone() });
        }
        let base = flat(&first.recipe);
        let mut recipes: Vec<RecipeRow> = Vec::new();
        for one in trained {
            let differs = differences(&base, &flat(&one.recipe));
            let row = row(one, group)?;
            match recipes.iter_mut().find(|recipe| recipe.differs == differs) {
                Some(recipe) => recipe.trainings.push(row),
                None => recipes.push(RecipeRow { differs, trainings: vec![row], gain: None }),
            }
        }
        for recipe in &mut recipes {
            let gains: Vec<f64> = recipe.trainings.iter().filter_map(|row| Some(row.gain?.value)).collect();
            recipe.gain = over_seeds(&gains);
        }
        let group = scores(first, group)?.name.clone();
        Ok(Trainings { group, recipes })
    }

    /// The table.
    #[must_use]
    pub fn grid(&self) -> Grid {
        let header = [
            "training",
            "differs in",
            "start",
            "end",
            "gain",
            "95 %",
            "every time",
            "pass@k",
            "trained",
            "drawn",
            "minutes",
        ];
        let mut rows = Vec::new();
        for recipe in &self.recipes {
            let differs = if recipe.differs.is_empty() { "–".to_owned() } else { recipe.differs.join(", ") };
            rows.extend(recipe.trainings.iter().map(|row| row.cells(&differs)));
            if let Some(mean) = recipe.gain {
                let mut cells = vec![format!("mean of {}", count(mean.seeds, "seed")), differs];
                cells.extend(strings(&["–", "–"]));
                cells.push(points(mean.value));
                cells.push(format!("{} to {}", points(mean.low), points(mean.high)));
                cells.extend(strings(&["–"; 5]));
                rows.push(cells);
            }
        }
        let first = self.recipes.iter().flat_map(|recipe| &recipe.trainings).next();
        let (tasks, attempts) = first.map_or((0, 0), |row| (row.tasks, row.attempts));
        let title = format!(
            "{}: {}, {} at each; start and end: pass@1; every time, pass@k: before and after",
            self.group,
            count(tasks, "task"),
            count(attempts, "attempt")
        );
        Grid { title, header: strings(&header), rows }
    }

    /// The page: the table, and for every training what it was rewarded with beside what was right.
    ///
    /// # Errors
    /// [`ReportError::Template`], which is always our fault.
    pub fn page(&self, trained: &[Trained]) -> Result<String, ReportError> {
        let best = self.recipes.iter().flat_map(|recipe| &recipe.trainings).filter_map(|row| Some((row.gain?, row)));
        let best = best.max_by(|(a, _), (b, _)| a.value.total_cmp(&b.value));
        let lead = best.map_or_else(String::new, |(gain, row)| {
            let (low, high) = (points(gain.low), points(gain.high));
            format!("The largest gain is {} ({low} to {high}): {}.", points(gain.value), row.name)
        });
        let table = Section {
            id: "gains".to_owned(),
            title: "What each gained".to_owned(),
            about: "Gains are paired, task by task; their intervals are bootstrapped over schemas and tasks, those of \
                    means are Student's over seeds."
                .to_owned(),
            grids: vec![self.grid()],
            ..Section::default()
        };
        let curves = Section {
            id: "curves".to_owned(),
            title: "Reward, and what was right".to_owned(),
            about:
                "By update, over all attempts that were played: the mean reward that was learned from, and the share \
                    that the task's verifier passed. Where the two part, the reward was earned by something else."
                    .to_owned(),
            charts: trained.iter().map(curves).collect(),
            ..Section::default()
        };
        let document = Document {
            what: "trainings".to_owned(),
            title: format!("{} side by side", count(trained.len() as u64, "training")),
            word: "measured".to_owned(),
            good: true,
            lead,
            facts: vec![("tasks".to_owned(), self.group.clone())],
            sections: vec![table, curves],
            foot: "A function of recipes, evaluations and updates: the same folders give the same bytes.".to_owned(),
        };
        document.page()
    }
}

impl TrainingRow {
    fn cells(&self, differs: &str) -> Vec<String> {
        let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
        let pair = |pair: [String; 2]| pair.join(" → ");
        vec![
            self.name.clone(),
            differs.to_owned(),
            share(self.start),
            share(self.end),
            self.gain.map_or_else(|| "–".to_owned(), |gain| points(gain.value)),
            self.gain.map_or_else(|| "–".to_owned(), |gain| format!("{} to {}", points(gain.low), points(gain.high))),
            pair(self.every_time.map(|count| count.to_string())),
            pair(self.any.map(share)),
            brief(self.trained_tokens as u64),
            brief(self.drawn_tokens as u64),
            format!("{:.0}", self.seconds / 60.0),
        ]
    }
}

fn scores<'a>(one: &'a Trained, group: Option<&str>) -> Result<&'a GroupScores, TrainingsError> {
    let groups = &one.comparison.groups;
    let found = match group {
        None => groups.first(),
        Some(name) => groups.iter().find(|group| group.name == name),
    };
    found.ok_or_else(|| TrainingsError::Group {
        training: one.name.clone(),
        group: group.unwrap_or("decisive tasks").to_owned(),
        known: groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}

fn row(one: &Trained, group: Option<&str>) -> Result<TrainingRow, TrainingsError> {
    let scores = scores(one, group)?;
    let attempts = one.comparison.paired.attempts;
    let once = scores.score(Measure::PassAt(1));
    let any = scores.score(Measure::PassAt(attempts));
    let value = |found: Option<Interval>| found.map(|found| found.value);
    let total = |name: &str| one.training.curve(name).iter().map(|(_, value)| value).sum::<f64>();
    let drawn = one.training.updates.iter();
    let drawn = drawn.filter_map(|(_, figures)| Some(figures.get("attempts")? * figures.get("tokens_per_episode")?));
    Ok(TrainingRow {
        name: one.name.clone(),
        seed: one.recipe["seed"].as_u64().unwrap_or_default(),
        tasks: scores.tasks,
        attempts,
        start: once.and_then(|score| value(score.baseline)),
        end: once.and_then(|score| value(score.candidate)),
        gain: once.and_then(|score| score.gain),
        every_time: [scores.baseline_every_time, scores.candidate_every_time],
        any: [any.and_then(|score| value(score.baseline)), any.and_then(|score| value(score.candidate))],
        trained_tokens: total("tokens"),
        drawn_tokens: drawn.sum(),
        seconds: total("seconds"),
    })
}

/// Every value of a recipe by its path.
fn flat(recipe: &Value) -> BTreeMap<String, String> {
    fn walk(prefix: &str, value: &Value, all: &mut BTreeMap<String, String>) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                    walk(&path, value, all);
                }
            }
            Value::Null => {}
            Value::String(text) => drop(all.insert(prefix.to_owned(), text.clone())),
            other => drop(all.insert(prefix.to_owned(), other.to_string())),
        }
    }
    let mut all = BTreeMap::new();
    walk("", recipe, &mut all);
    all.retain(|name, _| !NO_METHOD.contains(&name.as_str()));
    all
}

/// What differs, one text a key; of a section that one of both lacks, the section alone.
fn differences(base: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let section = |name: &str| name.split_once('.').map(|(section, _)| section.to_owned());
    let has = |recipe: &BTreeMap<String, String>, wanted: &str| {
        recipe.keys().any(|name| section(name).as_deref() == Some(wanted))
    };
    let names: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| base.get(*name) != other.get(*name)) {
        let text = match section(name) {
            Some(section) if !has(other, &section) => format!("no {section}"),
            Some(section) if !has(base, &section) => format!("with {section}"),
            _ => format!("{name} = {}", other.get(name).map_or("none", String::as_str)),
        };
        if found.last() != Some(&text) {
            found.push(text);
        }
    }
    found
}

/// A difference of shares, in percentage points.
fn points(difference: f64) -> String {
    crate::text::points(100.0 * difference)
}

/// The mean of several, with Student's interval: `t(n - 1) * s / sqrt(n)` on either side.
fn over_seeds(values: &[f64]) -> Option<SeedMean> {
    if values.len() < 2 {
        return None;
    }
    let seeds = values.len() as u64;
    let number = ratio(seeds, 1);
    let value = values.iter().sum::<f64>() / number;
    let variance = values.iter().map(|one| (one - value).powi(2)).sum::<f64>() / (number - 1.0);
    let half = student(seeds - 1) * (variance / number).sqrt();
    Some(SeedMean { seeds, value, low: value - half, high: value + half })
}

fn curves(one: &Trained) -> Chart {
    let line = |name: &str, figure: &str| (name.to_owned(), one.training.curve(figure));
    Chart {
        title: one.name.clone(),
        x: "update".to_owned(),
        share: true,
        lines: vec![line("passed", "pass_rate"), line("reward", "reward")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_decides_a_method_differs() {
        let base = serde_json::json!({"name": "a", "seed": 1, "grpo": {"rate": 0.5, "kl": 0.0}, "sft": {"tasks": 9}});
        let other =
            serde_json::json!({"name": "b", "seed": 2, "grpo": {"rate": 0.25}, "sft": {"tasks": 9, "all": true}});
        let found = differences(&flat(&base), &flat(&other));
        assert_eq!(found, ["grpo.kl = none", "grpo.rate = 0.25", "sft.all = true"]);
        let without = serde_json::json!({"seed": 1, "sft": {"tasks": 9}});
        assert_eq!(differences(&flat(&base), &flat(&without)), ["no grpo"]);
        assert_eq!(differences(&flat(&without), &flat(&base)), ["with grpo"]);
        assert!(differences(&flat(&base), &flat(&base)).is_empty());
    }

    /// By hand: mean 3, s = sqrt(2.5), t(4) = 2.776445, half = 2.776445 * sqrt(2.5 / 5) = 1.963243.
    #[test]
    fn a_mean_over_seeds_has_students_interval() {
        let found = over_seeds(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((found.seeds, found.value), (5, 3.0));
        assert!((found.high - 4.963_243).abs() < 1e-5 && (found.low - 1.036_757).abs() < 1e-5, "{found:?}");
        assert_eq!(over_seeds(&[1.0]), None);
    }
}
