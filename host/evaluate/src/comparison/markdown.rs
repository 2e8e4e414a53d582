//! A comparison as Markdown.

use std::fmt::Write as _;

use super::Comparison;
use crate::grid::Grid;
use crate::text::shown;

/// The most characters of a cell.
const CELL: usize = 400;

impl Comparison {
    /// The decision and all tables, as Markdown that GitHub shows as such.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# {}: {} against {}\n\n{}\n",
            if self.decision.ship { "Ship" } else { "No ship" },
            cell(&self.candidate.info.label),
            cell(&self.baseline.info.label),
            cell(&self.headline())
        );
        if !self.warnings.is_empty() {
            text.push_str("\n**Read this first**\n\n");
            for warning in &self.warnings {
                let _ = writeln!(text, "- {}", cell(warning));
            }
        }
        for grid in self.grids() {
            text.push('\n');
            text.push_str(&table(&grid));
        }
        let settings = &self.bootstrap;
        let _ = writeln!(
            text,
            "\nIntervals: 95 %, bootstrap over schemas and their tasks, {} replicates, seed {}. Smallest effect: 2.8 \
             standard errors (80 % power). Tasks: `{}`.",
            settings.replicates, settings.seed, self.paired.digest
        );
        text
    }
}

/// A table under its title.
pub(crate) fn table(grid: &Grid) -> String {
    let mut text = format!("## {}\n\n", cell(&grid.title));
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    text.push_str(&row(&grid.header));
    text.push_str(&format!("|{}\n", " --- |".repeat(grid.header.len())));
    grid.rows.iter().for_each(|cells| text.push_str(&row(cells)));
    text
}

/// Text that can be nothing but text in Markdown, on one line. Names come from tasks, verifiers and
/// policies, so nothing in them may become markup or a link.
fn cell(text: &str) -> String {
    let mut safe = String::new();
    for c in shown(text, CELL).chars() {
        match c {
            '\n' | '\t' => safe.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '!' | '~' => safe.extend(['\\', c]),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_one_line_of_plain_text() {
        assert_eq!(cell("a|b\n*c* <i> [x](y)"), r"a\|b \*c\* \<i\> \[x\](y)");
        let grid = Grid {
            title: "t".to_owned(),
            header: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec!["1".to_owned(), "|".to_owned()]],
        };
        assert_eq!(table(&grid), "## t\n\n| a | b |\n| --- | --- |\n| 1 | \\| |\n");
    }
}
