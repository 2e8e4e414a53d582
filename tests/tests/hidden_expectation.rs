//! The agent never sees a byte that depends on what its task hides: randomise the expectations,
//! the hidden instances, the oracle, the mutants and the names of a task, and all that any policy
//! reads stays the same.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, LazyLock};

use serde_json::json;
use tribunal_episode::{Episode, Prepared, run};
use tribunal_protocol::event::Event;
use tribunal_protocol::policy::{Action, Policies, Policy, names};
use tribunal_protocol::task::{Instance, Split, Task, TaskKind};
use tribunal_scripted::{Script, Scripted};
use tribunal_tests::analytics::{Analytics, analytics};
use tribunal_tests::random_queries::Dice;
use tribunal_tests::told::number;

/// One of every family, and some more.
const TASKS: usize = 30;
/// How often what a task hides is drawn anew.
const DRAWS: u64 = 8;

static WORLD: LazyLock<Analytics> = LazyLock::new(|| analytics(TASKS, |_| true).unwrap());

/// The task with everything else in the places that an agent must not know of.
fn redrawn(task: &Task, dice: &mut Dice) -> Task {
    let others: Vec<&Task> = WORLD.tasks.iter().filter(|other| other.id != task.id).collect();
    let akin: Vec<&Task> = others.iter().copied().filter(|other| other.schema == task.schema).collect();
    let mut other = task.clone();
    for instance in &mut other.instances {
        instance.expectation = expectation(instance, &others, dice);
    }
    let seen = other.instances[0].seed;
    let seeds: Vec<u64> = akin.iter().flat_map(|akin| &akin.instances).map(|instance| instance.seed).collect();
    other.instances.truncate(1 + dice.below(other.instances.len()));
    for _ in 0..dice.below(3) {
        let seed = if seeds.is_empty() { seen } else { *dice.pick(&seeds) };
        other.instances.push(Instance { seed, expectation: expectation(&other.instances[0], &others, dice) });
    }
    let model = *dice.pick(&others);
    other.oracle.clone_from(&model.oracle);
    other.mutants.clone_from(&model.mutants);
    other.id = format!("other-{}", dice.below(1_000));
    other.family.clone_from(&model.family);
    other.kind = *dice.pick(&TaskKind::ALL);
    other.split = *dice.pick(&Split::ALL);
    other
}

/// Another expectation: another task's, one with other digits, or none at all.
fn expectation(instance: &Instance, others: &[&Task], dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => String::new(),
        1 => dice.pick::<&Task>(others).instances[0].expectation.clone(),
        2 => format!("{{\"version\": {}}}", dice.below(100)),
        _ => {
            let turn = u32::try_from(1 + dice.below(9)).unwrap();
            let digit = |c: char| c.to_digit(10).map_or(c, |digit| char::from_digit((digit + turn) % 10, 10).unwrap());
            instance.expectation.chars().map(digit).collect()
        }
    }
}

/// All bytes that a policy reads, up to the end of its episode.
fn seen(task: &Task, name: &str, policy: &mut dyn Policy) -> Vec<String> {
    let prepared = Prepared::new(&WORLD.stage, Arc::new(task.clone())).unwrap();
    let mut episode = Episode::start(&prepared, name, 0, 0);
    let mut read = vec![serde_json::to_string(episode.view().briefing).unwrap()];
    while !episode.ended() {
        let Some(action) = policy.act(episode.view()).unwrap() else { break };
        let observation = episode.step(action);
        read.push(serde_json::to_string(&observation).unwrap());
        read.push(serde_json::to_string(episode.view().turns).unwrap());
    }
    read.push(format!("ended: {}", episode.ended()));
    // The verifier has its turn; what it makes of this is for nobody who acts.
    drop(episode.finish());
    read
}

/// A policy, from its start.
type Start = Box<dyn Fn() -> Box<dyn Policy>>;

