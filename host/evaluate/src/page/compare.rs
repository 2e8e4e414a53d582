//! The page of a comparison: the decision on top.

use std::collections::BTreeSet;

use serde::Serialize;
use tribunal_protocol::event::Event;

use super::chart::{Axes, ChartView, Line, Size};
use super::heat::{ChangeRow, change_rows};
use super::overview::{Fact, TEXT, VersionView, fact, versions};
use super::reasons::{Long, Named, ReasonView, ViolationView, VoidView, named, reasons, violations, voids};
use super::{ReportError, RunInfo, episode, render};
use crate::comparison::{By, Comparison, CurvePoint, Side};
use crate::grid::Grid;
use crate::release::Finding;
use crate::summary::{PolicySummary, Void};
use crate::text::{count, grouped, shown};
use crate::training::Training;

/// All that the templates know.
#[derive(Serialize)]
struct View {
    c: CompareView,
    run: Faults,
    cases: Vec<episode::Case>,
}

#[derive(Debug, Serialize)]
struct CompareView {
    title: String,
    ship: bool,
    word: &'static str,
    headline: String,
    candidate: String,
    baseline: String,
    facts: Vec<Fact>,
    warnings: Vec<String>,
    rulings: Vec<RulingView>,
    protocol: String,
    access: GridView,
    scores: GridView,
    groups: GridView,
    cost: GridView,
    curve: Option<ChartView>,
    curve_tasks: String,
    families: Vec<ChangeRow>,
    training: Option<TrainingView>,
    versions: Vec<VersionView>,
    digest: String,
    bootstrap: String,
}

/// What the template of reasons knows; as on the page of a run.
#[derive(Debug, Serialize)]
struct Faults {
    policies: Vec<PolicyName>,
    reasons: Vec<ReasonView>,
    violations: Vec<ViolationView>,
    voids: Long<VoidView>,
    left_out: Long<Named>,
}

#[derive(Debug, Serialize)]
struct PolicyName {
    name: String,
}

#[derive(Debug, Serialize)]
struct RulingView {
    class: &'static str,
    sign: &'static str,
    finding: &'static str,
    clause: String,
    figure: String,
    bound: String,
    why: String,
}

