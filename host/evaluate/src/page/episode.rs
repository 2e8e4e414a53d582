//! Episodes step by step, those of one task side by side.

use serde::Serialize;
use serde_json::Value as Json;
use tribunal_protocol::event::{Event, Header, Judgement, Step};
use tribunal_protocol::evidence::Submission;
use tribunal_protocol::policy::Observation;
use tribunal_protocol::task::AnswerColumn;
use tribunal_protocol::usage::Usage;
use tribunal_protocol::verdict::{Difference, Score, Verdict};

use super::RunInfo;
use super::table::{Mark, TableView};
use crate::episode::{EpisodeId, NotWhole, Parts};
use crate::glossary::meaning;
use crate::sql::{self, Span};
use crate::summary::Outcome;
use crate::text::{brief, count, filled, place, shown};

/// The most steps shown of an episode: the first ones and the last ones.
const FIRST_STEPS: usize = 5;
const LAST_STEPS: usize = 2;
/// The most characters of an instruction, a text, an argument.
const LONG: usize = 2_000;
/// The most characters of a message or of one side of a difference.
const SHORT: usize = 400;

/// One task and the episodes shown of it.
#[derive(Debug, Serialize)]
pub(crate) struct Case {
    /// Why it is shown, in words; empty where the page says nothing of it.
    pub(super) note: String,
    task: String,
    kind: &'static str,
    split: &'static str,
    family: String,
    schema: String,
    instruction: String,
    answer: Vec<AnswerView>,
    steps: String,
    runs: Vec<EpisodeView>,
}

#[derive(Debug, Serialize)]
struct AnswerView {
    name: String,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct EpisodeView {
    policy: String,
    attempt: String,
    badge: Badge,
    reason: String,
    meaning: String,
    fault: String,
    steps: Vec<StepView>,
    submission: Option<SubmissionView>,
    instances: Vec<InstanceView>,
    difference: Option<DifferenceView>,
    used: String,
    stopped: String,
    replay: String,
    href: String,
}

/// An outcome in colour, sign and words.
#[derive(Debug, Serialize)]
pub(crate) struct Badge {
    class: &'static str,
    sign: &'static str,
    label: String,
}

#[derive(Debug, Serialize)]
struct StepView {
    /// How many steps are left out before this one, in words; empty: none.
    gap: String,
    number: u32,
    tool: String,
    arguments: Vec<ArgumentView>,
    text: String,
    table: Option<TableView>,
    failure: Option<FailureView>,
    stopped: bool,
    /// For authors: the agent never saw them.
    denials: Vec<String>,
    state: String,
    used: String,
}

#[derive(Debug, Serialize)]
struct ArgumentView {
    name: String,
    sql: Vec<Vec<Span>>,
    text: String,
}

#[derive(Debug, Serialize)]
struct FailureView {
    code: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct SubmissionView {
    title: String,
    text: String,
    table: Option<TableView>,
}

#[derive(Debug, Serialize)]
struct InstanceView {
    name: String,
    badge: Badge,
    reason: String,
}

#[derive(Debug, Serialize)]
struct DifferenceView {
    place: String,
    expected: String,
    found: String,
}

/// The cases, in the order in which their tasks first come; an error names the episode's place.
pub(crate) fn cases(run: &RunInfo, shown: &[Vec<Event>]) -> Result<Vec<Case>, (usize, NotWhole)> {
    let mut cases: Vec<(String, Case)> = Vec::new();
    for (index, events) in shown.iter().enumerate() {
        let parts = Parts::of(events).map_err(|why| (index, why))?;
        let view = EpisodeView::of(run, &parts);
        match cases.iter_mut().find(|(task, _)| *task == parts.header.task) {
            Some((_, case)) => case.runs.push(view),
            None => cases.push((parts.header.task.clone(), Case::of(parts.header, view))),
        }
    }
    Ok(cases.into_iter().map(|(_, case)| case).collect())
}

impl Case {
    fn of(header: &Header, run: EpisodeView) -> Case {
        let column = |column: &AnswerColumn| AnswerView { name: shown(&column.name, SHORT), kind: column.kind.name() };
        Case {
            note: String::new(),
            task: shown(&header.task, SHORT),
            kind: header.kind.name(),
            split: header.split.name(),
            family: shown(&header.family, SHORT),
            schema: shown(&header.schema.to_string(), SHORT),
            instruction: shown(&header.briefing.instruction, LONG),
            answer: header.briefing.answer.iter().map(column).collect(),
            steps: count(header.briefing.steps.into(), "step"),
            runs: vec![run],
        }
    }
}

impl EpisodeView {
    fn of(run: &RunInfo, parts: &Parts<'_>) -> EpisodeView {
        let id = EpisodeId::of(parts.header);
        let verdict = &parts.end.verdict;
        let score = match verdict {
            Verdict::Scored(score) => Some(score),
            Verdict::Invalid { .. } | Verdict::Void(_) => None,
        };
        let stopped = parts.end.violations;
        EpisodeView {
            policy: shown(&id.policy, SHORT),
            attempt: format!("attempt {}", u64::from(id.attempt) + 1),
            badge: Badge::of(verdict),
            reason: shown(verdict.reason(), SHORT),
            meaning: meaning(verdict.reason()).to_owned(),
            fault: match verdict {
                Verdict::Void(fault) => shown(&fault.to_string(), SHORT),
                Verdict::Scored(_) | Verdict::Invalid { .. } => String::new(),
            },
            steps: steps(parts),
            submission: submission(&parts.judgements, score),
            instances: parts.judgements.iter().map(|j| InstanceView::of(j)).collect(),
            difference: score.and_then(|s| s.difference.as_ref()).map(DifferenceView::of),
            used: used(&parts.end.usage),
            stopped: match stopped {
                0 => String::new(),
                steps => format!("the contract stopped {}", count(steps.into(), "step")),
            },
            replay: run.replay(&id),
            href: run.href(&id),
        }
    }
}

impl Badge {
    pub(crate) fn of(verdict: &Verdict) -> Badge {
        let outcome = Outcome::of(verdict);
        let label = match verdict {
            Verdict::Scored(score) if outcome == Outcome::Partial => {
                format!("scored {}", score.reward)
            }
            _ => outcome.label().to_owned(),
        };
        Badge { label, ..Badge::of_outcome(outcome) }
    }

