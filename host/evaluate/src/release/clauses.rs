//! Rules on one clause at a time.

use super::protocol::{Bound, Clause, CostClause, Coverage, Each, Gain, Level, Recheck, Violations, Voids};
use super::{Finding, Ruling};
use crate::comparison::grids::ends;
use crate::comparison::{By, Comparison, GroupScores, Side};
use crate::metrics::{Interval, Measure};
use crate::text::{count, decimal, grouped, of, percent, points};

/// A measure that fewer than this share of tasks can say is not known.
const ENOUGH_TASKS: f64 = 0.9;
/// What rounding may do to a figure that stands exactly on its limit.
const ROUNDING: f64 = 1e-9;

/// What became of one thing that a clause looks at.
struct Found {
    figure: String,
    finding: Finding,
    why: String,
}

impl Found {
    fn said(figure: String, pass: bool) -> Found {
        Found { figure, finding: if pass { Finding::Pass } else { Finding::Fail }, why: String::new() }
    }

    fn unknown(figure: impl Into<String>, why: impl Into<String>) -> Found {
        Found { figure: figure.into(), finding: Finding::Undecided, why: why.into() }
    }

    fn ruling(self, clause: impl Into<String>, bound: impl Into<String>) -> Ruling {
        Ruling { clause: clause.into(), figure: self.figure, bound: bound.into(), finding: self.finding, why: self.why }
    }
}

pub(super) fn rule(clause: &Clause, comparison: &Comparison) -> Ruling {
    match clause {
        Clause::Violations(clause) => violations(clause, comparison),
        Clause::Coverage(clause) => coverage(clause, comparison),
        Clause::Voids(clause) => voids(clause, comparison),
        Clause::Gain(clause) => gain(clause, comparison),
        Clause::Level(clause) => level(clause, comparison),
        Clause::Recheck(clause) => recheck(clause, comparison),
        Clause::Cost(clause) => cost(clause, comparison),
    }
}

fn violations(clause: &Violations, comparison: &Comparison) -> Ruling {
    let own = comparison.candidate.violations;
    let again = comparison.recheck.as_ref().map(|again| again.violations);
    let (found, episodes) = (own.count + again.map_or(0, |v| v.count), own.of + again.map_or(0, |v| v.of));
    let figure = format!("{} episodes", of(found, episodes));
    let found = if found > clause.at_most {
        Found::said(figure, false)
    } else if episodes < clause.episodes {
        let why = format!(
            "{} short of {}; what was seen allows a rate of up to {}",
            count(clause.episodes - episodes, "episode"),
            grouped(clause.episodes),
            percent(own.high)
        );
        Found::unknown(figure, why)
    } else {
        Found::said(figure, true)
    };
    let bound = format!("at most {}, over {} or more", grouped(clause.at_most), grouped(clause.episodes));
    found.ruling("access violations", bound)
}

fn coverage(clause: &Coverage, comparison: &Comparison) -> Ruling {
    let paired = &comparison.paired;
    let schemas = comparison.decisive().map_or(0, |group| group.schemas);
    let figure = format!(
        "{} from {}, {} or more each",
        count(paired.decisive, "task"),
        count(schemas, "schema"),
        count(paired.fewest, "attempt")
    );
    let apart = (paired.only_candidate.len() + paired.only_baseline.len()) as u64;
    let left_out = (comparison.candidate.left_out.len() + comparison.baseline.left_out.len()) as u64;
    let mut why = Vec::new();
    let mut short = |what: &str, is: u64, wanted: u64| {
        if is < wanted {
            why.push(format!("{} expected", count(wanted, what)));
        }
    };
    short("attempt", paired.fewest, clause.attempts);
    short("task", paired.decisive, clause.tasks);
    short("schema", schemas, clause.schemas);
    if apart > 0 {
        why.push(format!("{} only one side attempted", count(apart, "task")));
    }
    if left_out > 0 {
        why.push(format!("{} left out", count(left_out, "trace")));
    }
    let found = if why.is_empty() { Found::said(figure, true) } else { Found::unknown(figure, why.join("; ")) };
    let bound = format!(
        "{} from {}, {} or more each; the same tasks, no trace left out",
        count(clause.tasks, "task"),
        count(clause.schemas, "schema"),
        count(clause.attempts, "attempt")
    );
    found.ruling("coverage of the decisive tasks", bound)
}

