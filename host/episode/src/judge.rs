//! The verifier's work: one judgement for each instance of the data, and one verdict over all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tribunal_database::{DatabaseSession, State, changes};
use tribunal_protocol::Fault;
use tribunal_protocol::event::Judgement;
use tribunal_protocol::evidence::{Evidence, Submission};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::{Score, Verdict};
use tribunal_sandbox::VerifyInput;

use crate::exhibit::{Exhibit, Heard};
use crate::prepare::Prepared;
use crate::run::{Episode, HandedIn};
use crate::submit::judgeable;
use crate::tools::call_tool;

/// The reason of a submission whose call fails on other data of the same schema, or gives more
/// there than is judged.
const FAILED_ON_HIDDEN: &str = "failed-on-hidden-data";

/// Judges a submission on every instance, visible first, up to the first that is not passed.
pub(crate) fn judge(episode: &Episode<'_>, handed_in: &HandedIn) -> Vec<Judgement> {
    let mut judgements: Vec<Judgement> = Vec::new();
    // Without a call there is nothing to run again on other data.
    let instances = match (handed_in.call, &handed_in.submission) {
        (None, Submission::Answer(_)) => 1,
        _ => episode.prepared.snapshots.len(),
    };
    for instance in 0..instances {
        let judgement = judge_instance(episode, handed_in, instance);
        let passed = judgement.verdict.passed();
        judgements.push(judgement);
        if !passed {
            break;
        }
    }
    judgements
}

/// The verdict over all instances: the first that is not passed decides.
pub(crate) fn together(judgements: &[Judgement]) -> Verdict {
    let deciding = judgements.iter().find(|judgement| !judgement.verdict.passed()).or(judgements.last());
    match deciding {
        Some(judgement) => judgement.verdict.clone(),
        None => Verdict::Void(Fault::Host { message: "nothing was judged".to_owned() }),
    }
}

fn judge_instance(episode: &Episode<'_>, handed_in: &HandedIn, instance: usize) -> Judgement {
    let number = u32::try_from(instance).unwrap_or(u32::MAX);
    let exhibit = match exhibit(episode, handed_in, instance) {
        Ok(exhibit) => exhibit,
        Err(verdict) => {
            let submission = handed_in.submission.clone();
            let (verdict, usage) = (at(verdict, number), Usage::default());
            return Judgement { instance: number, submission, verdict, usage, denials: Vec::new() };
        }
    };
    let prepared = episode.prepared;
    let expectation = &prepared.task.instances[instance].expectation;
    let Heard { verdict, usage, denials, .. } = hear(prepared, instance, expectation, &exhibit);
    Judgement { instance: number, submission: exhibit.submission, verdict: at(verdict, number), usage, denials }
}

/// What the verifier is given of an episode on one instance, besides its expectation.
#[expect(clippy::result_large_err, reason = "at most one for each hidden instance of an episode")]
pub(crate) fn exhibit(episode: &Episode<'_>, handed_in: &HandedIn, instance: usize) -> Result<Exhibit, Verdict> {
    let first = episode.prepared.snapshots[instance].fork();
    let (submission, last) = match (instance, handed_in.call) {
        (0, _) => (handed_in.submission.clone(), episode.state.clone()),
        (_, None) => (handed_in.submission.clone(), first),
        (_, Some(call)) => (again(episode, call, &first)?, first),
    };
    Ok(Exhibit { submission, questions: episode.questions.clone(), calls: episode.calls.clone(), last })
}

fn at(verdict: Verdict, instance: u32) -> Verdict {
    match verdict {
        Verdict::Scored(score) => Verdict::Scored(Score { instance, ..score }),
        other => other,
    }
}

/// Runs the call that made the answer again, on another instance of the data.
#[expect(clippy::result_large_err, reason = "at most one for each hidden instance of an episode")]
fn again(episode: &Episode<'_>, call: usize, first: &State) -> Result<Submission, Verdict> {
    let host = |message: &str| Verdict::Void(Fault::Host { message: message.to_owned() });
    let turn = episode.turns.get(call).ok_or_else(|| host("the submitted call is not recorded"))?;
    let holder = episode.prepared.tools.get(&turn.action.tool).and_then(|tool| tool.holder);
    let holder = holder.ok_or_else(|| host("the submitted call is of no plugin"))?;
    let called = call_tool(&episode.prepared.holders[holder], &turn.action, first, Usage::default());
    match called.result {
        Err(fault) => Err(Verdict::Void(fault)),
        Ok(Ok((_, Some(table)))) if judgeable(&table) => Ok(Submission::Answer(table)),
        Ok(_) => {
            let reason = FAILED_ON_HIDDEN.to_owned();
            Err(Verdict::Scored(Score { reward: 0.0, reason, difference: None, instance: 0 }))
        }
    }
}

/// Lets the verifier of a task judge one exhibit: the one way in which verifiers are called.
pub(crate) fn hear(prepared: &Prepared, instance: usize, expectation: &str, exhibit: &Exhibit) -> Heard {
    let holder = &prepared.verifier;
    let (first, last) = (prepared.snapshots[instance].fork(), exhibit.last.clone());
    let evidence = Evidence {
        instruction: prepared.task.instruction.clone(),
        submission: exhibit.submission.clone(),
        questions: exhibit.questions.clone(),
        calls: exhibit.calls.clone(),
        expectation: expectation.to_owned(),
    };
    let open = |state: &State| DatabaseSession::open(state.clone(), Arc::clone(&holder.contract), Usage::default());
    let input = VerifyInput { evidence: &evidence, settings: &holder.settings };
    let (before, after) = (open(&first), open(&last));
    let asked = Arc::new(AtomicBool::new(false));
    let between = {
        let (contract, asked) = (Arc::clone(&holder.contract), Arc::clone(&asked));
        Box::new(move || {
            asked.store(true, Ordering::Relaxed);
            Ok(changes(&first, &last, &contract))
        })
    };
    let limits = prepared.verifier_limits(&exhibit.submission);
    let ran = holder.plugin.verify(&input, before, after, between, &limits);
    let mut usage = ran.usage;
    let (before, after) = ran.sessions;
    usage.add(&before.usage());
    usage.add(&after.usage());
    let verdict = match ran.result {
        Ok(score) => Verdict::Scored(score),
        Err(fault) => Verdict::Void(fault),
    };
    let denials = [before.denials(), after.denials()].concat();
    Heard {
        verdict,
        usage,
        violations: before.violations() + after.violations(),
        writes_tried: before.writes_tried() + after.writes_tried(),
        asked_for_changes: asked.load(Ordering::Relaxed),
        denials,
    }
}
