//! What leaves a blind evaluation: what the disclosure file allows, and nothing else. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tribunal_protocol::task::{Split, TaskKind};
use tribunal_protocol::verdict::Verdict;

/// The newest version of the file that this build reads.
pub const DISCLOSURE_FORMAT: u32 = 1;

/// The type of [`Disclosed`] as a predicate; its end is the version.
pub const DISCLOSED_TYPE: &str = "urn:tribunal:attestation:blind-evaluation:v1";

/// Fewer tasks than this are no group: with one or two of them, an aggregate is a verdict.
const SMALLEST_GROUP: u64 = 3;

/// Why a text is no disclosure file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DisclosureError {
    /// It cannot be read.
    #[error(
        "no disclosure file: {0}; expected `format = 1`, `show = \"aggregates\"` with `minimum_group = N`, or `show = \"per-task\"`"
    )]
    Format(String),
    /// It is of another version.
    #[error("disclosure file of format {0}: {DISCLOSURE_FORMAT} expected")]
    Newer(i64),
}

/// What may leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "show", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Disclosure {
    /// How many passed, of groups of tasks that are large enough.
    Aggregates {
        /// A dimension (splits, kinds) with a group of fewer tasks is withheld whole: what is missing
        /// would be the difference to the others.
        minimum_group: u64,
    },
    /// Of every task, how many attempts passed.
    PerTask {},
}

/// One episode, as far as anything of it may leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindEpisode {
    /// The policy.
    pub policy: String,
    /// The task.
    pub task: String,
    /// Its split.
    pub split: Split,
    /// Its kind.
    pub kind: TaskKind,
    /// Whether it passed; none where it is void.
    pub passed: Option<bool>,
}

/// How many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Tasks.
    pub tasks: u64,
    /// Episodes that are not void.
    pub judged: u64,
    /// Episodes that passed.
    pub passed: u64,
    /// Void episodes.
    pub void: u64,
}

/// What leaves, of one policy. What is withheld is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Disclosed {
    /// Over all tasks.
    pub all: Option<Count>,
    /// By split.
    pub splits: Option<BTreeMap<String, Count>>,
    /// By kind.
    pub kinds: Option<BTreeMap<String, Count>>,
    /// By task.
    pub tasks: Option<BTreeMap<String, Count>>,
}

impl Disclosure {
    /// Reads a disclosure file, or the table `[disclosure]` of a protocol file.
    ///
    /// # Errors
    /// No TOML of this shape, another version, or a group too small to hide in.
    pub fn read(text: &str) -> Result<Disclosure, DisclosureError> {
        let bad = |why: toml::de::Error| DisclosureError::Format(why.message().to_owned());
        let mut table: toml::Table = text.parse().map_err(bad)?;
        match table.remove("format").and_then(|format| format.as_integer()) {
            Some(format) if format == i64::from(DISCLOSURE_FORMAT) => {}
            Some(format) => return Err(DisclosureError::Newer(format)),
            None => return Err(DisclosureError::Format("no `format`".to_owned())),
        }
        if let Some(toml::Value::Table(of_protocol)) = table.remove("disclosure") {
            table = of_protocol;
        }
        match toml::Value::Table(table).try_into().map_err(bad)? {
            Disclosure::Aggregates { minimum_group } if minimum_group < SMALLEST_GROUP => Err(DisclosureError::Format(
                format!("minimum_group = {minimum_group}: at least {SMALLEST_GROUP} expected"),
            )),
            disclosure => Ok(disclosure),
        }
    }

    /// What leaves of these episodes, by policy. Their order is of no matter.
    #[must_use]
    pub fn disclose(&self, episodes: &[BlindEpisode]) -> BTreeMap<String, Disclosed> {
        let policies: BTreeSet<&str> = episodes.iter().map(|episode| episode.policy.as_str()).collect();
        let of = |policy: &str| {
            let own: Vec<&BlindEpisode> = episodes.iter().filter(|episode| episode.policy == policy).collect();
            (policy.to_owned(), self.of_policy(&own))
        };
        policies.into_iter().map(of).collect()
    }

    fn of_policy(&self, episodes: &[&BlindEpisode]) -> Disclosed {
        let all = counts(episodes, |_| String::new());
        match self {
            Disclosure::PerTask {} => {
                Disclosed { tasks: Some(counts(episodes, |episode| episode.task.clone())), ..Disclosed::default() }
            }
            Disclosure::Aggregates { minimum_group } => {
                let large = |groups: BTreeMap<String, Count>| {
                    groups.values().all(|count| count.tasks >= *minimum_group).then_some(groups)
                };
                Disclosed {
                    all: large(all).and_then(|all| all.into_values().next()),
                    splits: large(counts(episodes, |episode| episode.split.name().to_owned())),
                    kinds: large(counts(episodes, |episode| episode.kind.name().to_owned())),
                    tasks: None,
                }
            }
        }
    }
}

/// Whether a verdict is a pass; none where it is void. Nothing else of it is looked at.
#[must_use]
pub fn pass(verdict: &Verdict) -> Option<bool> {
    verdict.reward().map(|_| verdict.passed())
}