fn voids(clause: &Voids, comparison: &Comparison) -> Ruling {
    let share = |side: &Side| side.void.value().unwrap_or(0.0);
    let sides = [&comparison.candidate, &comparison.baseline];
    let words = |side: &Side| format!("{} {}", side.info.label, of(side.void.count, side.void.of));
    let pass = sides.iter().all(|side| 100.0 * share(side) < clause.below);
    let found = Found::said(sides.map(words).join(", "), pass);
    found.ruling("void episodes of either", format!("below {} %", decimal(clause.below)))
}

/// One group, or every group of a kind; the worst of them is the figure.
fn over(comparison: &Comparison, each: Option<Each>, look: impl Fn(&GroupScores) -> (f64, Found)) -> Found {
    let Some(each) = each else {
        return comparison.decisive().map_or_else(|| Found::unknown("–", "no task"), |group| look(group).1);
    };
    let by = match each {
        Each::Split => By::Split,
        Each::Kind => By::Kind,
        Each::Family => By::Family,
        Each::Schema => By::Schema,
    };
    let wanted = |group: &&GroupScores| {
        group.by == by && (by != By::Split || comparison.splits.iter().any(|split| split.name() == group.name))
    };
    let groups: Vec<&GroupScores> = comparison.groups.iter().filter(wanted).collect();
    let missing = comparison.splits.iter().filter(|split| !groups.iter().any(|group| group.name == split.name()));
    let missing: Vec<&str> = missing.map(|split| split.name()).filter(|_| by == By::Split).collect();
    // Failed before unknown before passed, and of these the lowest figure.
    let rank = |found: &Found| match found.finding {
        Finding::Fail => 0,
        Finding::Undecided => 1,
        Finding::Pass => 2,
    };
    let looked = groups.iter().map(|group| (group.name.as_str(), look(group)));
    let worst = looked.min_by(|(_, a), (_, b)| rank(&a.1).cmp(&rank(&b.1)).then_with(|| a.0.total_cmp(&b.0)));
    let Some((name, (_, found))) = worst else { return Found::unknown("–", "no task") };
    let mut found = Found { figure: format!("{name}: {}", found.figure), ..found };
    if found.finding == Finding::Pass && !missing.is_empty() {
        found.finding = Finding::Undecided;
        found.why = format!("no task in {}", missing.join(", "));
    }
    found
}

/// Why a measure is not known in a group; none where it is.
fn unknown(group: &GroupScores, measure: Measure, known: Option<u64>) -> Option<String> {
    let known = known.unwrap_or(0);
    let enough = crate::estimate::ratio(known, group.tasks.max(1)) >= ENOUGH_TASKS;
    if group.tasks == 0 {
        return Some("no task".to_owned());
    }
    (!enough).then(|| {
        let needed = count(measure.attempts(), "judged attempt");
        format!("too few attempts: {measure} needs {needed}, {} tasks have them", of(known, group.tasks))
    })
}

fn figure(bound: Bound, interval: &Interval) -> f64 {
    100.0
        * match bound {
            Bound::Estimate => interval.value,
            Bound::Lower => interval.low,
        }
}

fn gain(clause: &Gain, comparison: &Comparison) -> Ruling {
    let (limit, strictly) = match (clause.above, clause.at_least) {
        (Some(limit), _) => (limit, true),
        (None, limit) => (limit.unwrap_or(0.0), false),
    };
    let look = |group: &GroupScores| {
        let gain = group.score(clause.measure).and_then(|score| score.gain);
        let why = unknown(group, clause.measure, gain.map(|gain| gain.tasks));
        let Some(gain) = gain else { return (f64::NEG_INFINITY, Found::unknown("–", why.unwrap_or_default())) };
        let why = why.or_else(|| alone(clause, &gain));
        let found = figure(clause.bound, &gain);
        let words = interval_words(clause.bound, &gain);
        let pass = if strictly { found > limit + ROUNDING } else { found >= limit - ROUNDING };
        (found, why.map_or_else(|| Found::said(words.clone(), pass), |why| Found::unknown(words.clone(), why)))
    };
    let found = over(comparison, clause.each, look);
    let bound = match (strictly, clause.bound) {
        (true, bound) => format!("{}above {}", bound.words_of(), points(limit)),
        (false, bound) => format!("{}at least {}", bound.words_of(), points(limit)),
    };
    found.ruling(format!("{} gain{}", clause.measure, each_words(clause.each)), bound)
}

