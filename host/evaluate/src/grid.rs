//! Tables of strings, for a terminal.

use tribunal_protocol::task::{Split, TaskKind};

use crate::summary::{Outcome, PolicySummary, Summary, Tally};
use crate::text::{count, grouped, mean, percent, shown};

/// The most characters that an example takes in a terminal.
const EXAMPLE: usize = 120;

/// A table of strings: every row is as long as the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl Summary {
    /// One row a policy: what its episodes were worth and what they cost.
    #[must_use]
    pub fn policy_grid(&self) -> Grid {
        let header = [
            "policy",
            "pass@1",
            "95 %",
            "passed",
            "scored 0",
            "partly",
            "invalid",
            "void",
            "every time",
            "stopped",
            "steps",
            "fuel",
            "rows scanned",
        ];
        Grid {
            title: format!(
                "{}, {}; cost: means over correct and compliant episodes",
                count(self.tasks, "task"),
                count(self.episodes, "episode"),
            ),
            header: strings(&header),
            rows: self.policies.iter().map(policy_row).collect(),
        }
    }

    /// One table a policy: passed of judged, by split (down) and kind (across), with totals.
    #[must_use]
    pub fn split_grids(&self) -> Vec<Grid> {
        self.policies.iter().map(split_grid).collect()
    }

    /// Every reason of every policy; then refused tasks and traces that were left out. Passed
    /// episodes have reasons too, but not here.
    #[must_use]
    pub fn reason_grid(&self) -> Grid {
        let mut rows = Vec::new();
        for policy in &self.policies {
            let failed = |reason: &&crate::Reason| reason.outcome != Outcome::Passed;
            for reason in policy.reasons.iter().filter(failed) {
                rows.push(vec![
                    policy.policy.clone(),
                    reason.outcome.to_string(),
                    reason.code.clone(),
                    grouped(reason.episodes),
                    reason.first.task.clone(),
                    shown(&reason.example, EXAMPLE),
                ]);
            }
        }
        let mut other = |outcome: &str, what: &str, why: &str| {
            let cells = ["–", outcome, "–", "–", what, why];
            rows.push(strings(&cells));
        };
        for refused in &self.refused {
            other("refused", &refused.task, &refused.reason);
        }
        for left in &self.left_out {
            other("left out", &left.trace, &left.reason);
        }
        Grid {
            title: "why episodes did not pass".to_owned(),
            header: strings(&["policy", "outcome", "reason", "episodes", "first", "example"]),
            rows,
        }
    }
}

impl Grid {
    /// The table as Markdown, under its title.
    #[must_use]
    pub fn markdown(&self) -> String {
        crate::comparison::markdown::table(self)
    }
}

pub(crate) fn strings(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn policy_row(policy: &PolicySummary) -> Vec<String> {
    let (total, cost) = (&policy.total, &policy.cost);
    let estimate = policy.pass_at_1.as_ref();
    vec![
        policy.policy.clone(),
        estimate.map_or_else(|| "–".to_owned(), |found| percent(found.value)),
        estimate.map_or_else(|| "–".to_owned(), |found| format!("{}–{}", percent(found.low), percent(found.high))),
        grouped(total.passed),
        grouped(total.zero),
        grouped(total.partial),
        grouped(total.invalid),
        grouped(total.void),
        format!("{} of {}", grouped(policy.tasks_passed_every_time), grouped(policy.tasks)),
        grouped(policy.violation_steps()),
        mean(cost.steps, cost.episodes),
        mean(cost.usage.fuel, cost.episodes),
        mean(cost.usage.rows_scanned, cost.episodes),
    ]
}

fn split_grid(policy: &PolicySummary) -> Grid {
    let mut header = vec!["split".to_owned()];
    header.extend(TaskKind::ALL.map(|kind| kind.to_string()));
    header.push("all".to_owned());
    let sum = |wanted: &dyn Fn(Split, TaskKind) -> bool| {
        let cells = policy.cells.iter().filter(|cell| wanted(cell.split, cell.kind));
        let mut sum = Tally::default();
        cells.for_each(|cell| sum.merge(&cell.tally));
        share(&sum)
    };
    let row = |name: &str, split: Option<Split>| {
        let in_split = |found: Split| split.is_none_or(|split| split == found);
        let mut row = vec![name.to_owned()];
        let of_kind = |kind| sum(&|s, k| in_split(s) && k == kind);
        row.extend(TaskKind::ALL.map(of_kind));
        row.push(sum(&|s, _| in_split(s)));
        row
    };
    let present = |split: &Split| policy.cells.iter().any(|cell| cell.split == *split);
    let splits = Split::ALL.into_iter().filter(present);
    let mut rows: Vec<_> = splits.map(|split| row(split.name(), Some(split))).collect();
    rows.push(row("all", None));
    Grid { title: format!("{}: passed of judged episodes", policy.policy), header, rows }
}

/// `12/12`, `11/11 +1 void`, `–`.
fn share(tally: &Tally) -> String {
    let share = format!("{}/{}", grouped(tally.passed), grouped(tally.judged()));
    match (tally.judged(), tally.void) {
        (0, 0) => "–".to_owned(),
        (_, 0) => share,
        (_, void) => format!("{share} +{} void", grouped(void)),
    }
}