fn counts(episodes: &[&BlindEpisode], group: impl Fn(&BlindEpisode) -> String) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, (Count, BTreeSet<&str>)> = BTreeMap::new();
    for episode in episodes {
        let (count, tasks) = counts.entry(group(episode)).or_default();
        tasks.insert(&episode.task);
        match episode.passed {
            None => count.void += 1,
            Some(passed) => {
                count.judged += 1;
                count.passed += u64::from(passed);
            }
        }
    }
    let whole = |(name, (count, tasks)): (String, (Count, BTreeSet<&str>))| {
        (name, Count { tasks: tasks.len() as u64, ..count })
    };
    counts.into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(task: u32, kind: TaskKind, passed: Option<bool>) -> BlindEpisode {
        BlindEpisode { policy: "p".to_owned(), task: format!("t{task}"), split: Split::NewData, kind, passed }
    }

    fn aggregates(minimum_group: u64, episodes: &[BlindEpisode]) -> Disclosed {
        Disclosure::Aggregates { minimum_group }.disclose(episodes).remove("p").unwrap()
    }

    /// Ten tasks: six to answer, four impossible; the first of each kind passed.
    fn ten() -> Vec<BlindEpisode> {
        let kind = |task| if task < 6 { TaskKind::Answer } else { TaskKind::Impossible };
        (0..10).map(|task| episode(task, kind(task), Some(task == 0 || task == 6))).collect()
    }

    #[test]
    fn groups_are_counted_and_a_small_one_withholds_its_dimension() {
        let count = |tasks, passed| Count { tasks, judged: tasks, passed, void: 0 };
        let found = aggregates(4, &ten());
        assert_eq!(found.all, Some(count(10, 2)));
        let kinds = BTreeMap::from([("answer".to_owned(), count(6, 1)), ("impossible".to_owned(), count(4, 1))]);
        assert_eq!(found.kinds, Some(kinds));
        assert_eq!(found.splits, Some(BTreeMap::from([("new-data".to_owned(), count(10, 2))])));
        assert_eq!(found.tasks, None);
        let found = aggregates(5, &ten());
        assert_eq!((found.all, found.kinds), (Some(count(10, 2)), None), "six of ten would tell of the other four");
        assert_eq!(aggregates(11, &ten()), Disclosed::default());
        // Many attempts at few tasks are no large group.
        let often: Vec<_> = (0..20).map(|_| episode(1, TaskKind::Answer, Some(true))).collect();
        assert_eq!(aggregates(3, &often), Disclosed::default());
    }

    #[test]
    fn which_task_passed_changes_no_byte_of_an_aggregate() {
        let bytes = |disclosure: &Disclosure, episodes: &[BlindEpisode]| {
            serde_json::to_string(&disclosure.disclose(episodes)).unwrap()
        };
        let aggregates = Disclosure::Aggregates { minimum_group: 4 };
        let seen = bytes(&aggregates, &ten());
        for chosen in 0..6 {
            for other in 6..10 {
                let mut moved = ten();
                for (task, episode) in moved.iter_mut().enumerate() {
                    episode.passed = Some(task == chosen || task == other);
                    episode.task = format!("hidden {}", (task * 7) % 10);
                }
                moved.reverse();
                assert_eq!(bytes(&aggregates, &moved), seen);
            }
        }
        // The twins: another aggregate, and a disclosure that names tasks.
        let mut more = ten();
        more[1].passed = Some(true);
        assert_ne!(bytes(&aggregates, &more), seen);
        let mut moved = ten();
        (moved[0].passed, moved[1].passed) = (Some(false), Some(true));
        let tasks = Disclosure::PerTask {};
        assert_ne!(bytes(&tasks, &moved), bytes(&tasks, &ten()));
        assert_eq!(tasks.disclose(&ten())["p"].tasks.as_ref().unwrap().len(), 10);
    }

    #[test]
    fn a_void_is_neither_and_reasons_do_not_leave() {
        let mut episodes = ten();
        episodes[0].passed = None;
        assert_eq!(aggregates(4, &episodes).all, Some(Count { tasks: 10, judged: 9, passed: 1, void: 1 }));
        let invalid = |reason: &str| Verdict::Invalid { reason: reason.to_owned() };
        assert_eq!((pass(&invalid("a")), pass(&invalid("b"))), (Some(false), Some(false)));
    }

    #[test]
    fn a_disclosure_file_reads_and_what_is_none_is_refused() {
        let read = |text: &str| Disclosure::read(text);
        assert_eq!(
            read("format = 1\nshow = \"aggregates\"\nminimum_group = 10"),
            Ok(Disclosure::Aggregates { minimum_group: 10 })
        );
        assert_eq!(read("format = 1\nshow = \"per-task\""), Ok(Disclosure::PerTask {}));
        for (text, expected) in [
            ("show = \"per-task\"", "no `format`"),
            ("format = 2\nshow = \"per-task\"", "format 2"),
            ("format = 1\nshow = \"all\"", "unknown variant `all`"),
            ("format = 1\nshow = \"aggregates\"", "missing field `minimum_group`"),
            ("format = 1\nshow = \"aggregates\"\nminimum_group = 2", "at least 3 expected"),
            ("format = 1\nshow = \"per-task\"\nminimum_group = 2", "unknown field `minimum_group`"),
        ] {
            let why = read(text).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
        }
    }
}
