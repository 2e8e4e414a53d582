//! Splits are apart: what is held out was never trained on, in shape, in question or in data.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use tribunal_protocol::digest::Digest;
use tribunal_protocol::task::{Split, Task, TaskKind};
use tribunal_tasks::{Draft, Suite};

/// Every draft of the default suite at the seed that `tribunal run` takes, with its siblings.
fn tasks() -> Vec<Task> {
    let suite = Suite::embedded("analytics").unwrap();
    let drafts = suite.drafts(&suite.quotas(), 1).unwrap();
    let with_siblings =
        |draft: Draft| std::iter::once(draft.task).chain(draft.siblings.into_iter().map(|one| one.task));
    drafts.into_iter().flat_map(with_siblings).collect()
}

fn of<T: Ord>(tasks: &[Task], splits: &[Split], what: impl Fn(&Task) -> T) -> BTreeSet<T> {
    tasks.iter().filter(|task| splits.contains(&task.split)).map(what).collect()
}

/// Those that hold a schema out, and those that hold a family out.
const NEW_SCHEMA: [Split; 2] = [Split::NewSchema, Split::NewSchemaAndFamily];
const NEW_FAMILY: [Split; 2] = [Split::NewFamily, Split::NewSchemaAndFamily];

#[test]
fn held_out_schemas_families_and_data_are_apart_from_train() {
    let tasks = tasks();
    let fingerprint = |task: &Task| task.fingerprint;
    let (trained, new) = (of(&tasks, &[Split::Train], fingerprint), of(&tasks, &NEW_SCHEMA, fingerprint));
    assert_eq!((trained.len(), new.len()), (6, 6));
    assert!(trained.is_disjoint(&new));
    // Where no schema is held out the schemas are those of train, for that is what the split says.
    for split in [Split::NewData, Split::NewFamily] {
        assert!(of(&tasks, &[split], fingerprint).is_subset(&trained), "{split}");
    }
    let family = |task: &Task| task.family.clone();
    let (trained, new) = (of(&tasks, &[Split::Train], family), of(&tasks, &NEW_FAMILY, family));
    assert!(trained.len() > 10 && new.len() > 5, "{} {}", trained.len(), new.len());
    assert!(trained.is_disjoint(&new));
    for split in [Split::NewData, Split::NewSchema] {
        assert!(of(&tasks, &[split], family).is_subset(&trained), "{split}");
    }
}

#[test]
fn no_data_is_met_twice() {
    // Schema and seed decide the data. Not only across splits: no two tasks share any.
    let mut seen: BTreeMap<(String, u64), String> = BTreeMap::new();
    let mut count = 0;
    for task in tasks() {
        for instance in &task.instances {
            count += 1;
            let data = (task.schema.to_string(), instance.seed);
            let place = format!("{} of {}", task.id, task.split);
            if let Some(other) = seen.insert(data, place.clone()) {
                assert_eq!(other, place, "the data of seed {} is met twice", instance.seed);
            }
        }
    }
    // Four instances a task, or one and three siblings: 232 tasks.
    assert_eq!((count, seen.len()), (928, 928));
}

#[test]
fn schemas_of_one_name_have_other_shapes_by_version() {
    let suite = Suite::embedded("analytics").unwrap();
    let prints: BTreeMap<Digest, String> =
        suite.schemas().iter().map(|s| (suite.dataset(s, 0).unwrap().fingerprint(), s.to_string())).collect();
    assert_eq!(prints.len(), suite.schemas().len());
    // The fingerprint is of the shape alone: other rows of the same schema have the same.
    let first = suite.schemas().remove(0);
    let print = |seed| suite.dataset(&first, seed).unwrap().fingerprint();
    assert_eq!(print(0), print(1));
}

/// The same words on the same schema would be a question of train on other data. Where the right
/// way is to change rows, parameters may run out; but then other rows are to be changed, so that
/// what was learned by heart is wrong.
#[test]
fn no_question_of_train_is_asked_again() {
    let tasks = tasks();
    let asked = |task: &Task| (task.schema.to_string(), task.instruction.clone());
    let trained: BTreeMap<_, &Task> =
        tasks.iter().filter(|task| task.split == Split::Train).map(|task| (asked(task), task)).collect();
    let held_out = tasks.iter().filter(|task| task.split != Split::Train);
    let again: Vec<(&Task, &Task)> = held_out.filter_map(|task| Some((task, *trained.get(&asked(task))?))).collect();
    for (task, train) in &again {
        assert_eq!(task.kind, TaskKind::State, "{} asks what {} asks: {}", task.id, train.id, task.instruction);
        assert_ne!(task.oracle, train.oracle, "{} wants what {} wants", task.id, train.id);
    }
    assert!(again.len() <= 4, "{}", again.len());
}