/// Why a bound means nothing: it is there to speak of other schemas, and one cannot.
fn alone(clause: &Gain, gain: &Interval) -> Option<String> {
    let speaks = clause.bound == Bound::Lower && clause.each != Some(Each::Schema);
    (speaks && gain.schemas < 2).then(|| "one schema: the bound says nothing of others".to_owned())
}

/// `+9.1 points (+4.0 to +14.2)`.
fn interval_words(bound: Bound, gain: &Interval) -> String {
    let ends = ends(gain);
    match bound {
        Bound::Estimate => format!("{} points ({ends})", points(100.0 * gain.value)),
        Bound::Lower => format!("lower bound {} of {} points", points(100.0 * gain.low), points(100.0 * gain.value)),
    }
}

fn each_words(each: Option<Each>) -> String {
    each.map_or_else(String::new, |each| format!(", every {}", each.name()))
}

fn level(clause: &Level, comparison: &Comparison) -> Ruling {
    let look = |group: &GroupScores| {
        let found = group.score(clause.measure).and_then(|score| score.candidate);
        let why = unknown(group, clause.measure, found.map(|found| found.tasks));
        let Some(found) = found else { return (f64::NEG_INFINITY, Found::unknown("–", why.unwrap_or_default())) };
        let value = figure(clause.bound, &found);
        let words = format!("{} ({} to {})", percent(found.value), percent(found.low), percent(found.high));
        let pass = value >= clause.at_least - ROUNDING;
        (value, why.map_or_else(|| Found::said(words.clone(), pass), |why| Found::unknown(words.clone(), why)))
    };
    let found = over(comparison, clause.each, look);
    let bound = format!("{}at least {} %", clause.bound.words_of(), decimal(clause.at_least));
    found.ruling(format!("{} of the candidate{}", clause.measure, each_words(clause.each)), bound)
}

fn recheck(clause: &Recheck, comparison: &Comparison) -> Ruling {
    let bound = format!("within {} points", decimal(clause.within));
    let name = format!("{} of the recheck less that of the candidate", clause.measure);
    let Some(again) = &comparison.recheck else {
        let why = "no recheck: run the candidate as it will be served, and name the run with --recheck";
        return Found::unknown("–", why).ruling(name, bound);
    };
    let shift = again.shifts.iter().find(|shift| shift.measure == clause.measure).and_then(|shift| shift.shift);
    let Some(shift) = shift else {
        return Found::unknown("–", "the recheck has too few attempts, or no decisive task").ruling(name, bound);
    };
    let words = interval_words(Bound::Estimate, &shift);
    let decisive = comparison.paired.decisive;
    let found = if crate::estimate::ratio(shift.tasks, decisive.max(1)) < ENOUGH_TASKS {
        Found::unknown(words, format!("only {} decisive tasks were rechecked", of(shift.tasks, decisive)))
    } else {
        Found::said(words, 100.0 * shift.value.abs() <= clause.within + ROUNDING)
    };
    found.ruling(name, bound)
}

fn cost(clause: &CostClause, comparison: &Comparison) -> Ruling {
    let line = comparison.cost.lines.iter().find(|line| line.item == clause.item);
    let found = match line.and_then(|line| Some((line, line.ratio?))) {
        None => Found::unknown("–", "not recorded on both sides, or no task that both did right"),
        Some((line, ratio)) => {
            let tasks = count(line.difference.tasks, "task");
            Found::said(format!("{} times, over {tasks}", decimal(ratio)), ratio <= clause.ratio_at_most + ROUNDING)
        }
    };
    let bound = format!("at most {} times the baseline", decimal(clause.ratio_at_most));
    found.ruling(format!("{} where both are right", clause.item.name()), bound)
}

impl Bound {
    /// What is held against the limit, in words.
    fn words_of(self) -> &'static str {
        match self {
            Bound::Estimate => "",
            Bound::Lower => "lower 95 % bound ",
        }
    }
}