    pub(crate) fn of_outcome(outcome: Outcome) -> Badge {
        let (class, sign) = match outcome {
            Outcome::Passed => ("pass", "✓"),
            Outcome::Partial => ("part", "◐"),
            Outcome::Zero => ("fail", "✗"),
            Outcome::Invalid => ("invalid", "!"),
            Outcome::Void => ("void", "∅"),
        };
        Badge { class, sign, label: outcome.label().to_owned() }
    }
}

/// The steps to show, each with the change of state since the one before.
fn steps(parts: &Parts<'_>) -> Vec<StepView> {
    let all = parts.steps.len();
    let many = all > FIRST_STEPS + LAST_STEPS + 1;
    let mut state = parts.header.states.first().copied();
    let mut views = Vec::new();
    for (index, step) in parts.steps.iter().enumerate() {
        let before = state;
        state = step.state.or(state);
        if many && (FIRST_STEPS..all - LAST_STEPS).contains(&index) {
            continue;
        }
        let mut view = StepView::of(step);
        view.state = match (before, step.state) {
            (Some(before), Some(after)) if before != after => {
                format!("state {} → {}", before.short(), after.short())
            }
            (_, Some(_)) => "state unchanged".to_owned(),
            (_, None) => String::new(),
        };
        if many && index == all - LAST_STEPS {
            let hidden = (all - FIRST_STEPS - LAST_STEPS) as u64;
            view.gap = format!("{} not shown: see the trace", count(hidden, "step"));
        }
        views.push(view);
    }
    views
}

impl StepView {
    fn of(step: &Step) -> StepView {
        let (text, table, failure) = match &step.observation {
            Observation::Result { text, table } => (text.as_str(), table.as_ref(), None),
            Observation::Failure(failure) => ("", None, Some(failure)),
        };
        StepView {
            gap: String::new(),
            number: step.number,
            tool: shown(&step.action.tool, SHORT),
            arguments: arguments(&step.action.arguments),
            text: shown(text, LONG),
            table: table.map(|table| TableView::of(table, &Mark::default())),
            failure: failure
                .map(|failure| FailureView { code: failure.code.name(), message: shown(&failure.message, LONG) }),
            stopped: step.violation,
            denials: step.denials.iter().map(|denial| shown(denial, LONG)).collect(),
            state: String::new(),
            used: used(&step.usage),
        }
    }
}

fn arguments(arguments: &Json) -> Vec<ArgumentView> {
    match arguments {
        Json::Object(fields) => fields.iter().map(|(name, value)| argument(name, value)).collect(),
        other => vec![argument("", other)],
    }
}

fn argument(name: &str, value: &Json) -> ArgumentView {
    let (sql, text) = match value {
        Json::String(text) if matches!(name, "sql" | "query" | "statement") => {
            (sql::lines(&shown(text, LONG)), String::new())
        }
        other => (Vec::new(), shown(&other.to_string(), LONG)),
    };
    ArgumentView { name: shown(name, SHORT), sql, text }
}

/// What was judged on the instance that decided, or on the first where none did. A table that
/// passed is not shown again: it stands where the agent first saw it.
fn submission(judgements: &[&Judgement], score: Option<&Score>) -> Option<SubmissionView> {
    if score.is_some_and(|score| score.reward >= 1.0) {
        return None;
    }
    let decided = |judgement: &&&Judgement| score.is_none_or(|score| score.instance == judgement.instance);
    let judgement = judgements.iter().find(decided).or(judgements.first())?;
    let (title, text, table) = match &judgement.submission {
        Submission::Answer(table) => {
            let place = score.and_then(|score| score.difference.as_ref());
            let view = TableView::of(table, &place.map(mark).unwrap_or_default());
            ("answer", String::new(), Some(view))
        }
        Submission::Done => ("done", "The database is as the agent wants it.".to_owned(), None),
        Submission::Abstention { reason, missing } => {
            let text = format!("{}\nMissing: {}", filled(reason), filled(missing));
            ("abstention", shown(&text, LONG), None)
        }
    };
    Some(SubmissionView { title: format!("{title}, judged on {}", instance_name(judgement.instance)), text, table })
}

/// The place of a difference in the answer; nowhere, if it is about something else.
fn mark(difference: &Difference) -> Mark {
    if !difference.path.starts_with("answer") {
        return Mark::default();
    }
    Mark { row: difference.row.map(|row| row as usize), column: difference.column.clone() }
}

fn instance_name(instance: u32) -> String {
    match instance {
        0 => "the data that the agent saw".to_owned(),
        hidden => format!("hidden data {hidden}"),
    }
}

impl InstanceView {
    fn of(judgement: &Judgement) -> InstanceView {
        InstanceView {
            name: match judgement.instance {
                0 => "seen data".to_owned(),
                hidden => format!("hidden data {hidden}"),
            },
            badge: Badge::of(&judgement.verdict),
            reason: shown(judgement.verdict.reason(), SHORT),
        }
    }
}

impl DifferenceView {
    fn of(difference: &Difference) -> DifferenceView {
        DifferenceView {
            place: shown(&place(difference), SHORT),
            expected: shown(filled(&difference.expected), SHORT),
            found: shown(filled(&difference.found), SHORT),
        }
    }
}

/// What a call or an episode used, in words; what was not used is not named.
fn used(usage: &Usage) -> String {
    let parts = [
        (usage.fuel, "fuel", ""),
        (usage.rows_scanned, "row", " scanned"),
        (usage.rows_returned, "row", " returned"),
        (usage.rows_written, "row", " written"),
    ];
    let named = parts.iter().filter(|(amount, ..)| *amount > 0);
    let named = named.map(|(amount, what, done)| {
        let plural = if *amount == 1 || what == &"fuel" { "" } else { "s" };
        format!("{} {what}{plural}{done}", brief(*amount))
    });
    named.collect::<Vec<_>>().join(" · ")
}
