//! A few tasks of the suite `primer`, one of each kind, and a model that knows nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use tribunal_dialogue::Codec;
use tribunal_episode::{Prepared, Stage};
use tribunal_protocol::task::Task;
use tribunal_tests::analytics::{Analytics, tasks_of};
use tribunal_train::trajectory::{Trajectory, verified};
use tribunal_train::{Clock, Lesson, Recipe};
use tribunal_transformer::{Device, Model};

/// A training that takes seconds. At so low a temperature the likeliest token is always drawn, whatever
/// the seed of an attempt.
pub const RECIPE: &str = r#"
format = 1
name = "tiny"
seed = 1
suite = "primer"
variants = 2
[model]
vocabulary = 320
dim = 16
layers = 1
heads = 2
kv_heads = 1
hidden = 32
context = 1024
[sft]
tasks = 16
epochs = 20
batch_tokens = 1024
learning_rate = 2e-3
warmup = 2
[pool]
tasks = 5
probes = 4
selection = "none"
[grpo]
updates = 3
tasks = 2
group = 3
learning_rate = 1e-2
checkpoint_every = 1
rounds = 1
dynamic = false
[rollout]
call_tokens = 48
calls = 2
temperature = 1e-4
[evaluate]
attempts = 1
tasks = 5
"#;

pub fn recipe() -> Recipe {
    Recipe::parse(RECIPE).unwrap()
}

/// A clock that stands: nothing may depend on it.
pub struct Still;

impl Clock for Still {
    fn seconds(&self) -> f64 {
        0.0
    }
}

/// One task of each kind, made once for all tests.
pub fn kinds() -> &'static (Stage, Vec<Task>) {
    static KINDS: OnceLock<(Stage, Vec<Task>)> = OnceLock::new();
    KINDS.get_or_init(|| {
        let Analytics { stage, tasks, .. } = tasks_of("primer", 13, |_| true).unwrap();
        let mut of_kinds = BTreeMap::new();
        for task in tasks {
            of_kinds.entry(task.kind).or_insert(task);
        }
        assert_eq!(of_kinds.len(), 5, "answer, state, clarify, impossible, recover");
        (stage, of_kinds.into_values().collect())
    })
}

/// The solutions of the tasks, as they are learned from.
pub fn solutions() -> Vec<Trajectory> {
    let (stage, tasks) = kinds();
    let solution = |task: &Task| verified(&Prepared::new(stage, Arc::new(task.clone())).unwrap(), 1, 0.0).unwrap();
    tasks.iter().map(solution).collect()
}

/// A tokenizer that was trained on the solutions.
pub fn codec() -> Arc<Codec> {
    static CODEC: OnceLock<Arc<Codec>> = OnceLock::new();
    let train = || {
        let texts: Vec<String> = solutions().iter().flat_map(Trajectory::texts).collect();
        Arc::new(Codec::train(texts.iter().map(String::as_str).collect::<Vec<_>>(), 320).unwrap())
    };
    Arc::clone(CODEC.get_or_init(train))
}

/// A fresh model for the tokenizer.
pub fn model() -> Model {
    Model::new(recipe().shape(codec().vocabulary()), 7, &Device::Cpu).unwrap()
}

/// The tasks as lessons on a stage.
pub fn lessons(stage: &Stage, codec: &Arc<Codec>) -> Vec<Arc<Lesson>> {
    let ready = |task: &Task| Prepared::new(stage, Arc::new(task.clone())).unwrap();
    let lesson = |task: &Task| Arc::new(Lesson::new(ready(task), codec, true).unwrap());
    kinds().1.iter().map(lesson).collect()
}
