//! Whole scripted episodes for each second of processor time.

use anyhow::{Result, ensure};
use tribunal_protocol::policy::Action;

use crate::clock::{Timed, process};
use crate::figure::{Figure, Section};
use crate::play::{Memory, SEEDS, play, plugins, prepare};
use crate::python::{self, Loops};
use crate::task::{Ending, actions};

pub(crate) fn measure() -> Result<Vec<Section>> {
    let plugins = plugins()?;
    let python = python::measure()?;
    let mut figures = Vec::new();
    // A change of state is judged where it was made, so it has no hidden instances.
    for (ending, instances) in [(Ending::Answer, 1), (Ending::State, 1), (Ending::Answer, SEEDS.len())] {
        for memory in [Memory::Off, Memory::On] {
            let prepared = prepare(&plugins, ending, memory, instances)?;
            let timed = time(&prepared, &actions(ending))?;
            figures.push(figure(ending, memory, instances, timed, &python));
        }
    }
    let missing = if python.is_none() { "\nNo python3 here: its yardstick is left out." } else { "" };
    Ok(vec![Section {
        title: "Whole episodes, sandbox included, one thread".to_owned(),
        note: format!(
            "1,000 rows in 3 tables. answer: list_tables, describe_table, a grouped join, submit, verifier-result.\n\
             state: the same with issue_refund and done instead of submit, verifier-state. The trace is written to memory.\n\
             memo off: every query runs. memo on: a query that ran before on this data is remembered, and here all did.\n\
             1+3 instances: the answer's call is run again on three hidden data sets, and judged there too.\n\
             Python: sqlite3 in one process, a copy of the database for each episode, no sandbox, no contract.{missing}"
        ),
        figures,
    }])
}

fn time(prepared: &tribunal_episode::Prepared, script: &[Action]) -> Result<Timed> {
    let first = play(prepared, script)?;
    ensure!(play(prepared, script)? == first, "the same episode gives the same trace");
    process(|| play(prepared, script))
}

fn figure(ending: Ending, memory: Memory, instances: usize, timed: Timed, python: &Option<Loops>) -> Figure {
    let (name, target) = match ending {
        Ending::Answer => ("answer", 2_000.0),
        Ending::State => ("state", 1_000.0),
    };
    let memo = if memory == Memory::On { "memo on" } else { "memo off" };
    let seen = if instances == 1 { "1 instance".to_owned() } else { format!("1+{} instances", instances - 1) };
    let figure = Figure::per_second(format!("{name}, {seen}, {memo}"), timed);
    let figure = if instances == 1 { figure.target(target) } else { figure };
    let Some(loops) = python.as_ref().filter(|_| instances == 1) else { return figure };
    let (bare, traced) = match ending {
        Ending::Answer => (loops.answer, loops.answer_traced),
        Ending::State => (loops.state, loops.state_traced),
    };
    figure.beside("bare Python sqlite3", bare).beside("Python sqlite3 that writes a trace", traced)
}