/// What policies do, of which none looks into the task that is played. The last one does what the
/// task's own ways do, right and wrong ones in any order.
fn policies(task: &Task, draw: u64) -> Vec<(String, Start)> {
    let mut dice = Dice::new(draw, 71);
    let ways: Vec<&Vec<Action>> = task.mutants.iter().map(|mutant| &mutant.actions).chain([&task.oracle]).collect();
    let mixed: Vec<Action> = (0..6)
        .filter_map(|_| {
            let way = dice.pick::<&Vec<Action>>(&ways);
            let action = way.get(dice.below(way.len()))?;
            let ends = action.tool != names::ASK && names::ALL.contains(&action.tool.as_str());
            (!ends || dice.chance(30)).then(|| action.clone())
        })
        .collect();
    let scripted = Scripted::ALL.into_iter().map(|policy| {
        let task = task.clone();
        let start: Start = Box::new(move || policy.start(&task, 0, draw));
        (Policies::name(&policy).to_owned(), start)
    });
    let mix: Start = Box::new(move || Box::new(Script::new(mixed.clone())));
    scripted.chain([("mixed".to_owned(), mix)]).collect()
}

#[test]
fn what_a_task_hides_changes_no_byte_that_an_agent_reads() {
    let draws = number("DRAWS", DRAWS);
    let (mut episodes, mut results) = (0, 0);
    for (place, task) in WORLD.tasks.iter().enumerate() {
        for draw in 0..draws {
            let mut dice = Dice::new(draw, 1_000 + place as u64);
            let other = redrawn(task, &mut dice);
            for (name, start) in policies(task, draw) {
                let here = seen(task, &name, start().as_mut());
                let there = seen(&other, &name, start().as_mut());
                assert_eq!(here, there, "{}, {name}, draw {draw}: {other:?}", task.id);
                episodes += 1;
                results += usize::from(here.iter().any(|read| read.contains("\"table\"")));
            }
        }
    }
    // A policy that sees no result could not tell anything.
    assert!(results * 3 > episodes, "{results} of {episodes}");
}

/// The twin: what was redrawn decides. The oracle passes where its task is whole, and not where its
/// hidden parts are another's.
#[test]
fn what_is_redrawn_decides() {
    let verdict = |task: &Task, actions: &[Action]| {
        let prepared = Prepared::new(&WORLD.stage, Arc::new(task.clone())).unwrap();
        match run(&prepared, "oracle", &mut Script::new(actions.to_vec()), 0, 0).pop() {
            Some(Event::End(end)) => end.verdict.passed(),
            _ => false,
        }
    };
    let mut fooled = 0;
    for (place, task) in WORLD.tasks.iter().enumerate() {
        assert!(verdict(task, &task.oracle), "{}", task.id);
        let other = redrawn(task, &mut Dice::new(0, 1_000 + place as u64));
        fooled += usize::from(verdict(&other, &task.oracle));
    }
    assert!(fooled * 4 < WORLD.tasks.len(), "{fooled} of {}", WORLD.tasks.len());
}

/// The twin: a tool that is wrongly given the expectation is caught, though it only names it in an
/// error.
#[test]
fn a_tool_that_is_given_the_expectation_is_caught() {
    let leaking = |task: &Task| {
        let mut task = task.clone();
        let known = json!({"table": "t", "id": "id", "status": "status", "allowed": {}});
        let settings = json!({"status": {task.instances[0].expectation.clone(): known}});
        task.settings.insert("tool-ledger".to_owned(), settings.to_string());
        if !task.tools.contains(&"tool-ledger".to_owned()) {
            task.tools.push("tool-ledger".to_owned());
        }
        task
    };
    let asks = || Script::new(vec![Action::call("set_status", json!({"entity": "?", "id": 1, "status": "x"}))]);
    let mut caught = 0;
    for (place, task) in WORLD.tasks.iter().enumerate() {
        let other = redrawn(task, &mut Dice::new(1, 1_000 + place as u64));
        let here = seen(&leaking(task), "asks", &mut asks());
        caught += usize::from(here != seen(&leaking(&other), "asks", &mut asks()));
        assert!(here[1].contains("no entity"), "{}", here[1]);
    }
    assert_eq!(caught, WORLD.tasks.len());
}
