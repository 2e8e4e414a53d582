//! The trial that every draft goes through.

use std::sync::Arc;

use serde_json::json;
use tribunal_episode::{Prepared, Stage, run};
use tribunal_protocol::event::Event;
use tribunal_protocol::failure::Failure;
use tribunal_protocol::policy::{Action, Observation, Policies, names};
use tribunal_protocol::table::Table;
use tribunal_protocol::task::{AnswerForm, Task, TaskKind};
use tribunal_protocol::verdict::Verdict;
use tribunal_scripted::{Script, Scripted};
use tribunal_tasks::Draft;

use crate::library::Library;
use crate::refuse::Refused;

/// Makes tasks of drafts, in the stack that grades.
pub struct Maker<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) library: &'a Library,
}

/// How many seeds the constant guesser is tried with.
const GUESSES: u64 = 6;

impl<'a> Maker<'a> {
    /// A maker on a stage whose data comes from a library.
    #[must_use]
    pub fn new(stage: &'a Stage, library: &'a Library) -> Maker<'a> {
        Maker { stage, library }
    }

    /// Makes a task of a draft, or says why not.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn make(&self, draft: &Draft) -> Result<Task, Refused> {
        let refuse = |reason| Refused { task: draft.task.id.clone(), reason };
        let task = self.check(draft).map_err(refuse)?;
        for sibling in &draft.siblings {
            let seed = sibling.task.instances.first().map_or(0, |instance| instance.seed);
            self.check(sibling).map_err(|why| refuse(format!("at the further seed {seed}: {why}")))?;
        }
        Ok(task)
    }

    fn check(&self, draft: &Draft) -> Result<Task, String> {
        names_columns(&draft.task)?;
        let (task, seconds) = self.expect(draft)?;
        let prepared = self.prepare(&task)?;
        expect_pass("the oracle", &verdict(&prepared, task.oracle.clone()))?;
        for mutant in &task.mutants {
            let what = format!("the mutant {}", mutant.fault);
            expect_zero(&what, &verdict(&prepared, mutant.actions.clone()))?;
        }
        for policy in [Scripted::NoOp, Scripted::Echo] {
            expect_zero(Policies::name(&policy), &played(&prepared, policy, 0))?;
        }
        for seed in 0..GUESSES {
            expect_zero("a constant answer", &played(&prepared, Scripted::Guesser, seed))?;
        }
        self.check_tables(&task, &seconds)?;
        Ok(task)
    }

    /// Hands in tables directly: SQLite's answer on every instance must pass, an empty one fail.
    fn check_tables(&self, task: &Task, seconds: &[Table]) -> Result<(), String> {
        let empty: Vec<Vec<serde_json::Value>> = Vec::new();
        for (index, second) in seconds.iter().enumerate() {
            let single = Task {
                answer_form: AnswerForm::Any,
                instances: vec![task.instances[index].clone()],
                failures: Vec::new(),
                ..task.clone()
            };
            let prepared = self.prepare(&single)?;
            let rows: Vec<Vec<serde_json::Value>> =
                second.to_rows().iter().map(|row| row.iter().map(|value| value.to_json()).collect()).collect();
            let columns: Vec<&str> = second.columns.iter().map(|column| column.name.as_str()).collect();
            let hand_in = |rows: &Vec<Vec<serde_json::Value>>| {
                let asked = task.oracle.iter().filter(|action| action.tool == names::ASK).cloned();
                let submit = Action::call(names::SUBMIT, json!({"columns": columns, "rows": rows}));
                verdict(&prepared, asked.chain([submit]).collect())
            };
            expect_pass("the second engine's answer", &hand_in(&rows))?;
            expect_zero("an empty answer", &hand_in(&empty))?;
        }
        Ok(())
    }

    fn prepare(&self, task: &Task) -> Result<Prepared, String> {
        Prepared::new(self.stage, Arc::new(task.clone())).map_err(|why| why.to_string())
    }
}

/// Every column that an answer must have is named in the instruction.
fn names_columns(task: &Task) -> Result<(), String> {
    let unnamed = task.answer.iter().find(|column| !task.instruction.contains(&column.name));
    match unnamed {
        Some(column) => Err(format!("the instruction does not name the column `{}`", column.name)),
        None if task.answer.is_empty()
            && matches!(task.kind, TaskKind::Answer | TaskKind::Recover | TaskKind::Clarify) =>
        {
            Err("an answer is wanted, but no columns are named".to_owned())
        }
        None => Ok(()),
    }
}

/// How a trial episode went.
struct Tried {
    verdict: Verdict,
    /// The last failure that its actor saw.
    failure: Option<Failure>,
}

fn verdict(prepared: &Prepared, actions: Vec<Action>) -> Tried {
    tried(&run(prepared, "trial", &mut Script::new(actions), 0, 0))
}

fn played(prepared: &Prepared, policy: Scripted, seed: u64) -> Tried {
    let mut player = policy.start(prepared.task(), 0, seed);
    tried(&run(prepared, Policies::name(&policy), player.as_mut(), 0, seed))
}

fn tried(events: &[Event]) -> Tried {
    let verdict = match events.last() {
        Some(Event::End(end)) => end.verdict.clone(),
        _ => Verdict::Invalid { reason: "no-end".to_owned() },
    };
    let failure = events.iter().rev().find_map(|event| match event {
        Event::Step(step) => match &step.observation {
            Observation::Failure(failure) => Some(failure.clone()),
            Observation::Result { .. } => None,
        },
        _ => None,
    });
    Tried { verdict, failure }
}

fn expect_pass(what: &str, tried: &Tried) -> Result<(), String> {
    if tried.verdict.passed() { Ok(()) } else { Err(format!("{what} must score 1, but: {}", describe(tried))) }
}

fn expect_zero(what: &str, tried: &Tried) -> Result<(), String> {
    match &tried.verdict {
        Verdict::Void(_) => Err(format!("{what} must score 0, but: {}", describe(tried))),
        verdict if verdict.reward() == Some(0.0) => Ok(()),
        _ => Err(format!("{what} must score 0, but: {}", describe(tried))),
    }
}

fn describe(tried: &Tried) -> String {
    match &tried.verdict {
        Verdict::Scored(score) => {
            let difference = score.difference.as_ref().map_or_else(String::new, |difference| {
                format!(
                    "; {} row {} column {}: {} expected, {} found",
                    difference.path,
                    difference.row.map_or_else(|| "-".to_owned(), |row| row.to_string()),
                    difference.column.as_deref().unwrap_or("-"),
                    difference.expected,
                    difference.found
                )
            });
            format!("scored {} ({}) on instance {}{difference}", score.reward, score.reason, score.instance)
        }
        Verdict::Invalid { reason } => {
            let last = tried.failure.as_ref().map_or_else(String::new, |failure| format!("; it last saw {failure}"));
            format!("invalid ({reason}){last}")
        }
        Verdict::Void(fault) => format!("void ({fault})"),
    }
}
