//! The verifier's work: one judgement for each instance of the data, and one verdict over all.

use std::sync::Arc;

use tribunal_database::{DatabaseSession, State, changes};
use tribunal_protocol::Fault;
use tribunal_protocol::event::Judgement;
use tribunal_protocol::evidence::{Evidence, Submission};
use tribunal_protocol::session::Session;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::{Score, Verdict};
use tribunal_sandbox::VerifyInput;

use crate::run::{Episode, HandedIn};
use crate::submit::{fuel_for, judgeable};
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
    let first = episode.prepared.snapshots[instance].fork();
    let (submission, last) = match (instance, handed_in.call) {
        (0, _) => (handed_in.submission.clone(), episode.state.clone()),
        (_, None) => (handed_in.submission.clone(), first.clone()),
        (_, Some(call)) => match again(episode, call, &first) {
            Ok(submission) => (submission, first.clone()),
            Err(verdict) => {
                let submission = handed_in.submission.clone();
                let (verdict, usage) = (at(verdict, number), Usage::default());
                return Judgement { instance: number, submission, verdict, usage, denials: Vec::new() };
            }
        },
    };
    let Verified { verdict, usage, denials } = verify(episode, &submission, instance, first, last);
    Judgement { instance: number, submission, verdict: at(verdict, number), usage, denials }
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

/// What the verifier made of one instance.
struct Verified {
    verdict: Verdict,
    usage: Usage,
    denials: Vec<String>,
}

fn verify(episode: &Episode<'_>, submission: &Submission, instance: usize, first: State, last: State) -> Verified {
    let prepared = episode.prepared;
    let holder = &prepared.verifier;
    let evidence = Evidence {
        instruction: prepared.task.instruction.clone(),
        submission: submission.clone(),
        questions: episode.questions.clone(),
        calls: episode.calls.clone(),
        expectation: prepared.task.instances[instance].expectation.clone(),
    };
    let open = |state: &State| DatabaseSession::open(state.clone(), Arc::clone(&holder.contract), Usage::default());
    let input = VerifyInput { evidence: &evidence, settings: &holder.settings };
    let (before, after) = (open(&first), open(&last));
    let between = {
        let contract = Arc::clone(&holder.contract);
        Box::new(move || Ok(changes(&first, &last, &contract)))
    };
    let mut limits = holder.limits.clone();
    limits.fuel = limits.fuel.saturating_add(fuel_for(submission));
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
    Verified { verdict, usage, denials }
}