/// A table of texts.
#[derive(Debug, Serialize)]
struct GridView {
    title: String,
    /// How many columns are words, and stand on the left.
    lead: usize,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct TrainingView {
    name: String,
    updates: String,
    large: Vec<ChartView>,
    small: Vec<ChartView>,
}

/// Writes the page of a comparison. `episodes` are those of [`Comparison::shown`]: for each of them
/// the baseline's, then the candidate's. `run` gives their traces, by label, task and attempt.
///
/// # Errors
/// An episode that is not whole, by its place.
pub fn comparison_page(
    run: &RunInfo,
    comparison: &Comparison,
    episodes: &[Vec<Event>],
    training: Option<&Training>,
) -> Result<String, ReportError> {
    let labels = [&comparison.baseline.info.label, &comparison.candidate.info.label];
    let labelled: Vec<Vec<Event>> =
        episodes.iter().enumerate().map(|(index, events)| relabel(events, labels[index % 2])).collect();
    let mut cases = episode::cases(run, &labelled)
        .map_err(|(index, why)| ReportError::Episode { index, reason: why.to_string() })?;
    for (case, shown) in cases.iter_mut().zip(&comparison.shown) {
        case.note = shown.tells.words(labels[1], labels[0]);
    }
    let view = View { c: CompareView::of(run, comparison, training), run: Faults::of(run, comparison), cases };
    render("compare.html", &view)
}

fn relabel(events: &[Event], label: &str) -> Vec<Event> {
    let mut events = events.to_vec();
    if let Some(Event::Header(header)) = events.first_mut() {
        label.clone_into(&mut header.policy);
    }
    events
}

impl CompareView {
    fn of(run: &RunInfo, comparison: &Comparison, training: Option<&Training>) -> CompareView {
        let label = |side: &Side| shown(&side.info.label, TEXT);
        let settings = comparison.bootstrap;
        CompareView {
            title: shown(&run.name, TEXT),
            ship: comparison.decision.ship,
            word: if comparison.decision.ship { "Ship" } else { "No ship" },
            headline: shown(&comparison.headline(), TEXT),
            candidate: label(&comparison.candidate),
            baseline: label(&comparison.baseline),
            facts: facts(run, comparison),
            warnings: comparison.warnings.iter().map(|text| shown(text, TEXT)).collect(),
            rulings: comparison.decision.rulings.iter().map(RulingView::of).collect(),
            protocol: shown(&comparison.protocol.name, TEXT),
            access: GridView::of(2, &comparison.access_grid()),
            scores: GridView::of(1, &comparison.score_grid()),
            groups: GridView::of(2, &comparison.group_grid()),
            cost: GridView::of(1, &comparison.cost_grid()),
            curve: curve(comparison),
            curve_tasks: count(comparison.curve.first().map_or(0, |at| at.tasks), "task"),
            families: change_rows(comparison, By::Family),
            training: training.map(TrainingView::of),
            versions: versions(&comparison.candidate.versions),
            digest: comparison.paired.digest.to_string(),
            bootstrap: format!("{} replicates, seed {}", grouped(settings.replicates.into()), settings.seed),
        }
    }
}

fn facts(run: &RunInfo, comparison: &Comparison) -> Vec<Fact> {
    let paired = &comparison.paired;
    let attempts = match paired.fewest == paired.attempts {
        true => grouped(paired.attempts),
        false => format!("{} to {}", grouped(paired.fewest), grouped(paired.attempts)),
    };
    vec![
        fact("Suite", shown(&run.suite, TEXT)),
        fact("Candidate’s run", shown(&comparison.candidate.info.run, TEXT)),
        fact("Baseline’s run", shown(&comparison.baseline.info.run, TEXT)),
        fact("Tasks of both", grouped(paired.tasks)),
        fact("of which decide", grouped(paired.decisive)),
        fact("Judged attempts each", attempts),
    ]
}

impl RulingView {
    fn of(ruling: &crate::release::Ruling) -> RulingView {
        let (class, sign) = match ruling.finding {
            Finding::Pass => ("pass", "✓"),
            Finding::Fail => ("fail", "✗"),
            Finding::Undecided => ("part", "?"),
        };
        RulingView {
            class,
            sign,
            finding: ruling.finding.words(),
            clause: shown(&ruling.clause, TEXT),
            figure: shown(&ruling.figure, TEXT),
            bound: shown(&ruling.bound, TEXT),
            why: shown(&ruling.why, TEXT),
        }
    }
}

impl GridView {
    fn of(lead: usize, grid: &Grid) -> GridView {
        let cells = |cells: &[String]| cells.iter().map(|text| shown(text, TEXT)).collect::<Vec<_>>();
        GridView {
            title: shown(&grid.title, TEXT),
            lead,
            header: cells(&grid.header),
            rows: grid.rows.iter().map(|row| cells(row)).collect(),
        }
    }
}

impl Faults {
    fn of(run: &RunInfo, comparison: &Comparison) -> Faults {
        let sides = [&comparison.baseline, &comparison.candidate];
        let policies: Vec<&PolicySummary> = sides.iter().map(|side| &side.summary).collect();
        let void: Vec<Void> = sides.iter().flat_map(|side| side.voids.iter().cloned()).collect();
        let left = sides.iter().flat_map(|side| &side.left_out);
        Faults {
            policies: policies.iter().map(|policy| PolicyName { name: shown(&policy.policy, TEXT) }).collect(),
            reasons: reasons(run, &policies),
            violations: violations(run, &policies),
            voids: voids(run, &void),
            left_out: Long::of(left.map(|left| named(&left.trace, &left.reason)).collect()),
        }
    }
}

/// pass@k and pass^k against k, of both.
fn curve(comparison: &Comparison) -> Option<ChartView> {
    let sides = [&comparison.candidate, &comparison.baseline].map(|side| shown(&side.info.label, 24));
    let line = |name: String, class: &'static str, pick: fn(&CurvePoint) -> f64| Line {
        name,
        class,
        points: comparison.curve.iter().map(|at| (crate::estimate::ratio(at.k, 1), pick(at))).collect(),
    };
    let lines = [
        line(format!("pass@k {}", sides[0]), "line candidate", |at| at.candidate_any),
        line(format!("pass^k {}", sides[0]), "line candidate dashed", |at| at.candidate_all),
        line(format!("pass@k {}", sides[1]), "line baseline", |at| at.baseline_any),
        line(format!("pass^k {}", sides[1]), "line baseline dashed", |at| at.baseline_all),
    ];
    let longest = sides.iter().map(|side| side.chars().count()).max().unwrap_or(0) as u64;
    let names = 66.0 + 7.0 * crate::estimate::ratio(longest, 1);
    let axes =
        Axes { title: "pass@k and pass^k", x: "k, attempts at one task", y: "share of tasks", share: true, marks: &[] };
    ChartView::of(axes, &lines, Size { width: 640.0 + names, height: 340.0, names })
}

const LARGE: Size = Size { width: 380.0, height: 230.0, names: 0.0 };
const SMALL: Size = Size { width: 260.0, height: 150.0, names: 0.0 };
/// The most small charts.
const MOST_SMALL: usize = 48;

impl TrainingView {
    fn of(training: &Training) -> TrainingView {
        let names = training.names();
        let first = |fits: fn(&str) -> bool| names.iter().copied().find(|name| fits(&name.to_lowercase()));
        // What a figure is called differs between trainers; the first that fits is drawn large.
        let large: Vec<&str> = [
            first(|name| name == "reward")
                .or_else(|| first(|name| name.contains("reward")))
                .or_else(|| first(|name| name == "pass_rate")),
            first(|name| name.contains("held") && name.contains("pass")),
            first(|name| name == "entropy").or_else(|| first(|name| name.contains("entropy"))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let taken: BTreeSet<&str> = large.iter().copied().collect();
        let rest = names.iter().copied().filter(|name| !taken.contains(name)).take(MOST_SMALL);
        TrainingView {
            name: shown(&training.name, TEXT),
            updates: count(training.updates.len() as u64, "update"),
            small: rest.filter_map(|name| figure(training, name, SMALL)).collect(),
            large: large.into_iter().filter_map(|name| figure(training, name, LARGE)).collect(),
        }
    }
}

fn figure(training: &Training, name: &str, size: Size) -> Option<ChartView> {
    let title = shown(name, 60);
    let share = name.contains("pass");
    let line = Line { name: title.clone(), class: "line candidate", points: training.curve(name) };
    let share = share && line.points.iter().all(|point| (0.0..=1.0).contains(&point.1));
    ChartView::of(Axes { title: &title, x: "update", y: "", share, marks: &training.phases }, &[line], size)
}
